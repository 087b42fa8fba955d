// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SAMPLED_SHAPES_HPP
#define SUBLET_PLANNING_DETAIL_SAMPLED_SHAPES_HPP

/// The shapes by which a plan for every shape is chosen: those that are asked for, and corners and geometric
/// middles of the ranges.
///
///     length
///       2048  x        x        x        1 or 2 open dimensions: the least, the middle and the largest of
///         45  x        x        x        each with those of the other; 3 or 4: corners, the centre, and the
///          1  x        x        x        middle of one dimension with the largest sizes; more: one dimension
///             1        8       64        at its least or its largest, the others at their middle
///                   batch

#include <sublet/core/symbolic_plan.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Shapes, each once; the last one has the largest size of each dimension.
struct sampled_shapes {
    std::vector<shape> shapes;
    std::vector<std::uint32_t> weights; ///< 0: is not in the mean
};

/// Requires:   ranges are not empty, strides at least 1.
/// Ensures:    at most 21 shapes for up to 4 dimensions, 2 d + 3 for d of more, and those of
///             `options.samples`.
/// Throws:     precondition_error for a sample that is in none of the ranges.
[[nodiscard]] sampled_shapes sample_shapes(symbolic_options const& options);

/// A shape of a sequence that fills the ranges, by the logarithms of their sizes: any first few are spread
/// about evenly.
///
/// Source: Halton, "On the efficiency of certain quasi-random sequences of points in evaluating
///         multi-dimensional integrals", 1960.
///
/// Requires:   as above.
/// Complexity: O(log(number)) for each dimension, and its prime.
[[nodiscard]] shape spread_shape(std::vector<dimension> const& dims, std::uint32_t number);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/sampled_shapes.ipp>
#endif

#endif
