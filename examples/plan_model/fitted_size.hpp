// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_FITTED_SIZE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_FITTED_SIZE_HPP

#include "size_samples.hpp"

#include <sublet/core/formula.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace plan_model {

/// polynomial * rest / divisor, of which each number at a shape is an integer.
struct fitted_size {
    std::map<std::vector<int>, std::int64_t> polynomial; ///< coefficients by the exponents of the dimensions
    std::int64_t divisor = 1;
    sublet::formula rest = 1;

    sublet::formula as_formula() const;
};

fitted_size fitted_constant(std::int64_t number, std::size_t dimensions);

/// The product of both.
///
/// Throws: std::overflow_error.
fitted_size operator*(fitted_size const& a, fitted_size const& b);

/// Sums and products that are exact.
///
/// Throws: std::overflow_error.
std::int64_t exact_product(std::int64_t a, std::int64_t b);
std::int64_t exact_sum(std::int64_t a, std::int64_t b);

/// Newton's form of a polynomial: coefficients c by points e. Its number at a point t is the sum of
/// c * (t1 choose e1) * (t2 choose e2) ...
using newton_terms = std::map<grid_point, std::int64_t>;

/// The number at a point.
///
/// Throws: std::overflow_error.
std::int64_t number_at(newton_terms const& terms, grid_point const& at);

/// The same in sizes instead of points.
///
/// Throws: std::overflow_error.
fitted_size in_sizes(newton_terms const& terms, std::vector<dimension_range> const& ranges);

} // namespace plan_model

#endif
