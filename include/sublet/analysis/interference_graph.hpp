// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_GRAPH_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_GRAPH_HPP

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

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/live_sets.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
    [[nodiscard]] bool are_adjacent(value_id u, value_id v) const { return is_listed(graph()[u], v); }

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
    [[nodiscard]] live_list neighbors(value_id v) const
    {
        return live_list({{}, bits()[v], bits_.words(), column_.data()});
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
        return sizeof(bit_rows::word) * byte_count{values} * bit_rows::words_for(values);
    }

private:
    bit_rows const& bits() const
    {
        SUBLET_EXPECTS(fits_, "sublet: an interference matrix over its budget has no edges to ask for");
        return bits_;
    }

    bit_rows bits_;
    std::vector<value_id> column_; // 0, 1, 2 ...: what a live_list wants to know
    std::size_t values_ = 0;
    bool fits_ = true;
};

/// What `interference` can make: lists of neighbours, or a matrix.
template <class R>
concept interference_result = std::same_as<R, interference_graph> || std::same_as<R, interference_matrix>;

namespace detail {

/// `walk(meet)` calls `meet(arriving, present)` with lists of values, none of which is named twice: those
/// that arrive meet each other and those that are present. Two values interfere if they meet.
template <class Walk>
interference_matrix matrix_of_meetings(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    interference_matrix matrix(values, budget);
    if (!matrix.fits()) return matrix;
    walk([&](list arriving, list present) {
        for (std::size_t i = 0; i != arriving.size(); ++i) {
            for (value_id v : arriving.first(i)) matrix.connect(arriving[i], v);
            for (value_id v : present) matrix.connect(arriving[i], v);
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
interference_graph graph_of_meetings(std::size_t values, byte_count budget, Walk const& walk)
{
    using list = std::span<value_id const>;
    std::uint64_t edges = 0;
    std::vector<unsigned char> has_arrived(values);
    std::vector<std::uint32_t> number(values, no_value); // of those that arrive again
    std::uint32_t numbers = 0;
    walk([&](list arriving, list present) {
        std::uint64_t const some = arriving.size();
        edges += some * (some - 1) / 2 + some * present.size();
        for (value_id v : arriving)
            if (!has_arrived[v]) has_arrived[v] = 1;
            else if (number[v] == no_value) number[v] = numbers++;
    });

    if (numbers == 0 && !interference_graph::would_fit(values, edges, budget)) return {values, edges};
    if (interference_matrix::bytes_of(values) / 64 <= edges) { // to sort an edge takes as long as 64 bytes
        interference_matrix const met = matrix_of_meetings(values, budget, walk);
        if (met.fits()) return graph_of_matrix(met, budget);
    }

    // Each pair once. It is kept whom a value that arrives again has met; of two such, by the lower number.
    // And it is kept for a stripe of them at a time.
    std::size_t const word_bits = bit_rows::word_bits;
    std::size_t const affordable = budget / (8 * (byte_count{values} + 1));
    std::size_t const stripe =
        word_bits * smaller(larger<std::size_t>(affordable, 1), numbers / word_bits + 1);
    auto each_pair = [&](auto visit) {
        for (std::size_t first = 0; first == 0 || first < numbers; first += stripe) {
            bit_rows has_met(numbers == 0 ? 0 : values, stripe);
            auto pair = [&](value_id u, value_id v) {
                std::size_t const keeper = numbers == 0 ? no_value : smaller(number[u], number[v]);
                if (keeper == no_value) {
                    if (first == 0) visit(u, v);
                    return;
                }
                std::size_t const column = keeper - first; // wraps round if an earlier stripe had it
                value_id const other = number[u] == keeper ? v : u;
                if (column >= stripe || has_met.test(other, column)) return;
                has_met.set(other, column);
                visit(u, v);
            };
            walk([&](list arriving, list present) {
                for (std::size_t i = 0; i != arriving.size(); ++i) {
                    for (value_id v : arriving.first(i)) pair(arriving[i], v);
                    for (value_id v : present) pair(arriving[i], v);
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
R result_of_meetings(std::size_t values, interference_options const& options, Walk const& walk)
{
    if constexpr (std::same_as<R, interference_graph>) return graph_of_meetings(values, options.budget, walk);
    else return matrix_of_meetings(values, options.budget, walk);
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/interference_graph.ipp>
#endif

#endif
