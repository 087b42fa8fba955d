// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_CROSSING_HPP
#define SUBLET_ANALYSIS_CROSSING_HPP

/// The values that cross from one node to another, and what each node does with them.
///
///     node 0            node 1                       crossing: a (column 0), c (column 1)
///       def a             use a, def b               node 0 writes a
///       def c             use b, use c, def c        node 1 reads a and c first; c, written later, it
///                                                    would have written, had it not read it
///
/// Most values are born and die within one node and concern nobody else. Numbering the rest densely, once,
/// makes every set of a liveness analysis smaller; and from here on a node is no more than three short lists.
///
/// Source: Briggs, Cooper, Harvey and Simpson, "Practical improvements to the construction and destruction of
/// static single assignment form", Software: Practice and Experience 28(8), 1998 (the "semi-pruned" names).

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct crossing_values {
    std::vector<value_id> value;       ///< by column, ascending
    std::vector<std::uint32_t> column; ///< by value; `no_value` if it does not cross
    csr_rows reads;                    ///< by node: columns that it reads before it writes them
    csr_rows writes;                   ///< by node: columns that it writes and does not read first
    csr_rows reads_at_end;             ///< by node: columns that edge uses read where it ends, maybe twice
    bool single_def = true;            ///< no value of the program is written in two steps
};

/// Complexity: O(nodes + values + touches) time and memory.
template <std::same_as<snapshot> S>
[[nodiscard]] crossing_values crossing(S const& p)
{
    crossing_values cross;
    cross.column.assign(p.values(), no_value);
    auto crosses = [&cross](value_id v) { cross.column[v] = 0; };

    struct last_seen {
        step_id written = no_step; // the first write in the node that wrote it last
        node_id read_by = no_node; // the node that read it first last
    };
    std::vector<last_seen> seen(p.values());
    std::vector<value_id> reads, writes;
    std::vector<std::size_t> reads_end, writes_end;
    reads_end.reserve(p.nodes());
    writes_end.reserve(p.nodes());
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const mine = p.steps_of(n);
        std::size_t const my_writes = writes.size();
        for (step_id s = mine.first; s != mine.last; ++s)
            for (touch t : p.touches(s)) {
                last_seen& v = seen[t.value];
                // Distances wrap round: what was written elsewhere or never is far off.
                if (t.kind == touch_kind::def) {
                    if (v.written - mine.first <= s - mine.first) continue;
                    cross.single_def = cross.single_def && v.written == no_step;
                    v.written = s;
                    writes.push_back(t.value);
                } else if (!(v.written - mine.first < s - mine.first) && v.read_by != n) {
                    v.read_by = n;
                    reads.push_back(t.value);
                    crosses(t.value);
                }
            }
        std::size_t kept = my_writes;
        for (std::size_t i = my_writes; i != writes.size(); ++i)
            if (seen[writes[i]].read_by != n) writes[kept++] = writes[i];
        writes.resize(kept);
        reads_end.push_back(reads.size());
        writes_end.push_back(kept);
    }
    for (edge_use u : p.edge_uses()) crosses(u.value);

    for (std::size_t v = 0; v != p.values(); ++v)
        if (cross.column[v] != no_value) {
            cross.column[v] = static_cast<std::uint32_t>(cross.value.size());
            cross.value.push_back(static_cast<value_id>(v));
        }
    auto as_rows = [&cross](std::vector<value_id> const& values, std::vector<std::size_t> const& ends) {
        csr_rows rows;
        rows.reserve(ends.size(), values.size());
        std::size_t i = 0;
        for (std::size_t end : ends) {
            for (; i != end; ++i)
                if (std::uint32_t const c = cross.column[values[i]]; c != no_value) rows.append(c);
            rows.close_row();
        }
        return rows;
    };
    cross.reads = as_rows(reads, reads_end);
    cross.writes = as_rows(writes, writes_end);

    csr_rows preds; // by edge use
    preds.reserve(p.edge_uses().size(), p.edge_uses().size());
    for (edge_use u : p.edge_uses()) {
        preds.append(u.pred);
        preds.close_row();
    }
    csr_rows const uses = preds.transposed(p.nodes());
    cross.reads_at_end.reserve(p.nodes(), p.edge_uses().size());
    for (std::size_t n = 0; n != p.nodes(); ++n) {
        for (std::uint32_t u : uses[n]) cross.reads_at_end.append(cross.column[p.edge_uses()[u].value]);
        cross.reads_at_end.close_row();
    }
    return cross;
}

} // namespace sublet

#endif
