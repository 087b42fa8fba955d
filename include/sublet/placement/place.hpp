// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_HPP
#define SUBLET_PLACEMENT_PLACE_HPP

/// An offset for every buffer, in as low an arena a pool as can be found, and why it cannot be lower.
///
///     auto p = sublet::place(problem);                                      // in counted steps
///     auto q = sublet::place(problem, {.time_limit = 10, .threads = 8});    // in seconds
///     auto r = sublet::place(problem, {.previous = q.offset});              // and moving little
///
///     choices of pools? ─► choose_pools()        a previous placement? ─► replan(), otherwise pack()
///     a bound that search has proved? ─► minimize_core(): the few buffers that are the reason
///
/// Without a time limit the same problem and options have the same answer on every machine, and on however
/// many threads. This is the only call that looks at a clock.

#include <sublet/placement/detail/timed_control.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sublet {

struct place_options {
    double time_limit = 0;   ///< seconds for all pools; 0: none, the counts are the limits
    std::size_t threads = 1; ///< the answer is the same for any number, but for a time limit
    std::uint64_t seed = 0;
    placement::objective objective = placement::objective::minimize;
    // Of each pool. Not given: as many as pack() has by itself, and within a time limit any number.
    std::optional<std::uint64_t> visits = {};         ///< looks at pieces in the way, while orders are tried
    std::optional<std::uint64_t> improve_visits = {}; ///< the same, while shapes are reordered
    std::optional<std::uint64_t> nodes = {};          ///< of the search
    detail::stop_request stop = {};                   ///< ends it early, with the best so far
    detail::search_listener progress = {};            ///< called with best, bound, nodes
    per_value<byte_count> previous = no_offset;       ///< by buffer: where it was; `no_offset`: it is new
    per_value<bool> keep = false;                     ///< by buffer: it must not move
};

/// Place the buffers of a problem.
///
/// Requires:   a buffer that is kept has a previous offset, and no other pin.
/// Ensures:    what pack() ensures; placement/problem.hpp says what the status promises. Kept buffers are
/// where they
///             were. If `is_timed_out`, a time limit or a stop request has made a difference; otherwise same
///             problem and options, same placement.
/// Complexity: pack(), or for one pool after the other its share of the time limit.
/// Throws:     precondition_error where pack(), choose_pools() or replan() do, or a table has not one entry a
///             buffer; and what the listener throws.
[[nodiscard]] placement place(placement_problem const& problem, place_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/place.ipp>
#endif

#endif
