// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP
#define SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP

/// Checks a plan for every shape: as an ordinary plan for the smallest and the largest shape, and its
/// stacking and its formulas for all of them.
///
///     least sizes   check_plan()        live ranges, views, in-place pairs, pools, capacities
///     most sizes    check_plan()
///     every shape   at each position the live buffers of a pool form a chain of the stacking
///                   sizes of a buffer and of its values are equal, views are within their roots, pins and
///                   capacities hold with the largest size of each buffer
///
/// Proof: of two buffers that are alive at a position, one is below the other in the chain, by pairs of the
/// stacking that are all in it. An offset is at least the end of each buffer below, so their bytes are
/// disjoint, whatever the sizes are. It suffices to look at positions at which buffers begin: each has to be
/// in pairs with both neighbours. Where one ends, its neighbours stay in a chain through it.
///
/// For every schedule, check_concurrent_plan() takes the place of check_plan(). Then of each two buffers of a
/// pool one is on a path of the stacking below the other, or all touches of one happen before all defs of the
/// other, in the order that every shape has: accesses of a view with an open place or size wait for none.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `plan` is valid for every shape in the ranges of `options.dims`: true, or the first reason why
/// not.
///
/// Requires:   as check_plan(); ranges are not empty, strides at least 1.
/// Ensures:    the first fault in this order: a plan of another program, reading, dimensions or hand-offs, or
///             a stacking that is none; what check_plan() finds for the least sizes, then for the largest; by
///             value, a pin of another buffer, a size, a view or an alignment that is not proved; a pair of
///             the stacking that is missing; pins and capacities. at_shape is a shape that shows it, or empty: it
///             is not proved for every shape. Of sizes by shape nothing is proved but the stacking.
/// Complexity: check_plan() twice, O(n log n), n = values and pairs, and a proof for each value with an open
///             size or place. For every schedule also O(b / 64 (b + pairs + steps + edges + touches)), b =
///             begins of buffers.
/// Throws:     precondition_error where a requirement is broken, or sizes exceed 64 bits.
[[nodiscard]] verdict check_plan(snapshot const& p, symbolic_plan const& plan,
                                 symbolic_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_symbolic_plan.ipp>
#endif

#endif
