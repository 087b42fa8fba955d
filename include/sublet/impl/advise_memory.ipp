// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_ADVISE_MEMORY_IPP
#define SUBLET_IMPL_ADVISE_MEMORY_IPP

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/advise.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>

namespace sublet::detail {

SUBLET_DECL spaced_positions::spaced_positions(std::size_t positions, std::vector<absence> const& absences)
{
    std::vector<keyed> reruns;
    for (std::uint32_t i = 0; i != absences.size(); ++i)
        if (absences[i].rerun != no_step) reruns.push_back({absences[i].before, absences[i].rerun, i});
    sort_keyed(reruns);
    return_at.resize(absences.size());
    std::size_t next = 0;
    step_id at = 0;
    for (std::size_t p = 0; p != positions; ++p) {
        ++at; // copies back
        for (; next != reruns.size() && reruns[next].key == p; ++next) return_at[reruns[next].who] = at++;
        of_step.push_back(at++);
    }
    for (std::size_t i = 0; i != absences.size(); ++i)
        if (absences[i].rerun == no_step)
            return_at[i] = of_step[absences[i].before - 1] + 1; // before is at least 2
}

SUBLET_DECL live_range spaced_positions::life(buffer const& b, step_id last_touch) const
{
    if (is_empty(b.life)) return {};
    step_id first = of_step[b.life.first], last = of_step[b.life.last - 1] + 1;
    if (b.over != no_buffer) first = of_step[b.life.first - 1] + 1;
    if (last_touch == b.life.last) last = of_step[last_touch];
    return {first, last};
}

SUBLET_DECL step_id spaced_positions::position(step_id spaced) const
{
    return static_cast<step_id>(
        first_that(of_step.size(), [&](std::size_t p) { return of_step[p] >= spaced; }));
}

SUBLET_DECL advice_question::advice_question(snapshot const& p, plan_options const& options,
                                             advice_options const& how)
    : steps(steps_in_order(p, options.order))
{
    buffer_table const alone =
        gather_buffers(lifetimes(p, {.role = options.role, .order = options.order}), options);
    buffer_table const joined = options.in_place ? take_in_place(p, steps, alone) : alone;
    in_place = joined.in_place;
    auto const rerun_cost = how.rerun_cost.tabulate(p.values());
    auto const movable = how.movable.tabulate(p.values());
    auto const roles = options.role.tabulate(p.values());
    std::vector<unsigned char> stays(joined.buffers.size(), 0);
    for (std::size_t v = 0; v != p.values(); ++v)
        if (!movable[v]) stays[joined.buffer_of[v]] = 1;
    for (absence const& a : possible_absences(p, steps, alone, joined, roles)) {
        bool const is_copied = a.rerun == no_step;
        if (stays[a.buffer] || !(is_copied ? how.copies : how.reruns)) continue;
        if (!is_copied && rerun_cost[a.root] == no_size) continue;
        absences.push_back(a);
    }
    spaced = spaced_positions(steps.size(), absences);

    std::vector<step_id> last_touch(joined.buffers.size(), 0);
    for (step_id at = 0; at != steps.size(); ++at)
        for (touch t : p.touches(steps[at])) last_touch[joined.buffer_of[t.value]] = at;
    problem.pools = options.pools;
    for (std::size_t b = 0; b != joined.buffers.size(); ++b) {
        buffer const& its = joined.buffers[b];
        bool const is_there = its.is_planned();
        problem.buffers.push_back({is_there ? spaced.life(its, last_touch[b]) : live_range{},
                                   is_there ? its.size : 0, 1, is_there ? its.pool : 0});
    }
    std::vector<keyed> const leaving = leaving_touches(p, steps);
    auto const of_buffer = csr_rows::gathered(joined.buffers.size(), [&](auto add) {
        for (std::uint32_t i = 0; i != absences.size(); ++i) add(absences[i].buffer, i);
    });
    for (std::uint32_t i = 0; i != absences.size(); ++i) {
        absence const& a = absences[i];
        buffer const& its = joined.buffers[a.buffer];
        idle_stretch idle{a.buffer, {spaced.of_step[a.after] + 1, spaced.return_at[i]}, 0};
        if (a.rerun != no_step && leaves_early(p, joined, leaving, a)) --idle.when.first;
        if (a.rerun == no_step) idle.cost = checked_multiply(how.copy_cost, its.size);
        else idle.cost = list_rerun(p, alone, joined, of_buffer, i);
        if (a.rerun != no_step && rerun_cost[a.root] != 0) idle.cost = rerun_cost[a.root];
        times.stretches.push_back(idle);
    }
}

SUBLET_DECL bool advice_question::leaves_early(snapshot const& p, buffer_table const& joined,
                                               std::vector<keyed> const& leaving, absence const& a) const
{
    for (touch t : p.touches(steps[a.after]))
        if (joined.buffer_of[t.value] == a.buffer && t.kind != touch_kind::use_early) return false;
    for (std::size_t i = first_that(leaving.size(), [&](std::size_t k) { return leaving[k].key >= a.after; });
         i != leaving.size() && leaving[i].key == a.after; ++i)
        if (joined.buffer_of[leaving[i].who] == a.buffer) return false;
    return true;
}

SUBLET_DECL byte_count advice_question::list_rerun(snapshot const& p, buffer_table const& alone,
                                                   buffer_table const& joined, csr_rows const& of_buffer,
                                                   std::uint32_t i)
{
    absence const& a = absences[i];
    byte_count touched = 0;
    std::vector<buffer_id> beside;
    for (touch t : p.touches(steps[a.rerun])) {
        buffer_id const b = joined.buffer_of[t.value];
        buffer const& its = alone.buffers[alone.buffer_of[t.value]];
        if (its.size != no_size) touched = checked_add(touched, its.size);
        if (t.kind != touch_kind::def) {
            auto const others = of_buffer[b];
            for (std::size_t k = first_that(
                     others.size(), [&](std::size_t j) { return absences[others[j]].before > a.before; });
                 k != others.size() && absences[others[k]].after < a.before; ++k)
                times.needs.push_back({i, others[k]});
        } else if (b != a.buffer && its.size != 0) {
            times.loads.push_back({i, spaced.return_at[i], its.pool, its.size});
        }
    }
    for (std::uint32_t other : of_buffer[a.buffer])
        if (other != i && absences[other].before == a.before) times.needs.push_back({i, other});
    return touched;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL memory_advice advise_memory(snapshot const& p, plan_options const& options,
                                        advice_options const& how)
{
    memory_advice advice{.suggestions = {},
                         .pools = {},
                         .cost = 0,
                         .relieved = {},
                         .options = options,
                         .planned = plan_memory(p, options)};
    auto const& refuted = advice.planned.refuted;
    if (refuted && refuted->what != fault::over_capacity) return advice;

    detail::advice_question question(p, options, how);
    auto const apply = [&](std::vector<absence> const& chosen) {
        advice.relieved = apply_absences(p, question.steps, options, question.in_place, chosen);
        advice.options = advice.relieved.options(options);
        advice.planned = plan_memory(advice.relieved.program, advice.options);
    };
    if (!refuted) apply({});
    for (int round = 0; round == 0 || (refuted && round != 8); ++round) {
        memory_relief const relief = advise(question.problem, question.times);
        advice.pools.clear();
        for (pool_relief const& r : relief.pools) {
            step_id const at = question.spaced.position(r.least_position);
            advice.pools.push_back(
                {r.peak_before, r.peak_after, r.least, r.least == 0 ? no_step : question.steps[at]});
        }
        if (!refuted) break; // the program fits as it is
        advice.suggestions.clear();
        advice.cost = relief.cost;
        std::vector<absence> chosen;
        for (auto const& [i, saved] : relief.chosen) {
            absence const& a = question.absences[i];
            chosen.push_back(a);
            advice.suggestions.push_back({a.root, question.steps[a.after], question.steps[a.before],
                                          a.rerun == no_step ? no_step : question.steps[a.rerun],
                                          question.problem.buffers[a.buffer].size, saved,
                                          question.times.stretches[i].cost});
        }
        apply(chosen);
        if (!refuted || refuted->what != fault::over_capacity || !relief.is_enough) break;
        for (std::size_t pool = 0; pool != options.pools.size(); ++pool) {
            byte_count const capacity = options.pools[pool].capacity;
            byte_count const height =
                pool < advice.planned.plan.arena_bytes.size() ? advice.planned.plan.arena_bytes[pool] : 0;
            byte_count& asked = question.problem.pools[pool].capacity;
            if (height > capacity) asked -= smaller(asked, height - capacity);
        }
    }
    advice.pools.resize(advice.planned.plan.arena_bytes.size()); // some are those of unplanned values only
    return advice;
}

} // namespace sublet

#endif
