// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_BEST_PACKING_HPP
#define SUBLET_PLACEMENT_BEST_PACKING_HPP

/// The lowest of the packings that several ways and orders make.
///
///     upwards      next is what can lie lowest          where shapes are few: it looks at all of them each
///     time outwards     next is what comes next, away from the peak                           for any number
///     of them lowest, tightest     one after the other into a gap           for any number, but gaps may be
///     hard to find
///
///     for each way and order, for each part of time that is still too high:  pack it; keep the lowest
///     stop when all are as low as the bound: nothing can be lower
///
/// Greedy, with no guaranteed factor: a problem that one order packs badly is often one that another packs
/// well. What is pinned, or prefers an origin, goes into gaps only.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/driver.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/shapes.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet {

enum class packing_way : std::uint8_t { lowest, tightest, outwards, upwards };

namespace detail {

/// Shapes are few enough to look at each of them as often as there are shapes.
inline constexpr std::size_t few_to_look_at = 2048;

/// What is tried can be tried for these shapes.
template <class Part>
bool is_possible(Part const& part, packing_way way)
{
    if (way == packing_way::upwards && part.shapes().size() > few_to_look_at) return false;
    return !part.has_wishes || way == packing_way::lowest || way == packing_way::tightest;
}

} // namespace detail

/// One packing, quickly: there is always one, unless 64 bits do not suffice; then its height is `no_limit`.
///
/// Requires:   no two pins clash; `bound` is that of the shapes.
/// Complexity: O(n log n) where nothing is pinned or prefers an origin; otherwise gaps are looked for only as
///             long as that takes few visits a shape.
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound);

/// `best`, or what is lower: one attempt after the other, until the height is `bound.bytes`, or so many
/// visits are spent that nothing further is begun. `tried` counts the attempts.
///
/// Requires:   as first_packing(); the bound's `bytes` may be any height that is low enough; `best` has a
///             place for each shape.
[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, search_driver& driver,
                                   std::uint32_t& tried);

[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, std::uint32_t& tried);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/best_packing.ipp>
#endif

#endif
