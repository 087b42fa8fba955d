// SPDX-License-Identifier: BSL-1.0

// Nodes that obey the schema of their operator now and then only: what infers their shapes has to bear all.
#include "drawn_models.hpp"

#include <onnx/defs/operator_sets.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

using schema = onnx::OpSchema;

/// By name and version, as the registry has no order.
std::vector<schema> const& all_schemas()
{
    static std::vector<schema> const all = [] {
        onnx::OpSchemaRegistry::Instance();
        std::vector<schema> found = onnx::OpSchemaRegistry::get_all_schemas_with_history();
        auto key = [](schema const& s) { return std::tuple(s.domain(), s.Name(), s.since_version()); };
        std::sort(found.begin(), found.end(),
                  [&](schema const& a, schema const& b) { return key(a) < key(b); });
        return found;
    }();
    return all;
}

class drawing {
public:
    explicit drawing(random_source& d) : d_(d) {}

    onnx::ModelProto draw()
    {
        model_.set_ir_version(8);
        graph_ = model_.mutable_graph();
        graph_->set_name("drawn");
        for (int i = d_.between(1, 3); i != 0; --i) add_node(d_.one_of(all_schemas()));
        onnx::ValueInfoProto& output = *graph_->add_output();
        output.set_name("sum");
        onnx::NodeProto& node = *graph_->add_node();
        node.set_op_type("Exp");
        node.add_input(new_input(onnx::TensorProto::FLOAT));
        node.add_output("sum");
        return std::move(model_);
    }

private:
    std::int64_t odd_number()
    {
        static constexpr std::int64_t odd[] = {
            -1,         0,     1,      2,         INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN,
            UINT32_MAX, 65536, -65536, 1LL << 40, 1LL << 60, 1LL << 62, 255,       INT64_MAX - 1};
        return d_.percent(75) ? d_.between(-3, 6) : d_.one_of(odd);
    }
    std::int64_t size_of_axis()
    {
        return d_.percent(90) ? d_.between(0, 6) : std::max<std::int64_t>(odd_number(), 0);
    }
    int element_type()
    {
        static constexpr int usual[] = {onnx::TensorProto::FLOAT, onnx::TensorProto::INT64,
                                        onnx::TensorProto::BOOL,  onnx::TensorProto::INT32,
                                        onnx::TensorProto::FLOAT, onnx::TensorProto::FLOAT16};
        return d_.percent(85) ? d_.one_of(usual) : d_.between(0, 24);
    }
    std::string any_word()
    {
        static char const* const words[] = {
            "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID",    "linear",     "nearest",       "constant",
            "edge",   "reflect",    "none",       "add",      "forward",    "bidirectional", "reverse",
            "mean",   "sum",        "RGB",        "FLOAT",    "ij,jk->ik",  "...ij,jk->...", "i->ii",
            "->",     ",",          "...",        "ab...c",   "TF",         "DCR",           "CRD",
            "",       "TO_FLOAT",   "TO_STRING",  "TO_INT64", "not_larger", "half_pixel",    "TFIDF"};
        return d_.one_of(words);
    }

    std::string new_name() { return numbered("v", names_++); }

    void draw_tensor(onnx::TensorProto& t)
    {
        int const type = d_.percent(50) ? int{onnx::TensorProto::INT64} : element_type();
        t.set_data_type(type);
        int const rank = d_.percent(60) ? 1 : d_.between(0, 3);
        std::size_t count = 1;
        for (int i = 0; i != rank; ++i) {
            t.add_dims(d_.percent(97) ? d_.between(0, 5) : odd_number());
            count *= static_cast<std::size_t>(std::clamp<std::int64_t>(t.dims(i), 0, 64));
        }
        if (d_.percent(3)) ++count;
        for (std::size_t i = 0; i != count; ++i)
            if (type == onnx::TensorProto::INT64) t.add_int64_data(odd_number());
            else if (type == onnx::TensorProto::FLOAT)
                t.add_float_data(d_.percent(80) ? static_cast<float>(d_.between(-2, 8)) / 2
                                                : static_cast<float>(odd_number()));
            else if (type == onnx::TensorProto::DOUBLE) t.add_double_data(static_cast<double>(odd_number()));
            else if (type == onnx::TensorProto::STRING) t.add_string_data(any_word());
            else t.add_int32_data(d_.between(0, 3));
    }

    void draw_type(onnx::TypeProto& type, int depth)
    {
        int const kind = d_.percent(88) || depth == 3 ? 0 : d_.between(1, 4);
        if (kind == 1) return draw_type(*type.mutable_sequence_type()->mutable_elem_type(), depth + 1);
        if (kind == 2) return draw_type(*type.mutable_optional_type()->mutable_elem_type(), depth + 1);
        if (kind == 3) {
            type.mutable_map_type()->set_key_type(element_type());
            return draw_type(*type.mutable_map_type()->mutable_value_type(), depth + 1);
        }
        if (kind == 4) {
            if (d_.percent(50)) type.mutable_sparse_tensor_type()->set_elem_type(element_type());
            return;
        }
        draw_shape(*type.mutable_tensor_type(), element_type());
    }

    void draw_shape(onnx::TypeProto_Tensor& tensor, int type)
    {
        tensor.set_elem_type(type);
        if (d_.percent(8)) return;
        auto& shape = *tensor.mutable_shape();
        static constexpr int ranks[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 6};
        for (int rank = d_.one_of(ranks); rank != 0; --rank) {
            auto& d = *shape.add_dim();
            if (d_.percent(8)) continue;
            if (d_.percent(5)) d.set_dim_param("n");
            else d.set_dim_value(size_of_axis());
        }
    }

    std::string new_input(int type)
    {
        onnx::ValueInfoProto& input = *graph_->add_input();
        input.set_name(new_name());
        draw_shape(*input.mutable_type()->mutable_tensor_type(), type);
        return input.name();
    }

    std::string any_operand()
    {
        if (d_.percent(6)) return "";
        if (!results_.empty() && d_.percent(25)) return d_.one_of(results_);
        if (d_.percent(40)) {
            onnx::TensorProto& t = *graph_->add_initializer();
            draw_tensor(t);
            t.set_name(new_name());
            return t.name();
        }
        onnx::ValueInfoProto& input = *graph_->add_input();
        input.set_name(new_name());
        if (!d_.percent(3)) draw_type(*input.mutable_type(), 0);
        return input.name();
    }

    void draw_graph(onnx::GraphProto& graph)
    {
        graph.set_name("inside");
        for (int i = d_.between(0, 3); i != 0; --i) {
            graph.add_input()->set_name(numbered("in", static_cast<std::size_t>(i)));
            if (d_.percent(50)) draw_type(*graph.mutable_input(graph.input_size() - 1)->mutable_type(), 0);
        }
        onnx::NodeProto& node = *graph.add_node();
        node.set_op_type("Identity");
        node.add_input(graph.input_size() != 0     ? graph.input(0).name()
                       : graph_->input_size() != 0 ? graph_->input(0).name()
                                                   : "");
        node.add_output("made");
        for (int i = d_.between(0, 3); i != 0; --i)
            graph.add_output()->set_name(graph.input_size() != 0 && d_.percent(40) ? graph.input(0).name()
                                                                                   : "made");
    }

    void draw_attribute(onnx::AttributeProto& a, int kind)
    {
        using attribute = onnx::AttributeProto;
        if (d_.percent(6)) kind = d_.between(1, 10);
        a.set_type(static_cast<attribute::AttributeType>(kind));
        std::size_t const count = d_.percent(95) ? d_.below(6) : d_.below(40);
        switch (kind) {
        case attribute::FLOAT: return a.set_f(static_cast<float>(odd_number()));
        case attribute::INT: return a.set_i(odd_number());
        case attribute::STRING: return a.set_s(any_word());
        case attribute::TENSOR: return draw_tensor(*a.mutable_t());
        case attribute::GRAPH: return draw_graph(*a.mutable_g());
        case attribute::FLOATS:
            for (std::size_t i = 0; i != count; ++i) a.add_floats(static_cast<float>(odd_number()));
            return;
        case attribute::INTS:
            for (std::size_t i = 0; i != count; ++i) a.add_ints(odd_number());
            return;
        case attribute::STRINGS:
            for (std::size_t i = 0; i != count; ++i) a.add_strings(any_word());
            return;
        case attribute::TYPE_PROTO: return draw_type(*a.mutable_tp(), 0);
        case attribute::SPARSE_TENSOR:
            draw_tensor(*a.mutable_sparse_tensor()->mutable_values());
            draw_tensor(*a.mutable_sparse_tensor()->mutable_indices());
            a.mutable_sparse_tensor()->add_dims(size_of_axis());
            return;
        default:
            for (std::size_t i = 0; i != count % 3; ++i) draw_tensor(*a.add_tensors());
        }
    }

    void add_node(schema const& of)
    {
        onnx::NodeProto node;
        node.set_op_type(of.Name());
        node.set_domain(of.domain());
        if (std::none_of(model_.opset_import().begin(), model_.opset_import().end(),
                         [&](auto const& set) { return set.domain() == of.domain(); })) {
            auto& set = *model_.add_opset_import();
            set.set_domain(of.domain());
            set.set_version(of.since_version() + (d_.percent(20) ? d_.between(0, 9) : 0));
        }
        int operands =
            of.min_input() + d_.between(0, std::min(3, std::max(of.max_input() - of.min_input(), 0)));
        if (d_.percent(8)) operands = d_.between(0, 6);
        for (int i = 0; i != operands; ++i) node.add_input(any_operand());
        for (auto const& [name, a] : of.attributes())
            if (a.required ? d_.percent(92) : d_.percent(45)) {
                auto& made = *node.add_attribute();
                made.set_name(name);
                draw_attribute(made, static_cast<int>(a.type));
            }
        int results =
            of.min_output() + d_.between(0, std::min(3, std::max(of.max_output() - of.min_output(), 0)));
        if (d_.percent(5)) results = d_.between(0, 4);
        for (int i = 0; i != results; ++i) node.add_output(d_.percent(5) ? "" : new_name());
        for (auto const& name : node.output())
            if (!name.empty()) results_.push_back(name);
        graph_->add_node()->Swap(&node);
    }

    random_source& d_;
    onnx::ModelProto model_;
    onnx::GraphProto* graph_ = nullptr;
    std::size_t names_ = 0;
    std::vector<std::string> results_;
};

} // namespace

onnx::ModelProto draw_operators(random_source& d) { return drawing(d).draw(); }

} // namespace fuzz
