// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PHASE_HPP
#define SUBLET_PLACEMENT_PHASE_HPP

/// Offsets that are allowed at regular distances, and those that two such rules have in common.
///
///     multiples of 4, less 1          3       7      11      15      19      23
///     multiples of 6, less 1              5          11              17      23
///     both                                           11                      23     11 modulo 12
///
/// A buffer that lies 1 above the origin of a shape and is aligned to 4 allows the shape 3, 7, 11 ... Two
/// rules are either incompatible or one again; and if of several each two are compatible, all are (the
/// Chinese remainder theorem).

#include <sublet/contract.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>

namespace sublet {

/// Offsets that are `phase` modulo `alignment`.
struct phased_offsets {
    byte_count alignment = 1;
    byte_count phase = 0; ///< below the alignment
    friend constexpr bool operator==(phased_offsets const&, phased_offsets const&) = default;
};

/// Where the lowest part of something may be whose part at `distance` is aligned.
[[nodiscard]] constexpr phased_offsets below_aligned(byte_count distance, byte_count alignment) noexcept
{
    byte_count const past = distance % alignment;
    return {alignment, past == 0 ? 0 : alignment - past};
}

/// The lowest of them at or above `offset`; `no_offset` beyond 64 bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, phased_offsets const& allowed) noexcept
{
    if (offset <= allowed.phase) return allowed.phase;
    byte_count const up = align_up(offset - allowed.phase, allowed.alignment);
    return up != no_offset && sum_fits(up, allowed.phase) ? up + allowed.phase : no_offset;
}

/// Reduce `one` to the offsets that `other` allows too. False if there are none; then `one` stays.
///
/// Complexity: O(log alignment) steps of Euclid's algorithm, and as many additions.
/// Throws:     precondition_error if the common alignment reaches 2^62.
[[nodiscard]] constexpr bool restrict_to(phased_offsets& one, phased_offsets const& other)
{
    if (one.alignment % other.alignment == 0) return one.phase % other.alignment == other.phase;
    // inverse * one.alignment is divisor, modulo other.alignment.
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
    byte_count const steps = other.alignment / divisor; // of `one`, after which `other` repeats
    byte_count const common = checked_multiply(one.alignment, steps);
    SUBLET_EXPECTS(common < byte_count{1} << 62, "sublet: a common alignment is too large");
    byte_count const from = one.phase % other.alignment;
    byte_count const missing =
        other.phase >= from ? other.phase - from : other.alignment - from + other.phase;
    if (missing % divisor != 0) return false;
    // step = missing / divisor * inverse modulo steps, doubled and added so that no product is too large.
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

} // namespace sublet

#endif
