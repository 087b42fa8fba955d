// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_CALL_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_CALL_IPP

#include <sublet/execution/stream/call.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL operand_places::operand_places(run_tape const& tape)
{
    first_.reserve(tape.step_at.size() + 1);
    first_.push_back(0);
    for (step_id at = 0; at != tape.positions(); ++at)
        first_.push_back(first_.back() + tape.uses[at].size() + tape.defs[at].size() +
                         tape.scratch[at].size());
}

} // namespace sublet::detail

#endif
