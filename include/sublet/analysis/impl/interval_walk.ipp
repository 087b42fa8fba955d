// SPDX-License-Identifier: BSL-1.0

/// In one pass: where all successors have been walked, the ranges open at their begins are the live-out set,
/// and what is live at a loop header is live throughout the loop. By trees: only what differs between the end
/// of a node and the begin of the next one is opened or closed.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/detail/interval_walk.hpp>
#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL node_layout lay_out(snapshot const& p, std::vector<node_id> order)
{
    if (order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    if (order.size() != p.nodes()) broken_order(order, p.nodes());
    constexpr std::uint32_t none = ~std::uint32_t{0};
    table<node_id, std::uint32_t> index_of(p.nodes(), none);
    table<node_id, position_id> end(p.nodes());
    position_id position = 0;
    for (std::uint32_t i = 0; i != order.size(); ++i) {
        node_id const n = order[i];
        if (n >= p.nodes() || index_of[n] != none) broken_order(order, p.nodes());
        index_of[n] = i;
        end[n] = position += p.steps_of(n).last - p.steps_of(n).first;
    }
    return {std::move(order), std::move(index_of), std::move(end)};
}

/// Of each value, whether a step writes it; empty if a value is written twice.
SUBLET_DECL table<value_id, unsigned char> written_once(snapshot const& p)
{
    table<value_id, unsigned char> is_written(p.values());
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines() && std::exchange(is_written[t.value], 1) != 0) return {};
    return is_written;
}

/// Of each node, the index of the last node of its loop, the largest number if it is no header; empty if some
/// loop is irreducible or not contiguous, an edge other than a back edge leads backwards, or one leads into
/// an earlier search tree.
///
/// Complexity: O(V + E), as `loops`.
SUBLET_DECL table<node_id, std::uint32_t> loop_ends(snapshot const& p, node_layout const& layout,
                                                    depth_first_forest const& search)
{
    loop_forest const forest = loops(p.graph(), p.predecessors(), search);
    if (!forest.is_reducible()) return {};
    std::uint32_t tree_begin = 0; // in preorder of the search
    for (node_id n : search.preorder) {
        if (search.parent[n] == no_node) tree_begin = search.preorder_index[n];
        for (node_id s : p.successors(n)) {
            if (search.preorder_index[s] < tree_begin) return {}; // possibly into the middle of a loop
            if (layout.index_of[s] <= layout.index_of[n] && !search.is_back_edge(n, s)) return {};
        }
    }
    table<node_id, std::uint32_t> last = layout.index_of;
    for (std::size_t i = forest.preorder.size(); i-- != 0;) {
        node_id const n = forest.preorder[i], around = forest.parent[n];
        if (last[n] - layout.index_of[n] + 1 != forest.end[n] - forest.preorder_index[n]) return {};
        if (around != no_node && last[around] < last[n]) last[around] = last[n];
        if (!forest.is_header(n)) last[n] = ~std::uint32_t{0};
    }
    return last;
}

/// Ranges open at the beginning of the next node in the order stay open if it is a successor; for other
/// successors the open ranges have been recorded.
SUBLET_DECL bool found_in_one_pass(snapshot const& p, node_layout const& layout, open_ranges& ranges,
                                   std::uint64_t most)
{
    table<value_id, unsigned char> const is_written = written_once(p);
    if (is_written.size() != p.values()) return false;
    depth_first_forest const search = depth_first(p.graph());
    table<node_id, std::uint32_t> const last = loop_ends(p, layout, search);
    if (last.size() != p.nodes()) return false;

    auto const end_reads = csr_rows<node_id, value_id>::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    // By index from the last: values live at the begin of nodes that others jump to.
    csr_rows<std::uint32_t, value_id> live_at_begin;
    auto const count = static_cast<std::uint32_t>(p.nodes());
    for (std::uint32_t i = count; i-- != 0;) {
        node_id const n = layout.order[i];
        bool is_before_next = false;
        for (node_id s : p.successors(n)) is_before_next = is_before_next || layout.index_of[s] == i + 1;
        std::uint64_t taken = 0;
        auto take = [&taken](std::span<value_id const> values) { return taken += values.size(), values; };
        if (!is_before_next) {
            take(ranges.values());
            ranges.close_all(layout.end[n]);
        }
        for (node_id s : p.successors(n))
            if (layout.index_of[s] > i + 1)
                for (value_id v : take(live_at_begin[count - 1 - layout.index_of[s]]))
                    ranges.open(v, layout.end[n]);
        for (value_id v : end_reads[n]) ranges.open(v, layout.end[n]);
        ranges.walk(p, n, layout.end[n]);

        if (last[n] != ~std::uint32_t{0}) // live at the header, so live throughout the loop
            for (value_id v : take(ranges.values())) ranges.open(v, layout.end[layout.order[last[n]]]);
        if (search.parent[n] == no_node) // a root: values needed here may be read unwritten
            for (value_id v : ranges.values())
                if (is_written[v]) return false;
        bool is_jumped_to = false;
        for (node_id pred : p.predecessors(n)) is_jumped_to = is_jumped_to || layout.index_of[pred] + 1 < i;
        if (is_jumped_to)
            for (value_id v : take(ranges.values())) live_at_begin.append(v);
        live_at_begin.close_row();
        if (taken > most) return false;
        most -= taken;
    }
    ranges.close_all(0);
    return true;
}

SUBLET_DECL live_range_lists intervals_by_trees(snapshot const& p, node_layout const& layout)
{
    cross_block_values const cross_block = find_cross_block_values(p);
    set_trees trees(cross_block.value.size());
    tree_sets const live = live_by_trees(p, cross_block, trees);
    open_ranges ranges(p.values());
    for (std::size_t i = p.nodes(); i-- != 0;) {
        node_id const n = layout.order[i];
        set_trees::set const after = i + 1 != p.nodes() ? live.leaving[layout.order[i + 1]] : 0;
        trees.each_difference(live.arriving[n], after, [&](std::uint32_t column, bool opens) {
            if (opens) ranges.open(cross_block.value[column], layout.end[n]);
            else ranges.close(cross_block.value[column], layout.end[n]);
        });
        ranges.walk(p, n, layout.end[n]);
    }
    ranges.close_all(0);
    return ranges.closed().lists(live_range_lists::source::from_liveness,
                                 static_cast<std::uint32_t>(p.steps()));
}

} // namespace sublet::detail
