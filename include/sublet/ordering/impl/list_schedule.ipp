// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/list_schedule.hpp>

// --- mirrored graph --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_graph mirrored(order_graph const& g)
{
    order_graph result;
    result.after = g.before;
    result.before = g.after;
    result.violation = g.violation;
    for (std::size_t at = g.listed.size(); at-- != 0;) result.listed.push_back(g.listed[at]);
    result.size = g.size;
    result.touching = g.touching;
    result.is_given = g.is_kept;
    result.is_kept = g.is_given;

    std::vector<overwrite_pair> best;
    std::vector<std::uint32_t> found(g.buffers(), ~std::uint32_t{0}); // by operand: where in `best`
    for (node_id n = 0; n != g.nodes(); ++n) {
        result.steps.push_back(g.steps[n]);
        for (step_id i = g.steps[n].first; i != g.steps[n].last; ++i) {
            step_id const s = g.steps[n].last - 1 - (i - g.steps[n].first);
            std::size_t next_early = 0;
            auto const early = g.early[s];
            for (buffer_id b : g.held[s]) {
                for (; next_early != early.size() && early[next_early] < b; ++next_early)
                    result.held.append(early[next_early]);
                result.held.append(b);
            }
            for (; next_early != early.size(); ++next_early) result.held.append(early[next_early]);
            result.held.close_row();
            result.early.close_row();

            best.clear();
            for (overwrite_pair const& pair : g.pairs_of(s)) {
                overwrite_pair const turned{pair.out, pair.in, pair.saved};
                std::uint32_t& at = found[pair.in];
                if (at < best.size() && best[at].out == pair.in) {
                    if (best[at].saved < pair.saved) best[at] = turned;
                } else {
                    at = static_cast<std::uint32_t>(best.size());
                    best.push_back(turned);
                }
            }
            result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
            for (overwrite_pair const& pair : best) result.pairs.push_back(pair);
        }
    }
    result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
    return result;
}

// --- node demands ----------------------------------------------------------------------------------------

SUBLET_DECL node_demands::node_demands(order_graph const& g)
    : g_(g), walk_(g), touched_by_(touched_by(g)), touches_(touched_by_.transposed(g.buffers())),
      begins_(g.nodes()), ends_(g.nodes()), is_plain_(g.nodes()), has_run_(g.nodes()),
      has_begun_(g.buffers()), left_(g.buffers()), sum_left_(g.buffers())
{
    for (node_id n = 0; n != g.nodes(); ++n) {
        step_range const its = g.steps[n];
        is_plain_[n] =
            its.last - its.first == 1 && g.pairs_of(its.first).empty() && g.early[its.first].empty();
        for (buffer_id b : touched_by_[n]) {
            ++left_[b];
            sum_left_[b] += n;
            if (!g.is_given[b]) begins_[n] += g.size[b];
        }
    }
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        has_begun_[b] = g.is_given[b];
        if (left_[b] == 1 && !g.is_kept[b]) ends_[sum_left_[b]] += g.size[b];
    }
}

SUBLET_DECL std::vector<sort_key> node_demands::announced() const
{
    std::vector<sort_key> result;
    std::vector<node_id> begun_by(g_.buffers(), no_node);
    std::vector<std::uint32_t> seen(g_.buffers()); // steps of the node
    for (node_id n : topological(g_)) {
        byte_count begun = 0, more = 0;
        for (buffer_id b : touched_by_[n]) {
            if (g_.is_given[b]) continue;
            if (begun_by[b] == no_node) begun_by[b] = n;
            if (begun_by[b] == n) begun += g_.size[b];
            else if (!is_listed(g_.before[n], begun_by[b])) more += g_.size[b];
        }
        result.push_back({begun, 0, n});
        if (more != 0) result.push_back({begun + more, 0, n});
        if (is_plain_[n]) continue;
        // As if it ran alone: what only its own steps touch comes and goes among them.
        byte_count alive = 0, most = 0;
        for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) {
            byte_count saved = 0, dead = 0;
            for (buffer_id b : g_.held[s]) {
                if (seen[b]++ == 0 && begun_by[b] == n) alive += g_.size[b];
                if (seen[b] == g_.touching[b] && !g_.is_kept[b] && !g_.is_given[b]) dead += g_.size[b];
            }
            for (overwrite_pair const& pair : g_.pairs_of(s)) saved = larger(saved, pair.saved);
            most = larger(most, alive - smaller(alive, saved));
            alive -= smaller(alive, dead);
        }
        for (buffer_id b : touched_by_[n]) seen[b] = 0;
        if (most != begun) result.push_back({most, 0, n});
    }
    return result;
}

SUBLET_DECL csr_rows node_demands::touched_by(order_graph const& g) // by node: its buffers, each once
{
    std::vector<node_id> seen(g.buffers(), no_node);
    csr_rows result;
    for (node_id n = 0; n != g.nodes(); ++n) {
        auto see = [&](buffer_id b) {
            if (seen[b] != n) result.append(b);
            seen[b] = n;
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) see(b);
            for (buffer_id b : g.early[s]) see(b);
        }
        result.close_row();
    }
    return result;
}

// --- ready nodes -----------------------------------------------------------------------------------------

SUBLET_DECL ready_nodes::ready_nodes(std::size_t nodes, std::vector<sort_key> announced)
    : place_(nodes, no_place)
{
    sort_by_key(announced);
    needs_.reserve(announced.size());
    for (sort_key const& a : announced) needs_.push_back(a.key);
    places_ = csr_rows::gathered(nodes, [&](auto add) {
        for (std::uint32_t i = 0; i != announced.size(); ++i) add(announced[i].id, i);
    });
    while (leaves_ <= announced.size()) leaves_ *= 2;
    best_.resize(2 * leaves_);
}

SUBLET_DECL void ready_nodes::put(node_id n, byte_count need, std::uint64_t left, node_id rank)
{
    auto const places = places_[n];
    std::size_t at = 0;
    while (at + 1 != places.size() && needs_[places[at]] < need) ++at;
    std::uint32_t const place = places[at];
    if (holds(n) && place_[n] != place) set(place_[n], {});
    place_[n] = place;
    set(place, {left, rank, n});
}

SUBLET_DECL node_id ready_nodes::best(byte_count room) const
{
    node_claim const found = least_of(fitting(room));
    if (found.node != no_node) return found.node;
    std::size_t at = 1;
    while (at < leaves_) at = best_[2 * at].node != no_node ? 2 * at : 2 * at + 1;
    return least_of(fitting(needs_[at - leaves_])).node;
}

SUBLET_DECL std::size_t ready_nodes::fitting(byte_count room) const
{
    return partition_point(needs_.size(), [&](std::size_t i) { return needs_[i] > room; });
}

SUBLET_DECL node_claim ready_nodes::least_of(std::size_t count) const // of the first so many leaves
{
    node_claim found;
    for (std::size_t at = leaves_ + count; at > 1; at /= 2)
        if (at % 2 != 0 && best_[at - 1] < found) found = best_[at - 1];
    return found;
}

SUBLET_DECL void ready_nodes::set(std::size_t place, node_claim const& claim)
{
    std::size_t at = leaves_ + place;
    best_[at] = claim;
    while (at > 1) {
        node_claim const& other = best_[at ^ 1];
        node_claim const& least = best_[at] < other ? best_[at] : other;
        at /= 2;
        if (best_[at].left == least.left && best_[at].rank == least.rank) return;
        best_[at] = least;
    }
}

// --- list schedule ---------------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                               schedule_rule const& rule)
{
    SUBLET_EXPECTS(!g.violation, "sublet: there is no order to run this program in");
    SUBLET_EXPECTS(preferred.size() == g.nodes(), "sublet: an order has to name every node once");
    node_demands demands(g);
    ready_nodes ready(g.nodes(), demands.announced());
    std::vector<node_id> rank(g.nodes()), waits(g.nodes()), order, changed;
    for (node_id at = 0; at != g.nodes(); ++at) rank[preferred[at]] = at;
    order.reserve(g.nodes());

    std::uint64_t const none_more = std::uint64_t{1} << 63; // as much alive behind as before
    auto put = [&](node_id n) {
        std::uint64_t left = none_more + demands.growth(n);
        if (!rule.growing_by_size && left > none_more) left = none_more + 1;
        ready.put(n, demands.need(n), left, rank[n]);
    };
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<node_id>(g.before[n].size());
        if (waits[n] == 0) put(n);
    }
    while (!ready.empty()) {
        byte_count const reached = larger(rule.goal, demands.peak());
        node_id const n = ready.best(reached > demands.live() ? reached - demands.live() : 0);
        ready.take(n);
        order.push_back(n);
        changed.clear();
        demands.run(n, [&](node_id other) { changed.push_back(other); });
        for (node_id other : changed)
            if (ready.holds(other)) put(other);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) put(next);
    }
    return order;
}

} // namespace sublet::detail
