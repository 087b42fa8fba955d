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
#include <utility>
#include <vector>

namespace sublet {

struct crossing_values {
    std::vector<value_id> value;       ///< by column, ascending
    std::vector<std::uint32_t> column; ///< by value; `no_value` if it does not cross
    csr_rows reads;                    ///< by node: columns that it reads before it writes them, maybe twice
    csr_rows writes;                   ///< by node: columns that it writes
    csr_rows reads_at_end;             ///< by node: columns that edge uses read where it ends, maybe twice
    bool single_def = true;            ///< no value of the program is written twice
};

/// Complexity: O(nodes + values + touches) time and memory.
template <std::same_as<snapshot> S>
[[nodiscard]] crossing_values crossing(S const& p)
{
    crossing_values cross;
    // Whether a touch reads, or finds its value written, is as good as random: nothing here branches on it.
    // Each is listed in either case, and the list grows only if that was right.
    std::size_t const touches = p.touches({0, static_cast<step_id>(p.steps())}).size();
    std::vector<std::uint32_t> reads(touches + 1), writes(touches + 1), reads_begin, writes_begin;
    reads_begin.reserve(p.nodes() + 1);
    writes_begin.reserve(p.nodes() + 1);
    std::size_t read = 0, written = 0; // how many
    bool written_again = false;
    std::vector<node_id> written_in(p.values(), no_node); // the last node, up to here
    for (node_id n = 0; n != p.nodes(); ++n) {
        reads_begin.push_back(static_cast<std::uint32_t>(read));
        writes_begin.push_back(static_cast<std::uint32_t>(written));
        for (touch t : p.touches(p.steps_of(n))) {
            node_id& last = written_in[t.value];
            bool const is_def = t.kind == touch_kind::def, is_new = last != n;
            reads[read] = writes[written] = t.value;
            read += !is_def & is_new;
            written += is_def & is_new;
            written_again |= is_def & (last != no_node);
            last = is_def ? n : last;
        }
    }
    cross.single_def = !written_again;

    std::vector<std::uint32_t>& column = cross.column;
    column.assign(p.values(), no_value);
    for (std::size_t i = 0; i != read; ++i) column[reads[i]] = 0;
    for (edge_use u : p.edge_uses()) column[u.value] = 0;
    std::uint32_t columns = 0;
    for (std::uint32_t& c : column) c = c == no_value ? no_value : columns++;
    cross.value.resize(columns);
    for (std::size_t v = 0; v != p.values(); ++v)
        if (column[v] != no_value) cross.value[column[v]] = static_cast<value_id>(v);

    for (std::size_t i = 0; i != read; ++i) reads[i] = column[reads[i]];
    reads.resize(read);
    reads_begin.push_back(static_cast<std::uint32_t>(read));
    cross.reads = csr_rows(std::move(reads_begin), std::move(reads));

    writes_begin.push_back(static_cast<std::uint32_t>(written));
    std::size_t kept = 0;
    for (std::size_t n = 0, i = 0; n != p.nodes(); ++n) {
        writes_begin[n] = static_cast<std::uint32_t>(kept);
        for (; i != writes_begin[n + 1]; ++i) {
            writes[kept] = column[writes[i]];
            kept += writes[kept] != no_value;
        }
    }
    writes.resize(kept);
    writes_begin.back() = static_cast<std::uint32_t>(kept);
    cross.writes = csr_rows(std::move(writes_begin), std::move(writes));

    cross.reads_at_end = csr_rows::gathered(p.nodes(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, column[u.value]);
    });
    return cross;
}

} // namespace sublet

#endif
