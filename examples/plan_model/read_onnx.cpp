// SPDX-License-Identifier: BSL-1.0

// Converts an ONNX graph: its values, the node that defines each, their sizes, and which values are views.

#include "read_onnx.hpp"

#include "function_operators.hpp"
#include "model_file.hpp"
#include "standard_operators.hpp"
#include "value_types.hpp"

#include <sublet/core/units.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace plan_model {
namespace {

using sublet::byte_count;
using sublet::node_id;
using sublet::value_id;
using sublet::value_role;


/// The names that graphs (the branches of If, the body of Loop) use and do not define.
std::vector<std::string> captured_names(std::vector<onnx::GraphProto const*> const& graphs)
{
    struct scope {
        onnx::GraphProto const* graph;
        std::size_t outer; // index of the enclosing scope; its own index for one of `graphs`
        std::unordered_set<std::string_view> defines;
    };
    std::vector<scope> scopes;
    auto enter = [&](onnx::NodeProto const& n, std::size_t outer) {
        for (auto const& a : n.attribute()) {
            if (a.has_g()) scopes.push_back({&a.g(), outer, {}});
            for (auto const& g : a.graphs()) scopes.push_back({&g, outer, {}});
        }
    };
    std::vector<std::string> captured;
    auto look_up = [&](std::string const& name, std::size_t from) {
        if (name.empty()) return; // an operand that is left out
        for (std::size_t i = from; !scopes[i].defines.count(name); i = scopes[i].outer)
            if (scopes[i].outer == i) return captured.push_back(name);
    };

    for (auto const* const g : graphs) scopes.push_back({g, scopes.size(), {}});
    for (std::size_t i = 0; i != scopes.size(); ++i) { // grows during the loop
        onnx::GraphProto const& g = *scopes[i].graph;
        auto& defines = scopes[i].defines;
        for (auto const& v : g.input()) defines.insert(v.name());
        for (auto const& t : g.initializer()) defines.insert(t.name());
        for (auto const& t : g.sparse_initializer()) defines.insert(t.values().name());
        for (auto const& n : g.node()) defines.insert(n.output().begin(), n.output().end());
        for (auto const& n : g.node()) {
            for (auto const& name : n.input()) look_up(name, i);
            enter(n, i);
        }
        for (auto const& v : g.output()) look_up(v.name(), i);
    }
    return captured;
}

/// The graphs in the attributes of a node.
std::vector<onnx::GraphProto const*> graphs_in(onnx::NodeProto const& node)
{
    std::vector<onnx::GraphProto const*> graphs;
    for (auto const& a : node.attribute()) {
        if (a.has_g()) graphs.push_back(&a.g());
        for (auto const& g : a.graphs()) graphs.push_back(&g);
    }
    return graphs;
}

/// How a kernel of an operator reads operands of the type and shape of its result.
enum class in_place_kernel : std::uint8_t {
    none,        ///< it may read them after it has begun to write
    over_first,  ///< it may read all but the first one after that: it adds the third to the sum of two
    of_one_pass, ///< element i of every operand before it writes element i
};

class reader {
public:
    reader(std::string const& file, onnx::ModelProto const& model, reading_options const& how)
        : file_(file), model_(model), graph_(model.graph()), standard_(model), how_(how)
    {
        find_random_functions();
        for (auto const& node : graph_.node())
            for (auto const* const inner : with_inner_nodes(node))
                writes_ = writes_ || attribute(*inner, "writes_input") != nullptr;
    }

    /// Of a graph inside a node. `where`: "in then_branch of node 7 (If)".
    reader(reader const& outer, onnx::GraphProto const& graph, std::string where)
        : file_(outer.file_), model_(outer.model_), graph_(graph), standard_(outer.standard_),
          how_(outer.how_), outer_(&outer), where_(std::move(where))
    {
        // Exporters declare few shapes there, and not every reader infers them.
        if (how_.unsized == unsized_results::refused) how_.unsized = unsized_results::left_out;
    }

    network read()
    {
        declare_values();
        read_operations();
        mark_outputs();
        return std::move(net_);
    }

private:
    void declare_values()
    {
        for (auto const& v : graph_.output()) outputs_.insert(v.name());
        declare_all();
        add_given_values();
        if (outer_ != nullptr)
            for (std::string const& name : captured_names({&graph_}))
                if (ids_.count(name) == 0) capture(outer_->ids_.at(name));
        add_results();
    }

    void read_operations()
    {
        for (int n = 0; n != graph_.node_size(); ++n) add_operation(n);
        if (how_.reads_bodies) remark_calls();
    }

    /// What a function of the model computes is one step.
    void remark_calls()
    {
        int calls = 0, first = 0;
        for (int n = graph_.node_size(); n-- != 0;) {
            auto const& node = graph_.node(n);
            if (root().may_run_again_.count(function_name(node.domain(), node.op_type())) != 0)
                ++calls, first = n;
        }
        if (calls != 0)
            net_.remarks.push_back(file_ + ": " + std::to_string(calls) +
                                   " nodes call functions of the model, first " + label_of(first) +
                                   ": the values inside are not planned (--inline plans them)");
    }

    [[noreturn]] void refuse(std::string const& what) const { throw input_error(file_ + ": " + what); }

    /// The operation that a node is; before it may be one that brings an iteration its elements.
    node_id operation_of(int n) const { return static_cast<node_id>(n) + lead_; }
    onnx::NodeProto const& node_of(node_id operation) const
    {
        return graph_.node(static_cast<int>(operation - lead_));
    }

    std::string label_of(int n) const
    {
        auto const& node = graph_.node(n);
        std::string label = "node ";
        label += std::to_string(n);
        if (!node.name().empty()) label += ' ' + quoted_in_short(node.name());
        std::string const type = quoted_in_short(node.op_type());
        return label + " (" + type.substr(1, type.size() - 2) + ')' + where_;
    }

    void declare(std::string const& name, value_type const& declared)
    {
        if (name.empty()) return;
        value_type& known = types_[name];
        value_type const before = known;
        if (!merge(known, declared))
            refuse("value " + quoted(name) + " is declared as " + text_of(before) + " and as " +
                   text_of(declared));
    }

    /// Stored data is a declaration, too.
    void declare_stored(std::string const& name, onnx::TensorProto const& t)
    {
        value_type const type = type_of(t.data_type(), t.dims());
        declare(name, type);
        stored_elements const held = elements_in(t);
        byte_count const needed = storage_of(type).bytes;
        if (!held.is_in_one_field)
            refuse("value " + quoted(name) + ", " + text_of(type) +
                   ", is stored as elements of another type");
        if (held.bytes != 0 && element_bits(type.element) != 0 && held.bytes != needed)
            refuse("value " + quoted(name) + ", " + text_of(type) + ", is stored in " +
                   std::to_string(held.bytes) + " bytes");
    }

    void declare_all()
    {
        for (auto const& v : graph_.input()) declare(v.name(), type_of(v.type()));
        for (auto const& v : graph_.value_info()) declare(v.name(), type_of(v.type()));
        if (outer_ == nullptr)
            for (auto const& v : graph_.output()) declare(v.name(), type_of(v.type()));
        for (auto const& t : graph_.initializer()) declare_stored(t.name(), t);
        for (auto const& t : graph_.sparse_initializer())
            declare(t.values().name(), type_of(t.values().data_type(), t.dims()));
        for (auto const& node : graph_.node())
            if (auto const* const value = standard_.constant_of(node)) declare_stored(node.output(0), *value);
    }

    void add_value(network_value value)
    {
        auto const id = static_cast<value_id>(net_.values.size());
        if (!ids_.emplace(value.name, id).second) refuse("value " + quoted(value.name) + " is defined twice");
        net_.types.push_back(type_of_value(value.name));
        net_.values.push_back(std::move(value));
    }

    value_type type_of_value(std::string const& name) const
    {
        auto const found = types_.find(name);
        return found == types_.end() ? value_type{} : found->second;
    }

    void add_given_value(std::string const& name)
    {
        add_value({name, storage_of(type_of_value(name)).bytes, value_role::external});
    }

    void add_given_values()
    {
        for (auto const& v : graph_.input()) add_given_value(v.name());
        // An initializer may also be a graph input, of which it is the default; up to IR 3 it had to be.
        std::size_t const inputs = net_.values.size();
        std::unordered_set<std::string_view> stored;
        auto add_initializer = [&](std::string const& name) {
            if (!stored.insert(name).second) refuse("value " + quoted(name) + " is stored twice");
            auto const known = ids_.find(name);
            if (known == ids_.end() || known->second >= inputs) add_given_value(name);
        };
        for (auto const& t : graph_.initializer()) {
            add_initializer(t.name());
            constants_.emplace(t.name(), &t);
        }
        for (auto const& t : graph_.sparse_initializer()) add_initializer(t.values().name());
    }

    void add_results()
    {
        for (int n = 0; n != graph_.node_size(); ++n)
            for (auto const& name : graph_.node(n).output()) {
                if (name.empty()) continue;
                storage size = storage_of(type_of_value(name));
                if (size.bytes == sublet::no_size) {
                    leave_out(name, size);
                    size.bytes = 0;
                }
                add_value({name, size.bytes, is_weight(n, name) ? value_role::external : value_role::intermediate, sublet::no_value, operation_of(n)});
                ++net_.results;
            }
    }

    /// A constant lies in the model, as an initializer does, and no step makes it; a result of the graph is
    /// copied. In a model with nodes that write what they read, each run makes its constants anew.
    bool is_weight(int n, std::string const& name) const
    {
        auto const& node = graph_.node(n);
        return how_.constants_are_weights && !root().writes_ && standard_.contains(node) && node.op_type() == "Constant" &&
               outputs_.count(name) == 0;
    }

    /// Of the value that is added next.
    void leave_out(std::string const& name, storage const& size)
    {
        std::string why = size.why_unsized;
        if (how_.why_open != nullptr && !size.has_no_bytes) {
            auto const of_graph = how_.why_open->find(&graph_);
            if (of_graph != how_.why_open->end())
                if (auto const more = of_graph->second.find(name); more != of_graph->second.end())
                    why = "has no known size: " + more->second;
        }
        if (how_.unsized == unsized_results::refused ||
            (how_.unsized == unsized_results::refused_if_tensors && !size.has_no_bytes))
            refuse("value " + quoted(name) + ' ' + why);
        net_.unsized.push_back({static_cast<value_id>(net_.values.size()), why, size.has_no_bytes});
    }

    /// The position of the value among those without a size, or the number of these.
    std::size_t unsized_at(value_id v) const
    {
        auto const first = net_.unsized.begin(), last = net_.unsized.end();
        auto const at = std::lower_bound(
            first, last, v, [](unsized_result const& left, value_id w) { return left.value < w; });
        return static_cast<std::size_t>((at != last && at->value == v ? at : last) - first);
    }
    bool is_unsized(value_id v) const { return unsized_at(v) != net_.unsized.size(); }

    void add_operation(int n)
    {
        auto const& node = graph_.node(n);
        operation op;
        op.label = label_of(n);
        op.type = node.op_type();
        expect_single_attributes(n);
        for (auto const& name : node.input()) op.inputs.push_back(used_value(name, n));
        for (auto const& name : node.output())
            op.outputs.push_back(name.empty() || is_weight(n, name) ? sublet::no_value : ids_.at(name));

        if (auto const* const declared = attribute(node, "flops"); declared != nullptr && declared->i() > 0)
            op.flops = static_cast<std::uint64_t>(declared->i());
        add_aliases(n, op);
        for (auto i : input_indexes(n, "writes_input")) {
            op.mutated.push_back(op.inputs[i]);
            network_value& written = net_.values[op.inputs[i]];
            if (written.producer == sublet::no_node) written.role = written.role | value_role::state;
        }
        if (!op.outputs.empty())
            for (auto i : input_indexes(n, "may_inplace")) op.overwritable.push_back(op.inputs[i]);
        if (attribute(node, "may_inplace") == nullptr) add_standard_pairs(node, op);

        op.may_recompute = may_recompute(node, standard_.opset(), true);
        op.may_recompute_results = only_updates_averages(n, op);
        std::vector<std::string> const captured = captured_names(graphs_in(node));
        for (auto const& name : captured) op.inputs.push_back(used_value(name, n));
        if (holds_graphs(node)) add_bodies(n, op);
        net_.operations.push_back(std::move(op));
    }

    value_id used_value(std::string const& name, int by) const
    {
        if (name.empty()) return sublet::no_value;
        auto const found = ids_.find(name);
        if (found == ids_.end())
            refuse(label_of(by) + " uses value " + quoted(name) + ", which nothing defines");
        node_id const producer = net_.values[found->second].producer;
        if (producer != sublet::no_node && producer >= operation_of(by))
            refuse("the graph is not in topological order: " + label_of(by) + " uses value " + quoted(name) +
                   ", which " + label_of(static_cast<int>(producer - lead_)) + " defines");
        return found->second;
    }

    void expect_single_attributes(int n) const
    {
        std::unordered_set<std::string_view> names;
        for (auto const& a : graph_.node(n).attribute())
            if (!names.insert(a.name()).second)
                refuse(label_of(n) + " has two attributes " + quoted(a.name()));
    }

    /// Checks and returns an attribute that lists inputs by index.
    std::vector<std::size_t> input_indexes(int n, char const* name) const
    {
        auto const& node = graph_.node(n);
        std::vector<std::size_t> indexes;
        onnx::AttributeProto const* const listed = attribute(node, name);
        if (listed == nullptr) return indexes;
        for (auto i : listed->ints()) {
            if (i < 0 || i >= node.input_size() || node.input(static_cast<int>(i)).empty())
                refuse(label_of(n) + " has no input " + std::to_string(i) + ", which its attribute " + name +
                       " names");
            indexes.push_back(static_cast<std::size_t>(i));
        }
        return indexes;
    }

    void add_aliases(int n, operation const& op)
    {
        auto const& node = graph_.node(n);
        if (auto const* const listed = attribute(node, "alias_of_input")) {
            if (listed->ints_size() != node.output_size())
                refuse(label_of(n) + " has an attribute alias_of_input with not one entry per output");
            for (int o = 0; o != node.output_size(); ++o) {
                auto const i = listed->ints(o);
                auto const out = static_cast<std::size_t>(o);
                if (i == -1 || op.outputs[out] == sublet::no_value) continue;
                if (i < 0 || i >= node.input_size() || node.input(static_cast<int>(i)).empty())
                    refuse(label_of(n) + " has no input " + std::to_string(i) + ", of which value " +
                           quoted(node.output(o)) + " is declared a view");
                value_id const of = op.inputs[static_cast<std::size_t>(i)];
                if (!is_unsized(of) && !is_unsized(op.outputs[out])) add_view(n, op.outputs[out], of);
            }
        } else if (is_standard_view(node) && op.inputs.front() != sublet::no_value &&
                   op.outputs.front() != sublet::no_value) {
            byte_count const from = net_.values[op.inputs.front()].bytes;
            network_value& to = net_.values[op.outputs.front()];
            // If the sizes differ, the file is wrong; a copy is valid in either case.
            bool const is_sized = !is_unsized(op.inputs.front()) && !is_unsized(op.outputs.front());
            if (is_sized && (from == sublet::no_size || from == to.bytes)) to.alias_of = op.inputs.front();
        }
    }

    /// A view that the file declares: no larger than its base, unless it repeats the base with a stride of 0
    /// (as `expand` of aten does). Then its size is that of the base.
    void add_view(int n, value_id view, value_id of)
    {
        auto const& node = graph_.node(n);
        byte_count const view_bytes = storage_of(net_.types[view]).bytes,
                         viewed_bytes = storage_of(net_.types[of]).bytes;
        bool const repeats = node.domain() == "aten" && node.op_type() == "expand";
        if (view_bytes > viewed_bytes && !repeats)
            refuse("value " + quoted(net_.values[view].name) + " has " + std::to_string(view_bytes) +
                   " bytes and is declared a view of value " + quoted(net_.values[of].name) + ", which has " +
                   std::to_string(viewed_bytes));
        net_.values[view].alias_of = of;
        net_.values[view].bytes = std::min(view_bytes, net_.values[of].bytes);
    }

    /// The first result may overwrite an operand of its type and shape. It never overwrites what every run
    /// reads again: graph inputs, initializers, constants and views of them. No step overwrites a value of
    /// which it also reads a view (see sublet/sharing/in_place.hpp).
    void add_standard_pairs(onnx::NodeProto const& node, operation& op) const
    {
        in_place_kernel const kernel = kernel_of(node);
        if (kernel == in_place_kernel::none || op.outputs.empty() || op.outputs.front() == sublet::no_value ||
            net_.is_view(op.outputs.front()))
            return;
        if (std::any_of(op.outputs.begin() + 1, op.outputs.end(),
                        [](value_id v) { return v != sublet::no_value; }))
            return;
        std::size_t const operands = kernel == in_place_kernel::of_one_pass ? op.inputs.size() : 1;
        for (std::size_t i = 0; i != std::min(operands, op.inputs.size()); ++i) {
            value_id const v = op.inputs[i];
            if (v != sublet::no_value && is_same_type(v, op.outputs.front()) && may_be_overwritten(v) &&
                (kernel == in_place_kernel::of_one_pass ||
                 std::count(op.inputs.begin(), op.inputs.end(), v) == 1) &&
                std::find(op.overwritable.begin(), op.overwritable.end(), v) == op.overwritable.end())
                op.overwritable.push_back(v);
        }
    }

    /// A body may overwrite a carried value, and a captured one as the network around it may.
    bool is_owned(value_id v) const
    {
        if (net_.values[v].is_bound) return true;
        auto const found = outer_of_.find(v);
        return found != outer_of_.end() && outer_->may_be_overwritten(found->second);
    }

    /// What --in-place on assumes of the kernel of a standard operator.
    in_place_kernel kernel_of(onnx::NodeProto const& node) const
    {
        using enum in_place_kernel;
        if (how_.pairs == in_place_pairs::listed || !standard_.contains(node)) return none;
        std::string_view const type = node.op_type();
        if (is_one_of(of_any_operand, type)) return of_one_pass;
        if (is_one_of(of_all_operands, type)) return node.input_size() <= 2 ? of_one_pass : over_first;
        if (is_one_of(of_first_operand, type)) return over_first;
        bool const is_softmax = type == "Softmax" || type == "LogSoftmax";
        if ((type == "BatchNormalization" && normalizes_at_inference(node)) ||
            (how_.pairs == in_place_pairs::softmax && is_softmax && is_along_last_axis(node)))
            return over_first;
        return none;
    }

    /// In training, statistics of the whole operand come first. Since opset 14 an attribute selects it,
    /// before that further results do, and before opset 7 also an attribute.
    bool normalizes_at_inference(onnx::NodeProto const& node) const
    {
        if (auto const* const training = attribute(node, "training_mode")) return training->i() == 0;
        auto const* const is_test = attribute(node, "is_test");
        return standard_.opset() >= 7 || (is_test != nullptr && is_test->i() != 0);
    }

    bool is_along_last_axis(onnx::NodeProto const& node) const
    {
        if (node.input_size() == 0) return false;
        value_type const type = type_of_value(node.input(0));
        if (!type.has_rank || type.size.empty()) return false;
        auto const* const declared = attribute(node, "axis");
        std::int64_t const axis = declared != nullptr ? declared->i() : standard_.opset() < 13 ? 1 : -1;
        return axis == -1 || axis == static_cast<std::int64_t>(type.size.size()) - 1;
    }

    /// Both are tensors of the same known element type and the same known dimensions.
    bool is_same_type(value_id a, value_id b) const
    {
        value_type const &x = net_.types[a], &y = net_.types[b];
        return x.what == value_type::tensor && y.what == value_type::tensor && x.element != 0 &&
               x.element == y.element && x.has_rank && y.has_rank && x.size == y.size &&
               std::all_of(x.size.begin(), x.size.end(), [](std::int64_t d) { return d >= 0; });
    }

    /// A run computes it, as a dense tensor: it is no graph input, initializer or constant, and no view that
    /// the file declares, which may have strides.
    bool may_be_overwritten(value_id v) const
    {
        for (;; v = net_.values[v].alias_of) {
            node_id const producer = net_.values[v].producer;
            if (producer == sublet::no_node) return is_owned(v);
            if (producer < lead_) return true;
            auto const& node = node_of(producer);
            if (!net_.is_view(v)) return !standard_.contains(node) || node.op_type() != "Constant";
            if (attribute(node, "alias_of_input") != nullptr) return false;
        }
    }

    /// The version of the standard operators in a function; without one, the latest.
    static std::int64_t version_in(onnx::FunctionProto const& of)
    {
        for (auto const& opset : of.opset_import())
            if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
        return std::numeric_limits<std::int64_t>::max();
    }

    /// Of a function of the model, which takes precedence over an operator of that name.
    static std::string function_name(std::string const& domain, std::string const& name)
    {
        return (domain == "ai.onnx" ? "" : domain) + '\n' + name;
    }
    /// The node and all nodes of the graphs inside.
    static std::vector<onnx::NodeProto const*> with_inner_nodes(onnx::NodeProto const& node)
    {
        std::vector<onnx::NodeProto const*> all{&node};
        auto add = [&all](onnx::GraphProto const& g) {
            for (auto const& inner : g.node()) all.push_back(&inner);
        };
        for (std::size_t i = 0; i != all.size(); ++i) // grows during the loop
            for (auto const& a : all[i]->attribute()) {
                if (a.has_g()) add(a.g());
                for (auto const& g : a.graphs()) add(g);
            }
        return all;
    }
    /// Marks the functions of the model that do not give the same result again, and those that call one.
    void find_random_functions()
    {
        std::unordered_map<std::string, std::vector<std::string>> callers;
        std::vector<std::string> open;
        for (auto const& f : model_.functions())
            may_run_again_.emplace(function_name(f.domain(), f.name()), true);
        for (auto const& f : model_.functions()) {
            std::string const name = function_name(f.domain(), f.name());
            for (auto const& node : f.node()) {
                if (!may_recompute(node, version_in(f), false)) open.push_back(name);
                for (auto const* inner : with_inner_nodes(node))
                    callers[function_name(inner->domain(), inner->op_type())].push_back(name);
            }
        }
        while (!open.empty()) {
            std::string const name = std::move(open.back());
            open.pop_back();
            if (!std::exchange(may_run_again_.at(name), false)) continue;
            auto const& by = callers[name];
            open.insert(open.end(), by.begin(), by.end());
        }
    }
    /// The node, with all nodes inside it, gives the same bytes again. A constant is known to the graph of
    /// the model only.
    bool may_recompute(onnx::NodeProto const& node, std::int64_t opset, bool is_of_model) const
    {
        for (auto const* inner : with_inner_nodes(node)) {
            if (attribute(*inner, "writes_input") != nullptr) return false;
            auto const& functions = root().may_run_again_;
            auto const own = functions.find(function_name(inner->domain(), inner->op_type()));
            if (own != functions.end()) {
                if (!own->second) return false;
                continue;
            }
            if (!is_function(inner->domain(), inner->op_type())) return false;
            if (!standard_.contains(*inner) || inner->op_type() != "Dropout") continue;
            bool const knows_constants = is_of_model && inner == &node;
            if (!is_inference(*inner, opset, knows_constants)) return false;
        }
        return true;
    }

    /// A batch normalization in training updates its running averages, and its results do not depend on them.
    bool only_updates_averages(int n, operation const& op) const
    {
        auto const& node = graph_.node(n);
        bool const is_own = root().may_run_again_.count(function_name(node.domain(), node.op_type())) != 0;
        if (is_own || node.domain() != "aten" || node.op_type() != "native_batch_norm") return false;
        auto const written = input_indexes(n, "writes_input");
        return !written.empty() && std::all_of(written.begin(), written.end(), [&](auto i) {
            return (i == 3 || i == 4) && std::count(op.inputs.begin(), op.inputs.end(), op.inputs[i]) == 1;
        });
    }

    /// The first output is the first input under another shape or name.
    bool is_standard_view(onnx::NodeProto const& node) const
    {
        if (!standard_.contains(node) || node.input_size() == 0 || node.output_size() == 0) return false;
        auto const& type = node.op_type();
        return type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" ||
               type == "Identity" || (type == "Dropout" && is_inference(node, standard_.opset(), true));
    }

    /// Dropout copies its input at inference. Before opset 7 an attribute selected training, the default;
    /// since opset 12 an optional input selects it, and must be a constant here.
    bool is_inference(onnx::NodeProto const& dropout, std::int64_t opset, bool knows_constants) const
    {
        if (opset < 7) {
            auto const* const is_test = attribute(dropout, "is_test");
            return is_test != nullptr && is_test->i() != 0;
        }
        return opset < 12 || dropout.input_size() < 3 || dropout.input(2).empty() ||
               (knows_constants && is_false(dropout.input(2)));
    }

    /// The named constant is known and false. An initializer that is a graph input is only its default.
    bool is_false(std::string const& name) const
    {
        onnx::TensorProto const* tensor = nullptr;
        if (auto const found = constants_.find(name); found != constants_.end()) tensor = found->second;
        auto const id = ids_.find(name);
        if (id != ids_.end() && id->second < static_cast<value_id>(graph_.input_size())) return false;
        if (id != ids_.end() && net_.values[id->second].producer != sublet::no_node &&
            net_.values[id->second].producer >= lead_)
            if (auto const* const value = standard_.constant_of(node_of(net_.values[id->second].producer)))
                tensor = value;
        if (tensor == nullptr) return false;
        if (tensor->int32_data_size() == 1) return tensor->int32_data(0) == 0;
        return tensor->raw_data().size() == 1 && tensor->raw_data().front() == 0;
    }

    reader const& root() const
    {
        reader const* at = this;
        while (at->outer_ != nullptr) at = at->outer_;
        return *at;
    }

    // --- graphs inside ----------------------------------------------------------------------------------

    /// Another name, in this graph, of a value of the graph around it.
    value_id capture(value_id outer)
    {
        if (auto const known = captured_.find(outer); known != captured_.end()) return known->second;
        network_value const& from = outer_->net_.values[outer];
        auto const inner = static_cast<value_id>(net_.values.size());
        captures_.push_back({inner, outer});
        captured_.emplace(outer, inner);
        outer_of_.emplace(inner, outer);
        ids_.emplace(from.name, inner); // it may also be a name that this graph defines
        net_.types.push_back(outer_->net_.types[outer]);
        net_.values.push_back({from.name, from.bytes});
        return inner;
    }

    bool has_planned_size(value_id v) const
    {
        return net_.values[v].bytes != sublet::no_size && !is_unsized(v);
    }

    /// A body that is being read. Its last step reads what an iteration or a branch gives without a binding.
    struct open_body {
        std::unique_ptr<reader> owner;
        reader& inner;
        network_body body;
        operation last = {};
        std::set<value_id> given = {}; ///< values of it that are bound to results of the node

        open_body(reader const& outer, onnx::GraphProto const& graph, std::string const& where,
                  sublet::program_body::run_kind kind)
            : owner(std::make_unique<reader>(outer, graph, where)), inner(*owner), body{kind, {}, {}, {}}
        {
            last.label = "the end" + where;
            last.type = "End";
            last.is_border = true;
        }

        value_id id_of(std::string const& name) const
        {
            auto const found = inner.ids_.find(name);
            if (found == inner.ids_.end())
                inner.refuse("graph output " + quoted(name) + inner.where_ + " is never defined");
            return found->second;
        }

        /// The last step reads `from` and writes it to a part of `to`, a result of the node.
        void write_at_end(value_id from, value_id to)
        {
            last.inputs.push_back(from);
            if (to != sublet::no_value) last.mutated.push_back(inner.capture(to));
        }

        /// A branch gives `from` for `to`; by a copy of it if it is another name of an outer value, is given
        /// before, or has another size.
        void give(value_id from, value_id to)
        {
            byte_count const bytes = inner.outer_->net_.values[to].bytes;
            bool const is_free = given.count(from) == 0 && inner.outer_of_.count(from) == 0;
            if (!is_free || !inner.has_planned_size(from) || inner.net_.values[from].bytes != bytes) {
                last.inputs.push_back(from);
                from = static_cast<value_id>(inner.net_.values.size());
                inner.net_.types.push_back(inner.outer_->net_.types[to]);
                inner.net_.values.push_back({inner.outer_->net_.values[to].name, bytes,
                                             value_role::intermediate, sublet::no_value,
                                             static_cast<node_id>(inner.net_.operations.size())});
                last.outputs.push_back(from);
            }
            given.insert(from);
            body.bindings.push_back({.inner = from, .result = to});
        }

        network_body close()
        {
            if (!last.inputs.empty() || !last.mutated.empty())
                inner.net_.operations.push_back(std::move(last));
            body.captures = std::move(inner.captures_);
            body.program = std::move(inner.net_);
            return std::move(body);
        }
    };

    onnx::GraphProto const* graph_of(onnx::NodeProto const& node, char const* name) const
    {
        auto const* const found = attribute(node, name);
        return found != nullptr && found->has_g() ? &found->g() : nullptr;
    }

    open_body open(operation const& op, onnx::NodeProto const& node, char const* name,
                   sublet::program_body::run_kind kind) const
    {
        constexpr std::size_t most = 400; // a label holds those of all nodes around it
        std::string where = std::string(" in ") + name + " of " + op.label;
        if (where.size() > most) where = where.substr(0, most) + "...";
        open_body read(*this, *graph_of(node, name), where, kind);
        return read;
    }

    /// Reads the graphs of a node. Those that are no branches or body as ONNX has them are left out.
    void add_bodies(int n, operation& op)
    {
        auto const& node = graph_.node(n);
        bool const is_standard = how_.reads_bodies && standard_.contains(node);
        bool const has_views =
            std::any_of(op.outputs.begin(), op.outputs.end(), [&](value_id v) { return net_.is_view(v); });
        bool const done = !is_standard || has_views  ? false
                          : node.op_type() == "If"   ? add_branches(node, op)
                          : node.op_type() == "Loop" ? add_loop(node, op)
                          : node.op_type() == "Scan" ? add_scan(node, op)
                                                     : false;
        if (!done)
            net_.remarks.push_back(file_ + ": " + op.label +
                                   " contains graphs, and their values are not planned");
        for (network_body& body : op.bodies) {
            auto& remarks = body.program.remarks;
            net_.remarks.insert(net_.remarks.end(), remarks.begin(), remarks.end());
            remarks.clear();
        }
    }

    bool add_branches(onnx::NodeProto const& node, operation& op)
    {
        std::vector<char const*> names{"then_branch", "else_branch"};
        for (char const* const name : names) {
            auto const* const graph = graph_of(node, name);
            if (graph == nullptr || graph->output_size() != node.output_size()) return false;
        }
        if (op.inputs.empty() || op.inputs.front() == sublet::no_value) return false;
        auto kind = sublet::program_body::run_kind::branch;
        if (how_.taken != nullptr)
            if (auto const found = how_.taken->find(&node); found != how_.taken->end()) {
                names = {names[!found->second]};
                kind = sublet::program_body::run_kind::once;
            }
        for (char const* const name : names) {
            open_body branch = open(op, node, name, kind);
            branch.inner.declare_values();
            branch.inner.read_operations();
            for (int i = 0; i != node.output_size(); ++i) {
                value_id const from = branch.id_of(branch.inner.graph_.output(i).name()),
                               to = op.outputs[static_cast<std::size_t>(i)];
                if (to == sublet::no_value) continue;
                if (is_unsized(to)) branch.last.inputs.push_back(from); // it is kept elsewhere
                else branch.give(from, to);
            }
            op.bodies.push_back(branch.close());
        }
        op.read_before = {op.inputs.front()};
        return true;
    }

    /// A value that an iteration gets from the one before, the first from the node.
    struct carried_value {
        value_id initial;
        std::string inner, next;
        value_id result;
    };

    /// Carried values are bound if all four have one size. Else the iterations keep them elsewhere.
    static void carry(open_body& loop, std::vector<carried_value> const& all, operation& op)
    {
        reader& inner = loop.inner;
        for (carried_value const& c : all) {
            value_id const in = loop.id_of(c.inner), next = loop.id_of(c.next);
            byte_count const bytes = inner.net_.values[in].bytes;
            auto fits_outside = [&](value_id v) {
                return v != sublet::no_value && inner.outer_->has_planned_size(v) &&
                       inner.outer_->net_.values[v].bytes == bytes;
            };
            if (inner.has_planned_size(in) && inner.has_planned_size(next) &&
                inner.net_.values[next].bytes == bytes && fits_outside(c.initial) &&
                (c.result == sublet::no_value || fits_outside(c.result))) {
                inner.net_.values[in].role = value_role::intermediate;
                inner.net_.values[in].is_bound = true;
                loop.body.bindings.push_back({in, c.initial, next, c.result});
            } else {
                loop.last.inputs.push_back(next);
                if (c.initial != sublet::no_value) op.read_before.push_back(c.initial);
            }
        }
    }

    bool add_loop(onnx::NodeProto const& node, operation& op)
    {
        auto const* const graph = graph_of(node, "body");
        int const carried = node.input_size() - 2;
        if (graph == nullptr || carried < 0 || graph->input_size() != carried + 2 ||
            graph->output_size() < carried + 1 || node.output_size() > graph->output_size() - 1)
            return false;
        open_body loop = open(op, node, "body", sublet::program_body::run_kind::loop);
        loop.inner.declare_values();
        auto result = [&](int i) {
            return i < node.output_size() ? op.outputs[static_cast<std::size_t>(i)] : sublet::no_value;
        };
        for (int i : {0, 1}) // how often it runs
            if (value_id const v = op.inputs[static_cast<std::size_t>(i)]; v != sublet::no_value)
                op.read_before.push_back(v);
        std::vector<carried_value> all;
        for (int i = 0; i != carried; ++i)
            all.push_back({op.inputs[static_cast<std::size_t>(i) + 2], graph->input(i + 2).name(),
                           graph->output(i + 1).name(), result(i)});
        carry(loop, all, op);
        loop.inner.read_operations();
        loop.write_at_end(loop.id_of(graph->output(0).name()), sublet::no_value); // whether it goes on
        for (int i = carried; i + 1 < graph->output_size(); ++i)
            loop.write_at_end(loop.id_of(graph->output(i + 1).name()), result(i));
        op.bodies.push_back(loop.close());
        return true;
    }

    bool add_scan(onnx::NodeProto const& node, operation& op)
    {
        auto const* const graph = graph_of(node, "body");
        auto const* const counted = attribute(node, "num_scan_inputs");
        int const skipped = standard_.opset() < 9 ? 1 : 0; // the lengths
        int const all = node.input_size() - skipped;
        if (graph == nullptr || counted == nullptr || counted->i() < 1 || counted->i() > all ||
            graph->input_size() != all || node.output_size() > graph->output_size())
            return false;
        int const carried = all - static_cast<int>(counted->i());
        if (graph->output_size() < carried) return false;
        open_body loop = open(op, node, "body", sublet::program_body::run_kind::loop);
        loop.inner.lead_ = 1;
        loop.inner.declare_values();
        auto operand = [&](int i) { return op.inputs[static_cast<std::size_t>(i + skipped)]; };
        auto result = [&](int i) {
            return i < node.output_size() ? op.outputs[static_cast<std::size_t>(i)] : sublet::no_value;
        };
        if (skipped != 0 && op.inputs.front() != sublet::no_value)
            op.read_before.push_back(op.inputs.front());
        std::vector<carried_value> states;
        for (int i = 0; i != carried; ++i)
            states.push_back({operand(i), graph->input(i).name(), graph->output(i).name(), result(i)});
        carry(loop, states, op);
        operation first;
        first.label = "the beginning" + loop.inner.where_;
        first.type = "Begin";
        first.is_border = true;
        for (int i = carried; i != all; ++i) {
            if (operand(i) != sublet::no_value) first.inputs.push_back(loop.inner.capture(operand(i)));
            value_id const element = loop.id_of(graph->input(i).name());
            network_value& value = loop.inner.net_.values[element];
            if (value.bytes == sublet::no_size) continue;
            value.role = value_role::intermediate;
            value.producer = 0;
            first.outputs.push_back(element);
        }
        loop.inner.net_.operations.push_back(std::move(first));
        loop.inner.read_operations();
        for (int i = carried; i < graph->output_size(); ++i)
            loop.write_at_end(loop.id_of(graph->output(i).name()), result(i));
        op.bodies.push_back(loop.close());
        return true;
    }

    void mark_outputs()
    {
        for (auto const& v : graph_.output()) {
            auto const found = ids_.find(v.name());
            if (found == ids_.end()) refuse("graph output " + quoted(v.name()) + " is never defined");
            network_value& value = net_.values[found->second];
            value.role = value.role | value_role::output;
        }
    }

    std::string const& file_;
    onnx::ModelProto const& model_;
    onnx::GraphProto const& graph_;
    standard_operators standard_;
    reading_options how_;
    reader const* outer_ = nullptr; // of the graph around this one
    std::string where_;
    node_id lead_ = 0; // operations before those of the nodes
    std::vector<sublet::program_body::capture> captures_;
    std::map<value_id, value_id> captured_, outer_of_; // captures by outer and by inner value
    std::unordered_map<std::string, value_id> ids_;
    std::unordered_set<std::string_view> outputs_; // names
    bool writes_ = false; // a node of the model writes what it reads
    std::unordered_map<std::string_view, onnx::TensorProto const*> constants_;
    std::unordered_map<std::string_view, value_type> types_; // declared types by name
    std::unordered_map<std::string, bool> may_run_again_;    // functions of the model by function_name()
    network net_;
};

} // namespace

network read_onnx(std::string const& file, onnx::ModelProto const& model, reading_options const& how)
{
    return reader(file, model, how).read();
}

network read_onnx(std::string const& file, in_place_pairs pairs)
{
    return read_onnx(file, parse_onnx(file), {.pairs = pairs});
}

} // namespace plan_model
