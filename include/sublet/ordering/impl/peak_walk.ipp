// SPDX-License-Identifier: BSL-1.0

/// A step makes what it touches first and frees what it touches last, by the number of steps that still touch
/// each buffer; in-place pairs are matched for each step. A log of live bytes and peaks takes nodes back.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <queue>
#include <utility>

namespace sublet::detail {

// --- topological -----------------------------------------------------------------------------------------

SUBLET_DECL table<node_id, std::uint32_t> listed_places(order_graph const& g)
{
    table<node_id, std::uint32_t> place(g.nodes());
    for (std::uint32_t at = 0; at != g.nodes(); ++at) place[g.listed[at]] = at;
    return place;
}

SUBLET_DECL std::vector<node_id> order_by_rank(order_graph const& g,
                                               table<node_id, std::uint64_t> const& rank)
{
    SUBLET_EXPECTS(g, "sublet: there is no order in which this program can run");
    SUBLET_EXPECTS(rank.size() == g.nodes(), "sublet: a table has % entries for % nodes", rank.size(),
                   g.nodes());
    table<node_id, std::uint32_t> const place = listed_places(g);
    table<node_id, std::uint32_t> waits(g.nodes());
    std::vector<node_id> order;
    std::priority_queue<sort_key> ready; // largest first, so both keys are descending
    auto push_ready = [&](node_id n) { ready.push({descending(rank[n]), descending(place[n]), n}); };
    order.reserve(g.nodes());
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<std::uint32_t>(g.before[n].size());
        if (waits[n] == 0) push_ready(n);
    }
    while (!ready.empty()) {
        node_id const n = ready.top().id;
        ready.pop();
        order.push_back(n);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) push_ready(next);
    }
    return order;
}

SUBLET_DECL std::vector<node_id> topological(order_graph const& g)
{
    table<node_id, std::uint32_t> const place = listed_places(g);
    bool can_run = true;
    for (node_id n = 0; n != g.nodes(); ++n)
        for (node_id next : g.after[n]) can_run = can_run && place[n] < place[next];
    return can_run ? g.listed : order_by_rank(g, table<node_id, std::uint64_t>(g.nodes(), 0));
}

// --- peak walk -------------------------------------------------------------------------------------------

SUBLET_DECL peak_walk::peak_walk(order_graph const& g) : g_(g), remaining_(g.touch_count)
{
    byte_count all = 0;
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        all = checked_add(all, g.size[b]);
        if (!g.is_given[b]) continue;
        live_ += g.size[b];
        if (g.touch_count[b] == 0 && !g.is_kept[b]) untouched_input_bytes_ += g.size[b];
    }
}

SUBLET_DECL byte_count peak_walk::run(node_id n)
{
    log_.push_back({n, live_, peak_});
    byte_count most = 0;
    for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) most = larger(most, run_step(s));
    peak_ = larger(peak_, most);
    return most;
}

SUBLET_DECL void peak_walk::step_back()
{
    record const last = log_.back();
    log_.pop_back();
    live_ = last.live;
    peak_ = last.peak;
    for (step_id s = g_.steps[last.node].first; s != g_.steps[last.node].last; ++s) {
        --steps_;
        for (buffer_id b : g_.held[s]) ++remaining_[b];
        for (buffer_id b : g_.early[s]) ++remaining_[b];
    }
}

SUBLET_DECL byte_count peak_walk::run_step(step_id s)
{
    byte_count now = live_, dead = steps_ == 0 ? untouched_input_bytes_ : 0;
    for (buffer_id b : g_.held[s]) {
        if (remaining_[b] == g_.touch_count[b] && !g_.is_given[b]) now += g_.size[b];
        if (ends_here(b)) dead += g_.size[b];
    }
    byte_count const live_after = now - dead;
    // A buffer that is only read early is free when the step writes; but given buffers are live at first.
    byte_count early = 0;
    for (buffer_id b : g_.early[s])
        if (ends_here(b)) early += g_.size[b];
    bool const is_first = steps_ == 0;
    if (!is_first) now -= early;
    now -= saved(s, is_first);

    for (buffer_id b : g_.held[s]) --remaining_[b];
    for (buffer_id b : g_.early[s]) --remaining_[b];
    ++steps_;
    live_ = live_after - early;
    return now;
}

SUBLET_DECL byte_count peak_walk::saved(step_id s, bool is_first)
{
    candidates_.clear();
    for (overwrite_pair const& pair : g_.pairs_of(s)) {
        if (!ends_here(pair.in) || remaining_[pair.out] != g_.touch_count[pair.out]) continue;
        if (!is_first && is_listed(g_.early[s], pair.in)) continue;
        candidates_.push_back(pair);
    }
    byte_count sum = 0;
    for (std::uint32_t i : match_overwrites(candidates_)) sum += candidates_[i].saved;
    return sum;
}

SUBLET_DECL byte_count peak_of(order_graph const& g, std::vector<node_id> const& order)
{
    if (order.size() != g.nodes()) broken_order(order, g.nodes());
    peak_walk walk(g);
    for (node_id n : order) walk.run(n);
    return walk.peak();
}

// --- order incumbent -------------------------------------------------------------------------------------

SUBLET_DECL order_incumbent::order_incumbent(order_graph const& g, byte_count floor) : g_(g)
{
    if (!best_.refute(g)) return;
    best_.order = topological(g);
    best_.peak = best_.given_peak = sublet::detail::peak_of(g, best_.order);
    best_.lower_bound = smaller(floor, best_.peak);
}

SUBLET_DECL bool order_incumbent::offer(std::vector<node_id> order, node_order::method method)
{
    byte_count const peak = sublet::detail::peak_of(g_, order);
    if (peak >= best_.peak) return false;
    best_.order = std::move(order);
    best_.peak = peak;
    best_.found_by = method;
    ++changes_;
    return true;
}

} // namespace sublet::detail
