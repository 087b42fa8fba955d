// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_SIZE_SAMPLES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_SIZE_SAMPLES_HPP

#include "open_dimensions.hpp"

#include <sublet/core/formula.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace plan_model {

/// For each dimension how many strides it is above its least size.
using grid_point = std::vector<std::int64_t>;

/// The sizes at a point.
sublet::shape shape_at(std::vector<dimension_range> const& ranges, grid_point const& at);

/// Where samples are taken first: near the least sizes, at the corners, in the middle, and at a few points
/// that seem random and are the same each time.
std::vector<grid_point> first_points(std::vector<dimension_range> const& ranges);

/// Numbers at points. Numbers that are equal at each point are one class.
struct size_samples {
    std::vector<dimension_range> ranges;
    std::vector<grid_point> points = {};
    std::map<grid_point, std::size_t> index_of = {};     ///< of a point
    std::vector<std::size_t> class_of = {};              ///< by number
    std::vector<std::vector<std::int64_t>> numbers = {}; ///< by class and point

    /// Adds a point with all numbers. A class is split where its numbers differ.
    ///
    /// Requires: as many numbers each time; the point is new.
    void add(grid_point const& at, std::vector<std::int64_t> const& all);
};

/// The formula has these numbers at all points.
bool agrees(sublet::formula const& f, size_samples const& samples, std::vector<std::int64_t> const& numbers);

} // namespace plan_model

#endif
