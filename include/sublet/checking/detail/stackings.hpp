// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_STACKINGS_HPP
#define SUBLET_CHECKING_DETAIL_STACKINGS_HPP

/// Independent derivations for the placement checkers: allowed pools and solid parts of each colocation
/// group, and an exhaustive enumeration of the stackings of a few groups (n! orders of n groups).

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- allowed pools ---------------------------------------------------------------------------------------

/// The pools that a colocation group may choose, and their costs.
///
///     a may be in 0 (cost 3) or 1 (cost 5), b in 1 (cost 2) or 2, colocated: both in 1, cost 7
///
/// Of the buffers of a group those that have no anchor choose (all, if every buffer has one); the group may
/// be in the pools that all of them allow, and costs add up.

namespace sublet::detail {

struct allowed_pools {
    std::vector<sort_key> pools; ///< ascending {root and pool, cost, number of constraining buffers}
    table<buffer_id, std::uint32_t> constraint_count; ///< by root: buffers that choose

    static std::uint64_t key(buffer_id root, pool_id pool);

    /// The cost of the group in a pool; `no_limit`: not allowed.
    [[nodiscard]] byte_count cost(buffer_id root, pool_id pool) const;
    /// The least cost over all pools; `no_limit`: no pool is allowed.
    [[nodiscard]] byte_count least_cost(buffer_id root) const;
    [[nodiscard]] std::uint32_t count(buffer_id root) const;

private:
    std::size_t first_index(buffer_id root, pool_id pool) const;
};

/// `root` is by buffer: the same for all buffers of a group, and one of them.
///
/// Ensures:    of two costs for the same buffer and pool the lower counts.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = choices and colocations.
/// Throws:     precondition_error if a choice names no buffer, or costs exceed 64 bits.
[[nodiscard]] allowed_pools allowed_pools_of(placement_problem const& problem,
                                             table<buffer_id, buffer_id> const& root);

// --- solid parts -----------------------------------------------------------------------------------------

/// The solid parts of each colocation group: the bytes that it occupies at each position.
///
///     b, colocated 8 above a     +--+----+         at each position one range of bytes: from the lowest
///                             +--+--+    |         solid byte of a or b to the highest, the bytes between
///                             |     |    |         them included
///                             +-----+----+
///
/// The buffers of a group move together: each has a *root*, and a distance above the lowest buffer.
///
/// Source: union-find with distances on the links (Tarjan, "Applications of path compression on balanced
/// trees", Journal of the ACM 26(4), 1979).

/// The bytes [begin, end) during `when`, counted from the lowest buffer of the group; `buffer` begins there.
struct solid_part {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
    buffer_id buffer = no_buffer;
};

struct solid_parts {
    table<buffer_id, buffer_id> root;   ///< the first buffer of its group
    table<buffer_id, byte_count> above; ///< distance from the lowest placed buffer of its group
    table<buffer_id, unsigned char> needs_place;
    table<buffer_id, unsigned char> is_inconsistent; ///< by root: its distances contradict each other
    std::vector<solid_part> parts;                   ///< by root; of one root disjoint, by ascending position
};

/// Requires:   windows lie within their buffers, gaps of a buffer are disjoint; no distance in a group
///             exceeds 2^62.
/// Ensures:    a buffer without bytes or positions, or of a group without solid parts, needs no place.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps and colocations.
/// Throws:     precondition_error if a gap or a colocation names no buffer.
[[nodiscard]] solid_parts solid_parts_of(placement_problem const& problem);

// --- stacking enumerator ---------------------------------------------------------------------------------

/// Enumerates the stackings of a few groups, and decides whether they can be placed in another way.
///
///     order a, b, c:            +---+        each group as low as its pin, its alignment and the groups
///                           +---+ c |        before it in the order allow
///                           | b +---+
///                           +-+-+
///                             a
///
/// In a given order, raising a group never lowers another, so the lowest placement of each order gives the
/// lowest stacking. Only for a few groups: n of them have n! orders.

struct rigid_group {
    static constexpr std::int64_t nowhere = std::int64_t{1} << 62;

    buffer_id root = no_buffer;
    std::vector<solid_part> parts;
    std::vector<buffer_id> members; ///< buffers that need a place
    std::int64_t size = 0;          ///< from the lowest begin to the highest end of a member
    std::int64_t pin = nowhere;     ///< of its lowest buffer
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

    /// Whether the search is incomplete: the alignments of a group rarely agree, or an end exceeds 2^62.
    [[nodiscard]] bool hit_limit() const { return hit_limit_; }

    /// O(buffers and parts of all)
    [[nodiscard]] rigid_group group_of(buffer_id root) const;

    /// The lowest allowed origin at or above `least`, or `nowhere`. Tries multiples of the largest alignment.
    [[nodiscard]] std::int64_t least_origin(rigid_group const& g, std::int64_t least);

    /// The height of the first stacking found below `height`, or `nowhere`.
    [[nodiscard]] std::int64_t find_below(byte_count height, std::vector<rigid_group> const& groups);

    /// The least end below `height` of the highest part, if the parts at one position where all groups are
    /// solid are stacked; or `nowhere`. At one position every placement is a stacking, so only the least end
    /// of each set of groups matters: layer by layer, one more group in each, of up to 64.
    ///
    /// Complexity: O(s n log s) time, O(s) memory for n groups, s = sets that may end below `height`; up to
    ///             `max_tries`, then hit_limit().
    [[nodiscard]] std::int64_t find_below_at(position_id position, byte_count height,
                                             std::vector<rigid_group> const& groups);

    /// Whether the groups have a placement that is no stacking, ignoring alignments and pins: two of them
    /// interleave, or several form a cycle, each above the next.
    [[nodiscard]] bool can_interleave(std::vector<rigid_group> const& groups);

private:
    static constexpr std::uint64_t max_tries = 100'000;

    static std::int64_t difference(byte_count a, byte_count b);

    /// Whether b can be above one part of a, touching it, and below another.
    static bool can_pass(rigid_group const& a, rigid_group const& b);

    /// Whether a chain of groups, each above the one before, leads from `at` back to `first` without a rise.
    bool closes_cycle(std::size_t first, std::size_t at, std::int64_t distance_above_root,
                      std::vector<unsigned char>& is_passed);

    bool is_allowed(rigid_group const& g, std::int64_t origin) const;

    /// Recursion depth: the number of groups.
    std::int64_t extend(std::vector<rigid_group> const& groups, std::vector<std::int64_t>& origin,
                        std::int64_t height);

    placement_problem const& problem_;
    solid_parts const& solid_;
    pool_limits const& limits_;
    std::vector<std::int64_t> above_; // by two groups: least distance of the second above the first
    std::int64_t height_limit_ = 0;
    bool hit_limit_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/stackings.ipp>
#endif

#endif
