// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_CONFLICTS_HPP
#define SUBLET_ANALYSIS_DETAIL_CONFLICTS_HPP

/// An interference graph or matrix from a walk that reports which values start while which are active. If
/// each value starts once, pairs are counted and not stored. Otherwise they are deduplicated, by a matrix if
/// they are dense, else by rows of bits.

#include <sublet/analysis/detail/interference_arguments.hpp>
#include <sublet/analysis/interference_graph.hpp>
#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

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
    for (std::uint32_t begin = 0; std::uint32_t& row : row_end) begin += std::exchange(row, begin);
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

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/conflicts.ipp>
#endif

#endif
