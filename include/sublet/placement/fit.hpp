// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_HPP
#define SUBLET_PLACEMENT_FIT_HPP

/// Place shapes one after the other, each into a gap that those before it have left.
///
///     gaps at the life of x, from below:   [12 bytes]  [8 bytes]  [no end]        x: 8 bytes
///     lowest      takes the first that is large enough (12)
///     tightest    takes the smallest that is large enough (8)
///
/// How good the result is depends on the order alone; no order is best for all problems, which is why
/// best_packing.hpp tries several.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020 (tightest gap), for any order, windows, alignment and pins.

#include <sublet/placement/placed.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct packing {
    std::vector<byte_count> origin; ///< by shape; `no_offset` for one that has not been placed
    byte_count height = 0;          ///< `no_limit` if it was given up
    std::uint64_t visits = 0;       ///< how often something in the way was looked at
};

struct fit_limits {
    byte_count ceiling = no_limit - 1; ///< give up what would end above it
    byte_count expected = 0;           ///< the arena is so high in any case: preferred offsets below are free
    std::uint64_t visits = no_limit;   ///< give up what takes more
    std::uint64_t patience = no_limit; ///< after so many visits look for no more gaps: all others go on top
};

/// Place the shapes of `order`, pinned ones first.
///
/// Requires:   `order` names no shape twice; no two pins clash; `placed` is made of `all`.
/// Ensures:    no two of them overlap in life and bytes; every origin is as its alignment asks, or a pin. A
///             preferred origin is taken where it is free and nothing gets higher by it. The placement is
///             given up as soon as it is clear that it ends above the ceiling, or takes too long.
/// Complexity: an insertion and a question (placed.hpp) a shape.
[[nodiscard]] packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                          gap_choice choice, fit_limits limits, placed_pieces& placed);

[[nodiscard]] inline packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                 gap_choice choice = gap_choice::lowest, fit_limits limits = {})
{
    placed_pieces placed(all);
    return fit(all, order, choice, limits, placed);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit.ipp>
#endif

#endif
