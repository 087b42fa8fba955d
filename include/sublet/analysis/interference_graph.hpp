// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_GRAPH_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_GRAPH_HPP

/// The pairs of values that must not share bytes, as a graph or as a bit matrix. The result is exact, or only
/// its size if that exceeds a budget.
///
///     a - b - c        graph     a: b      b: a c    c: b        8 bytes per edge
///                      matrix    a: 010    b: 101    c: 010      1 bit per ordered pair, queries in O(1)
///
/// A result that exceeds the budget throws if its edges are queried: a graph without edges would mean that
/// all values may share. Both forms are built from a walk that reports which values start while which are
/// active. If each value starts once (strict SSA form, straight-line code), pairs are counted and not stored.
/// Otherwise they are deduplicated, by a matrix if they are dense, else by rows of bits.

#include <sublet/analysis/detail/node_sets.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/values_of_nodes.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
    [[nodiscard]] auto neighbors(value_id v) const
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
    [[nodiscard]] auto neighbors(value_id v) const
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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/interference_graph.ipp>
#endif

#endif
