// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_LIVE_PEAK_HPP
#define SUBLET_EXECUTION_DETAIL_LIVE_PEAK_HPP

/// A lower bound of the bytes of a run: the live peak.
///
///     position      0   1   2
///     a: 8          [=======)
///     b: 4              [=======)       8, then 12, or 8 if b may be written over a; then 4
///
/// Walks the lowered program with the bytes of all live buffers: inputs are live from the start, a result
/// from its first write, each to its last touch. In-place results of a step are a maximum-weight matching.

#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>

namespace sublet::detail {

/// The maximum of live bytes in each pool, with an optimal choice of in-place results, summed over the pools.
/// A lower bound for arenas of these values and, for one pool, for any allocator.
/// Complexity: O(touches + buffers + pairs), and match_overwrites() at each position.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are live at once.
[[nodiscard]] byte_count live_peak(lowered_program const& lowered);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/live_peak.ipp>
#endif

#endif
