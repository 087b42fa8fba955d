// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CSR_GRAPH_HPP
#define SUBLET_GRAPH_CSR_GRAPH_HPP

/// A graph as two flat arrays: where each row begins, and the rows one after the other.
///
///     0 -> 1, 2        first  0 2 3 3
///     1 -> 2           item   1 2 2
///     2 ->
///
/// "Compressed sparse row" (csr) is what every walk in this library runs on: four bytes an edge, and a row
/// is contiguous. `as_graph` makes one of anything that can be asked for the successors of a number, a
/// nested vector for instance, and of any graph; `csr_graph` models the graph protocol itself.

#include <sublet/contract.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/vertex_numbering.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// Lists of 32-bit numbers, one a row, appended in order.
class csr_rows {
public:
    csr_rows() = default;
    /// Requires: `first` ascends from 0 to the number of items, unless there is neither row nor item.
    csr_rows(std::vector<std::uint32_t> first, std::vector<std::uint32_t> item);
    [[nodiscard]] std::size_t rows() const { return first_.empty() ? 0 : first_.size() - 1; }
    [[nodiscard]] std::size_t items() const { return item_.size(); }
    [[nodiscard]] std::span<std::uint32_t const> operator[](std::size_t row) const
    {
        return {item_.data() + first_[row], item_.data() + first_[row + 1]};
    }

    void reserve(std::size_t rows, std::size_t items)
    {
        first_.reserve(rows + 1);
        item_.reserve(items);
    }
    void append(std::uint32_t item) { item_.push_back(item); }
    /// Throws: precondition_error if there are more than 2^32 - 1 items.
    void close_row();

    /// Pairs {row, item}, by row. `list_pairs(add)` calls `add(row, item)` for each of them; it is called
    /// twice, and its order is kept within a row.
    ///
    /// Requires:   every row is below `rows`; no more than 2^32 - 1 pairs.
    /// Complexity: O(rows + pairs).
    template <class ListPairs>
    [[nodiscard]] static csr_rows gathered(std::size_t rows, ListPairs list_pairs)
    {
        csr_rows result;
        if (rows == 0) return result;
        std::vector<std::uint32_t>& first = result.first_;
        first = std::vector<std::uint32_t>(rows + 2, 0);
        list_pairs([&first](std::size_t row, std::uint32_t) { ++first[row + 2]; });
        for (std::size_t r = 2; r != rows + 2; ++r) first[r] += first[r - 1];
        result.item_ = std::vector<std::uint32_t>(first.back(), 0);
        // While row r is filled, first[r + 1] is where its next item goes: in the end, where r + 1 begins.
        list_pairs([&](std::size_t row, std::uint32_t item) { result.item_[first[row + 1]++] = item; });
        first.pop_back();
        return result;
    }

    /// The same pairs by their item: row i of the result lists, ascending, the rows in which i stood.
    ///
    /// Requires:   every item is below `result_rows`.
    /// Complexity: O(rows + items).
    template <std::integral Count>
    [[nodiscard]] csr_rows transposed(Count result_rows) const
    {
        return gathered(static_cast<std::size_t>(result_rows), [this](auto add) {
            for (std::size_t r = 0; r != rows(); ++r)
                for (std::uint32_t i : (*this)[r]) add(i, static_cast<std::uint32_t>(r));
        });
    }

    friend bool operator==(csr_rows const&, csr_rows const&) = default;

private:
    std::vector<std::uint32_t> first_; // by row, and one more; empty if there is no row, to allocate nothing
    std::vector<std::uint32_t> item_;
};

template <class R>
inline constexpr bool is_initializer_list = false;
template <class E>
inline constexpr bool is_initializer_list<std::initializer_list<E>> = true;

/// What a function returns and still exists after the call. An `initializer_list` from a lambda never does.
template <class R>
concept returned_list = !
std::is_void_v<R> && !is_initializer_list<std::remove_cvref_t<R>>;

/// `vector<bool>`'s proxy for a truth value, told by what only it can do.
template <class I>
inline constexpr bool is_bit = requires(I i) { i.flip(); };

/// A number, and neither a character nor a truth value.
template <class I>
concept id_like = integer_like<I> && !
is_bit<I>;

/// A container by reference or by value, or a view of one that lives on. Text is no list of ids.
template <class R>
concept id_range = returned_list<R> && requires(std::remove_reference_t<R>& list) {
                                           std::begin(list) != std::end(list);
                                           requires id_like<std::remove_cvref_t<decltype(*std::begin(list))>>;
                                       };

/// From an id or a vertex to a list of ids.
template <class F, class From>
concept id_list_function = std::invocable<F&, From> && id_range<std::invoke_result_t<F&, From>>;

namespace detail {

template <id_like I>
constexpr std::uint32_t as_id(I const& number)
{
    if constexpr (integer<I>) return to_id(number);
    else return to_id(+number);
}

} // namespace detail

class csr_graph : public csr_rows {
public:
    csr_graph() = default;
    /// Requires: every item is a row.
    explicit csr_graph(csr_rows successors);

    struct vertex_cursor {
        node_id at = 0;
        node_id operator*() const { return at; }
        vertex_cursor& operator++() { return ++at, *this; }
        friend bool operator==(vertex_cursor, vertex_cursor) = default;
    };
    struct edge {
        node_id from = 0;
        node_id to = 0;
        friend auto operator<=>(edge, edge) = default;
    };
    struct edge_cursor {
        node_id from = 0;
        node_id const* at = nullptr;
        edge operator*() const { return {from, *at}; }
        edge_cursor& operator++() { return ++at, *this; }
        friend bool operator==(edge_cursor, edge_cursor) = default;
    };

    // Hidden friends: found by ADL for a csr_graph only, so they never stand in the way of another graph's.
    friend std::pair<vertex_cursor, vertex_cursor> vertices(csr_graph const& g)
    {
        return {{0}, {static_cast<node_id>(g.rows())}};
    }
    friend std::size_t num_vertices(csr_graph const& g) { return g.rows(); }
    friend std::pair<edge_cursor, edge_cursor> out_edges(node_id v, csr_graph const& g)
    {
        std::span<node_id const> const row = g[v];
        return {{v, row.data()}, {v, row.data() + row.size()}};
    }
    friend std::size_t out_degree(node_id v, csr_graph const& g) { return g[v].size(); }
    friend node_id source(edge e, csr_graph const&) { return e.from; }
    friend node_id target(edge e, csr_graph const&) { return e.to; }

    friend bool operator==(csr_graph const&, csr_graph const&) = default;
};

/// The graph whose node n has the successors `successors(n)`, copied at once.
///
/// Requires:   `successors` may return its list by value, by reference or as a view of something that lives.
/// Ensures:    edges keep their order; parallel edges stay. The callable is called once a node, ascending.
/// Complexity: O(nodes + edges) time and memory.
/// Throws:     precondition_error if a successor is not below `nodes`; whatever `successors` throws.
template <class F>
    requires id_list_function<F, node_id>
[[nodiscard]] csr_graph as_graph(std::size_t nodes, F successors)
{
    SUBLET_EXPECTS(nodes < no_node, "sublet: more nodes than 32-bit ids");
    csr_rows rows;
    rows.reserve(nodes, nodes);
    for (std::size_t n = 0; n != nodes; ++n) {
        for (auto&& s : detail::ask(successors, static_cast<node_id>(n))) {
            node_id const to = detail::as_id(s);
            SUBLET_EXPECTS(to < nodes, "sublet: a successor is not a node of the graph");
            rows.append(to);
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

/// Any graph of the protocol as flat arrays over the numbers of its vertices, by default their places in
/// `vertices(g)`.
///
/// Complexity: O(V + E) calls to the graph, each edge numbered by `numbers`.
/// Throws:     precondition_error if an edge leads to something that is no vertex of the graph.
template <graph G>
[[nodiscard]] csr_graph as_graph(G const& g, vertex_numbering<vertex_of<G>> const& numbers)
{
    csr_rows rows;
    rows.reserve(numbers.size(), numbers.size());
    for (std::size_t n = 0; n != numbers.size(); ++n) {
        auto&& range = out_edges(numbers[static_cast<node_id>(n)], g);
        for (auto at = range.first; !(at == range.second); ++at) {
            node_id const to = numbers.number_of(target(*at, g));
            SUBLET_EXPECTS(to != no_node, "sublet: an edge leads to a vertex that is not in the graph");
            rows.append(to);
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

template <graph G>
[[nodiscard]] csr_graph as_graph(G const& g)
{
    return as_graph(g, vertex_numbering<vertex_of<G>>(g));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/csr_graph.ipp>
#endif

#endif
