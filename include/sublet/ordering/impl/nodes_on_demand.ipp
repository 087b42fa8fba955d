// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_NODES_ON_DEMAND_IPP
#define SUBLET_ORDERING_IMPL_NODES_ON_DEMAND_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet {

SUBLET_DECL demand_graph nodes_on_demand(order_window const& w)
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
            std::sort(found.begin(), found.end());
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
