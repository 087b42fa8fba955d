// SPDX-License-Identifier: BSL-1.0

/// The counterexample of a cycle: the last step, which waits for the first, and all of them in order.

#include <sublet/analysis/internal/topological_points.hpp>
#include <sublet/impl/config.hpp>

#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL counterexample cycle_of(std::vector<step_id> steps)
{
    step_id const last = steps.back();
    return {fault::cycle, counterexample::waiting{.step = last}, std::move(steps)};
}

} // namespace sublet::detail
