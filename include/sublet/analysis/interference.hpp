// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_HPP

/// Computes the pairs of values that must not share bytes, as a graph or as a bit matrix, from a program and
/// its liveness, from live ranges, or from a relation. The result is exact, or only its size if it exceeds a
/// budget. In strict SSA form this takes at most three backward walks of the nodes, each O(V + E + touches +
/// live sets); live ranges take O(n log n + edges) for n values. Source: Chaitin, Auslander, Chandra, Cocke,
/// Hopkins and Markstein, "Register allocation via coloring", Computer Languages 6, 1981.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/detail/conflict_walks.hpp>
#include <sublet/analysis/detail/conflicts.hpp>
#include <sublet/analysis/detail/interference_arguments.hpp>
#include <sublet/analysis/interference_graph.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

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

namespace sublet {

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

#endif
