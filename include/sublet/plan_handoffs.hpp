// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_HANDOFFS_HPP
#define SUBLET_PLAN_HANDOFFS_HPP

/// The front door for programs whose steps run as soon as they may, if they may also wait for memory.
///
///     auto planned = sublet::plan_with_handoffs(program, {.bytes = sizes});
///     for (auto h : planned.plan.handoffs) queue.wait(h.to, h.from);      // h.to begins when h.from has
///     ended
///
///     plan for every schedule ─┬─► not above a plan in a clock by more than a trifle: that one, nobody waits
///     plan in a clock ─────────┘   otherwise: those that lie above it may wait, then more of them, until it
///                                  is as low ─► find_handoffs ─► check_concurrent_plan
///
/// A plan that holds for every schedule keeps apart whatever could meet in any of them. Often it is as low as
/// a plan for one order. Where it is not, a few steps are told to wait for others; all of them keep to one
/// clock, so that no execution becomes longer than that clock, whose makespan the user has accepted.

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct handoff_options {
    per_value<tick_count> duration = tick_count{1}; ///< by step, at least 1
    /// The makespan that is accepted is that of a schedule for so many workers; 0: for one a step, so that no
    /// execution becomes longer at all.
    std::size_t workers = 0;
    bool few_waits = true;              ///< false: share whatever the clock allows, however many have to wait
    std::uint32_t minimum_gain = 5;     ///< so many thousandths of an arena are not worth waiting for
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps anyway
    std::uint64_t visits = 100'000'000; ///< work after which offsets are improved no further
    std::uint64_t max_ranges = std::uint64_t{1} << 24; ///< analysis/dependences.hpp
};

struct planned_with_handoffs : planned_memory {
    std::vector<byte_count> handoff_bytes; ///< by hand-off of the plan: how many change hands across it
    byte_count bytes_without = 0;          ///< what the plan for every schedule takes
    tick_count makespan = 0;               ///< that was accepted
    tick_count critical_path = 0;          ///< without hand-offs
    tick_count critical_path_with = 0;     ///< never longer than `makespan`
};

/// Plan where every value lives, and which steps wait for which because of it, so that steps may otherwise
/// run in any order, and at once.
///
/// Requires:   as plan_concurrent; every duration is at least 1.
/// Ensures:    the plan is valid for the concurrent reading together with its hand-offs, the given ones
/// first,
///             and proved to be unless `options.check` is off. None that was found can be left out, and none
///             of them lets the critical path grow beyond `makespan`. Of the plan for every schedule those
///             pools are kept that a plan in the clock would lower by no more than a trifle; the others are
///             no more than that above it. The lower bound is that of plans in the clock if anybody waits.
/// Complexity: plan_concurrent(), pack() in two clocks, and up to 16 times place_concurrently().
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] planned_with_handoffs plan_with_handoffs(snapshot const& p, plan_options const& options,
                                                       handoff_options const& wanted = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_handoffs.ipp>
#endif

#endif
