// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_PLAN_BODIES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_PLAN_BODIES_HPP

/// One plan for a network and the graphs inside its operations: branches of If, bodies of Loop and Scan.
///
///     network ─► as_tree ─► plan_nested ─► one arena: the branches of a choice share bytes, carried values
///     are
///                                          in place where they can be, and each copy that remains is counted
///
/// For plans that are not of one order and one shape (every schedule, another order, any shape) an operation
/// is one step: its graphs are planned by themselves, and their arena is a value of that step, `scratch`.

#include "network.hpp"

#include <sublet/plan_nested.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

inline bool has_bodies(network const& net)
{
    return std::any_of(net.operations.begin(), net.operations.end(),
                       [](operation const& op) { return !op.bodies.empty(); });
}

/// The program of one network of the tree: an operation with bodies reads what it needs before these run.
inline sublet::snapshot as_outer_program(network const& net)
{
    return sublet::sequence(net.operations.size(), net.values.size(), [&](auto n, sublet::effect_sink& step) {
        operation const& op = net.operations[n];
        if (op.bodies.empty()) return add_effects(net, op, step);
        for (auto v : op.read_before) step.use_early(v);
        for (auto v : op.outputs) step.def(v);
        for (auto v : op.mutated) step.write(v);
    });
}

/// The networks of a tree, by program. Refers to the network.
struct network_tree {
    std::vector<network const*> networks;
    sublet::program_tree tree;
};

inline network_tree as_tree(network const& net)
{
    network_tree all{{&net}, sublet::program_tree(as_outer_program(net))};
    for (std::size_t i = 0; i != all.networks.size(); ++i) { // grows during the loop
        auto const& operations = all.networks[i]->operations;
        for (std::size_t n = 0; n != operations.size(); ++n)
            for (network_body const& body : operations[n].bodies) {
                all.tree.add_body(static_cast<sublet::program_id>(i), static_cast<sublet::step_id>(n),
                                  body.kind, as_outer_program(body.program), body.captures, body.bindings);
                all.networks.push_back(&body.program);
            }
    }
    return all;
}

/// A plan of the tree, with names for the ids of the plan. Refers to the network.
struct planned_bodies {
    network_tree of;
    sublet::planned_nested planned;
    double milliseconds = 0; ///< from the network in memory to the checked plan

    bool is_verified() const { return planned.report().is_checked && bool(planned); }
    network_value const& value(sublet::value_id flat) const
    {
        auto const at = planned.flat.value_of[flat];
        return of.networks[at.program]->values[at.value];
    }
    /// A spare value has the name of the one that it holds a copy of.
    std::string name_of(sublet::value_id flat) const
    {
        return flat < planned.flat.first_spare ? value(flat).name : value(flat).name + " (copy)";
    }
    /// No value of the model: what a branch gives of a value that is not its own, or twice.
    bool is_copy(sublet::value_id flat) const
    {
        auto const at = planned.flat.value_of[flat];
        network const& net = *of.networks[at.program];
        sublet::node_id const by = net.values[at.value].producer;
        return by != sublet::no_node && net.operations[by].is_border && net.operations[by].type == "End";
    }
    std::string kind_of(sublet::value_id flat) const
    {
        auto const at = planned.flat.value_of[flat];
        return of.networks[at.program]->kind_of(at.value);
    }
    std::string label_of(sublet::step_id flat) const
    {
        using enum sublet::flat_tree::part;
        auto const at = planned.flat.step_of[flat];
        if (at.part == move) {
            auto const& copy = planned.flat.moves[at.step];
            return "copy " + quoted(name_of(copy.from)) + " to " + quoted(name_of(copy.to));
        }
        if (at.part == nothing) return "join";
        std::string const& label = of.networks[at.program]->operations[at.step].label;
        return at.part == beginning ? "begin " + label : at.part == end ? "end " + label : label;
    }
    /// The value that it is a view of, or `no_value`.
    sublet::value_id base_of(sublet::value_id flat) const
    {
        if (flat >= planned.flat.first_spare) return sublet::no_value;
        auto const at = planned.flat.value_of[flat];
        auto const base = of.networks[at.program]->values[at.value].alias_of;
        return base == sublet::no_value ? base : planned.flat.flat_of[at.program][base];
    }
};

inline planned_bodies plan_with_bodies(network const& net, plan_settings const& settings)
{
    auto const start = std::chrono::steady_clock::now();
    planned_bodies result{as_tree(net), {}};
    sublet::table<sublet::program_id, sublet::plan_options> options;
    for (network const* const each : result.of.networks) {
        options.push_back(as_options(*each));
        options.back().in_place = settings.in_place;
        options.back().alignment = settings.alignment;
    }
    result.planned = sublet::plan_nested(result.of.tree, options);
    result.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
}

/// The arena of one operation's graphs alone: all around them is external.
///
/// Throws: input_error if there is none, as a value inside is read before it is written.
inline sublet::byte_count scratch_bytes(std::string const& file, network const& net, operation const& op,
                                        plan_settings const& settings)
{
    network alone;
    std::map<sublet::value_id, sublet::value_id> ids; // of the values that it uses
    auto use = [&](sublet::value_id& v) {
        if (v == sublet::no_value) return;
        auto const [known, is_new] = ids.emplace(v, sublet::value_id(alone.values.size()));
        if (is_new)
            alone.values.push_back({net.values[v].name, net.values[v].bytes, sublet::value_role::external});
        v = known->second;
    };
    operation& only = alone.operations.emplace_back(op);
    for (auto* const list :
         {&only.inputs, &only.outputs, &only.mutated, &only.overwritable, &only.read_before})
        for (auto& v : *list) use(v);
    for (network_body& body : only.bodies) {
        for (auto& c : body.captures) use(c.outer);
        for (auto& b : body.bindings) use(b.initial), use(b.result);
    }
    planned_bodies const planned = plan_with_bodies(alone, settings);
    if (!planned.planned)
        throw input_error(file + ": " + op.label +
                          ": the graphs inside cannot be planned: a value is used "
                          "before it is defined");
    return planned.planned.report().arena_bytes;
}

/// Adds the arena of its graphs to each operation, as a value that is there during this step alone.
inline void add_scratch(std::string const& file, network& net, plan_settings const& settings)
{
    for (std::size_t n = 0; n != net.operations.size(); ++n) {
        operation& op = net.operations[n];
        if (op.bodies.empty()) continue;
        sublet::byte_count const bytes = scratch_bytes(file, net, op, settings);
        net.remarks.push_back(file + ": " + op.label + " is one step here: the graphs inside have " +
                              std::to_string(bytes) + " bytes of their own");
        op.scratch = static_cast<sublet::value_id>(net.values.size());
        net.values.push_back({"graphs inside " + op.label, bytes, sublet::value_role::intermediate,
                              sublet::no_value, static_cast<sublet::node_id>(n)});
        net.types.emplace_back();
    }
}

} // namespace plan_model

#endif
