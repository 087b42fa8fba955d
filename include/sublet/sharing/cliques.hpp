// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_CLIQUES_HPP
#define SUBLET_SHARING_CLIQUES_HPP

/// Values that all interfere with each other: each needs a slot of its own, whatever the plan.
///
///     cliques  {40, 8, 8} bytes     no plan has fewer than 3 slots
///              {16, 16}             or fewer bytes than 40 + 16 + 8
///
/// For the i largest of a clique lie in i slots, each as large as the smallest of them at least: so the i-th
/// largest slot of any plan holds the i-th largest member of every clique.
///
/// The largest clique is hard to find in general. Here each vertex v has one, made from that of u, the last
/// in a colouring order of those neighbours of v that come before it: v, and its neighbours in the clique of
/// u. In a chordal graph, in the order of largest cardinality, no neighbour is lost on that way, and the
/// clique of v is v and all its neighbours before it.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/sharing/coloring_orders.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// What no plan of slots goes below.
struct clique_bound {
    std::vector<value_id> clique; ///< ascending; each needs a slot of its own
    byte_count bytes = 0;         ///< of the slots together, each as large as its largest tenant
};

/// The largest clique found in an interference graph, and the bytes that all found ones show to be needed.
///
/// Requires:   each edge stands once in the rows of both its ends; no loops. `bytes` has an entry for every
///             vertex, and one of 0 bytes has no edges.
/// Ensures:    of equally large cliques the first found. In a chordal graph there is none larger, and
///             `bytes` is what the cliques of the graph show, all of them: it says more than the clique of
///             most bytes. A vertex of 0 bytes is in no clique.
/// Complexity: O(V + E log V) time, O(V + E) memory.
/// Throws:     precondition_error if the bound exceeds 64 bits.
[[nodiscard]] inline clique_bound find_cliques(csr_graph const& interference,
                                               std::vector<byte_count> const& bytes)
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
        sort_ascending(sizes);
        if (at_least.size() < size) at_least.resize(size, 0);
        for (std::size_t i = 0; i != size; ++i) at_least[i] = larger(at_least[i], sizes[size - 1 - i]);
        if (bound.clique.size() < size) bound.clique.assign(clique().begin(), clique().end());
    }
    sort_ascending(bound.clique);
    for (byte_count slot : at_least) bound.bytes = checked_add(bound.bytes, slot);
    return bound;
}

} // namespace sublet

#endif
