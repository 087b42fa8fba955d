// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_HPP

/// Computes the pairs of values that must not share bytes, as a graph or as a bit matrix, from a program and
/// its liveness, from live ranges, or from a relation. The result is exact, or only its size if it exceeds a
/// budget. In strict SSA form this takes at most three backward walks of the nodes, each O(V + E + touches +
/// live sets); live ranges take O(n log n + edges) for n values. Source: Chaitin, Auslander, Chandra, Cocke,
/// Hopkins and Markstein, "Register allocation via coloring", Computer Languages 6, 1981.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/values_of_nodes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- interference graph ----------------------------------------------------------------------------------

///     a - b - c        graph     a: b      b: a c    c: b        8 bytes per edge
///                      matrix    a: 010    b: 101    c: 010      1 bit per ordered pair, queries in O(1)
///
/// A result that exceeds the budget throws if its edges are queried: a graph without edges would mean that
/// all values may share. Both forms are built from a walk that reports which values start while which are
/// active. If each value starts once (strict SSA form, straight-line code), pairs are counted and not stored.
/// Otherwise they are deduplicated, by a matrix if they are dense, else by rows of bits.

namespace sublet {

namespace detail {

/// `needed` bytes are more than the budget.
[[nodiscard]] counterexample over_budget(byte_count needed, byte_count budget);

} // namespace detail

/// How much memory the result may take.
struct interference_options {
    /// Limit for the result. Construction takes as much again, and a few words per value.
    byte_count budget = byte_count{1} << 30;
};

/// Ascending lists of neighbours. Converts to false beyond the budget: then queries declared after bytes()
/// throw precondition_error.
class interference_graph : public verdict {
public:
    interference_graph() = default;
    /// Takes the edges; node v is value v.
    ///
    /// Requires: rows ascend, no vertex is its own neighbour, and each edge is stored in both directions.
    explicit interference_graph(csr_graph graph);
    /// A graph that exceeds the budget.
    interference_graph(std::size_t values, std::uint64_t edges, byte_count budget)
        : verdict(detail::over_budget(bytes_of(values, edges),
                                      detail::smaller(budget, bytes_of(values, most_edges)))),
          values_(values), edges_(edges)
    {
    }

    /// How many values the program has, adjacent to others or not.
    [[nodiscard]] std::size_t values() const { return values_; }
    [[nodiscard]] std::uint64_t edges() const { return edges_; } ///< each pair once, whether it fits or not
    /// The memory that its edges need, whether they fit or not.
    [[nodiscard]] byte_count bytes() const { return bytes_of(values_, edges_); }

    /// Its edges, each in both directions; node v is value v.
    [[nodiscard]] csr_graph const& graph() const
    {
        SUBLET_EXPECTS(*this, "sublet: an interference graph that exceeds its budget has no edges");
        return graph_;
    }
    /// The values that must not share bytes with v, ascending.
    [[nodiscard]] detail::values_of_nodes neighbors(value_id v) const
    {
        return detail::values_of_nodes(graph()[node_id::of(+v)]);
    }
    /// How many these are.
    [[nodiscard]] std::size_t degree(value_id v) const { return neighbors(v).size(); }
    /// O(log degree)
    [[nodiscard]] bool are_adjacent(value_id u, value_id v) const
    {
        return detail::is_listed(graph()[node_id::of(+u)], node_id::of(+v));
    }

    /// The bytes of a graph; `no_size` if the number does not fit 64 bits.
    [[nodiscard]] static byte_count bytes_of(std::size_t values, std::uint64_t edges);
    /// A graph of so many values and edges would be within the budget.
    [[nodiscard]] static bool would_fit(std::size_t values, std::uint64_t edges, byte_count budget)
    {
        return edges <= most_edges && bytes_of(values, edges) <= budget;
    }

    friend bool operator==(interference_graph const&, interference_graph const&) = default;

private:
    static constexpr std::uint64_t most_edges = no_node / 2; // rows count with 32 bits

    csr_graph graph_;
    std::size_t values_ = 0;
    std::uint64_t edges_ = 0;
};

/// A bit per ordered pair. Converts to false beyond the budget: then queries declared after bytes() throw
/// precondition_error.
class interference_matrix : public verdict {
public:
    interference_matrix() = default;
    /// A matrix without edges, or one that exceeds the budget.
    /// Throws: precondition_error if there are 2^32 - 1 values or more.
    interference_matrix(std::size_t values, byte_count budget);

    /// How many values the program has.
    [[nodiscard]] std::size_t values() const { return values_; }
    /// The memory that its bits need, whether they fit or not.
    [[nodiscard]] byte_count bytes() const { return bytes_of(values_); }

    /// u and v must not share bytes.  O(1)
    [[nodiscard]] bool are_adjacent(value_id u, value_id v) const { return bits().test(u, v); }
    /// A range, ascending.  O(values / 64 + degree)
    [[nodiscard]] detail::live_list neighbors(value_id v) const
    {
        return detail::live_list({{}, bits()[v], bits_.words(), column_.data()});
    }
    /// O(values / 64)
    [[nodiscard]] std::size_t degree(value_id v) const { return bits().count(v); }
    /// The values u and v must not share bytes.
    ///
    /// Requires: the matrix fits, and u is not v.
    void connect(value_id u, value_id v)
    {
        bits_.set(u, v);
        bits_.set(v, u);
    }

    /// The bytes of a matrix.
    [[nodiscard]] static byte_count bytes_of(std::size_t values)
    {
        return sizeof(detail::bit_rows::word) * byte_count{values} * detail::bit_rows::words_for(values);
    }

private:
    detail::bit_rows const& bits() const
    {
        SUBLET_EXPECTS(*this, "sublet: an interference matrix that exceeds its budget has no edges");
        return bits_;
    }

    detail::bit_rows bits_;
    std::vector<value_id> column_; // 0, 1, 2 ...: for live_list
    std::size_t values_ = 0;
};

namespace detail {

// Parameters of deleted overloads: their names are the reason.
template <class R>
struct no_interference_result {};
template <class F>
struct neither_live_ranges_nor_an_interference_function {};

template <class R>
concept interference_result = std::same_as<R, interference_graph> || std::same_as<R, interference_matrix>;

/// `walk(add_conflicts)` calls `add_conflicts(starting, active)` with lists of values that are distinct and
/// disjoint. Starting values interfere with each other and with active ones; no other pairs interfere.
template <class Walk>
interference_matrix matrix_from_conflicts(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    interference_matrix matrix(values, budget);
    if (!matrix) return matrix;
    walk([&](list starting, list active) {
        for (std::size_t i = 0; i != starting.size(); ++i) {
            for (value_id v : starting.first(i)) matrix.connect(starting[i], v);
            for (value_id v : active) matrix.connect(starting[i], v);
        }
    });
    return matrix;
}

/// Complexity: O(values^2 / 64 + edges).
interference_graph graph_of_matrix(interference_matrix const& matrix, byte_count budget);

/// Requires:   a pair of values that each start once is reported at most once; each walk reports the same.
/// Complexity: O(values + edges) and at most three walks, if no value starts again, or if a matrix fits the
///             budget and has at most 64 bytes per reported pair. Otherwise three walks per group of values
///             that start again: 64, or as many as the budget has bits for, one bit per value each.
template <class Walk>
interference_graph graph_from_conflicts(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    std::uint64_t edges = 0;
    constexpr std::uint32_t none = ~std::uint32_t{0};
    table<value_id, unsigned char> has_started(values);
    table<value_id, std::uint32_t> number(values, none); // of those that start again
    std::uint32_t numbers = 0;
    walk([&](list starting, list active) {
        std::uint64_t const count = starting.size();
        edges += count * (count - 1) / 2 + count * active.size();
        for (value_id v : starting)
            if (!has_started[v]) has_started[v] = 1;
            else if (number[v] == none) number[v] = numbers++;
    });

    if (numbers == 0 && !interference_graph::would_fit(values, edges, budget)) return {values, edges, budget};
    if (interference_matrix::bytes_of(values) / 64 <= edges) { // sorting an edge costs about 64 bytes
        interference_matrix const matrix = matrix_from_conflicts(values, budget, walk);
        if (matrix) return graph_of_matrix(matrix, budget);
    }

    // Visits each pair once. A pair is recorded at its value that starts again, of two such at the one with
    // the lower number, for one stripe of these values at a time.
    std::size_t const word_bits = bit_rows::word_bits;
    std::size_t const affordable =
        to_size(smaller(budget / (8 * (byte_count{values} + 1)), byte_count{numbers}));
    std::size_t const stripe =
        word_bits * smaller(larger<std::size_t>(affordable, 1), numbers / word_bits + 1);
    auto each_pair = [&](auto visit) {
        for (std::size_t first = 0; first == 0 || first < numbers; first += stripe) {
            bit_rows recorded(numbers == 0 ? 0 : values, stripe);
            auto pair = [&](value_id u, value_id v) {
                std::size_t const recording_number = numbers == 0 ? none : smaller(number[u], number[v]);
                if (recording_number == none) {
                    if (first == 0) visit(u, v);
                    return;
                }
                std::size_t const column = recording_number - first; // wraps for an earlier stripe
                value_id const other = number[u] == recording_number ? v : u;
                if (column >= stripe || recorded.test(other, column)) return;
                recorded.set(other, column);
                visit(u, v);
            };
            walk([&](list starting, list active) {
                for (std::size_t i = 0; i != starting.size(); ++i) {
                    for (value_id v : starting.first(i)) pair(starting[i], v);
                    for (value_id v : active) pair(starting[i], v);
                }
            });
        }
    };
    if (numbers != 0) {
        edges = 0;
        each_pair([&](value_id, value_id) { ++edges; });
        if (!interference_graph::would_fit(values, edges, budget)) return {values, edges, budget};
    }

    table<value_id, std::uint32_t> row_end(values);
    std::vector<node_id> neighbors(to_size(2 * edges), node_id{0});
    each_pair([&](value_id u, value_id v) { ++row_end[u], ++row_end[v]; }); // degrees
    for (std::uint32_t begin = 0; std::uint32_t & row : row_end) begin += std::exchange(row, begin);
    each_pair([&](value_id u, value_id v) {
        neighbors[row_end[u]++] = node_id::of(+v);
        neighbors[row_end[v]++] = node_id::of(+u);
    });
    csr_rows<node_id, node_id> unsorted;
    unsorted.reserve(values, neighbors.size());
    for (std::size_t i = 0; std::uint32_t end : row_end) {
        for (; i != end; ++i) unsorted.append(neighbors[i]);
        unsorted.close_row();
    }
    neighbors = std::vector<node_id>();
    return interference_graph(csr_graph(unsorted.transposed(values)));
}

template <interference_result R, class Walk>
R result_from_conflicts(std::size_t values, interference_options const& options, Walk const& walk)
{
    if constexpr (std::same_as<R, interference_graph>)
        return graph_from_conflicts(values, options.budget, walk);
    else return matrix_from_conflicts(values, options.budget, walk);
}

// --- interference ----------------------------------------------------------------------------------------

///     a = ...         { }           b is defined while a is live         a - b
///     b = ...         {a}           c is defined while b is live             |
///     c = a + b       {a b}         (a and b are live, too, if c must        c
///     return b + c    {b c}         not overwrite its operands)
///
/// A value occupies a step that defines it, that uses it (unless early), or after which it is live; and the
/// program's first step if it is live where that begins, because it is in storage before. Two values
/// interfere if they occupy a common step. One backward walk over each node from its live-out set suffices:
/// go back from the common step on the path by which a search found it; either a step on it defines one of
/// the two while the other is live, or both occupy the first step of the root.

/// Maps a dense index to the live ranges of that value: a list by value or by reference.
///
/// Semantics:      the same index always yields the same ranges, ascending by their first positions.
/// Ordinary model: [&](auto v) -> auto& { return ranges[v]; }
template <class F>
concept live_range_list_function =
    std::invocable<F&, value_id> && returned_list<std::invoke_result_t<F&, value_id>> &&
    requires(std::remove_reference_t<std::invoke_result_t<F&, value_id>>& list) {
        std::begin(list) != std::end(list);
        {
            *std::begin(list)
            } -> std::convertible_to<live_range>;
    };

/// Whether the values with these two dense indices interfere.
///
/// Semantics:      symmetric: the library passes the lower index first.
/// Ordinary model: [&](auto u, auto v) { return overlaps(life[u], life[v]); }
template <class F>
concept interference_function = std::invocable<F&, value_id, value_id> &&
                                std::convertible_to<std::invoke_result_t<F&, value_id, value_id>, bool>;

/// Walks each node backwards: the values that a step defines start, the others that occupy it are active. In
/// the first step of a root all values that occupy it start, defined or not.
struct block_walk {
    snapshot const& p;
    live_sets const& live;
    table<node_id, node_id> parent; // in a depth-first forest

    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        sparse_set starting(p.values()), active(p.values());
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const range = p.steps_of(n);
            active.clear();
            for (value_id v : live.live_out(n)) active.insert(v);
            for (step_id s = range.last; s-- != range.first;) {
                starting.clear();
                for (touch t : p.touches(s))
                    if (t.defines()) {
                        starting.insert(t.value);
                        active.erase(t.value);
                    }
                for (touch t : p.touches(s))
                    if (t.holds() && !starting.contains(t.value)) active.insert(t.value);
                if (s == range.first && parent[n] == no_node) {
                    if (n == 0)
                        for (value_id v : live.live_in(n))
                            if (!starting.contains(v)) active.insert(v);
                    for (value_id v : active.list()) starting.insert(v);
                    add_conflicts(starting.list(), {});
                } else if (!starting.list().empty()) {
                    add_conflicts(starting.list(), active.list());
                }
                for (touch t : p.touches(s))
                    if (!t.defines()) active.insert(t.value);
            }
        }
    }
};

/// Sweeps over positions: a value starts where a range begins, while those with open ranges are active.
struct range_sweep {
    std::size_t values;
    std::vector<sort_key> range_begins, range_ends; // position as `key`

    /// The ranges of one value are added in sequence, ascending. Adjacent ones are merged.
    void add(value_id v, live_range life);

    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        sparse_set active(values);
        sort_key const* range_end = range_ends.data();
        for (sort_key const& range_begin : range_begins) {
            for (; range_end->key <= range_begin.key; ++range_end) active.erase(range_end->id);
            value_id const starting = range_begin.id;
            add_conflicts(std::span<value_id const>(&starting, 1), active.list());
            active.insert(starting);
        }
    }
};

template <class AddRanges>
range_sweep make_range_sweep(std::size_t values, AddRanges add_ranges_of)
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    range_sweep walk{values, {}, {}};
    for (value_id v = 0; v != values; ++v) add_ranges_of(walk, v);
    sort_by_key(walk.range_begins);
    sort_by_key(walk.range_ends);
    return walk;
}

} // namespace detail

/// From a program in which successors are alternatives or nodes run as listed, and its liveness.
///
/// Ensures:    two values are adjacent if and only if they occupy a common step. So the parameters and phis
///             that a step defines interfere, and an unused result does with the values live after its step.
/// Complexity: a walk takes O(V + E + touches + sizes of the live sets). A matrix takes one; a graph at most
///             three and O(values + edges), if each value is defined in one step (occupying the first step of
///             a root counts as well). Otherwise see graph_from_conflicts. A result that exceeds the budget
///             is counted and not stored.
/// Throws:     precondition_error if `live` is not of this program.
template <detail::interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& given, live_sets const& live,
                             interference_options const& options = {})
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    detail::expect_sets_of(p, live);
    detail::block_walk const walk{p, live, depth_first(p.graph()).parent};
    return detail::result_from_conflicts<R>(p.values(), options, walk);
}

/// The same, with the liveness computed here.
template <detail::interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& p, interference_options const& options = {})
{
    return interference<R>(p, liveness(p), options);
}

template <class R>
    requires(!detail::interference_result<R>)
R interference(snapshot const&, interference_options const& = {},
               detail::no_interference_result<R> = {}) = delete;

/// From live ranges: values interfere where they overlap.
///
/// Complexity: O(n log n) to count the edges, and O(n + edges) to list them if they fit; n = values. `lives`
///             is called once per value.
template <detail::interference_result R = interference_graph, detail::live_range_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::make_range_sweep(
        values, [&lives](auto& all, value_id v) { all.add(v, live_range(detail::call_user(lives, +v))); });
    return detail::result_from_conflicts<R>(values, options, walk);
}

/// From live ranges with holes. Values start with each range: to count the edges takes a visit to all pairs.
///
/// Throws: precondition_error if the ranges of a value do not ascend.
template <detail::interference_result R = interference_graph, detail::live_range_list_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::make_range_sweep(values, [&lives](auto& all, value_id v) {
        for (live_range const life : detail::call_user(lives, +v)) all.add(v, life);
    });
    return detail::result_from_conflicts<R>(values, options, walk);
}

/// From any symmetric relation.
///
/// Complexity: O(n^2), n = values: `interfere(u, v)` is called once for each u < v, even if the edges do not
///             fit. For a matrix that does not fit nothing is called.
template <detail::interference_result R = interference_graph, detail::interference_function Interfere>
[[nodiscard]] R interference(std::size_t values, Interfere interfere,
                             interference_options const& options = {})
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    auto each_edge = [&](auto visit) {
        for (value_id u = 0; u != values; ++u)
            for (value_id v = u + 1; v < values; ++v)
                if (detail::call_user(interfere, +u, +v)) visit(u, v);
    };
    if constexpr (std::same_as<R, interference_matrix>) {
        interference_matrix matrix(values, options.budget);
        if (matrix) each_edge([&matrix](value_id u, value_id v) { matrix.connect(u, v); });
        return matrix;
    } else {
        std::uint64_t edges = 0;
        csr_rows<node_id, node_id> above; // of each value: its higher neighbours
        each_edge([&](value_id u, value_id v) {
            if (!interference_graph::would_fit(values, ++edges, options.budget)) return;
            while (above.rows() != u) above.close_row();
            above.append(node_id::of(+v));
        });
        if (!interference_graph::would_fit(values, edges, options.budget))
            return {values, edges, options.budget};
        while (above.rows() != values) above.close_row();
        csr_rows<node_id, node_id> const below = above.transposed(values);
        csr_rows<node_id, node_id> all;
        all.reserve(values, 2 * above.items());
        for (node_id v = 0; v != values; ++v) {
            for (node_id u : below[v]) all.append(u);
            for (node_id u : above[v]) all.append(u);
            all.close_row();
        }
        return R(csr_graph(std::move(all)));
    }
}

template <class R = interference_graph, class F>
    requires(!detail::live_range_function<F> && !detail::live_range_list_function<F> &&
             !detail::interference_function<F>)
R interference(std::size_t, F, interference_options const& = {},
               detail::neither_live_ranges_nor_an_interference_function<F> = {}) = delete;

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/interference.ipp>
#endif

#endif
