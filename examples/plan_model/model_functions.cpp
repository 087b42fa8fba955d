// SPDX-License-Identifier: BSL-1.0

// Takes the functions of a model apart: a call is replaced by the function's nodes, under names of their own
// and with the attributes of the call.

#include "model_functions.hpp"

#include "network.hpp"
#include "standard_operators.hpp"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace plan_model {
namespace {

constexpr std::size_t most_nodes = 200'000, most_bytes = std::size_t{1} << 26;
constexpr int deepest = 100; ///< graphs inside of graphs, as in a file

std::string key_of(std::string const& domain, std::string const& name)
{
    return (domain == "ai.onnx" ? "" : domain) + '\n' + name;
}

/// Visits each graph in the attributes of nodes, and those inside.
template <class Nodes, class Visit>
void each_graph_inside(Nodes& nodes, Visit visit)
{
    std::vector<onnx::GraphProto*> open;
    auto enter = [&](auto& of) {
        for (auto& node : of)
            for (auto& a : *node.mutable_attribute()) {
                if (a.has_g()) open.push_back(a.mutable_g());
                for (auto& g : *a.mutable_graphs()) open.push_back(&g);
            }
    };
    enter(nodes);
    while (!open.empty()) {
        onnx::GraphProto& graph = *open.back();
        open.pop_back();
        enter(*graph.mutable_node());
        visit(graph);
    }
}

/// A default for an attribute, which functions have since version 9 of the file format; older headers keep
/// the field as it is.
void add_defaults(onnx::FunctionProto const& function,
                  std::unordered_map<std::string, onnx::AttributeProto>& attributes)
{
    constexpr int attribute_proto = 11;
    auto const& unknown = function.GetReflection()->GetUnknownFields(function);
    for (int i = 0; i != unknown.field_count(); ++i) {
        auto const& field = unknown.field(i);
        onnx::AttributeProto a;
        if (field.number() == attribute_proto &&
            field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
            a.ParseFromString(field.length_delimited()))
            attributes.emplace(a.name(), a);
    }
}

using node_list = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Replaces attributes that name one of the function by those of the call; without one, the attribute goes.
void set_attributes(node_list& nodes, onnx::NodeProto const& call, onnx::FunctionProto const& function)
{
    std::unordered_map<std::string, onnx::AttributeProto> given;
    for (auto const& a : call.attribute()) given.emplace(a.name(), a);
    add_defaults(function, given);
    std::vector<node_list*> open{&nodes};
    while (!open.empty()) {
        node_list& list = *open.back();
        open.pop_back();
        for (auto& node : list) {
            auto& attributes = *node.mutable_attribute();
            for (int i = attributes.size(); i-- != 0;) {
                auto& a = *attributes.Mutable(i);
                if (a.ref_attr_name().empty()) {
                    if (a.has_g()) open.push_back(a.mutable_g()->mutable_node());
                    for (auto& g : *a.mutable_graphs()) open.push_back(g.mutable_node());
                    continue;
                }
                std::string const name = a.name();
                auto const found = given.find(a.ref_attr_name());
                if (found == given.end()) {
                    attributes.DeleteSubrange(i, 1);
                    continue;
                }
                a = found->second;
                a.set_name(name);
            }
        }
    }
}

class inliner {
public:
    inliner(std::string const& file, onnx::ModelProto& model) : file_(file), model_(model), functions_(model)
    {
        auto add = [&](onnx::GraphProto const& graph) {
            for (auto const& node : graph.node()) names_.insert(node.output().begin(), node.output().end());
            for (auto const& v : graph.input()) names_.insert(v.name());
            for (auto const& t : graph.initializer()) names_.insert(t.name());
        };
        add(model.graph());
        each_graph_inside(*model.mutable_graph()->mutable_node(), add);
    }

    void run()
    {
        struct nested {
            onnx::GraphProto* graph;
            int depth;
        };
        std::vector<nested> open{{model_.mutable_graph(), 0}};
        while (!open.empty()) {
            auto const [graph, depth] = open.back();
            open.pop_back();
            // A function may call itself in a graph inside.
            if (depth > deepest)
                refuse("with its functions in place its graphs are nested more than " +
                       std::to_string(deepest) + " deep");
            expand(*graph);
            for (auto& node : *graph->mutable_node())
                for (auto& a : *node.mutable_attribute()) {
                    if (a.has_g()) open.push_back({a.mutable_g(), depth + 1});
                    for (auto& g : *a.mutable_graphs()) open.push_back({&g, depth + 1});
                }
        }
        model_.clear_functions();
    }

private:
    struct frame {
        node_list nodes;
        onnx::FunctionProto const* of; ///< nullptr: the graph
        int next = 0;
    };

    [[noreturn]] void refuse(std::string const& what) const { throw input_error(file_ + ": " + what); }

    /// Replaces the calls among the nodes of one graph.
    void expand(onnx::GraphProto& graph)
    {
        std::vector<frame> open;
        open.push_back({std::move(*graph.mutable_node()), nullptr});
        graph.clear_node();
        while (!open.empty()) {
            if (open.back().next == open.back().nodes.size()) {
                open.pop_back();
                continue;
            }
            onnx::NodeProto& node = *open.back().nodes.Mutable(open.back().next++);
            onnx::FunctionProto const* const function = functions_.find(node);
            if (function == nullptr) {
                count(1, 0);
                *graph.add_node() = std::move(node);
                continue;
            }
            for (frame const& f : open)
                if (f.of == function) refuse("function " + quoted(function->name()) + " calls itself");
            open.push_back({nodes_of_call(node, *function), function});
        }
    }

    /// Of nodes and calls.
    void count(std::size_t nodes, std::size_t bytes)
    {
        if (nodes > most_nodes - nodes_)
            refuse("with its functions in place it has more than " + std::to_string(most_nodes) + " nodes");
        if (bytes > most_bytes - bytes_)
            refuse("with its functions in place it has more than " + std::to_string(most_bytes >> 20) +
                   " MiB");
        nodes_ += nodes;
        bytes_ += bytes;
    }

    std::size_t bytes_of(onnx::FunctionProto const& function)
    {
        auto const [known, is_new] = bytes_of_.emplace(&function, 0);
        if (is_new) known->second = function.ByteSizeLong();
        return known->second;
    }

    node_list nodes_of_call(onnx::NodeProto const& call, onnx::FunctionProto const& function)
    {
        count(1, bytes_of(function) + call.ByteSizeLong());
        expect_versions(function);
        if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
            refuse("node " + quoted(call.name()) + " gives function " + quoted(function.name()) +
                   " more operands or results than it has");
        std::unordered_map<std::string, std::string> names{{"", ""}};
        for (int i = 0; i != function.input_size(); ++i)
            names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
        std::string prefix;
        for (int i = 0; i != call.output_size(); ++i) {
            if (call.output(i).empty()) continue;
            if (prefix.empty()) prefix = call.output(i);
            auto const [known, is_new] = names.emplace(function.output(i), call.output(i));
            if (!is_new)
                refuse("function " + quoted(function.name()) + " returns " + quoted(function.output(i)) +
                       " unchanged, or twice: it cannot be put in place");
        }
        auto rename = [&](std::string& name) {
            auto const [known, is_new] = names.emplace(name, "");
            if (is_new) {
                std::string const inside = prefix + '/' + name;
                known->second = inside;
                while (!names_.insert(known->second).second)
                    known->second = inside + '_' + std::to_string(++renamed_);
                count(0, 2 * known->second.size());
            }
            count(0, known->second.size());
            name = known->second;
        };
        node_list nodes = function.node();
        auto rename_nodes = [&](node_list& list) {
            for (auto& node : list) {
                for (auto& name : *node.mutable_input()) rename(name);
                for (auto& name : *node.mutable_output()) rename(name);
                if (!node.name().empty()) node.set_name(prefix + '/' + node.name());
            }
        };
        rename_nodes(nodes);
        each_graph_inside(nodes, [&](onnx::GraphProto& graph) {
            rename_nodes(*graph.mutable_node());
            for (auto* const list :
                 {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
                for (auto& v : *list) rename(*v.mutable_name());
            for (auto& t : *graph.mutable_initializer()) rename(*t.mutable_name());
            for (auto& t : *graph.mutable_sparse_initializer()) rename(*t.mutable_values()->mutable_name());
        });
        set_attributes(nodes, call, function);
        return nodes;
    }

    /// Nodes mean what the version of their operators says: that of the model has to be that of the function.
    void expect_versions(onnx::FunctionProto const& function)
    {
        for (auto const& wanted : function.opset_import()) {
            auto* const imports = model_.mutable_opset_import();
            auto const known = std::find_if(imports->begin(), imports->end(), [&](auto const& set) {
                return key_of(set.domain(), "") == key_of(wanted.domain(), "");
            });
            if (known == imports->end()) *imports->Add() = wanted;
            else if (known->version() != wanted.version())
                refuse("function " + quoted(function.name()) + " is written in version " +
                       std::to_string(wanted.version()) + " of the operators of domain " +
                       quoted(wanted.domain()) + ", and the model in " + std::to_string(known->version()) +
                       ": it cannot be put in place");
        }
    }

    std::string const& file_;
    onnx::ModelProto& model_;
    model_functions functions_;
    std::unordered_set<std::string> names_; // that are taken
    std::size_t nodes_ = 0, bytes_ = 0, renamed_ = 0;
    std::unordered_map<onnx::FunctionProto const*, std::size_t> bytes_of_;
};

} // namespace

model_functions::model_functions(onnx::ModelProto const& model)
{
    for (auto const& f : model.functions()) by_name_.emplace(key_of(f.domain(), f.name()), &f);
}

onnx::FunctionProto const* model_functions::find(onnx::NodeProto const& node) const
{
    if (by_name_.empty()) return nullptr;
    auto const found = by_name_.find(key_of(node.domain(), node.op_type()));
    return found == by_name_.end() ? nullptr : found->second;
}

onnx::GraphProto graph_of_call(onnx::NodeProto const& call, onnx::FunctionProto const& function)
{
    onnx::GraphProto graph;
    *graph.mutable_node() = function.node();
    set_attributes(*graph.mutable_node(), call, function);
    std::unordered_set<std::string_view> absent; // operands that the call leaves out
    for (int i = 0; i != function.input_size(); ++i)
        if (i >= call.input_size() || call.input(i).empty()) absent.insert(function.input(i));
    auto leave_out = [&absent](auto& nodes) {
        for (auto& node : nodes)
            for (auto& name : *node.mutable_input())
                if (absent.count(name) != 0) name.clear();
    };
    if (!absent.empty()) {
        leave_out(*graph.mutable_node());
        each_graph_inside(*graph.mutable_node(),
                          [&](onnx::GraphProto& inner) { leave_out(*inner.mutable_node()); });
    }
    for (auto const& name : function.input()) graph.add_input()->set_name(name);
    for (auto const& name : function.output()) graph.add_output()->set_name(name);
    return graph;
}

void inline_functions(std::string const& file, onnx::ModelProto& model)
{
    if (model.functions_size() != 0) inliner(file, model).run();
}

} // namespace plan_model
