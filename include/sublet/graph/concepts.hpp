// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CONCEPTS_HPP
#define SUBLET_GRAPH_CONCEPTS_HPP

/// Defines a graph by the three free functions of the Boost.Graph protocol, numbers its vertices densely in
/// O(n log n), and copies it to compressed sparse rows (CSR) in O(V + E): 4 bytes per edge, each row
/// contiguous. All algorithms run on this copy. Boost is not included.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/argument_errors.hpp>
#include <sublet/graph/internal/graph_requirements.hpp>
#include <sublet/graph/internal/id_lists.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- concepts --------------------------------------------------------------------------------------------

/// Three functions, found by ADL; neither in-edges nor an index map is required.
///
///     auto [v, v_end] = vertices(g);
///     auto [e, e_end] = out_edges(*v, g);
///     auto w = target(*e, g);
///
/// Each requirement is a concept of its own, because compilers print their names. Iterators need only model
/// `cursor`: <iterator> costs more compile time than this header.

namespace sublet {
/// A graph by three free functions, which ADL finds: `vertices`, `out_edges` and `target`.
///
/// Semantics:     the same vertex always yields the same edges in the same order, from each new call; every
///                target is one of `vertices(g)`.
/// Minimal model: archetype::graph.   Ordinary models: any Boost graph; as_graph(n, successors).
/// Not a model:   a nested vector (ADL finds no functions): wrap it with as_graph or csr_graph.
template <class G>
concept graph = !
detail::needs_as_graph<G>&& detail::has_vertices<G>&& detail::has_out_edges<G>&& detail::has_target<G>;

// --- vertex numbering ------------------------------------------------------------------------------------

/// Dense numbers for the vertices of a graph, in the order of `vertices(g)`, and the inverse mapping.
///
///     vertices(g)    'b'  'e'  'a'        descriptors of any type
///     number          0    1    2         node ids, as used by the whole library
///
/// An integral descriptor is not used as an index: a `filtered_graph` that hides vertex 0 starts at 1, and
/// its `num_vertices` still counts the hidden vertex.
///
/// Complexity: construction O(n log n) time and O(n) memory, n = vertices. `number_of` takes O(log n), or
///             O(1), by a table, where descriptors are unsigned integers below 4 n + 64.
template <detail::has_order V>
class vertex_numbering {
public:
    vertex_numbering() = default;

    /// Numbers the vertices of a graph.
    ///
    /// Throws: precondition_error if `vertices(g)` lists a vertex twice, or more than 2^32 - 2 vertices.
    template <graph G>
        requires std::same_as<detail::vertex_of<G>, V>
    explicit vertex_numbering(G const& g)
    {
        auto&& range = vertices(g);
        for (auto at = range.first; !(at == range.second); ++at) vertices_.push_back(*at);
        SUBLET_EXPECTS(vertices_.size() < no_node, "sublet: more vertices than 32-bit ids");
        if (number_by_table()) return;
        by_descriptor_.resize(vertices_.size());
        for (std::size_t n = 0; n != vertices_.size(); ++n) by_descriptor_[n] = node_id::of(n);
        detail::sort_by(by_descriptor_, [this](node_id a, node_id b) { return vertices_[a] < vertices_[b]; });
        for (std::size_t i = 1; i < by_descriptor_.size(); ++i)
            SUBLET_EXPECTS(vertices_[by_descriptor_[i - 1]] < vertices_[by_descriptor_[i]],
                           "sublet: a graph lists a vertex twice, as numbers % and %",
                           detail::smaller(by_descriptor_[i - 1], by_descriptor_[i]),
                           detail::larger(by_descriptor_[i - 1], by_descriptor_[i]));
    }

    /// How many vertices there are.
    [[nodiscard]] std::size_t size() const { return vertices_.size(); }
    /// The vertex with number n.
    [[nodiscard]] V const& operator[](node_id n) const { return vertices_[n]; }

    /// The number of v, or `no_node` if v is not a vertex of the graph.
    [[nodiscard]] node_id number_of(V const& v) const
    {
        if constexpr (std::unsigned_integral<V> || detail::is_id<V>)
            if (by_descriptor_.empty())
                return v < table_.size() ? table_[static_cast<std::size_t>(v)] : no_node;
        std::size_t const n = by_descriptor_.size();
        std::size_t const at =
            detail::partition_point(n, [&](std::size_t i) { return !(vertices_[by_descriptor_[i]] < v); });
        return at != n && !(v < vertices_[by_descriptor_[at]]) ? by_descriptor_[at] : no_node;
    }

private:
    bool number_by_table()
    {
        if constexpr (std::unsigned_integral<V> || detail::is_id<V>) {
            std::size_t const table_limit = 4 * vertices_.size() + 64;
            for (V v : vertices_)
                if (v >= table_limit) return false;
            for (std::size_t n = 0; n != vertices_.size(); ++n) {
                auto const v = static_cast<std::size_t>(vertices_[n]);
                if (v >= table_.size()) table_.resize(v + 1, no_node);
                SUBLET_EXPECTS(table_[v] == no_node,
                               "sublet: a graph lists a vertex twice, as numbers % and %", table_[v], n);
                table_[v] = node_id::of(n);
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
vertex_numbering(G const&) -> vertex_numbering<detail::vertex_of<G>>;

// --- csr graph -------------------------------------------------------------------------------------------

/// A graph, or lists of ids by id, as two arrays: the begin of each row, and the items of all rows.
///
///     0 -> 1, 2        first  0 2 3 3
///     1 -> 2           item   1 2 2
///     2 ->
template <class Row, class Item>
class csr_rows {
public:
    csr_rows() = default;
    /// Takes the two arrays.
    ///
    /// Requires: `first` ascends from 0 to the number of items, unless there is neither row nor item.
    csr_rows(std::vector<std::uint32_t> first, std::vector<Item> item)
        : first_(std::move(first)), item_(std::move(item))
    {
        if (first_.size() == 1) first_.clear();
    }
    /// How many rows there are: the nodes of a graph.
    [[nodiscard]] std::size_t rows() const { return first_.empty() ? 0 : first_.size() - 1; }
    /// How many items all rows have: the edges of a graph.
    [[nodiscard]] std::size_t items() const { return item_.size(); }
    /// The items of a row. They move when an item or a row is appended.
    [[nodiscard]] std::span<Item const> operator[](Row row) const
    {
        std::size_t const r{row};
        return {item_.data() + first_[r], item_.data() + first_[r + 1]};
    }

    /// So many rows and items are appended without an allocation.
    void reserve(std::size_t rows, std::size_t items)
    {
        first_.reserve(rows + 1);
        item_.reserve(items);
    }
    /// Adds an item to the row that close_row() will close.
    void append(Item item) { item_.push_back(item); }
    /// The next row, of so many items, is appended without an allocation.
    /// Throws: precondition_error if that makes more than 2^32 - 1 items.
    void reserve_more(std::size_t items)
    {
        SUBLET_EXPECTS(items <= no_node - item_.size(),
                       "sublet: more edges, or items of other lists, than 32-bit ids");
        detail::reserve_more(first_, first_.empty() ? 2 : 1);
        detail::reserve_more(item_, items);
    }
    /// Ends the row that append() has filled, which may be empty, and begins the next.
    ///
    /// Throws: precondition_error if there are more than 2^32 - 1 items.
    void close_row()
    {
        SUBLET_EXPECTS(item_.size() <= no_node,
                       "sublet: more edges, or items of other lists, than 32-bit ids");
        if (first_.empty()) first_.push_back(0);
        first_.push_back(static_cast<std::uint32_t>(item_.size()));
    }

    /// Groups the pairs {row, item} by row, in O(rows + pairs). `list_pairs(add)` calls `add(row, item)` for
    /// each pair; it is called twice, and the order of pairs is kept within a row.
    ///
    /// Requires: every row is below `rows`; no more than 2^32 - 1 pairs.
    template <class ListPairs>
    [[nodiscard]] static csr_rows gathered(std::size_t rows, ListPairs list_pairs)
    {
        csr_rows result;
        if (rows == 0) return result;
        std::vector<std::uint32_t>& first = result.first_;
        first = std::vector<std::uint32_t>(rows + 2, 0);
        list_pairs([&first](Row row, Item) { ++first[std::size_t{row} + 2]; });
        for (std::size_t r = 2; r != rows + 2; ++r) first[r] += first[r - 1];
        result.item_ = std::vector<Item>(first.back(), Item{});
        // While row r is filled, first[r + 1] is the index of its next item; at the end, where r + 1 begins.
        list_pairs([&](Row row, Item item) { result.item_[first[std::size_t{row} + 1]++] = item; });
        first.pop_back();
        return result;
    }

    /// The transpose: row i of the result lists, ascending, the rows that contain i.
    ///
    /// Requires:   every item is below `result_rows`.
    /// Complexity: O(rows + items).
    [[nodiscard]] csr_rows<Item, Row> transposed(std::size_t result_rows) const
    {
        return csr_rows<Item, Row>::gathered(result_rows, [this](auto add) {
            for (Row r = 0; r != rows(); ++r)
                for (Item i : (*this)[r]) add(i, r);
        });
    }

    friend bool operator==(csr_rows const& a, csr_rows const& b)
    {
        static_assert(std::has_unique_object_representations_v<Item>);
        return a.first_ == b.first_ && a.items() == b.items() &&
               (a.items() == 0 || std::memcmp(a.item_.data(), b.item_.data(), a.items() * sizeof(Item)) == 0);
    }

private:
    std::vector<std::uint32_t> first_; // by row, and the end; empty without rows, to allocate nothing
    std::vector<Item> item_;
};

/// A graph with nodes 0, 1, 2 ... and the successors of each as a row. It models `graph`.
class csr_graph : public csr_rows<node_id, node_id> {
public:
    csr_graph() = default;
    /// Takes the rows.
    ///
    /// Requires: every item is a row.
    explicit csr_graph(csr_rows<node_id, node_id> successors) : csr_rows(std::move(successors)) {}

    /// An iterator over the nodes.
    struct vertex_cursor {
        node_id at = 0; ///< the node
        node_id operator*() const { return at; }
        vertex_cursor& operator++() { return ++at, *this; }
        friend bool operator==(vertex_cursor, vertex_cursor) = default;
    };
    /// An edge; parallel edges are equal.
    struct edge {
        node_id from = 0; ///< its source
        node_id to = 0;   ///< its target
        friend auto operator<=>(edge, edge) = default;
    };
    /// An iterator over the edges that leave a node.
    struct edge_cursor {
        node_id from = 0;            ///< the source of all of them
        node_id const* at = nullptr; ///< the target of the current one
        edge operator*() const { return {from, *at}; }
        edge_cursor& operator++() { return ++at, *this; }
        friend bool operator==(edge_cursor, edge_cursor) = default;
    };

    // Hidden friends: found by ADL for a csr_graph only, so they do not compete with those of other graphs.
    /// All nodes, ascending.
    friend std::pair<vertex_cursor, vertex_cursor> vertices(csr_graph const& g)
    {
        return {{0}, {node_id::of(g.rows())}};
    }
    /// How many nodes there are.
    friend std::size_t num_vertices(csr_graph const& g) { return g.rows(); }
    /// The edges that leave v, in the order of its row.
    friend std::pair<edge_cursor, edge_cursor> out_edges(node_id v, csr_graph const& g)
    {
        std::span<node_id const> const row = g[v];
        return {{v, row.data()}, {v, row.data() + row.size()}};
    }
    /// How many edges leave v.
    friend std::size_t out_degree(node_id v, csr_graph const& g) { return g[v].size(); }
    /// The node that e leaves.
    friend node_id source(edge e, csr_graph const&) { return e.from; }
    /// The node that e leads to.
    friend node_id target(edge e, csr_graph const&) { return e.to; }

    friend bool operator==(csr_graph const&, csr_graph const&) = default;
};

/// The graph in which node n has the successors `successors(n)`. The list is copied at once.
///
/// Requires:   `successors` returns its list by value, by reference or as a view of an existing object.
/// Ensures:    edges keep their order; parallel edges stay. The callable is called once per node, ascending.
/// Complexity: O(nodes + edges) time and memory.
/// Throws:     precondition_error if a successor is not below `nodes`; whatever `successors` throws.
template <class F>
    requires detail::id_list_function<F, node_id, node_id>
[[nodiscard]] csr_graph as_graph(std::size_t nodes, F successors)
{
    SUBLET_EXPECTS(nodes < no_node, "sublet: more nodes than 32-bit ids");
    detail::expect_lists(successors, nodes, "successors");
    csr_rows<node_id, node_id> rows;
    rows.reserve(nodes, nodes);
    for (std::size_t n = 0; n != nodes; ++n) {
        for (auto&& s : detail::list_of(successors, node_id::of(n))) {
            node_id const to = s;
            SUBLET_EXPECTS(to < nodes, "sublet: node % leads to node %, but there are only % nodes", n, to,
                           nodes);
            rows.append(to);
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

template <class F>
    requires(!detail::id_list_function<F, node_id, node_id>)
csr_graph as_graph(std::size_t, F, detail::list_problem<node_id, node_id, F> = {}) = delete;

/// Copies any graph, its vertices numbered by `numbers`, by default in the order of `vertices(g)`.
///
/// Complexity: O(V + E) calls to the graph, and one lookup in `numbers` per edge.
/// Throws:     precondition_error if the target of an edge is not a vertex of the graph.
template <graph G>
[[nodiscard]] csr_graph as_graph(G const& g, vertex_numbering<detail::vertex_of<G>> const& numbers)
{
    csr_rows<node_id, node_id> rows;
    rows.reserve(numbers.size(), numbers.size());
    for (std::size_t n = 0; n != numbers.size(); ++n) {
        auto&& range = out_edges(numbers[node_id::of(n)], g);
        for (auto at = range.first; !(at == range.second); ++at) {
            node_id const to = numbers.number_of(target(*at, g));
            SUBLET_EXPECTS(to != no_node,
                           "sublet: an edge of node % leads to a vertex that is not in the graph", n);
            rows.append(to);
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

/// The same, numbered in the order of `vertices(g)`.
template <graph G>
[[nodiscard]] csr_graph as_graph(G const& g)
{
    return as_graph(g, vertex_numbering<detail::vertex_of<G>>(g));
}

} // namespace sublet

#endif
