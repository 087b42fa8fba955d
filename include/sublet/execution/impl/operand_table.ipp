// SPDX-License-Identifier: BSL-1.0

/// operand_table: a running sum of the operands of each step.

#include <sublet/execution/detail/operand_table.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL operand_table::operand_table(lowered_program const& lowered)
{
    first_.reserve(lowered.step_at.size() + 1);
    first_.push_back(0);
    for (position_id at = 0; at != lowered.positions(); ++at)
        first_.push_back(first_.back() + lowered.uses[at].size() + lowered.defs[at].size() +
                         lowered.scratch[at].size());
}

} // namespace sublet::detail
