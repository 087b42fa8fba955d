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
#include <sublet/planning/detail/find_spills.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/planning/detail/least_load.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>
#include <sublet/sharing/in_place.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
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
                            larger(lives.positions, std::uint32_t{1})) // inputs live without a step
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

/// What the advice within any limits has in common.
class memory_adviser {
public:
    memory_adviser(snapshot const& p, plan_options const& options, advice_options const& how)
        : p_(p), options_(options), model_(p, options, how), before_(live_peaks(p, options, model_.pools)),
          least_(least_loads(p, model_.steps, model_.buffers, staying_buffers(p, model_.buffers, how)))
    {
    }

    /// `whole` is the plan of the program within these limits.
    memory_advice within(planned_memory whole, table<pool_id, pool_limits> const& pools) const
    {
        plan_options options = options_;
        options.pools = pools;
        memory_advice advice{std::move(whole), {}, {}, 0, {}, options};
        if (advice) apply(whole_run(model_), options, advice);
        auto const capacity_of = [&](pool_id pool) {
            return pool < pools.size() ? pools[pool].capacity : no_limit;
        };
        table<pool_id, byte_count> limits;
        for (pool_id pool = 0; pool != model_.pools; ++pool)
            limits.push_back(larger(capacity_of(pool), least_[pool].bytes));
        std::uint64_t const work = options.effort.of(20'000'000);
        for (int round = 0; !advice && round != 8; ++round) {
            spill_run const run = find_spills(model_, limits, round == 0 ? work : work / 8);
            bool const is_found = !run.events.empty();
            apply(is_found ? run : whole_run(model_), options, advice);
            if (!is_found || advice || advice.error().what != fault::over_capacity || run.excess != 0) break;
            for (pool_id pool = 0; pool != model_.pools; ++pool) {
                byte_count const height =
                    pool < advice.plan.arena_bytes.size() ? advice.plan.arena_bytes[pool] : 0;
                if (height > capacity_of(pool))
                    limits[pool] -= smaller(limits[pool], height - capacity_of(pool));
            }
        }
        auto const after = live_peaks(advice.spilled.program, advice.options, model_.pools);
        for (pool_id pool = 0; pool != model_.pools; ++pool) {
            auto const [bytes, at] = least_[pool];
            bool const has_step = bytes != 0 && at < model_.end();
            advice.pools.push_back(
                {before_[pool], after[pool], bytes, has_step ? model_.steps[at] : no_step});
        }
        advice.pools.resize(advice.plan.arena_bytes.size()); // some pools have unplanned values only
        return advice;
    }

private:
    void apply(spill_run const& run, plan_options const& options, memory_advice& advice) const
    {
        advice.suggestions = suggestions_of(model_, run);
        advice.cost = run.cost;
        advice.spilled = insert_spills(p_, model_, options, run);
        advice.options = advice.spilled.options(options);
        static_cast<planned_memory&>(advice) = plan_memory(advice.spilled.program, advice.options);
    }

    snapshot const& p_;
    plan_options const& options_;
    spill_model model_;
    table<pool_id, byte_count> before_;
    table<pool_id, lowest_load> least_;
};

/// The advice for each of the limits, for each of which `pools` has the capacities.
inline std::vector<memory_advice> advice_within(snapshot const& p, plan_options const& given,
                                                advice_options const& wanted,
                                                std::vector<table<pool_id, pool_limits>> const& limits,
                                                char const* call)
{
    expect_one_program(given, call);
    auto const asked = with_said_views(p, tabulated_options(given, p.values()));
    asked_options asked_advice(wanted, p.values(), &advice_options::movable);
    asked_advice.ask(&advice_options::step_cost, p.steps());
    std::vector<memory_adviser> adviser; // one, where some limit is too low
    std::vector<memory_advice> result;
    for (table<pool_id, pool_limits> const& pools : limits) {
        plan_options options = *asked;
        options.pools = pools;
        planned_memory whole = plan_memory(p, options);
        if (!whole && whole.error().what != fault::over_capacity) {
            result.push_back({std::move(whole), {}, {}, 0, {}, options});
            continue;
        }
        if (adviser.empty()) adviser.emplace_back(p, *asked, *asked_advice);
        result.push_back(adviser.front().within(std::move(whole), pools));
    }
    return result;
}

} // namespace detail

SUBLET_DECL memory_advice advise_memory(snapshot const& p, plan_options const& options,
                                        advice_options const& how)
{
    return std::move(detail::advice_within(p, options, how, {options.pools}, "advise_memory").front());
}

SUBLET_DECL std::vector<memory_advice> advise_limits(snapshot const& p, plan_options const& options,
                                                     std::vector<byte_count> const& limits,
                                                     advice_options const& how)
{
    std::vector<table<pool_id, pool_limits>> pools(limits.size(), options.pools);
    for (std::size_t i = 0; i != limits.size(); ++i) {
        pools[i].resize(detail::larger(pools[i].size(), std::size_t{1}));
        pools[i].front().capacity = limits[i];
    }
    std::vector<memory_advice> result = detail::advice_within(p, options, how, pools, "advise_limits");
    // A search may find less cost within a lower limit: what is within that is within a higher one, too.
    for (memory_advice& advice : result)
        for (std::size_t i = 0; i != result.size(); ++i) {
            bool const is_within = result[i] && result[i].bytes() <= advice.options.pools.front().capacity;
            if (!is_within || (advice && advice.cost <= result[i].cost)) continue;
            table<pool_id, pool_limits> own = advice.options.pools;
            advice = result[i];
            advice.options.pools = std::move(own);
        }
    return result;
}

} // namespace sublet
