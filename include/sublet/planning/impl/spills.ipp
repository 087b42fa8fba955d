// SPDX-License-Identifier: BSL-1.0

/// Options of a spilled program: each new value has the facts of its origin, but homes are neither pinned nor
/// planned.

#include <sublet/core/internal/facts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/spills.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

SUBLET_DECL plan_options spilled_program::options(plan_options const& asked) const
{
    std::size_t const before = final_version.size();
    plan_options result = detail::options_of_copies(asked, before, {origin, role, alias_of, view_offset});
    auto pinned = result.pinned.tabulate(origin.size(), "pinned");
    auto eligible = result.eligible.tabulate(origin.size(), "eligible");
    for (value_id h : homes) {
        pinned[h] = no_offset;
        eligible[h] = false;
    }
    result.pinned = std::move(pinned);
    result.eligible = std::move(eligible);
    result.order.clear(); // steps are listed as they run
    return result;
}

} // namespace sublet
