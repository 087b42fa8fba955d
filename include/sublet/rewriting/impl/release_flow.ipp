// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_IMPL_RELEASE_FLOW_IPP
#define SUBLET_REWRITING_IMPL_RELEASE_FLOW_IPP

#include <sublet/analysis/live_sets.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/rewriting/release_flow.hpp>
#include <sublet/sorting.hpp>

#include <cstdint>

namespace sublet::detail {

/// Buffers by node or step, kept as they are found.
struct found_releases {
    std::vector<keyed> rows; // {row, buffer}

    void add(std::size_t row, buffer_id b) { rows.push_back({row, b, 0}); }
    csr_rows gathered(std::size_t count)
    {
        sort_keyed(rows);
        return csr_rows::gathered(count, [this](auto add_pair) {
            for (keyed const& k : rows)
                add_pair(static_cast<std::size_t>(k.key), static_cast<buffer_id>(k.tie));
        });
    }
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL flow_release_points flow_releases(snapshot const& p, std::size_t buffers,
                                              std::vector<buffer_id> const& buffer_of,
                                              std::vector<value_role> const& role)
{
    SUBLET_EXPECTS(buffer_of.size() == p.values() && role.size() == p.values(),
                   "sublet: a table has not one entry for each value");
    detail::buffer_ends const ends(buffers, buffer_of, role);
    live_sets const live = liveness(p);
    auto released = [&](value_id v) {
        return buffer_of[v] != no_buffer && !ends.is_kept[buffer_of[v]] ? buffer_of[v] : no_buffer;
    };
    flow_release_points points;
    detail::found_releases after, at_entry;
    std::vector<std::uint32_t> alive(buffers); // by buffer: how many of its values are
    std::vector<unsigned char> is_alive(p.values());
    auto set = [&](value_id v, bool to) {
        if (released(v) == no_buffer || (is_alive[v] != 0) == to) return;
        is_alive[v] = to ? 1 : 0;
        if (to) ++alive[buffer_of[v]];
        else --alive[buffer_of[v]];
    };
    std::vector<step_id> died_at(buffers, no_step);
    for (node_id n = 0; n != p.nodes(); ++n) {
        live.for_each_live_out(n, [&](value_id v) { set(v, true); });
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            for (touch t : p.touches(s)) {
                buffer_id const b = released(t.value);
                if (b == no_buffer || alive[b] != 0 || died_at[b] == s) continue;
                died_at[b] = s;
                after.add(s, b);
            }
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def) set(t.value, false);
            for (touch t : p.touches(s))
                if (t.kind != touch_kind::def) set(t.value, true);
        }
        live.for_each_live_in(n, [&](value_id v) { set(v, false); });
    }

    std::vector<node_id> needed_at(buffers, no_node), left_by(buffers, no_node); // the last node seen so
    std::vector<std::uint32_t> leaving(buffers);                                 // along how many edges
    std::vector<edge_release> dying;
    for (node_id n = 0; n != p.nodes(); ++n) {
        live.for_each_live_in(n, [&](value_id v) {
            if (released(v) != no_buffer) needed_at[buffer_of[v]] = n;
        });
        dying.clear();
        std::uint32_t arrivals = n == 0 ? 1 : 0; // one is from nowhere
        node_id from = no_node;
        for (node_id pred : p.predecessors(n)) { // ascending
            if (pred == from) continue;
            from = pred;
            ++arrivals;
            live.for_each_live_out(pred, [&](value_id v) {
                buffer_id const b = released(v);
                if (b == no_buffer || needed_at[b] == n || left_by[b] == pred) return;
                left_by[b] = pred;
                dying.push_back({pred, n, b});
                ++leaving[b];
            });
        }
        for (edge_release const& e : dying) {
            if (leaving[e.what] == arrivals) {
                leaving[e.what] = 0; // the others of these are this one
                at_entry.add(n, e.what);
            } else if (leaving[e.what] != 0) {
                points.on_edge.push_back(e);
            }
        }
        for (edge_release const& e : dying) {
            leaving[e.what] = 0;
            left_by[e.what] = no_node;
        }
    }
    sort_by(points.on_edge, [](edge_release const& x, edge_release const& y) {
        if (x.to != y.to) return x.to < y.to;
        return x.from != y.from ? x.from < y.from : x.what < y.what;
    });
    if (p.nodes() != 0)
        live.for_each_live_in(0, [&](value_id v) {
            if (released(v) != no_buffer) needed_at[buffer_of[v]] = 0;
        });
    for (buffer_id b = 0; b != buffers; ++b)
        if (ends.is_given[b] && !ends.is_kept[b] && (needed_at[b] != 0 || p.nodes() == 0))
            points.at_start.push_back(b);
    points.after = after.gathered(p.steps());
    points.at_entry = at_entry.gathered(p.nodes());
    return points;
}

} // namespace sublet

#endif
