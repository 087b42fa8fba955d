// SPDX-License-Identifier: BSL-1.0

/// advise_memory(): plans; if the plan does not fit, finds a run within the capacities, writes it as a program
/// and plans that, up to eight times, with less room in each pool that is still too high.

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/planning/detail/least_load.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>
#include <sublet/sharing/in_place.hpp>

#include <utility>
#include <vector>

namespace sublet {

namespace detail {

/// The most bytes live at once in each pool, with in-place pairs.
inline table<pool_id, byte_count> live_peaks(snapshot const& p, plan_options const& options, std::size_t pools)
{
    live_ranges const lives = lifetimes(p, lifetimes_of(options));
    buffer_table table = gather_buffers(lives, options);
    if (options.in_place) table = take_in_place(p, steps_in_order(p, options.order), std::move(table));
    sublet::table<pool_id, byte_count> peaks;
    for (pool_id pool = 0; pool != pools; ++pool)
        peaks.push_back(pressure(
                            table.buffers.size(), [&](buffer_id b) { return table.buffers[b].life; },
                            [&](buffer_id b) {
                                buffer const& its = table.buffers[b];
                                return its.is_planned() && its.pool == pool ? its.size : byte_count{0};
                            },
                            lives.positions)
                            .peak);
    return peaks;
}

inline std::vector<memory_advice::suggestion> suggestions_of(spill_model const& m, spill_run const& run)
{
    std::vector<memory_advice::suggestion> suggestions;
    table<buffer_id, step_id> left_after(m.of.size(), no_step); // its last touch: by the step, or before the next
    table<buffer_id, byte_count> copying(m.of.size(), 0);       // out, if it was not yet
    auto const touch = [&](std::span<buffer_id const> buffers, step_id step) {
        for (buffer_id b : buffers) left_after[b] = step;
    };
    for (spill_event const& e : run.events) {
        bool const is_original = e.kind == spilled_program::kind::original;
        step_id const last = is_original ? m.steps[e.at] : e.before == 0 ? no_step : m.steps[e.before - 1];
        if (e.kind == spilled_program::kind::copied_out)
            copying[e.buffer] = m.of[e.buffer].copy_cost - m.of[e.buffer].copy_cost / 2;
        if (e.kind == spilled_program::kind::copied_back || e.kind == spilled_program::kind::rematerialize) {
            bool const is_copied = e.kind == spilled_program::kind::copied_back;
            byte_count const cost =
                is_copied ? m.of[e.buffer].copy_cost / 2 + std::exchange(copying[e.buffer], 0) : m.cost[e.at];
            suggestions.push_back({m.buffers.buffers[e.buffer].root, left_after[e.buffer],
                                   e.before == m.end() ? no_step : m.steps[e.before],
                                   is_copied ? no_step : m.steps[e.at], m.of[e.buffer].size, cost});
            left_after[e.buffer] = last;
        }
        if (!is_original && e.kind != spilled_program::kind::rematerialize) continue;
        touch(m.operands[e.at], last);
        if (is_original) touch(m.results[e.at], last);
    }
    return suggestions;
}

} // namespace detail

SUBLET_DECL memory_advice advise_memory(snapshot const& p, plan_options const& given,
                                        advice_options const& wanted)
{
    detail::expect_one_program(given, "advise_memory");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::asked_options asked_advice(wanted, p.values(), &advice_options::movable);
    asked_advice.ask(&advice_options::step_cost, p.steps());
    advice_options const& how = *asked_advice;
    memory_advice advice{plan_memory(p, options), {}, {}, 0, {}, options};
    if (!advice && advice.error().what != fault::over_capacity) return advice;

    detail::spill_model const model(p, options, how);
    auto const apply = [&](detail::spill_run const& run) {
        advice.suggestions = detail::suggestions_of(model, run);
        advice.cost = run.cost;
        advice.spilled = detail::insert_spills(p, model, options, run);
        advice.options = advice.spilled.options(options);
        static_cast<planned_memory&>(advice) = plan_memory(advice.spilled.program, advice.options);
    };
    auto const least = detail::least_loads(p, model.steps, model.buffers,
                                           detail::staying_buffers(p, model.buffers, how));
    auto const before = detail::live_peaks(p, options, model.pools);
    table<pool_id, byte_count> limits;
    for (pool_id pool = 0; pool != model.pools; ++pool) {
        byte_count const asked_for = pool < options.pools.size() ? options.pools[pool].capacity : no_limit;
        limits.push_back(detail::larger(asked_for, least[pool].bytes));
    }
    bool const fits = bool(advice);
    if (fits) apply(detail::whole_run(model));
    for (int round = 0; !advice && round != 8; ++round) {
        detail::spill_run const run = detail::find_spills(model, limits, options.effort);
        bool const is_found = !run.events.empty();
        apply(is_found ? run : detail::whole_run(model));
        if (!is_found || advice || advice.error().what != fault::over_capacity || run.excess != 0) break;
        for (pool_id pool = 0; pool != model.pools; ++pool) {
            byte_count const height =
                pool < advice.plan.arena_bytes.size() ? advice.plan.arena_bytes[pool] : 0;
            byte_count const capacity = pool < options.pools.size() ? options.pools[pool].capacity : no_limit;
            if (height > capacity) limits[pool] -= detail::smaller(limits[pool], height - capacity);
        }
    }
    auto const after = detail::live_peaks(advice.spilled.program, advice.options, model.pools);
    for (pool_id pool = 0; pool != model.pools; ++pool) {
        auto const [bytes, at] = least[pool];
        bool const has_step = bytes != 0 && at < model.end();
        advice.pools.push_back({before[pool], after[pool], bytes, has_step ? model.steps[at] : no_step});
    }
    advice.pools.resize(advice.plan.arena_bytes.size()); // some pools have unplanned values only
    return advice;
}

} // namespace sublet
