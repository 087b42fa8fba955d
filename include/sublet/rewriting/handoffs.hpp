// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_HANDOFFS_HPP
#define SUBLET_REWRITING_HANDOFFS_HPP

/// Which steps must wait for which, so that buffers may lie where a plan for one order has put them.
///
///     offset  64 ┌─────┐┌─────────┐      0 ──► 1      c takes over the bytes of a
///                │  b  ││    d    │      2 ──► 3      d takes over the bytes of b and some of a
///             32 ├─────┴┼─────┬───┤
///                │  a   │  c  │   │      a is last used by 1; the step that makes c has to wait for it,
///              0 └──────┴─────┴───┘      unless edges, or other hand-offs, lead there anyway
///
/// Only who moves in directly after somebody has to ask: whoever was there before has already been waited
/// for. So each byte has one last tenant, and a buffer looks at those of its own bytes. All the waits that
/// come of it are put into the graph at once, and those left out again that a longer path stands for: in a
/// graph without cycles the rest is the smallest set that orders the same steps, and there is only one.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

/// Why no waiting makes a plan safe.
struct handoff_clash {
    buffer_id from = no_buffer;   ///< needed to the end,
    buffer_id to = no_buffer;     ///< or this one is there from the start; or neither is named, and
    std::vector<step_id> cycle{}; ///< each of these would wait for the one before, the first for the last
    friend bool operator==(handoff_clash const&, handoff_clash const&) = default;
};

struct handoff_set {
    std::vector<handoff> handoffs;      ///< ascending by `from`, then `to`
    std::vector<byte_count> bytes;      ///< by hand-off: how many change hands across it and nowhere else
    std::size_t takeovers = 0;          ///< how often a buffer takes over bytes of another
    std::size_t waits = 0;              ///< pairs of steps that they put in order and no edge does
    std::optional<handoff_clash> clash; ///< then there are no hand-offs
};

/// The hand-offs that make it safe to run concurrently what is placed so.
///
/// `placed` are the buffers of `lives` with pool, offset and size; one without offset or bytes is left out.
/// Those that share bytes follow each other as their `life`s do, in an order of whole steps: that of a
/// sequential plan, or a clock.
///
/// Requires:   buffers that overlap in bytes do not overlap in life, except where the one may be written over
///             the other in the step that both have in common.
/// Ensures:    with these hand-offs beside the edges of `g`, of two buffers that overlap in bytes one gives
///             to the other; none can be left out. If lives are those of a clock, there is no cycle, and no
///             path is longer than the clock's makespan.
/// Complexity: O((n + w) log n + positions + edges) time for n buffers and w waits between their steps, and
///             what has_detour() takes for the waits: least if positions ascend in the order of lives.
/// Throws:     precondition_error if tables have different lengths, or a buffer ends beyond 64 bits.
[[nodiscard]] handoff_set find_handoffs(dependence_graph const& g, concurrent_lives const& lives,
                                        std::vector<placed_buffer> const& placed);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/handoffs.ipp>
#endif

#endif
