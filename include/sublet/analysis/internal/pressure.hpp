// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_PRESSURE_HPP
#define SUBLET_ANALYSIS_INTERNAL_PRESSURE_HPP

/// The bytes that are live at each position, and their peak, a lower bound on every plan in this order: from
/// what is allocated and freed at each.
///
///     position      0    1    2    3
///     a: 64       [=========)
///     b: 32            [=========)
///     c: 16                 [=========)
///     live          64   96   48   16        peak 96, at position 1

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

struct memory_pressure {
    table<position_id, byte_count> live_bytes; ///< at each position
    byte_count peak = 0;
    position_id peak_position = 0; ///< the first position with `peak` live bytes
};

/// Of the bytes that are allocated and freed at each position.
[[nodiscard]] memory_pressure pressure_of(table<position_id, byte_count> const& allocated,
                                          table<position_id, byte_count> const& freed);

/// Requires:   no live range ends after `positions`.
/// Complexity: O(buffers + positions) time, O(positions) memory; each callable at most once per buffer.
/// Throws:     precondition_error if that is broken, a size is negative, or live bytes reach 2^64 - 1.
template <live_range_function Lives, size_function Sizes>
[[nodiscard]] memory_pressure pressure(std::size_t buffers, Lives lives, Sizes sizes, std::uint32_t positions)
{
    // Bytes allocated at p are live at p, bytes freed at p were live before p: no sum exceeds a live total.
    table<position_id, byte_count> allocated(positions, 0), freed(std::size_t{positions} + 1, 0);
    for (buffer_id b = 0; b != buffers; ++b) {
        live_range const life = call_user(lives, +b);
        if (is_empty(life)) continue;
        SUBLET_EXPECTS(life.last <= positions,
                       "sublet: the live range of buffer % ends at position %, beyond the last position %", b,
                       life.last, positions);
        byte_count const size = to_byte_count(call_user(sizes, +b));
        allocated[life.first] = checked_add(allocated[life.first], size);
        freed[life.last] = checked_add(freed[life.last], size);
    }
    return pressure_of(allocated, freed);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/pressure.ipp>
#endif

#endif
