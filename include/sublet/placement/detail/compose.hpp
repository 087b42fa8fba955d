// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_COMPOSE_HPP
#define SUBLET_PLACEMENT_DETAIL_COMPOSE_HPP

/// Rectangles that fit together without a gap become one: what is left is a smaller problem, and each of its
/// packings is one of all shapes. If the shapes fill a rectangle, often one is left, and it is the optimum.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- compose ---------------------------------------------------------------------------------------------

///     +-------+     +---+----+     +--+-------+      one on the other: the same live range
///     |   b   |     |   |    |     |  |   t   |      one after the other: b begins where a ends, and no other
///     +-------+     | a | b  |     |l +---+---+      that begins or ends there has their size
///     |   a   |     |   |    |     |  | c |   |      five in a pinwheel: l = c + t and r = c + b in bytes,
///     +-------+     +---+----+     +--+---+ r |      l ends and t begins where c begins, b ends and r begins
///                                  |  b   |   |      where c ends, l begins with b, and t ends with r
///                                  +------+---+
///
/// If all bytes are live at all positions, what ends at a position makes room for exactly what begins there.
/// So in a dissection by cuts from edge to edge, or by pinwheels, at distinct positions, each such step is
/// the inverse of a cut, and all are found, in any order. Elsewhere a step may exclude the lowest packings.
///
/// Source: hierarchical floorplans of order 5, of the same two steps and the pinwheel: Wang and Wong, "Optimal
/// floorplan area optimization", IEEE Transactions on Computer-Aided Design 1992.

namespace sublet::detail {

/// The shapes that are left, and where in them the others lie.
struct composed_shapes {
    struct part {
        std::uint32_t whole;  ///< the block that it is part of, of a higher number; or itself
        byte_count above = 0; ///< its origin above that of the block
    };

    placement_shapes shapes;                  ///< sorted as usual, without parts
    std::vector<std::uint32_t> blocks;        ///< by shape of `shapes`: its block
    std::vector<composed_shapes::part> parts; ///< by block; the first are the shapes that were composed

    /// The origins of the shapes that were composed, from those of the shapes that are left. O(n)
    [[nodiscard]] std::vector<byte_count> origins(std::vector<byte_count> const& of_left) const;
};

/// Composes shapes that are one rectangle, without a pin and a preferred origin, as long as any fit and
/// `visits` suffice.
///
/// Ensures:    each packing of the shapes that are left is one of all, of the same height, by origins().
///             Alignments hold. The same result, unless the control stops it.
/// Complexity: O(n) and the visits: for each new block all that begin or end with it, if it is in a pinwheel
///             all pairs of them.
[[nodiscard]] composed_shapes compose(placement_shapes const& all, std::uint64_t visits,
                                      search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/compose.ipp>
#endif

#endif
