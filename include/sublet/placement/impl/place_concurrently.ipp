// SPDX-License-Identifier: BSL-1.0

/// Conflicts that are those of live ranges are placed by pack().

#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>

namespace sublet::detail {

SUBLET_DECL bool pack_intervals(table<buffer_id, placement_problem::buffer> const& given,
                                placement_conflicts const& conflicts, byte_count bound, std::uint64_t visits,
                                packing& best, std::uint32_t& tried)
{
    if (!conflicts.are_intervals()) return false;
    if (best.height <= bound) return true;
    table<buffer_id, placement_problem::buffer> buffers(given);
    byte_count room = byte_count{1} << 61; // for all buffers one above the other
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        placement_problem::buffer& it = buffers[b];
        for (byte_count bytes : {it.size, it.alignment - 1, it.pinned == no_offset ? 0 : it.pinned}) {
            if (bytes > room) return false;
            room -= bytes;
        }
        it.pool = 0;
        it.life = conflicts.ranges[b].front();
    }
    deterministic_control control;
    placement const packed =
        pack({std::move(buffers)},
             {.visits = visits / 5, .improve_visits = visits / 5, .nodes = visits / 2000}, control);
    tried += packed.pools[0].packings;
    if (packed.pools[0].height < best.height) best = {packed.offset, packed.pools[0].height};
    return true;
}

} // namespace sublet::detail
