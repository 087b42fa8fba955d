// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_CAPPED_SCHEDULE_HPP
#define SUBLET_PLANNING_DETAIL_CAPPED_SCHEDULE_HPP

/// Computes schedules for w workers in which the live bytes stay within a cap, without deadlock, and the
/// makespan and the bytes of each: list scheduling that asks before each start whether what is left could
/// still run in sequence.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/planning/detail/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- capped schedule -------------------------------------------------------------------------------------

/// A free worker takes the first step of a list that fits. Near the least peak that alone ends in deadlock:
///
///     cap 100     0: make 60 ──► 1: free it         a worker that starts 2 beside 0 leaves 1, which needs
///                 2: make 40 ──► 3: add 20, free    20 more for a moment, without room for ever
///
/// So a step starts only if, when all running steps have ended, the rest can run one after the other in a
/// reference order within the cap. Lemma. Then no deadlock is possible: with no step running, the first step
/// that is left of the reference order can start, and after it the rest still fits.
///
///     reference   0   1   2   3   4         0 has run, 3 starts early: what it makes is live from now on
///     load        8  [4]  9   7   5         until its last reader, so the loads of 1 and 2 grow by it;
///                  + 3   + 3                it starts if the highest of them is still within the cap
///
/// Source: Dijkstra, "Een algorithme ter voorkoming van de dodelijke omarming", EWD 108, 1964 (the banker's
/// check); Graham 1969 for list scheduling.

namespace sublet::detail {

/// What schedules of a program depend on, by step.
struct schedule_problem {
    csr_rows<step_id, step_id> before, after;  ///< direct; a step may be listed twice
    csr_rows<step_id, buffer_id> begins, ends; ///< the buffers that it may be the first, or last, to touch
    csr_rows<buffer_id, step_id> ended_by;     ///< the steps that may be the last to touch it
    table<buffer_id, byte_count> size;
    table<buffer_id, pool_id> pool;
    table<buffer_id, unsigned char> is_given, is_kept;
    /// Pools from here on are no pools, but groups, and what lies in them are sections, each of size 1: a cap
    /// is the number of those that may run at once.
    pool_id first_group = no_pool;
    table<step_id, std::uint64_t> duration;   ///< at least 1
    table<step_id, std::uint64_t> path_ahead; ///< of durations, its own included

    [[nodiscard]] std::size_t steps() const { return duration.size(); }
    /// None, if it is a section of a group.
    [[nodiscard]] byte_count bytes_of(buffer_id b) const { return pool[b] < first_group ? size[b] : 0; }
};

/// Requires: `lives` are of `g`; the sum of durations fits 64 bits.
[[nodiscard]] schedule_problem schedule_problem_of(dependence_graph const& g,
                                                   concurrent_live_ranges const& lives,
                                                   table<buffer_id, byte_count> size,
                                                   table<buffer_id, pool_id> pool,
                                                   table<step_id, std::uint64_t> duration);

struct schedule_caps {
    byte_count all = no_limit;          ///< of all pools together
    table<pool_id, byte_count> of = {}; ///< of each pool; none for pools that are not listed
};

struct capped_schedule {
    table<step_id, std::uint64_t> start;
    std::uint64_t makespan = 0;
    byte_count bytes = 0;               ///< the most live at any time, of all pools together
    table<pool_id, byte_count> of_pool; ///< of each pool
    bool is_found = false;              ///< false: the reference order itself does not fit
};

/// A schedule in which at most `workers` steps run at any time, and never more bytes are live than the caps.
///
/// Of the ready steps that may start, the one of lowest `rank` is first, then the first of the reference.
///
/// Requires:   `reference` names every step once, each after its predecessors; at least one worker; with caps
///             all buffers together have less than 2^63 bytes.
/// Ensures:    found if the reference order in sequence is within the caps; what is given and not touched
///             counts before the first step only. With one worker and equal ranks the schedule is that order.
/// Complexity: O(edges + touches log steps + steps log steps), and for each step that ends a look at up to 32
///             ready steps that do not fit.
[[nodiscard]] capped_schedule schedule_within(schedule_problem const& problem,
                                              std::vector<step_id> const& reference, std::size_t workers,
                                              table<step_id, std::uint64_t> const& rank,
                                              schedule_caps const& caps = {});

/// Workers and bytes of a schedule with these starts, which is found.
///
/// Requires: a step starts no earlier than its predecessors end.
[[nodiscard]] capped_schedule measured(schedule_problem const& problem,
                                       table<step_id, std::uint64_t> const& start);

/// Each step once, after its predecessors: of those that may be next, the one of lowest rank.
[[nodiscard]] std::vector<step_id> sequence_by(schedule_problem const& problem,
                                               table<step_id, std::uint64_t> const& rank);

/// The workers of a schedule, as few as run at once: a step follows one that it waits for, if nothing has run
/// there since; otherwise it takes an idle worker, first one on which no waiting step could follow the last.
///
/// Complexity: O(steps log steps + edges log workers).
[[nodiscard]] table<step_id, std::uint32_t> workers_of(schedule_problem const& problem,
                                                       table<step_id, std::uint64_t> const& start);

/// The times of the positions of `g`.
[[nodiscard]] schedule_times times_of(dependence_graph const& g, schedule_problem const& problem,
                                      capped_schedule const& schedule);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/capped_schedule.ipp>
#endif

#endif
