// SPDX-License-Identifier: BSL-1.0
/// plan_concurrent(): the stages that its header draws, in that order; with choices of pools again with less
/// room in a pool that overflows for every schedule, up to eight times.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/left_out.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/concurrent_blocks.hpp>
#include <sublet/placement/internal/keep_concurrently.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/placement/internal/stack_slots.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/planning/detail/carried_places.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/previous_places.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/internal/buffer_slots.hpp>

#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Slots for every schedule, and with them offsets, or slots stacked above each other.
SUBLET_DECL placement place_for_every_schedule(placement_problem const& problem,
                                               concurrent_live_ranges const& lives,
                                               conflict_ranges const& conflicts,
                                               concurrent_bounds const& heaviest,
                                               concurrent_options::strategy_kind strategy, effort work,
                                               sized_slot_plan& slots)
{
    slots = share_slots(lives, conflicts, [&](buffer_id b) { return problem.buffers[b].size; },
                        {.strategy = slot_strategy::chains,
                         .pool = [&](buffer_id b) { return problem.buffers[b].pool; },
                         .visits = work.of(4'000'000)});
    placement placed = stack_slots(problem, slots, heaviest.bytes);
    if (strategy == concurrent_options::strategy_kind::slots) return placed;
    place_concurrently_options how{.bounds = heaviest.bytes,
                                   .antichain = heaviest.members,
                                   .visits = offset_visits(work),
                                   .searches = true};
    bool is_pinned = false;
    for (placement_problem::buffer const& b : problem.buffers) is_pinned = is_pinned || b.pinned != no_offset;
    if (!is_pinned) how.fallback = std::move(placed.offset);
    placed = place_concurrently(problem, lives, conflicts.of, how);
    split_concurrently(problem, lives, conflicts.of, how.visits, placed);
    return placed;
}

/// A buffer begins where no reuse of the bytes of another may begin.
class every_schedule final : public buffer_conflicts {
public:
    every_schedule(dependence_graph const& g, concurrent_live_ranges const& lives,
                   buffer_range_lists const& ranges)
        : step_at_(g.step_at), lives_(lives), ranges_(ranges)
    {
    }
    [[nodiscard]] meeting of(buffer_id a, buffer_id b) const override
    {
        if (lives_.begins[a].empty() && lives_.begins[b].empty())
            return {!lives_.ends[a].empty() && !lives_.ends[b].empty(), no_step};
        meeting const first = begins_in(a, b);
        return first.conflict ? first : begins_in(b, a);
    }

private:
    [[nodiscard]] meeting begins_in(buffer_id a, buffer_id b) const
    {
        for (position_id at : lives_.begins[a])
            for (live_range r : ranges_[b])
                if (contains(r, at)) return {true, step_at_[at]};
        return {};
    }
    table<position_id, step_id> const& step_at_;
    concurrent_live_ranges const& lives_;
    buffer_range_lists const& ranges_;
};

/// Pools are chosen for the capacities in `room`.
SUBLET_DECL planned_concurrently plan_in_room(snapshot const& p, plan_options const& options,
                                              concurrent_options const& wanted,
                                              table<pool_id, pool_limits> const& room)
{
    planned_concurrently result;
    std::clock_t const begun = begin_plan(result, p, program_reading::concurrent);
    memory_plan& plan = result.plan;
    plan.handoffs = wanted.handoffs;
    if (!result.figures.refute(find_unclear(p, options))) return result;

    auto role = options.role.tabulate(p.values(), "role");
    dependence_graph const g = dependences(p, dependences_of(options, wanted.handoffs));
    if (!result.figures.refute(g)) return result;
    for (handoff h : order_without(p, options, g)) plan.handoffs.push_back(h);
    buffer_table buffers = gather_buffers(touch_ranges(p, role), options);
    enter_buffers(buffers, options, room, result);

    concurrent_bounds of_every_plan;
    std::vector<value_id> apart; // in every plan
    bool const has_pairs = options.in_place && !p.overwrites().empty();
    bool const is_carried = !options.carried.empty(), has_bounds = has_pairs || is_carried;
    buffer_table const unjoined = is_carried ? buffers : buffer_table{};
    for (memory_plan::in_place_pair const& pair : place_carried(p, options, g, buffers, role))
        result.in_place.push_back({pair, no_size, no_size});
    if (has_bounds)
        of_every_plan =
            bounds_with_pairs(p, options, wanted.handoffs, role, is_carried ? unjoined : buffers, apart);
    if (has_pairs) buffers = take_in_place(p, g, std::move(buffers));
    for (memory_plan::in_place_pair const& pair : buffers.in_place)
        result.in_place.push_back({pair, no_size, no_size});

    placement_problem problem{{}, options.pools};
    if (auto fact = list_planned(buffers, plan, problem); result) result.figures.refute(std::move(fact));
    concurrent_live_ranges const lives =
        concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, role);
    conflict_ranges const conflicts = find_conflict_ranges(g, lives, most_conflict_ranges);
    concurrent_bounds const heaviest = antichains_of_pools(g, lives, conflicts, problem, options.effort);
    placement placed = place_for_every_schedule(problem, lives, conflicts, heaviest, wanted.strategy,
                                                options.effort, result.slots);

    table<buffer_id, byte_count> former; // offsets
    bool const keeps = has_previous(options);
    if (keeps) {
        former = previous_offsets(plan, options);
        keep_concurrently(problem, lives, conflicts.of, former, options.keep_within,
                          offset_visits(options.effort) / 16, placed);
    }

    result.undecided = conflicts.undecided;
    result.is_bound_exact = heaviest.is_exact && of_every_plan.is_exact;
    for (buffer_id b : heaviest.members) result.antichain.push_back(plan.buffers[b].root);
    if (has_bounds) { // those above hold for the buffers that are joined
        for (pool_id pool = 0; pool != of_every_plan.bytes.size(); ++pool)
            placed.pools[pool].lower_bound = of_every_plan.bytes[pool];
        result.antichain = std::move(apart);
    }
    result.figures.is_cut_short = placed.is_cut_short || !result.is_bound_exact || result.undecided != 0;

    enter_placement(placed, problem, result);
    every_schedule const meetings(g, lives, conflicts.of);
    if (result && keeps) result.figures.moved = moved_values(plan, options, former, &meetings);
    finish_plan(result, begun, options.check, [&] { return check_concurrent_plan(p, plan, options); });
    return result;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_concurrently plan_concurrent(snapshot const& p, plan_options const& given,
                                                 concurrent_options const& wanted)
{
    detail::expect_previous(given);
    detail::expect_no_reserved(given, "plan_concurrent");
    detail::expect_no_pages(given, "plan_concurrent()");
    detail::expect_no_apart(given, "plan_concurrent");
    SUBLET_EXPECTS(!detail::has_previous(given) ||
                       wanted.strategy != concurrent_options::strategy_kind::slots,
                   "sublet: a plan of slots does not take account of a previous plan");
    std::clock_t const begun = std::clock();
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    table<pool_id, pool_limits> room = options.pools;
    planned_concurrently result = detail::plan_in_room(p, options, wanted, room);
    for (int i = 0; i != 8 && !options.pool_choices.empty() && !result; ++i) { // pools for every schedule
        if (result.error().what != fault::over_capacity) break;
        counterexample::place const over = *result.error().as<counterexample::place>();
        byte_count& capacity = room[over.pool].capacity;
        capacity -= detail::smaller(capacity, over.end - over.needed);
        result = detail::plan_in_room(p, options, wanted, room);
    }
    result.figures.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
