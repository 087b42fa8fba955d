// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_MOVE_BACK_HPP
#define SUBLET_PLACEMENT_DETAIL_MOVE_BACK_HPP

/// A packing in which few shapes lie elsewhere than before. No guaranteed factor.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <vector>

namespace sublet::detail {

/// The old origins of a pool's shapes, and the bytes that move with each.
struct old_placement {
    std::vector<byte_count> old_origin; ///< by shape; `no_offset`: none, or its parts moved apart
    std::vector<byte_count> weight;     ///< by shape
};

/// From the old offsets of buffers, `no_offset` for a new one. What moves with a shape is the size of its
/// buffers that are not new.
old_placement old_placement_of(placement_shapes const& all, placement_problem const& problem,
                               table<buffer_id, byte_count> const& previous);

/// Requires:   `now` is a packing of the shapes, or has none of them placed and is above the limit.
/// Ensures:    the result ends at `limit` or below, unless `now` does not and nothing else was found. No
///             shape that lies elsewhere than before could lie there by itself: another is in its way, or
///             the limit.
/// Complexity: a number of small packings that is logarithmic in the number of shapes, or fixed; and
///             O(pieces) for each shape that lies elsewhere.
packing move_back(placement_shapes const& all, old_placement const& former, packing now, byte_count limit,
                  pack_options const& options, search_control& control, placement::pool_result& out);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/move_back.ipp>
#endif

#endif
