// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_CLIQUES_IPP
#define SUBLET_SHARING_IMPL_CLIQUES_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/cliques.hpp>
#include <sublet/sharing/coloring_orders.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sublet {

SUBLET_DECL clique_bound find_cliques(csr_graph const& interference, std::vector<byte_count> const& bytes)
{
    std::vector<value_id> const order = largest_cardinality_first(interference);
    std::vector<std::uint32_t> rank(order.size());
    for (std::size_t i = 0; i != order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);

    // Who continues the clique of u, as a list: the marks of that clique are then set once for all of them.
    std::vector<value_id> first_heir(order.size(), no_value), next_heir = first_heir;
    csr_rows cliques;
    std::vector<std::uint32_t> row_of(order.size()); // by vertex, in cliques
    auto close = [&](value_id v) {
        cliques.append(v);
        row_of[v] = static_cast<std::uint32_t>(cliques.rows());
        cliques.close_row();
    };
    for (value_id v : order) {
        value_id last = no_value;
        for (value_id w : interference[v])
            if (rank[w] < rank[v] && (last == no_value || rank[last] < rank[w])) last = w;
        if (last == no_value) {
            if (bytes[v] != 0) close(v);
        } else {
            next_heir[v] = first_heir[last];
            first_heir[last] = v;
        }
    }

    clique_bound bound;
    std::vector<byte_count> at_least, sizes; // at_least: by slot, the largest slot first
    std::vector<value_id> marked_by(order.size(), no_value);
    for (value_id u : order) {
        if (bytes[u] == 0) continue;
        auto const clique = [&] { return cliques[row_of[u]]; };
        std::size_t const size = clique().size();
        for (value_id w : clique()) marked_by[w] = u;
        bool grows = false;
        for (value_id v = first_heir[u]; v != no_value; v = next_heir[v]) {
            for (value_id w : interference[v])
                if (marked_by[w] == u) cliques.append(w);
            close(v);
            grows = grows || cliques[row_of[v]].size() > size;
        }
        if (grows) continue; // what it shows, the clique that it is part of shows too
        sizes.clear();
        for (value_id w : clique()) sizes.push_back(bytes[w]);
        std::sort(sizes.begin(), sizes.end());
        if (at_least.size() < size) at_least.resize(size, 0);
        for (std::size_t i = 0; i != size; ++i) at_least[i] = larger(at_least[i], sizes[size - 1 - i]);
        if (bound.clique.size() < size) bound.clique.assign(clique().begin(), clique().end());
    }
    std::sort(bound.clique.begin(), bound.clique.end());
    for (byte_count slot : at_least) bound.bytes = checked_add(bound.bytes, slot);
    return bound;
}

} // namespace sublet

#endif
