// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_HPP
#define SUBLET_PLACEMENT_PLACE_HPP

/// An offset for every buffer, as low an arena in each pool as can be found, and a proved lower bound.
///
///     auto p = sublet::place(problem);                                      // counted work budget
///     auto q = sublet::place(problem, {.time_limit = 10, .threads = 8});    // time limit in seconds
///     auto r = sublet::place(problem, {.previous = q.offset});              // moves few bytes
///     auto t = sublet::place({.buffers = buffers, .clocks = clocks});       // several threads
///     auto u = sublet::place({.buffers = buffers, .period = 60});           // one round after another
///     auto v = sublet::place({.buffers = buffers, .penalties = {{0, 1, 5}}}); // reuse that costs 5
///     auto bases = sublet::place(plan, {sublet::no_offset, 4096});          // its pools, in one memory
///
///     choices of pools? ─► choose_pools()        a previous placement? ─► replan(), otherwise pack()
///     a bound proved by search? ─► minimize_core(): a minimal set of buffers that proves it
///
/// Dynamic storage allocation is NP-hard: greedy orders, ejection, then exact search. Without a time limit
/// the result depends on problem and options only, not on the machine or the number of threads. No other
/// search reads a clock.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/search_callbacks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// What is asked for, how much work to do, and a placement to change as little as possible.
struct place_options {
    double time_limit = 0;   ///< seconds for all pools; 0: none, only the counts limit
    std::size_t threads = 1; ///< without a time limit the result is the same for any number
    std::uint64_t seed = 0;  ///< of the random choices of a search; any number
    placement::objective objective = placement::objective::minimize; ///< what is asked for
    /// Of each pool: pieces examined by greedy orders and by ejection, and nodes of the exact search. With a
    /// time limit it limits the first of these only.
    sublet::effort effort = sublet::effort::balanced;
    stop_request stop = {};                                ///< ends the search early, with the best so far
    search_listener progress = {};                         ///< called with best, bound, nodes
    per_value<byte_count, buffer_id> previous = no_offset; ///< the old offset; `no_offset`: new
    per_value<bool, buffer_id> keep = false;               ///< it must not move
};

namespace detail {

struct pack_options;
placement place(placement_problem const& problem, place_options const& options, pack_options const& budgets);

} // namespace detail

/// Places the buffers of a problem, and proves a bound on each pool.
///
/// Requires:   a buffer that is kept has a previous offset, and no other pin.
/// Ensures:    offsets are aligned, pins and distances kept, and no two buffers of one pool share a byte at
///             a position where it matters to both, unless they are colocated. placement_problem.hpp defines
///             the status of a pool. Kept buffers have their old offsets. `is_timed_out`: a time limit or a
///             stop request may have changed the result; otherwise same problem and options, same placement.
///             With clocks of several threads no two buffers that conflict share a byte, and the bound is the
///             heaviest antichain for up to 4096 buffers of a pool; of more, or if it takes too much work,
///             the most bytes live at a counter of a thread, or a heavier antichain that was met. The proof
///             says which.
///             With a period the offsets hold in every round, and so does the bound, which is at least the
///             most bytes live at one position of a round; positions of the result are below the period.
///             A pool with a largest block lies in blocks, at the lowest end that is found, and has as few
///             of them as there are for that end.
///             With penalties the sum of what is paid is the least that is found within the capacities, and
///             its bound is proved; then the height is as low as is found. A pool that penalties name is
///             optimal if it pays the bound.
///             With a guard, two buffers of a pool that are live together are as many bytes apart at all
///             positions, and so are bounds; a listener hears of heights with one behind the last buffer.
///             Stopped, by time or request, before a first placement is complete, the buffers that have no
///             offset yet lie one above the other: a placement always exists, and its bound is proved.
/// Complexity: O(n log n), and what the effort allows, n = buffers, gaps and colocations; O(n) memory. With
///             clocks n is the number of pairs that conflict, and finding them is O(buffers^2 threads). With
///             a time limit, each pool gets its share of the time. Reading the problem, the lower bound,
///             stacking the rest and dividing a pool into blocks are not stopped: O(n log n), but for blocks
///             and clocks. With penalties finding the pairs that are live together is O(pairs), not stopped
///             either. All else asks for a stop within some 10,000 steps for up to 2000 buffers, and some
///             100,000 for more.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, where sums of bytes exceed
///             64 bits, for clocks that are not one begin and one later end for each buffer and thread, that
///             come with gaps, colocations or a period, or with many more than 16 million pairs that
///             conflict, for penalties that come with what placement_problem.hpp excludes, that name one
///             buffer twice, two pools or what two pins contradict, that add up to more than 2^62 / (buffers
///             + 1), or in a pool with more than 4 million pairs, for a buffer that lives longer than a period or begins behind it, where
///             choose_pools() or replan() do, for a buffer or a choice in a pool that is not listed if any
///             is, or if a table does not have one entry per buffer; and what the listener throws.
[[nodiscard]] placement place(placement_problem const& problem, place_options const& options = {});

/// Bases for the pools of a plan in one memory, around pools with a given base.
///
///     bases    { no_offset, 4096 }       0 [ pool 0 ]     | 4096 [ pool 1 ]       pool 2: where it fits
///
/// Requires:   `bases` has the base of some pools; `no_offset` or missing: it is to be found. Pools
///             without bytes get none.
/// Ensures:    the offsets of the result are bases, where buffer 0 is pool 0 and so on: multiples of the
///             alignments of all buffers in the pool, so that pools do not overlap; `pools[0]` has the end
///             and a proved bound. The end is the lowest that there is if up to 8 pools are free.
/// Complexity: place() of a buffer for each pool; up to 8! orders are tried.
/// Throws:     precondition_error where place() does.
[[nodiscard]] placement place(memory_plan const& plan, table<pool_id, byte_count> const& bases,
                              pool_limits const& memory = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/place.ipp>
#endif

#endif
