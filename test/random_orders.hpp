// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_ORDERS_HPP
#define SUBLET_TEST_RANDOM_ORDERS_HPP

/// Random programs that may run in many orders, a drawn order of them, its peak by the planner's own stages,
/// and the best order by enumeration.

#include "operations.hpp"
#include "random_program.hpp"
#include "random_source.hpp"

#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/sharing/in_place.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Up to `most` nodes with views, in-place pairs, early reads, inputs, outputs, names written again.
struct drawn_program {
    random_program listed;
    sublet::snapshot program;
    sublet::plan_options options;

    sublet::detail::order_graph graph() const { return sublet::detail::order_graph_of(program, options); }
};
inline drawn_program draw_unordered(random_source& pick, std::uint32_t most, bool in_place = true)
{
    random_program r = draw_program(pick, most);
    return {r, r.without_edges(), r.options(in_place)};
}

/// `count` operations that each define a value and read up to three others: sizes of very different
/// magnitude, some results written over operands, some outputs, some inputs.
inline drawn_program draw_operations(random_source& pick, std::uint32_t count, std::uint32_t reach)
{
    using namespace sublet;
    using namespace sublet::detail;
    random_program r;
    auto value = [&] {
        r.bytes.push_back(byte_count{1} << pick.below(6));
        if (pick.below(4) == 0) r.bytes.back() += pick.below(32);
        r.alignment.push_back(1);
        r.role.push_back(value_role::intermediate);
        r.alias_of.push_back(no_value);
        r.pool.push_back(0);
        r.eligible.push_back(true);
        r.is_scratch.push_back(false);
        return value_id::of(r.values() - 1);
    };
    if (pick.below(2) == 0) r.role[value()] = value_role::input;
    bool const has_pairs = pick.below(2) == 0;
    r.nodes.resize(count);
    for (auto& node : r.nodes) {
        node.steps.resize(1);
        auto& step = node.steps[0];
        auto const there = static_cast<std::uint32_t>(r.values());
        for (std::uint32_t k = there == 0 ? 0 : pick.below(4); k != 0; --k)
            step.uses.push_back(there - 1 - pick.below(std::min(there, reach)));
        value_id const out = value();
        step.defs.push_back(out);
        if (pick.below(10) == 0) r.role[out] = value_role::output;
        if (has_pairs)
            for (value_id in : step.uses) {
                if (pick.below(3) != 0) continue;
                step.pairs.push_back({in, out});
                if (pick.below(2) == 0) r.bytes[out] = r.bytes[in];
            }
    }
    return {r, r.without_edges(), r.options()};
}

/// Calls `judge(graph, pick)` for drawn programs of up to nine nodes, so few that all orders can be searched.
/// Returns for how many: some have no order.
template <class Judge>
unsigned for_small_graphs(unsigned usual, Judge judge)
{
    unsigned graphs = 0;
    for (unsigned seed = 1; seed != rounds(usual); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const g = (seed % 3 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 9, 6)).graph();
        if (!g) continue;
        ++graphs;
        judge(g, pick);
    }
    return graphs;
}

inline std::vector<sublet::node_id> random_order(sublet::detail::order_graph const& g, random_source& pick)
{
    std::vector<sublet::node_id> order, ready;
    std::vector<std::size_t> waits;
    for (sublet::node_id n = 0; n != g.nodes(); ++n) {
        waits.push_back(g.before[n].size());
        if (waits[n] == 0) ready.push_back(n);
    }
    while (!ready.empty()) {
        std::swap(pick.one_of(ready), ready.back());
        order.push_back(ready.back());
        ready.pop_back();
        for (sublet::node_id next : g.after[order.back()])
            if (--waits[next] == 0) ready.push_back(next);
    }
    return order;
}

/// Whether each node is listed once, after all its predecessors.
inline bool is_order(sublet::detail::order_graph const& g, std::vector<sublet::node_id> const& order)
{
    std::vector<std::size_t> place(g.nodes(), g.nodes());
    for (std::size_t at = 0; at != order.size(); ++at) {
        if (order[at] >= g.nodes() || place[order[at]] != g.nodes()) return false;
        place[order[at]] = at;
        for (sublet::node_id b : g.before[order[at]])
            if (place[b] == g.nodes()) return false;
    }
    return order.size() == g.nodes();
}

/// The peak of bytes live in an order, with in-place pairs; none if the order is invalid.
inline std::optional<sublet::byte_count> planned_peak(drawn_program const& drawn,
                                                      std::vector<sublet::node_id> const& order)
{
    sublet::plan_options options = drawn.options;
    options.order = order;
    auto const lives = sublet::lifetimes(drawn.program, sublet::detail::lifetimes_of(options));
    if (!lives) return std::nullopt;
    sublet::buffer_table table = sublet::gather_buffers(lives, options);
    if (options.in_place) {
        std::vector<sublet::step_id> steps;
        for (sublet::node_id n : order)
            for (sublet::step_id s = drawn.program.steps_of(n).first; s != drawn.program.steps_of(n).last;
                 ++s)
                steps.push_back(s);
        table = sublet::take_in_place(drawn.program, steps, std::move(table));
    }
    return sublet::detail::pressure(
               table.buffers.size(), [&](auto b) { return table.buffers[b].life; },
               [&](auto b) { return table.buffers[b].is_planned() ? table.buffers[b].size : 0; },
               lives.positions)
        .peak;
}

/// The least peak of all orders, by dynamic programming over down-sets: up to 2^nodes.
inline sublet::byte_count min_peak_exhaustive(sublet::detail::order_graph const& g)
{
    using namespace sublet;
    using namespace sublet::detail;
    struct state {
        byte_count least = no_size;
        std::vector<node_id> order; // one that reaches this set
    };
    std::vector<state> states(std::size_t{1} << g.nodes());
    states[0].least = 0;
    for (std::size_t set = 0; set != states.size(); ++set) {
        if (states[set].least == no_size) continue;
        peak_walk walk(g);
        for (node_id n : states[set].order) walk.run(n);
        for (node_id n = 0; n != g.nodes(); ++n) {
            bool may_run = (set >> n & 1) == 0;
            for (node_id b : g.before[n]) may_run = may_run && (set >> b & 1) != 0;
            if (!may_run) continue;
            state& next = states[set | std::size_t{1} << n];
            byte_count const peak = std::max(states[set].least, walk.peak_of(n));
            if (peak >= next.least) continue;
            next = {peak, states[set].order};
            next.order.push_back(n);
        }
    }
    return states.back().least;
}

#endif
