// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_PRESSURE_HPP
#define SUBLET_ANALYSIS_PRESSURE_HPP

/// How many bytes are alive at each position, and where they are most.
///
///     position      0    1    2    3
///     a: 64       [=========)
///     b: 32            [=========)
///     c: 16                 [=========)
///     live          64   96   48   16        peak 96, at position 1
///
/// The peak is what no plan in this order goes below, wherever it puts things; the position proves it.

#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

struct memory_pressure {
    std::vector<byte_count> live_bytes; ///< by position
    byte_count peak = 0;
    step_id peak_position = 0; ///< the first of those where `peak` bytes are alive
};

/// The live bytes of buffers with these lives and sizes.
///
/// Requires:   no live range goes beyond `positions`.
/// Complexity: O(buffers + positions) time, O(positions) memory; each callable is called once a buffer at
///             most.
/// Throws:     precondition_error if the requirement is broken, a size is negative, or 2^64 - 1 bytes or more
///             are alive at once.
template <live_range_function Lives, size_function Sizes>
[[nodiscard]] memory_pressure pressure(std::size_t buffers, Lives lives, Sizes sizes, step_id positions)
{
    // What is born at p is alive at p, what dies at p was alive before it: no sum exceeds a live total.
    std::vector<byte_count> born(positions, 0), dies(std::size_t{positions} + 1, 0);
    for (std::size_t i = 0; i != buffers; ++i) {
        auto const b = static_cast<buffer_id>(i);
        live_range const life = detail::ask(lives, b);
        if (is_empty(life)) continue;
        SUBLET_EXPECTS(life.last <= positions, "sublet: a live range goes beyond the last position");
        byte_count const size = to_byte_count(detail::ask(sizes, b));
        born[life.first] = checked_add(born[life.first], size);
        dies[life.last] = checked_add(dies[life.last], size);
    }
    memory_pressure result;
    result.live_bytes.reserve(positions);
    byte_count live = 0;
    for (step_id p = 0; p != positions; ++p) {
        live = checked_add(live - dies[p], born[p]);
        result.live_bytes.push_back(live);
        if (live > result.peak) {
            result.peak = live;
            result.peak_position = p;
        }
    }
    return result;
}

} // namespace sublet

#endif
