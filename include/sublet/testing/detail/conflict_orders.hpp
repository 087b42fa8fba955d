// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_DETAIL_CONFLICT_ORDERS_HPP
#define SUBLET_TESTING_DETAIL_CONFLICT_ORDERS_HPP

/// For two buffers that share bytes, the order of steps that most likely exposes a missing wait between them.
///
///     waits      0: a ──► 1: r a          c lies where a lay, and nothing makes 2 wait for 1
///                2: c ──► 3: r c
///
///     as listed                  0   1   2   3        1 finds a, 3 finds c
///     first 0 and 2, last 1      0   2   3   1        1 finds c
///
/// A random order rarely exposes an unsound pair; this one always does. The producer of a runs, then the
/// producer of b, which overwrites a, each with all that it waits for, and only then the readers of a, with
/// all that waits for them. If a has no later reader but its producer may run late, the roles are swapped: it
/// overwrites b before the readers of b. One run with digests for each pair of neighbours in bytes suffices.
/// Pairs with a third buffer between them that is read later are skipped: if they conflict, so does one of
/// them with the third.
///
/// Source: Sen, "Race directed random testing of concurrent programs", PLDI 2008.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/arena_occupants.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

class conflict_orders {
public:
    conflict_orders(run_order const& order, memory_plan const& plan)
        : order_(order), lowered_(order.lowered), plan_(plan),
          touched_at_(lowered_.touched.transposed(lowered_.table.buffers.size())),
          last_paired_with_(lowered_.table.buffers.size(), no_buffer)
    {
    }

    template <class Visit>
    void visit_pairs(Visit& visit)
    {
        arena_occupants arenas(lowered_, plan_);
        table<buffer_id, std::vector<buffer_id>> before(last_paired_with_.size()); // previous occupants
        for (position_id at = 0; at != lowered_.positions(); ++at)
            for (buffer_id b : lowered_.touched[at]) {
                if (lowered_.first_write[b] != at) continue;
                arenas.occupy(b, [&](buffer_id a) { before[b].push_back(a); });
                std::vector<buffer_id> candidates = before[b];
                for (std::size_t i = 0; i != candidates.size(); ++i) {
                    buffer_id const a = candidates[i];
                    if (std::exchange(last_paired_with_[a], b) == b || !overlaps(a, b)) continue;
                    visit(root(a), root(b), order_for(a, b));
                    if (!is_needed_after(a, lowered_.first_write[a]))
                        candidates.insert(candidates.end(), before[a].begin(), before[a].end());
                }
            }
    }

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    value_id root(buffer_id b) const { return its(b).root; }

    bool overlaps(buffer_id a, buffer_id b) const
    {
        byte_count const at = plan_.offset_of(root(a)), other = plan_.offset_of(root(b));
        return at < other + its(b).size && other < at + its(a).size;
    }
    /// Whether an output, or touched at another position than `producer`.
    bool is_needed_after(buffer_id b, position_id producer) const;

    std::vector<position_id> order_for(buffer_id a, buffer_id b) const;

    run_order const& order_;
    lowered_program const& lowered_;
    memory_plan const& plan_;
    csr_rows<buffer_id, position_id> touched_at_;
    table<buffer_id, buffer_id> last_paired_with_; // the last buffer paired with it
};

/// Calls `visit(a, b, order)` for every two buffers of which b, in program order, takes bytes of a with no
/// live buffer there in between; a and b are given by their roots, `order` lists positions.
///
/// If the waits suffice for the plan, each of these orders leaves what the lowered program leaves. Run them
/// one by one with digests: thread_executor with one worker and queue_policy::given.
///
/// Complexity: O(positions + waits) for each pair.
/// Throws:     unsound_plan as run_order_of(); errors of `visit`.
template <class Visit>
void each_adversarial_order(run_order const& order, memory_plan const& plan, Visit visit)
{
    conflict_orders(order, plan).visit_pairs(visit);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/conflict_orders.ipp>
#endif

#endif
