// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_RESIDUE_CLASS_HPP
#define SUBLET_PLACEMENT_DETAIL_RESIDUE_CLASS_HPP

/// Offsets that are congruent to a phase modulo an alignment, and the intersection of two such classes.
///
///     multiples of 4, less 1          3       7      11      15      19      23
///     multiples of 6, less 1              5          11              17      23
///     both                                           11                      23     11 modulo 12
///
/// A buffer that lies 1 above the origin of a shape and is aligned to 4 allows the shape the origins 3, 7,
/// 11 and so on. The intersection of two classes is empty or again a class; if several are pairwise
/// compatible, all are (Chinese remainder theorem).

#include <sublet/core/units.hpp>

#include <cstdint>

namespace sublet::detail {

struct residue_class {
    byte_count alignment = 1;
    byte_count phase = 0; ///< below the alignment
    friend constexpr bool operator==(residue_class const&, residue_class const&) = default;
};

/// Requires: alignment >= 1 (shapes_of() checks all).
[[nodiscard]] constexpr residue_class aligned_origins(byte_count distance, byte_count alignment) noexcept
{
    byte_count const past = distance % alignment; // NOLINT(clang-analyzer-core.DivideZero): it is at least 1
    return {alignment, past == 0 ? 0 : alignment - past};
}

using sublet::align_up; // and for residue classes:

/// The lowest allowed offset at or above `offset`; `no_offset` beyond 64 bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, residue_class const& allowed) noexcept
{
    if (offset <= allowed.phase) return allowed.phase;
    byte_count const up = align_up(offset - allowed.phase, allowed.alignment);
    return up != no_offset && sum_fits(up, allowed.phase) ? up + allowed.phase : no_offset;
}

/// Restricts `one` to the offsets that `other` allows too. False if there are none; then `one` is unchanged.
///
/// Complexity: O(log alignment) steps of Euclid's algorithm, and as many additions.
/// Throws:     precondition_error if the common alignment reaches 2^62.
[[nodiscard]] constexpr bool restrict_to(residue_class& one, residue_class const& other)
{
    if (one.alignment % other.alignment == 0) return one.phase % other.alignment == other.phase;
    auto expect_small = [&](byte_count alignment) {
        SUBLET_EXPECTS(alignment < byte_count{1} << 62,
                       "sublet: the alignments % and % have no common multiple below 2^62", one.alignment,
                       other.alignment);
    };
    expect_small(other.alignment);
    // Invariant: inverse * one.alignment is congruent to divisor modulo other.alignment.
    std::int64_t inverse = 1, next_inverse = 0;
    byte_count divisor = one.alignment, next = other.alignment;
    while (next != 0) {
        auto const times = static_cast<std::int64_t>(divisor / next);
        std::int64_t const after = inverse - times * next_inverse;
        inverse = next_inverse;
        next_inverse = after;
        byte_count const rest = divisor % next;
        divisor = next;
        next = rest;
    }
    byte_count const steps = other.alignment / divisor; // steps of `one` after which `other` repeats
    byte_count const common = checked_multiply(one.alignment, steps);
    expect_small(common);
    byte_count const from = one.phase % other.alignment;
    byte_count const missing =
        other.phase >= from ? other.phase - from : other.alignment - from + other.phase;
    if (missing % divisor != 0) return false;
    // step = missing / divisor * inverse modulo steps, by doubling, so that no product overflows.
    byte_count factor = missing / divisor % steps, step = 0;
    auto const period = static_cast<std::int64_t>(steps);
    byte_count addend = static_cast<byte_count>((inverse % period + period) % period);
    for (; factor != 0; factor /= 2) {
        if (factor % 2 != 0) step = (step + addend) % steps;
        addend = addend * 2 % steps;
    }
    one.phase += one.alignment * step;
    one.alignment = common;
    return true;
}

} // namespace sublet::detail

#endif
