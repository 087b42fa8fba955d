// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_CONCURRENT_HPP
#define SUBLET_PLAN_CONCURRENT_HPP

/// The front door for programs whose steps run as soon as they may: on threads, streams, queues.
///
///     auto planned = sublet::plan_concurrent(program, {.bytes = sizes});
///     std::cout << planned.report << '\n';
///
///     program ─► dependences ─► buffers ─► in place ─► conflicts ─┬─► antichain: the bound
///                                                                 ├─► chains: slots
///                                                                 └─► offsets ─► check_concurrent_plan
///
/// The plan holds whatever order the steps run in, one after the other or all at once, as long as a step
/// waits for its operands and for the edges of the program; no lock or event is added to make it hold.
/// plan_handoffs.hpp has the plans that wait more and take less.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/antichain.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct concurrent_options {
    enum class strategy_kind : std::uint8_t {
        offsets, ///< anywhere in the arena
        slots ///< each buffer in a slot of its own or of others, wholly: what executors without an arena can
              ///< do
    };

    concurrent_options::strategy_kind strategy = concurrent_options::strategy_kind::offsets;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps anyway
    std::uint64_t visits = 100'000'000; ///< work after which offsets are improved no further
    std::uint64_t max_ranges = std::uint64_t{1} << 24; ///< analysis/dependences.hpp
};

struct planned_concurrently : planned_memory {
    /// The roots of buffers that all conflict with each other. Each pool has its own; together they make the
    /// lower bound of the report.
    std::vector<value_id> antichain;
    bool is_bound_exact = false; ///< no buffers that all conflict have more bytes
    sized_slot_plan slots;       ///< by buffer of the plan: allocations that serve for every schedule
    std::uint64_t undecided = 0; ///< pairs kept apart only because the budget of ranges was spent
};

namespace detail {

/// Where each value is touched in the program as it is listed, whatever order it runs in.
live_ranges touch_ranges(snapshot const& p, std::vector<value_role> const& role);

/// Why a program has no concurrent plan, as a witness.
witness as_witness(dependence_violation const& v);

} // namespace detail

/// Plan where every value lives so that steps may run in any order, and at once, as edges and data allow.
///
/// Requires:   a value is written by one step; of a program with names that are written again, or that are
///             given and written, plan the versions (analysis/versions.hpp). `options.order` is not looked
///             at.
/// Ensures:    the plan is valid for the concurrent reading together with `wanted.handoffs`, and proved to be
///             unless `options.check` is off. Offsets are never higher than slots would be. The lower bound
///             is the weight of `antichain`: no plan that holds for every schedule goes below it. `refuted`
///             says, with a witness, what stands against a plan, as plan_memory's does. Where a budget of
///             work is spent, the plan is as sound, and `report.is_cut_short`.
/// Complexity: O(V + E + touches + values), the ranges of find_conflict_ranges(), heaviest_antichain() for each
///             pool, share_in_chains(), place_concurrently() and check_concurrent_plan().
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] planned_concurrently plan_concurrent(snapshot const& p, plan_options const& options,
                                                   concurrent_options const& wanted = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_concurrent.ipp>
#endif

#endif
