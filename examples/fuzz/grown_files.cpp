// SPDX-License-Identifier: BSL-1.0
#include "grown_files.hpp"

#include "random_source.hpp"

#ifdef SUBLET_EXAMPLES_FLATBUFFERS
#include "../plan_model/tflite_builder.hpp"
#endif

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <utility>

namespace fuzz {
namespace {

/// A short name: digits, then letters.
std::string name_of(std::size_t i)
{
    std::string name;
    do name.insert(name.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[i % 36]);
    while ((i /= 36) != 0);
    return name;
}

/// `begin`, then lines up to that size.
template <class Line>
std::string grown_text(std::size_t bytes, std::string text, Line line)
{
    for (std::size_t i = 0; text.size() < bytes; ++i) text += line(i);
    return text;
}

std::string in_colons(std::uint64_t a, std::uint64_t b)
{
    return std::to_string(a) + ':' + std::to_string(b);
}

std::vector<grown_file> grown_tables(std::size_t bytes)
{
    using std::to_string;
    std::string const head = "id,lower,upper,size\n";
    random_source d(1);
    std::vector<grown_file> files;
    files.push_back({"all_alive.csv", grown_text(bytes, head, [](std::size_t) { return "0,0,9,1\n"; })});
    files.push_back({"chain.csv", grown_text(bytes, head, [](std::size_t i) {
                         return "0," + to_string(i) + ',' + to_string(i + 2) + ",1\n";
                     })});
    files.push_back({"random.csv", grown_text(bytes, head, [&](std::size_t) {
                         std::size_t const first = d.below(1000);
                         return "0," + to_string(first) + ',' + to_string(first + 1 + d.below(300)) + ',' +
                                to_string(1 + d.below(1000)) + '\n';
                     })});
    files.push_back({"gaps.csv", grown_text(bytes, "id,lower,upper,size,gaps\n", [](std::size_t i) {
                         std::string row = "0,0,999,9,";
                         for (std::size_t k = i % 7; k < 500; k += 7)
                             row += to_string(2 * k) + '-' + to_string(2 * k + 1) + "@1:2 ";
                         return row + '\n';
                     })});
    files.push_back({"clocks.csv", grown_text(bytes, head, [](std::size_t) { return "0,0:0,9:9,1\n"; })});
    auto const tangled = grown_text(bytes, head, [&](std::size_t) {
        std::size_t const a = d.below(50), b = d.below(50);
        return "0," + in_colons(a, b) + ',' + in_colons(a + d.below(20), b + d.below(20)) + ',' +
               to_string(1 + d.below(99)) + '\n';
    });
    std::string jobs, offsets;
    for (std::uint64_t i = 0; jobs.size() < bytes; ++i)
        for (std::uint64_t n : {i, i, i + 1 + d.below(20), std::uint64_t{1 + d.below(99)}, std::uint64_t{0},
                                std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
            for (int shift = 56; shift >= 0; shift -= 8) jobs += static_cast<char>(n >> shift & 0xFF);
    files.push_back({"jobs.plc", jobs});
    // Conflicts of clocks grow with the square of the rows: more are refused.
    if (bytes <= 16384 || bytes >= 1048576) files.push_back({"tangled.csv", tangled});
    return files;
}

std::vector<grown_file> grown_nets(std::size_t bytes)
{
    std::string const head = "net a dag\ninput 0\n";
    random_source d(2);
    std::vector<grown_file> files;
    files.push_back({"chain.net", grown_text(bytes, head, [](std::size_t i) {
                         return "op R " + name_of(i) + " -> " + name_of(i + 1) + '\n';
                     })});
    files.push_back({"star.net", grown_text(bytes, head, [](std::size_t i) {
                         return "op R 0 -> " + name_of(i + 1) + "_grad\n";
                     })});
    files.push_back({"random.net", grown_text(bytes, head, [&](std::size_t i) {
                         return "op R " + name_of(d.below(i + 1)) + ' ' + name_of(d.below(i + 1)) + " -> " +
                                name_of(i + 1) + '\n';
                     })});
    files.push_back({"devices.net", grown_text(bytes, head, [](std::size_t i) {
                         return "op R 0 -> " + name_of(i + 1) + " @gpu:" + std::to_string(i) + '\n';
                     })});
    files.push_back(
        {"deep.net", grown_text(bytes, head, [](std::size_t) { return "op R 0 -> x {\nnet s\n"; })});
    return files;
}

std::vector<grown_file> grown_programs(std::size_t bytes)
{
    std::string const head = "block -1\nvar 0 float32 4\n";
    std::vector<grown_file> files;
    files.push_back({"chain.prog", grown_text(bytes, head, [](std::size_t i) {
                         return "var " + name_of(i + 1) + " float32 4\nop R " + name_of(i) + " -> " +
                                name_of(i + 1) + '\n';
                     })});
    files.push_back({"star.prog", grown_text(bytes, head, [](std::size_t i) {
                         return "var " + name_of(i + 1) + " float32 " + std::to_string(i + 1) +
                                "\nop R 0 -> " + name_of(i + 1) + '\n';
                     })});
    files.push_back({"deep.prog", grown_text(bytes, head, [](std::size_t i) {
                         return "op w 0 -> 0 block=" + std::to_string(i + 1) + "\nblock " +
                                std::to_string(i) + '\n';
                     })});
    files.push_back({"dimensions.prog", grown_text(bytes, "block -1\nvar 0 float32 ", [](std::size_t) {
                                            return "1 ";
                                        }) + "\nop R 0 ->\n"});
    return files;
}

/// Documents of version 1.5 up to that size, of tasks or files that `item` writes.
std::string grown_wfformat(std::size_t bytes, std::string const& begin, std::string const& end,
                           std::string (*item)(std::size_t))
{
    return grown_text(bytes, R"({"schemaVersion": "1.5", "workflow": {"specification": {)" + begin + item(0),
                      [&](std::size_t i) { return ',' + item(i + 1); }) +
           end + "}}}";
}

std::vector<grown_file> grown_workflows(std::size_t bytes)
{
    random_source d(3);
    std::vector<grown_file> files;
    files.push_back({"chain.txt", grown_text(bytes, "0\t0:1\t\n", [](std::size_t i) {
                         return name_of(i + 1) + '\t' + name_of(i + 1) + ":1\t" + name_of(i) + '\n';
                     })});
    files.push_back({"star.txt", grown_text(bytes, "0\t0:1\t\n", [](std::size_t i) {
                         return name_of(i + 1) + '\t' + name_of(i + 1) + ":1\t0\n";
                     })});
    files.push_back({"random.txt", grown_text(bytes, "0\t0:1\t\n", [&](std::size_t i) {
                         std::string const one = name_of(d.below(i + 1)), other = name_of(d.below(i + 1));
                         return name_of(i + 1) + '\t' + name_of(i + 1) + ':' + std::to_string(i % 97) + '\t' +
                                one + ' ' + other + '\n';
                     })});
    files.push_back(
        {"inputs.txt", grown_text(bytes, "a\t\t", [](std::size_t i) { return name_of(i) + ":9 "; }) + '\n'});
    files.push_back({"circle.txt", grown_text(bytes, "0\t0:1\t1\n", [](std::size_t i) {
                                       return name_of(i + 1) + '\t' + name_of(i + 1) + ":1\t" +
                                              name_of(i + 2) + '\n';
                                   }) + "a circle\n"});
    files.push_back({"tasks.json", grown_wfformat(bytes, R"("tasks": [)", "]", [](std::size_t i) {
                         return R"({"id": ")" + name_of(i) + "\"}";
                     })});
    files.push_back({"parents.json", grown_wfformat(bytes, R"("tasks": [)", "]", [](std::size_t i) {
                         return R"({"id": ")" + name_of(i) + R"(", "children": [")" + name_of(i + 1) + "\"]}";
                     })});
    files.push_back(
        {"files.json", grown_wfformat(bytes, R"("tasks": [{"id": "a"}], "files": [)", "]", [](std::size_t i) {
             return R"({"id": ")" + name_of(i) + R"(", "sizeInBytes": 1})";
         })});
    files.push_back({"members.json", grown_text(bytes, "{\"\": 0", [](std::size_t i) {
                                         return ",\"" + name_of(i) + "\":0";
                                     }) + "}"});
    files.push_back({"deep.json", std::string(bytes, '[')});
    return files;
}

void declare(onnx::ValueInfoProto& info, std::string const& name, std::vector<std::int64_t> const& size)
{
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    for (std::int64_t d : size) tensor.mutable_shape()->add_dim()->set_dim_value(d);
}

/// A model with the input "0".
onnx::ModelProto model_with_input(std::vector<std::int64_t> const& size = {4})
{
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(13);
    model.mutable_graph()->set_name("grown");
    declare(*model.mutable_graph()->add_input(), "0", size);
    return model;
}

/// `out` is an output of the graph if it has a size.
void add_node(onnx::GraphProto& graph, char const* type, std::vector<std::string> const& inputs,
              std::string const& out, std::vector<std::int64_t> const& size = {})
{
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(type);
    for (std::string const& name : inputs) node.add_input(name);
    node.add_output(out);
    if (!size.empty()) declare(*graph.add_output(), out, size);
}

/// 65536 elements of each result are known.
onnx::ModelProto model_of_known_elements(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::TensorProto& t = *graph.add_initializer();
    t.set_name("n");
    t.set_data_type(onnx::TensorProto::INT64);
    t.add_dims(1);
    t.add_int64_data(65536);
    add_node(graph, "ConstantOfShape", {"n"}, "k");
    onnx::AttributeProto& value = *graph.mutable_node(0)->add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(onnx::TensorProto::UINT8);
    value.mutable_t()->add_dims(1);
    value.mutable_t()->add_int32_data(1);
    for (std::size_t i = 0; i != bytes / 16 + 1; ++i) add_node(graph, "Add", {"k", "k"}, 'k' + name_of(i));
    add_node(graph, "Relu", {"0"}, "1", {4});
    return model;
}

onnx::GraphProto& add_graph(onnx::NodeProto& node, char const* name)
{
    onnx::AttributeProto& a = *node.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::GRAPH);
    a.mutable_g()->set_name(name);
    return *a.mutable_g();
}

/// An input that says whether branches run.
void add_condition(onnx::GraphProto& graph)
{
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name("if");
    input.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
    input.mutable_type()->mutable_tensor_type()->mutable_shape();
}

onnx::ModelProto model_of_high_rank(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input(std::vector<std::int64_t>(256, 1));
    for (std::size_t i = 0; i != bytes / 18 + 1; ++i)
        add_node(*model.mutable_graph(), "Exp", {"0"}, name_of(i + 1));
    declare(*model.mutable_graph()->add_output(), "1", std::vector<std::int64_t>(256, 1));
    return model;
}

/// Many operations with two small graphs.
onnx::ModelProto model_of_branches(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    add_condition(graph);
    for (std::size_t i = 0; i != bytes / 140 + 1; ++i) {
        add_node(graph, "If", {"if"}, name_of(i + 1));
        for (char const* name : {"then_branch", "else_branch"}) {
            onnx::GraphProto& inner = add_graph(*graph.mutable_node(graph.node_size() - 1), name);
            add_node(inner, "Relu", {name_of(i)}, "r");
            inner.add_output()->set_name("r");
        }
    }
    declare(*graph.add_output(), "1", {4});
    return model;
}

/// One operation of which the graphs read many values, and give them.
onnx::ModelProto model_of_captures(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    add_condition(graph);
    std::size_t const count = bytes / 60 + 1;
    for (std::size_t i = 0; i != count; ++i) add_node(graph, "Relu", {"0"}, name_of(i + 1));
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("If");
    node.add_input("if");
    for (char const* name : {"then_branch", "else_branch"}) {
        onnx::GraphProto& inner = add_graph(node, name);
        for (std::size_t i = 0; i != count; ++i) inner.add_output()->set_name(name_of(i + 1));
    }
    for (std::size_t i = 0; i != count; ++i) node.add_output('r' + name_of(i));
    declare(*graph.add_output(), "r0", {4});
    return model;
}

/// A loop that exchanges all that it carries.
onnx::ModelProto model_of_carried_values(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Loop");
    node.add_input("");
    node.add_input("");
    onnx::GraphProto& body = add_graph(node, "body");
    body.add_input()->set_name("i");
    body.add_input()->set_name("on");
    body.add_output()->set_name("on");
    std::size_t const count = bytes / 40 + 1;
    for (std::size_t i = 0; i != count; ++i) {
        node.add_input("0");
        node.add_output('r' + name_of(i));
        body.add_input()->set_name('c' + name_of(i));
        body.add_output()->set_name('c' + name_of((i + 1) % count));
    }
    declare(*graph.add_output(), "r0", {4});
    return model;
}

/// Half of the file is a constant in a function, the other half calls it.
onnx::ModelProto model_of_calls(std::size_t bytes)
{
    onnx::ModelProto model = model_with_input();
    onnx::FunctionProto& function = *model.add_functions();
    function.set_name("f");
    function.add_input("p");
    function.add_output("q");
    onnx::OperatorSetIdProto& opset = *function.add_opset_import();
    opset.set_version(13);
    for (char const* type : {"Constant", "Relu"}) {
        onnx::NodeProto& node = *function.add_node();
        node.set_op_type(type);
        node.add_output(node.op_type() == "Relu" ? "q" : "k");
    }
    function.mutable_node(1)->add_input("p");
    onnx::AttributeProto& value = *function.mutable_node(0)->add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(onnx::TensorProto::UINT8);
    value.mutable_t()->add_dims(static_cast<std::int64_t>(bytes / 2));
    value.mutable_t()->set_raw_data(std::string(bytes / 2, '\1'));
    onnx::GraphProto& graph = *model.mutable_graph();
    for (std::size_t i = 0; i != bytes / 30 + 1; ++i) add_node(graph, "f", {name_of(i)}, name_of(i + 1));
    declare(*graph.add_output(), "1", {4});
    return model;
}

std::vector<grown_file> grown_models(std::size_t bytes)
{
    random_source d(3);
    std::vector<grown_file> files;
    auto grow = [&](char const* name, std::size_t bytes_of_node, auto add) {
        onnx::ModelProto model = model_with_input();
        std::size_t const count = bytes / bytes_of_node + 1;
        for (std::size_t i = 0; i != count; ++i) add(*model.mutable_graph(), i, i + 1 == count);
        files.push_back({name, model.SerializeAsString()});
    };
    using shape = std::vector<std::int64_t>;
    grow("chain.onnx", 20, [](onnx::GraphProto& g, std::size_t i, bool is_last) {
        add_node(g, "Relu", {name_of(i)}, name_of(i + 1), is_last ? shape{4} : shape{});
    });
    grow("random.onnx", 24, [&](onnx::GraphProto& g, std::size_t i, bool is_last) {
        add_node(g, "Add", {name_of(d.below(i + 1)), name_of(d.below(i + 1))}, name_of(i + 1),
                 is_last ? shape{4} : shape{});
    });
    grow("outputs.onnx", 40,
         [](onnx::GraphProto& g, std::size_t i, bool) { add_node(g, "Relu", {"0"}, name_of(i + 1), {4}); });
    grow("values.onnx", 30, [](onnx::GraphProto& g, std::size_t i, bool) { // of an operator that is not known
        if (i == 0) add_node(g, "Foo", {"0"}, "1", {4});
        g.mutable_node(0)->add_output(name_of(i + 2));
        declare(*g.add_value_info(), name_of(i + 2), {4});
    });
    onnx::ModelProto long_shape = model_with_input(shape(bytes / 6, 1));
    add_node(*long_shape.mutable_graph(), "Relu", {"0"}, "1", {1});
    files.push_back({"dimensions.onnx", long_shape.SerializeAsString()});
    return files;
}

#ifdef SUBLET_EXAMPLES_FLATBUFFERS

using plan_model::made_model;
using plan_model::made_operator;
using plan_model::made_tensor;
using plan_model::tensor_numbers;

enum code : std::int32_t { add = 0, relu = 19, reshape = 22, add_n = 106 };

/// Chains, and tables that share what they refer to, so that few bytes stand for much.
void add_grown_flat(std::size_t bytes, std::vector<grown_file>& files)
{
    random_source d(4);
    auto grow = [&](char const* name, auto change) {
        made_model model;
        model.tensor({"0"});
        change(model);
        files.push_back({name, model.bytes()});
    };
    auto grow_chain = [&](char const* name, std::int32_t of, bool is_random) {
        grow(name, [&](made_model& m) {
            m.op(of, {0}, {1});
            m.main().operators.clear();
            m.main().inputs = {0};
            std::int32_t const count = static_cast<std::int32_t>(bytes / 96 + 1);
            for (std::int32_t i = 0; i != count; ++i) {
                std::int32_t const to = m.tensor({name_of(static_cast<std::size_t>(i) + 1)});
                auto const from =
                    is_random ? static_cast<std::int32_t>(d.below(static_cast<std::size_t>(to))) : i;
                m.main().operators.push_back({0, {from}, {to}});
            }
            m.main().outputs = {count};
        });
    };
    auto grow_operator = [&](char const* name, std::size_t operands, std::size_t times) {
        grow(name, [&](made_model& m) {
            m.main().inputs = {0};
            made_operator& op = m.op(add_n, tensor_numbers(operands, 0), {});
            op.mutating.assign(operands, 1);
            op.times = times;
        });
    };
    grow_chain("chain.tflite", relu, false);
    grow_chain("views.tflite", reshape, false);
    grow_chain("random.tflite", relu, true);
    grow_operator("operands.tflite", bytes / 5, 1);
    grow_operator("operators.tflite", 1, bytes / 4);
    grow_operator("square.tflite", bytes / 10, bytes / 8);
    grow("tensors.tflite", [&](made_model& m) {
        m.main().tensors[0].times = bytes / 4;
        m.op(relu, {0}, {1});
        m.main().inputs = {0};
    });
    grow("names.tflite", [&](made_model& m) {
        made_tensor& t = m.main().tensors[0];
        t.name = std::string(bytes / 2, 'n');
        t.times = bytes / 8;
    });
    grow("dimensions.tflite", [&](made_model& m) {
        m.tensor({"1", tensor_numbers(bytes / 4, 1)});
        m.op(relu, {0}, {1});
        m.main().inputs = {0};
        m.main().outputs = {1};
    });
}

void add_boasting_flat(std::vector<grown_file>& files)
{
    for (std::int32_t size : {2147483647, 65536, 1 << 30}) {
        made_model m;
        for (char const* name : {"0", "1", "2"}) m.tensor({name, {size, size}});
        m.op(relu, {0}, {1});
        m.op(relu, {1}, {2});
        m.main().inputs = {0};
        m.main().outputs = {2};
        files.push_back({"numbers.tflite", m.bytes()});
        m.buffers.push_back({0, ~std::uint64_t{0} - 7, 16});
        m.main().tensors[0].buffer = 1;
        files.push_back({"far.tflite", m.bytes()});
    }
}

#else
void add_grown_flat(std::size_t, std::vector<grown_file>&) {}
void add_boasting_flat(std::vector<grown_file>&) {}
#endif

} // namespace

std::vector<grown_file> grown_bodies(std::size_t bytes)
{
    std::vector<grown_file> files;
    files.push_back({"known.onnx", model_of_known_elements(bytes).SerializeAsString()});
    files.push_back({"ranks.onnx", model_of_high_rank(bytes).SerializeAsString()});
    files.push_back({"branches.onnx", model_of_branches(bytes).SerializeAsString()});
    files.push_back({"captured.onnx", model_of_captures(bytes).SerializeAsString()});
    files.push_back({"carried.onnx", model_of_carried_values(bytes).SerializeAsString()});
    files.push_back({"functions.onnx", model_of_calls(bytes).SerializeAsString()});
    return files;
}

std::vector<grown_file> grown_files(std::string_view program, std::size_t bytes)
{
    if (program == "pack") return grown_tables(bytes);
    if (program == "memonger") return grown_nets(bytes);
    if (program == "transpiler") return grown_programs(bytes);
    if (program == "workflow") return grown_workflows(bytes);
    std::vector<grown_file> files = grown_models(bytes);
    if (program == "plan_model") add_grown_flat(bytes, files);
    return files;
}

std::vector<grown_file> boasting_files(std::string_view program)
{
    std::vector<grown_file> files;
    auto text = [&](char const* name, std::string bytes) { files.push_back({name, std::move(bytes)}); };
    if (program == "pack") {
        for (char const* row : {"0,0,18446744073709551615,1", "0,0,4294967294,18446744073709551615",
                                "0,0,4294967294,4611686018427387903", "0,4294967293,4294967294,1",
                                "0,0:4294967294,4294967294:4294967294,1", "0,0,18446744073709551616,1"})
            text("numbers.csv", "id,lower,upper,size\n" + std::string(row) + '\n' + row + '\n');
        text("gap.csv", "id,lower,upper,size,gaps\n0,0,4294967294,9,1-4294967293@0:4611686018427387903\n");
        text("alignment.csv", "id,lower,upper,size,alignment\n0,0,2,1,4611686018427387903\n"
                              "1,0,2,1,4611686018427387902\n");
    } else if (program == "memonger") {
        text("size.net", "net a dag\ninput 0\nsize 0 18446744073709551615\nsize 1 18446744073709551615\n"
                         "op R 0 -> 1\nop R 1 -> 2\n");
        text("device.net", "net a dag\ninput 0\nop R 0 -> 1 @gpu:18446744073709551615\n");
    } else if (program == "transpiler") {
        text("dimensions.prog", "block -1\nvar 0 float32 4294967296 4294967296 4294967296\n"
                                "var 1 float32 9223372036854775807\nop R 0 -> 1\n");
        text("block.prog", "block -1\nvar 0 float32 4\nop w 0 -> 0 block=18446744073709551615\n");
        text("parent.prog", "block 4294967295\nvar 0 float32 4\nop R 0 -> 0\n");
    } else if (program == "workflow") {
        for (char const* size : {"4611686018427387903", "4611686018427387904", "18446744073709551615"})
            text("sizes.txt", "a\tf:" + std::string(size) + "\t\nb\tg:" + size + "\tf h:" + size + '\n');
        text("largest.txt", "a\tf:4611686018427387903 g:4611686018427387903 h:4611686018427387903\t\n");
        for (char const* takes : {"9223372036854775807", "9223372036854775808", "18446744073709551615"})
            text("durations.txt",
                 "a @" + std::string(takes) + "\tf:1\t\nb @" + takes + "\tg:1\tf\nc\th:1\tf\n");
        for (char const* size : {"-1", "1e30", "1e999", "18446744073709551615", "4611686018427387903"})
            text("sizes.json",
                 R"({"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a",
                 "inputFiles": ["f"]}], "files": [{"id": "f", "sizeInBytes": )" +
                     std::string(size) + "}]}}}");
    } else {
        auto model = [&](char const* name, auto change) {
            onnx::ModelProto made = model_with_input();
            change(*made.mutable_graph());
            text(name, made.SerializeAsString());
        };
        for (std::int64_t size : {INT64_MAX, std::int64_t{1} << 62, std::int64_t{1} << 40, INT64_MIN})
            model("input.onnx", [&](onnx::GraphProto& g) {
                g.clear_input();
                declare(*g.add_input(), "0", {size, 4});
                add_node(g, "Relu", {"0"}, "1", {size, 4});
            });
        model("weight.onnx", [](onnx::GraphProto& g) { // with no contents
            onnx::TensorProto& t = *g.add_initializer();
            t.set_name("w");
            t.set_data_type(onnx::TensorProto::FLOAT);
            t.add_dims(std::int64_t{1} << 60);
            add_node(g, "Add", {"0", "w"}, "1", {4});
        });
        for (char const* type : {"ConstantOfShape", "Expand", "Tile", "Reshape", "Range", "OneHot", "Pad"})
            model("contents.onnx", [&](onnx::GraphProto& g) { // a shape among the contents
                onnx::TensorProto& t = *g.add_initializer();
                t.set_name("n");
                t.set_data_type(onnx::TensorProto::INT64);
                t.add_dims(2);
                t.add_int64_data(std::int64_t{1} << 33);
                t.add_int64_data(std::int64_t{1} << 33);
                std::string const named = type;
                if (named == "ConstantOfShape") add_node(g, type, {"n"}, "1");
                else add_node(g, type, {"0", "n", "n"}, "1");
                add_node(g, "Relu", {"1"}, "2", {4});
            });
        model("split.onnx", [](onnx::GraphProto& g) {
            add_node(g, "Split", {"0"}, "1", {4});
            onnx::AttributeProto& a = *g.mutable_node(0)->add_attribute();
            a.set_name("num_outputs");
            a.set_type(onnx::AttributeProto::INT);
            a.set_i(INT64_MAX);
        });
        model("text.onnx", [](onnx::GraphProto& g) { add_node(g, "Relu", {"0"}, "1", {4}); });
        // The last length says more bytes than there are.
        files.back().bytes += std::string("\x3a\xff\xff\xff\xff\x07", 6);
        if (program == "plan_model") add_boasting_flat(files);
    }
    return files;
}

} // namespace fuzz
