// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_AFFINE_BYTES_HPP
#define SUBLET_AFFINE_BYTES_HPP

/// Numbers of bytes that grow with a batch: fixed + per_batch * N, for every N from 1 to a largest one.
///
///     bytes |               . g           f: 3000 + 100 N
///           |           . `               g:        800 N
///           |  _ _ . - ` - - - f          f is never above g? At N = 1 it is, so: no
///           |. `
///           +-1-----------most--> N       two that are in order at both ends are in order between them
///
/// The difference of two such numbers is on a straight line, and a straight line that is not below zero at
/// both ends of a range is not below zero anywhere in it. So ordinary integers, two for each number, decide
/// what holds for every batch. Neither f nor g above need be the larger: then neither is above the other
/// throughout, and least_above() is the line over both ends.

#include <sublet/contract.hpp>
#include <sublet/units.hpp>

namespace sublet {

struct affine_bytes {
    byte_count fixed = 0;     ///< `no_size`: not known, whatever the batch
    byte_count per_batch = 0; ///< bytes more for each further one of the batch

    [[nodiscard]] constexpr bool is_known() const { return fixed != no_size; }
    [[nodiscard]] constexpr bool is_scaled() const { return is_known() && per_batch != 0; }

    /// The bytes for one batch; `no_size` if they are not known.
    /// Throws: precondition_error if they reach 2^64 - 1.
    [[nodiscard]] constexpr byte_count at(byte_count batch) const
    {
        return is_known() ? checked_add(fixed, checked_multiply(per_batch, batch)) : no_size;
    }
    friend constexpr bool operator==(affine_bytes, affine_bytes) = default;
};

/// The size of a value of which nothing is known, or a lower bound only: it gets no storage.
inline constexpr affine_bytes unknown_bytes{no_size, 0};

/// Requires: both are known, here and below.
/// Throws:   precondition_error if a part reaches 2^64 - 1.
[[nodiscard]] constexpr affine_bytes checked_add(affine_bytes a, affine_bytes b)
{
    return {checked_add(a.fixed, b.fixed), checked_add(a.per_batch, b.per_batch)};
}

/// Whether a <= b for every batch from 1 to `most`.
/// Throws: precondition_error if one of them reaches 2^64 - 1 for `most`.
[[nodiscard]] constexpr bool never_above(affine_bytes a, affine_bytes b, byte_count most)
{
    return a.at(1) <= b.at(1) && a.at(most) <= b.at(most);
}

/// The lowest number with integral parts that is at least `low` for a batch of 1 and `high` for `most`. Every
/// affine one that is so, is above it or below by fewer than `most` bytes: its slope is rounded up.
///
/// Requires: `low` and `high` are the larger ones, at each end, of numbers that are affine. Their slopes are
///           at most `low`, and it takes no more than the largest of them to rise to `high`, hence the fixed
///           part that is left is not negative.
/// Throws:   precondition_error if the result reaches 2^64 - 1 for `most`.
[[nodiscard]] constexpr affine_bytes line_over(byte_count low, byte_count high, byte_count most)
{
    if (most == 1) return {low, 0};
    byte_count const rise = high - low, slope = rise / (most - 1) + (rise % (most - 1) != 0);
    SUBLET_EXPECTS(sum_fits(low, checked_multiply(slope, most - 1)),
                   "sublet: a sum of sizes exceeds 64 bits");
    return {low - slope, slope};
}

/// The lowest number that neither is above: the larger of the two if one of them is; otherwise the line over
/// the larger of each end.
[[nodiscard]] constexpr affine_bytes least_above(affine_bytes a, affine_bytes b, byte_count most)
{
    if (never_above(a, b, most)) return b;
    if (never_above(b, a, most)) return a;
    return line_over(larger(a.at(1), b.at(1)), larger(a.at(most), b.at(most)), most);
}

/// What every fixed + per_batch * N is a multiple of, with the alignment, if `fixed` is.
/// Requires: alignment >= 1.
[[nodiscard]] constexpr byte_count common_divisor(byte_count per_batch, byte_count alignment)
{
    for (byte_count rest = per_batch % alignment; rest != 0;) {
        byte_count const next = alignment % rest;
        alignment = rest;
        rest = next;
    }
    return alignment;
}

/// No fewer bytes than align_up(a.at(N), alignment) lies above a.at(N) for any N; none, if both parts are
/// multiples of the alignment. What is left over of a.at(N) is what is left over of its fixed part, and
/// multiples of the common divisor; the least that is not 0 has the farthest to go.
///
/// Requires: alignment >= 1.
[[nodiscard]] constexpr byte_count most_rounding(affine_bytes a, byte_count alignment)
{
    byte_count const divisor = common_divisor(a.per_batch, alignment), least = a.fixed % divisor;
    return alignment - (least == 0 ? divisor : least);
}

} // namespace sublet

#endif
