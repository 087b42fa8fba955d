// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP
#define SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP

/// Checks a plan for every batch: as an ordinary plan at both ends, and neighbouring buffers in between.
///
///     N = 1      check_plan()                  live ranges, views, in-place pairs, pools, capacities
///     N = max    check_plan()
///     between    buffers alive together keep one order by address, and none reaches into the next
///
/// Proof for the batches between: let buffer a start below b, both alive, and let the top of a (its end, with
/// the most padding that rounding may take) be at most the start of b for N = 1 and for N = max. Both are
/// affine in N, so this holds for every N between; ends are at most tops, and rounding up does not lower b.
/// As in check_plan(), comparing neighbours suffices. Arenas are largest for N = max; sizes that are 0 or
/// unknown are so for every N. Values of one buffer have one offset, and whether they may share it depends on
/// N only by the sizes of in-place pairs, which are compared at both ends.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `plan` is valid for every batch from 1 to `options.max_batch`: true, or the first reason why not.
///
/// Requires:   as check_plan(); `options.max_batch` is at least 1.
/// Ensures:    the first fault in this order: a plan of another program or largest batch; what check_plan()
///             finds for a batch of 1, then for the largest; by value, a buffer that is too small; by buffer,
///             a top above the arena; by value, an alignment; the first position at which one buffer reaches
///             into the next. A plan that is valid for every batch can be refused, with a batch of 0: if two
///             buffers swap their order between two batches, or rounding takes less padding than it may.
/// Complexity: check_plan() twice, and O(n log n), n = values.
/// Throws:     precondition_error where a requirement is broken, or bytes reach 2^64 - 1.
[[nodiscard]] verdict check_plan(snapshot const& p, symbolic_plan const& plan,
                                 symbolic_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_symbolic_plan.ipp>
#endif

#endif
