// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_STORAGE_ORDER_HPP
#define SUBLET_ANALYSIS_INTERNAL_STORAGE_ORDER_HPP

/// The touches of a program in listed order, and the waits between steps that write and read the same bytes.
///
/// Storage order: the waits needed because bytes are written more than once.
///
///     0: def a        ┌──────► 3: write a                       2 reads a: it waits for 0, by data
///     2: use a  ──────┘                                         3 has to wait for 2
///
/// If each byte is written once, data dependences suffice. Otherwise a read waits for the write before it,
/// and a write for the reads of the bytes that it overwrites.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Touches in listed order. Each has an index: those of steps come first, then the edge uses.
struct listed_touches {
    snapshot const& p;
    table<position_id, step_id> steps;
    table<step_id, node_id> node_of;
    csr_rows<node_id, std::uint32_t> ends; // of each node: the indices of the edge uses at its end

    listed_touches(snapshot const& program, std::vector<node_id> const& order);
    std::size_t first_touch(step_id s) const { return p.touches({0, s}).size(); }
    std::size_t step_touch_count() const { return first_touch(step_id::of(p.steps())); }

    /// Calls visit(index, touch) for the reads of the step, its writes, and the reads at the end of its node.
    template <class Visit>
    void each(step_id s, Visit visit) const
    {
        std::size_t touch_index = first_touch(s);
        for (touch t : p.touches(s)) visit(touch_index++, t);
        node_id const n = node_of[s];
        if (s + 1 != p.steps_of(n).last) return;
        for (std::uint32_t i : ends[n])
            visit(step_touch_count() + i, touch{p.edge_uses()[i].value, touch::access::use});
    }
};

/// The waits that ordered bytes need beyond data, edges and nodes, if the nodes are listed in `order`.
///
/// Ensures:    with these waits, two accesses of one byte of which one writes run in listed order in every
///             execution. No wait repeats a direct one: an edge, a read of a value that the same or a later
///             step of the node makes, or the order within the node. Ascending, each once. Waits that others
///             imply are left out where reads of some bytes alternate with writes of parts of them.
/// Complexity: O(V + E + values + (touches log segments + waits) log segments) time, O(V + E + values +
///             segments + touches log segments + waits) memory. There may be r w waits where r steps read all
///             of some bytes after w others wrote parts of them, or before.
[[nodiscard]] std::vector<handoff> storage_order(snapshot const& p, ordered_bytes const& bytes,
                                                 std::vector<node_id> const& order = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/storage_order.ipp>
#endif

#endif
