// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_ORDER_WINDOW_IPP
#define SUBLET_ORDERING_IMPL_ORDER_WINDOW_IPP

#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/sorting.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet {

SUBLET_DECL order_window window_of(order_graph const& g, peak_walk const& walk,
                                   std::span<node_id const> nodes)
{
    order_window w;
    order_graph& its = w.graph;
    w.nodes.assign(nodes.begin(), nodes.end());
    w.is_at_start = walk.ran() == 0;
    w.around = walk.live();

    std::vector<keyed> numbers; // {node, number}
    for (node_id n : nodes) numbers.push_back({n, 0, static_cast<node_id>(numbers.size())});
    sort_keyed(numbers);
    for (std::size_t i = 1; i < numbers.size(); ++i)
        SUBLET_EXPECTS(numbers[i - 1].key != numbers[i].key, "sublet: a window names a node twice");
    auto number_of = [](std::vector<keyed> const& table, std::uint32_t who) {
        std::size_t const at = first_that(table.size(), [&](std::size_t i) { return table[i].key >= who; });
        return at != table.size() && table[at].key == who ? table[at].who : no_node;
    };
    auto const count = static_cast<node_id>(nodes.size());
    its.after = csr_rows::gathered(count, [&](auto add) {
        for (node_id n = 0; n != count; ++n)
            for (node_id other : g.before[nodes[n]]) {
                node_id const from = number_of(numbers, other);
                if (from == no_node) continue;
                SUBLET_EXPECTS(from < n, "sublet: a node of a window stands before one that it waits for");
                add(from, n);
            }
    });
    its.before = its.after.transposed(count);

    std::vector<keyed> touched; // {buffer, number}, at first each as often as a step touches it
    for (node_id n : nodes)
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) touched.push_back({b, 0, 0});
            for (buffer_id b : g.early[s]) touched.push_back({b, 0, 0});
        }
    sort_keyed(touched);
    std::vector<keyed> buffers;
    for (keyed const& t : touched) {
        if (buffers.empty() || buffers.back().key != t.key) {
            buffers.push_back({t.key, 0, static_cast<buffer_id>(buffers.size())});
            its.touching.push_back(0);
        }
        ++its.touching.back();
    }
    for (keyed const& b : buffers) {
        auto const id = static_cast<buffer_id>(b.key);
        bool const is_there = g.is_given[id] != 0 || walk.remaining(id) != g.touching[id];
        its.size.push_back(g.size[id]);
        its.is_given.push_back(is_there);
        its.is_kept.push_back(g.is_kept[id] != 0 || walk.remaining(id) != its.touching[b.who]);
        if (is_there) w.around -= g.size[id];
    }
    if (w.is_at_start)
        for (buffer_id b = 0; b != g.buffers(); ++b)
            if (g.is_given[b] && !g.is_kept[b] && g.touching[b] == 0) w.leave_at_first += g.size[b];
    w.around -= w.leave_at_first;

    for (node_id n = 0; n != count; ++n) {
        auto const first = static_cast<step_id>(its.held.rows());
        step_range const mine = g.steps[nodes[n]];
        its.listed.push_back(n);
        its.steps.push_back({first, first + (mine.last - mine.first)});
        for (step_id s = mine.first; s != mine.last; ++s) {
            for (buffer_id b : g.held[s]) its.held.append(number_of(buffers, b));
            for (buffer_id b : g.early[s]) its.early.append(number_of(buffers, b));
            its.held.close_row();
            its.early.close_row();
            its.first_pair.push_back(static_cast<std::uint32_t>(its.pairs.size()));
            for (overwrite_pair const& pair : g.pairs_of(s)) {
                buffer_id const in = number_of(buffers, pair.in), out = number_of(buffers, pair.out);
                if (!its.is_kept[in] && !its.is_given[out]) its.pairs.push_back({in, out, pair.saved});
            }
        }
    }
    its.first_pair.push_back(static_cast<std::uint32_t>(its.pairs.size()));
    return w;
}

} // namespace sublet

#endif
