// SPDX-License-Identifier: BSL-1.0
/// Clocks become positions, choices become pools, and what is left is packed or replanned; afterwards the
/// proof of each pool is made minimal. Where buffers choose, a pool without a placement is packed again
/// with those that can be in no other, as only they prove it.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/placement_outcome.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/clocks.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/pack_few.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/penalties.hpp>
#include <sublet/placement/detail/proofs.hpp>
#include <sublet/placement/detail/replan.hpp>
#include <sublet/placement/detail/timed_control.hpp>
#include <sublet/placement/internal/choose_pools.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/spacing.hpp>
#include <sublet/placement/place.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL pack_options budgets_of(place_options const& options)
{
    pack_options budgets = pack_budgets(options.effort);
    budgets.objective = options.objective;
    budgets.seed = options.seed;
    if (options.time_limit > 0) budgets.improve_visits = budgets.nodes = no_limit;
    return budgets;
}

/// Minimises the buffers that prove a bound found by search; its node budget is that of a search.
// NOLINTNEXTLINE(misc-no-recursion): once, without rules between neighbours
SUBLET_DECL void minimize_proof(placement_problem const& problem, pool_id pool, pack_options const& budgets,
                                search_control& control, placement::proof& proof)
{
    if (byte_count const guard = limits_of(problem, pool).guard; guard != 0) {
        proof.bytes += guard;
        minimize_proof(spaced(problem), pool, budgets, control, proof);
        proof.bytes -= guard;
        return;
    }
    if (!limits_of(problem, pool).reserved.empty()) {
        std::size_t const given = problem.buffers.size();
        placement_problem const around = around_reserved(problem, pool, proof.bytes - 1);
        proof.buffers = with_reserved(std::move(proof.buffers), given, around);
        minimize_proof(around, pool, budgets, control, proof);
        proof.buffers = without_reserved(proof.buffers, given);
        return;
    }
    step_poll const poll(control);
    placement_shapes const shapes = shapes_of(problem, proof.buffers, limits_of(problem, pool), poll);
    if (poll.has_stopped()) return;
    std::vector<std::uint32_t> core;
    for (std::uint32_t s = 0; s != shapes.size(); ++s) core.push_back(s);
    proof.buffers = buffers_in(
        shapes, minimize_core(shapes, proof.bytes - 1, std::move(core), budgets.nodes, control).shapes);
}

/// The same for a pool, if it is proved by search.
SUBLET_DECL void minimize_proof_of(placement_problem const& problem, pool_id pool,
                                   pack_options const& budgets, timed_control& control,
                                   placement::pool_result& out)
{
    if (out.proof.kind != placement::proof::reason::exhausted) return;
    pool_control for_pool(control, out.height, out);
    if (!for_pool.stop(no_limit, 0, 0)) minimize_proof(problem, pool, budgets, for_pool, out.proof);
}

SUBLET_DECL placement place_fixed(placement_problem const& problem,
                                  table<buffer_id, byte_count> const& previous,
                                  table<buffer_id, unsigned char> const& keep, pack_options const& budgets,
                                  timed_control& control)
{
    bool is_new = true;
    for (buffer_id b = 0; b != keep.size(); ++b)
        is_new = is_new && previous[b] == no_offset && keep[b] == 0;
    placement result =
        is_new ? pack(problem, budgets, control) : replan(problem, previous, keep, budgets, control);
    for (pool_id pool = 0; pool != result.pools.size(); ++pool)
        minimize_proof_of(problem, pool, budgets, control, result.pools[pool]);
    result.is_timed_out = control.has_stopped() && result.status != placement::outcome::optimal;
    return result;
}

/// Derives infeasibility and bounds of pools from buffers that can be in no other pool.
SUBLET_DECL void weaken_to_forced(placement_problem problem, pool_candidates const& candidates,
                                  pack_options const& budgets, search_control& control, placement& result)
{
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (candidates.count(candidates.storage_of[b]) != 1) problem.buffers[b].size = 0;
    for (placement_problem::gap& gap : problem.gaps)
        if (problem.buffers[gap.buffer].size == 0) gap.begin = gap.end = 0;
    placement const forced = pack(problem, budgets, control);
    for (pool_id pool = 0; pool != result.pools.size(); ++pool) {
        placement::pool_result& out = result.pools[pool];
        if (out.status != placement::outcome::infeasible) continue;
        out.proof = forced.pools[pool].proof;
        out.lower_bound = forced.pools[pool].lower_bound;
        out.peak_position = forced.pools[pool].peak_position;
        if (forced.pools[pool].status != placement::outcome::infeasible)
            out.status = placement::outcome::limit;
    }
    set_overall_status(result);
}

// NOLINTNEXTLINE(misc-no-recursion): once, without clocks
SUBLET_DECL placement place(placement_problem const& problem, place_options const& options,
                            pack_options const& budgets, timed_control& control)
{
    if (problem.clocks.threads != 0) {
        positioned_clocks const clocks = positions_of_clocks(problem);
        std::size_t const buffers = problem.buffers.size();
        auto const keep = options.keep.tabulate(buffers, "keep");
        // With more than the default work positions and orders are searched in turns; the budgets double.
        pack_options const default_work;
        bool const is_in_turns = budgets.nodes > default_work.nodes && clocks.threads != 1 &&
                                 problem.choices.empty() && options.previous.is_constant(no_offset) &&
                                 options.keep.is_constant(false);
        placement result;
        for (unsigned turn = 0;; ++turn) {
            pack_options now = clocks.budgets(budgets);
            if (is_in_turns) {
                now.nodes = smaller(now.nodes, default_work.nodes << turn);
                now.improve_visits = smaller(now.improve_visits, default_work.improve_visits << turn);
                now.seed += turn;
            }
            placement found = place(clocks.problem, options, now, control);
            if (turn != 0) clocks.keep_lower(found, result, options.objective);
            result = std::move(found);
            if (result.is_timed_out) break;
            clocks.lower(result, options.objective, smaller(budgets.visits, no_limit >> turn) << turn, keep,
                         is_in_turns ? &control : nullptr, turn);
            if (!is_in_turns) break;
            bool const is_open = result.status != placement::outcome::optimal &&
                                 result.status != placement::outcome::infeasible;
            result.is_timed_out = control.has_stopped() && is_open;
            if (!is_open || result.is_timed_out || now.nodes == budgets.nodes || turn == 30) break;
            if (result.pools.size() == 1) control.begin_again(result.pools[0].height);
        }
        if (!result.is_timed_out) {
            if (result.cost > result.cost_bound && result.status == placement::outcome::optimal)
                result.status = placement::outcome::feasible;
            auto const previous = options.previous.tabulate(buffers, "previous");
            result.moved_bytes = 0;
            for (buffer_id b = 0; b != buffers; ++b)
                if (previous[b] != no_offset && result.offset[b] != no_offset &&
                    result.offset[b] != previous[b])
                    result.moved_bytes += problem.buffers[b].size;
        }
        table<buffer_id, unsigned char> has_choice;
        if (!problem.choices.empty()) {
            pool_candidates const pools = possible_pools(problem, candidates_of(problem));
            for (std::uint32_t storage : pools.storage_of) has_choice.push_back(pools.count(storage) != 1);
        }
        clocks.name_proofs(result, has_choice);
        return result;
    }
    std::size_t const buffers = problem.buffers.size();
    auto const previous = options.previous.tabulate(buffers, "previous");
    auto const keep = options.keep.tabulate(buffers, "keep");
    (void)step_poll(control).stops(buffers); // so that it has been asked; it stays stopped
    if (!problem.penalties.empty()) {
        for (buffer_id b = 0; b != buffers; ++b)
            SUBLET_EXPECTS(previous[b] == no_offset && keep[b] == 0,
                           "sublet: a problem has penalties, and an old place of buffer %: place() does not "
                           "combine them",
                           b);
        penalised_pools const pools = place_penalised(problem, budgets, control);
        placement result = place_fixed(pools.others, previous, keep, budgets, control);
        pools.enter(result);
        for (pool_id pool : pools.pools)
            minimize_proof_of(problem, pool, budgets, control, result.pools[pool]);
        result.is_timed_out = control.has_stopped() && result.status != placement::outcome::optimal;
        return result;
    }
    if (problem.choices.empty()) return place_fixed(problem, previous, keep, budgets, control);

    control.begin(2); // at most half of the time
    pool_assignment const chosen = choose_pools(problem, budgets, control);
    placement_problem fixed{problem.buffers, problem.pools, problem.gaps, problem.colocated};
    fixed.apart = problem.apart;
    for (buffer_id b = 0; b != buffers; ++b) fixed.buffers[b].pool = chosen.pool_of[b];
    placement result = place_fixed(fixed, previous, keep, budgets, control);
    if (result.status == placement::outcome::infeasible)
        weaken_to_forced(fixed, possible_pools(problem, candidates_of(problem)), budgets, control, result);
    result.pool_of = chosen.pool_of;
    result.cost = chosen.cost;
    result.cost_bound = chosen.cost_bound;
    if (result.cost > result.cost_bound && result.status == placement::outcome::optimal)
        result.status = placement::outcome::feasible;
    result.is_timed_out = control.has_stopped() && result.status != placement::outcome::optimal;
    return result;
}

SUBLET_DECL placement place(placement_problem const& problem, place_options const& options,
                            pack_options const& budgets)
{
    SUBLET_EXPECTS(options.time_limit >= 0, "sublet: a time limit is negative");
    timed_control control(options.threads, options.stop, options.progress, options.time_limit);
    detail::asked_options const asked(options, problem.buffers.size(), &place_options::previous,
                                      &place_options::keep);
    placement result = place(problem, *asked, budgets, control);
    if (result.status <= placement::outcome::feasible) return result;
    placement_problem pinned = problem; // what is kept has the pin of its old offset
    auto const previous = asked->previous.tabulate(problem.buffers.size(), "previous");
    auto const keep = asked->keep.tabulate(problem.buffers.size(), "keep");
    for (buffer_id b = 0; b != keep.size(); ++b)
        if (keep[b] != 0) pinned.buffers[b].pinned = previous[b];
    result.refute(why_not_placed(pinned, result));
    return result;
}

/// Only the problem decides the result: nothing stops the search or hears of it, and no buffer was placed.
SUBLET_DECL bool is_plain(place_options const& options)
{
    return options.time_limit == 0 && options.stop.is_empty() && !options.progress &&
           options.previous.is_constant(no_offset) && options.keep.is_constant(false);
}

/// Throws: precondition_error if some pools are listed, and not that of a buffer or of a choice.
SUBLET_COLD_DECL void expect_listed_pools(placement_problem const& problem)
{
    std::size_t const listed = problem.pools.size();
    if (listed == 0) return;
    auto expect = [listed](buffer_id b, pool_id pool) {
        SUBLET_EXPECTS(pool < listed, "sublet: buffer % names pool %, but the number of listed pools is %", b,
                       pool, listed);
    };
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) expect(b, problem.buffers[b].pool);
    for (placement_problem::choice const& c : problem.choices) expect(c.buffer, c.pool);
}

/// The same for a single round: a buffer that the next one still needs has a gap between its two parts.
///
///     period 6    0  1  2  3  4  5 | 6  7          0  1  2  3  4  5
///       a                        [=======)         =======)     [===)       life [0, 6), gap [2, 5)
///
/// Throws: precondition_error for a buffer that lives longer than a round, and with clocks.
SUBLET_COLD_DECL placement_problem one_round_of(placement_problem const& problem)
{
    SUBLET_EXPECTS(problem.clocks.threads == 0, "sublet: a problem with clocks has no period");
    position_id const period{problem.period};
    placement_problem round = problem;
    round.period = 0;
    round.gaps.clear();
    for (placement_problem::gap gap : problem.gaps) {
        SUBLET_EXPECTS(gap.buffer < problem.buffers.size(),
                       "sublet: a gap names buffer %, but there are only % buffers", gap.buffer,
                       problem.buffers.size());
        live_range const life = problem.buffers[gap.buffer].life;
        live_range const when{larger(gap.when.first, life.first), smaller(gap.when.last, life.last)};
        auto add = [&](position_id first, position_id last) {
            if (first >= last) return;
            gap.when = {first, last};
            round.gaps.push_back(gap);
        };
        add(when.first, smaller(when.last, period));
        if (when.last > period) add(larger(when.first, period) - period, when.last - period);
    }
    for (buffer_id b = 0; b != round.buffers.size(); ++b) {
        live_range& life = round.buffers[b].life;
        if (round.buffers[b].size == 0 || is_empty(life)) continue;
        SUBLET_EXPECTS(life.first < period,
                       "sublet: buffer % begins at position %, but a round has only %: positions of the next "
                       "round are for ends",
                       b, life.first, period);
        SUBLET_EXPECTS(life.last - life.first <= period,
                       "sublet: buffer % lives for % positions, but a round has only %: such a value needs "
                       "several buffers, one for each round that it lives in",
                       b, life.last - life.first, period);
        if (life.last <= period) continue;
        if (life.last - period < life.first)
            round.gaps.push_back({b, {position_id{life.last - period}, life.first}, 0, 0});
        life = {0, period};
    }
    return round;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL placement place(placement_problem const& problem, place_options const& options)
{
    detail::expect_listed_pools(problem);
    if (!problem.penalties.empty()) detail::expect_plain(problem);
    detail::expect_apart(problem);
    detail::pack_options budgets = detail::budgets_of(options);
    if (problem.period != 0) return detail::place(detail::one_round_of(problem), options, budgets);
    if (detail::is_plain(options)) {
        placement few;
        if (detail::place_few(problem, options.objective, few) && few.status <= placement::outcome::feasible)
            return few;
        budgets.tries_few = few.pools.size() != 1; // this pool was tried
    }
    return detail::place(problem, options, budgets);
}

SUBLET_DECL placement place(memory_plan const& plan, table<pool_id, byte_count> const& bases,
                            pool_limits const& memory)
{
    placement_problem problem{{}, {memory}};
    for (byte_count bytes : plan.arena_bytes) problem.buffers.push_back({{0, 1}, bytes}); // one for each pool
    auto buffer_of = [&problem](pool_id pool) -> placement_problem::buffer& {
        return problem.buffers[buffer_id::of(+pool)];
    };
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        byte_count& alignment = buffer_of(b.pool).alignment;
        alignment = detail::combine_alignment(alignment, b.alignment);
    }
    for (pool_id pool = 0; pool != plan.arena_bytes.size() && pool != bases.size(); ++pool)
        buffer_of(pool).pinned = bases[pool];
    detail::pack_options budgets;
    if (plan.arena_bytes.size() <= 8 + bases.size()) budgets.nodes = 2'000'000;
    placement result = detail::pack(problem, budgets);
    result.refute(detail::why_not_placed(problem, result));
    return result;
}

} // namespace sublet
