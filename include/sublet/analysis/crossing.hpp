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
    std::vector<std::uint32_t>& column = cross.column;
    column.assign(p.values(), no_value);
    constexpr std::uint32_t crosses = 0; // and is not numbered yet

    std::vector<node_id> written_in(p.values(), no_node); // the last node, up to here
    for (node_id n = 0; n != p.nodes(); ++n)
        for (touch t : p.touches(p.steps_of(n))) {
            node_id& written = written_in[t.value];
            if (t.kind != touch_kind::def) {
                if (written != n) column[t.value] = crosses;
            } else {
                cross.single_def = cross.single_def && written == no_node;
                written = n;
            }
        }
    for (edge_use u : p.edge_uses()) column[u.value] = crosses;

    for (std::size_t v = 0; v != p.values(); ++v)
        if (column[v] == crosses) {
            column[v] = static_cast<std::uint32_t>(cross.value.size());
            cross.value.push_back(static_cast<value_id>(v));
        }

    std::vector<node_id> touched_in(cross.value.size(), no_node); // by column: the last node, up to here
    cross.reads.reserve(p.nodes(), cross.value.size());
    cross.writes.reserve(p.nodes(), cross.value.size());
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (touch t : p.touches(p.steps_of(n))) {
            std::uint32_t const c = column[t.value];
            if (c == no_value || touched_in[c] == n) continue;
            touched_in[c] = n;
            (t.kind == touch_kind::def ? cross.writes : cross.reads).append(c);
        }
        cross.reads.close_row();
        cross.writes.close_row();
    }
    cross.reads_at_end = csr_rows::gathered(p.nodes(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, column[u.value]);
    });
    return cross;
}

} // namespace sublet

#endif
