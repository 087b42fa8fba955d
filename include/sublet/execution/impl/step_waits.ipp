// SPDX-License-Identifier: BSL-1.0
/// step_waits: a scan of the list. How the waits are found: wait_finder.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>

#include <sublet/execution/step_waits.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL std::size_t step_waits::count(step_waits::kind why) const
{
    std::size_t found = 0;
    for (step_waits::wait const& one : list) found += one.why == why;
    return found;
}

} // namespace sublet
