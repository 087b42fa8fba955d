// SPDX-License-Identifier: BSL-1.0

/// advise_memory(): plans; if the plan does not fit, chooses spills, writes them into the program and plans
/// that, up to eight times, with less room in each pool that is still too high.

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>

#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/planning/detail/spill_problem.hpp>

#include <utility>
#include <vector>

namespace sublet {

SUBLET_DECL memory_advice advise_memory(snapshot const& p, plan_options const& given,
                                        advice_options const& wanted)
{
    detail::expect_one_program(given, "advise_memory");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::asked_options const asked_advice(wanted, p.values(), &advice_options::remat_cost,
                                             &advice_options::movable);
    advice_options const& how = *asked_advice;
    memory_advice advice{plan_memory(p, options), {}, {}, 0, {}, options};
    if (!advice && advice.error().what != fault::over_capacity) return advice;

    detail::spill_problem spill(p, options, how);
    auto const apply = [&](std::vector<detail::spill_candidate> const& chosen) {
        advice.spilled = detail::insert_spills(p, spill.steps, options, spill.in_place, chosen);
        advice.options = advice.spilled.options(options);
        static_cast<planned_memory&>(advice) = plan_memory(advice.spilled.program, advice.options);
    };
    if (advice) apply({});
    for (int round = 0; round == 0 || (!advice && round != 8); ++round) {
        detail::spill_set const spills = detail::advise(spill.problem, spill.times);
        advice.pools.clear();
        spill.least.resize(spills.pools.size());
        for (pool_id pool = 0; pool != spills.pools.size(); ++pool) {
            auto const [bytes, at] = spill.least[pool];
            bool const has_step = bytes != 0 && at < spill.steps.size();
            advice.pools.push_back({spills.pools[pool].peak_before, spills.pools[pool].peak_after, bytes,
                                    has_step ? spill.steps[at] : no_step});
        }
        if (advice) break; // the program fits without spills
        advice.suggestions.clear();
        advice.cost = spills.cost;
        std::vector<detail::spill_candidate> chosen;
        for (auto const& [i, saved] : spills.chosen) {
            detail::spill_candidate const& a = spill.candidates[i];
            chosen.push_back(a);
            advice.suggestions.push_back({a.root, spill.steps[a.after], spill.steps[a.before],
                                          a.remat_at == no_position ? no_step : spill.steps[a.remat_at],
                                          spill.problem.buffers[a.buffer].size, saved,
                                          spill.times.intervals[i].cost});
        }
        apply(chosen);
        if (advice || advice.error().what != fault::over_capacity || !spills.is_enough) break;
        for (pool_id pool = 0; pool != options.pools.size(); ++pool) {
            byte_count const capacity = options.pools[pool].capacity;
            byte_count const height =
                pool < advice.plan.arena_bytes.size() ? advice.plan.arena_bytes[pool] : 0;
            byte_count& room = spill.problem.pools[pool].capacity;
            if (height > capacity) room -= detail::smaller(room, height - capacity);
        }
    }
    advice.pools.resize(advice.plan.arena_bytes.size()); // some pools have unplanned values only
    return advice;
}

} // namespace sublet
