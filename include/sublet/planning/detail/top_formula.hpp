// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_TOP_FORMULA_HPP
#define SUBLET_PLANNING_DETAIL_TOP_FORMULA_HPP

/// The arenas of a plan for every shape as a formula, where few paths of buffers can be the highest one.
///
///     below b: a          a ends at 4*n           b begins at 4*n
///     below d: b, c       b ends at 6*n           d begins at max(6*n, 512), or at 6*n if n is at least 86
///                         c ends at 512
///
/// Of each offset the ends of paths are kept of which none is proved to be below another one: at most 4.

#include <sublet/core/formula.hpp>
#include <sublet/core/symbolic_plan.hpp>

#include <vector>

namespace sublet::detail {

/// The bytes of all pools together, for every shape; `by_shape()` if an offset would take more than 4 paths,
/// or all of them too many proofs.
///
/// Requires:   no size is by shape.
/// Complexity: O(pairs of the stacking), and at most 20000 proofs.
[[nodiscard]] formula top_formula(symbolic_plan const& plan, std::vector<shape> const& samples);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/top_formula.ipp>
#endif

#endif
