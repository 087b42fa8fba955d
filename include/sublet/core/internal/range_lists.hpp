// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_RANGE_LISTS_HPP
#define SUBLET_CORE_INTERNAL_RANGE_LISTS_HPP

/// The overlap of lists of live ranges, and their collection by a walk from the last position to the first:
/// the ranges of a value are linked as they are found, and ranges that touch are merged.

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Requires:   both lists ascend, and the ranges within a list do not overlap.
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

/// Collects the ranges of every value from last to first, and merges ranges that touch.
class range_collector {
public:
    explicit range_collector(std::size_t values) : first_(values, none) {}

    /// Requires:   no earlier added range of v begins before this one. An empty range is ignored.
    /// Complexity: O(1), amortised.
    void add(value_id v, live_range range);

    /// Complexity: O(values + calls of add).
    /// Throws:     precondition_error if there are 2^32 - 1 ranges or more.
    [[nodiscard]] live_range_lists lists(live_range_lists::source method, std::uint32_t positions) const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct linked {
        live_range range;
        std::uint32_t next; // of the same value
    };
    std::vector<std::uint32_t> first_; // by value
    std::vector<linked> found_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/range_lists.ipp>
#endif

#endif
