// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STACKING_HPP
#define SUBLET_CHECKING_CHECK_STACKING_HPP

/// Checks the stacking of a plan, in any reading, by the ordinary checker of that reading: each buffer in
/// turn is given more bytes than all others have together.
///
///     offset |            [  huge  ]      b is huge. If no path of pairs leads from b to d, d lies where
///            |   [== d ==][  b     ]      it lay, among the bytes of b: what conflicts is found
///            |   [== a ==]
///
/// Proof: let two buffers conflict, without a path of pairs between them. With the sizes of the plan, one of
/// them begins no higher than the other. Make that one huge: neither offset changes, and it reaches beyond
/// the begin of the other one, so they share a byte. Hence if the plan is valid with each buffer made huge,
/// all buffers that conflict are on a path, and lie apart whatever the sizes are.

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `stack` gives valid plans for all sizes of the buffers of `plan`, in the plan's reading: true, or
/// what is wrong where one buffer is huge; fault::foreign_plan if it is no stacking of these buffers.
///
/// Requires:   as check_plan(), check_concurrent_plan() or check_flow_plan(); in a program without control
///             flow, the last one is asked for plans of that reading.
/// Complexity: O(n) calls of that checker, n = buffers: for tests. check_plan() of a symbolic plan is O(n log
///             n).
/// Throws:     precondition_error where a requirement is broken, or if the sizes of all buffers are 2^60
///             bytes or more.
[[nodiscard]] verdict check_stacking(snapshot const& p, stacking const& stack, memory_plan const& plan,
                                     plan_options const& options, flow_options const& flow = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_stacking.ipp>
#endif

#endif
