// SPDX-License-Identifier: BSL-1.0

/// Rules sort nodes by a rank and take the first that is ready. Least peak makes list schedules forwards and
/// backwards, each from the best so far and with another goal; improving searches wider and wider windows
/// around the peak.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/least_live.hpp>
#include <sublet/ordering/detail/list_schedule.hpp>
#include <sublet/ordering/detail/orders.hpp>

#include <algorithm>

namespace sublet::detail {

// --- longest path ----------------------------------------------------------------------------------------

SUBLET_DECL table<node_id, std::uint32_t> path_lengths(order_graph const& g)
{
    table<node_id, std::uint32_t> length(g.nodes(), 1);
    std::vector<node_id> const order = topological(g);
    for (std::size_t at = order.size(); at-- != 0;)
        for (node_id next : g.after[order[at]])
            length[order[at]] = larger(length[order[at]], length[next] + 1);
    return length;
}

SUBLET_DECL std::vector<node_id> longest_path(order_graph const& g)
{
    table<node_id, std::uint64_t> rank;
    rank.reserve(g.nodes());
    for (std::uint32_t length : path_lengths(g)) rank.push_back(descending(length));
    return order_by_rank(g, rank);
}

// --- graph orders ----------------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> breadth_first(order_graph const& g)
{
    table<node_id, std::uint64_t> level(g.nodes());
    for (node_id n : topological(g))
        for (node_id next : g.after[n]) level[next] = larger(level[next], level[n] + 1);
    return order_by_rank(g, level);
}

SUBLET_DECL std::vector<node_id> depth_first_order(order_graph const& g)
{
    table<node_id, std::uint32_t> waits;
    std::vector<node_id> order, ready;
    for (node_id n = 0; n != g.nodes(); ++n)
        waits.push_back(static_cast<std::uint32_t>(g.before[n].size()));
    // In reverse listed order, so that of the nodes pushed together the first listed is on top.
    std::vector<node_id> const listed = topological(g);
    table<node_id, std::uint32_t> place(g.nodes());
    for (std::uint32_t at = 0; at != listed.size(); ++at) place[listed[at]] = at;
    for (std::size_t at = listed.size(); at-- != 0;)
        if (waits[listed[at]] == 0) ready.push_back(listed[at]);
    std::vector<std::uint32_t> newly_ready; // places in `listed`
    while (!ready.empty()) {
        node_id const n = ready.back();
        ready.pop_back();
        order.push_back(n);
        newly_ready.clear();
        for (node_id next : g.after[n])
            if (--waits[next] == 0) newly_ready.push_back(place[next]);
        std::sort(newly_ready.begin(), newly_ready.end());
        for (std::size_t i = newly_ready.size(); i-- != 0;) ready.push_back(listed[newly_ready[i]]);
    }
    return order;
}

SUBLET_DECL std::vector<node_id> on_demand(order_graph const& g)
{
    std::vector<node_id> const listed = topological(g);
    table<node_id, std::uint32_t> place(g.nodes());
    for (std::uint32_t at = 0; at != listed.size(); ++at) place[listed[at]] = at;
    struct frame {
        node_id node;
        std::uint32_t first; // its first predecessor in `pending`
    };
    table<node_id, unsigned char> is_visited(g.nodes());
    std::vector<node_id> order;
    std::vector<std::uint32_t> pending; // places in `listed`, descending by node
    std::vector<frame> path;
    auto visit = [&](node_id n) {
        is_visited[n] = 1;
        path.push_back({n, static_cast<std::uint32_t>(pending.size())});
        std::vector<std::uint32_t> unvisited;
        for (node_id b : g.before[n])
            if (!is_visited[b]) unvisited.push_back(place[b]);
        std::sort(unvisited.begin(), unvisited.end());
        for (std::size_t i = unvisited.size(); i-- != 0;) pending.push_back(unvisited[i]);
    };
    for (node_id end : listed) {
        if (g.after[end].size() != 0) continue;
        visit(end);
        while (!path.empty()) {
            if (pending.size() == path.back().first) {
                order.push_back(path.back().node);
                path.pop_back();
                continue;
            }
            node_id const next = listed[pending.back()];
            pending.pop_back();
            if (!is_visited[next]) visit(next);
        }
    }
    return order;
}

// --- least peak ------------------------------------------------------------------------------------------

SUBLET_DECL void schedule_again(order_incumbent& incumbent, order_graph const& g, order_graph const& mirror,
                                least_peak_limits const& limits, std::uint32_t made)
{
    std::uint64_t const fitting = limits.nodes / larger(g.nodes(), std::size_t{1});
    std::uint64_t const most = smaller(std::uint64_t{limits.schedules}, fitting);
    std::uint32_t failed = 0;
    for (std::uint32_t round = 0; made + round < most && failed != limits.patience; ++round) {
        if (incumbent.is_settled()) return;
        byte_count const peak = incumbent.best().peak;
        // A goal just below the peak keeps most of the order, a low goal finds a different one.
        byte_count const goals[] = {peak - 1, peak - peak / 16, peak - peak / 4};
        schedule_rule const rule{goals[round / 2 % 3], false};
        std::vector<node_id> order = incumbent.best().order;
        bool const from_end = round % 2 != 0;
        if (from_end) order = {order.rbegin(), order.rend()};
        order = list_schedule(from_end ? mirror : g, order, rule);
        bool const is_better = from_end ? incumbent.offer_reversed(order, node_order::method::reversed)
                                        : incumbent.offer(std::move(order), node_order::method::least_peak);
        failed = is_better ? 0 : failed + 1;
    }
}

SUBLET_DECL node_order least_peak(order_graph const& g, least_peak_limits const& limits)
{
    order_incumbent incumbent(g, limits.floor);
    auto offer = [&](auto walk, node_order::method how) {
        if (!incumbent.is_settled()) incumbent.offer(walk(g), how);
    };
    offer([](order_graph const& x) { return on_demand(x); }, node_order::method::on_demand);
    offer([](order_graph const& x) { return depth_first_order(x); }, node_order::method::depth_first);
    offer([](order_graph const& x) { return longest_path(x); }, node_order::method::longest_path);
    offer([](order_graph const& x) { return breadth_first(x); }, node_order::method::breadth_first);
    if (incumbent.is_settled()) return incumbent.best();
    order_graph const mirror = mirrored(g);
    std::uint32_t made = 0;
    for (byte_count goal :
         {limits.floor, byte_count{0}}) { // up to the bound for nothing, or only the peak so far
        if (made != 0 && (limits.floor == 0 || limits.nodes / 4 < g.nodes())) break;
        if (!incumbent.is_settled())
            incumbent.offer(list_schedule(g, topological(g), {goal, true}), node_order::method::least_peak);
        if (!incumbent.is_settled())
            incumbent.offer_reversed(list_schedule(mirror, topological(mirror), {goal, true}),
                                     node_order::method::reversed);
        made += 2;
    }
    schedule_again(incumbent, g, mirror, limits, made);
    return incumbent.best();
}

// --- exact order -----------------------------------------------------------------------------------------

SUBLET_DECL exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start,
                                         order_search_limits limits)
{
    exact_node_order result;
    if (!result.refute(g)) return result;
    result.order = topological(g);
    result.given_peak = peak_of(g, result.order);
    if (!start.empty()) result.order = start;
    byte_count const start_peak = peak_of(g, result.order);
    result.peak = start_peak;
    result.lower_bound = limits.bound != 0 ? limits.bound : order_lower_bound(g);
    limits.floor = larger(limits.floor, result.lower_bound);
    if (result.peak <= limits.floor) return result;

    std::vector<std::size_t> first;
    {
        order_window const all = window_of(g, peak_walk(g), std::span<node_id const>(result.order));
        order_moves const moves = moves_of(all, search_side::start);
        table<node_id, byte_count> most_of_node; // while it runs in this order
        peak_walk walk(g);
        for (node_id n : result.order) most_of_node.push_back(walk.run(n));
        table<move_id, byte_count> most_of;
        for (move_id m = 0; m != moves.size(); ++m) most_of.push_back(most_of_node[moves.nodes[m].back()]);
        cut_bound const bound = find_cut_bound(moves, most_of, result.lower_bound, limits.work / 16);
        result.lower_bound = bound.bytes;
        result.report.work = bound.work;
        limits.floor = larger(limits.floor, result.lower_bound);
        if (result.peak <= limits.floor) return result;
        order_cuts cuts = cut_order(moves);
        for (node_id& n : cuts.order) n = all.nodes[n];
        result.order = std::move(cuts.order);
        first = std::move(cuts.first);
    }
    std::size_t const segments = first.size() - 1;
    result.report.segments = segments;
    std::vector<byte_count> peak(segments, 0);
    std::size_t highest = 0;
    {
        peak_walk walk(g);
        for (std::size_t i = 0; i != segments; ++i) {
            for (std::size_t at = first[i]; at != first[i + 1]; ++at)
                peak[i] = larger(peak[i], walk.run(result.order[at]));
            result.report.longest = larger(result.report.longest, first[i + 1] - first[i]);
            if (peak[i] > peak[highest]) highest = i;
        }
    }
    auto search = [&](peak_walk const& walk, std::size_t i) {
        std::span<node_id const> const nodes{result.order.data() + first[i],
                                             result.order.data() + first[i + 1]};
        order_search_limits left = limits;
        left.work = limits.work - smaller(limits.work, result.report.work);
        window_order const found = exact_window(g, walk, nodes, left);
        for (std::size_t k = 0; k != found.order.size(); ++k) result.order[first[i] + k] = found.order[k];
        peak[i] = found.peak;
        result.lower_bound = larger(result.lower_bound, found.lower_bound);
        limits.floor = larger(limits.floor, peak[i]); // the other segments need not be lower
        result.report.sets += found.sets;
        result.report.work += found.work;
        ++result.report.searched;
    };
    for (bool is_first : {true, false}) { // the highest first, since it bounds the others
        peak_walk walk(g);
        for (std::size_t i = 0; i != segments && !(is_first && i > highest); ++i) {
            if (peak[i] > limits.floor && (!is_first || i == highest)) search(walk, i);
            for (std::size_t at = first[i]; at != first[i + 1]; ++at) walk.run(result.order[at]);
        }
    }
    result.peak = peak_of(g, result.order);
    if (result.peak < start_peak) result.found_by = node_order::method::exact;
    return result;
}

// --- improve order ---------------------------------------------------------------------------------------

/// An order with the live bytes at each node, and window searches on it.
class order_neighborhood {
public:
    /// `work` is the budget of all searches, and is counted down.
    order_neighborhood(order_graph const& g, std::vector<node_id> order, std::uint64_t& work)
        : g_(g), walk_(g), order_(std::move(order)), left_(work)
    {
        for (node_id n : order_) peak_at_.push_back(walk_.run(n));
    }
    [[nodiscard]] std::vector<node_id> const& order() const { return order_; }

    /// Finds a better order for some window around the peak; false if none is found.
    bool lower_peak(improve_limits const& limits)
    {
        std::size_t top = 0;
        for (std::size_t at = 0; at != peak_at_.size(); ++at)
            if (peak_at_[at] > peak_at_[top]) top = at;
        for (std::size_t width = 8; width <= limits.widest; width *= 3) {
            for (std::size_t part : {2u, 3u, 1u}) { // quarters of the window before the peak
                if (left_ == 0) return false;
                std::size_t const before = width / 4 * part;
                std::size_t const first = top > before ? top - before : 0;
                if (search(first, smaller(first + width, order_.size()), limits)) return true;
            }
            if (width >= order_.size()) break;
        }
        return false;
    }

private:
    bool search(std::size_t first, std::size_t last, improve_limits const& limits)
    {
        byte_count outside = 0, inside = 0; // a window need not be lower than the rest
        for (std::size_t at = 0; at != peak_at_.size(); ++at)
            (at < first || at >= last ? outside : inside) =
                larger(peak_at_[at], at < first || at >= last ? outside : inside);
        while (walk_.ran() > first) walk_.step_back();
        while (walk_.ran() < first) walk_.run(order_[walk_.ran()]);
        order_search_limits limits_left;
        limits_left.work = smaller(left_, limits.window_work);
        limits_left.floor = larger(outside, limits.schedules.floor);
        window_order const found = exact_window(
            g_, walk_, std::span<node_id const>(order_).subspan(first, last - first), limits_left);
        left_ -= smaller(left_, larger(found.work, std::uint64_t{1}));
        if (found.peak >= inside) return false;
        for (std::size_t i = 0; i != found.order.size(); ++i) {
            order_[first + i] = found.order[i];
            peak_at_[first + i] = walk_.run(found.order[i]);
        }
        return true;
    }

    order_graph const& g_;
    peak_walk walk_;
    std::vector<node_id> order_;
    std::vector<byte_count> peak_at_; // by place in the order: bytes live while its node runs
    std::uint64_t& left_;
};

SUBLET_DECL std::uint64_t improve_order(order_graph const& g, order_incumbent& incumbent,
                                        improve_limits const& limits)
{
    if (incumbent.is_settled()) return 0;
    std::uint64_t left = limits.work;
    for (std::uint32_t round = 0; round != limits.rounds && left != 0 && !incumbent.is_settled(); ++round) {
        byte_count const before = incumbent.best().peak;
        order_neighborhood segments(g, incumbent.best().order, left);
        while (segments.lower_peak(limits)) {}
        incumbent.offer(segments.order(), node_order::method::improved);
        if (limits.schedules.schedules != 0) schedule_again(incumbent, g, mirrored(g), limits.schedules);
        if (incumbent.best().peak == before) break;
    }
    return limits.work - left;
}

} // namespace sublet::detail
