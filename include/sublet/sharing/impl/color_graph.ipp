// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_COLOR_GRAPH_IPP
#define SUBLET_SHARING_IMPL_COLOR_GRAPH_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/sharing/cliques.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/coloring_orders.hpp>
#include <sublet/sharing/dsatur.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sublet::detail {

/// The graph with ascending rows, each edge once in both, and none at those who need no slot.
SUBLET_DECL csr_graph simple_graph(csr_graph const& g, std::vector<byte_count> const& bytes)
{
    csr_rows const sorted = g.transposed(g.rows());
    SUBLET_EXPECTS(sorted.transposed(g.rows()) == sorted,
                   "sublet: an interference graph has each edge in the rows of both its ends");
    csr_rows rows;
    rows.reserve(sorted.rows(), sorted.items());
    for (std::size_t v = 0; v != sorted.rows(); ++v) {
        value_id before = no_value;
        for (value_id w : sorted[v]) {
            SUBLET_EXPECTS(w != v, "sublet: a value does not interfere with itself");
            if (w != before && bytes[v] != 0 && bytes[w] != 0) rows.append(w);
            before = w;
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

SUBLET_DECL std::vector<value_id> in_turn(coloring_order by, csr_graph const& g,
                                          std::vector<byte_count> const& bytes,
                                          std::vector<value_id> const& given)
{
    if (by == coloring_order::smallest_last) return smallest_last(g).order;
    std::vector<value_id> order;
    std::vector<keyed> keys;
    for (std::size_t v = 0; v != g.rows(); ++v) {
        order.push_back(static_cast<value_id>(v));
        keys.push_back({falling(bytes[v]), falling(g[v].size()), order.back()});
    }
    if (by == coloring_order::by_size) {
        sort_keyed(keys);
        for (std::size_t i = 0; i != keys.size(); ++i) order[i] = keys[i].who;
    } else if (!given.empty()) {
        std::vector<value_id> sorted = given;
        std::sort(sorted.begin(), sorted.end());
        SUBLET_EXPECTS(sorted == order, "sublet: an order of colouring names every vertex once");
        order = given;
    }
    return order;
}

/// Give each its lowest free slot, one after the other. With d neighbours one of the slots 0 ... d is free.
SUBLET_DECL std::vector<slot_id> color_in_order(csr_graph const& g, std::vector<value_id> const& order,
                                                std::vector<slot_id> slot_of)
{
    std::vector<value_id> taken_for(g.rows(), no_value); // by slot: the last vertex that found it taken
    for (value_id v : order) {
        for (value_id w : g[v])
            if (slot_of[w] <= g[v].size()) taken_for[slot_of[w]] = v;
        slot_id s = 0;
        while (taken_for[s] == v) ++s;
        slot_of[v] = s;
    }
    return slot_of;
}

SUBLET_DECL std::optional<fixed_clash> find_clash(csr_graph const& g, std::vector<slot_id> const& slot_of)
{
    for (std::size_t v = 0; v != g.rows(); ++v)
        for (value_id w : g[v])
            if (slot_of[v] == slot_of[w] && slot_of[v] != no_slot)
                return fixed_clash{.value = static_cast<value_id>(v), .other = w, .slot = slot_of[v]};
    return std::nullopt;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL graph_coloring color_graph(csr_graph const& g, coloring_options const& options)
{
    SUBLET_EXPECTS(options.order.empty() || options.by == coloring_order::given,
                   "sublet: an order of colouring is given, but another is asked for");
    auto const bytes = options.bytes.tabulate(g.rows());
    auto slot_of = options.fixed.tabulate(g.rows());
    byte_count size = 0;
    bool sizes_differ = false;
    for (std::size_t v = 0; v != g.rows(); ++v) {
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: a value of unknown size cannot share a slot");
        if (bytes[v] == 0) {
            slot_of[v] = no_slot;
            continue;
        }
        sizes_differ = sizes_differ || (size != 0 && bytes[v] != size);
        size = bytes[v];
    }
    csr_graph const interference = detail::simple_graph(g, bytes);
    clique_bound bound = find_cliques(interference, bytes);
    graph_coloring result;
    result.clique = std::move(bound.clique);
    result.least_bytes = bound.bytes;
    result.clash = detail::find_clash(interference, slot_of);
    if (result.clash) {
        result.plan.slot_of.assign(g.rows(), no_slot);
        return result;
    }

    coloring_order by = options.by;
    if (by == coloring_order::automatic) by = sizes_differ ? coloring_order::by_size : coloring_order::dsatur;
    std::vector<value_id> order = detail::in_turn(by, interference, bytes, options.order);
    std::erase_if(order, [&](value_id v) { return bytes[v] == 0 || slot_of[v] != no_slot; });
    slot_of = by == coloring_order::dsatur ? color_by_saturation(interference, order, std::move(slot_of))
                                           : detail::color_in_order(interference, order, std::move(slot_of));

    for (std::size_t v = 0; v != g.rows(); ++v) {
        slot_id const s = slot_of[v];
        if (s == no_slot) continue;
        if (result.slot_bytes.size() <= s) result.slot_bytes.resize(std::size_t{s} + 1, 0);
        result.slot_bytes[s] = larger(result.slot_bytes[s], bytes[v]);
    }
    result.plan = {std::move(slot_of), static_cast<slot_id>(result.slot_bytes.size())};
    for (byte_count slot : result.slot_bytes) result.total_bytes = checked_add(result.total_bytes, slot);
    return result;
}

} // namespace sublet

#endif
