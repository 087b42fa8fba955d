// SPDX-License-Identifier: BSL-1.0

/// Dependences of steps become those of nodes by transposing twice, which sorts them; touches are gathered by
/// buffer and step. The lower bound follows what is live before and needed after each node along the edges,
/// 64 buffers at a time and from the first to the last node that touches one, and adds up what is both.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/topological_points.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <algorithm>
#include <bit>
#include <utility>

// --- order graph -----------------------------------------------------------------------------------------

namespace sublet::detail {

/// The dependences of nodes, from those of their steps.
SUBLET_DECL void order_nodes(order_graph& result, dependence_graph const& g, snapshot const& p)
{
    table<step_id, node_id> node_of(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n) {
        result.steps.push_back(p.steps_of(n));
        for (step_id s = result.steps[n].first; s != result.steps[n].last; ++s) node_of[s] = n;
    }
    using edges = csr_rows<node_id, node_id>;
    auto const listed = edges::gathered(p.nodes(), [&](auto add) {
        for (position_id at = 0; at != g.positions(); ++at)
            for (position_id next : g.after[at]) {
                node_id const from = node_of[g.step_at[at]], to = node_of[g.step_at[next]];
                if (from != to) add(to, from);
            }
    });
    // Transposing twice sorts the lists; the second pass removes duplicates.
    edges const turned = listed.transposed(p.nodes());
    auto once = [&](auto add) {
        for (node_id from = 0; from != p.nodes(); ++from) {
            node_id last = no_node;
            for (node_id to : turned[from])
                if (to != last) add(last = to, from);
        }
    };
    result.before = edges::gathered(p.nodes(), once);
    result.after = result.before.transposed(p.nodes());

    std::vector<std::uint32_t> waits; // by node
    for (node_id n = 0; n != p.nodes(); ++n)
        waits.push_back(static_cast<std::uint32_t>(result.before[n].size()));
    if (topological_points(result.after, waits, dependence_options::position_order::breadth_first).size() ==
        p.nodes())
        return;
    std::vector<step_id> steps;
    for (node_id n : residual_cycle(result.after, waits)) steps.push_back(result.steps[n].first);
    result.refute(cycle_of(std::move(steps)));
}

/// Of equal pairs from `first` on, the first.
SUBLET_DECL void keep_first_of_equals(std::vector<overwrite_pair>& pairs, std::size_t first)
{
    if (pairs.size() - first < 2) return;
    std::vector<sort_key> sorted;
    for (std::size_t i = first; i != pairs.size(); ++i)
        sorted.push_back({pairs[i].in, pairs[i].out, static_cast<std::uint32_t>(i - first)});
    sort_by_key(sorted); // equal ones stay in their order
    std::vector<unsigned char> is_repeated(sorted.size(), 0);
    for (std::size_t i = 1; i != sorted.size(); ++i)
        if (sorted[i].key == sorted[i - 1].key && sorted[i].tie == sorted[i - 1].tie)
            is_repeated[sorted[i].id] = 1;
    std::size_t kept = first;
    for (std::size_t i = 0; i != is_repeated.size(); ++i)
        if (is_repeated[i] == 0) pairs[kept++] = pairs[first + i];
    shorten(pairs, kept);
}

SUBLET_DECL order_graph order_graph_of(snapshot const& p, plan_options const& options,
                                       std::vector<value_id> const& begun)
{
    expect_steps_run_once(p);
    order_graph result;
    result.listed = options.order;
    if (options.order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) result.listed.push_back(n);
    else static_cast<void>(steps_in_order(p, options.order)); // throws unless it names each node once
    {
        versioned_program const listed = versions_of(p, {.role = options.role,
                                                         .alias_of = options.alias_of,
                                                         .same_storage = true,
                                                         .order = options.order});
        if (!result.refute(listed)) return result;
        dependence_graph g =
            dependences_of_any_list(listed.program, dependences_of(with_versions(options, listed), {}));
        if (result.refute(g)) order_nodes(result, g, p);
        if (!result) return result;
    }

    auto const role = options.role.tabulate(p.values(), "role");
    live_ranges touched{{}, table<value_id, live_range>(p.values()), 1};
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::input) || has_role(role[v], value_role::output))
            touched.of[v] = {0, 1};
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched.of[t.value] = {0, 1};
    for (edge_use u : p.edge_uses()) touched.of[u.value] = {0, 1};
    buffer_table const table = gather_buffers(touched, options);

    // Of each buffer of the table: its number in the result.
    sublet::table<buffer_id, buffer_id> planned(table.buffers.size(), no_buffer);
    for (buffer_id b = 0; b != table.buffers.size(); ++b) {
        if (!table.buffers[b].is_planned()) continue;
        planned[b] = buffer_id::of(result.size.size());
        result.size.push_back(table.buffers[b].size);
        result.is_given.push_back(has_role(table.buffers[b].role, value_role::input) &&
                                  !std::binary_search(begun.begin(), begun.end(), table.buffers[b].root));
        result.is_kept.push_back(has_role(table.buffers[b].role, value_role::output));
    }
    result.touch_count.assign(result.size.size(), 0);

    // Read after the step has written.
    auto const at_end = csr_rows<step_id, value_id>::gathered(p.steps(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(p.steps_of(u.pred).last - 1, u.value);
    });
    // While a step is processed, of each buffer: the one value that it reads, and whether it does nothing
    // else.
    struct touches_of_step {
        step_id at = no_step, held_at = no_step;
        value_id read = no_value;
        bool reads_only_that = false;
    };
    sublet::table<buffer_id, touches_of_step> seen(result.size.size());
    sublet::table<value_id, step_id> defined_at(p.values(), no_step); // the last step that defines it
    std::vector<buffer_id> own;                                       // the buffers of the step
    auto number_of = [&](value_id v) { return planned[table.buffer_of[v]]; };
    for (step_id s = 0; s != p.steps(); ++s) {
        own.clear();
        auto add_touch = [&](value_id v, bool holds, bool only_reads) {
            buffer_id const b = number_of(v);
            if (b == no_buffer) return;
            touches_of_step& t = seen[b];
            if (t.at != s) {
                t = {s, t.held_at, v, only_reads};
                own.push_back(b);
            } else {
                t.reads_only_that = t.reads_only_that && only_reads && t.read == v;
            }
            if (holds) t.held_at = s;
        };
        for (touch t : p.touches(s)) {
            add_touch(t.value, t.kind != touch::access::use_early, !t.defines() && !t.writes());
            if (t.defines()) defined_at[t.value] = s;
        }
        for (value_id v : at_end[s]) add_touch(v, true, false);
        std::sort(own.begin(), own.end());
        for (buffer_id b : own) {
            ++result.touch_count[b];
            (seen[b].held_at == s ? result.held : result.early).append(b);
        }
        result.held.close_row();
        result.early.close_row();

        result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
        if (!options.in_place) continue;
        for (overwrite o : p.overwrites(s)) {
            buffer_id const from = number_of(o.in), to = number_of(o.out);
            if (from == no_buffer || to == no_buffer || from == to) continue;
            buffer const &in = table.buffers[table.buffer_of[o.in]],
                         &out = table.buffers[table.buffer_of[o.out]];
            if (seen[from].at != s || !seen[from].reads_only_that || seen[from].read != o.in) continue;
            if (defined_at[o.out] != s || result.is_kept[from] || result.is_given[to]) continue;
            if (in.pool != out.pool || in.size < out.size) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            result.pairs.push_back({from, to, out.size});
        }
        keep_first_of_equals(result.pairs, result.first_pair.back());
    }
    result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
    return result;
}

// --- order bound -----------------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> any_order(order_graph const& g)
{
    table<node_id, std::uint32_t> waits(g.nodes());
    std::vector<node_id> order;
    order.reserve(g.nodes());
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<std::uint32_t>(g.before[n].size());
        if (waits[n] == 0) order.push_back(n);
    }
    for (std::size_t i = 0; i != order.size(); ++i)
        for (node_id next : g.after[order[i]])
            if (--waits[next] == 0) order.push_back(next);
    return order;
}

SUBLET_DECL csr_rows<node_id, touched_buffer> touches_of(order_graph const& g)
{
    csr_rows<node_id, touched_buffer> result;
    table<buffer_id, std::size_t> seen(g.buffers(), 0); // its index in `own`, and 1
    std::vector<touched_buffer> own;
    for (node_id n = 0; n != g.nodes(); ++n) {
        own.clear();
        auto add_touch = [&](buffer_id b, step_id s, bool is_early) {
            if (seen[b] == 0) {
                own.push_back({b, s, s, is_early, g.is_given[b] != 0, g.is_kept[b] != 0});
                seen[b] = own.size();
            } else {
                own[seen[b] - 1].last = s;
                own[seen[b] - 1].ends_early = is_early;
            }
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) add_touch(b, s, false);
            for (buffer_id b : g.early[s]) add_touch(b, s, true);
        }
        std::sort(own.begin(), own.end(),
                  [](touched_buffer const& a, touched_buffer const& b) { return a.buffer < b.buffer; });
        for (touched_buffer const& t : own) {
            seen[t.buffer] = 0;
            result.append(t);
        }
        result.close_row();
    }
    return result;
}

SUBLET_DECL byte_count bytes_while(order_graph const& g, step_range steps,
                                   std::span<touched_buffer const> touched, byte_count live_through)
{
    auto touch_of = [&](buffer_id b) -> touched_buffer const* {
        std::size_t const at =
            partition_point(touched.size(), [&](std::size_t i) { return touched[i].buffer >= b; });
        return at != touched.size() && touched[at].buffer == b ? &touched[at] : nullptr;
    };
    std::vector<overwrite_pair> candidates;
    auto saved_in = [&](step_id s) {
        candidates.clear();
        for (overwrite_pair const& pair : g.pairs_of(s)) {
            touched_buffer const *const in = touch_of(pair.in), *const out = touch_of(pair.out);
            bool const can_be = (in == nullptr || (!in->is_needed && in->last == s && !in->ends_early)) &&
                                (out == nullptr || (!out->is_begun && out->first == s));
            if (can_be) candidates.push_back(pair);
        }
        if (candidates.size() == 1) return candidates[0].saved;
        byte_count sum = 0;
        if (!candidates.empty())
            for (std::uint32_t i : match_overwrites(candidates)) sum += candidates[i].saved;
        return sum;
    };
    if (steps.last - steps.first == 1) {
        step_id const s = steps.first;
        for (touched_buffer const& t : touched) {
            if (t.is_begun && t.is_needed) continue; // counted in `live_through`
            bool const is_begun = t.is_begun || t.first <= s;
            bool const is_held = t.is_needed || t.last > s || (t.last == s && !t.ends_early);
            if (is_begun && is_held) live_through += g.size[t.buffer];
        }
        return live_through - saved_in(s);
    }
    std::vector<byte_count> begin_bytes(steps.last - steps.first + 1, 0), end_bytes(begin_bytes.size(), 0);
    for (touched_buffer const& t : touched) {
        if (t.is_begun && t.is_needed) continue; // counted in `live_through`
        step_id const first = t.is_begun ? steps.first : t.first;
        step_id const last = t.is_needed ? +steps.last : t.ends_early ? +t.last : t.last + 1;
        if (first >= last) continue;
        begin_bytes[first - steps.first] += g.size[t.buffer];
        end_bytes[last - steps.first] += g.size[t.buffer];
    }
    byte_count most = 0;
    for (step_id s = steps.first; s != steps.last; ++s) {
        live_through = live_through + begin_bytes[s - steps.first] - end_bytes[s - steps.first];
        most = larger(most, live_through - saved_in(s));
    }
    return most;
}

SUBLET_DECL byte_count max_node_lower_bound(order_graph const& g)
{
    std::size_t const nodes = g.nodes(), buffers = g.buffers();
    std::vector<touched_buffer> touches; // of each node, ascending by buffer
    table<node_id, std::size_t> first_touch(1, 0);
    csr_rows<node_id, touched_buffer> const rows = touches_of(g);
    for (node_id n = 0; n != nodes; ++n) {
        touches.insert(touches.end(), rows[n].begin(), rows[n].end());
        first_touch.push_back(touches.size());
    }

    table<node_id, byte_count> live_through(nodes, 0);
    if (std::uint64_t{nodes} * buffers <= std::uint64_t{1} << 31) {
        std::vector<node_id> order = g.listed; // the touches of a buffer are mostly close together there
        table<node_id, std::uint32_t> place(nodes);
        auto number = [&] {
            for (std::uint32_t at = 0; at != nodes; ++at) place[order[at]] = at;
        };
        number();
        bool can_run = true;
        for (node_id n = 0; n != nodes; ++n)
            for (node_id next : g.after[n]) can_run = can_run && place[n] < place[next];
        if (!can_run) {
            order = any_order(g);
            number();
        }
        std::vector<node_id> toucher; // by touch
        for (node_id n = 0; n != nodes; ++n) toucher.resize(first_touch[n + 1], n);
        auto const touches_among =
            csr_rows<std::size_t, std::uint32_t>::gathered((buffers + 63) / 64, [&](auto add) {
                for (std::uint32_t i = 0; i != touches.size(); ++i) add(touches[i].buffer / 64, i);
            });
        // 64 buffers at a time: those live before each node, and those needed after it. No bit is set before
        // the first and behind the last node that touches one of them, unless one is given or kept.
        table<node_id, std::uint64_t> own(nodes), before(nodes), touched_after(nodes);
        for (buffer_id low = 0; low < buffers; low += 64) {
            std::uint64_t live_in = 0, live_out = 0;
            for (buffer_id b = low; b < buffers && b - low < 64; ++b) {
                live_in |= std::uint64_t{g.is_given[b] != 0} << (b - low);
                live_out |= std::uint64_t{g.is_kept[b] != 0} << (b - low);
            }
            bool const is_everywhere = (live_in | live_out) != 0;
            std::size_t first = is_everywhere ? 0 : nodes, last = is_everywhere ? nodes : 0;
            auto const here = touches_among[low / 64];
            for (std::uint32_t i : here) {
                std::uint32_t const at = place[toucher[i]];
                first = smaller<std::size_t>(first, at);
                last = larger<std::size_t>(last, at + 1);
                own[toucher[i]] |= std::uint64_t{1} << (touches[i].buffer - low);
            }
            for (std::size_t at = first; at < last; ++at) {
                node_id const n = order[at];
                before[n] = live_in;
                for (node_id other : g.before[n]) before[n] |= before[other] | own[other];
            }
            for (std::size_t at = last; at-- > first;) {
                node_id const n = order[at];
                touched_after[n] = live_out;
                for (node_id other : g.after[n]) touched_after[n] |= touched_after[other] | own[other];
                for (std::uint64_t bits = before[n] & touched_after[n]; bits != 0; bits &= bits - 1)
                    live_through[n] += g.size[low + static_cast<std::uint32_t>(std::countr_zero(bits))];
            }
            for (std::uint32_t i : here) {
                touched_buffer& t = touches[i];
                t.is_begun = (before[toucher[i]] >> (t.buffer - low) & 1) != 0;
                t.is_needed = (touched_after[toucher[i]] >> (t.buffer - low) & 1) != 0;
            }
            for (std::size_t at = first; at < last; ++at)
                own[order[at]] = before[order[at]] = touched_after[order[at]] = 0;
        }
    } else {
        for (touched_buffer& t : touches) // without the buffers live throughout
            t.is_begun = t.is_begun && !t.is_needed;
    }

    byte_count most = 0;
    for (node_id n = 0; n != nodes; ++n) {
        std::span<touched_buffer const> const node_touches{touches.data() + first_touch[n],
                                                           touches.data() + first_touch[n + 1]};
        most = larger(most, bytes_while(g, g.steps[n], node_touches, live_through[n]));
    }
    return most;
}

SUBLET_DECL byte_count order_lower_bound(order_graph const& g)
{
    SUBLET_EXPECTS(g, "sublet: there is no order in which this program can run");
    byte_count given = 0, kept = 0, all = 0;
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        all = checked_add(all, g.size[b]);
        if (g.is_given[b]) given += g.size[b]; // live while the first step runs
        if (g.is_kept[b]) kept += g.size[b];   // live while the last step runs
    }
    return g.nodes() == 0 ? 0 : larger(larger(given, kept), max_node_lower_bound(g));
}

} // namespace sublet::detail
