// SPDX-License-Identifier: BSL-1.0

// make_models FOLDER: writes tiny ONNX files for the tests of plan_model; most contain one error each.

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

namespace {

using dims = std::initializer_list<std::int64_t>;
using names = std::initializer_list<char const*>;

/// Elements have four bytes unless stated otherwise.
void set_type(onnx::ValueInfoProto& v, char const* name, dims shape, int type)
{
    v.set_name(name);
    v.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    auto* const s = v.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto d : shape) s->add_dim()->set_dim_value(d);
}

void add_ints(onnx::NodeProto& node, char const* name, dims ints)
{
    auto* const a = node.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INTS);
    for (auto i : ints) a->add_ints(i);
}

/// `g`: a graph or a function.
template <class Nodes>
onnx::NodeProto& add_node(Nodes& g, char const* type, names inputs, names outputs)
{
    auto& node = *g.add_node();
    node.set_op_type(type);
    for (auto const* name : inputs) node.add_input(name);
    for (auto const* name : outputs) node.add_output(name);
    return node;
}

struct model_builder {
    explicit model_builder(int opset = 13)
    {
        model.set_ir_version(7);
        model.add_opset_import()->set_version(opset);
        model.mutable_graph()->set_name("tiny");
    }
    model_builder& input(char const* name, dims shape = {4}, int type = onnx::TensorProto::FLOAT)
    {
        return set_type(*graph().add_input(), name, shape, type), *this;
    }
    model_builder& output(char const* name, dims shape = {4}, int type = onnx::TensorProto::FLOAT)
    {
        return set_type(*graph().add_output(), name, shape, type), *this;
    }
    model_builder& shape(char const* name, dims shape = {4}, int type = onnx::TensorProto::FLOAT)
    {
        return set_type(*graph().add_value_info(), name, shape, type), *this;
    }
    onnx::NodeProto& node(char const* type, names inputs, names outputs)
    {
        return add_node(graph(), type, inputs, outputs);
    }
    /// A function of the model that takes the place of a standard operator.
    void add_function(char const* name)
    {
        auto& function = *model.add_functions();
        function.set_name(name);
        function.add_input("X");
        function.add_output("Y");
        add_node(function, "ReduceMax", {"X"}, {"m"});
        add_node(function, "Sub", {"X", "m"}, {"Y"});
    }
    onnx::GraphProto& graph() { return *model.mutable_graph(); }
    onnx::ValueInfoProto& last_shape() { return *graph().mutable_value_info(graph().value_info_size() - 1); }

    std::string bytes() const { return model.SerializeAsString(); }

    onnx::ModelProto model;
};

std::string numbered(std::string stem, int number) { return stem += std::to_string(number); }

std::string folder;

void save(char const* file, std::string const& bytes)
{
    std::ofstream out(folder + '/' + file, std::ios::binary);
    if (!(out << bytes).flush()) {
        std::fprintf(stderr, "make_models: %s/%s cannot be written\n", folder.c_str(), file);
        std::exit(1);
    }
}

/// x -> y, where y has no shape yet; of a foreign operator none follows.
model_builder one_node(char const* domain = "foreign")
{
    model_builder d;
    d.input("x").node("Relu", {"x"}, {"y"}).set_domain(domain);
    return d;
}

/// x -> a -> b -> c -> y of 16 bytes each; every node may overwrite its input.
model_builder chain(bool may_inplace)
{
    model_builder d;
    d.input("x").output("y").shape("a").shape("b").shape("c");
    for (auto [from, to] : {std::pair{"x", "a"}, {"a", "b"}, {"b", "c"}, {"c", "y"}}) {
        auto& node = d.node("Relu", {from}, {to});
        if (may_inplace) add_ints(node, "may_inplace", {0});
    }
    return d;
}

void write_unreadable()
{
    save("empty.onnx", "");
    save("foreign.onnx", "This is no model but a letter: dear reader, all is well.\n");
    save("no_reader.tflite", std::string("\x1c\0\0\0TFL3", 8));
    save("picture.onnx", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16));
    std::string const whole = chain(false).bytes();
    save("truncated.onnx", whole.substr(0, whole.size() / 2));
    model_builder no_graph;
    no_graph.model.clear_graph();
    save("no_graph.onnx", no_graph.bytes());
}

void write_unsized()
{
    save("no_shape.onnx", one_node().bytes());

    model_builder odd_name;
    odd_name.input("x").node("Relu", {"x"}, {"two\nlines"}).set_domain("foreign");
    save("odd_name.onnx", odd_name.bytes());

    model_builder rank = one_node().shape("y");
    rank.last_shape().mutable_type()->mutable_tensor_type()->clear_shape();
    save("no_rank.onnx", rank.bytes());

    model_builder symbolic = one_node().shape("y");
    symbolic.last_shape()
        .mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param("batch");
    save("symbolic.onnx", symbolic.bytes());

    save("negative.onnx", one_node().shape("y", {4, -1}).bytes());
    save("text.onnx", one_node().shape("y", {4}, onnx::TensorProto::STRING).bytes());
    save("huge.onnx", one_node().shape("y", {std::int64_t{1} << 40, std::int64_t{1} << 40}).bytes());

    model_builder list = one_node().shape("y");
    list.last_shape().mutable_type()->mutable_sequence_type();
    save("list.onnx", list.bytes());
}

/// The bytes of a weight are said to be in the file `never`.
void write_external_data()
{
    model_builder m;
    m.input("x").output("y");
    auto& weight = *m.graph().add_initializer();
    weight.set_name("w");
    weight.set_data_type(onnx::TensorProto::FLOAT);
    weight.add_dims(4);
    weight.set_data_location(onnx::TensorProto::EXTERNAL);
    auto& location = *weight.add_external_data();
    location.set_key("location");
    location.set_value("never");
    m.node("Add", {"x", "w"}, {"y"});
    save("external_data.onnx", m.bytes());
}

void write_misordered()
{
    model_builder later;
    later.input("x").shape("a").output("y");
    later.node("Relu", {"a"}, {"y"}).set_name("first");
    later.node("Relu", {"x"}, {"a"});
    save("not_topological.onnx", later.bytes());

    model_builder own;
    own.output("y").node("Relu", {"y"}, {"y"});
    save("own_result.onnx", own.bytes());

    model_builder ghost;
    ghost.output("y").node("Relu", {"ghost"}, {"y"});
    save("undefined.onnx", ghost.bytes());

    model_builder twice;
    twice.input("x").output("y");
    twice.node("Relu", {"x"}, {"y"});
    twice.node("Relu", {"x"}, {"y"});
    save("twice.onnx", twice.bytes());

    model_builder input;
    input.input("x").node("Relu", {"x"}, {"x"});
    save("twice_input.onnx", input.shape("x").bytes());

    model_builder output = one_node().shape("y");
    save("output_undefined.onnx", output.output("z").bytes());
}

void write_wrong_attributes()
{
    model_builder over = chain(false);
    add_ints(*over.graph().mutable_node(1), "may_inplace", {1});
    save("no_such_operand.onnx", over.bytes());

    model_builder view = chain(false);
    add_ints(*view.graph().mutable_node(1), "alias_of_input", {3});
    save("no_such_view.onnx", view.bytes());

    model_builder uneven = chain(false);
    add_ints(*uneven.graph().mutable_node(1), "alias_of_input", {0, -1});
    save("uneven_views.onnx", uneven.bytes());

    model_builder twice = chain(false);
    for (int i = 0; i != 2; ++i) add_ints(*twice.graph().mutable_node(1), "may_inplace", {0});
    save("two_attributes.onnx", twice.bytes());
}

onnx::TensorProto& store(model_builder& d, char const* name, dims shape, int type,
                         std::string const& raw = {})
{
    auto& t = *d.graph().add_initializer();
    t.set_name(name);
    for (auto n : shape) t.add_dims(n);
    t.set_data_type(type);
    t.set_raw_data(raw);
    return t;
}

/// Declarations of a value in several places: each may be partial, but they must agree.
void write_declarations()
{
    int const number = onnx::TensorProto::FLOAT, wide = onnx::TensorProto::DOUBLE;
    model_builder same = one_node().shape("y").shape("y", {-1}).shape("x", {4}, 0).output("y");
    same.graph().add_value_info()->set_name("y");
    same.shape("y").last_shape().mutable_type()->mutable_tensor_type()->clear_shape();
    same.shape("y")
        .last_shape()
        .mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param("batch");
    store(same, "x", {4}, number, std::string(16, '\0'));
    save("declared_alike.onnx", same.bytes());

    save("declared_sizes.onnx", one_node().shape("y", {1}).shape("y", {400}).bytes());
    save("declared_ranks.onnx", one_node().shape("y", {4}).output("y", {4, 1}).bytes());
    save("declared_types.onnx", one_node().shape("x", {4}, wide).output("y").bytes());
    model_builder list = one_node().shape("y").output("y");
    list.last_shape().mutable_type()->mutable_sequence_type();
    save("declared_list.onnx", list.bytes());

    auto save_with = [&](char const* file, dims shape, int type, std::size_t bytes) {
        model_builder d = one_node().output("y");
        store(d, "x", shape, type, std::string(bytes, '\0'));
        save(file, d.bytes());
    };
    save_with("left_out.onnx", {4}, number, 0);
    save_with("stored_sizes.onnx", {5}, number, 20);
    save_with("stored_types.onnx", {4}, wide, 32);
    save_with("stored_short.onnx", {4}, number, 12);
    model_builder odd = one_node().output("y");
    auto& t = store(odd, "x", {4}, number);
    for (int i = 0; i != 2; ++i) t.add_int64_data(0); // the same number of bytes
    save("stored_oddly.onnx", odd.bytes());
    model_builder twice = one_node().output("y");
    for (int i = 0; i != 2; ++i) store(twice, "x", {4}, number);
    save("stored_twice.onnx", twice.bytes());
    model_builder constant;
    constant.output("y", {400});
    auto& value = *constant.node("Constant", {}, {"y"}).add_attribute();
    value.set_name("value");
    value.mutable_t()->set_data_type(number);
    value.mutable_t()->add_dims(4);
    save("stored_constant.onnx", constant.bytes());
}

/// Values that need no storage, too much storage, or a number of bits that is no whole number of bytes.
void write_odd_sizes()
{
    save("no_nodes.onnx", model_builder().input("x").output("x").bytes());

    model_builder zero;
    zero.input("x").shape("a", {0, std::int64_t{1} << 62, std::int64_t{1} << 62}).output("y", {0, 4});
    zero.node("Relu", {"x"}, {"a"});
    zero.node("Relu", {"a"}, {"y"});
    save("zero.onnx", zero.bytes());

    // Eight values of 2^61 bytes, never live together: each fits 64 bits, their sum does not.
    static constexpr char const* chain[] = {"x", "a", "b", "c", "d", "e", "f", "g", "h",
                                            "i", "j", "k", "l", "m", "n", "o", "y"};
    model_builder sum;
    sum.input("x").output("y");
    for (int i = 0; i != 16; ++i) {
        if (i % 2 == 0) sum.shape(chain[i + 1], {std::int64_t{1} << 59});
        else if (i != 15) sum.shape(chain[i + 1]);
        sum.node("Relu", {chain[i]}, {chain[i + 1]});
    }
    save("huge_sum.onnx", sum.bytes());

    // Three elements of every type number, including numbers that this schema does not know yet.
    model_builder types;
    types.input("x");
    for (int type = 1; type <= 26; ++type) {
        if (type == onnx::TensorProto::STRING) continue;
        std::string const name = numbered("type", type);
        types.node("Cast", {"x"}, {name.c_str()});
        types.shape(name.c_str(), {3}, type);
    }
    save("types.onnx", types.bytes());

    model_builder optional;
    optional.input("x").shape("unread", {}).output("y");
    optional.node("Two", {"x", ""}, {"", "unread"});
    optional.node("Relu", {"x"}, {"y"});
    save("optional.onnx", optional.bytes());
}

/// a (own storage) -> Reshape -> Identity -> Dropout -> y (own storage).
model_builder views(int opset = 13)
{
    model_builder d(opset);
    d.input("x").input("s", {1}, onnx::TensorProto::INT64).output("y");
    d.shape("a").shape("b", {2, 2}).shape("c", {2, 2}).shape("d", {2, 2});
    d.node("Relu", {"x"}, {"a"});
    d.node("Reshape", {"a", "s"}, {"b"});
    d.node("Identity", {"b"}, {"c"}).set_domain("ai.onnx");
    d.node("Dropout", {"c"}, {"d"});
    d.node("Relu", {"d"}, {"y"});
    return d;
}

void write_views()
{
    save("views.onnx", views().bytes());
    save("dropout_opset_6.onnx", views(6).bytes());

    for (bool training : {false, true}) {
        model_builder told = views();
        auto& mode = *told.graph().add_initializer();
        mode.set_name("mode");
        mode.set_data_type(onnx::TensorProto::BOOL);
        mode.set_raw_data(std::string(1, training ? '\1' : '\0'));
        auto& dropout = *told.graph().mutable_node(3);
        dropout.add_input("");
        dropout.add_input("mode");
        save(training ? "dropout_trains.onnx" : "dropout_infers.onnx", told.bytes());
    }

    model_builder elsewhere = views();
    elsewhere.graph().mutable_node(2)->set_domain("elsewhere");
    save("foreign_identity.onnx", elsewhere.bytes());
    model_builder function = views();
    function.add_function("Identity");
    save("function_identity.onnx", function.bytes());

    model_builder grown;
    grown.input("x").shape("a").shape("b", {8}).output("y");
    grown.node("Relu", {"x"}, {"a"});
    grown.node("Reshape", {"a"}, {"b"});
    grown.node("Relu", {"b"}, {"y"});
    save("reshape_that_grows.onnx", grown.bytes());

    // x -> a (16 bytes) -> b (64), a view that repeats a, -> c (32), a part of it, -> y
    for (bool repeats : {false, true}) {
        model_builder d;
        d.input("x").shape("a").shape("b", {4, 4}).shape("c", {2, 4}).output("y");
        d.node("Relu", {"x"}, {"a"});
        auto& expand = d.node("expand", {"a"}, {"b"});
        if (repeats) expand.set_domain("aten");
        add_ints(expand, "alias_of_input", {0});
        add_ints(d.node("slice", {"b"}, {"c"}), "alias_of_input", {0});
        d.node("Reduce", {"c"}, {"y"});
        save(repeats ? "repeated.onnx" : "big_view.onnx", d.bytes());
    }

    model_builder outside;
    outside.input("x").output("y").node("Flatten", {"x"}, {"y"});
    save("view_of_input.onnx", outside.bytes());

    model_builder longest;
    longest.input("x").shape("v0").node("Relu", {"x"}, {"v0"});
    for (int i = 1; i <= 100000; ++i) {
        std::string const from = numbered("v", i - 1), to = numbered("v", i);
        longest.node("Identity", {from.c_str()}, {to.c_str()});
        longest.shape(to.c_str());
    }
    save("long_chain.onnx", longest.bytes());
}

/// p is read, then updated in place by a value computed in between.
void write_state()
{
    model_builder update;
    update.input("x").input("p").shape("a").shape("t").output("p2").output("a");
    update.node("Mul", {"x", "p"}, {"a"});
    update.node("Relu", {"x"}, {"t"});
    auto& step = update.node("sgd", {"p", "t"}, {"p2"});
    step.set_domain("optim");
    add_ints(step, "alias_of_input", {0});
    add_ints(step, "writes_input", {0});
    save("update.onnx", update.bytes());

    model_builder inner;
    inner.input("x").shape("a").shape("t").output("y");
    inner.node("Relu", {"x"}, {"a"});
    add_ints(inner.node("Bump", {"a"}, {"t"}), "writes_input", {0});
    inner.node("Add", {"a", "t"}, {"y"});
    save("mutated.onnx", inner.bytes());
}

/// The branch of an If uses `captured`, 400 bytes, from the outer graph: it is live until there. The use is
/// in a nested branch, which also uses a value of its own parent.
model_builder branch(char const* captured)
{
    model_builder d;
    d.input("x").input("condition", {}, onnx::TensorProto::BOOL);
    d.shape("a", {100}).shape("b").shape("c").output("y");
    d.node("Relu", {"x"}, {"a"});
    d.node("Relu", {"x"}, {"b"});
    auto& attribute = *d.node("If", {"condition"}, {"c"}).add_attribute();
    attribute.set_name("then_branch");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    auto& outer = *attribute.mutable_g();
    add_node(outer, "Relu", {"condition"}, {"local"});
    auto& nested = *add_node(outer, "If", {"local"}, {"result"}).add_attribute();
    nested.set_name("then_branch");
    nested.set_type(onnx::AttributeProto::GRAPH);
    add_node(*nested.mutable_g(), "Add", {captured, "local"}, {"sum"});
    nested.mutable_g()->add_output()->set_name("sum");
    outer.add_output()->set_name("result");
    d.node("Add", {"b", "c"}, {"y"});
    return d;
}

/// `depth` nested branches.
model_builder nested(int depth)
{
    model_builder d;
    d.input("condition", {}, onnx::TensorProto::BOOL).output("y");
    auto* node = &d.node("If", {"condition"}, {"y"});
    for (int i = 0; i != depth; ++i) {
        auto& attribute = *node->add_attribute();
        attribute.set_name("then_branch");
        attribute.set_type(onnx::AttributeProto::GRAPH);
        node = &add_node(*attribute.mutable_g(), "If", {"condition"}, {"y"});
    }
    return d;
}

/// Each file: a (own storage) -> one node of an operator -> r -> y of one element. The operator may
/// overwrite a, or must not.
void write_standard_pairs()
{
    int const number = onnx::TensorProto::FLOAT;
    auto around = [&](int opset, char const* type, names operands, dims of_a, dims of_result,
                      int result_type = onnx::TensorProto::FLOAT) {
        model_builder d(opset);
        d.input("x").input("w", of_a).shape("a", of_a).shape("r", of_result, result_type).output("y", {1});
        d.node("Make", {"x"}, {"a"});
        d.node(type, operands, {"r"});
        d.node("Use", {"r"}, {"y"});
        return d;
    };
    auto set = [](model_builder& d, char const* name, std::int64_t number_of) {
        auto& a = *d.graph().mutable_node(1)->add_attribute();
        a.set_name(name);
        a.set_type(onnx::AttributeProto::INT);
        a.set_i(number_of);
    };
    auto save_with = [&](char const* file, model_builder d, char const* name, std::int64_t number_of) {
        set(d, name, number_of);
        save(file, d.bytes());
    };
    save("pair_sigmoid.onnx", around(13, "Sigmoid", {"a"}, {4}, {4}).bytes());
    save("pair_cast.onnx", around(13, "Cast", {"a"}, {4}, {4}).bytes());
    save("pair_cast_type.onnx", around(13, "Cast", {"a"}, {4}, {4}, onnx::TensorProto::INT32).bytes());
    save("pair_shape.onnx", around(13, "Add", {"a", "w"}, {4}, {1, 4}).bytes());
    save("pair_input.onnx", around(13, "Sub", {"w", "x"}, {4}, {4}).bytes());
    save("pair_second.onnx", around(13, "Sub", {"w", "a"}, {4}, {4}).bytes());
    save("pair_twice.onnx", around(13, "Mul", {"a", "a"}, {4}, {4}).bytes());
    save("pair_matmul.onnx", around(13, "MatMul", {"a", "w"}, {2, 2}, {2, 2}).bytes());
    for (char const* type : {"Sum", "Max", "Min", "Mean"}) {
        auto save_as = [&](char const* name, names operands) {
            save((std::string("pair_") + name + '_' + type + ".onnx").c_str(),
                 around(13, type, operands, {4}, {4}).bytes());
        };
        save_as("of_two", {"w", "a"});
        save_as("first", {"a", "w", "x"});
        save_as("second", {"w", "a", "x"});
        save_as("third", {"w", "x", "a"});
        save_as("again", {"a", "w", "a"});
    }
    save("pair_where.onnx", around(13, "Where", {"c", "w", "a"}, {4}, {4}).input("c", {4}).bytes());
    save("pair_broadcast.onnx", around(13, "Max", {"x", "a"}, {1, 4}, {4, 4}).bytes());

    model_builder foreign = around(13, "Sigmoid", {"a"}, {4}, {4});
    foreign.graph().mutable_node(1)->set_domain("elsewhere");
    save("pair_foreign.onnx", foreign.bytes());
    model_builder function = around(13, "Sigmoid", {"a"}, {4}, {4});
    function.add_function("Sigmoid");
    save("pair_function.onnx", function.bytes());
    model_builder later = around(13, "Sigmoid", {"a"}, {4}, {4});
    later.graph().mutable_node(2)->add_input("a");
    save("pair_read_later.onnx", later.bytes());
    save("pair_output.onnx", around(13, "Sigmoid", {"a"}, {4}, {4}).output("a").bytes());
    model_builder listed = around(13, "Add", {"a", "w"}, {4}, {4});
    add_ints(*listed.graph().mutable_node(1), "may_inplace", {}); // the file says none
    save("pair_listed.onnx", listed.bytes());
    model_builder constant = around(13, "Sigmoid", {"a"}, {4}, {4});
    constant.graph().mutable_node(0)->set_op_type("Constant");
    constant.graph().mutable_node(0)->clear_input();
    save("pair_constant.onnx", constant.bytes());

    // The operand is a view of a: one under another shape, or one that the file declares, of unknown strides.
    for (bool is_declared : {false, true}) {
        model_builder d;
        d.input("x").shape("a", {2, 2}).shape("v", {4}).shape("r").output("y", {1});
        d.node("Make", {"x"}, {"a"});
        auto& view = d.node(is_declared ? "Transpose" : "Flatten", {"a"}, {"v"});
        if (is_declared) add_ints(view, "alias_of_input", {0});
        d.node("Sigmoid", {"v"}, {"r"});
        d.node("Use", {"r"}, {"y"});
        save(is_declared ? "pair_strides.onnx" : "pair_view.onnx", d.bytes());
    }

    // The other operand is a part of a, which is read for every row.
    model_builder part;
    part.input("x").shape("a", {4, 4}).shape("v", {4}).shape("r", {4, 4}).output("y", {1});
    part.node("Make", {"x"}, {"a"});
    add_ints(part.node("slice", {"a"}, {"v"}), "alias_of_input", {0});
    part.node("Add", {"a", "v"}, {"r"});
    part.node("Use", {"r"}, {"y"});
    save("pair_part.onnx", part.bytes());

    auto normalize = [&](int opset) {
        return around(opset, "BatchNormalization", {"a", "x", "x", "x", "x"}, {1, 4}, {1, 4});
    };
    save("pair_normalize.onnx", normalize(9).bytes());
    save("pair_normalize_15.onnx", normalize(15).bytes());
    save("pair_normalize_6.onnx", normalize(6).bytes());
    save_with("pair_normalize_6_test.onnx", normalize(6), "is_test", 1);
    save_with("pair_normalize_trains.onnx", normalize(15), "training_mode", 1);
    model_builder trains = normalize(9);
    trains.shape("mean", {4}, number).graph().mutable_node(1)->add_output("mean");
    save("pair_normalize_means.onnx", trains.bytes());

    auto softmax = [&](int opset) { return around(opset, "Softmax", {"a"}, {1, 2, 2}, {1, 2, 2}); };
    save("pair_softmax.onnx", softmax(13).bytes());
    save("pair_softmax_9.onnx", softmax(9).bytes()); // along axis 1 and all after it
    save_with("pair_softmax_last.onnx", softmax(9), "axis", 2);
    save_with("pair_softmax_first.onnx", softmax(13), "axis", 0);
}

/// Networks that are declared for one batch. Each reads x and makes r.
model_builder of_batch(dims of_x, dims of_r)
{
    model_builder d(13);
    d.input("x", of_x).output("r", of_r);
    return d;
}

/// Where the batch is in a shape, if another dimension has its size by chance.
void write_batch_dimensions()
{
    for (std::int64_t n : {1, 4, 8}) { // every row with every row
        model_builder rows = of_batch({n, 8}, {n, 8});
        rows.shape("a", {n, 8}).shape("at", {8, n}).shape("s", {n, n});
        rows.node("Relu", {"x"}, {"a"});
        rows.node("Transpose", {"a"}, {"at"});
        rows.node("MatMul", {"a", "at"}, {"s"});
        rows.node("MatMul", {"s", "a"}, {"r"});
        save((numbered("batch_squared_", static_cast<int>(n)) + ".onnx").c_str(), rows.bytes());
    }
    model_builder differences = of_batch({1, 1}, {1, 1});
    differences.shape("at", {1, 1});
    differences.node("Transpose", {"x"}, {"at"});
    differences.node("Sub", {"x", "at"}, {"r"});
    save("batch_differences.onnx", differences.bytes());

    // s grows in its second dimension, c not at all.
    model_builder chance = of_batch({4, 4}, {1, 4});
    store(chance, "w", {4, 4}, onnx::TensorProto::FLOAT);
    store(chance, "axes", {1}, onnx::TensorProto::INT64, std::string(8, '\0'));
    chance.shape("xt", {4, 4}).shape("s", {4, 4}).shape("st", {4, 4}).shape("c", {1, 4});
    chance.node("Transpose", {"x"}, {"xt"});
    chance.node("MatMul", {"w", "xt"}, {"s"});
    chance.node("Transpose", {"s"}, {"st"});
    chance.node("ReduceSum", {"st", "axes"}, {"c"});
    chance.node("Relu", {"c"}, {"r"});
    save("batch_chance.onnx", chance.bytes());

    model_builder pair = of_batch({4, 2}, {4, 2}); // y is the same for every batch
    pair.input("y", {1, 2}).shape("b", {1, 2}).shape("c", {4, 2});
    pair.node("Neg", {"y"}, {"b"});
    pair.node("Add", {"x", "b"}, {"c"});
    pair.node("Relu", {"c"}, {"r"});
    save("batch_and_one.onnx", pair.bytes());
}

onnx::GraphProto& add_graph(onnx::NodeProto& node, char const* name)
{
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    return *attribute.mutable_g();
}

/// r of 256 bytes, made from s by one node, is read at once and at the end; in between there is room for two
/// such values.
model_builder read_twice(char const* type, char const* domain = "")
{
    model_builder d;
    d.input("s", {1}).shape("r", {64}).shape("a", {64}).shape("b", {64}).shape("c", {64}).output("y", {64});
    d.node(type, {"s"}, {"r"}).set_domain(domain);
    for (auto [from, to] : {std::pair{"r", "a"}, {"a", "b"}, {"b", "c"}}) d.node("MatMul", {from, "s"}, {to});
    d.node("Add", {"c", "r"}, {"y"});
    return d;
}

/// Adds a function of the model with one node.
onnx::FunctionProto& add_function(model_builder& d, char const* domain, char const* name, char const* type,
                                  char const* type_domain = "")
{
    auto& f = *d.model.add_functions();
    f.set_domain(domain);
    f.set_name(name);
    f.add_input("x");
    f.add_output("y");
    f.add_opset_import()->set_version(13);
    auto& node = *f.add_node();
    node.set_op_type(type);
    node.set_domain(type_domain);
    node.add_input("x");
    node.add_output("y");
    return f;
}

/// once_*.onnx: the node that makes r may give other bytes if it runs again; again_*.onnx: it may not.
void write_recomputable()
{
    save("again_standard.onnx", read_twice("Expand").bytes());
    save("again_learned.onnx", read_twice("Scaler", "ai.onnx.ml").bytes());
    save("again_aten.onnx", read_twice("expand", "aten").bytes());
    save("once_random.onnx", read_twice("RandomUniformLike", "ai.onnx").bytes());
    save("once_bernoulli.onnx", read_twice("Bernoulli").bytes());
    save("once_aten.onnx", read_twice("bernoulli", "aten").bytes());
    save("once_unknown.onnx", read_twice("Expound").bytes());
    save("once_foreign.onnx", read_twice("Expand", "elsewhere").bytes());

    // In a branch of a branch, in a function that another calls, or in one that has a standard name.
    for (bool is_random : {false, true}) {
        char const* const inner = is_random ? "RandomNormalLike" : "Expand";
        model_builder branch = read_twice("If");
        auto& body = add_graph(*branch.graph().mutable_node(0), "else_branch");
        auto& nested = add_graph(add_node(body, "If", {"s"}, {"t"}), "then_branch");
        add_node(nested, inner, {"s"}, {"u"});
        nested.add_output()->set_name("u");
        body.add_output()->set_name("t");
        save(is_random ? "once_branch.onnx" : "again_branch.onnx", branch.bytes());

        model_builder called = read_twice("Outer", "own");
        add_function(called, "own", "Outer", "Inner", "own");
        add_function(called, "own", "Inner", inner);
        save(is_random ? "once_called.onnx" : "again_called.onnx", called.bytes());
    }
    model_builder own = read_twice("Expand");
    add_function(own, "ai.onnx", "Expand", "RandomNormalLike");
    save("once_own.onnx", own.bytes());

    // A normalization that updates its running averages, its scale, or an average that it also scales by.
    for (auto [name, mean, written] : {std::tuple{"again_averages.onnx", "mean", 3},
                                       {"once_scale.onnx", "mean", 1},
                                       {"once_average.onnx", "scale", 3}}) {
        model_builder trains = read_twice("native_batch_norm", "aten");
        for (char const* one : {"scale", "mean", "variance"})
            store(trains, one, {1}, onnx::TensorProto::FLOAT, std::string(4, '\0'));
        auto& normalize = *trains.graph().mutable_node(0);
        for (char const* read : {"scale", "", mean, "variance"}) normalize.add_input(read);
        add_ints(normalize, "writes_input", {written, 4});
        save(name, trains.bytes());
    }

    // Dropout, by its third input: an initializer that is false, or only the default of a graph input.
    for (bool is_input : {false, true}) {
        model_builder told = read_twice("Dropout");
        store(told, "mode", {}, onnx::TensorProto::BOOL, std::string(1, '\0'));
        if (is_input) told.input("mode", {}, onnx::TensorProto::BOOL);
        auto& dropout = *told.graph().mutable_node(0);
        dropout.add_input("");
        dropout.add_input("mode");
        save(is_input ? "once_dropout.onnx" : "again_dropout.onnx", told.bytes());
    }
}

/// A model in the text form of ONNX.
void save_text(char const* file, char const* text)
{
    onnx::ModelProto model;
    onnx::OnnxParser parser(text);
    if (auto const status = parser.Parse(model); !status.IsOK()) {
        std::fprintf(stderr, "make_models: %s: %s\n", file, status.ErrorMessage().c_str());
        std::exit(1);
    }
    save(file, model.SerializeAsString());
}

/// Files without sizes: they follow from the operators, from open dimensions and from elements.
void write_open()
{
    save_text("open_batch.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, 4] x) => (float[batch, 8] y)
<float[4, 8] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> {
    a = Relu (x)
    y = MatMul (a, w)
})");
    // The shape is computed: [batch * length, 2, 2].
    save_text("open_two.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, length, 4] x, float[length] z) => (float[N, 2, 2] y)
<int64[1] first = {0}, int64[1] second = {1}, int64[2] rest = {2, 2}> {
    s = Shape (x)
    b = Gather (s, first)
    l = Gather (s, second)
    n = Mul (b, l)
    target = Concat <axis = 0> (n, rest)
    a = Exp (x)
    y = Reshape (a, target)
})");
    save_text("open_unnamed.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[?, 4] x, float[?, 4] z) => (float[?, 4] y) {
    y = Add (x, z)
})");
    save_text("open_length.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[2, length] x) => (float[2, length] y) {
    y = Relu (x)
})");
    save_text("open_fixed.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[n, 4] x) => (float[2, 4] y) {
    y = Relu (x)
})");
    // How many elements are not 0 is not known before a run; what is read of them is.
    save_text("counted_in_a_run.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4] x) => (float[4] y, int64[1] n) {
    found = NonZero (x)
    shape = Shape (found)
    last = Cast <to = 1> (found)
    n = Identity (shape)
    y = Relu (x)
})");
    save_text("text_values.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (string[4] x, float[2] z) => (float[2] y) {
    a = Identity (x)
    list = SequenceConstruct (z, z)
    y = Relu (z)
})");
    // Both branches have a size; one is known to run if the flag is.
    save_text("open_choice.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (bool flag, float[4] x) => (float[N] y) {
    r = If (flag) <then_branch = one () => (float[N] t) { t = Relu (x) },
                   else_branch = two () => (float[N] e) { e = Concat <axis = 0> (x, x) }>
    y = Exp (r)
})");
    // Three iterations, of which each adds a row; `c` is carried, and has the same shape in each.
    save_text("open_loop.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4] x) => (float[N, 4] rows, float[4] last)
<int64 trips = {3}> {
    last, rows = Loop (trips, , x) <body = b (int64 i, bool on, float[4] c) => (bool more, float[4] next, float[4] row) {
        more = Identity (on)
        next = Relu (c)
        row = Exp (next)
    }>
})");
    // Two carried values are swapped: one of the copies needs a spare value. A third one stays what it was.
    save_text("bodies_swap.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4] x, bool on, int64 trips) => (float[4] y) {
    a = Exp (x)
    b = Relu (x)
    k = Log (x)
    p, q, r = Loop (trips, on, a, b, k) <body = body (int64 i, bool c, float[4] u, float[4] v, float[4] w) => (bool c, float[4] v, float[4] u, float[4] w) {
        t = Exp (u)
    }>
    z = Add (p, q)
    y = Add (z, r)
})");
    // The branches of a loop read values of both graphs around them; one branch gives a view, one an operand.
    save_text("bodies_nested.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4, 2] x, bool on, int64 trips) => (float[8] y, float[N, 8] all)
<int64[1] flat = {8}> {
    far = Exp (x)
    start = Reshape (x, flat)
    begin = Relu (start)
    y, all = Loop (trips, on, begin) <body = body (int64 i, bool c, float[8] u) => (bool more, float[8] next, float[8] row) {
        near = Exp (u)
        chosen, twice = If (c) <then_branch = left () => (float[8] l, float[8] l) {
            wide = Add (far, x)
            l = Reshape (wide, flat)
        }, else_branch = right () => (float[8] near, float[8] m) {
            m = Add (near, u)
        }>
        next = Add (chosen, twice)
        row = Exp (next)
        more = Not (c)
    }>
})");
    // The sums of the first rows, and their exponentials in reverse; the rows lie along axis 1.
    save_text("bodies_scan.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4, 3] x) => (float[4] sum, float[3, 4] sums)
<float[4] zero = {0, 0, 0, 0}> {
    start = Exp (zero)
    rows = Exp (x)
    sum, sums = Scan (start, rows) <num_scan_inputs = 1, scan_input_axes = [1], body = body (float[4] so_far, float[4] row) => (float[4] next, float[4] out) {
        next = Add (so_far, row)
        out = Exp (next)
    }>
})");
    // Conditions, counts, captured values, and results that a plan leaves out: between the node that makes
    // one and the end of the graph that gives it, other results want its bytes.
    save_text("bodies_kept.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[4] x, int64 n) => (float[4] y, float[M] z, float[K, 4] all) {
    zero = Sub (n, n)
    on = Greater (n, zero)
    more = Not (on)
    trips = Add (n, n)
    first = Exp (x)
    a = Log (x)
    begin = Neg (x)
    b = Exp (a)
    limit = Exp (b)
    short, same = If (on) <then_branch = left () => (float[P] some, float[4] l) {
        at = NonZero (x)
        count = Shape (at)
        half = Exp (limit)
        l0 = Exp (half)
        some = Relu (x)
        l = Exp (l0)
    }, else_branch = right () => (float[Q] two, float[4] r) {
        two = Concat <axis = 0> (x, x)
        r0 = Exp (limit)
        r1 = Exp (r0)
        r = Exp (r1)
    }>
    last, grown, all = Loop (trips, more, first, begin) <body = body (int64 i, bool c, float[4] u, float[R] v) => (bool go, float[4] next, float[S] longer, float[4] row) {
        row = Exp (u)
        go = Not (c)
        longer = Concat <axis = 0> (a, a)
        s = Exp (u)
        t = Exp (s)
        w = Exp (t)
        next = Add (w, limit)
    }>
    y = Add (last, same)
    z = Concat <axis = 0> (short, grown)
})");
    // A slice of axes that only a run knows; axes in any order; a range of 6.0000002 steps; backwards to the
    // greatest number; what two branches put into a list.
    save_text("open_rules.onnx", R"(
<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 3, 4] x, int64[1] n, float[5, 3] tall, float[2, 3] wide, bool on, float[0] none) => (float[2, 12] y)
<int64[1] first = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[3] mixed = {3, 0, 2}, int64[1] most = {9223372036854775807},
 int64[1] back = {-1}, float from = {1.5}, float to = {-2.7}, float by = {-0.7}, int64[2] of_y = {2, 12}> {
    sizes = Shape (tall)
    part = Slice (sizes, first, n)
    axes = Sub (part, of_y)
    any = Slice (x, first, one, axes)
    known = Slice (x, one, most, two)
    empty = Slice (none, two, first, first, back)
    reversed = Slice (x, back, most, first, back)
    apart = Unsqueeze (x, mixed)
    again = Squeeze (apart, mixed)
    rank = Shape (again)
    range = Range (from, to, by)
    list = If (on) <then_branch = left () => (float[A] l) { l = SequenceConstruct (tall) },
                    else_branch = right () => (float[B] r) { r = SequenceConstruct (wide) }>
    item = SequenceAt (list, first)
    y = Reshape (x, of_y)
})");
    // The inner loop carries a value that the outer one changes: what the first iteration had is not
    // declared.
    save_text("open_grown.onnx", R"(
<ir_version: 8, opset_import: ["" : 13]>
g (float[4] x, int64 n) => (float[4] y, float[M] z)
<int64[2] two_rows = {2, 4}> {
    y = Exp (x)
    z = Loop (n, , x) <body = outer (int64 i, bool c, float[P] u) => (bool c1, float[Q] next) {
        c1 = Identity (c)
        kept = Loop (n, , u) <body = inner (int64 j, bool d, float[R] v) => (bool d1, float[S] same) {
            d1 = Identity (d)
            same = Identity (v)
        }>
        next = Expand (kept, two_rows)
    }>
})");
    save_text("open_squeeze.onnx", R"(
<ir_version: 7, opset_import: ["" : 10]>
g (float[1, 1, 1, 1] x, float[1, 2, 3, 3] image, float[2, 2, 3, 3] w) => (float[1] y) {
    part = Squeeze <axes = [3, 2, 0]> (x)
    y = Relu (part)
    rank = Shape (part)
    larger = ConvTranspose <auto_pad = "SAME_UPPER", strides = [2, 2], output_padding = [1, 1]> (image, w)
})");
    save_text("open_absent.onnx", R"(
<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
g (float[2, 3] x) => (float[1] y)
<int64[1] one = {1}> {
    part = own.sum (x)
    y = Reshape (part, one)
}
<domain: "own", opset_import: ["" : 18]>
sum (p, axes) => (q) {
    q = ReduceMax <keepdims = 0> (p, axes)
})");
    save_text("open_functions.onnx", R"(
<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
g (float[n, 4] x) => (float[n, 4] y) {
    a = own.twice <depth = 0> (x)
    y = own.twice (a)
}
<domain: "own", opset_import: ["" : 13]>
twice <depth> (p) => (q) {
    t = Exp (p)
    u = Concat <axis = 1> (t, t)
    halves = Constant <value = int64[2] {4, 4}> ()
    q, rest = Split <axis = 1> (u, halves)
})");
    save_text("open_endless.onnx", R"(
<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
g (float[4] x) => (float[4] y) {
    y = own.f (x)
}
<domain: "own", opset_import: ["" : 13, "own" : 1]>
f (p) => (q) {
    t = Exp (p)
    q = own.f (t)
})");
    save_text("open_versions.onnx", R"(
<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
g (float[4] x) => (float[4] y) {
    y = own.f (x)
}
<domain: "own", opset_import: ["" : 17]>
f (p) => (q) {
    q = Exp (p)
})");
}

/// Names of values that are no identifiers, or become equal ones, and a value of 0 bytes.
void write_odd_names()
{
    model_builder d;
    d.input("x").shape("none", {0}).node("Shrink", {"x"}, {"none"});
    char const* before = "x";
    for (char const* name : {"a.b",
                             "a b",
                             "a_b_2",
                             "a_b",
                             "int",
                             "7up",
                             "linux",
                             "*/ break; /*",
                             "\"quotes\" \\",
                             "ends in \\",
                             "two\nlines",
                             "what?\?/",
                             "what?\?!",
                             "\xc3\xa9t\xc3\xa9",
                             "\xff\xfe",
                             "__",
                             "//",
                             "__a__",
                             "\x01"
                             "1",
                             "%s"}) {
        d.shape(name).node("Grow", {before}, {name});
        before = name;
    }
    d.output("y").node("Grow", {before}, {"y"});
    save("odd_values.onnx", d.bytes());
    save("odd '$model.onnx", d.bytes());
    model_builder big; // 8 GiB: its offsets need more than 32 bits
    big.input("x").shape("a", {1 << 30}).shape("b", {1 << 30}).output("y", {1 << 30});
    big.node("Grow", {"x"}, {"a"});
    big.node("Grow", {"a"}, {"b"});
    big.node("Grow", {"b"}, {"y"});
    save("big_values.onnx", big.bytes());
}

/// The network of examples/firmware, in integers of 8 bits: which of four words is in a piece of sound.
void write_keywords()
{
    constexpr int bytes = onnx::TensorProto::INT8;
    model_builder d(14);
    d.graph().set_name("keywords");
    d.input("sound", {1, 1, 32, 20}, bytes).input("scale", {}).input("zero", {}, bytes);
    d.input("conv_weights", {8, 1, 3, 3}, bytes).input("depth_weights", {8, 1, 3, 3}, bytes);
    d.input("point_weights", {8, 8, 1, 1}, bytes).input("word_weights", {320, 4}, bytes);
    for (char const* name : {"conv", "conv_relu", "depth", "depth_relu", "point", "joined"})
        d.shape(name, {1, 8, 16, 10}, bytes);
    d.shape("pooled", {1, 8, 8, 5}, bytes).shape("flat", {1, 320}, bytes).output("words", {1, 4}, bytes);
    auto add_product = [&](char const* type, char const* of, char const* weights,
                           char const* result) -> onnx::NodeProto& {
        return d.node(type, {of, "scale", "zero", weights, "scale", "zero", "scale", "zero"}, {result});
    };
    auto& conv = add_product("QLinearConv", "sound", "conv_weights", "conv");
    add_ints(conv, "pads", {1, 1, 1, 1});
    add_ints(conv, "strides", {2, 2});
    d.node("Relu", {"conv"}, {"conv_relu"});
    auto& depth = add_product("QLinearConv", "conv_relu", "depth_weights", "depth");
    add_ints(depth, "pads", {1, 1, 1, 1});
    auto* const group = depth.add_attribute();
    group->set_name("group");
    group->set_type(onnx::AttributeProto::INT);
    group->set_i(8);
    d.node("Relu", {"depth"}, {"depth_relu"});
    add_product("QLinearConv", "depth_relu", "point_weights", "point");
    d.node("Max", {"point", "conv_relu"}, {"joined"});
    auto& pooled = d.node("MaxPool", {"joined"}, {"pooled"});
    add_ints(pooled, "kernel_shape", {2, 2});
    add_ints(pooled, "strides", {2, 2});
    d.node("Flatten", {"pooled"}, {"flat"});
    add_product("QLinearMatMul", "flat", "word_weights", "words");
    save("keywords.onnx", d.bytes());
}

/// Two branches with a high peak and a small result: the least peak runs them one after the other.
/// Each order is a file of node indexes.
void write_orders()
{
    model_builder d;
    d.input("x").shape("wide1", {100}).shape("thin1").shape("wide2", {100}).shape("thin2").output("y");
    d.node("Grow", {"x"}, {"wide1"});
    d.node("Shrink", {"wide1"}, {"thin1"});
    d.node("Grow", {"x"}, {"wide2"});
    d.node("Shrink", {"wide2"}, {"thin2"});
    d.node("Add", {"thin1", "thin2"}, {"y"});
    save("two_branches.onnx", d.bytes());
    save("worse.order", "0\n2\n1\r\n3 \n\n4\n");
    save("reversed.order", "4\n3\n2\n1\n0\n");
    save("twice.order", "0\n1\n1\n3\n4\n");
    save("short.order", "0\n1\n2\n");
    save("words.order", "0\nfirst\n");
    save("beyond.order", "0\n5\n");
    save("early_update.order", "1\n2\n0\n");
    save("other_way_round.order", "1\n0\n2\n");
}

} // namespace

int main(int count, char** words)
{
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count != 2 || asks_for_help)
        return std::fputs("usage: make_models FOLDER\n", asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    folder = words[1];
    write_unreadable();
    write_unsized();
    write_external_data();
    write_misordered();
    write_wrong_attributes();
    save("chain.onnx", chain(false).bytes());
    save("a\"b.onnx", chain(false).bytes());
    save("in_place.onnx", chain(true).bytes());
    write_declarations();
    write_odd_sizes();
    write_views();
    write_state();
    save("captured.onnx", branch("a").bytes());
    save("captured_ghost.onnx", branch("ghost").bytes());
    save("nested.onnx", nested(99).bytes()); // plus the graph around them
    save("nested_too_deep.onnx", nested(100).bytes());
    write_standard_pairs();
    write_batch_dimensions();
    write_recomputable();
    write_open();
    write_odd_names();
    write_keywords();
    write_orders();
    return 0;
}
