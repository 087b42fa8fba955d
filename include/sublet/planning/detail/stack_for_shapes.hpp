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
#include <sublet/placement/internal/stack_buffers.hpp>
#include <sublet/planning/detail/sampled_shapes.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The buffers of a plan without their sizes, in at least so many pools.
[[nodiscard]] unsized_buffers without_sizes(symbolic_plan const& plan, std::size_t pools);

/// Chooses the stacking of the buffers of a plan; a shape for which it is high becomes one more sample, until
/// none is found. The last sample stays the last. `sized` gets the sizes of each sample.
///
/// Requires: `buffers` are those of the plan, and `reading` is theirs.
void stack_for_shapes(symbolic_plan& plan, unsized_buffers const& buffers, stacked_reading& reading,
                      symbolic_options const& options, sampled_shapes& samples,
                      std::vector<stacked_sample>& sized);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/stack_for_shapes.ipp>
#endif

#endif
