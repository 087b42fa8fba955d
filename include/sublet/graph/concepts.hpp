// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CONCEPTS_HPP
#define SUBLET_GRAPH_CONCEPTS_HPP

/// What we ask of a graph, dense numbers for its vertices, and the two flat arrays that our walks run on.

#include <sublet/detail/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- concepts --------------------------------------------------------------------------------------------

/// What we ask of a graph: the three free functions of the Boost.Graph protocol, found by ADL.
///
///     auto [v, v_end] = vertices(g);
///     auto [e, e_end] = out_edges(*v, g);
///     auto w = target(*e, g);
///
/// Every Boost graph has them, and this file does not include Boost. Predecessors are derived, never
/// asked for, and vertices are numbered in the order of `vertices(g)`, so no index map is asked for either.
///
/// Each requirement is a concept of its own, because compilers print the names of concepts. Iterators are
/// held to the three-line `cursor` rather than to `std::input_iterator`: <iterator> would cost more than
/// this whole header, and Boost's edge iterators are walked only once anyway.

namespace sublet {
namespace detail {

/// Something that points at an item, can move on, and can tell whether it is where another is. It is never
/// assigned: the iterators of a Boost `filtered_graph` with a capturing lambda cannot be.
template <class I>
concept cursor = std::copy_constructible<I> && requires(I i, I const& c) {
                                                   *c;
                                                   {
                                                       ++i
                                                       } -> std::same_as<I&>;
                                                   {
                                                       c == c
                                                       } -> std::convertible_to<bool>;
                                               };

/// A pair {from where, up to where}: what the functions of the protocol return.
template <class R>
concept cursor_pair = requires(R range) {
                          requires cursor<std::remove_cvref_t<decltype(range.first)>>;
                          {
                              range.first == range.second
                              } -> std::convertible_to<bool>;
                      };

template <class R>
using item_of = std::remove_cvref_t<decltype(*std::declval<R&>().first)>;

template <class G>
concept has_vertices = requires(G const& g) {
                           {
                               vertices(g)
                               } -> cursor_pair;
                       };

template <class G>
using vertex_of = item_of<decltype(vertices(std::declval<G const&>()))>;

template <class V>
concept has_order = std::copyable<V> && requires(V const& v) {
                                            {
                                                v < v
                                                } -> std::convertible_to<bool>;
                                        };

template <class G>
concept has_out_edges =
    has_vertices<G> && has_order<vertex_of<G>> && requires(G const& g, vertex_of<G> const& v) {
                                                      {
                                                          out_edges(v, g)
                                                          } -> cursor_pair;
                                                  };

template <class G>
using edge_of = item_of<decltype(out_edges(std::declval<vertex_of<G> const&>(), std::declval<G const&>()))>;

template <class G>
concept has_target = has_out_edges<G> && requires(G const& g, edge_of<G> const& e) {
                                             {
                                                 target(e, g)
                                                 } -> std::convertible_to<vertex_of<G>>;
                                         };

/// A list of lists, which no function can be found for by ADL. Named so that compilers say what to do.
template <class G>
inline constexpr bool needs_as_graph =
    !detail::has_vertices<G> && requires(G const& g) { (*g.begin()).begin(); };

} // namespace detail

/// All that any entry of the library asks of a graph.
///
/// Semantics:     the same vertex always yields the same edges in the same order; each may be walked again
///                from a fresh call; every target is one of `vertices(g)`.
/// Poorest model: archetype::graph.   Ordinary models: any Boost graph; as_graph(n, successors).
/// Not a model:   a nested vector (no function to find by ADL): wrap it with as_graph, csr_graph.
template <class G>
concept graph = !
detail::needs_as_graph<G>&& detail::has_vertices<G>&& detail::has_out_edges<G>&& detail::has_target<G>;

// --- vertex numbering ------------------------------------------------------------------------------------

/// Dense numbers for the vertices of a graph, in the order of `vertices(g)`, and the way back.
///
///     vertices(g)    'b'  'e'  'a'        descriptors: whatever the graph has
///     number          0    1    2         what everything in this library counts with
///
/// An integral descriptor must not be taken for an index: a `filtered_graph` that hides vertex 0 starts at
/// 1, and its `num_vertices` still counts the hidden one. So vertices are listed and looked up: by a table
/// where descriptors are small integers, by binary search otherwise.

/// Complexity: O(n log n) time and O(n) memory to make, n = vertices. `number_of` takes O(log n), or O(1)
///             where descriptors are unsigned integers not far above n.
template <detail::has_order V>
class vertex_numbering {
public:
    vertex_numbering() = default;

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
        for (std::size_t n = 0; n != vertices_.size(); ++n) by_descriptor_[n] = static_cast<node_id>(n);
        detail::sort_by(by_descriptor_, [this](node_id a, node_id b) { return vertices_[a] < vertices_[b]; });
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
            detail::partition_point(n, [&](std::size_t i) { return !(vertices_[by_descriptor_[i]] < v); });
        return at != n && !(v < vertices_[by_descriptor_[at]]) ? by_descriptor_[at] : no_node;
    }

private:
    bool number_by_table()
    {
        if constexpr (std::unsigned_integral<V>) {
            std::size_t const table_limit = 4 * vertices_.size() + 64;
            for (V v : vertices_)
                if (v >= table_limit) return false;
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
vertex_numbering(G const&) -> vertex_numbering<detail::vertex_of<G>>;

// --- csr graph -------------------------------------------------------------------------------------------

/// A graph as two flat arrays: where each row begins, and the rows one after the other.
///
///     0 -> 1, 2        first  0 2 3 3
///     1 -> 2           item   1 2 2
///     2 ->
///
/// "Compressed sparse row" (csr) is what every walk in this library runs on: four bytes an edge, and a row
/// is contiguous. `as_graph` makes one of anything that can be asked for the successors of a number, a
/// nested vector for instance, and of any graph; `csr_graph` models the graph protocol itself.

/// Lists of 32-bit numbers, one a row, appended in order.
class csr_rows {
public:
    csr_rows() = default;
    /// Requires: `first` ascends from 0 to the number of items, unless there is neither row nor item.
    csr_rows(std::vector<std::uint32_t> first, std::vector<std::uint32_t> item)
        : first_(std::move(first)), item_(std::move(item))
    {
        if (first_.size() == 1) first_.clear();
    }
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
    void close_row()
    {
        SUBLET_EXPECTS(item_.size() <= no_node,
                       "sublet: more edges, or items of other lists, than 32-bit ids");
        if (first_.empty()) first_.push_back(0);
        first_.push_back(static_cast<std::uint32_t>(item_.size()));
    }

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

namespace detail {

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
    explicit csr_graph(csr_rows successors) : csr_rows(std::move(successors)) {}

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
    requires detail::id_list_function<F, node_id>
[[nodiscard]] csr_graph as_graph(std::size_t nodes, F successors)
{
    SUBLET_EXPECTS(nodes < no_node, "sublet: more nodes than 32-bit ids");
    csr_rows rows;
    rows.reserve(nodes, nodes);
    for (std::size_t n = 0; n != nodes; ++n) {
        for (auto&& s : detail::call_user(successors, static_cast<node_id>(n))) {
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
[[nodiscard]] csr_graph as_graph(G const& g, vertex_numbering<detail::vertex_of<G>> const& numbers)
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
    return as_graph(g, vertex_numbering<detail::vertex_of<G>>(g));
}

} // namespace sublet

#endif
