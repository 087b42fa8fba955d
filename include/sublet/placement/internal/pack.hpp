// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_PACK_HPP
#define SUBLET_PLACEMENT_INTERNAL_PACK_HPP

/// Places buffers with one size each, by counts of work: the placement of planners. place() adds a time
/// limit, threads, choices of pools and clocks.
///
///     for each pool:   shapes ─► contradictory pins? ─► lower bound ─► fast orders
///                      few shapes:   ─► short search   ─► more orders ─► cuts ─► ejection ─► long search
///                      many shapes:    ─► more orders ─► cuts ─► ejection, search of windows, in turn;
///                                         up to 4000 shapes: search from the second turn on
///                      stop as soon as the height equals the bound: it is optimal
///
/// Cuts: for shapes that fit together without a gap, the caller's order and its reverse, and compose.hpp.
///
/// Orders and ejection have no guaranteed factor. The search is exact if its nodes suffice, but for stackings
/// (problem.hpp): it raises a bound only by shapes that can only be stacked.

#include <sublet/core/placement_problem.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/internal/pack_options.hpp>

namespace sublet::detail {

/// Places the buffers, each in its own pool, as place() says.
///
/// Requires:   the problem has no clocks; choices are ignored.
/// Complexity: O(n log n), and what `options` allow, n = buffers, gaps and colocations; O(n) memory.
/// Throws:     as place().
[[nodiscard]] placement pack(placement_problem const& problem, pack_options const& options,
                             search_control& control);

[[nodiscard]] inline placement pack(placement_problem const& problem, pack_options const& options = {})
{
    deterministic_control control;
    return pack(problem, options, control);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack.ipp>
#endif

#endif
