// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_STACKINGS_HPP
#define SUBLET_CHECKING_DETAIL_STACKINGS_HPP

/// All stackings of a small placement problem, one after the other. Included by the checkers of placements.

#include <sublet/detail/sorting.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- allowed pools ---------------------------------------------------------------------------------------

/// In which pools a piece of storage may be, and what it costs there, derived afresh by those who check.
///
///     a may be in 0 (for 3) or 1 (for 5), b in 1 (for 2) or 2, and both are tied: in 1, for 7
///
/// Of buffers that are tied to each other those choose that are anchored to nobody (all, if none is), each
/// for itself; storage may be where all of them may be.

namespace sublet::detail {

struct allowed_pools {
    std::vector<sort_key> pools; ///< ascending {root and pool, cost, number of choosers that allow it}
    std::vector<std::uint32_t> constraint_count; ///< by root

    static std::uint64_t key(buffer_id root, pool_id pool);

    /// The cost of storage in a pool; `no_limit` if it may not be there.
    [[nodiscard]] byte_count cost(buffer_id root, pool_id pool) const;
    /// The least that it costs anywhere; `no_limit` if it may be nowhere.
    [[nodiscard]] byte_count least_cost(buffer_id root) const;
    [[nodiscard]] std::uint32_t count(buffer_id root) const;

private:
    std::size_t first_index(buffer_id root, pool_id pool) const;
};

/// `root` is by buffer: one and the same for all that are tied to each other, and its own.
///
/// Ensures:    of two costs for the same buffer and pool the lower counts.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = choices and colocations.
/// Throws:     precondition_error if a choice is one of no buffer, or costs exceed 64 bits.
[[nodiscard]] allowed_pools allowed_pools_of(placement_problem const& problem,
                                             std::vector<buffer_id> const& root);

// --- solid parts -----------------------------------------------------------------------------------------

/// What a placement problem says is in the way, derived afresh by those who check a placement.
///
///     b, colocated 8 above a     +--+----+         at each position one stretch of bytes: from the lowest
///                             +--+--+    |         that is solid of a or b to the highest, the bytes
///                             |     |    |         between them included
///                             +-----+----+
///
/// Buffers that are tied to each other move as one, so each is known by one of them, its *root*, and by how
/// far above the lowest of them it lies.
///
/// Source: the ties are kept in a union-find whose links carry distances (Tarjan, "Applications of path
/// compression on balanced trees", Journal of the ACM 26(4), 1979).

/// During `when` the bytes [begin, end), counted from the lowest buffer of the group; `buffer` is the one
/// that begins there.
struct solid_part {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
    buffer_id buffer = no_buffer;
};

struct solid_parts {
    std::vector<buffer_id> root;                ///< by buffer: the first that it is tied to, perhaps itself
    std::vector<byte_count> above;              ///< by buffer: distance from the lowest that has a place
    std::vector<unsigned char> needs_place;     ///< by buffer
    std::vector<unsigned char> is_inconsistent; ///< by root: its distances cannot all be
    std::vector<solid_part> parts;              ///< by root; of one root in time, one after the other
};

/// Requires:   windows lie within their buffers, gaps of a buffer do not meet; in a group no distance exceeds
///             2^62.
/// Ensures:    who has no bytes, no life, or is in a group of which nothing is solid, needs no place.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps and colocations.
/// Throws:     precondition_error if a gap or a colocation is one of no buffer.
[[nodiscard]] solid_parts solid_parts_of(placement_problem const& problem);

// --- all stackings ---------------------------------------------------------------------------------------

/// Can a few pieces of storage be stacked lower, and need they be stacked? Tries all orders of them.
///
///     first a, then b, then c:  +---+        each as low as its pin, its alignment and those
///                           +---+ c |        before it allow
///                           | b +---+
///                           +-+-+
///                             a
///
/// In a given order nobody gets lower by anyone being higher than need be, so the lowest of each order are
/// the lowest there are. No more than a few: there are n! orders of n.

/// Buffers that are tied to each other.
struct rigid_group {
    static constexpr std::int64_t nowhere = std::int64_t{1} << 62;

    buffer_id root = no_buffer;
    std::vector<solid_part> parts;
    std::vector<buffer_id> members; ///< those that need a place
    std::int64_t size = 0;          ///< from the lowest begin to the highest end of a member
    std::int64_t pin = nowhere;     ///< of its lowest
};

/// `use(x, y)` for the parts of a and of b that are solid at the same time.
template <class Use>
void for_coexisting_parts(rigid_group const& a, rigid_group const& b, Use use)
{
    for (solid_part const& x : a.parts)
        for (solid_part const& y : b.parts)
            if (overlaps(x.when, y.when)) use(x, y);
}

class stacking_enumerator {
public:
    stacking_enumerator(placement_problem const& problem, solid_parts const& solid, pool_limits const& limits)
        : problem_(problem), solid_(solid), limits_(limits)
    {
    }

    /// Whether not all was tried: alignments of a group agree very rarely, or something ends beyond 2^62.
    [[nodiscard]] bool hit_limit() const { return hit_limit_; }

    /// O(buffers and parts of all)
    [[nodiscard]] rigid_group group_of(buffer_id root) const;

    /// Where the lowest of the group is at least, at or above `least`; or `nowhere`. From one multiple of the
    /// largest alignment to the next.
    [[nodiscard]] std::int64_t least_origin(rigid_group const& g, std::int64_t least);

    /// The height of a stacking that is lower than `height`, or `nowhere`: the first that is met.
    [[nodiscard]] std::int64_t find_below(byte_count height, std::vector<rigid_group> const& groups);

    /// Whether the groups can be placed so that they are no stacking, alignments and pins left aside: two
    /// pass each other, or several lie in a circle, each above the next.
    [[nodiscard]] bool can_interleave(std::vector<rigid_group> const& groups);

private:
    static constexpr std::uint64_t max_tries = 100'000;

    static std::int64_t difference(byte_count a, byte_count b);

    /// Whether b can be above a part of a, on which it lies then, and below another.
    static bool can_pass(rigid_group const& a, rigid_group const& b);

    /// Whether a walk upwards, each group above the one before it, leads from `at` back to `first` and is
    /// then no higher than where it began. Calls itself as often as there are groups.
    bool closes_cycle(std::size_t first, std::size_t at, std::int64_t up,
                      std::vector<unsigned char>& is_passed);

    bool is_allowed(rigid_group const& g, std::int64_t origin) const;

    /// Calls itself as often as there are groups.
    std::int64_t extend(std::vector<rigid_group> const& groups, std::vector<std::int64_t>& origin,
                        std::int64_t height);

    placement_problem const& problem_;
    solid_parts const& solid_;
    pool_limits const& limits_;
    std::vector<std::int64_t> above_; // by two groups: how far the second is above the first, if it is above
    std::int64_t height_limit_ = 0;
    bool hit_limit_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/stackings.ipp>
#endif

#endif
