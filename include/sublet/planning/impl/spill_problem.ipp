// SPDX-License-Identifier: BSL-1.0

/// Each candidate becomes an interval between its two touches; a recomputed step adds the loads of its other
/// results, and needs its operands, which then may not be spilled across it.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/least_load.hpp>
#include <sublet/planning/detail/spill_problem.hpp>
#include <sublet/sharing/in_place.hpp>

namespace sublet::detail {

SUBLET_DECL spaced_positions::spaced_positions(std::size_t positions,
                                               std::vector<spill_candidate> const& candidates)
{
    std::vector<sort_key> remats;
    for (std::uint32_t i = 0; i != candidates.size(); ++i)
        if (candidates[i].remat_at != no_position)
            remats.push_back({candidates[i].before, candidates[i].remat_at, i});
    sort_by_key(remats);
    reload_at.resize(candidates.size());
    std::size_t next = 0;
    position_id at = 0;
    for (std::size_t p = 0; p != positions; ++p) {
        ++at; // copies back
        for (; next != remats.size() && remats[next].key == p; ++next) reload_at[remats[next].id] = at++;
        of_step.push_back(at++);
    }
    for (std::size_t i = 0; i != candidates.size(); ++i)
        if (candidates[i].remat_at == no_position)
            reload_at[i] = of_step[candidates[i].before - 1] + 1; // before is at least 2
}

SUBLET_DECL live_range spaced_positions::life(buffer const& b, position_id last_touch) const
{
    if (is_empty(b.life)) return {};
    position_id first = of_step[b.life.first], last = of_step[b.life.last - 1] + 1;
    if (b.over != no_buffer) first = of_step[b.life.first - 1] + 1;
    if (last_touch == b.life.last) last = of_step[last_touch];
    return {first, last};
}

SUBLET_DECL spill_problem::spill_problem(snapshot const& p, plan_options const& options,
                                         advice_options const& how)
    : steps(steps_in_order(p, options.order))
{
    buffer_table const unjoined = gather_buffers(lifetimes(p, detail::lifetimes_of(options)), options);
    buffer_table const joined = options.in_place ? take_in_place(p, steps, unjoined) : unjoined;
    in_place = joined.in_place;
    auto const stays = staying_buffers(p, unjoined, how);
    least = least_loads(p, steps, unjoined, stays);
    auto const remat_cost = how.remat_cost.tabulate(p.values(), "remat_cost");
    auto const movable = how.movable.tabulate(p.values(), "movable");
    auto const roles = options.role.tabulate(p.values(), "role");
    table<buffer_id, unsigned char> is_resident(joined.buffers.size(), 0);
    for (value_id v = 0; v != p.values(); ++v)
        if (!movable[v]) is_resident[joined.buffer_of[v]] = 1;
    for (spill_candidate const& a : find_spill_candidates(p, steps, unjoined, joined, roles)) {
        bool const is_copied = a.remat_at == no_position;
        if (is_resident[a.buffer] || !(is_copied ? how.copies : how.remats)) continue;
        if (!is_copied && remat_cost[a.root] == no_size) continue;
        candidates.push_back(a);
    }
    spaced = spaced_positions(larger(steps.size(), std::size_t{1}), candidates); // inputs live without a step

    table<buffer_id, position_id> last_touch(joined.buffers.size(), 0);
    for (position_id at = 0; at != steps.size(); ++at)
        for (touch t : p.touches(steps[at])) last_touch[joined.buffer_of[t.value]] = at;
    problem.pools = options.pools;
    for (buffer_id b = 0; b != joined.buffers.size(); ++b) {
        buffer const& its = joined.buffers[b];
        bool const is_there = its.is_planned();
        problem.buffers.push_back({is_there ? spaced.life(its, last_touch[b]) : live_range{},
                                   is_there ? its.size : 0, 1, is_there ? its.pool : pool_id{0}});
    }
    std::vector<sort_key> const at_node_ends = node_end_touches(p, steps);
    auto const of_buffer = csr_rows<buffer_id, std::uint32_t>::gathered(joined.buffers.size(), [&](auto add) {
        for (std::uint32_t i = 0; i != candidates.size(); ++i) add(candidates[i].buffer, i);
    });
    for (std::uint32_t i = 0; i != candidates.size(); ++i) {
        spill_candidate const& a = candidates[i];
        buffer const& its = joined.buffers[a.buffer];
        idle_interval idle{a.buffer, {spaced.of_step[a.after] + 1, spaced.reload_at[i]}, 0};
        if (a.remat_at != no_position && is_freed_early(p, joined, at_node_ends, a)) --idle.when.first;
        if (a.remat_at == no_position) idle.cost = checked_multiply(how.copy_cost, its.size);
        else idle.cost = list_remat(p, unjoined, joined, of_buffer, i);
        if (a.remat_at != no_position && remat_cost[a.root] != 0) idle.cost = remat_cost[a.root];
        times.intervals.push_back(idle);
    }
}

SUBLET_DECL bool spill_problem::is_freed_early(snapshot const& p, buffer_table const& joined,
                                               std::vector<sort_key> const& at_node_ends,
                                               spill_candidate const& a) const
{
    for (touch t : p.touches(steps[a.after]))
        if (joined.buffer_of[t.value] == a.buffer && t.kind != touch::access::use_early) return false;
    for (std::size_t i = partition_point(at_node_ends.size(),
                                         [&](std::size_t k) { return at_node_ends[k].key >= a.after; });
         i != at_node_ends.size() && at_node_ends[i].key == a.after; ++i)
        if (joined.buffer_of[value_id{at_node_ends[i].id}] == a.buffer) return false;
    return true;
}

SUBLET_DECL byte_count spill_problem::list_remat(snapshot const& p, buffer_table const& unjoined,
                                                 buffer_table const& joined,
                                                 csr_rows<buffer_id, std::uint32_t> const& of_buffer,
                                                 std::uint32_t i)
{
    spill_candidate const& a = candidates[i];
    byte_count touched = 0;
    std::vector<buffer_id> side_result;
    for (touch t : p.touches(steps[a.remat_at])) {
        buffer_id const b = joined.buffer_of[t.value];
        buffer const& its = unjoined.buffers[unjoined.buffer_of[t.value]];
        if (its.size != no_size) touched = checked_add(touched, its.size);
        if (!t.defines()) {
            auto const others = of_buffer[b];
            for (std::size_t k = partition_point(
                     others.size(), [&](std::size_t j) { return candidates[others[j]].before > a.before; });
                 k != others.size() && candidates[others[k]].after < a.before; ++k)
                times.needs.push_back({i, others[k]});
        } else if (b != a.buffer && its.size != 0) {
            times.loads.push_back({i, spaced.reload_at[i], its.pool, its.size});
        }
    }
    for (std::uint32_t other : of_buffer[a.buffer])
        if (other != i && candidates[other].before == a.before) times.needs.push_back({i, other});
    return touched;
}

} // namespace sublet::detail
