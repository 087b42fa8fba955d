// SPDX-License-Identifier: BSL-1.0

/// growing_arena: growing_blocks with pages of the host.

#include <sublet/execution/growing_arena.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL growing_arena::growing_arena(symbolic_plan const& plan)
    : blocks_(plan, [](byte_count most, byte_count alignment) { return detail::host_pages(most, alignment); })
{
}

} // namespace sublet
