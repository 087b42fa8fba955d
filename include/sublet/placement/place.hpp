// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_HPP
#define SUBLET_PLACEMENT_PLACE_HPP

/// An offset for every buffer, as low an arena in each pool as can be found, and a proved lower bound.
///
///     auto p = sublet::place(problem);                                      // counted work budget
///     auto q = sublet::place(problem, {.time_limit = 10, .threads = 8});    // time limit in seconds
///     auto r = sublet::place(problem, {.previous = q.offset});              // moves few bytes
///     auto t = sublet::place({.buffers = buffers, .clocks = clocks});       // several threads: problem.hpp
///
///     choices of pools? ─► choose_pools()        a previous placement? ─► replan(), otherwise pack()
///     a bound proved by search? ─► minimize_core(): a minimal set of buffers that proves it
///
/// Dynamic storage allocation is NP-hard: greedy orders, ejection, then exact search. Without a time limit
/// the result depends on problem and options only, not on the machine or the number of threads. No other
/// function reads a clock.

#include <sublet/placement/detail/timed_control.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sublet {

struct place_options {
    double time_limit = 0;   ///< seconds for all pools; 0: none, only the counts limit
    std::size_t threads = 1; ///< without a time limit the result is the same for any number
    std::uint64_t seed = 0;
    placement::objective objective = placement::objective::minimize;
    sublet::effort effort = sublet::effort::balanced;
    // For each pool; default: pack_options, scaled by the effort. With a time limit, improve_visits and nodes
    // default to no limit.
    std::optional<std::uint64_t> visits = {};         ///< pieces examined by greedy orders
    std::optional<std::uint64_t> improve_visits = {}; ///< pieces examined by ejection
    std::optional<std::uint64_t> nodes = {};          ///< nodes of the exact search
    detail::stop_request stop = {};                   ///< ends the search early, with the best so far
    detail::search_listener progress = {};            ///< called with best, bound, nodes
    per_value<byte_count> previous = no_offset;       ///< by buffer: its old offset; `no_offset`: new
    per_value<bool> keep = false;                     ///< by buffer: it must not move
};

/// Requires:   a buffer that is kept has a previous offset, and no other pin.
/// Ensures:    as pack(); placement/problem.hpp defines the status. Kept buffers have their old offsets.
///             `is_timed_out`: a time limit or a stop request may have changed the result; otherwise same
///             problem and options, same placement.
/// Complexity: pack(); with a time limit, each pool gets its share of the time.
/// Throws:     precondition_error where pack(), choose_pools() or replan() do, or if a table does not have
///             one entry per buffer; and what the listener throws.
[[nodiscard]] placement place(placement_problem const& problem, place_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/place.ipp>
#endif

#endif
