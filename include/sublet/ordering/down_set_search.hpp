// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DOWN_SET_SEARCH_HPP
#define SUBLET_ORDERING_DOWN_SET_SEARCH_HPP

/// The lowest peak with which a window can run, by letting water rise.
///
///     allowed   64     {} ─ {0} ─ {0 1}                 nobody gets further: 64 is not enough
///               80     {} ─ {0} ─ {0 1} ─ {0 1 2} ...   what was waiting for 80 goes on
///
/// Sets of nodes that have run are places, nodes lead from one to the next and ask that so many bytes be
/// allowed. The search starts with what no order goes below, and visits all it can reach; when that is
/// exhausted it allows as much as the least of what was refused. When the end is reached, no order has a
/// lower peak. Each place is visited once for each amount that it had to wait for, and nothing is ever tried
/// with more than the answer.
///
/// Source: the dynamic programming over down-sets with a soft budget is from Ahn, Lee, Lin, Cheng, Hou and
/// Esmaeilzadeh, "Ordering chaos: memory-aware scheduling of irregularly wired neural networks for edge
/// devices", MLSys 2020. Theirs goes layer by layer under a budget found by bisection; a bottleneck path
/// needs no budget, and free moves (ordering/free_moves.hpp) leave out most of the sets.

#include <sublet/keyed.hpp>
#include <sublet/ordering/down_set_table.hpp>
#include <sublet/ordering/free_moves.hpp>
#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace sublet {

/// When a search gives up, in what it has done and not in seconds.
struct order_search_limits {
    static constexpr std::uint64_t work_of_state = 4096; ///< touches and edges of the nodes that it tries

    /// Sets of nodes, at most. As soon as they are more work than sets of a network are, that counts.
    std::uint64_t states = 1'000'000;
    std::size_t bytes = std::size_t{256} << 20; ///< for these sets, about
    byte_count floor = 0;                       ///< a peak as low as this is as good as any
};

struct down_set_result {
    std::vector<node_id> order; ///< by number in the window; empty if none was found below `ceiling`
    byte_count lower_bound = 0; ///< no order has a lower peak
    std::uint64_t states = 0;   ///< sets that were visited, or what counts for as many
    bool is_exhausted = true;   ///< false: a limit struck
};

/// An order of the window with the least peak, if that is below `ceiling`.
///
/// Requires:   no order of the window has a peak below `lower_bound`.
/// Ensures:    `order` has the least peak there is, or one of `limits.floor` or below. If it is empty and no
///             limit struck, no order has a peak below `ceiling`.
/// Complexity: exponential in the width of the window at worst; at most `limits.states` sets. Each visit of a
///             set looks at the touches of all pairs of nodes that are ready there, and of chains behind
///             them.
template <class Stop>
[[nodiscard]] down_set_result search_down_sets(order_window const& w, byte_count lower_bound,
                                               byte_count ceiling, order_search_limits const& limits,
                                               Stop stop)
{
    using id = down_set_table::id;
    demand_graph const demand = nodes_on_demand(w);
    free_moves moves(w, demand);
    down_set_table sets(w.graph.nodes());
    struct arrival { // by set
        byte_count live;
        byte_count settled; // with so many bytes allowed nothing is free,
        byte_count refused; // and chains asked for so many
        id from;
        bool is_visited;
        std::size_t way; // where the nodes that led from there begin in `ways`
    };
    std::vector<arrival> arrivals;
    std::vector<node_id> ways;
    struct child {
        id number;
        byte_count live;
    };
    std::vector<child> children;
    std::vector<node_id> ready;
    std::vector<id> open;               // to be visited, the last one first
    std::priority_queue<keyed> refused; // {falling bytes, , set}
    byte_count allowed = larger(lower_bound, limits.floor);
    std::uint64_t const most_states = smaller(limits.states, std::uint64_t{1} << 31); // they have 32-bit ids
    auto states = [&] { return larger(std::uint64_t{sets.size()}, moves.work() / limits.work_of_state); };

    down_set_result result;
    result.lower_bound = lower_bound;
    id reached = ~id{0};
    // The set in which the walk is now, reached from another.
    auto arrive = [&](id from) {
        std::uint64_t hash = from == ~id{0} ? 0 : sets.hash(from);
        for (node_id n : moves.trail()) hash ^= down_set_table::hash_of(n);
        auto const [number, is_new] = sets.number_of(moves.walk().done().data(), hash);
        if (!is_new) return;
        arrivals.push_back({moves.walk().live(), allowed, moves.refused(), from, false, ways.size()});
        for (node_id n : moves.trail()) ways.push_back(n);
        if (moves.walk().ran() == w.graph.nodes()) reached = number;
        children.push_back({number, moves.walk().live()});
    };
    auto open_children = [&] {
        sort_by(children, [](child const& a, child const& b) {
            return a.live != b.live ? a.live > b.live : a.number > b.number;
        });
        for (child const& c : children) open.push_back(c.number);
        children.clear();
    };

    if (allowed >= ceiling) return result;
    moves.run_free(allowed);
    arrive(~id{0});
    open_children();
    for (std::uint64_t visits = 0; reached == ~id{0}; ++visits) {
        if (open.empty()) {
            if (refused.empty() || falling(refused.top().key) >= ceiling) {
                result.lower_bound = ceiling;
                result.states = states();
                return result;
            }
            allowed = falling(refused.top().key);
            for (; !refused.empty() && falling(refused.top().key) == allowed; refused.pop())
                open.push_back(refused.top().who);
        }
        std::size_t const bytes = sets.bytes() + arrivals.size() * sizeof(arrival) +
                                  ways.size() * sizeof(node_id) + refused.size() * sizeof(keyed);
        if (states() >= most_states || bytes >= limits.bytes ||
            (visits % 256 == 0 && stop(ceiling, larger(lower_bound, allowed), states()))) {
            result.is_exhausted = false;
            break;
        }
        id const here = open.back();
        open.pop_back();
        moves.jump(sets[here], arrivals[here].live);
        // Where it was visited before, nodes that need no more than was allowed then have been tried.
        byte_count const before = arrivals[here].settled;
        byte_count const tried = arrivals[here].is_visited ? before : 0;
        if (before != allowed) {
            moves.run_free_again(allowed, before, arrivals[here].refused);
            arrivals[here].settled = allowed;
            arrivals[here].refused = moves.refused();
            if (!moves.trail().empty()) {
                arrive(here);
                open_children();
                continue;
            }
        }
        arrivals[here].is_visited = true;
        byte_count least_refused = no_limit;
        ready.clear();
        moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
        bool is_spent = false;
        for (node_id n : ready) {
            is_spent = states() >= most_states; // in dense graphs one visit can be too many
            if (is_spent) break;
            byte_count const most = moves.run(n);
            if (most > allowed) {
                least_refused = smaller(least_refused, most);
            } else if (most > tried || tried == 0) {
                moves.run_free(allowed);
                arrive(here);
            }
            moves.return_to(0);
        }
        open_children();
        if (is_spent && reached == ~id{0}) {
            result.is_exhausted = false;
            break;
        }
        if (least_refused < ceiling) refused.push({falling(least_refused), 0, here});
    }
    result.states = states();
    // With less than is allowed now everything has been tried.
    if (allowed > limits.floor) result.lower_bound = larger(lower_bound, allowed);
    if (reached == ~id{0}) return result;

    std::vector<id> path;
    for (id at = reached; at != ~id{0}; at = arrivals[at].from) path.push_back(at);
    for (std::size_t i = path.size(); i-- != 0;) {
        std::size_t const end = path[i] + 1 == arrivals.size() ? ways.size() : arrivals[path[i] + 1].way;
        for (std::size_t at = arrivals[path[i]].way; at != end; ++at) result.order.push_back(ways[at]);
    }
    return result;
}

} // namespace sublet

#endif
