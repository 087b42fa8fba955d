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
///     bank 4        of two buffers that are kept apart, one begins and ends at multiples of 4, or they are
///                   in two regions, of which one begins at a multiple of 4 above the other
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

/// Pages of buffers of several kinds, or banks of buffers that are kept apart: those of the pool that it has
/// to keep; 1: none.
/// Throws: precondition_error for pages or banks of 0 bytes, for both in one pool, or one of them with a
///         largest block or reserved ranges.
[[nodiscard]] byte_count pages_of(placement_problem const& problem, pool_id pool);

/// Throws: precondition_error for pairs of buffers that do not exist, of a buffer and itself, of two pools,
///         of parts of one storage, or with more bytes in whole banks than 62 bits hold.
void expect_apart(placement_problem const& problem);

/// The problem in which some buffers of a pool lie in whole pages or banks.
struct problem_in_pages {
    placement_problem problem;
    table<buffer_id, byte_count> shift; ///< that a buffer begins behind the first byte of its first page

    /// The offset of a buffer for one of this problem.
    [[nodiscard]] byte_count offset(buffer_id b, byte_count of_pages) const
    {
        return of_pages == no_offset ? no_offset : of_pages + shift[b];
    }
};

/// Buffers of a pool that need not lie in whole pages if all others do.
using spared_buffers = table<buffer_id, unsigned char>;

/// Requires:   as pack(); the pool has no guard.
[[nodiscard]] problem_in_pages in_pages(placement_problem const& problem, pool_id pool, byte_count page,
                                        spared_buffers const& is_spared);

/// What may be spared, that first which costs least: by the most bytes live at one position. With pages,
/// those of one kind, the first few if there are many. With banks, storage of which no two are kept apart:
/// pinned, then what would leave most bytes of its banks free, or what is in the fewest pairs.
///
/// Throws: precondition_error for colocated buffers of different kinds, or at a distance that is no multiple
///         of a page, or of a bank if one of them is kept apart from others.
[[nodiscard]] std::vector<spared_buffers> choices_to_spare(placement_problem const& problem, pool_id pool,
                                                           byte_count page);

/// A division of a pool with banks: buffers of one region are not kept apart, and each region begins at a
/// multiple of `unit`, of whole banks and of all alignments.
struct bank_regions {
    table<buffer_id, std::uint32_t> of;
    std::uint32_t count = 0; ///< 0: there are pins, or alignments without such a unit
    byte_count unit = 1;

    /// The offsets of buffers that were placed in each region by itself, with these heights: the region that
    /// would leave most bytes of a bank free is the highest.
    void stack(std::vector<byte_count> const& height, std::vector<buffer_id> const& members,
               table<buffer_id, byte_count>& offset) const;
};

/// Few regions: each buffer, the largest first, is in the first one that has none of its pairs.
[[nodiscard]] bank_regions regions_of(placement_problem const& problem, pool_id pool);

/// Requires:   choices_to_spare() has none that the pins allow.
/// Throws:     precondition_error, which names two pinned buffers if they are kept apart.
void refuse_pins(placement_problem const& problem, pool_id pool);

/// The end of the highest buffer of a pool.
[[nodiscard]] byte_count top_of(placement_problem const& problem, pool_id pool,
                                table<buffer_id, byte_count> const& offset);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/spacing.ipp>
#endif

#endif
