// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_PLANNED_MEMORY_IPP
#define SUBLET_IMPL_PLANNED_MEMORY_IPP

#include <sublet/impl/config.hpp>
#include <sublet/planned_memory.hpp>

namespace sublet {

SUBLET_DECL std::vector<value_id> planned_memory::values() const
{
    std::vector<value_id> placed;
    for (std::size_t v = 0; v != plan.buffer_of.size(); ++v)
        if (plan.offset_of(static_cast<value_id>(v)) != no_offset) placed.push_back(static_cast<value_id>(v));
    return placed;
}

} // namespace sublet

#endif
