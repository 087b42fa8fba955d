// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_CONCURRENT_HPP
#define SUBLET_PLAN_CONCURRENT_HPP

/// Offsets or slots that are valid for every schedule: steps run concurrently on threads, streams or queues.
///
///     auto planned = sublet::plan_concurrent(program, {.bytes = sizes});
///     std::cout << planned << '\n';
///
///     program ─► dependences ─► buffers ─► in place ─► conflicts ─┬─► antichain: lower bound
///                                                                 ├─► chains: slots
///                                                                 └─► offsets ─► check_concurrent_plan
///
/// The plan holds for every order of the steps that respects their operands and the edges of the program; it
/// adds no lock or event. Past optional steps there are hand-offs, which add no wait while these run. With
/// `options.previous` no pool is higher than without it and `keep_within` of that, and offsets stay as
/// plan_memory() has it. plan_handoffs.hpp plans with added waits, which can take fewer bytes.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// What is planned, and the order that the execution keeps besides.
struct concurrent_options {
    /// Where buffers may lie.
    enum class strategy_kind : std::uint8_t {
        offsets, ///< anywhere in the arena
        slots    ///< whole slots, shared in turn: for executors without an arena
    };

    /// Where buffers may lie.
    concurrent_options::strategy_kind strategy = concurrent_options::strategy_kind::offsets;
    std::vector<handoff> handoffs = {}; ///< order besides data and edges that the execution keeps
};

/// A plan for every schedule, with its proof.
struct planned_concurrently : planned_memory {
    /// The roots of buffers that all conflict with each other, one antichain per pool. The sum of their
    /// weights is the lower bound of the report.
    std::vector<value_id> antichain;
    bool is_bound_exact = false; ///< no antichain is heavier
    sized_slot_plan slots;       ///< by buffer of the plan: slots that are valid for every schedule
    /// Pairs kept apart only because the number of ranges is limited.
    std::uint64_t undecided = 0;
};

/// Plans storage for steps that may run in any order, and concurrently, as edges and data allow.
///
/// Requires:   each value is written by one step. If values are written more than once, or given and written,
///             plan the versions (analysis/versions.hpp). `options.order` orders writes only, and makes
///             each value before its uses, as a list does.
/// Ensures:    the plan is valid for the concurrent reading together with `wanted.handoffs`, and proved
///             unless `options.check` is off. The arena is never larger than slots of the same effort. The
///             lower bound is the weight of `antichain`: no plan that holds for every schedule is smaller.
///             error() is as plan_memory's. When the work of `options.effort` is done before a search ends,
///             the plan stays valid, and `report().is_cut_short`.
/// Complexity: O(V + E + touches + values), the ranges of find_conflict_ranges(), heaviest_antichain() for
///             each pool, share_in_chains(), place_concurrently() and check_concurrent_plan().
/// Throws:     precondition_error if a precondition of a stage is violated.
[[nodiscard]] planned_concurrently plan_concurrent(snapshot const& p, plan_options const& options,
                                                   concurrent_options const& wanted = {});

/// The same for a listing: the result is asked with handles.
template <detail::listed L>
[[nodiscard]] auto plan_concurrent(L const& list, concurrent_options const& wanted = {})
{
    return list.named(plan_concurrent(list.program(), list.sized_options(), wanted));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_concurrent.ipp>
#endif

#endif
