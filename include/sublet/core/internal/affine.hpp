// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_AFFINE_HPP
#define SUBLET_CORE_INTERNAL_AFFINE_HPP

/// Compares and bounds byte counts that are affine in the batch size. Of two lines, one is below the other
/// from 1 to the largest batch if it is at both ends; so each test is two comparisons.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/core/symbolic_plan.hpp>

namespace sublet::detail {

/// Whether a <= b for every batch from 1 to `most`.
/// Throws: precondition_error if one of them reaches 2^64 - 1 for `most`.
[[nodiscard]] constexpr bool never_above(affine_bytes a, affine_bytes b, byte_count most)
{
    return a.at(1) <= b.at(1) && a.at(most) <= b.at(most);
}

/// The lowest affine number with integral parts that is at least `low` at batch 1 and `high` at `most`. Its
/// slope is rounded up, so it exceeds the real line by fewer than `most` bytes.
///
/// Requires: `low` and `high` are the maxima, at each end, of affine numbers with slopes of at most `low`;
///           hence the resulting fixed part is not negative.
/// Throws:   precondition_error if the result reaches 2^64 - 1 at `most`.
[[nodiscard]] constexpr affine_bytes line_over(byte_count low, byte_count high, byte_count most)
{
    if (most == 1) return {low, 0};
    byte_count const rise = high - low, slope = rise / (most - 1) + (rise % (most - 1) != 0);
    SUBLET_EXPECTS(sum_fits(low, checked_multiply(slope, most - 1)),
                   "sublet: a sum of sizes exceeds 64 bits");
    return {low - slope, slope};
}

/// The least upper bound: the one larger throughout, or else the line over the maxima at both ends.
[[nodiscard]] constexpr affine_bytes least_above(affine_bytes a, affine_bytes b, byte_count most)
{
    if (never_above(a, b, most)) return b;
    if (never_above(b, a, most)) return a;
    return line_over(larger(a.at(1), b.at(1)), larger(a.at(most), b.at(most)), most);
}

} // namespace sublet::detail

#endif
