// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_BLOCKS_HPP
#define SUBLET_PLACEMENT_DETAIL_BLOCKS_HPP

/// The division of a pool into blocks of a largest size.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// A shape that does not fit a block: its number, or that of all shapes.
[[nodiscard]] std::uint32_t first_over_block(placement_shapes const& shapes, byte_count largest);

/// Divides the shapes among blocks of at most `largest` bytes; `best` gets the origins in all of them.
///
///     shapes in some order ─► each to the first block where it fits, or to the one that grows least
///     the order and rule with the lowest end, of these with the fewest blocks ─► pack each block again
///
/// Greedy, with no guaranteed factor: with equal lives it is bin packing, which is NP-hard.
///
/// Requires:   each shape fits a block; `best` is a placement without borders.
/// Ensures:    no shape crosses a border, and block begins are multiples of all alignments. Stopped before
///             the first division is complete, the shapes lie one above the other in their blocks.
/// Complexity: O(n blocks) queries for gaps a dozen times, and a small search for each block.
[[nodiscard]] std::vector<memory_plan::block> split_into_blocks(placement_shapes const& shapes,
                                                                placement_bound const& bound,
                                                                byte_count largest, packing& best,
                                                                search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/blocks.ipp>
#endif

#endif
