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

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
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

    listed_touches(snapshot const& program, std::vector<node_id> const& order)
        : p(program), steps(steps_in_order(program, order))
    {
        for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
        auto const uses = p.edge_uses();
        ends = csr_rows::gathered(p.nodes(), [uses](auto add) {
            for (std::uint32_t i = 0; i != uses.size(); ++i) add(uses[i].pred, i);
        });
    }
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
[[nodiscard]] inline std::vector<handoff> storage_order(snapshot const& p, std::size_t storages,
                                                        std::vector<buffer_id> const& storage_of,
                                                        std::vector<unsigned char> const& is_written,
                                                        std::vector<node_id> const& order = {})
{
    detail::listed_touches const listed(p, order);
    auto writes = [&](touch t) { return t.kind == touch_kind::def && is_written[t.value]; };
    csr_rows const reads = csr_rows::gathered(storages, [&](auto add) {
        for (step_id s : listed.steps)
            listed.each(s, [&](std::size_t, touch t) {
                if (storage_of[t.value] != no_buffer && !writes(t)) add(storage_of[t.value], s);
            });
    });
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch_kind::def) def_of[t.value] = s;

    csr_rows const before = csr_rows::gathered(p.steps(), [&](auto add) {
        std::vector<step_id> last_write(storages, no_step);
        std::vector<std::uint32_t> old_reads(storages, 0), all_reads(storages, 0); // in `reads`
        // Who reads a value that was made since the last write waits for its maker, and so for that write.
        std::vector<step_id> made_after(p.values(), no_step); // by value, that write
        // By node: the end of those of its steps that are known to come before the present one.
        std::vector<step_id> waited_for(p.nodes(), 0);
        std::vector<node_id> marked;
        auto mark = [&](node_id n, step_id end) {
            if (waited_for[n] == 0) marked.push_back(n);
            waited_for[n] = larger(waited_for[n], end);
        };
        for (step_id s : listed.steps) {
            node_id const n = listed.node_of[s];
            if (s == p.steps_of(n).first) {
                for (node_id m : marked) waited_for[m] = 0;
                marked.clear();
                for (node_id m : p.predecessors(n)) mark(m, p.steps_of(m).last);
            }
            mark(n, s);
            for (touch t : p.touches(s)) {
                step_id const writer = def_of[t.value];
                if (t.kind != touch_kind::def && writer != no_step) mark(listed.node_of[writer], writer + 1);
            }
            auto wait = [&](step_id first) {
                if (first != no_step && first != s && first >= waited_for[listed.node_of[first]])
                    add(s, first);
            };
            listed.each(s, [&](std::size_t, touch t) {
                buffer_id const b = storage_of[t.value];
                if (b == no_buffer) return;
                if (!writes(t)) {
                    ++all_reads[b];
                    if (made_after[t.value] != last_write[b]) wait(last_write[b]);
                    if (t.kind == touch_kind::def) made_after[t.value] = last_write[b];
                    return;
                }
                if (old_reads[b] == all_reads[b]) wait(last_write[b]);
                while (old_reads[b] != all_reads[b]) wait(reads[b][old_reads[b]++]);
                last_write[b] = made_after[t.value] = s;
            });
        }
    });
    csr_rows const after = before.transposed(p.steps());
    std::vector<handoff> handoffs;
    for (step_id from = 0; from != p.steps(); ++from)
        for (step_id to : after[from])
            if (handoffs.empty() || handoffs.back() != handoff{from, to}) handoffs.push_back({from, to});
    return handoffs;
}

} // namespace sublet

#endif
