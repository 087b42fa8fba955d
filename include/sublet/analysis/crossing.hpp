// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_CROSSING_HPP
#define SUBLET_ANALYSIS_CROSSING_HPP

/// The values that cross from one node to another, and what each node does with them.
///
///     node 0            node 1                       crossing: a (column 0), c (column 1)
///       def a             use a, def b               node 0 writes a and c
///       def c             use b, use c, def c        node 1 reads a and c, and writes c
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
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct crossing_values {
    std::vector<value_id> value;       ///< by column, ascending
    std::vector<std::uint32_t> column; ///< by value; `no_value` if it does not cross
    csr_rows reads;                    ///< by node: columns that it reads before it writes them, maybe twice
    csr_rows writes;                   ///< by node: columns that it writes, maybe twice
    csr_rows reads_at_end;             ///< by node: columns that edge uses read where it ends, maybe twice
    bool single_def = true;            ///< no value of the program is written twice
};

/// Complexity: O(nodes + values + touches) time and memory.
[[nodiscard]] inline crossing_values crossing(snapshot const& p)
{
    crossing_values cross;
    // Whether a touch reads, or finds its value written, is as good as random: nothing here branches on it.
    // Each is listed in either case, and the list grows only if that was right.
    std::span<touch const> const all = p.touches({0, static_cast<step_id>(p.steps())});
    std::vector<std::uint32_t> reads(all.size() + 1), reads_begin;
    reads_begin.reserve(p.nodes() + 1);
    std::size_t read = 0, defs = 0;                       // how many
    std::vector<node_id> written_in(p.values(), no_node); // by value: the last node, up to here
    for (node_id n = 0; n != p.nodes(); ++n) {
        reads_begin.push_back(static_cast<std::uint32_t>(read));
        for (touch t : p.touches(p.steps_of(n))) {
            node_id& last = written_in[t.value];
            bool const is_def = t.kind == touch_kind::def;
            reads[read] = t.value;
            read += !is_def & (last != n);
            defs += is_def;
            last = is_def ? n : last;
        }
    }
    reads_begin.push_back(static_cast<std::uint32_t>(read));
    reads.resize(read);

    std::vector<std::uint32_t>& column = cross.column;
    column.assign(p.values(), 0); // 1: crosses
    for (value_id v : reads) column[v] = 1;
    for (edge_use u : p.edge_uses()) column[u.value] = 1;
    std::size_t crossers = 0, defined = 0; // values
    for (std::size_t v = 0; v != p.values(); ++v) {
        crossers += column[v];
        defined += written_in[v] != no_node;
    }
    cross.single_def = defs == defined;
    cross.value.resize(crossers + 1);
    std::uint32_t columns = 0;
    for (std::size_t v = 0; v != p.values(); ++v) {
        std::uint32_t const crosses = column[v];
        cross.value[columns] = static_cast<value_id>(v);
        column[v] = columns | (crosses - 1); // or no_value, which is all ones
        columns += crosses;
    }
    cross.value.pop_back();

    for (std::uint32_t& r : reads) r = column[r];
    cross.reads = csr_rows(std::move(reads_begin), std::move(reads));
    cross.writes = csr_rows::gathered(p.nodes(), [&](auto add) {
        if (cross.single_def) {
            for (std::uint32_t c = 0; c != columns; ++c)
                if (node_id const n = written_in[cross.value[c]]; n != no_node) add(n, c);
            return;
        }
        for (node_id n = 0; n != p.nodes(); ++n)
            for (touch t : p.touches(p.steps_of(n)))
                if (t.kind == touch_kind::def && column[t.value] != no_value) add(n, column[t.value]);
    });
    cross.reads_at_end = csr_rows::gathered(p.nodes(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, column[u.value]);
    });
    return cross;
}

} // namespace sublet

#endif
