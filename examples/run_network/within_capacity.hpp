// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_WITHIN_CAPACITY_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_WITHIN_CAPACITY_HPP

/// The steps of a network with copies and with steps that run again, so that their plan fits a capacity.
///
///     Conv    x ──► y                Conv    x ──► y
///     Relu    y ──► z                Relu    y ──► z
///                                    copy    y ──► home         out of the arena
///     Conv    z ──► a        ──►     Conv    z ──► a
///                                    copy    home ──► y'        and back
///                                    Relu    y' ──► z'          again
///     Concat  a, y, z ──► b          Concat  a, y', z' ──► b
///
/// In the advice each step waits for the one before. Here it waits for its operands only, so that steps may
/// run concurrently as far as the plan allows.

#include "arguments.hpp"
#include "host_program.hpp"
#include "host_steps.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/planning/spills.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace run_network {

struct steps_within {
    host_program what;
    sublet::memory_plan plan; ///< in the order of the steps
    sublet::byte_count capacity = 0, arena_bytes = 0;
    std::size_t steps_again = 0;
    sublet::byte_count copied_bytes = 0; ///< out and back, each direction counted

    sublet::byte_count home_bytes() const
    {
        sublet::byte_count all = 0;
        for (spill_home const& home : what.homes) all += home.size;
        return all;
    }
    /// For steps that run as soon as they may: few wait, so that the bytes are those in the order of the
    /// steps. Converts to false if these exceed the capacity by alignment and fragmentation.
    sublet::planned_with_handoffs with_handoffs() const
    {
        sublet::table<sublet::step_id, sublet::step_time> in_order;
        for (std::size_t s = 0; s != what.program.steps(); ++s) in_order.push_back({s, 0});
        return sublet::plan_with_handoffs(what.program, what.options,
                                          {.workers = 1, .schedule = std::move(in_order)});
    }
};

/// Throws: input_error if no plan is found.
inline steps_within fit_to(sublet::byte_count capacity, sublet::advice_options const& how,
                           host_steps const& steps, std::string const& model)
{
    sublet::plan_options options = steps.options();
    options.pools = {{.capacity = capacity}};
    sublet::memory_advice advice = sublet::advise_memory(steps.program(), options, how);
    if (!advice) {
        sublet::memory_advice::pool const pool =
            advice.pools.empty() ? sublet::memory_advice::pool{} : advice.pools[0];
        throw input_error(
            model + ": no plan was found within a capacity of " + std::to_string(capacity) +
            " bytes; each needs at least " + std::to_string(pool.least) +
            (pool.least_step == sublet::no_step ? "" : ", for " + steps.label(pool.least_step)));
    }
    sublet::snapshot const& chain = advice.spilled.program;
    steps_within found{{&steps, chain, advice.options, {}}, advice.plan, capacity, advice.bytes()};
    found.what.program =
        sublet::sequence(chain.steps(), chain.values(), [&](auto s, sublet::effect_sink& sink) {
            auto const step = static_cast<sublet::step_id>(s);
            for (sublet::touch t : chain.touches(step)) sink.add(t.kind, t.value);
            for (sublet::overwrite o : chain.overwrites(step)) sink.may_overwrite(o.in, o.out);
            sink.only_views(chain.only_views(step));
        });
    auto const bytes = advice.options.bytes.tabulate(chain.values(), "bytes");
    for (sublet::value_id home : advice.spilled.homes) found.what.homes.emplace_back(home, bytes[home]);
    for (sublet::value_id v : outputs_of(steps.all->net))
        found.what.outputs.push_back(advice.spilled.final_version[v]);
    for (sublet::step_id s = 0; s != chain.steps(); ++s) {
        auto const kind = advice.spilled.steps[s].kind;
        found.steps_again += kind == sublet::spilled_program::kind::rematerialize;
        if (is_copy(kind)) found.copied_bytes += bytes[chain.touches(s)[0].value];
    }
    found.what.origins = std::move(advice.spilled.steps);
    return found;
}

} // namespace run_network

#endif
