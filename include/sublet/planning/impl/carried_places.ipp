// SPDX-License-Identifier: BSL-1.0

/// Pairs in place are matched among the carried buffers alone: of the others none is eligible then. With
/// the roles of inputs and outputs they take part in no other match.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/carried_places.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/sharing/in_place.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// Only the buffers of carried values are eligible.
SUBLET_DECL buffer_table only_carried(buffer_table all, plan_options const& options)
{
    for (buffer& b : all.buffers) b.eligible = false;
    for (plan_options::carry const& c : options.carried)
        for (value_id v : {c.from, c.to}) all.buffers[all.buffer_of[v]].eligible = true;
    return all;
}

/// Joins the buffers of the groups of two that are among `found`; returns these.
SUBLET_DECL std::vector<memory_plan::in_place_pair>
join_carried(std::vector<std::vector<value_id>> const& groups,
             std::vector<memory_plan::in_place_pair> const& found, buffer_table& buffers)
{
    std::vector<memory_plan::in_place_pair> taken;
    if (found.empty()) return taken;
    table<buffer_id, buffer_id> now_of(buffers.buffers.size(), no_buffer);
    for (std::vector<value_id> const& group : groups)
        if (group.size() == 2) now_of[buffers.buffer_of[group[0]]] = buffers.buffer_of[group[1]];
    for (memory_plan::in_place_pair const& pair : found) // perhaps of views
        if (now_of[buffers.buffer_of[pair.in]] == buffers.buffer_of[pair.out]) taken.push_back(pair);
    if (taken.empty()) return taken;
    byte_count const oversized = buffers.oversized_bytes;
    value_id const view = buffers.oversized_view;
    buffers = join_in_place(std::move(buffers), taken);
    buffers.oversized_view = view;
    buffers.oversized_bytes = oversized;
    buffers.in_place.clear();
    return taken;
}

/// The pairs of one group by itself, where those of other groups were taken instead.
template <class Match>
void join_rest(std::vector<std::vector<value_id>> const& groups, snapshot const& p, Match match,
               std::vector<memory_plan::in_place_pair>& taken, buffer_table& buffers)
{
    int left = 64;
    for (std::vector<value_id> const& group : groups) {
        buffer_id const first = buffers.buffer_of[group.front()], last = buffers.buffer_of[group.back()];
        if (group.size() != 2 || first == last || left == 0) continue;
        bool is_declared = false;
        for (overwrite o : p.overwrites())
            is_declared =
                is_declared || (buffers.buffer_of[o.in] == first && buffers.buffer_of[o.out] == last);
        if (!is_declared) continue;
        --left;
        buffer_table only = buffers;
        for (buffer_id b = 0; b != only.buffers.size(); ++b)
            only.buffers[b].eligible = b == first || b == last;
        for (memory_plan::in_place_pair const& pair : join_carried({group}, match(only), buffers))
            taken.push_back(pair);
    }
}

SUBLET_DECL bool have_one_place(std::vector<value_id> const& group, buffer_table const& buffers)
{
    if (group.size() != 2) return false;
    buffer const &one = buffers.buffers[buffers.buffer_of[group[0]]],
                 &two = buffers.buffers[buffers.buffer_of[group[1]]];
    return one.pinned == no_offset || two.pinned == no_offset || one.pinned == two.pinned;
}

/// All buffers of the group can lie where any of them lies.
SUBLET_DECL void align_alike(std::vector<value_id> const& group, buffer_table& buffers)
{
    byte_count all = 1;
    for (value_id v : group) all = combine_alignment(all, buffers.buffers[buffers.buffer_of[v]].alignment);
    for (value_id v : group) buffers.buffers[buffers.buffer_of[v]].alignment = all;
}

SUBLET_DECL carried_places place_carried(snapshot const& p, plan_options const& options,
                                         table<position_id, step_id> const& steps, buffer_table& buffers)
{
    carried_places result;
    auto const groups = carried_groups(options, p.values());
    if (groups.empty()) return result;
    if (options.in_place) {
        auto match = [&](buffer_table const& some) { return match_in_place(p, steps, some, true); };
        result.in_place = join_carried(groups, match(only_carried(buffers, options)), buffers);
        join_rest(groups, p, match, result.in_place, buffers);
    }
    auto const end = position_id::of(larger(p.steps(), std::size_t{1}));
    for (std::vector<value_id> const& group : groups) {
        buffer const &first = buffers.buffers[buffers.buffer_of[group.front()]],
                     &last = buffers.buffers[buffers.buffer_of[group.back()]];
        bool const is_one = group.size() == 1 || &first == &last;
        if (!is_one && first.life.last <= last.life.first && have_one_place(group, buffers)) {
            result.together.push_back({group.back(), group.front()});
        } else if (!is_one) {
            align_alike(group, buffers);
            for (value_id v : group) buffers.buffers[buffers.buffer_of[v]].life = {0, end};
        }
        for (value_id v : group) {
            value_role& role = buffers.buffers[buffers.buffer_of[v]].role;
            role = role | value_role::input | value_role::output;
        }
    }
    return result;
}

SUBLET_DECL std::vector<memory_plan::in_place_pair>
place_carried(snapshot const& p, plan_options const& options, dependence_graph const& g,
              buffer_table& buffers, table<value_id, value_role>& role)
{
    std::vector<memory_plan::in_place_pair> in_place;
    auto const groups = carried_groups(options, p.values());
    if (groups.empty()) return in_place;
    if (options.in_place) {
        auto match = [&](buffer_table const& some) { return take_in_place(p, g, some).in_place; };
        in_place = join_carried(groups, match(only_carried(buffers, options)), buffers);
        join_rest(groups, p, match, in_place, buffers);
    }
    buffer_table const carried = only_carried(buffers, options);
    auto of_carried = carried.buffer_of;
    for (buffer_id& b : of_carried)
        if (!carried.buffers[b].eligible) b = no_buffer;
    concurrent_live_ranges const lives = concurrent_lifetimes(p, g, buffers.buffers.size(), of_carried, role);
    conflict_ranges const conflicts = find_conflict_ranges(g, lives, most_conflict_ranges);
    std::vector<memory_plan::in_place_pair> joined;
    for (std::vector<value_id> const& group : groups) {
        buffer_id const first = buffers.buffer_of[group.front()], last = buffers.buffer_of[group.back()];
        if (group.size() == 1 || first == last) continue;
        if (have_one_place(group, buffers) && reusable_by(conflicts, lives, first, last)) {
            byte_count& pin = buffers.buffers[first].pinned; // that of the joined buffer
            pin = smaller(pin, buffers.buffers[last].pinned);
            joined.push_back({no_step, group.front(), group.back(), 0});
            continue;
        }
        align_alike(group, buffers);
        for (value_id v : group) {
            role[v] = role[v] | value_role::input | value_role::output;
            value_role& of_buffer = buffers.buffers[buffers.buffer_of[v]].role;
            of_buffer = of_buffer | role[v];
        }
    }
    static_cast<void>(join_carried(groups, joined, buffers));
    return in_place;
}

SUBLET_DECL table<value_id, value_role> roles_in_rounds(plan_options const& options, memory_plan const& plan)
{
    std::size_t const values = plan.buffer_of.size();
    auto role = options.role.tabulate(values, "role");
    for (std::vector<value_id> const& group : carried_groups(options, values)) {
        bool is_one = group.size() == 1;
        if (group.size() == 2) {
            byte_count const at = plan.offset_of(group[0]); // none: nothing is placed yet
            is_one = plan.buffer_of[group[0]] == plan.buffer_of[group[1]] ||
                     (at != no_offset && at == plan.offset_of(group[1]));
        }
        for (value_id v : group)
            if (!is_one) role[v] = role[v] | value_role::input | value_role::output;
    }
    return role;
}

} // namespace sublet::detail
