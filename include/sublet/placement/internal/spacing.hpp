// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_SPACING_HPP
#define SUBLET_PLACEMENT_INTERNAL_SPACING_HPP

/// Rules between neighbours, as sizes: a placement of the larger buffers is one of the buffers with the bytes
/// between them that the rules require.
///
///     guard 2       given          spaced           two buffers are 2 bytes apart if and only if the larger
///                   +---+          +---+            ones share no byte; the height, the capacity, the
///                   | b |          | b |            largest block and each bound of it grow by 2
///                   +---+          |   |
///                                  +---+
///                   +---+          +---+
///                   | a |          | a |
///
///     page 4        all kinds but one begin and end at multiples of 4
///     reserved      a buffer that is pinned there and lives always; only ranges below the height count

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Whether a pool has a rule between neighbours.
[[nodiscard]] bool has_spacing(placement_problem const& problem) noexcept;

/// What `bytes` of a pool are with its guard behind them; no_limit stays.
[[nodiscard]] constexpr byte_count with_guard(byte_count bytes, byte_count guard) noexcept
{
    return bytes > no_limit - guard ? no_limit : bytes + guard;
}

/// The same problem without the rules: buffers, and windows of gaps that are not empty, end later, and so do
/// the limits of their pools.
///
/// Ensures:    in each pool `x` is a placement of height `h` of the problem if and only if it is one of the
///             height `h + guard` of this one. Sizes that place() refuses stay as they are.
/// Throws:     precondition_error for a guard of 2^62 bytes or more.
[[nodiscard]] placement_problem spaced(placement_problem const& problem);

/// The placement, of spaced(problem), of the problem itself.
[[nodiscard]] placement without_spacing(placement_problem const& problem, placement placed);

/// The same for one pool.
void remove_guard(byte_count guard, placement::pool_result& pool);

/// The same problem in one pool, with a pinned buffer, which lives always, for each of its reserved ranges,
/// up to `limit`. These come behind the others, which get the alignment of the pool as their own: it is none
/// of the ranges.
///
/// Requires:   the pool has no guard.
/// Throws:     precondition_error for a range that ends before it begins or above 2^62, and for a pool with
///             a largest block.
[[nodiscard]] placement_problem around_reserved(placement_problem problem, pool_id pool,
                                                byte_count limit = no_limit);

/// Those, and the buffers behind the first `given`.
[[nodiscard]] std::vector<buffer_id> with_reserved(std::vector<buffer_id> members, std::size_t given,
                                                   placement_problem const& around);

/// The buffers below `given`.
[[nodiscard]] std::vector<buffer_id> without_reserved(std::vector<buffer_id> const& some, std::size_t given);

/// The least height of buffers that take so many bytes at one position, each with the guard behind it: of
/// `limits` the reserved ranges, and the guard behind the highest buffer, are no bytes of theirs.
[[nodiscard]] byte_count least_height(pool_limits const& limits, byte_count live);

/// What is known of a pool that is packed around the first of its reserved ranges: those above its height do
/// not matter, and one more might be in the way of a lower placement that was not found.
struct packed_around {
    placement::pool_result result; ///< the best of all proofs so far
    byte_count limit = no_limit;   ///< the first byte that is reserved and not packed around
    bool is_done = false;
    bool is_impossible = false; ///< the pins or parts contradict each other

    /// Takes a packing around the ranges below `limit`, and its offsets if it is the last one.
    void take(placement_problem const& problem, placement_problem const& around, pool_id pool,
              placement::objective objective, placement::pool_result now,
              table<buffer_id, byte_count> const& at, table<buffer_id, byte_count>& offset);
};

/// Nothing is packed yet.
[[nodiscard]] packed_around begin_around(pool_limits const& limits);

/// Whether there are buffers of several kinds in the pool, and it has pages.
/// Throws: precondition_error for pages of 0 bytes, and for pages in a pool with a largest block or reserved
///         ranges.
[[nodiscard]] bool has_pages(placement_problem const& problem, pool_id pool);

/// The problem in which all buffers of a pool but those of one kind lie in whole pages.
struct problem_in_pages {
    placement_problem problem;
    table<buffer_id, byte_count> shift; ///< that a buffer begins behind the first byte of its first page

    /// The offset of a buffer for one of this problem.
    [[nodiscard]] byte_count offset(buffer_id b, byte_count of_pages) const
    {
        return of_pages == no_offset ? no_offset : of_pages + shift[b];
    }
};

/// Requires:   as pack(); the pool has no guard.
/// Throws:     precondition_error for colocated buffers of different kinds, or at a distance that is no
///             multiple of a page.
[[nodiscard]] problem_in_pages in_pages(placement_problem const& problem, pool_id pool, std::uint32_t spared);

/// The kinds of a pool, that first which costs least to keep in whole pages if all others are: by the most
/// bytes live at one position. The first few if there are many.
[[nodiscard]] std::vector<std::uint32_t> kinds_to_spare(placement_problem const& problem, pool_id pool);

/// The end of the highest buffer of a pool.
[[nodiscard]] byte_count top_of(placement_problem const& problem, pool_id pool,
                                table<buffer_id, byte_count> const& offset);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/spacing.ipp>
#endif

#endif
