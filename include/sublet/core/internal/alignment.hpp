// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ALIGNMENT_HPP
#define SUBLET_CORE_INTERNAL_ALIGNMENT_HPP

/// The alignment that satisfies two: their least common multiple, by Euclid's algorithm.

#include <sublet/core/units.hpp>

namespace sublet::detail {

/// Requires: a >= 1 and b >= 1.
/// Throws:   precondition_error if the least common multiple exceeds 64 bits.
[[nodiscard]] constexpr byte_count combine_alignment(byte_count a, byte_count b)
{
    if (a == b && a != no_size) return a;
    byte_count x = a, y = b;
    while (y != 0) {
        byte_count const rest = x % y;
        x = y;
        y = rest;
    }
    return checked_multiply(a / x, b);
}

} // namespace sublet::detail

#endif
