// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP
#define SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP

/// The best of several constructive heuristics for placing shapes: best fit away from the peak,
/// bottom-left fit, and fit() into gaps, with several orders. No guaranteed factor; stops at the lower
/// bound.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/fit_from_peak.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- bottom-left fit -------------------------------------------------------------------------------------

/// Places shapes from the bottom up: the next is always one that can lie lowest. Ignores preferred origins.
///
///     offset |          +----+             a, b and c can lie at 0; b, which is live at the peak, is first,
///            |     +----+ e? |             then a and c; now d and e can lie lowest, on a; of these d is
///            |-----+  b | c  |             taken, which is live where more bytes are still to be placed
///            |  a  |    +----+--+
///            |-----+----+-------+--> position
///
/// Every placement in which no shape can be lowered is such a sequence. Ties go to where most bytes are still
/// to be placed, since waste raises the arena most there; `order` breaks ties between shapes of one position.
///
/// Source: the first descent of the branch and bound of Moffitt, "MiniMalloc: a lightweight memory allocator
/// for hardware-accelerated machine learning", ASPLOS 2023, which has a static order instead.

namespace sublet::detail {

/// Requires:   `order` names each shape once; `bound` is that of the shapes; none is pinned.
/// Ensures:    as fit(); no origin is below that of one placed before. Given up if it ends above the ceiling.
/// Complexity: O(n * (n + positions)) time, n = shapes; O(n + positions) memory.
[[nodiscard]] packing bottom_left_fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                      placement_bound const& bound, byte_count ceiling = no_limit - 1,
                                      fit_stop stop = {});

// --- time components -------------------------------------------------------------------------------------

/// Shapes split at positions that no live range crosses: each component is placed independently.
///
///     [====)   [===)     |  [=====)      |    [=)
///        [=======)       |     [======)  |  [=====)
///          [=====)       |               |  [===)
///          component 0     component 1     component 2
///
/// The arena is as high as the highest component. Batches and repeated steps make many components.

/// By component, the number of its first shape; then the number of shapes.  O(n)
/// Once `poll` has stopped, some may be missing.
[[nodiscard]] std::vector<std::uint32_t> time_components(placement_shapes const& all,
                                                         step_poll const& poll = {});

/// The shapes from `first` to before `last` as shapes of their own, without their buffers.
///
/// Requires:   first < last.
/// Ensures:    shape i is first + i of all; positions are only those from its first begin to its last end.
///             Once `poll` has stopped, some shapes may be missing.
/// Complexity: O(shapes and positions of the component).
[[nodiscard]] placement_shapes component_of(placement_shapes const& all, std::uint32_t first,
                                            std::uint32_t last, step_poll const& poll = {});

// --- best packing ----------------------------------------------------------------------------------------

///     bottom_left            the shape that can lie lowest is next              few shapes: quadratic
///     from_peak              the nearest in time is next, away from the peak    any number
///     below_roof             the same, at both ends of gaps below the bound     any number
///     first_fit, best_fit    one after the other into a gap                     any number; may be slow
///
///     for each method and order, for each time component that is above the bound:  pack it; keep the lowest
///     stop when all equal the bound: the result is optimal
///
/// Shapes with a pin or a preferred origin are placed by first_fit and best_fit only.
enum class packing_method : std::uint8_t { first_fit, best_fit, from_peak, below_roof, bottom_left };

inline constexpr std::size_t max_quadratic_shapes = 2048;

/// All shapes one above the other, above those with pins; its height is `no_limit` if 64 bits do not suffice.
/// Requires: no two pins conflict.  O(n)
[[nodiscard]] packing stack_all(placement_shapes const& all);

/// The best of up to three packings, fast; its height is `no_limit` only if 64 bits do not suffice.
///
/// Requires:   no two pins conflict; `bound` is that of the shapes.
/// Complexity: O(n log n) if nothing is pinned or prefers an origin; otherwise gap search ends after a few
///             visits per shape. O(n) from when the control stops: all other shapes are stacked.
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound,
                                    search_control& control);
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound);

/// `best`, or a lower packing: attempts until the height is `bound.bytes`, or so many visits are spent that
/// no further attempt begins. `tried` counts the attempts.
///
/// Requires:   as first_packing(); the bound's `bytes` may be any height that is low enough; `best` has an
///             origin for each shape.
[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, search_control& control,
                                   std::uint32_t& tried);

[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, std::uint32_t& tried);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/best_packing.ipp>
#endif

#endif
