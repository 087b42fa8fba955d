// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_STACK_FOR_SHAPES_HPP
#define SUBLET_PLANNING_DETAIL_STACK_FOR_SHAPES_HPP

/// The stacking of a plan for every shape: chosen by samples, and by shapes for which it turns out to be high.
///
///     samples ──► choose_stacking() ──► stacking ──► 128 more shapes, then uphill ──► the highest
///                        ▲                                                               │
///                        └──────────── one more sample, at most 16 times ────────────────┘

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/placement/internal/choose_stacking.hpp>
#include <sublet/planning/detail/sampled_shapes.hpp>

#include <vector>

namespace sublet::detail {

/// Chooses the stacking of the buffers of a plan; a shape for which it is high becomes one more sample, until
/// none is found. The last sample stays the last. `sized` gets the sizes of each sample.
void stack_for_shapes(symbolic_plan& plan, symbolic_options const& options, sampled_shapes& samples,
                      std::vector<stacked_sample>& sized);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/stack_for_shapes.ipp>
#endif

#endif
