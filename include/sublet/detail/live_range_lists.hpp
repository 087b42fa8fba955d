// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_LIVE_RANGE_LISTS_HPP
#define SUBLET_DETAIL_LIVE_RANGE_LISTS_HPP

/// The live ranges of every value, where a value may have several: with holes in between.
///
///     position   0   1   2   3   4   5   6
///     a          [===)       [===========)       a: [0, 1), [3, 6)
///     b              [=======)                   b: [1, 3)            fits into the hole of a
///
/// Straight-line code has no holes; branches have, for one of two ways is laid out after the other.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// Some range of the one list meets some range of the other.
///
/// Requires:   both ascend, and the ranges of a list do not overlap each other.
/// Complexity: O(ranges).
[[nodiscard]] constexpr bool overlaps(std::span<live_range const> a, std::span<live_range const> b) noexcept
{
    for (std::size_t i = 0, j = 0; i != a.size() && j != b.size();) {
        if (overlaps(a[i], b[j])) return true;
        if (a[i].last <= b[j].last) ++i;
        else ++j;
    }
    return false;
}

/// How live ranges with holes are found. The ranges are the same.
enum class interval_method : std::uint8_t {
    automatic,     ///< one_pass where it is allowed, otherwise from_liveness
    from_liveness, ///< solve for what is alive at the ends of the nodes first: any program, any order
    one_pass       ///< without: strict SSA without irreducible loops, in an order that keeps loops together
};

/// By value; those of a value ascend, are not empty, and neither overlap nor touch each other.
class live_range_lists {
public:
    live_range_lists() = default;
    /// Made by `live_intervals`. Those of value v are `ranges[first[v]] .. ranges[first[v + 1]]`.
    live_range_lists(interval_method method, step_id positions, std::vector<std::uint32_t> first,
                     std::vector<live_range> ranges);
    /// Which one was taken, never `automatic`.
    [[nodiscard]] interval_method method() const { return method_; }

    [[nodiscard]] std::size_t values() const { return first_.size() - 1; }
    [[nodiscard]] step_id positions() const { return positions_; }
    /// Of all values together.
    [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

    [[nodiscard]] std::span<live_range const> operator[](value_id v) const
    {
        return {ranges_.data() + first_[v], ranges_.data() + first_[v + 1]};
    }
    /// One range around them all; empty if there is none.
    [[nodiscard]] live_range hull(value_id v) const
    {
        auto const mine = (*this)[v];
        return mine.empty() ? live_range{} : live_range{mine.front().first, mine.back().last};
    }

    /// The most values alive at one position.  O(ranges + positions)
    [[nodiscard]] std::size_t max_live() const { return most_at_once(ranges_, positions_); }

    /// The same ranges, however found.
    friend bool operator==(live_range_lists const& a, live_range_lists const& b)
    {
        return a.positions_ == b.positions_ && a.first_ == b.first_ && a.ranges_ == b.ranges_;
    }

private:
    static std::size_t most_at_once(std::vector<live_range> const& ranges, step_id positions);

    interval_method method_ = interval_method::from_liveness;
    step_id positions_ = 0;
    std::vector<std::uint32_t> first_{0};
    std::vector<live_range> ranges_;
};

namespace detail {

/// Collects the ranges of every value from the last to the first. A new one swallows those that it touches.
class range_collector {
public:
    explicit range_collector(std::size_t values) : first_(values, none) {}

    /// Requires:   no range of v that was added begins before this one. An empty one says nothing.
    /// Complexity: O(1), amortised.
    void add(value_id v, live_range range);

    /// Complexity: O(values + calls of add).
    /// Throws:     precondition_error if there are 2^32 - 1 ranges or more.
    [[nodiscard]] live_range_lists lists(interval_method method, step_id positions) const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct linked {
        live_range range;
        std::uint32_t next; // of the same value
    };
    std::vector<std::uint32_t> first_; // by value
    std::vector<linked> found_;
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/live_range_lists.ipp>
#endif

#endif
