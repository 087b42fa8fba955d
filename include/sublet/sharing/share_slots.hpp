// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SHARE_SLOTS_HPP
#define SUBLET_SHARING_SHARE_SLOTS_HPP

/// Slots valid under every schedule of a program: storage that values occupy in turn, without offsets.
///
///     auto p = sublet::tasks(g, blobs, inputs, outputs);        // any graph, a Boost graph for instance
///     auto s = sublet::share_slots(p, {.bytes = sizes});
///     sublet::slot_id slot = s.slot_of[value];
///
///             ┌──► 1: use a, def b ──► 2: use b, def d ──┐       a, b, c are free after 1 and 3, 2, 4
///         0 ──┤                                          ├──► 5: def f
///             └──► 3: use a, def c ──► 4: use c, def e ──┘       d opens a new slot: 3 may not have run
///                                                                f takes the slot of a, b or c
///
/// A buffer may reuse the slot of another if every step that touches the other ends before the step that
/// defines the buffer begins, in every execution. Three strategies:
///
///     tokens   one pass; tokens travel along the edges              memonger's algorithm, any size of graph
///     chains   exact reuse relation, largest buffers first          few bytes
///     fewest   a minimum cover of the order by chains (Dilworth)    the fewest slots, with proof

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// Options for a program, in addition to plan_options.
struct slot_options {
    /// The algorithm: one pass that hands slots from step to step, chains of buffers that follow each
    /// other, or chains by a matching, which are the fewest.
    enum class strategy_kind : std::uint8_t { tokens, chains, fewest };

    slot_options::strategy_kind strategy = slot_options::strategy_kind::tokens; ///< the algorithm
    slot_choice choice = slot_choice::grow_largest; ///< not for `fewest`
    /// For tokens: ranges that a step passes on; the oldest are dropped.
    std::size_t most_ranges = ~std::size_t{0};
    /// A buffer touched by a step that takes no part keeps a slot of its own.
    per_value<bool, step_id> takes_part = true;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution enforces
};

/// Slots that are valid under every schedule. Converts to false if there are none; the error is that of
/// dependence_graph.
struct shared_slots : sized_slot_plan, verdict {
    /// Tests of a slot without an answer. 0: every slot that was free was known to be free.
    std::uint64_t undecided = 0;
    /// fewest, if `undecided` is 0: root values of buffers of which no two may share a slot.
    std::vector<value_id> antichain = {};

    /// Proven: no plan that is valid under every schedule has fewer slots. False: not proven.
    [[nodiscard]] bool is_optimal() const { return *this && antichain.size() == slots; }
};

/// Gives the values of a program slots: program ─► dependences ─► buffers ─► in place ─► slots. Replaces
/// Caffe2's memonger: a renaming of blobs, for executors that allocate each blob by itself. Views and results
/// written in place have the slot of their buffer.
///
/// Requires:   no view has more bytes than its root. `pinned` of `values` is ignored: slots have no offsets.
///             `order` orders writes only, and makes each value before its uses, as a list does.
/// Ensures:    a value has `no_slot` if it has 0 bytes or an unknown number, is external, not eligible, or
///             touched nowhere. In-place pairs are taken first, unless `values.in_place` is off.
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] shared_slots share_slots(snapshot const& p, plan_options const& values,
                                       slot_options const& options = {});
/// The same for a listing.
template <detail::listed L>
[[nodiscard]] shared_slots share_slots(L const& list, slot_options const& options = {})
{
    list.expect_no_carry("share_slots");
    return list.named(share_slots(list.program(), list.options(), options));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/share_slots.ipp>
#endif

#endif
