// SPDX-License-Identifier: BSL-1.0

/// The options for one batch: sizes and offsets become callables that evaluate the formulas, all else is
/// copied. The binding at the end names each member of plan_options, so that a new one is not forgotten here.

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL plan_options symbolic_options::at(byte_count batch) const
{
    SUBLET_EXPECTS(batch >= 1 && batch <= max_batch,
                   "sublet: a plan for batches from 1 to % is asked for batch %", max_batch, batch);
    plan_options made{.bytes = [sizes = bytes, batch](value_id v) { return sizes[v].at(batch); },
                      .alignment = alignment,
                      .role = role,
                      .alias_of = alias_of,
                      .view_offset = [begin = view_offset, batch](value_id v) { return begin[v].at(batch); },
                      .pool = pool,
                      .eligible = eligible,
                      .pools = pools,
                      .order = order,
                      .in_place = in_place,
                      .check = check,
                      .effort = effort};
    // A member that is not named here does not compile.
    [[maybe_unused]] auto const& [of_bytes, of_alignment, of_role, of_view, of_begin, of_pool, no_pins,
                                  of_eligible, of_pools, no_choices, of_order, of_pairs, of_check,
                                  of_effort] = made;
    return made;
}

} // namespace sublet
