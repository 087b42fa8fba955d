// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_FORMULA_BOUNDS_HPP
#define SUBLET_CORE_INTERNAL_FORMULA_BOUNDS_HPP

/// What is proved of formulas in the ranges of their dimensions, beside never_above(): that they are
/// multiples of a number, or rising. False: it is not proved, or wrong for some shape.

#include <sublet/core/formula.hpp>

#include <cstdint>
#include <span>

namespace sublet::detail {

/// f is a multiple of n for every shape: each coefficient is, after dimensions are replaced by their number
/// of strides; or each of at most 4096 shapes is tried, of which those are enough that have fewer than n
/// strides.
///
/// Requires: 1 <= n < 2^63.
/// Throws:   precondition_error if f is unknown, or if a dimension that occurs is not in `dims`, has no
///           stride, or its least size is above its most. So do all functions below.
[[nodiscard]] bool is_multiple_of(formula const& f, byte_count n, std::span<dimension const> dims);

/// f does not become smaller when one dimension is increased by its stride. The dimension need not occur.
[[nodiscard]] bool is_rising_in(formula const& f, std::uint32_t of, std::span<dimension const> dims);

/// One more than the largest index of a dimension that occurs in f; 0 if none does. f is a formula.
[[nodiscard]] std::size_t dimensions_of(formula const& f);

/// A bound that f is proved never to be above, and that is reached or nearly so: found by doubling and
/// bisection. `no_size` where none below 2^62 is proved.
[[nodiscard]] byte_count upper_bound_of(formula const& f, std::span<dimension const> dims);

/// Adds times * f to a sum; false, and the sum is unchanged, if the result exceeds a limit of formulas.
/// Requires: both are formulas.
[[nodiscard]] bool add_times(formula& sum, formula const& f, byte_count times);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/formula_bounds.ipp>
#endif

#endif
