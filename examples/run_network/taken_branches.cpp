// SPDX-License-Identifier: BSL-1.0

#include "taken_branches.hpp"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace run_network {
namespace {

using names = std::unordered_set<std::string>;

void rename(std::string& name, names const& own, std::string const& prefix)
{
    if (own.count(name) != 0) name.insert(0, prefix);
}

/// The names that a graph defines.
names names_of(onnx::GraphProto const& graph)
{
    names all;
    for (auto const& t : graph.initializer()) all.insert(t.name());
    for (auto const& n : graph.node()) all.insert(n.output().begin(), n.output().end());
    all.erase("");
    return all;
}

/// In the graphs inside a node, too, as far as they do not hide the name.
void rename_operands(onnx::NodeProto& top, names const& own, std::string const& prefix)
{
    std::vector<std::pair<onnx::NodeProto*, names>> open{{&top, own}};
    while (!open.empty()) {
        auto [node, visible] = std::move(open.back());
        open.pop_back();
        for (auto& name : *node->mutable_input()) rename(name, visible, prefix);
        for (auto& a : *node->mutable_attribute()) {
            if (!a.has_g()) continue;
            names left = visible;
            for (auto const& hidden : names_of(a.g())) left.erase(hidden);
            for (auto const& in : a.g().input()) left.erase(in.name());
            for (auto& inner : *a.mutable_g()->mutable_node()) open.push_back({&inner, left});
            for (auto& out : *a.mutable_g()->mutable_output()) rename(*out.mutable_name(), left, prefix);
        }
    }
}

/// The branch of an If that runs; null: it is not known, or is not one of the node's results.
onnx::GraphProto* taken_branch(onnx::NodeProto& node, plan_model::inferred_shapes const& found)
{
    auto const taken = node.op_type() == "If" ? found.taken.find(&node) : found.taken.end();
    if (taken == found.taken.end()) return nullptr;
    for (auto& a : *node.mutable_attribute())
        if (a.name() == (taken->second ? "then_branch" : "else_branch") && a.has_g() &&
            a.g().output_size() == node.output_size())
            return a.mutable_g();
    return nullptr;
}

} // namespace

bool put_taken_branches(onnx::ModelProto& model, plan_model::inferred_shapes const& found)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    bool is_any = false;
    for (auto& n : *graph.mutable_node()) is_any = is_any || taken_branch(n, found) != nullptr;
    if (!is_any) return false;
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    for (auto& node : *graph.mutable_node()) {
        onnx::GraphProto* const taken = taken_branch(node, found);
        if (taken == nullptr) {
            nodes.Add()->Swap(&node);
            continue;
        }
        onnx::GraphProto branch;
        branch.Swap(taken);
        std::string const prefix = (node.output_size() == 0 ? node.name() : node.output(0)) + "/";
        names const own = names_of(branch);
        for (auto& t : *branch.mutable_initializer()) {
            rename(*t.mutable_name(), own, prefix);
            graph.add_initializer()->Swap(&t);
        }
        for (auto& v : *branch.mutable_value_info()) {
            rename(*v.mutable_name(), own, prefix);
            graph.add_value_info()->Swap(&v);
        }
        for (auto& inner : *branch.mutable_node()) {
            rename_operands(inner, own, prefix);
            for (auto& name : *inner.mutable_output()) rename(name, own, prefix);
            nodes.Add()->Swap(&inner);
        }
        for (int i = 0; i != node.output_size(); ++i) {
            onnx::NodeProto& same = *nodes.Add();
            same.set_op_type("Identity");
            same.set_name(node.name());
            rename(*branch.mutable_output(i)->mutable_name(), own, prefix);
            same.add_input(branch.output(i).name());
            same.add_output(node.output(i));
        }
    }
    graph.mutable_node()->Swap(&nodes);
    return true;
}

} // namespace run_network
