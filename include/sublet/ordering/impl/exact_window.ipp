// SPDX-License-Identifier: BSL-1.0

/// An order can be cut after a node if no edge passes by: one sweep from the left keeps the latest first
/// successor, one from the right the earliest last predecessor.

#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/exact_window.hpp>
#include <sublet/ordering/detail/threshold_search.hpp>

// --- order cuts ------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_cuts cut_order(order_moves const& moves)
{
    std::size_t const nodes = moves.window->graph.nodes();
    auto const count = static_cast<std::uint32_t>(moves.size());
    // The order can be cut after m if each move before m has a successor up to m, and each move after m has a
    // predecessor from m on.
    table<move_id, move_id> first_succ(count, count); // the first successor of each move
    table<move_id, move_id> last_pred(count, 0);      // the move after the last predecessor of each move
    for (move_id m = 0; m != count; ++m) {
        if (!moves.after[m].empty()) first_succ[m] = moves.after[m].front();
        if (!moves.before[m].empty()) last_pred[m] = moves.before[m].back() + 1;
    }
    table<move_id, move_id> min_last_pred(std::size_t{count} + 1, count); // over all moves from here on
    for (move_id m = count; m-- != 0;) min_last_pred[m] = smaller(min_last_pred[m + 1], last_pred[m]);

    order_cuts result;
    result.first.push_back(0);
    table<node_id, unsigned char> is_emitted(nodes, 0);
    move_id max_first_succ = 0; // over all moves before
    for (move_id m = 0; m != count; ++m) {
        for (node_id n : moves.nodes[m])
            if (!is_emitted[n]) is_emitted[n] = 1, result.order.push_back(n);
        bool const is_cut = max_first_succ <= m && min_last_pred[m + 1] > m;
        max_first_succ = larger(max_first_succ, first_succ[m]);
        if (is_cut && result.order.size() != nodes) result.first.push_back(result.order.size());
    }
    if (nodes != 0) result.first.push_back(nodes);
    return result;
}

// --- exact window ----------------------------------------------------------------------------------------

/// The peak of a window in an order of its nodes.
SUBLET_DECL byte_count peak_in_window(order_window const& w, std::vector<node_id> const& order)
{
    peak_walk walk(w.graph, w.live_through, w.untouched_input_bytes, w.is_at_start);
    for (node_id n : order) walk.run(n);
    return walk.peak();
}

SUBLET_DECL window_order exact_window(order_window const& w, order_search_limits const& limits)
{
    window_order result;
    result.order = w.nodes;
    result.is_searched = true;
    result.peak = peak_in_window(w, w.graph.listed);
    result.lower_bound = w.nodes.empty() ? 0 : w.live_through + max_node_lower_bound(w.graph);
    auto is_done = [&] { return result.peak <= larger(result.lower_bound, limits.floor); };
    if (is_done()) return result;

    order_moves const moves[] = {moves_of(w, search_side::start), moves_of(w, search_side::end)};
    threshold_search searches[] = {threshold_search(moves[0]), threshold_search(moves[1])};
    std::uint64_t share = 16 * (moves[0].begins.items() + moves[0].after.items());
    auto ask = [&](threshold_search& search, byte_count threshold) {
        std::uint64_t const left = limits.work - smaller(limits.work, result.work);
        threshold_result found = search.search(threshold, smaller(share, left), limits.bytes);
        result.work += found.work;
        result.sets += found.sets;
        if (found.how == threshold_result::outcome::refuted)
            result.lower_bound = larger(result.lower_bound, smaller(found.least_refused, result.peak));
        if (found.how != threshold_result::outcome::found) return;
        byte_count const peak = peak_in_window(w, found.order);
        if (peak >= result.peak) return;
        result.peak = peak;
        for (std::size_t i = 0; i != found.order.size(); ++i) result.order[i] = w.nodes[found.order[i]];
    };
    for (;; share *= 2)
        for (int aim = 0; aim != 3; ++aim)
            for (threshold_search& search : searches) {
                if (is_done()) return result;
                if (result.work >= limits.work) {
                    result.is_searched = false;
                    return result;
                }
                byte_count const low = larger(result.lower_bound, limits.floor), high = result.peak - 1;
                byte_count const middle = low + (high - low) / 2;
                if ((aim == 1 && middle == high) || (aim == 2 && low == middle)) continue;
                ask(search, aim == 0 ? high : aim == 1 ? middle : low);
            }
}

SUBLET_DECL window_order exact_window(order_graph const& g, peak_walk const& walk,
                                      std::span<node_id const> nodes, order_search_limits const& limits)
{
    return exact_window(window_of(g, walk, nodes), limits);
}

SUBLET_DECL window_order exact_window(order_graph const& g, std::vector<node_id> const& order,
                                      std::size_t first, std::size_t last, order_search_limits const& limits)
{
    if (order.size() != g.nodes()) broken_order(order, g.nodes());
    SUBLET_EXPECTS(first <= last && last <= order.size(),
                   "sublet: a window is from % to %, but its order has % nodes", first, last, order.size());
    peak_walk walk(g);
    for (std::size_t i = 0; i != first; ++i) walk.run(order[i]);
    return exact_window(g, walk, {order.data() + first, order.data() + last}, limits);
}

} // namespace sublet::detail
