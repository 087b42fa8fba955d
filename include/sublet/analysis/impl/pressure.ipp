// SPDX-License-Identifier: BSL-1.0

/// A running sum: what is freed at a position leaves before what is allocated there comes.

#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL memory_pressure pressure_of(table<position_id, byte_count> const& allocated,
                                        table<position_id, byte_count> const& freed)
{
    memory_pressure result;
    result.live_bytes.reserve(allocated.size());
    byte_count live = 0;
    for (position_id p = 0; p != allocated.size(); ++p) {
        live = checked_add(live - freed[p], allocated[p]);
        result.live_bytes.push_back(live);
        if (live > result.peak) {
            result.peak = live;
            result.peak_position = p;
        }
    }
    return result;
}

} // namespace sublet::detail
