// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_ALL_STACKINGS_HPP
#define SUBLET_CHECKING_ALL_STACKINGS_HPP

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

#include <sublet/checking/solid_parts.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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
void for_common_parts(rigid_group const& a, rigid_group const& b, Use use)
{
    for (solid_part const& x : a.parts)
        for (solid_part const& y : b.parts)
            if (overlaps(x.when, y.when)) use(x, y);
}

class all_stackings {
public:
    all_stackings(placement_problem const& problem, solid_parts const& solid, pool_limits const& limits)
        : problem_(problem), solid_(solid), limits_(limits)
    {
    }

    /// Whether not all was tried: alignments of a group agree very rarely, or something ends beyond 2^62.
    [[nodiscard]] bool is_too_long() const { return is_too_long_; }

    /// O(buffers and parts of all)
    [[nodiscard]] rigid_group group_of(buffer_id root) const;

    /// Where the lowest of the group is at least, at or above `least`; or `nowhere`. From one multiple of the
    /// largest alignment to the next.
    [[nodiscard]] std::int64_t least_origin(rigid_group const& g, std::int64_t least);

    /// The height of a stacking that is lower than `height`, or `nowhere`: the first that is met.
    [[nodiscard]] std::int64_t lower_than(byte_count height, std::vector<rigid_group> const& groups);

    /// Whether the groups can be placed so that they are no stacking, alignments and pins left aside: two
    /// pass each other, or several lie in a circle, each above the next.
    [[nodiscard]] bool can_be_threaded(std::vector<rigid_group> const& groups);

private:
    static constexpr std::uint64_t most_tries = 100'000;

    static std::int64_t difference(byte_count a, byte_count b);

    /// Whether b can be above a part of a, on which it lies then, and below another.
    static bool can_pass(rigid_group const& a, rigid_group const& b);

    /// Whether a walk upwards, each group above the one before it, leads from `at` back to `first` and is
    /// then no higher than where it began. Calls itself as often as there are groups.
    bool comes_back(std::size_t first, std::size_t at, std::int64_t up,
                    std::vector<unsigned char>& is_passed);

    bool is_allowed(rigid_group const& g, std::int64_t origin) const;

    /// Calls itself as often as there are groups.
    std::int64_t extend(std::vector<rigid_group> const& groups, std::vector<std::int64_t>& origin,
                        std::int64_t height);

    placement_problem const& problem_;
    solid_parts const& solid_;
    pool_limits const& limits_;
    std::vector<std::int64_t> above_; // by two groups: how far the second is above the first, if it is above
    std::int64_t claimed_ = 0;
    bool is_too_long_ = false;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/all_stackings.ipp>
#endif

#endif
