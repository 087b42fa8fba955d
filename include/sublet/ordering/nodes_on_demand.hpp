// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODES_ON_DEMAND_HPP
#define SUBLET_ORDERING_NODES_ON_DEMAND_HPP

/// Nodes that may as well run right before the first that waits for them.
///
///     0: constant ──► 3         nothing is gained by running 0 early, in whatever order 1 and 2 run:
///     1 ──► 2 ──────► 3         1 2 (0 3) needs no more than any order does
///
/// A node that only adds, because whatever it touches is needed behind it in every order, is best run as late
/// as that goes: until then all others have less beside them, and when it runs at last, as much is alive as
/// was before at that time. So constants, views and other small things need not be searched for a place.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// The nodes of a window, those on demand taken out.
struct demand_graph {
    std::vector<unsigned char> on_demand; ///< by node
    csr_rows demanded; ///< by node: those on demand that it waits for, directly or through others of them,
                       ///< ascending; nothing for those on demand themselves
    csr_rows after, before; ///< among all others: who waits for whom, directly or through those on demand
};

/// Ensures:    for every order of the window there is one with no higher peak, in which each node on demand
///             runs right before the first node that demands it, with those that this one demands, ascending,
///             and the others run in the order in which they did.
/// Complexity: O(V + E + touches), for what is not on demand; lists of those on demand are short, or they are
///             not taken out.
[[nodiscard]] inline demand_graph nodes_on_demand(order_window const& w)
{
    order_graph const& g = w.graph;
    auto const count = static_cast<node_id>(g.nodes());
    demand_graph result;
    result.on_demand.assign(count, 0);

    // Who reads early or is written over may profit if another toucher of the same buffer has run.
    std::vector<unsigned char> is_sensitive(g.buffers(), 0);
    bool is_first_special = w.leave_at_first != 0; // who runs first has something of its own to bear
    for (step_id s = 0; s != g.early.rows(); ++s)
        for (buffer_id b : g.early[s]) {
            is_sensitive[b] = 1;
            is_first_special = is_first_special || g.is_given[b];
        }
    for (overwrite_pair const& pair : g.pairs) is_sensitive[pair.in] = 1;

    std::size_t const most_listed = 64, most_work = std::size_t{1} << 26;
    std::vector<std::uint32_t> seen(g.buffers(), 0); // by how many steps, while a node is looked at
    std::size_t work = 0;
    auto for_each_touch = [&g](node_id n, auto visit) {
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) visit(b);
            for (buffer_id b : g.early[s]) visit(b);
        }
    };
    auto only_adds = [&](node_id n) {
        auto look = [&](auto visit) {
            for (node_id next : g.after[n]) for_each_touch(next, visit);
        };
        look([&](buffer_id b) { ++seen[b], ++work; });
        bool result_so_far = true;
        for_each_touch(n,
                       [&](buffer_id b) { result_so_far = result_so_far && (seen[b] != 0 || g.is_kept[b]); });
        for_each_touch(n, [&](buffer_id b) { ++seen[b]; });
        for_each_touch(n, [&](buffer_id b) {
            result_so_far = result_so_far && (!is_sensitive[b] || seen[b] == g.touching[b]);
        });
        for_each_touch(n, [&](buffer_id b) { seen[b] = 0; });
        look([&](buffer_id b) { seen[b] = 0; });
        return result_so_far;
    };

    // What a node waits for, those on demand replaced by what these wait for; and which those are.
    std::vector<node_id> last(count, no_node); // who has listed a node last
    for (node_id n = 0; n != count; ++n) {
        auto list = [&](csr_rows const& of_others, bool demanded, csr_rows& row) {
            std::vector<node_id> found;
            auto add = [&](node_id other) {
                if (last[other] != n) last[other] = n, found.push_back(other);
            };
            for (node_id other : g.before[n]) {
                if (result.on_demand[other]) {
                    for (node_id further : of_others[other]) add(further);
                    if (demanded) add(other);
                } else if (!demanded) {
                    add(other);
                }
            }
            for (node_id other : found) last[other] = no_node;
            sort_ascending(found);
            for (node_id other : found) row.append(other);
            row.close_row();
            return found.size();
        };
        std::size_t const waits = list(result.before, false, result.before);
        std::size_t const demands = list(result.demanded, true, result.demanded);
        result.on_demand[n] = !is_first_special && !g.after[n].empty() && waits <= most_listed &&
                              demands <= most_listed && work <= most_work && only_adds(n);
    }
    csr_rows before, demanded;
    for (node_id n = 0; n != count; ++n) {
        if (!result.on_demand[n]) {
            for (node_id other : result.before[n]) before.append(other);
            for (node_id other : result.demanded[n]) demanded.append(other);
        }
        before.close_row();
        demanded.close_row();
    }
    result.before = std::move(before);
    result.demanded = std::move(demanded);
    result.after = result.before.transposed(count);
    return result;
}

} // namespace sublet

#endif
