// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CONCEPTS_HPP
#define SUBLET_GRAPH_CONCEPTS_HPP

/// Defines a graph by the three free functions of the Boost.Graph protocol, numbers its vertices densely in
/// O(n log n), and copies it to compressed sparse rows (CSR) in O(V + E): 4 bytes per edge, each row
/// contiguous. All algorithms run on this copy. Boost is not included.

#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
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
namespace detail {

/// Can be dereferenced, incremented and compared, but need not be assignable: the iterators of a Boost
/// `filtered_graph` with a capturing lambda are not.
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

/// A list of lists: it has no functions that ADL could find. Named so that compilers print what to do.
template <class G>
inline constexpr bool needs_as_graph =
    !detail::has_vertices<G> && requires(G const& g) { (*g.begin()).begin(); };

} // namespace detail

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

namespace detail {

template <class R>
inline constexpr bool is_initializer_list = false;
template <class E>
inline constexpr bool is_initializer_list<std::initializer_list<E>> = true;

/// A list that still exists after the call that returned it; an `initializer_list` does not.
template <class R>
concept returned_list = !
std::is_void_v<R> && !is_initializer_list<std::remove_cvref_t<R>>;

/// A container by reference or by value, or a view of an existing one. Text is not a list of ids.
template <class R, class Id>
concept id_range = returned_list<R> && requires(std::remove_reference_t<R>& list) {
    std::begin(list) != std::end(list);
    requires std::convertible_to<decltype(*std::begin(list)), Id>;
};

/// A list of lists by id: anything with [] and size().
template <class T, class Id>
concept id_table = requires(T const& table, std::size_t i) {
    table[i];
    { table.size() } -> std::convertible_to<std::size_t>;
    requires id_range<decltype(table[i]), Id>;
};

/// A callable that takes a thing and returns a list of ids, or a table of such lists where things are
/// numbers.
template <class F, class From, class Id>
concept id_list_function =
    (std::invocable<F&, From> && id_range<std::invoke_result_t<F&, From>, Id>) ||
    (!std::invocable<F&, From> && integer_like<std::remove_cvref_t<From>> && id_table<F, Id>);

/// Throws: precondition_error if a table has not one list for each of `count` ids.
template <class F>
constexpr void expect_lists(F const& lists, std::size_t count, char const* name)
{
    if constexpr (requires {
                      { lists.size() } -> std::convertible_to<std::size_t>;
                  })
        SUBLET_EXPECTS(static_cast<std::size_t>(lists.size()) == count,
                       "sublet: the table of % has % lists, for % nodes", name,
                       static_cast<std::size_t>(lists.size()), count);
}

/// The list of an id.
/// Throws: precondition_error if a table has no list for it.
template <class F, class From>
constexpr decltype(auto) list_of(F& lists, From const& of)
{
    if constexpr (std::invocable<F&, From const&>) {
        return call_user(lists, of);
    } else {
        SUBLET_EXPECTS(+of < lists.size(), "sublet: a table has a list for each of % ids, and none for id %",
                       static_cast<std::size_t>(lists.size()), of);
        return std::as_const(lists)[static_cast<std::size_t>(of)];
    }
}

// Parameters of deleted overloads, which exist where no other overload applies: compilers print them, and their
// names are the reason.

template <class... Given>
struct an_id_is_an_integer {};
template <class Callable>
struct a_callable_takes_one_id {};
struct a_callable_returns_its_list {}; // and not void
struct the_array_of_an_initializer_list_is_gone {};
template <class Id, class List>
struct a_list_holds_integers_or_ids_of {};
template <class Id>
struct effects_take_this_and_a_sink {};
template <class Nested>
struct a_nested_list_needs_as_graph {};
template <class G>
struct a_graph_has_vertices {};
template <class Vertex>
struct vertices_have_an_order {};
template <class G>
struct a_graph_has_out_edges {};
template <class G>
struct a_graph_has_target {};

template <class From, class Id, class F, class... Others>
auto find_list_problem()
{
    if constexpr (sizeof...(Others) != 0 && id_list_function<F, From, Id>) {
        return find_list_problem<From, Id, Others...>();
    } else if constexpr (!std::invocable<F&, From>) {
        return a_callable_takes_one_id<F>{};
    } else {
        using list = std::invoke_result_t<F&, From>;
        if constexpr (std::is_void_v<list>) return a_callable_returns_its_list{};
        else if constexpr (!returned_list<list>) return the_array_of_an_initializer_list_is_gone{};
        else return a_list_holds_integers_or_ids_of<Id, std::remove_cvref_t<list>>{};
    }
}
/// Why one of the callables is no id_list_function from `From` to `Id`.
template <class From, class Id, class... Callables>
using list_problem = decltype(find_list_problem<From, Id, Callables...>());

template <class Nodes, class Successors, class... Callables>
auto find_node_problem()
{
    if constexpr (!id_number<Nodes>) return an_id_is_an_integer<Nodes>{};
    else if constexpr (sizeof...(Callables) == 0 || !id_list_function<Successors, node_id, node_id>)
        return list_problem<node_id, node_id, Successors>{};
    else return list_problem<node_id, value_id, Callables...>{};
}
/// The same of a node id, where the callables are of so many nodes and not of a graph.
template <class Nodes, class... Callables>
using node_problem = decltype(find_node_problem<Nodes, Callables...>());

template <class G, class... Callables>
auto find_graph_problem()
{
    if constexpr (needs_as_graph<G>) return a_nested_list_needs_as_graph<G>{};
    else if constexpr (!has_vertices<G>) return a_graph_has_vertices<G>{};
    else if constexpr (!has_order<vertex_of<G>>) return vertices_have_an_order<vertex_of<G>>{};
    else if constexpr (!has_out_edges<G>) return a_graph_has_out_edges<G>{};
    else if constexpr (!has_target<G>) return a_graph_has_target<G>{};
    else if constexpr (sizeof...(Callables) < 2) return effects_take_this_and_a_sink<vertex_of<G>>{};
    else return list_problem<vertex_of<G> const&, value_id, Callables...>{};
}
/// Why G is no graph, or why the callables do not take its vertices.
template <class G, class... Callables>
using graph_problem = decltype(find_graph_problem<G, Callables...>());

} // namespace detail

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

namespace detail {

/// The values with the numbers of some nodes. Refers to the list of these.
class values_of_nodes {
public:
    class cursor {
    public:
        using value_type = value_id;
        using difference_type = std::ptrdiff_t;

        cursor() = default;
        explicit cursor(node_id const* at) : at_(at) {}
        value_id operator*() const { return value_id::of(+*at_); }
        cursor& operator++() { return ++at_, *this; }
        cursor operator++(int) { return cursor(at_++); }
        friend bool operator==(cursor, cursor) = default;

    private:
        node_id const* at_ = nullptr;
    };

    explicit values_of_nodes(std::span<node_id const> nodes) : nodes_(nodes) {}
    [[nodiscard]] cursor begin() const { return cursor(nodes_.data()); }
    [[nodiscard]] cursor end() const { return cursor(nodes_.data() + nodes_.size()); }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] bool empty() const { return nodes_.empty(); }
    [[nodiscard]] value_id operator[](std::size_t i) const { return value_id::of(+nodes_[i]); }

private:
    std::span<node_id const> nodes_;
};

} // namespace detail

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
