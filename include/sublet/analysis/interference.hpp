// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_HPP

/// Which values interfere, that is, must not share bytes: the graph, and the ways to find it.

#include <sublet/analysis/liveness.hpp>
#include <sublet/detail/bit_rows.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/control_flow.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- interference graph ----------------------------------------------------------------------------------

/// Which values interfere, that is, must not share bytes: as lists of neighbours, or as a matrix of bits.
///
///     a - b - c        graph     a: b      b: a c    c: b        eight bytes an edge
///                      matrix    a: 010    b: 101    c: 010      a bit a pair, answered at once
///
/// There may be far more pairs than values, so either is made within a budget. What exceeds it is not made,
/// and the result says what it would have taken; asked for more, it refuses, for a graph without edges would
/// say that all values may share. interference.hpp makes both.
///
/// Both are made from the same: a walk, over a program or over time, that tells who arrives while who is
/// there. If each value arrives once, two meet once at most, so pairs are counted without being kept: in
/// strict SSA form, and in a straight line. Otherwise somebody must remember who has met: a matrix if pairs
/// are dense, else rows of bits for those values only that arrive again.

namespace sublet {

struct interference_options {
    /// What the result may take. While it is made, there is as much again, and a few words a value.
    byte_count budget = byte_count{1} << 30;
};

/// Lists of neighbours, ascending. Where it does not fit the budget, only what is asked first can be.
class interference_graph {
public:
    interference_graph() = default;
    /// Requires: rows are ascending, no vertex is its own neighbour, and each edge is there in both
    /// directions.
    explicit interference_graph(csr_graph graph);
    /// One that does not fit.
    interference_graph(std::size_t values, std::uint64_t edges) : values_(values), edges_(edges), fits_(false)
    {
    }

    [[nodiscard]] bool fits() const { return fits_; }
    [[nodiscard]] std::size_t values() const { return values_; }
    [[nodiscard]] std::uint64_t edges() const { return edges_; } ///< each pair once, whether it fits or not
    [[nodiscard]] byte_count bytes() const { return bytes_of(values_, edges_); }

    /// The rest throws precondition_error if the graph does not fit.
    [[nodiscard]] csr_graph const& graph() const
    {
        SUBLET_EXPECTS(fits_, "sublet: an interference graph over its budget has no edges to ask for");
        return graph_;
    }
    [[nodiscard]] std::span<value_id const> neighbors(value_id v) const { return graph()[v]; }
    [[nodiscard]] std::size_t degree(value_id v) const { return graph()[v].size(); }
    /// O(log degree)
    [[nodiscard]] bool are_adjacent(value_id u, value_id v) const { return detail::is_listed(graph()[u], v); }

    /// What a graph takes; `no_size` if that takes more than 64 bits to say.
    [[nodiscard]] static byte_count bytes_of(std::size_t values, std::uint64_t edges);
    [[nodiscard]] static bool would_fit(std::size_t values, std::uint64_t edges, byte_count budget)
    {
        return edges <= no_node / 2 && bytes_of(values, edges) <= budget; // rows count with 32 bits
    }

    friend bool operator==(interference_graph const&, interference_graph const&) = default;

private:
    csr_graph graph_;
    std::size_t values_ = 0;
    std::uint64_t edges_ = 0;
    bool fits_ = true;
};

/// A bit for each ordered pair. Where it does not fit the budget, only what is asked first can be.
class interference_matrix {
public:
    interference_matrix() = default;
    /// Of values that do not interfere, or one that does not fit.
    /// Throws: precondition_error if there are 2^32 - 1 values or more.
    interference_matrix(std::size_t values, byte_count budget);

    [[nodiscard]] bool fits() const { return fits_; }
    [[nodiscard]] std::size_t values() const { return values_; }
    [[nodiscard]] byte_count bytes() const { return bytes_of(values_); }

    /// The rest throws precondition_error if the matrix does not fit.
    [[nodiscard]] bool are_adjacent(value_id u, value_id v) const { return bits().test(u, v); }
    /// To iterate over, ascending.  O(values / 64 + their number)
    [[nodiscard]] detail::live_list neighbors(value_id v) const
    {
        return detail::live_list({{}, bits()[v], bits_.words(), column_.data()});
    }
    /// O(values / 64)
    [[nodiscard]] std::size_t degree(value_id v) const { return bits().count(v); }
    /// Requires: it fits, and u is not v.
    void connect(value_id u, value_id v)
    {
        bits_.set(u, v);
        bits_.set(v, u);
    }

    [[nodiscard]] static byte_count bytes_of(std::size_t values)
    {
        return sizeof(detail::bit_rows::word) * byte_count{values} * detail::bit_rows::words_for(values);
    }

private:
    detail::bit_rows const& bits() const
    {
        SUBLET_EXPECTS(fits_, "sublet: an interference matrix over its budget has no edges to ask for");
        return bits_;
    }

    detail::bit_rows bits_;
    std::vector<value_id> column_; // 0, 1, 2 ...: what a live_list wants to know
    std::size_t values_ = 0;
    bool fits_ = true;
};

namespace detail {

/// What `interference` can make: lists of neighbours, or a matrix.
template <class R>
concept interference_result = std::same_as<R, interference_graph> || std::same_as<R, interference_matrix>;

/// `walk(add_conflicts)` calls `add_conflicts(starting, active)` with lists of values, none of which is named twice: those
/// that arrive meet each other and those that are present. Two values interfere if they meet.
template <class Walk>
interference_matrix matrix_from_conflicts(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    interference_matrix matrix(values, budget);
    if (!matrix.fits()) return matrix;
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

/// Requires:   two values that each arrive once meet once at most; `walk` does the same each time.
/// Complexity: O(values + edges) and at most three walks, if no value arrives again, or if a matrix fits the
///             budget and has no more than 64 bytes for each time that two values meet. Otherwise three walks
///             for each group of the values that arrive again: 64 of them, or as many as the budget has bits
///             for, each with one for every value.
template <class Walk>
interference_graph graph_from_conflicts(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    std::uint64_t edges = 0;
    std::vector<unsigned char> has_started(values);
    std::vector<std::uint32_t> number(values, no_value); // of those that arrive again
    std::uint32_t numbers = 0;
    walk([&](list starting, list active) {
        std::uint64_t const count = starting.size();
        edges += count * (count - 1) / 2 + count * active.size();
        for (value_id v : starting)
            if (!has_started[v]) has_started[v] = 1;
            else if (number[v] == no_value) number[v] = numbers++;
    });

    if (numbers == 0 && !interference_graph::would_fit(values, edges, budget)) return {values, edges};
    if (interference_matrix::bytes_of(values) / 64 <= edges) { // to sort an edge takes as long as 64 bytes
        interference_matrix const matrix = matrix_from_conflicts(values, budget, walk);
        if (matrix.fits()) return graph_of_matrix(matrix, budget);
    }

    // Each pair once. It is kept whom a value that arrives again has met; of two such, by the lower number.
    // And it is kept for a stripe of them at a time.
    std::size_t const word_bits = bit_rows::word_bits;
    std::size_t const affordable = budget / (8 * (byte_count{values} + 1));
    std::size_t const stripe =
        word_bits * smaller(larger<std::size_t>(affordable, 1), numbers / word_bits + 1);
    auto each_pair = [&](auto visit) {
        for (std::size_t first = 0; first == 0 || first < numbers; first += stripe) {
            bit_rows recorded(numbers == 0 ? 0 : values, stripe);
            auto pair = [&](value_id u, value_id v) {
                std::size_t const recording_number = numbers == 0 ? no_value : smaller(number[u], number[v]);
                if (recording_number == no_value) {
                    if (first == 0) visit(u, v);
                    return;
                }
                std::size_t const column =
                    recording_number - first; // wraps round if an earlier stripe had it
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
        if (!interference_graph::would_fit(values, edges, budget)) return {values, edges};
    }

    std::vector<std::uint32_t> row_end(values), neighbors(2 * edges);
    each_pair([&](value_id u, value_id v) { ++row_end[u], ++row_end[v]; }); // degrees
    for (std::uint32_t begin = 0; std::uint32_t & row : row_end) begin += std::exchange(row, begin);
    each_pair([&](value_id u, value_id v) {
        neighbors[row_end[u]++] = v;
        neighbors[row_end[v]++] = u;
    });
    csr_rows unsorted;
    unsorted.reserve(values, neighbors.size());
    for (std::size_t i = 0; std::uint32_t end : row_end) {
        for (; i != end; ++i) unsorted.append(neighbors[i]);
        unsorted.close_row();
    }
    neighbors = std::vector<std::uint32_t>();
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

/// Which values interfere: found from a program's control flow, from live ranges, or by asking for each pair.
///
///     a = ...         { }           b is defined while a is there        a - b
///     b = ...         {a}           c is defined while b is there            |
///     c = a + b       {a b}         (a and b are, too, if c must             c
///     return b + c    {b c}         not overwrite what it is made of)
///
/// A value occupies a step that defines it, that uses it (unless early), or behind which it is alive; and the
/// program's first step if it is alive where that begins, for then somebody has put it there. Two
/// values interfere if they occupy one step, and there is no need to look at all steps for that. Go back from
/// there on the path by which a search found it: either one of the two is defined while the other is there,
/// or both are there in the first step of the root. So one walk up each node from what is alive at its end
/// finds all, with a look only at definitions and at the first step of each root.
///
/// Source: Chaitin, Auslander, Chandra, Cocke, Hopkins and Markstein, "Register allocation via coloring",
/// Computer Languages 6, 1981.

/// From a dense index to the live ranges of that value: a list by value or by reference.
///
/// Semantics:      the same index always yields the same ranges, ascending by their first positions.
/// Ordinary model: [&](auto v) -> auto& { return ranges[v]; }
template <class F>
concept live_range_list_function =
    std::invocable<F&, std::uint32_t> && returned_list<std::invoke_result_t<F&, std::uint32_t>> &&
    requires(std::remove_reference_t<std::invoke_result_t<F&, std::uint32_t>>& list) {
        std::begin(list) != std::end(list);
        {
            *std::begin(list)
            } -> std::convertible_to<live_range>;
    };

/// From two dense indices to whether these values interfere.
///
/// Semantics:      symmetric: only the lower index is ever given first.
/// Ordinary model: [&](auto u, auto v) { return overlaps(life[u], life[v]); }
template <class F>
concept interference_function =
    std::invocable<F&, std::uint32_t, std::uint32_t> &&
    std::convertible_to<std::invoke_result_t<F&, std::uint32_t, std::uint32_t>, bool>;

/// Up each node: what a step defines meets what else occupies it. In the first step of a root all that
/// occupies it arrives, defined or not.
struct block_walk {
    snapshot const& p;
    live_sets const& live;
    std::vector<node_id> parent; // by node, in a depth-first forest

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
                    if (t.kind == touch::access::def) {
                        starting.insert(t.value);
                        active.erase(t.value);
                    }
                for (touch t : p.touches(s))
                    if (t.kind == touch::access::use && !starting.contains(t.value)) active.insert(t.value);
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
                    if (t.kind != touch::access::def) active.insert(t.value);
            }
        }
    }
};

/// From left to right: who is born meets those who are alive.
struct range_sweep {
    std::size_t values;
    std::vector<sort_key> range_begins, range_ends; // at `key`

    /// The ranges of one value follow each other, ascending. Those that touch become one.
    void add(value_id v, live_range life);

    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        sparse_set active(values);
        sort_key const* range_end = range_ends.data();
        for (sort_key const& range_begin : range_begins) {
            for (; range_end->key <= range_begin.key; ++range_end) active.erase(range_end->id);
            add_conflicts(std::span<value_id const>(&range_begin.id, 1), active.list());
            active.insert(range_begin.id);
        }
    }
};

/// `add_ranges_of(walk, v)` adds those of v.
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

/// Of a program whose successors are alternatives, and its liveness. (A `sequence` has no successors, so
/// nothing lives from one of its nodes to the next: take the live ranges of its `lifetimes`.)
///
/// Ensures:    two values are adjacent if and only if they occupy one step. So the parameters and phis that a
///             step defines interfere, and a value that nobody needs does with what is alive behind it.
/// Complexity: a walk takes O(V + E + touches + sizes of the live sets). A matrix takes one; a graph at most
///             three and O(values + edges), if each value is defined in one step (being there in the first
///             step of a root counts as well). Otherwise graph_from_conflicts says how many. What exceeds the
///             budget is counted and not stored.
/// Throws:     precondition_error if `live` is not of this program.
template <detail::interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& p, live_sets const& live,
                             interference_options const& options = {})
{
    detail::expect_sets_of(p, live);
    detail::block_walk const walk{p, live, depth_first(p.graph()).parent};
    return detail::result_from_conflicts<R>(p.values(), options, walk);
}

template <detail::interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& p, interference_options const& options = {})
{
    return interference<R>(p, liveness(p), options);
}

/// Of live ranges: values interfere where they overlap.
///
/// Complexity: O(n log n) to count the edges, and O(n + edges) to list them if they fit; n = values. `lives`
///             is called once a value.
template <detail::interference_result R = interference_graph, detail::live_range_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::make_range_sweep(
        values, [&lives](auto& all, value_id v) { all.add(v, live_range(detail::call_user(lives, v))); });
    return detail::result_from_conflicts<R>(values, options, walk);
}

/// The same of live ranges with holes. A value arrives with each of its ranges, so that pairs have to be
/// visited for their number, too.
///
/// Throws: precondition_error if the ranges of a value do not ascend.
template <detail::interference_result R = interference_graph, detail::live_range_list_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::make_range_sweep(values, [&lives](auto& all, value_id v) {
        for (live_range const life : detail::call_user(lives, v)) all.add(v, life);
    });
    return detail::result_from_conflicts<R>(values, options, walk);
}

/// Of any symmetric relation.
///
/// Complexity: O(n^2), n = values: `interfere(u, v)` is called once for each u < v, though there may be more
///             edges than fit. For a matrix that does not fit nothing is called.
template <detail::interference_result R = interference_graph, detail::interference_function Interfere>
[[nodiscard]] R interference(std::size_t values, Interfere interfere,
                             interference_options const& options = {})
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    auto each_edge = [&](auto visit) {
        for (value_id u = 0; u != values; ++u)
            for (value_id v = u + 1; v < values; ++v)
                if (detail::call_user(interfere, u, v)) visit(u, v);
    };
    if constexpr (std::same_as<R, interference_matrix>) {
        interference_matrix matrix(values, options.budget);
        if (matrix.fits()) each_edge([&matrix](value_id u, value_id v) { matrix.connect(u, v); });
        return matrix;
    } else {
        std::uint64_t edges = 0;
        csr_rows above; // by value: its neighbours of a higher number
        each_edge([&](value_id u, value_id v) {
            if (!interference_graph::would_fit(values, ++edges, options.budget)) return;
            while (above.rows() != u) above.close_row();
            above.append(v);
        });
        if (!interference_graph::would_fit(values, edges, options.budget)) return {values, edges};
        while (above.rows() != values) above.close_row();
        csr_rows const below = above.transposed(values);
        csr_rows all;
        all.reserve(values, 2 * above.items());
        for (std::size_t v = 0; v != values; ++v) {
            for (value_id u : below[v]) all.append(u);
            for (value_id u : above[v]) all.append(u);
            all.close_row();
        }
        return R(csr_graph(std::move(all)));
    }
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/interference.ipp>
#endif

#endif
