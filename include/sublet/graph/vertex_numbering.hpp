// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_VERTEX_NUMBERING_HPP
#define SUBLET_GRAPH_VERTEX_NUMBERING_HPP

/// Dense numbers for the vertices of a graph, in the order of `vertices(g)`, and the way back.
///
///     vertices(g)    'b'  'e'  'a'        descriptors: whatever the graph has
///     number          0    1    2         what everything in this library counts with
///
/// An integral descriptor must not be taken for an index: a `filtered_graph` that hides vertex 0 starts at
/// 1, and its `num_vertices` still counts the hidden one. So vertices are listed and looked up: by a table
/// where descriptors are small integers, by binary search otherwise.

#include <sublet/contract.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Complexity: O(n log n) time and O(n) memory to make, n = vertices. `number_of` takes O(log n), or O(1)
///             where descriptors are unsigned integers not far above n.
template <has_order V>
class vertex_numbering {
public:
    vertex_numbering() = default;

    /// Throws: precondition_error if `vertices(g)` lists a vertex twice, or more than 2^32 - 2 vertices.
    template <graph G>
        requires std::same_as<vertex_of<G>, V>
    explicit vertex_numbering(G const& g)
    {
        auto&& range = vertices(g);
        for (auto at = range.first; !(at == range.second); ++at) vertices_.push_back(*at);
        SUBLET_EXPECTS(vertices_.size() < no_node, "sublet: more vertices than 32-bit ids");
        if (number_by_table()) return;
        by_descriptor_.resize(vertices_.size());
        for (std::size_t n = 0; n != vertices_.size(); ++n) by_descriptor_[n] = static_cast<node_id>(n);
        sort_by(by_descriptor_, [this](node_id a, node_id b) { return vertices_[a] < vertices_[b]; });
        for (std::size_t i = 1; i < by_descriptor_.size(); ++i)
            SUBLET_EXPECTS(vertices_[by_descriptor_[i - 1]] < vertices_[by_descriptor_[i]],
                           "sublet: a graph lists a vertex twice");
    }

    [[nodiscard]] std::size_t size() const { return vertices_.size(); }
    [[nodiscard]] V const& operator[](node_id n) const { return vertices_[n]; }

    /// The number of v, or `no_node` if it is no vertex of the graph.
    [[nodiscard]] node_id number_of(V const& v) const
    {
        if constexpr (std::unsigned_integral<V>)
            if (by_descriptor_.empty())
                return v < table_.size() ? table_[static_cast<std::size_t>(v)] : no_node;
        std::size_t const n = by_descriptor_.size();
        std::size_t const at =
            first_that(n, [&](std::size_t i) { return !(vertices_[by_descriptor_[i]] < v); });
        return at != n && !(v < vertices_[by_descriptor_[at]]) ? by_descriptor_[at] : no_node;
    }

private:
    bool number_by_table()
    {
        if constexpr (std::unsigned_integral<V>) {
            std::size_t const room = 4 * vertices_.size() + 64;
            for (V v : vertices_)
                if (v >= room) return false;
            for (std::size_t n = 0; n != vertices_.size(); ++n) {
                auto const v = static_cast<std::size_t>(vertices_[n]);
                if (v >= table_.size()) table_.resize(v + 1, no_node);
                SUBLET_EXPECTS(table_[v] == no_node, "sublet: a graph lists a vertex twice");
                table_[v] = static_cast<node_id>(n);
            }
            return true;
        }
        return false;
    }

    std::vector<V> vertices_;
    std::vector<node_id> table_;         // descriptor -> number, where descriptors are small
    std::vector<node_id> by_descriptor_; // numbers sorted by descriptor, otherwise
};

template <graph G>
vertex_numbering(G const&) -> vertex_numbering<vertex_of<G>>;

} // namespace sublet

#endif
