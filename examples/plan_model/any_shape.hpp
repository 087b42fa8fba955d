// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_ANY_SHAPE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_ANY_SHAPE_HPP

/// A published model with open dimensions, and the size of each of its values for every shape.
///
///     file ─► read at some shapes ─► one structure ─► sizes by shape ─► formulas, tried at more shapes
///                   ▲                                                      │
///                   └───────────── shapes that would tell more ◄───────────┘
///
/// A formula agrees with each shape at which the file was read. Between them another size is possible: an
/// arena at that shape is laid out with the sizes that its formulas give, and a run compares these with what
/// is computed. So a wrong formula costs bytes, or a refusal, and never data. A size that is no formula is
/// read from the file at each shape.

#include "fit_sizes.hpp"
#include "network.hpp"
#include "open_dimensions.hpp"
#include "read_model.hpp"

#include <sublet/core/formula.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plan_model {

class shape_readings;

/// A network of one structure for every shape.
struct shaped_network {
    network
        net; ///< as of the largest shape; operands are overwritable if they are at each shape that was read
    std::vector<dimension_range> ranges;
    std::vector<sublet::formula> bytes; ///< by value; by_shape() if it is no formula
    std::size_t by_shape = 0;           ///< values of which the size is no formula
    std::size_t reads = 0;              ///< of the file
    double milliseconds = 0;            ///< to read the file as often
    std::shared_ptr<shape_readings> readings;

    /// Refers to the names of the ranges.
    std::vector<sublet::dimension> dims() const;

    /// The bytes of a value, read from the file at this shape; the last few shapes are kept.
    ///
    /// Throws: input_error if the network has another structure at the shape, or none.
    sublet::byte_count bytes_at(sublet::value_id v, std::span<sublet::byte_count const> shape) const;
};

/// The options that give these sizes.
std::vector<given_dimension> given_at(std::vector<dimension_range> const& ranges,
                                      std::span<sublet::byte_count const> shape);

/// "batch=1, height=64".
std::string text_of_shape(std::vector<dimension_range> const& ranges,
                          std::span<sublet::byte_count const> shape);

/// Reads the file for these ranges. An operation with graphs inside is one step, with an arena of its own.
///
/// Complexity: O(dimensions) readings of the file if its sizes are polynomials or quotients; 160 at most.
/// Throws:     input_error, naming the file; also if the file has two structures, by the first difference and
/// both
///             shapes.
shaped_network read_for_shapes(std::string const& file, model_options const& how,
                               std::vector<dimension_range> const& ranges, plan_settings const& settings);

} // namespace plan_model

#endif
