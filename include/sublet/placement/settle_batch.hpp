// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SETTLE_BATCH_HPP
#define SUBLET_PLACEMENT_SETTLE_BATCH_HPP

/// Let the buffers of a plan for every batch sink, for one batch, onto what they really lie on.
///
///     for every N    c on the line over a and b        N = 3    a: 300 bytes    c sinks from 1142
///                    (1000 bytes, 100 N)                        b: 1000 bytes   to 1000
///
/// A formula for an offset is a straight line, and what it stands on may be a line with a bend. Who can
/// afford a walk over all buffers for each new batch saves what lies between the two.
///
/// In the order of their offsets each buffer takes the lowest place that is free. Its own place is: all
/// before it lie where they did, or lower, and ended below it if they are alive with it. So nobody rises.

#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

namespace sublet {

/// The plan for one batch, and lower than `plan.at(batch)` where that is possible.
///
/// Requires:   the plan is sound for this batch.
/// Ensures:    as `plan.at(batch)`, which no buffer and no arena is above.
/// Complexity: fit_two_ended().
/// Throws:     precondition_error if there is no such batch.
[[nodiscard]] memory_plan settle_batch(symbolic_plan const& plan, byte_count batch);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/settle_batch.ipp>
#endif

#endif
