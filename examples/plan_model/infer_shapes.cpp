// SPDX-License-Identifier: BSL-1.0

// Follows the nodes of a graph with a table of what is known of each name: its type, and its elements if they
// are few and known. A graph inside sees the names of the graphs around it. A function of the model is
// followed as a graph that is made of its nodes and the attributes of the call.

#include "infer_shapes.hpp"

#include "known_elements.hpp"
#include "model_functions.hpp"
#include "network.hpp"
#include "newer_operators.hpp"
#include "standard_operators.hpp"

#include <onnx/defs/operator_sets.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace plan_model {
namespace {

constexpr std::size_t most_body_nodes = 250'000;
constexpr std::size_t most_function_bytes = std::size_t{1} << 28;
constexpr std::size_t most_stored_elements = std::size_t{1} << 24; ///< in all, of those that the file has
constexpr std::size_t most_computed_elements = std::size_t{1} << 22;
constexpr std::size_t most_work = std::size_t{1} << 27; ///< elements that rules visit
constexpr int most_dimensions = 256;
constexpr int usual_dimensions = 16;
constexpr std::size_t most_unusual_dimensions = std::size_t{1} << 18; ///< of all results of a higher rank
constexpr std::size_t most_shape_elements = 1024; ///< of an operand that says a shape, axes or the like
constexpr std::size_t most_contradictions = 64;
constexpr std::size_t most_type_bytes = 256; ///< of a type that is no tensor
constexpr int most_nested = 128;
constexpr std::size_t most_known = 65536; ///< elements of a tensor that are followed

using dimension = onnx::TensorShapeProto::Dimension;

bool has_shape(onnx::TypeProto const& type)
{
    return type.has_tensor_type() && type.tensor_type().has_shape();
}

google::protobuf::RepeatedPtrField<dimension> const& dims_of(onnx::TypeProto const& type)
{
    return type.tensor_type().shape().dim();
}

/// Few enough elements, so that they are read.
bool is_followed(onnx::TensorProto const& stored)
{
    double elements = 1;
    for (auto n : stored.dims()) elements *= static_cast<double>(n);
    return elements <= double{most_known};
}

/// A tensor of a known element type and shape.
bool is_full(onnx::TypeProto const& type)
{
    return has_shape(type) && type.tensor_type().elem_type() != 0 &&
           std::all_of(dims_of(type).begin(), dims_of(type).end(),
                       [](dimension const& d) { return d.has_dim_value() && d.dim_value() >= 0; });
}

/// It has no size to find: it is full, or no tensor.
bool is_settled(onnx::TypeProto const& type)
{
    return is_full(type) || (type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type());
}

onnx::TypeProto tensor_type(int element)
{
    onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(element);
    return type;
}

onnx::TypeProto scalar_type(int element)
{
    onnx::TypeProto type = tensor_type(element);
    type.mutable_tensor_type()->mutable_shape();
    return type;
}

template <class Sizes>
onnx::TypeProto type_of_size(int element, Sizes const& sizes)
{
    onnx::TypeProto type = scalar_type(element);
    for (std::int64_t const size : sizes) {
        auto* const d = type.mutable_tensor_type()->mutable_shape()->add_dim();
        if (size >= 0) d->set_dim_value(size);
    }
    return type;
}

/// The product of the known dimensions is no number that the rules could compute with.
bool is_too_large(onnx::TypeProto const& type)
{
    if (!has_shape(type)) return false;
    if (dims_of(type).size() > most_dimensions) return true;
    constexpr std::int64_t most = std::int64_t{1} << 60;
    std::int64_t product = 1;
    for (dimension const& d : dims_of(type)) {
        if (!d.has_dim_value() || d.dim_value() <= 1) continue;
        if (d.dim_value() > most / product) return true;
        product *= d.dim_value();
    }
    return false;
}

/// What holds for both.
onnx::TypeProto common_type(onnx::TypeProto const& a, onnx::TypeProto const& b)
{
    if (a.value_case() != b.value_case()) return {};
    if (a.has_sequence_type()) { // of tensors: the type that all of them have
        auto const &x = a.sequence_type().elem_type(), &y = b.sequence_type().elem_type();
        onnx::TypeProto both;
        auto& elements = *both.mutable_sequence_type();
        if (x.has_tensor_type() && y.has_tensor_type()) *elements.mutable_elem_type() = common_type(x, y);
        return both;
    }
    if (a.has_optional_type()) {
        auto const &x = a.optional_type().elem_type(), &y = b.optional_type().elem_type();
        onnx::TypeProto both;
        auto& held = *both.mutable_optional_type();
        if (x.has_tensor_type() && y.has_tensor_type()) *held.mutable_elem_type() = common_type(x, y);
        return both;
    }
    if (!a.has_tensor_type()) return a;
    if (a.tensor_type().elem_type() != b.tensor_type().elem_type()) return tensor_type(0);
    onnx::TypeProto both = tensor_type(a.tensor_type().elem_type());
    if (!has_shape(a) || !has_shape(b) || dims_of(a).size() != dims_of(b).size()) return both;
    auto* const shape = both.mutable_tensor_type()->mutable_shape();
    for (int i = 0; i != dims_of(a).size(); ++i) {
        auto* const d = shape->add_dim();
        auto const &x = dims_of(a)[i], &y = dims_of(b)[i];
        if (x.has_dim_value() && y.has_dim_value() && x.dim_value() == y.dim_value())
            d->set_dim_value(x.dim_value());
    }
    return both;
}

bool is_equal(onnx::TypeProto const& a, onnx::TypeProto const& b)
{
    return a.SerializeAsString() == b.SerializeAsString();
}

/// Adds to `found` what only `declared` says. Returns false if they contradict each other: then `found` is
/// kept.
bool complete(onnx::TypeProto& found, onnx::TypeProto const& declared)
{
    if (declared.value_case() == onnx::TypeProto::VALUE_NOT_SET) return true;
    if (found.value_case() == onnx::TypeProto::VALUE_NOT_SET) return found = declared, true;
    if (found.value_case() != declared.value_case()) return false;
    if (!found.has_tensor_type()) return true;
    bool agree = true;
    if (found.tensor_type().elem_type() == 0)
        found.mutable_tensor_type()->set_elem_type(declared.tensor_type().elem_type());
    else if (declared.tensor_type().elem_type() != 0)
        agree = found.tensor_type().elem_type() == declared.tensor_type().elem_type();
    if (!has_shape(declared)) return agree;
    if (!has_shape(found)) {
        *found.mutable_tensor_type()->mutable_shape() = declared.tensor_type().shape();
        return agree;
    }
    if (dims_of(found).size() != dims_of(declared).size()) return false;
    for (int i = 0; i != dims_of(found).size(); ++i) {
        auto& d = *found.mutable_tensor_type()->mutable_shape()->mutable_dim(i);
        auto const& said = dims_of(declared)[i];
        if (!d.has_dim_value() && said.has_dim_value() && said.dim_value() >= 0) d = said;
        else if (d.has_dim_value() && said.has_dim_value() && said.dim_value() >= 0)
            agree = agree && d.dim_value() == said.dim_value();
    }
    return agree;
}

/// "FLOAT[1, ?]".
std::string text_of(onnx::TypeProto const& type)
{
    if (!type.has_tensor_type()) return "no tensor";
    int const element = type.tensor_type().elem_type();
    std::string text =
        onnx::TensorProto::DataType_IsValid(element)
            ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(element))
            : "type " + std::to_string(element);
    if (!has_shape(type)) return text;
    text += '[';
    for (int i = 0; i != dims_of(type).size(); ++i) {
        if (i != 0) text += ", ";
        if (i == usual_dimensions) return text + "...]";
        text += dims_of(type)[i].has_dim_value() ? std::to_string(dims_of(type)[i].dim_value()) : "?";
    }
    return text + ']';
}

/// The first line of a message of the ONNX library, without its own heading.
std::string first_line(std::string text)
{
    if (text.starts_with('[')) text.erase(0, std::min(text.find(']') + 1, text.size()));
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    text.erase(std::min(text.find('\n'), text.size()));
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    if (text.size() > 200) text = text.substr(0, 200) + "...";
    return text;
}

/// What is known of a name.
struct fact {
    onnx::TypeProto type;
    std::shared_ptr<known_tensor const> elements = {}; ///< nullptr: unknown
    std::string why_open = {};
};

/// The names of a graph.
struct scope {
    scope const* outer = nullptr;
    std::unordered_map<std::string, fact> facts = {};

    fact const* find(std::string const& name) const
    {
        if (name.empty()) return nullptr;
        for (scope const* in = this; in != nullptr; in = in->outer)
            if (auto const found = in->facts.find(name); found != in->facts.end()) return &found->second;
        return nullptr;
    }
};

/// It is short enough to be a shape, axes or the like, which rules read.
bool is_list(known_tensor const& known)
{
    return std::max(known.whole.size(), known.real.size()) <= most_shape_elements;
}

/// The operands of a node, for the rules of the ONNX library.
class node_context final : public onnx::InferenceContext {
public:
    node_context(onnx::NodeProto const& node, std::vector<fact const*> const& operands)
        : operands_(operands), data_(operands.size()),
          is_standard_(node.domain().empty() || node.domain() == "ai.onnx"),
          results(static_cast<std::size_t>(node.output_size()))
    {
        for (auto const& a : node.attribute()) attributes_.emplace(a.name(), &a);
    }

    onnx::AttributeProto const* getAttribute(std::string const& name) const override
    {
        auto const found = attributes_.find(name);
        return found == attributes_.end() ? nullptr : found->second;
    }
    std::size_t getNumInputs() const override { return operands_.size(); }
    onnx::TypeProto const* getInputType(std::size_t i) const override
    {
        fact const* const operand = at(i);
        bool const is_known =
            operand != nullptr && operand->type.value_case() != onnx::TypeProto::VALUE_NOT_SET;
        // Rules of other domains take for granted that there is a type.
        if (!is_known && !is_standard_)
            throw std::runtime_error("its operand " + std::to_string(i) + " has no known type");
        return is_known ? &operand->type : nullptr;
    }
    onnx::TensorProto const* getInputData(std::size_t i) const override
    {
        fact const* const operand = at(i);
        if (operand == nullptr || !operand->elements || !is_list(*operand->elements)) return nullptr;
        if (!data_[i]) data_[i] = as_tensor(*operand->elements);
        return &*data_[i];
    }
    onnx::SparseTensorProto const* getInputSparseData(std::size_t) const override { return nullptr; }
    onnx::TensorShapeProto const* getSymbolicInput(std::size_t) const override { return nullptr; }
    std::size_t getNumOutputs() const override { return results.size(); }
    onnx::TypeProto* getOutputType(std::size_t i) override
    {
        if (i >= results.size()) throw std::runtime_error("it has no result " + std::to_string(i));
        return &results[i];
    }
    onnx::GraphInferencer* getGraphAttributeInferencer(std::string const& name) override
    {
        throw std::runtime_error("its graph " + name + " is not followed");
    }

private:
    fact const* at(std::size_t i) const
    {
        if (i >= operands_.size()) throw std::runtime_error("it has no operand " + std::to_string(i));
        return operands_[i];
    }

    std::unordered_map<std::string, onnx::AttributeProto const*> attributes_;
    std::vector<fact const*> const& operands_;
    mutable std::vector<std::optional<onnx::TensorProto>> data_;
    bool is_standard_;

public:
    std::vector<onnx::TypeProto> results;
};

/// Numbers by which the ONNX library divides or with which it multiplies without a check.
void expect_sane_attributes(onnx::NodeProto const& node)
{
    static constexpr std::string_view positive[] = {"strides",   "dilations",  "kernel_shape", "group",
                                                    "blocksize", "num_groups", "num_outputs"};
    constexpr std::int64_t most = std::int64_t{1} << 40;
    for (auto const& a : node.attribute()) {
        bool const is_positive = is_one_of(positive, a.name());
        bool const is_rank = a.name() == "batch_dims";
        if (!is_positive && !is_rank && a.name() != "pads" && a.name() != "output_padding" &&
            a.name() != "output_shape" && a.name() != "hidden_size")
            continue;
        constexpr std::int64_t most_of_block = std::int64_t{1} << 20; // its square counts
        std::int64_t const first = is_positive ? 1
                                   : is_rank   ? 0
                                               : -most,
                           last = is_rank                   ? most_dimensions
                                  : a.name() == "blocksize" ? most_of_block
                                                            : most;
        auto expect = [&](std::int64_t i) {
            if (i < first || i > last)
                throw std::runtime_error("its attribute " + quoted(a.name()) + " is " + std::to_string(i));
        };
        if (a.has_i()) expect(a.i());
        for (auto const i : a.ints()) expect(i);
    }
}

using operand_types = std::vector<onnx::TypeProto const*>;

/// The rank of an operand; -1: not known.
int rank_of(operand_types const& types, std::size_t i)
{
    return i < types.size() && types[i] != nullptr && has_shape(*types[i]) ? dims_of(*types[i]).size() : -1;
}

void expect_rank(operand_types const& types, std::size_t i, int least, int most)
{
    int const rank = rank_of(types, i);
    if (rank >= 0 && (rank < least || rank > most))
        throw std::runtime_error("its operand " + std::to_string(i) + " has " + std::to_string(rank) +
                                 " dimensions");
}

/// Some rules make as many dimensions as an operand has elements.
void expect_sane_length(onnx::NodeProto const& node, operand_types const& types)
{
    static constexpr std::string_view of_first[] = {"ConstantOfShape"},
                                      of_second[] = {"Expand", "Reshape", "Tile"};
    std::size_t const i = is_one_of(of_first, node.op_type())    ? 0
                          : is_one_of(of_second, node.op_type()) ? 1
                                                                 : types.size();
    if (rank_of(types, i) < 0) return;
    for (dimension const& d : dims_of(*types[i]))
        if (d.dim_value() > most_dimensions)
            throw std::runtime_error("its result has " + std::to_string(d.dim_value()) +
                                     " dimensions, which are too many to follow");
}

/// ... and some read dimensions, or numbers about them, that may not be there.
void expect_sane_ranks(onnx::NodeProto const& node, operand_types const& types)
{
    static constexpr std::string_view recurrent[] = {"GRU", "LSTM", "RNN"},
                                      convolutions[] = {"Conv", "ConvInteger", "ConvTranspose",
                                                        "QLinearConv"},
                                      pools[] = {"AveragePool", "LpPool", "MaxPool", "MaxUnpool"};
    std::string_view const type = node.op_type();
    int const rank = rank_of(types, 0);
    if (is_one_of(recurrent, type)) {
        expect_rank(types, 0, 3, 3);
    } else if (type == "Gemm") {
        for (std::size_t i = 0; i != 2; ++i) expect_rank(types, i, 2, 2);
    } else if (is_one_of(convolutions, type)) {
        expect_rank(types, 0, 2, most_dimensions);
        expect_rank(types, type == "QLinearConv" ? 3 : 1, std::max(rank, 2),
                    rank < 0 ? most_dimensions : rank);
    } else if (is_one_of(pools, type)) {
        expect_rank(types, 0, 3, most_dimensions);
        auto const* const kernel = attribute(node, "kernel_shape");
        if (rank >= 0 && kernel != nullptr && kernel->ints_size() != rank - 2)
            throw std::runtime_error("its window has " + std::to_string(kernel->ints_size()) +
                                     " dimensions, and its operand " + std::to_string(rank));
    } else if (type == "LayerNormalization") {
        auto const* const axis = attribute(node, "axis");
        std::int64_t const first = axis != nullptr ? axis->i() : -1;
        if (first < -rank || first >= rank) // also if the rank is not known
            throw std::runtime_error("its attribute 'axis' is " + std::to_string(first));
    }
}

/// ... and most take for granted that an operand that has to be there has a type.
void expect_sane_types(onnx::NodeProto const& node, operand_types const& types, onnx::OpSchema const& schema)
{
    static constexpr std::string_view of_any_type[] = {"SequenceLength", "Shape", "Size"};
    std::string_view const type = node.op_type();
    bool const is_of_tensors = schema.domain().empty() && type != "Identity" &&
                               type.find("Sequence") == type.npos && type.find("Optional") == type.npos;
    for (std::size_t i = 0; i != types.size() && is_of_tensors; ++i)
        if (types[i] != nullptr && !types[i]->has_tensor_type())
            throw std::runtime_error("its operand " + std::to_string(i) + " is no tensor");
    if (is_one_of(of_any_type, node.op_type())) return;
    for (int i = 0; i != schema.min_input(); ++i)
        if (static_cast<std::size_t>(i) >= types.size() || types[static_cast<std::size_t>(i)] == nullptr)
            throw std::runtime_error("its operand " + std::to_string(i) + " has no known type");
}

/// By domain; the standard one is "".
using opset_versions = std::unordered_map<std::string, std::int64_t>;

template <class Imports>
opset_versions versions_of(Imports const& imports)
{
    opset_versions versions;
    for (auto const& set : imports)
        versions.emplace(set.domain() == "ai.onnx" ? "" : set.domain(), set.version());
    return versions;
}

class inferrer {
public:
    inferrer(onnx::ModelProto& model, bool is_declared_right)
        : model_(model), functions_(model), is_declared_right_(is_declared_right)
    {
        onnx::OpSchemaRegistry::Instance();
    }

    inferred_shapes infer(std::vector<given_value> const& values)
    {
        onnx::GraphProto& graph = *model_.mutable_graph();
        scope main;
        main_ = &main;
        add_given(graph, main, {});
        for (given_value const& given : values) add_value(main, given);
        auto const declared = declarations_of(graph);
        auto const versions = versions_of(model_.opset_import());
        for (int n = 0; n != graph.node_size(); ++n) {
            auto& node = *graph.mutable_node(n);
            if (std::any_of(node.output().begin(), node.output().end(),
                            [&](auto const& name) { return main.facts.count(name) != 0; }))
                continue; // defined twice: the reader of the file refuses it
            std::vector<fact> results = follow(node, main, versions, &declared);
            for (int i = 0; i != node.output_size(); ++i) {
                std::string const& name = node.output(i);
                if (name.empty()) continue;
                fact& result = results[static_cast<std::size_t>(i)];
                if (auto const said = declared.find(name); said != declared.end()) {
                    onnx::TypeProto const found = result.type;
                    if (!complete(result.type, said->second) &&
                        found_.contradictions.size() < most_contradictions)
                        found_.contradictions.push_back("value " + quoted(name) + " is declared as " +
                                                        text_of(said->second) + ", but node " +
                                                        std::to_string(n) + ' ' + quoted(node.op_type()) +
                                                        " makes " + text_of(found));
                }
                main.facts.emplace(name, std::move(result));
            }
        }
        infer_backwards(graph, main);
        declare_results(graph, main);
        return std::move(found_);
    }

private:
    using declared_types = std::unordered_map<std::string, onnx::TypeProto>;

    /// By name. Two declarations that contradict each other stay in the file, for its reader.
    declared_types declarations_of(onnx::GraphProto const& graph)
    {
        declared_types types;
        for (auto const* const list : {&graph.value_info(), &graph.output()})
            for (auto const& v : *list)
                if (auto const [known, is_new] = types.emplace(v.name(), v.type()); !is_new)
                    if (!complete(known->second, v.type())) kept_.insert(v.name());
        return types;
    }

    /// Inputs and stored tensors. Of the inputs beyond those that are given, the declarations are known.
    void add_given(onnx::GraphProto const& graph, scope& in, std::vector<fact> const& inputs)
    {
        for (int i = 0; i != graph.input_size(); ++i) {
            auto const& v = graph.input(i);
            auto const at = static_cast<std::size_t>(i);
            fact input = at < inputs.size() ? inputs[at] : fact{v.type()};
            if (!is_settled(input.type) && input.why_open.empty())
                input.why_open = "its input has an open dimension";
            in.facts.emplace(v.name(), std::move(input));
        }
        for (auto const& t : graph.initializer()) {
            fact stored{type_of_size(t.data_type(), t.dims())};
            // A run may give an input another value than the stored one. Up to version 3 of the format all
            // that is stored had to be an input.
            if (in.facts.count(t.name()) == 0 || model_.ir_version() < 4)
                stored.elements = count(is_followed(t) ? elements_of(t) : std::nullopt, true);
            in.facts[t.name()] = std::move(stored);
        }
        for (auto const& t : graph.sparse_initializer())
            in.facts[t.values().name()] = {type_of_size(t.values().data_type(), t.dims())};
    }

    /// All elements of an input are known and equal.
    void add_value(scope& main, given_value const& given)
    {
        auto const& inputs = model_.graph().input();
        auto const input = std::find_if(inputs.begin(), inputs.end(),
                                        [&](auto const& v) { return v.name() == given.input; });
        if (input == inputs.end()) {
            std::string names;
            for (int i = 0; i != std::min(inputs.size(), 8); ++i)
                names += (i == 0 ? "" : ", ") + quoted(inputs[i].name());
            throw input_error("no input is named " + quoted(given.input) + ", but " + names +
                              (inputs.size() > 8 ? " ..." : ""));
        }
        fact& known = main.facts.at(given.input);
        if (!is_full(known.type))
            throw input_error("input " + quoted(given.input) + " has no known shape, and so no elements");
        if (known.elements &&
            known.elements->whole != std::vector<std::int64_t>(known.elements->whole.size(), given.element))
            throw input_error("the elements of input " + quoted(given.input) + " are given twice");
        known_tensor all{known.type.tensor_type().elem_type(), {}, {}, {}};
        std::size_t elements = 1;
        for (dimension const& d : dims_of(known.type)) {
            all.size.push_back(d.dim_value());
            elements = std::min(
                elements * static_cast<std::size_t>(std::min<std::int64_t>(d.dim_value(), most_known)),
                most_known);
        }
        if (elements == most_known)
            throw input_error("input " + quoted(given.input) + " has too many elements to give them");
        all.whole.assign(elements, given.element);
        // Through the type's own bytes, so that the element is one that the type holds.
        onnx::TensorProto const stored = as_tensor(all);
        auto elements_read = elements_of(stored);
        if (!elements_read || elements_read->whole != all.whole)
            throw input_error("the elements of input " + quoted(given.input) + ", " + text_of(known.type) +
                              ", cannot be " + std::to_string(given.element) +
                              ": --value gives whole numbers and truth values that the type holds");
        known.elements = count(std::move(elements_read));
    }

    /// Keeps elements, within the limit for all of them.
    std::shared_ptr<known_tensor const> count(std::optional<known_tensor> elements, bool is_stored = false)
    {
        if (!elements || elements->whole.size() + elements->real.size() > most_known) return nullptr;
        std::size_t const more = elements->whole.size() + elements->real.size() + elements->size.size() + 1;
        std::size_t& all = is_stored ? stored_elements_ : computed_elements_;
        if (more > (is_stored ? most_stored_elements : most_computed_elements) - all) return nullptr;
        all += more;
        return std::make_shared<known_tensor const>(std::move(*elements));
    }

    /// An operand of an operator that works element by element has the shape of the result, which may be
    /// declared.
    void infer_backwards(onnx::GraphProto const& graph, scope& in) const
    {
        standard_operators const standard(model_);
        for (int n = graph.node_size(); n-- != 0;) {
            auto const& node = graph.node(n);
            if (node.input_size() == 0 || node.output_size() != 1 || !standard.contains(node) ||
                !(node.op_type() == "Identity" || is_one_of(of_first_operand, node.op_type())))
                continue;
            auto const from = in.facts.find(node.output(0)), to = in.facts.find(node.input(0));
            if (from == in.facts.end() || to == in.facts.end() || !is_full(from->second.type)) continue;
            onnx::TypeProto& type = to->second.type;
            bool const is_tensor = type.has_tensor_type() && type.tensor_type().elem_type() != 0;
            if (!is_tensor || is_full(type)) continue;
            onnx::TypeProto shape = from->second.type;
            shape.mutable_tensor_type()->set_elem_type(type.tensor_type().elem_type());
            complete(type, shape);
        }
    }

    /// Declares what is known of the results of nodes in the graph itself, and why others are open.
    void declare_results(onnx::GraphProto& graph, scope const& in)
    {
        auto& why_open = found_.why_open[&graph];
        why_open.clear(); // of another iteration
        std::unordered_map<std::string_view, onnx::ValueInfoProto*> declared;
        for (auto& v : *graph.mutable_value_info()) declared.emplace(v.name(), &v);
        std::unordered_map<std::string_view, onnx::ValueInfoProto*> outputs;
        for (auto& v : *graph.mutable_output()) outputs.emplace(v.name(), &v);
        std::unordered_set<std::string_view> done;
        for (auto const& node : graph.node())
            for (auto const& name : node.output()) {
                auto const found = in.facts.find(name);
                if (name.empty() || found == in.facts.end() || kept_.count(name) != 0) continue;
                if (!done.insert(name).second) continue; // defined twice
                if (!is_settled(found->second.type)) why_open.emplace(name, found->second.why_open);
                if (auto const out = outputs.find(name); out != outputs.end())
                    *out->second->mutable_type() = found->second.type;
                auto const known = declared.find(name);
                if (known == declared.end() && outputs.count(name) != 0 && in.outer == nullptr) continue;
                auto& v = known != declared.end() ? *known->second : *graph.add_value_info();
                v.set_name(name);
                *v.mutable_type() = found->second.type;
            }
    }

    /// The facts of a node's results.
    std::vector<fact> follow(onnx::NodeProto& node, scope& in, opset_versions const& versions,
                             declared_types const* declared)
    {
        std::vector<fact const*> operands;
        for (auto const& name : node.input()) operands.push_back(in.find(name));
        std::vector<fact> results(static_cast<std::size_t>(node.output_size()));
        std::string const domain = node.domain() == "ai.onnx" ? "" : node.domain();
        auto const version = versions.find(domain);
        std::int64_t const opset =
            version == versions.end() ? std::numeric_limits<int>::max() : version->second;
        auto const* const function = functions_.find(node);
        bool const is_standard = domain.empty() && function == nullptr;

        bool is_said = is_declared_right_ && declared != nullptr && node.output_size() != 0;
        for (auto const& name : node.output()) {
            auto const said =
                is_said && !name.empty() ? declared->find(name) : declared_types::const_iterator{};
            is_said = is_said && (name.empty() || (said != declared->end() && is_full(said->second)));
        }
        bool const has_graphs = is_standard && holds_graphs(node);
        try {
            if (std::any_of(operands.begin(), operands.end(),
                            [](fact const* f) { return f != nullptr && is_too_large(f->type); }))
                throw std::runtime_error("an operand is larger than can be counted");
            if (is_said && !has_graphs) {
            } else if (function != nullptr) {
                follow_function(node, *function, operands, results);
            } else if (is_standard && node.op_type() == "If") {
                follow_if(node, in, versions, operands, results);
            } else if (is_standard && node.op_type() == "Loop") {
                follow_loop(node, in, versions, operands, results);
            } else if (is_standard && node.op_type() == "Scan") {
                follow_scan(node, in, versions, operands, results, opset);
            } else if (is_standard && node.op_type() == "SequenceMap") {
                for (fact& result : results) result.type.mutable_sequence_type();
            } else {
                apply_rule(node, domain, opset, operands, results);
            }
        } catch (std::exception const& e) { // of the rules, which name no node
            bool const is_typed = std::all_of(operands.begin(), operands.end(), [](fact const* f) {
                return f == nullptr || f->type.value_case() != onnx::TypeProto::VALUE_NOT_SET;
            });
            for (fact& result : results)
                result = {{}, nullptr, is_typed ? first_line(e.what()) : std::string{}};
        }
        if (is_standard && !has_graphs) add_elements(node, opset, operands, results);
        for (std::size_t i = 0; i != results.size(); ++i) {
            if (is_said) {
                auto const said = declared->find(node.output(static_cast<int>(i)));
                if (said != declared->end()) results[i].type = said->second;
            }
            drop_impossible(results[i].type);
            drop_excess(results[i]);
            if (!is_settled(results[i].type) && results[i].why_open.empty())
                results[i].why_open = reason(node, operands);
        }
        return results;
    }

    /// A rule that computes with numbers out of the file may leave 64 bits.
    static void drop_impossible(onnx::TypeProto& type)
    {
        if (!has_shape(type)) return;
        for (auto& d : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
            if (d.has_dim_value() && d.dim_value() < 0) d.clear_value();
    }

    /// A file of a few bytes for each node may make results with more than can be kept.
    void drop_excess(fact& result)
    {
        onnx::TypeProto& type = result.type;
        if (!type.has_tensor_type()) {
            if (type.ByteSizeLong() <= most_type_bytes) return;
            onnx::TypeProto less; // cleared messages would keep their memory
            if (type.has_sequence_type()) less.mutable_sequence_type();
            else if (type.has_optional_type()) less.mutable_optional_type();
            else if (type.has_map_type()) less.mutable_map_type();
            else return;
            type.Swap(&less);
            return;
        }
        int const rank = has_shape(type) ? dims_of(type).size() : 0;
        if (rank <= usual_dimensions) return;
        auto const dimensions = static_cast<std::size_t>(rank);
        if (rank > most_dimensions || dimensions > most_unusual_dimensions - unusual_dimensions_) {
            onnx::TypeProto less = tensor_type(type.tensor_type().elem_type());
            type.Swap(&less);
            result.why_open = "it has " + std::to_string(rank) + " dimensions, which are too many to follow";
        } else unusual_dimensions_ += dimensions;
    }

    static std::string reason(onnx::NodeProto const& node, std::vector<fact const*> const& operands)
    {
        for (std::size_t i = 0; i != operands.size(); ++i)
            if (operands[i] != nullptr && !is_settled(operands[i]->type))
                return "its operand " + quoted_in_short(node.input(static_cast<int>(i))) +
                       " has no known size";
        return "its size depends on elements that only a run knows";
    }

    /// nullptr: absent, or nothing is known of it.
    static std::vector<onnx::TypeProto const*> types_of(std::vector<fact const*> const& operands)
    {
        std::vector<onnx::TypeProto const*> types;
        for (fact const* const f : operands)
            types.push_back(
                f == nullptr || f->type.value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : &f->type);
        return types;
    }

    void apply_rule(onnx::NodeProto const& node, std::string const& domain, std::int64_t opset,
                    std::vector<fact const*> const& operands, std::vector<fact>& results)
    {
        auto const types = types_of(operands);
        std::vector<known_tensor const*> elements;
        for (fact const* const f : operands) {
            elements.push_back(f == nullptr || !f->elements || !is_list(*f->elements) ? nullptr
                                                                                      : f->elements.get());
        }
        if (results.empty()) return; // the rule of Split divides by their number
        expect_sane_attributes(node);
        if (node.op_type() == "SplitToSequence" && elements.size() > 1 && elements[1] != nullptr)
            for (std::int64_t const size : elements[1]->whole)
                if (size < 1) throw std::runtime_error("it makes parts of " + std::to_string(size));
        expect_sane_length(node, types);
        expect_sane_ranks(node, types);
        if (auto const own = infer_newer(node, opset, types, elements)) {
            for (std::size_t i = 0; i != std::min(own->size(), results.size()); ++i)
                results[i].type = (*own)[i];
            return;
        }
        auto const* const schema = onnx::OpSchemaRegistry::Schema(
            node.op_type(), static_cast<int>(std::min<std::int64_t>(opset, std::numeric_limits<int>::max())),
            domain);
        if (schema == nullptr || schema->deprecated())
            throw std::runtime_error("the rule of operator " + quoted(node.op_type()) +
                                     (domain.empty() ? "" : " of domain " + quoted(domain)) +
                                     " is not known");
        if (schema->has_type_and_shape_inference_function()) {
            expect_sane_types(node, types, *schema);
            node_context context(node, operands);
            schema->GetTypeAndShapeInferenceFunction()(context);
            for (std::size_t i = 0; i != results.size(); ++i) results[i].type = std::move(context.results[i]);
        } else if (schema->HasFunction()) {
            onnx::FunctionProto const& body = *schema->GetFunction();
            follow_function(node, body, operands, results);
            for (fact& result : results) result.elements = nullptr; // a kernel may round otherwise
        }
    }

    void add_elements(onnx::NodeProto const& node, std::int64_t opset,
                      std::vector<fact const*> const& operands, std::vector<fact>& results)
    {
        auto const types = types_of(operands);
        std::vector<known_tensor const*> elements;
        for (fact const* const f : operands) {
            elements.push_back(f == nullptr ? nullptr : f->elements.get());
        }
        std::size_t read = 0, together = 1, made = 0;
        for (known_tensor const* const e : elements)
            if (e != nullptr) {
                std::size_t const count = std::max(e->whole.size(), e->real.size());
                read += count;
                together = std::min(together * (count + 1), most_known);
            }
        if (work_ > most_work) return;
        auto known = evaluate(node, opset, elements, types);
        for (auto const& k : known)
            if (k) made += std::max(k->whole.size(), k->real.size());
        // A rule without a result may have found at the end of all that it visited that there is none.
        std::size_t const sorting = node.op_type() == "TopK" ? 16 : 1;
        std::size_t const passes = elements.size() <= 64 ? std::max<std::size_t>(elements.size(), 1) : 1;
        work_ += sorting * (read + passes * (made != 0 ? made : read != 0 ? together : 0));
        for (std::size_t i = 0; i != std::min(known.size(), results.size()); ++i) {
            if (!known[i]) continue;
            results[i].type = type_of_size(known[i]->element, known[i]->size);
            results[i].elements = count(std::move(known[i]), node.op_type() == "Constant");
        }
    }

    // --- graphs inside ----------------------------------------------------------------------------------

    /// The facts of a graph's outputs.
    std::vector<fact> follow_graph(onnx::GraphProto& graph, scope const* outer,
                                   opset_versions const& versions, std::vector<fact> const& inputs)
    {
        if (nested_ == most_nested) throw std::runtime_error("graphs are nested too deep");
        body_nodes_ += static_cast<std::size_t>(graph.node_size());
        if (body_nodes_ > most_body_nodes)
            throw std::runtime_error("its graphs have too many nodes to follow");
        ++nested_;
        scope inner{outer};
        add_given(graph, inner, inputs);
        for (auto& node : *graph.mutable_node()) {
            std::vector<fact> results = follow(node, inner, versions, nullptr);
            for (int i = 0; i != node.output_size(); ++i)
                if (!node.output(i).empty())
                    inner.facts[node.output(i)] = std::move(results[static_cast<std::size_t>(i)]);
        }
        --nested_;
        std::vector<fact> outputs;
        for (auto const& v : graph.output()) {
            fact const* const found = inner.find(v.name());
            outputs.push_back(found != nullptr ? *found : fact{});
            if (found == nullptr) outputs.back().type = v.type();
        }
        if (is_in_function(&inner)) return outputs; // the graph is made for this call
        declare_results(graph, inner);
        auto& said = said_inputs_[&graph];
        if (said.empty())
            for (auto const& v : graph.input()) said.push_back(v.type());
        for (int i = 0; i != graph.input_size(); ++i)
            *graph.mutable_input(i)->mutable_type() = inner.facts.at(graph.input(i).name()).type;
        return outputs;
    }

    bool is_in_function(scope const* in) const
    {
        while (in->outer != nullptr) in = in->outer;
        return in != main_;
    }

    static onnx::GraphProto& graph_of(onnx::NodeProto& node, char const* name)
    {
        for (auto& a : *node.mutable_attribute())
            if (a.name() == name && a.has_g()) return *a.mutable_g();
        throw std::runtime_error(std::string("it has no graph ") + name);
    }

    static std::optional<bool> truth_of(fact const* f)
    {
        if (f == nullptr || !f->elements || f->elements->whole.size() != 1) return std::nullopt;
        return f->elements->whole.front() != 0;
    }

    void follow_if(onnx::NodeProto& node, scope const& in, opset_versions const& versions,
                   std::vector<fact const*> const& operands, std::vector<fact>& results)
    {
        auto const taken = operands.empty() ? std::nullopt : truth_of(operands.front());
        found_.taken.erase(&node); // of another iteration
        if (taken) found_.taken.emplace(&node, *taken);
        std::vector<fact> const then = follow_graph(graph_of(node, "then_branch"), &in, versions, {}),
                                other = follow_graph(graph_of(node, "else_branch"), &in, versions, {});
        for (std::size_t i = 0; i != results.size(); ++i) {
            if (taken) {
                auto const& from = *taken ? then : other;
                if (i < from.size()) results[i] = from[i];
                continue;
            }
            if (i >= then.size() || i >= other.size())
                throw std::runtime_error("a branch has too few results");
            results[i].type = common_type(then[i].type, other[i].type);
            if (is_settled(results[i].type)) continue;
            if (!is_settled(then[i].type)) results[i].why_open = "in its then_branch " + then[i].why_open;
            else if (!is_settled(other[i].type))
                results[i].why_open = "in its else_branch " + other[i].why_open;
            else
                results[i].why_open =
                    "its branches make " + text_of(then[i].type) + " and " + text_of(other[i].type);
            results[i].why_open += " (--value can give what the condition depends on)";
        }
    }

    void follow_loop(onnx::NodeProto& node, scope const& in, opset_versions const& versions,
                     std::vector<fact const*> const& operands, std::vector<fact>& results)
    {
        onnx::GraphProto& body = graph_of(node, "body");
        std::size_t const carried = operands.size() < 2 ? 0 : operands.size() - 2;
        auto const in_body = static_cast<std::size_t>(body.input_size()),
                   out_of_body = static_cast<std::size_t>(body.output_size());
        if (in_body != carried + 2 || out_of_body < carried + 1 || results.size() > out_of_body - 1)
            throw std::runtime_error("its body has other values than it carries");
        bool const begins = operands.size() < 2 || operands[1] == nullptr || truth_of(operands[1]) == true;
        std::optional<std::int64_t> trips;
        if (!operands.empty() && operands[0] != nullptr && operands[0]->elements &&
            operands[0]->elements->whole.size() == 1)
            trips = std::max<std::int64_t>(operands[0]->elements->whole.front(), 0);
        if (operands.size() > 1 && truth_of(operands[1]) == false) trips = 0;

        std::vector<fact> inputs(carried + 2);
        inputs[0].type = scalar_type(onnx::TensorProto::INT64);
        inputs[1].type = scalar_type(onnx::TensorProto::BOOL);
        // If the condition holds and the body gives true whenever it gets true, it holds in every iteration.
        if (begins) inputs[1].elements = count(known_tensor{onnx::TensorProto::BOOL, {}, {1}, {}});
        for (std::size_t i = 0; i != carried; ++i)
            inputs[i + 2].type = first_type(operands[i + 2], body, i + 2);
        std::vector<fact> const outputs = follow_until_same(body, in, versions, inputs, 2, 1, carried);
        bool const is_counted = trips && (*trips == 0 || (begins && truth_of(&outputs[0]) == true));
        for (std::size_t i = 0; i != results.size(); ++i) {
            fact const& last = outputs[i + 1];
            if (i < carried) {
                fact const* const first = operands[i + 2];
                if (is_counted && *trips == 0 && first != nullptr) results[i] = *first;
                else if (is_counted || first == nullptr) results[i].type = last.type;
                else results[i].type = common_type(first->type, last.type);
                if (!is_settled(results[i].type))
                    results[i].why_open = last.why_open.empty()
                                              ? "its shape changes from one iteration to the next"
                                              : "in its body " + last.why_open;
                continue;
            }
            add_sequence(results[i], last, is_counted ? *trips : -1, 0);
            if (!is_counted && results[i].why_open.empty())
                results[i].why_open = "only a run knows how many iterations it makes";
        }
    }

    /// The type of an operand that a body takes; if it has none, that which the file declares in the body:
    /// not what held for an earlier iteration of a loop around it.
    onnx::TypeProto first_type(fact const* operand, onnx::GraphProto const& body, std::size_t input) const
    {
        onnx::TypeProto type = operand != nullptr ? operand->type : onnx::TypeProto{};
        auto const said = said_inputs_.find(&body);
        if (!is_settled(type) && !has_shape(type))
            complete(type, said != said_inputs_.end() ? said->second[input]
                                                      : body.input(static_cast<int>(input)).type());
        return common_type(type, type); // without names of dimensions
    }

    /// The results of a body in every iteration: its inputs from `first_input` on take the shapes that hold
    /// for its outputs from `first_output` on, too.
    std::vector<fact> follow_until_same(onnx::GraphProto& body, scope const& in,
                                        opset_versions const& versions, std::vector<fact>& inputs,
                                        std::size_t first_input, std::size_t first_output,
                                        std::size_t carried)
    {
        for (int round = 0;; ++round) {
            std::vector<fact> outputs = follow_graph(body, &in, versions, inputs);
            bool is_same = true;
            for (std::size_t i = 0; i != carried; ++i) {
                fact& input = inputs[first_input + i];
                onnx::TypeProto both = common_type(input.type, outputs[first_output + i].type);
                if (is_equal(both, input.type)) continue;
                is_same = false;
                if (round > 2)
                    both = round > 3 ? onnx::TypeProto{} : tensor_type(both.tensor_type().elem_type());
                input.type = std::move(both);
            }
            if (is_same || round > 5) return outputs;
        }
    }

    /// A result that has one element of the body's along `axis` for each iteration.
    static void add_sequence(fact& result, fact const& of_body, std::int64_t trips, std::int64_t axis)
    {
        result.type = of_body.type;
        result.why_open = of_body.why_open;
        if (!has_shape(of_body.type)) return;
        int const rank = dims_of(of_body.type).size() + 1;
        if (axis < 0) axis += rank;
        if (axis < 0 || axis >= rank) throw std::runtime_error("its axis is none of the result's");
        auto* const shape = result.type.mutable_tensor_type()->mutable_shape();
        shape->clear_dim();
        for (int i = 0; i != rank; ++i) {
            auto* const d = shape->add_dim();
            if (i == axis && trips >= 0) d->set_dim_value(trips);
            else if (i != axis) *d = dims_of(of_body.type)[i < axis ? i : i - 1];
        }
    }

    void follow_scan(onnx::NodeProto& node, scope const& in, opset_versions const& versions,
                     std::vector<fact const*> const& operands, std::vector<fact>& results, std::int64_t opset)
    {
        // In opset 8 the first operand has the lengths, and all others begin with a batch.
        bool const has_batch = opset < 9;
        std::size_t const skipped = has_batch ? 1 : 0;
        onnx::GraphProto& body = graph_of(node, "body");
        auto const* const counted = attribute(node, "num_scan_inputs");
        std::int64_t const scans = counted != nullptr ? counted->i() : 0;
        std::size_t const all = operands.size() - std::min(skipped, operands.size());
        if (scans < 1 || static_cast<std::uint64_t>(scans) > all)
            throw std::runtime_error("its attribute 'num_scan_inputs' is " + std::to_string(scans));
        std::size_t const carried = all - static_cast<std::size_t>(scans);
        auto const outputs_of_body = static_cast<std::size_t>(body.output_size());
        if (static_cast<std::size_t>(body.input_size()) != all || outputs_of_body < carried ||
            results.size() > outputs_of_body)
            throw std::runtime_error("its body has other values than it carries");
        auto axis_of = [&](char const* name, std::size_t i) {
            auto const* const axes = attribute(node, name);
            return axes != nullptr && i < static_cast<std::size_t>(axes->ints_size())
                       ? axes->ints(static_cast<int>(i))
                       : std::int64_t{0};
        };
        auto without = [](onnx::TypeProto const& type, int axis) {
            onnx::TypeProto rest = tensor_type(type.tensor_type().elem_type());
            auto* const shape = rest.mutable_tensor_type()->mutable_shape();
            for (int i = 0; i != dims_of(type).size(); ++i)
                if (i != axis) *shape->add_dim() = dims_of(type)[i];
            return rest;
        };
        std::int64_t trips = -1, batch = -1;
        std::vector<fact> inputs(all);
        for (std::size_t i = 0; i != all; ++i) {
            fact const* const operand = operands[i + skipped];
            if (operand == nullptr || !operand->type.has_tensor_type()) continue;
            inputs[i].type = common_type(operand->type, operand->type); // without names of dimensions
            if (!has_shape(operand->type)) continue;
            if (has_batch) {
                if (dims_of(inputs[i].type).empty()) throw std::runtime_error("an operand has no batch");
                if (dims_of(inputs[i].type)[0].has_dim_value())
                    batch = dims_of(inputs[i].type)[0].dim_value();
                inputs[i].type = without(inputs[i].type, 0);
            }
            if (i < carried) continue;
            int const rank = dims_of(inputs[i].type).size();
            std::int64_t axis = has_batch ? 0 : axis_of("scan_input_axes", i - carried);
            if (axis < 0) axis += rank;
            if (axis < 0 || axis >= rank) throw std::runtime_error("its axis is none of an operand's");
            auto const& d = dims_of(inputs[i].type)[static_cast<int>(axis)];
            if (d.has_dim_value()) {
                if (trips >= 0 && trips != d.dim_value())
                    throw std::runtime_error("its operands have " + std::to_string(trips) + " and " +
                                             std::to_string(d.dim_value()) + " elements to scan");
                trips = d.dim_value();
            }
            inputs[i].type = without(inputs[i].type, static_cast<int>(axis));
        }
        std::vector<fact> const outputs = follow_until_same(body, in, versions, inputs, 0, 0, carried);
        for (std::size_t i = 0; i != results.size(); ++i) {
            if (i < carried) {
                onnx::TypeProto const& first =
                    operands[i + skipped] != nullptr ? inputs[i].type : outputs[i].type;
                results[i].type = common_type(first, outputs[i].type);
                results[i].why_open = outputs[i].why_open;
            } else {
                add_sequence(results[i], outputs[i], trips,
                             has_batch ? 0 : axis_of("scan_output_axes", i - carried));
            }
            if (has_batch && has_shape(results[i].type)) {
                fact const whole = results[i];
                add_sequence(results[i], whole, batch, 0);
            }
        }
    }

    // --- functions --------------------------------------------------------------------------------------

    void follow_function(onnx::NodeProto const& node, onnx::FunctionProto const& function,
                         std::vector<fact const*> const& operands, std::vector<fact>& results)
    {
        if (nested_ == most_nested) throw std::runtime_error("graphs are nested too deep");
        std::size_t const bytes = bytes_of(function) + bytes_of_attributes(node);
        if (bytes > most_function_bytes - function_bytes_)
            throw std::runtime_error("its functions have too many nodes to follow");
        function_bytes_ += bytes;
        onnx::GraphProto body = graph_of_call(node, function);
        std::vector<fact> inputs;
        for (fact const* const operand : operands) inputs.push_back(operand != nullptr ? *operand : fact{});
        inputs.resize(static_cast<std::size_t>(body.input_size()));
        std::vector<fact> const outputs =
            follow_graph(body, nullptr, versions_of(function.opset_import()), inputs);
        for (std::size_t i = 0; i != std::min(results.size(), outputs.size()); ++i) results[i] = outputs[i];
    }

    std::size_t bytes_of(onnx::FunctionProto const& function)
    {
        auto const [known, is_new] = bytes_of_.emplace(&function, 0);
        if (is_new) known->second = function.ByteSizeLong();
        return known->second;
    }
    static std::size_t bytes_of_attributes(onnx::NodeProto const& node)
    {
        std::size_t bytes = 0;
        for (auto const& a : node.attribute()) bytes += a.ByteSizeLong();
        return bytes;
    }

    onnx::ModelProto& model_;
    model_functions functions_;
    bool is_declared_right_;
    int nested_ = 0;
    std::size_t body_nodes_ = 0, function_bytes_ = 0, stored_elements_ = 0, computed_elements_ = 0, work_ = 0,
                unusual_dimensions_ = 0;
    std::unordered_map<onnx::FunctionProto const*, std::size_t> bytes_of_; // of functions that are called
    std::unordered_set<std::string> kept_; // declarations that are not replaced
    scope const* main_ = nullptr;          // of the main graph
    std::unordered_map<onnx::GraphProto const*, std::vector<onnx::TypeProto>> said_inputs_; // of the file
    inferred_shapes found_;
};

} // namespace

inferred_shapes infer_shapes(onnx::ModelProto& model, bool is_declared_right,
                             std::vector<given_value> const& values)
{
    return inferrer(model, is_declared_right).infer(values);
}

} // namespace plan_model
