// SPDX-License-Identifier: BSL-1.0

/// The augmented program is made by flow(), one node before and one behind. Its live intervals are lifted to
/// its positions; reads that no write reaches are searched from the entry, value by value, and the positions
/// that a write reaches are found by trees, as liveness is.

#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL live_range_lists unsorted_ranges::lists(std::size_t count, live_range_lists::source method,
                                                    std::uint32_t positions)
{
    sort_by_key(ranges_);
    range_collector found(count);
    for (sort_key const& r : ranges_)
        found.add(value_id::of(r.key), {position_id::of(descending(r.tie)), r.id});
    return found.lists(method, positions);
}

SUBLET_DECL std::vector<value_id> overwritable_operands(snapshot const& p, step_id s)
{
    std::vector<value_id> made, operands;
    auto const pairs = p.overwrites(s);
    if (pairs.empty()) return operands;
    for (touch t : p.touches(s))
        if (t.defines()) made.push_back(t.value);
    sort_ascending(made);
    for (overwrite o : pairs)
        if (is_listed(made, o.out)) operands.push_back(o.in);
    sort_ascending(operands);
    std::size_t kept = 0;
    for (value_id v : operands)
        if (kept == 0 || operands[kept - 1] != v) operands[kept++] = v;
    shorten(operands, kept);
    return operands;
}

/// Of each node, whether it reaches no node without successors.  O(V + E)
SUBLET_DECL table<node_id, unsigned char> non_exiting_nodes(snapshot const& p)
{
    table<node_id, unsigned char> never_exits(p.nodes(), 1);
    std::vector<node_id> open;
    auto leave = [&](node_id n) {
        if (never_exits[n]) open.push_back(n);
        never_exits[n] = 0;
    };
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) leave(n);
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n)) leave(before);
    }
    return never_exits;
}

SUBLET_DECL snapshot augmented(snapshot const& p, table<value_id, value_role> const& role,
                               operand_end operands)
{
    auto const exit_node = node_id::of(p.nodes() + 1);
    table<node_id, unsigned char> const never_exits = non_exiting_nodes(p);
    std::vector<node_id> next; // of the node queried last
    auto successors = [&](node_id n) -> std::vector<node_id> const& {
        next.clear();
        if (n == 0 && exit_node != 1) next.push_back(1);
        if (n == 0 || n == exit_node) return next;
        for (node_id s : p.successors(n - 1)) next.push_back(s + 1);
        if (next.empty() || never_exits[n - 1]) next.push_back(exit_node);
        return next;
    };
    std::vector<value_id> early; // read before the step writes
    auto effects = [&](node_id n, effect_sink& sink) {
        for (value_id v = 0; n == exit_node && v != p.values(); ++v)
            if (has_role(role[v], value_role::output)) sink.use(v);
        if (n == 0 || n == exit_node) return;
        step_range const range = p.steps_of(n - 1);
        for (step_id s = range.first; s != range.last; ++s) {
            if (s != range.first) sink.next_step();
            if (operands == operand_end::read_early) early = overwritable_operands(p, s);
            for (touch t : p.touches(s))
                if (t.defines() || t.writes()) sink.add(t.kind, t.value);
                else if (t.kind == touch::access::use_early || is_listed(early, t.value))
                    sink.use_early(t.value);
                else sink.use(t.value);
            copy_step_facts(p, s, sink);
        }
        for (edge_use u : p.edge_uses(n - 1)) sink.use_at_end_of(u.pred + 1, u.value);
    };
    return flow(p.nodes() + 2, p.values(), successors, effects);
}

SUBLET_DECL live_range_lists cfg_live_ranges(snapshot const& p, table<value_id, value_role> const& role,
                                             std::vector<node_id> const& order, operand_end operands)
{
    interval_options options;
    options.order.push_back(0);
    for (node_id n : order) options.order.push_back(n + 1);
    options.order.push_back(node_id::of(p.nodes() + 1));
    live_range_lists const all = live_intervals(detail::augmented(p, role, operands), options);

    auto const end = position_id::of(p.steps() + 1);
    detail::unsorted_ranges found;
    for (value_id v = 0; v != p.values(); ++v) {
        for (live_range r : all[v]) found.add(v, {r.first, smaller(r.last, end)});
        if (has_role(role[v], value_role::input)) found.add(v, {0, 1});
    }
    return found.lists(p.values(), all.method(), end);
}

SUBLET_DECL live_range_lists to_program_positions(snapshot const& p, live_range_lists const& augmented,
                                                  std::vector<node_id> const& order)
{
    position_id first = 0; // of the entry
    for (std::size_t i = 0; i != order.size() && order[i] != 0; ++i)
        first += p.steps_of(order[i]).last - p.steps_of(order[i]).first;
    detail::unsorted_ranges found;
    for (value_id v = 0; v != p.values(); ++v)
        for (live_range r : augmented[v]) {
            if (r.first == 0) found.add(v, {first, first + 1});
            found.add(v, {r.first == 0 ? 0u : r.first - 1, r.last - 1});
        }
    return found.lists(p.values(), augmented.method(), larger(static_cast<std::uint32_t>(p.steps()), 1u));
}

SUBLET_DECL std::optional<counterexample> undefined_read(snapshot const& p, live_range_lists const& augmented,
                                                         table<value_id, value_role> const& role,
                                                         bool is_allowed)
{
    table<value_id, unsigned char> is_ever_written(p.values(), 0);
    table<node_id, unsigned char> is_seen;
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) is_ever_written[t.value] = 1;
    std::vector<node_id> open;
    auto read_of = [&](value_id v) -> std::optional<counterexample> {
        is_seen.assign(p.nodes(), 0);
        open.clear();
        auto enter = [&](node_id n) {
            if (!is_seen[n]) open.push_back(n);
            is_seen[n] = 1;
        };
        auto found = [&](step_id s) {
            value_id const other = is_ever_written[v] ? v : no_value;
            return counterexample{fault::used_undefined,
                                  counterexample::access{.value = v, .other = other, .step = s}};
        };
        bool const is_output = has_role(role[v], value_role::output);
        if (p.nodes() != 0) enter(0);
        else if (is_output) return found(no_step);
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            bool is_written = false;
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last && !is_written; ++s)
                for (touch t : p.touches(s)) { // reads come first
                    if (t.value != v) continue;
                    if (!t.defines()) return found(s);
                    is_written = true;
                }
            if (is_written) continue;
            for (node_id next : p.successors(n)) {
                for (edge_use u : p.edge_uses(next))
                    if (u.pred == n && u.value == v) return found(p.steps_of(n).last - 1);
                enter(next);
            }
            if (p.successors(n).empty() && is_output) return found(no_step);
        }
        return std::nullopt;
    };
    for (value_id v = 0; v != p.values(); ++v) {
        if (is_given(role[v]) || (is_allowed && is_ever_written[v])) continue;
        bool const is_live_at_entry = !augmented[v].empty() && augmented[v].front().first == 0;
        bool const is_output_of_empty = p.nodes() == 0 && has_role(role[v], value_role::output);
        if (!is_live_at_entry && !is_output_of_empty) continue;
        if (auto read = read_of(v)) return read;
    }
    return std::nullopt;
}

SUBLET_DECL table<node_id, unsigned char> reached_nodes(snapshot const& p)
{
    if (p.graph().items() == 0) return table<node_id, unsigned char>(p.nodes(), 1);
    table<node_id, unsigned char> is_reached(p.nodes(), 0);
    std::vector<node_id> open{0};
    is_reached[0] = 1;
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id next : p.successors(n))
            if (!std::exchange(is_reached[next], 1)) open.push_back(next);
    }
    return is_reached;
}

SUBLET_DECL live_range_lists common_ranges(live_range_lists const& one, live_range_lists const& other)
{
    unsorted_ranges common;
    for (value_id v = 0; v != one.values(); ++v) {
        auto const a = one[v], b = other[v];
        for (std::size_t i = 0, j = 0; i != a.size() && j != b.size();) {
            common.add(v, {larger(a[i].first, b[j].first), smaller(a[i].last, b[j].last)});
            a[i].last < b[j].last ? ++i : ++j;
        }
    }
    return common.lists(one.values(), one.method(), one.positions());
}

SUBLET_DECL live_range_lists where_written(snapshot const& p, live_range_lists const& augmented,
                                           table<value_id, unsigned char> const& is_unwritten,
                                           std::vector<node_id> const& order,
                                           table<step_id, position_id> const& position, bool counts_held)
{
    table<node_id, unsigned char> const is_reached = reached_nodes(p);
    table<step_id, node_id> node_of(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) node_of[s] = n;
    unsorted_ranges kept;
    for (value_id v = 0; v != p.values(); ++v)
        if (!is_unwritten[v]) kept.add(v, {0, augmented.positions()});
    auto const writes = cross_block_values::columns::gathered(p.nodes(), [&](auto add) {
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s))
                if (is_unwritten[t.value] && t.defines() && is_reached[node_of[s]]) add(node_of[s], t.value);
    });
    set_trees trees(p.values());
    tree_sets const written = written_by_trees(p, writes, trees);
    table<value_id, position_id> since(p.values(), 0); // where the last range of each value begins
    set_trees::set before = 0;
    auto walk_to = [&](set_trees::set next, position_id at) {
        trees.each_difference(next, before, [&](value_id v, bool begins) {
            if (begins) since[v] = at;
            else kept.add(v, {since[v], at});
        });
        before = next;
    };
    for (node_id n : order) {
        walk_to(written.arriving[n], position[p.steps_of(n).first]);
        position_id const end = position[p.steps_of(n).last - 1] + 1;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            for (touch t : p.touches(s)) {
                if (!is_unwritten[t.value]) continue;
                if (t.defines() && is_reached[n]) kept.add(t.value, {position[s], end});
                else if (counts_held) kept.add(t.value, {position[s], position[s] + 1});
            }
    }
    walk_to(0, augmented.positions());
    return common_ranges(augmented, kept.lists(p.values(), augmented.method(), augmented.positions()));
}

} // namespace sublet::detail
