// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_CONFLICTS_IPP
#define SUBLET_PLACEMENT_IMPL_CONFLICTS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/conflicts.hpp>

namespace sublet {

SUBLET_DECL bool placement_conflicts::begins_in(buffer_id a, buffer_id b) const
{
    for (step_id at : begins(a))
        for (live_range r : ranges[b])
            if (contains(r, at)) return true;
    return false;
}

} // namespace sublet

#endif
