// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_FIT_SIZES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_FIT_SIZES_HPP

/// Numbers that depend on open dimensions, as formulas that are found from samples.
///
///     shape (batch, height)    (1, 64)   (1, 96)   (2, 64)   (2, 96)  ...
///     a dimension of a value       16        24        16        24   ...   ceil_divide(height, 4)
///     another one                1024      2304      2048      4608   ...   batch * height * height / 4
///
/// Tried in turn: a polynomial of degree 4 at most in each dimension, from differences at consecutive sizes;
/// a multiple of one dimension that is divided and rounded up, as strided windows make it; a product of two
/// numbers that are found, or a sum of up to three. What is found agrees with all samples. It is no proof:
/// between them another number is possible, and the use of a formula must be safe from that.

#include "fitted_size.hpp"
#include "size_samples.hpp"

#include <optional>
#include <vector>

namespace plan_model {

struct fitted_sizes {
    std::vector<std::optional<fitted_size>> of; ///< by class; nothing: not found, or not needed
    std::vector<grid_point> wanted;             ///< with samples there more may be found
};

/// `is_needed`: by class.
fitted_sizes fit_sizes(size_samples const& samples, std::vector<bool> const& is_needed);

} // namespace plan_model

#endif
