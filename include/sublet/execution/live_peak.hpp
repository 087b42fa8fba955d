// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_LIVE_PEAK_HPP
#define SUBLET_EXECUTION_LIVE_PEAK_HPP

/// How many bytes a run cannot do without.
///
///     position      0   1   2
///     a: 8          [=======)
///     b: 4              [=======)       8, then 12, or 8 if b may be written over a; then 4
///
/// A walk along the tape with the bytes of all that is there: inputs come first, a result comes with the
/// first step that writes it, and all leave with their last touch. Of the in-place pairs of a step as many
/// bytes are saved as its results can save together.

#include <sublet/execution/tape.hpp>
#include <sublet/units.hpp>

namespace sublet {

/// The most bytes alive at once in each pool, as many results written in place as can be; summed over the
/// pools. What no arenas for these values go below, nor, of one pool, any storage, whoever gives it out.
///
/// Complexity: O(touches + buffers + pairs), and match_overwrites() at each position.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once.
[[nodiscard]] byte_count live_peak(run_tape const& tape);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/live_peak.ipp>
#endif

#endif
