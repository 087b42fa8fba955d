// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_STORAGE_ORDER_HPP
#define SUBLET_ANALYSIS_STORAGE_ORDER_HPP

/// Who waits for whom because several values are written to one storage.
///
///     0: def a        ┌──────► 3: def a', in the bytes of a     2 reads a: it waits for 0, by data
///     2: use a  ──────┘                                         3 has to wait for 2: a hand-off
///
/// As long as each value has bytes of its own, who reads waits for who writes, and that is all. Where values
/// are the same bytes, the order in which a program lists their touches matters: a read waits for the write
/// before it, and a write for the reads of what it overwrites. Most of that follows from data; the rest is
/// listed here, and need not be more than a step for each read and each write.
///
/// Source: anti and output dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs and
/// compiler optimizations", POPL 1981.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

/// Touches in the order of the list. Each has a place: those of steps come first, then the edge uses.
struct listed_touches {
    snapshot const& p;
    std::vector<step_id> steps;
    std::vector<node_id> node_of; // by step
    csr_rows ends;                // by node: the edge uses that read where it ends

    listed_touches(snapshot const& program, std::vector<node_id> const& order);
    std::size_t first_place(step_id s) const { return p.touches({0, s}).size(); }
    std::size_t places_of_steps() const { return first_place(static_cast<step_id>(p.steps())); }

    /// see(place, touch) for what the step reads, what it writes, and what is read where its node ends.
    template <class See>
    void each(step_id s, See see) const
    {
        std::size_t place = first_place(s);
        for (touch t : p.touches(s)) see(place++, t);
        node_id const n = node_of[s];
        if (s + 1 != p.steps_of(n).last) return;
        for (std::uint32_t i : ends[n])
            see(places_of_steps() + i, touch{p.edge_uses()[i].value, touch_kind::use});
    }
};

} // namespace detail

/// The order that storage needs beyond data, edges and nodes, if the nodes are listed in `order`.
///
/// Requires:   `storage_of`, by value, is below `storages`, or `no_buffer` for a value whose storage needs no
///             order; `is_written`, by value: its def writes (that of a view need not). In `order` nothing is
///             used before it is defined, and no edge leads backwards.
/// Ensures:    with these hand-offs, touches of one storage of which one writes run in the order of the list,
///             whatever else does. None leads from a step that the other waits for directly: by an edge, by
///             what the other or an earlier step of its node reads, or within the node. Ascending, each once.
/// Complexity: O(V + E + values + touches) time and memory.
[[nodiscard]] std::vector<handoff> storage_order(snapshot const& p, std::size_t storages,
                                                 std::vector<buffer_id> const& storage_of,
                                                 std::vector<unsigned char> const& is_written,
                                                 std::vector<node_id> const& order = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/storage_order.ipp>
#endif

#endif
