// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_CROSSING_IPP
#define SUBLET_ANALYSIS_IMPL_CROSSING_IPP

#include <sublet/analysis/crossing.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace sublet {

SUBLET_DECL crossing_values crossing(snapshot const& p)
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
