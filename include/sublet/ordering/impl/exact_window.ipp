// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_EXACT_WINDOW_IPP
#define SUBLET_ORDERING_IMPL_EXACT_WINDOW_IPP

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/overwrite_matching.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/exact_window.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

// --- order bound -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::vector<node_id> any_order(order_graph const& g)
{
    std::vector<node_id> waits(g.nodes()), order;
    order.reserve(g.nodes());
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<node_id>(g.before[n].size());
        if (waits[n] == 0) order.push_back(n);
    }
    for (std::size_t i = 0; i != order.size(); ++i)
        for (node_id next : g.after[order[i]])
            if (--waits[next] == 0) order.push_back(next);
    return order;
}

/// A buffer that a node touches.
struct touched_buffer {
    buffer_id buffer;
    step_id first, last; ///< of the node's steps that touch it
    bool ends_early;     ///< the last of them only reads it early
    bool is_begun;       ///< it is there when the node begins, in every order
    bool is_needed;      ///< it is there when the node has run, in every order
};

/// The most bytes that are alive while a node runs if `among` are so anyway, and of those it touches what is
/// said of them.
SUBLET_DECL byte_count least_while(order_graph const& g, node_id n, std::span<touched_buffer const> touched,
                                   byte_count among)
{
    step_range const steps = g.steps[n];
    std::vector<byte_count> born(steps.last - steps.first + 1, 0), dies(born.size(), 0);
    for (touched_buffer const& t : touched) {
        if (t.is_begun && t.is_needed) continue; // counted in `among`
        step_id const first = t.is_begun ? steps.first : t.first;
        step_id const last = t.is_needed ? steps.last : t.ends_early ? t.last : t.last + 1;
        if (first >= last) continue;
        born[first - steps.first] += g.size[t.buffer];
        dies[last - steps.first] += g.size[t.buffer];
    }
    byte_count most = 0;
    std::vector<overwrite_pair> candidates;
    for (step_id s = steps.first; s != steps.last; ++s) {
        among = among + born[s - steps.first] - dies[s - steps.first];
        candidates.clear();
        for (overwrite_pair const& pair : g.pairs_of(s)) {
            bool can_be = true;
            for (touched_buffer const& t : touched) {
                if (t.buffer == pair.in) can_be = can_be && !t.is_needed && t.last == s && !t.ends_early;
                if (t.buffer == pair.out) can_be = can_be && !t.is_begun && t.first == s;
            }
            if (can_be) candidates.push_back(pair);
        }
        byte_count saved = 0;
        for (std::uint32_t i : match_overwrites(candidates)) saved += candidates[i].saved;
        most = larger(most, among - saved);
    }
    return most;
}

SUBLET_DECL byte_count least_while_any_runs(order_graph const& g)
{
    std::uint64_t const nodes = g.nodes(), buffers = g.buffers();
    // By node its touches, each buffer once; by buffer where these stand.
    std::vector<detail::touched_buffer> touches;
    std::vector<std::size_t> first_touch{0};
    {
        std::vector<std::size_t> seen(buffers, 0); // its touch in this node, and 1
        for (node_id n = 0; n != nodes; ++n) {
            auto see = [&](buffer_id b, step_id s, bool is_early) {
                if (seen[b] <= first_touch.back()) {
                    touches.push_back({b, s, s, is_early, g.is_given[b] != 0, g.is_kept[b] != 0});
                    seen[b] = touches.size();
                } else {
                    touches[seen[b] - 1].last = s;
                    touches[seen[b] - 1].ends_early = is_early;
                }
            };
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
                for (buffer_id b : g.held[s]) see(b, s, false);
                for (buffer_id b : g.early[s]) see(b, s, true);
            }
            first_touch.push_back(touches.size());
        }
    }

    std::vector<byte_count> among(nodes, 0);
    if (nodes * buffers <= std::uint64_t{1} << 31) {
        std::vector<node_id> const order = detail::any_order(g);
        // Sixty-four buffers at a time: which of them are touched before each node, and which behind.
        std::vector<std::uint64_t> mine(nodes), before(nodes), behind(nodes);
        for (buffer_id low = 0; low < buffers; low += 64) {
            std::uint64_t there = 0, stays = 0;
            for (buffer_id b = low; b < buffers && b - low < 64; ++b) {
                there |= std::uint64_t{g.is_given[b] != 0} << (b - low);
                stays |= std::uint64_t{g.is_kept[b] != 0} << (b - low);
            }
            for (node_id n = 0; n != nodes; ++n) {
                mine[n] = 0;
                for (std::size_t i = first_touch[n]; i != first_touch[n + 1]; ++i)
                    if (touches[i].buffer >= low && touches[i].buffer - low < 64)
                        mine[n] |= std::uint64_t{1} << (touches[i].buffer - low);
            }
            for (node_id n : order) {
                before[n] = there;
                for (node_id other : g.before[n]) before[n] |= before[other] | mine[other];
            }
            for (std::size_t i = nodes; i-- != 0;) {
                node_id const n = order[i];
                behind[n] = stays;
                for (node_id other : g.after[n]) behind[n] |= behind[other] | mine[other];
            }
            for (node_id n = 0; n != nodes; ++n) {
                for (std::uint64_t bits = before[n] & behind[n]; bits != 0; bits &= bits - 1)
                    among[n] += g.size[low + static_cast<buffer_id>(std::countr_zero(bits))];
                if (mine[n] == 0) continue;
                for (std::size_t i = first_touch[n]; i != first_touch[n + 1]; ++i) {
                    detail::touched_buffer& t = touches[i];
                    if (t.buffer < low || t.buffer - low >= 64) continue;
                    t.is_begun = (before[n] >> (t.buffer - low) & 1) != 0;
                    t.is_needed = (behind[n] >> (t.buffer - low) & 1) != 0;
                }
            }
        }
    } else {
        for (detail::touched_buffer& t : touches) // as if nothing were there anyway
            t.is_begun = t.is_begun && !t.is_needed;
    }

    byte_count most = 0;
    for (node_id n = 0; n != nodes; ++n) {
        std::span<detail::touched_buffer const> const its{touches.data() + first_touch[n],
                                                          touches.data() + first_touch[n + 1]};
        most = larger(most, detail::least_while(g, n, its, among[n]));
    }
    return most;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL byte_count order_lower_bound(order_graph const& g)
{
    SUBLET_EXPECTS(!g.violation, "sublet: there is no order to run this program in");
    byte_count given = 0, kept = 0, all = 0;
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        all = checked_add(all, g.size[b]);
        if (g.is_given[b]) given += g.size[b]; // while the first step runs
        if (g.is_kept[b]) kept += g.size[b];   // while the last one does
    }
    return g.nodes() == 0 ? 0 : larger(larger(given, kept), detail::least_while_any_runs(g));
}

// --- order cuts ------------------------------------------------------------------------------------------


SUBLET_DECL order_cuts cut_order(order_window const& w, demand_graph const& d)
{
    auto const count = static_cast<node_id>(w.graph.nodes());
    // A node comes behind all before it if each of them has somebody to go before, no later than the node;
    // likewise turned round.
    std::vector<node_id> reach(count, count); // by node: the first that waits for it
    std::vector<node_id> back(count, 0);      // and the last that it waits for, and 1
    for (node_id n = 0; n != count; ++n) {
        if (!d.after[n].empty()) reach[n] = d.after[n].front();
        if (!d.before[n].empty()) back[n] = d.before[n].back() + 1;
    }
    std::vector<node_id> least_back(std::size_t{count} + 1, count); // of those from here on
    for (node_id n = count; n-- != 0;)
        least_back[n] = d.on_demand[n] ? least_back[n + 1] : smaller(least_back[n + 1], back[n]);

    order_cuts result;
    result.first.push_back(0);
    std::vector<unsigned char> is_there(count, 0);
    node_id most_reach = 0; // of those before
    for (node_id n = 0; n != count; ++n) {
        if (d.on_demand[n]) continue;
        for (node_id demanded : d.demanded[n])
            if (!is_there[demanded]) is_there[demanded] = 1, result.order.push_back(demanded);
        result.order.push_back(n);
        bool const is_cut = most_reach <= n && least_back[n + 1] > n;
        most_reach = larger(most_reach, reach[n]);
        if (is_cut && result.order.size() != count) result.first.push_back(result.order.size());
    }
    if (count != 0) result.first.push_back(count);
    return result;
}

// --- exact window ----------------------------------------------------------------------------------------


SUBLET_DECL window_order exact_window(order_graph const& g, peak_walk const& walk,
                                      std::span<node_id const> nodes, order_search_limits const& limits)
{
    return exact_window(window_of(g, walk, nodes), limits,
                        [](byte_count, byte_count, std::uint64_t) { return false; });
}

SUBLET_DECL window_order exact_window(order_graph const& g, std::vector<node_id> const& order,
                                      std::size_t first, std::size_t last, order_search_limits const& limits)
{
    SUBLET_EXPECTS(order.size() == g.nodes(), "sublet: an order has to name every node once");
    SUBLET_EXPECTS(first <= last && last <= order.size(), "sublet: a window reaches beyond its order");
    peak_walk walk(g);
    for (std::size_t i = 0; i != first; ++i) walk.run(order[i]);
    return exact_window(g, walk, {order.data() + first, order.data() + last}, limits);
}

} // namespace sublet

#endif
