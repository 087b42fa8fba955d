// SPDX-License-Identifier: BSL-1.0
/// Steps in sequence: the last touch of each buffer by position. Control flow: liveness of buffers, a
/// release where a live set loses one. Concurrently: of the last touches, by happens-before, those that no
/// other follows.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>

#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/rewriting/detail/happens_before.hpp>
#include <sublet/rewriting/release.hpp>

#include <algorithm>

// --- releases in order -----------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL std::size_t release_points::buffers() const { return counter.size(); }

} // namespace sublet

namespace sublet::detail {

/// Of each buffer: whether it exists before the first step, and whether it stays to the end.
struct buffer_roles {
    table<buffer_id, unsigned char> is_given, is_kept;

    buffer_roles(std::size_t buffers, table<value_id, buffer_id> const& buffer_of,
                 table<value_id, value_role> const& role);
};

SUBLET_DECL buffer_roles::buffer_roles(std::size_t buffers, table<value_id, buffer_id> const& buffer_of,
                                       table<value_id, value_role> const& role)
    : is_given(buffers), is_kept(buffers)
{
    for (value_id v = 0; v != buffer_of.size(); ++v) {
        buffer_id const b = buffer_of[v];
        if (b == no_buffer) continue;
        SUBLET_EXPECTS(b < buffers, "sublet: value % is in buffer %, but there are only % buffers", v, b,
                       buffers);
        if (sublet::detail::is_given(role[v])) is_given[b] = 1;
        if (has_role(role[v], value_role::output) || has_role(role[v], value_role::external)) is_kept[b] = 1;
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL release_points releases(snapshot const& p, std::size_t buffers,
                                    table<value_id, buffer_id> const& buffer_of,
                                    lifetimes_options const& options)
{
    detail::expect_steps_run_once(p);
    SUBLET_EXPECTS(buffer_of.size() == p.values(), "sublet: the table of buffers has % entries for % values",
                   buffer_of.size(), p.values());
    detail::buffer_roles const ends(buffers, buffer_of, options.role.tabulate(p.values(), "role"));
    table<position_id, step_id> const steps = detail::steps_in_order(p, options.order);
    table<buffer_id, step_id> last(buffers, no_step); // that touches it
    table<step_id, position_id> position_of(steps.size());
    for (position_id at = 0; at != steps.size(); ++at) position_of[steps[at]] = at;
    auto touched = [&](value_id v, step_id s) {
        buffer_id const b = buffer_of[v];
        if (b != no_buffer && (last[b] == no_step || position_of[last[b]] < position_of[s])) last[b] = s;
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched(t.value, s);
    for (edge_use u : p.edge_uses()) touched(u.value, p.steps_of(u.pred).last - 1);

    release_points points;
    points.counter.assign(buffers, 0);
    points.after = csr_rows<step_id, buffer_id>::gathered(p.steps(), [&](auto add) {
        for (buffer_id b = 0; b != buffers; ++b)
            if (last[b] != no_step && !ends.is_kept[b]) add(last[b], b);
    });
    for (buffer_id b = 0; b != buffers; ++b) {
        if (ends.is_kept[b]) continue;
        if (last[b] != no_step) points.counter[b] = 1;
        else if (ends.is_given[b]) points.at_start.push_back(b);
    }
    return points;
}

SUBLET_DECL table<position_id, position_id> shifted_positions(release_points const& points,
                                                              std::vector<step_id> const& order)
{
    table<position_id, position_id> shifted;
    position_id to = points.at_start.empty() ? 0 : 1;
    for (position_id at = 0; at != points.after.rows(); ++at) {
        shifted.push_back(to);
        to += points.after[order.empty() ? step_id::of(+at) : order[at]].empty() ? 1u : 2u;
    }
    return shifted;
}

} // namespace sublet

// --- releases along control flow -------------------------------------------------------------------------

namespace sublet::detail {

/// Buffers by node or by step, in the order in which they are found.
template <class Row>
struct found_releases {
    std::vector<sort_key> rows; // {row, buffer}

    void add(Row row, buffer_id b) { rows.push_back({row, b, 0}); }
    csr_rows<Row, buffer_id> gathered(std::size_t count)
    {
        sort_by_key(rows);
        return csr_rows<Row, buffer_id>::gathered(count, [this](auto add_pair) {
            for (sort_key const& k : rows) add_pair(Row::of(k.key), buffer_id::of(k.tie));
        });
    }
};

} // namespace sublet::detail

namespace sublet::detail {

/// The program in which a step that makes a view uses the values of its buffer that steps make or the caller
/// gives: their bytes have to be there.
SUBLET_DECL snapshot with_storage_uses(snapshot const& p, std::size_t buffers,
                                       table<value_id, buffer_id> const& buffer_of,
                                       table<value_id, value_role> const& role)
{
    table<value_id, unsigned char> is_made;
    for (value_role flags : role) is_made.push_back(is_given(flags));
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.makes()) is_made[t.value] = 1;
    auto const made = csr_rows<buffer_id, value_id>::gathered(buffers, [&](auto add) {
        for (value_id v = 0; v != p.values(); ++v)
            if (is_made[v] && buffer_of[v] != no_buffer) add(buffer_of[v], v);
    });
    table<value_id, step_id> defined_at(p.values(), no_step);
    return with_effects(p, p.values(),
        [&](node_id n, effect_sink& sink) {
            step_range const steps = p.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s) {
                if (s != steps.first) sink.next_step();
                for (touch t : p.touches(s)) {
                    sink.add(t.kind, t.value);
                    if (t.defines()) defined_at[t.value] = s;
                }
                for (touch t : p.touches(s))
                    if (t.makes_view() && buffer_of[t.value] != no_buffer)
                        for (value_id v : made[buffer_of[t.value]])
                            if (defined_at[v] != s) sink.use(v);
                for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
                detail::copy_step_facts(p, s, sink);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
        });
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL flow_release_points flow_releases(snapshot const& given, std::size_t buffers,
                                              table<value_id, buffer_id> const& buffer_of,
                                              table<value_id, value_role> const& role)
{
    SUBLET_EXPECTS(buffer_of.size() == given.values() && role.size() == given.values(),
                   "sublet: a table must have one entry for each value");
    detail::buffer_roles const ends(buffers, buffer_of, role);
    snapshot listed, viewed;
    snapshot const& walked = detail::as_control_flow(given, listed);
    if (walked.has_views()) viewed = detail::with_storage_uses(walked, buffers, buffer_of, role);
    snapshot const& p = walked.has_views() ? viewed : walked;
    live_sets const live = liveness(p);
    auto released = [&](value_id v) {
        return buffer_of[v] != no_buffer && !ends.is_kept[buffer_of[v]] ? buffer_of[v] : no_buffer;
    };
    flow_release_points points;
    detail::found_releases<step_id> after;
    detail::found_releases<node_id> at_entry;
    table<buffer_id, std::uint32_t> alive(buffers); // how many of its values are live
    table<value_id, unsigned char> is_alive(p.values());
    auto set = [&](value_id v, bool to) {
        if (released(v) == no_buffer || (is_alive[v] != 0) == to) return;
        is_alive[v] = to ? 1 : 0;
        if (to) ++alive[buffer_of[v]];
        else --alive[buffer_of[v]];
    };
    table<buffer_id, step_id> released_at(buffers, no_step);
    for (node_id n = 0; n != p.nodes(); ++n) {
        live.for_each_live_out(n, [&](value_id v) { set(v, true); });
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            for (touch t : p.touches(s)) {
                buffer_id const b = released(t.value);
                if (b == no_buffer || alive[b] != 0 || released_at[b] == s) continue;
                released_at[b] = s;
                after.add(s, b);
            }
            for (touch t : p.touches(s))
                if (t.defines()) set(t.value, false);
            for (touch t : p.touches(s))
                if (!t.defines()) set(t.value, true);
        }
        live.for_each_live_in(n, [&](value_id v) { set(v, false); });
    }

    table<buffer_id, node_id> live_into(buffers, no_node),
        counted_for(buffers, no_node); // the last node that counted it
    table<buffer_id, std::uint32_t> dead_edge_count(buffers);
    std::vector<flow_release_points::edge> dead_on_edge;
    for (node_id n = 0; n != p.nodes(); ++n) {
        live.for_each_live_in(n, [&](value_id v) {
            if (released(v) != no_buffer) live_into[buffer_of[v]] = n;
        });
        dead_on_edge.clear();
        std::uint32_t in_degree = n == 0 ? 1 : 0; // the entry of the program counts as an edge
        node_id from = no_node;
        for (node_id pred : p.predecessors(n)) { // ascending
            if (pred == from) continue;
            from = pred;
            ++in_degree;
            live.for_each_live_out(pred, [&](value_id v) {
                buffer_id const b = released(v);
                if (b == no_buffer || live_into[b] == n || counted_for[b] == pred) return;
                counted_for[b] = pred;
                dead_on_edge.push_back({pred, n, b});
                ++dead_edge_count[b];
            });
        }
        for (flow_release_points::edge const& e : dead_on_edge) {
            if (dead_edge_count[e.what] == in_degree) {
                dead_edge_count[e.what] = 0; // `at_entry` stands for all edges
                at_entry.add(n, e.what);
            } else if (dead_edge_count[e.what] != 0) {
                points.on_edge.push_back(e);
            }
        }
        for (flow_release_points::edge const& e : dead_on_edge) {
            dead_edge_count[e.what] = 0;
            counted_for[e.what] = no_node;
        }
    }
    detail::sort_by(points.on_edge,
                    [](flow_release_points::edge const& x, flow_release_points::edge const& y) {
                        if (x.to != y.to) return x.to < y.to;
                        return x.from != y.from ? x.from < y.from : x.what < y.what;
                    });
    if (p.nodes() != 0)
        live.for_each_live_in(0, [&](value_id v) {
            if (released(v) != no_buffer) live_into[buffer_of[v]] = 0;
        });
    for (buffer_id b = 0; b != buffers; ++b)
        if (ends.is_given[b] && !ends.is_kept[b] && (live_into[b] != 0 || p.nodes() == 0))
            points.at_start.push_back(b);
    points.after = after.gathered(p.steps());
    points.at_entry = at_entry.gathered(p.nodes());
    return points;
}

} // namespace sublet

// --- concurrent releases ---------------------------------------------------------------------------------

namespace sublet::detail {

/// Of the ascending positions that touch one buffer, those that no other of them follows.
class last_touches {
public:
    explicit last_touches(dependence_graph const& g)
        : g_(g), order_(g), is_followed_(g.positions()), is_touch_(g.positions())
    {
    }

    void keep_last(std::vector<position_id>& touches)
    {
        std::size_t const count = touches.size();
        if (count < 2) return;
        std::size_t kept = 0;
        if (count <= (touches[count - 1] - touches[0]) / count) { // few: pair by pair
            for (std::size_t i = 0; i != count; ++i) {
                std::size_t k = i + 1;
                while (k != count && !order_.before(touches[i], touches[k])) ++k;
                if (k == count) touches[kept++] = touches[i];
            }
        } else { // many: one pass over all positions between
            for (position_id at : touches) is_touch_[at] = 1;
            for (position_id at = touches[count - 1] + 1; at-- != touches[0];) {
                is_followed_[at] = 0;
                for (position_id next : g_.after[at])
                    if (next <= touches[count - 1] && (is_touch_[next] || is_followed_[next]))
                        is_followed_[at] = 1;
            }
            for (std::size_t i = 0; i != count; ++i) {
                is_touch_[touches[i]] = 0;
                if (!is_followed_[touches[i]]) touches[kept++] = touches[i];
            }
        }
        while (touches.size() != kept) touches.pop_back();
    }

private:
    dependence_graph const& g_;
    precedence order_;
    table<position_id, unsigned char> is_followed_, is_touch_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL release_points releases(snapshot const& p, dependence_graph const& g, std::size_t buffers,
                                    table<value_id, buffer_id> const& buffer_of,
                                    table<value_id, value_role> const& role)
{
    SUBLET_EXPECTS(g && g.step_at.size() >= p.steps() && buffer_of.size() == p.values() &&
                       role.size() == p.values(),
                   "sublet: a table must have one entry for each value, and the graph no error");
    detail::buffer_roles const ends(buffers, buffer_of, role);
    detail::concurrent_live_ranges const lives = detail::concurrent_lifetimes(p, g, buffers, buffer_of, role);
    detail::last_touches last(g);
    release_points points;
    points.counter.assign(buffers, 0);
    csr_rows<buffer_id, step_id> by_buffer;
    std::vector<position_id> row;
    for (buffer_id b = 0; b != buffers; ++b) {
        row.clear();
        if (!ends.is_kept[b])
            for (position_id at : lives.ends[b]) { // where a step reads early, it has not ended
                position_id const step_end = g.position_of[g.step_at[at]];
                row.push_back(step_end);
            }
        std::sort(row.begin(), row.end());
        std::size_t kept = 0;
        for (std::size_t i = 0; i != row.size(); ++i)
            if (kept == 0 || row[kept - 1] != row[i]) row[kept++] = row[i];
        while (row.size() != kept) row.pop_back();
        last.keep_last(row);
        for (position_id at : row) by_buffer.append(g.step_at[at]);
        by_buffer.close_row();
        points.counter[b] = static_cast<std::uint32_t>(row.size());
        if (row.empty() && ends.is_given[b] && !ends.is_kept[b]) points.at_start.push_back(b);
    }
    points.after = by_buffer.transposed(p.steps());
    return points;
}

} // namespace sublet
