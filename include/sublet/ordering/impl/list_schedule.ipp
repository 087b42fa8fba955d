// SPDX-License-Identifier: BSL-1.0

/// Each buffer knows how many of its nodes are left, and the sum of their numbers, which names the last one:
/// what a node would begin and end is known without a search. Ready nodes are leaves of a tree, sorted by the
/// bytes that they need, so the best that fits is found in O(log n).

#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/list_schedule.hpp>

// --- mirrored graph --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_graph mirrored(order_graph const& g)
{
    order_graph result;
    result.after = g.before;
    result.before = g.after;
    result.refute(g);
    for (std::size_t at = g.listed.size(); at-- != 0;) result.listed.push_back(g.listed[at]);
    result.size = g.size;
    result.touch_count = g.touch_count;
    result.is_given = g.is_kept;
    result.is_kept = g.is_given;

    std::vector<overwrite_pair> best;
    table<buffer_id, std::uint32_t> found(g.buffers(), ~std::uint32_t{0}); // of each operand in `best`
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

// --- pressure tracker ------------------------------------------------------------------------------------

SUBLET_DECL pressure_tracker::pressure_tracker(order_graph const& g)
    : g_(g), walk_(g), touched_by_(touched_by(g)), touches_(touched_by_.transposed(g.buffers())),
      begins_(g.nodes()), ends_(g.nodes()), is_plain_(g.nodes()), has_run_(g.nodes()),
      has_begun_(g.buffers()), left_(g.buffers()), sum_left_(g.buffers())
{
    for (node_id n = 0; n != g.nodes(); ++n) {
        step_range const steps = g.steps[n];
        is_plain_[n] =
            steps.last - steps.first == 1 && g.pairs_of(steps.first).empty() && g.early[steps.first].empty();
        for (buffer_id b : touched_by_[n]) {
            ++left_[b];
            sum_left_[b] += n;
            if (!g.is_given[b]) begins_[n] += g.size[b];
        }
    }
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        has_begun_[b] = g.is_given[b];
        if (left_[b] == 1 && !g.is_kept[b]) ends_[node_id::of(sum_left_[b])] += g.size[b];
    }
}

SUBLET_DECL std::vector<sort_key> pressure_tracker::possible_needs() const
{
    std::vector<sort_key> result;
    table<buffer_id, node_id> begun_by(g_.buffers(), no_node);
    table<buffer_id, std::uint32_t> seen(g_.buffers()); // steps of the node that touch the buffer
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
        // The node by itself: buffers that only its own steps touch begin and end within it.
        byte_count alive = 0, most = 0;
        for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) {
            byte_count saved = 0, dead = 0;
            for (buffer_id b : g_.held[s]) {
                if (seen[b]++ == 0 && begun_by[b] == n) alive += g_.size[b];
                if (seen[b] == g_.touch_count[b] && !g_.is_kept[b] && !g_.is_given[b]) dead += g_.size[b];
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

SUBLET_DECL csr_rows<node_id, buffer_id> pressure_tracker::touched_by(order_graph const& g)
{
    table<buffer_id, node_id> seen(g.buffers(), no_node);
    csr_rows<node_id, buffer_id> result;
    for (node_id n = 0; n != g.nodes(); ++n) {
        auto add_once = [&](buffer_id b) {
            if (seen[b] != n) result.append(b);
            seen[b] = n;
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) add_once(b);
            for (buffer_id b : g.early[s]) add_once(b);
        }
        result.close_row();
    }
    return result;
}

// --- ready nodes -----------------------------------------------------------------------------------------

SUBLET_DECL ready_nodes::ready_nodes(std::size_t nodes, std::vector<sort_key> possible_needs)
    : place_(nodes, no_place)
{
    sort_by_key(possible_needs);
    needs_.reserve(possible_needs.size());
    for (sort_key const& a : possible_needs) needs_.push_back(a.key);
    places_ = csr_rows<node_id, std::uint32_t>::gathered(nodes, [&](auto add) {
        for (std::uint32_t i = 0; i != possible_needs.size(); ++i) add(possible_needs[i].id, i);
    });
    while (leaf_count_ <= possible_needs.size()) leaf_count_ *= 2;
    best_.resize(2 * leaf_count_);
}

SUBLET_DECL void ready_nodes::put(node_id n, byte_count need, std::uint64_t growth_key, std::uint32_t rank)
{
    auto const places = places_[n];
    std::size_t at = 0;
    while (at + 1 != places.size() && needs_[places[at]] < need) ++at;
    std::uint32_t const place = places[at];
    if (holds(n) && place_[n] != place) set(place_[n], {});
    place_[n] = place;
    set(place, {growth_key, rank, n});
}

SUBLET_DECL node_id ready_nodes::best(byte_count room) const
{
    node_priority const found = least_of(fitting(room));
    if (found.node != no_node) return found.node;
    std::size_t at = 1;
    while (at < leaf_count_) at = best_[2 * at].node != no_node ? 2 * at : 2 * at + 1;
    return least_of(fitting(needs_[at - leaf_count_])).node;
}

SUBLET_DECL std::size_t ready_nodes::fitting(byte_count room) const
{
    return partition_point(needs_.size(), [&](std::size_t i) { return needs_[i] > room; });
}

SUBLET_DECL node_priority ready_nodes::least_of(std::size_t count) const
{
    node_priority found;
    for (std::size_t at = leaf_count_ + count; at > 1; at /= 2)
        if (at % 2 != 0 && best_[at - 1] < found) found = best_[at - 1];
    return found;
}

SUBLET_DECL void ready_nodes::set(std::size_t place, node_priority const& priority)
{
    std::size_t at = leaf_count_ + place;
    best_[at] = priority;
    while (at > 1) {
        node_priority const& other = best_[at ^ 1];
        node_priority const& least = best_[at] < other ? best_[at] : other;
        at /= 2;
        if (best_[at].growth_key == least.growth_key && best_[at].rank == least.rank) return;
        best_[at] = least;
    }
}

// --- list schedule ---------------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                               schedule_rule const& rule)
{
    SUBLET_EXPECTS(g, "sublet: there is no order in which this program can run");
    if (preferred.size() != g.nodes()) broken_order(preferred, g.nodes());
    pressure_tracker pressure(g);
    ready_nodes ready(g.nodes(), pressure.possible_needs());
    table<node_id, std::uint32_t> rank(g.nodes()), waits(g.nodes());
    std::vector<node_id> order, changed;
    for (std::uint32_t at = 0; at != g.nodes(); ++at) rank[preferred[at]] = at;
    order.reserve(g.nodes());

    std::uint64_t const zero_growth = std::uint64_t{1} << 63; // as many bytes live after as before
    auto put = [&](node_id n) {
        std::uint64_t growth_key = zero_growth + pressure.growth(n);
        if (!rule.growing_by_size && growth_key > zero_growth) growth_key = zero_growth + 1;
        ready.put(n, pressure.need(n), growth_key, rank[n]);
    };
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<std::uint32_t>(g.before[n].size());
        if (waits[n] == 0) put(n);
    }
    while (!ready.empty()) {
        byte_count const allowed = larger(rule.goal, pressure.peak());
        node_id const n = ready.best(allowed > pressure.live() ? allowed - pressure.live() : 0);
        ready.take(n);
        order.push_back(n);
        changed.clear();
        pressure.run(n, [&](node_id other) { changed.push_back(other); });
        for (node_id other : changed)
            if (ready.holds(other)) put(other);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) put(next);
    }
    return order;
}

} // namespace sublet::detail
