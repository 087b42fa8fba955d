// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_OUTWARDS_HPP
#define SUBLET_PLACEMENT_FIT_OUTWARDS_HPP

/// Place shapes from the peak outwards: stack those that are alive there, then allocate and free, once
/// forwards in time and once backwards.
///
///         <──── backwards   peak   forwards ────>
///                  +----+----|---+
///                  |    b    |   |----+             c is born when a has died: it takes the tightest
///        +---------+--+------|---+ c  |             of the gaps that are free at that time
///        |   d        |  a   | +-+----+
///        +------------+------|-+
///
/// Who comes next in time meets only those that are alive when it comes: all others are dead, or have not
/// come yet. So there is one list of gaps, as in an allocator, and neither past nor future is ever looked at;
/// a million shapes take no longer than a million allocations. Unlike an allocator, which begins at the
/// beginning, this one loses nothing at the peak. The tightest gap is much better here than the lowest, for
/// what leaves no rest makes no rest that is too small.
///
/// Where all live together, or each within another (brackets), nothing is lost at all. For others there is no
/// bound, but where shapes are many they are usually close.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Place all shapes, as if each were solid all its life.
///
/// Requires:   `order` names each shape once (those that are alive at the peak are stacked in it); `bound` is
///             that of the shapes; none is pinned. Preferred origins are not looked at.
/// Ensures:    as fit(): given up if it ends above the ceiling.
/// Complexity: O(n log n) time, O(n + positions) memory, n = shapes.
[[nodiscard]] packing fit_outwards(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                   placement_bound const& bound, byte_count ceiling = no_limit - 1);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit_outwards.ipp>
#endif

#endif
