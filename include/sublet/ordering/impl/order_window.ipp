// SPDX-License-Identifier: BSL-1.0

/// Nodes and buffers of the window are renumbered by sorting; what lies outside is given or kept.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_window.hpp>

#include <algorithm>
#include <utility>

// --- order window ----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_window window_of(order_graph const& g, peak_walk const& walk,
                                   std::span<node_id const> nodes)
{
    order_window w;
    order_graph& sub = w.graph;
    w.nodes.assign(nodes.begin(), nodes.end());
    w.is_at_start = walk.ran() == 0;
    w.live_through = walk.live();

    std::vector<sort_key> numbers; // {node, number}
    for (node_id n : nodes) numbers.push_back({n, 0, static_cast<std::uint32_t>(numbers.size())});
    sort_by_key(numbers);
    for (std::size_t i = 1; i < numbers.size(); ++i)
        SUBLET_EXPECTS(numbers[i - 1].key != numbers[i].key, "sublet: a window names node % twice",
                       numbers[i].key);
    constexpr std::uint32_t none = ~std::uint32_t{0};
    auto number_of = [](std::vector<sort_key> const& table, std::uint32_t id) {
        std::size_t const at =
            partition_point(table.size(), [&](std::size_t i) { return table[i].key >= id; });
        return at != table.size() && table[at].key == id ? table[at].id : none;
    };
    auto const count = static_cast<std::uint32_t>(nodes.size());
    sub.after = csr_rows<node_id, node_id>::gathered(count, [&](auto add) {
        for (node_id n = 0; n != count; ++n)
            for (node_id other : g.before[nodes[n]]) {
                node_id const from = number_of(numbers, other);
                if (from == no_node) continue;
                SUBLET_EXPECTS(from < n,
                               "sublet: in a window node % stands before node %, for which it waits",
                               nodes[n], other);
                add(from, n);
            }
    });
    sub.before = sub.after.transposed(count);

    std::vector<sort_key> touched; // {buffer, number}, once per step that touches it
    for (node_id n : nodes)
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) touched.push_back({b, 0, 0});
            for (buffer_id b : g.early[s]) touched.push_back({b, 0, 0});
        }
    sort_by_key(touched);
    std::vector<sort_key> buffers;
    for (sort_key const& t : touched) {
        if (buffers.empty() || buffers.back().key != t.key) {
            buffers.push_back({t.key, 0, static_cast<std::uint32_t>(buffers.size())});
            sub.touch_count.push_back(0);
        }
        ++sub.touch_count.back();
    }
    for (sort_key const& b : buffers) {
        auto const id = buffer_id::of(b.key);
        bool const is_live_in = g.is_given[id] != 0 || walk.remaining(id) != g.touch_count[id];
        sub.size.push_back(g.size[id]);
        sub.is_given.push_back(is_live_in);
        sub.is_kept.push_back(g.is_kept[id] != 0 || walk.remaining(id) != sub.touch_count[b.id]);
        if (is_live_in) w.live_through -= g.size[id];
    }
    if (w.is_at_start)
        for (buffer_id b = 0; b != g.buffers(); ++b)
            if (g.is_given[b] && !g.is_kept[b] && g.touch_count[b] == 0) w.untouched_input_bytes += g.size[b];
    w.live_through -= w.untouched_input_bytes;

    for (node_id n = 0; n != count; ++n) {
        auto const first = step_id::of(sub.held.rows());
        step_range const steps = g.steps[nodes[n]];
        sub.listed.push_back(n);
        sub.steps.push_back({first, first + (steps.last - steps.first)});
        for (step_id s = steps.first; s != steps.last; ++s) {
            for (buffer_id b : g.held[s]) sub.held.append(number_of(buffers, b));
            for (buffer_id b : g.early[s]) sub.early.append(number_of(buffers, b));
            sub.held.close_row();
            sub.early.close_row();
            sub.first_pair.push_back(static_cast<std::uint32_t>(sub.pairs.size()));
            for (overwrite_pair const& pair : g.pairs_of(s)) {
                buffer_id const in = number_of(buffers, pair.in), out = number_of(buffers, pair.out);
                if (!sub.is_kept[in] && !sub.is_given[out]) sub.pairs.push_back({in, out, pair.saved});
            }
        }
    }
    sub.first_pair.push_back(static_cast<std::uint32_t>(sub.pairs.size()));
    return w;
}

} // namespace sublet::detail
