// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_GAINS_HPP
#define SUBLET_SHARING_IN_PLACE_GAINS_HPP

/// What each in-place pair is good for.
///
///     bytes alive
///       96 |        . .                 y over x: without it 64 more bytes would be alive at that step,
///       64 |   +-+  : :                 but the peak would be only 96 - 64 = 32 higher
///       32 | +-+ +--+-+--
///          +--------y------> position   a pair whose step stays below the peak without it saves nothing
///          there
///
/// Without a pair its result is alive beside the operand, at that one step, and nothing else changes. So the
/// peak without it is the higher of the peak with it and what would be alive there.

#include <sublet/analysis/buffers.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// The gains of the pairs that are joined in `table`, in their order; `steps` are the steps by position.
///
/// Requires:   lives in the table are by position; a pair's result is written at its step first.
/// Complexity: O(k (buffers + steps) + pairs log pairs) for pairs in k pools.
/// Throws:     precondition_error if 2^64 - 1 bytes or more would be alive at once.
[[nodiscard]] std::vector<in_place_gain> in_place_gains(buffer_table const& table,
                                                        std::vector<step_id> const& steps);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place_gains.ipp>
#endif

#endif
