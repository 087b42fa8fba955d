// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_MINIMIZE_HPP
#define SUBLET_PLACEMENT_MINIMIZE_HPP

/// The lowest stacking, between a height that one has and a bound that none is below.
///
///     best    ──────┬──────────────┬── found: best is as low as that
///     target        │      ┬───────┘
///     target        │      │ budget spent: a lower target is not tried in this lap
///     bound   ──────┴──────┴── tried first; if nothing fits there, the bound rises
///
/// What a search exhausts are stackings. Where shapes may be threaded through each other (problem.hpp) that
/// says nothing of other placements: no stacking is looked for there any more, and the bound stays.
///
/// The bound is reached more often than not, so it is tried first, with a small budget. Then the gap is
/// bisected, nearer to the bound than to the best, which is what lowers the best soon; and all again with
/// twice the budget.

#include <sublet/placement/driver.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/portfolio.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct minimized {
    packing best;
    byte_count bound = 0;          ///< no placement is lower; `no_limit`: there is none
    byte_count least_stacking = 0; ///< no stacking is lower: the bound, or above it
    bool is_proved = false;        ///< best is as high as the bound
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> blamed = {}; ///< shapes that alone are no lower, if search raised the bound

    /// No stacking is lower than `height`, for which `tried` are to blame; if these can only be stacked, no
    /// placement is.
    void raise(placement_shapes const& all, byte_count height, std::vector<std::uint32_t> tried);
};

namespace detail {

/// The lowest height above `height` that stackings can have: origins are multiples of the unit.
byte_count next_height(placement_shapes const& all, byte_count unit, byte_count height);

} // namespace detail

/// Lower the incumbent as far as it goes.
///
/// Requires:   all.fault is none; nothing is lower than `bound`; the incumbent is a placement of the shapes,
///             or none, with a height of `no_limit`.
/// Ensures:    the same answer with any driver, unless it stops the search. The bound is raised only as far
///             as it holds for placements that are no stackings, too; an incumbent that is one of those may
///             be lower than all stackings, and is returned then.
/// Complexity: exponential at worst; at most `options.nodes` nodes of O(n) each.
[[nodiscard]] minimized minimize(placement_shapes const& all, byte_count bound, packing incumbent,
                                 search_options const& options, search_driver& driver);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/minimize.ipp>
#endif

#endif
