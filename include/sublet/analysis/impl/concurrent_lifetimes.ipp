// SPDX-License-Identifier: BSL-1.0

/// Touches are gathered by buffer, ascending. A begin or an end counts if none of its first edges leads to
/// another touch of the buffer: the ends of a chain are enough for every comparison.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sublet::detail {

/// Appends the members of the row with no edge to another touch, that is, directly before (or after) it.
SUBLET_DECL void append_extremal(csr_rows<buffer_id, position_id>& to, std::vector<position_id> const& row,
                                 table<position_id, unsigned char> const& is_touch,
                                 csr_rows<position_id, position_id> const& edges)
{
    // Suffices for most steps; more edges of a step with a thousand successors are not worth the time.
    constexpr std::size_t max_edges = 16;
    for (std::size_t i = 0; i != row.size(); ++i) {
        if (i != 0 && row[i] == row[i - 1]) continue;
        bool is_extremal = true;
        std::size_t edges_examined = 0;
        for (position_id next : edges[row[i]]) {
            if (edges_examined++ == max_edges) break;
            if (is_touch[next]) is_extremal = false;
        }
        if (is_extremal) to.append(row[i]);
    }
}

SUBLET_DECL concurrent_live_ranges concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                        std::size_t buffers,
                                                        table<value_id, buffer_id> const& buffer_of,
                                                        table<value_id, value_role> const& role)
{
    SUBLET_EXPECTS(buffer_of.size() == p.values() && role.size() == p.values(),
                   "sublet: a table needs one entry for each value");
    auto const positions = static_cast<std::uint32_t>(g.positions());
    auto each = [&](bool defs, auto add) { // by ascending position
        for (position_id at = 0; at != positions; ++at) {
            step_id const s = g.step_at[at];
            bool const is_write_position = g.position_of[s] == at;
            for (touch t : p.touches(s)) {
                if ((t.kind == touch::access::use_early) == is_write_position) continue;
                if (buffer_of[t.value] != no_buffer && (!defs || t.defines())) add(buffer_of[t.value], at);
            }
        }
    };
    using positions_of = csr_rows<buffer_id, position_id>;
    auto const defs = positions_of::gathered(buffers, [&](auto add) { each(true, add); });
    auto const touches = positions_of::gathered(buffers, [&](auto add) {
        each(false, add);
        for (edge_use u : p.edge_uses())
            if (buffer_of[u.value] != no_buffer)
                add(buffer_of[u.value], g.position_of[p.steps_of(u.pred).last - 1]);
    });
    table<buffer_id, unsigned char> is_given(buffers), is_kept(buffers);
    for (value_id v = 0; v != p.values(); ++v) {
        if (buffer_of[v] == no_buffer) continue;
        if (sublet::detail::is_given(role[v])) is_given[buffer_of[v]] = 1;
        if (has_role(role[v], value_role::output)) is_kept[buffer_of[v]] = 1;
    }

    concurrent_live_ranges lives;
    lives.positions = positions;
    lives.begins.reserve(buffers, buffers);
    lives.ends.reserve(buffers, buffers);
    table<position_id, unsigned char> is_touch(positions);
    std::vector<position_id> row;
    for (buffer_id b = 0; b != buffers; ++b) {
        for (position_id at : touches[b]) is_touch[at] = 1;
        if (!is_given[b]) {
            row.assign(defs[b].begin(), defs[b].end());
            detail::append_extremal(lives.begins, row, is_touch, g.before);
        }
        lives.begins.close_row();
        if (is_kept[b]) {
            lives.ends.append(positions);
        } else {
            row.assign(touches[b].begin(), touches[b].end());
            if (!p.edge_uses().empty()) std::sort(row.begin(), row.end()); // edge uses come last
            detail::append_extremal(lives.ends, row, is_touch, g.after);
        }
        lives.ends.close_row();
        for (position_id at : touches[b]) is_touch[at] = 0;
    }
    return lives;
}

} // namespace sublet::detail
