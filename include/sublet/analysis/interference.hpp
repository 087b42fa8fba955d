// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERFERENCE_HPP
#define SUBLET_ANALYSIS_INTERFERENCE_HPP

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

#include <sublet/analysis/interference_graph.hpp>
#include <sublet/analysis/live_sets.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/value_set.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

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

namespace detail {

/// Up each node: what a step defines meets what else occupies it. In the first step of a root all that
/// occupies it arrives, defined or not.
struct flow_meetings {
    snapshot const& p;
    live_sets const& live;
    std::vector<node_id> parent; // by node, in a depth-first forest

    template <class Meet>
    void operator()(Meet meet) const
    {
        value_set arriving(p.values()), present(p.values());
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const mine = p.steps_of(n);
            present.clear();
            for (value_id v : live.live_out(n)) present.insert(v);
            for (step_id s = mine.last; s-- != mine.first;) {
                arriving.clear();
                for (touch t : p.touches(s))
                    if (t.kind == touch_kind::def) {
                        arriving.insert(t.value);
                        present.erase(t.value);
                    }
                for (touch t : p.touches(s))
                    if (t.kind == touch_kind::use && !arriving.contains(t.value)) present.insert(t.value);
                if (s == mine.first && parent[n] == no_node) {
                    if (n == 0)
                        for (value_id v : live.live_in(n))
                            if (!arriving.contains(v)) present.insert(v);
                    for (value_id v : present.list()) arriving.insert(v);
                    meet(arriving.list(), {});
                } else if (!arriving.list().empty()) {
                    meet(arriving.list(), present.list());
                }
                for (touch t : p.touches(s))
                    if (t.kind != touch_kind::def) present.insert(t.value);
            }
        }
    }
};

/// From left to right: who is born meets those who are alive.
struct range_meetings {
    std::size_t values;
    std::vector<keyed> births, deaths; // at `key`

    /// The ranges of one value follow each other, ascending. Those that touch become one.
    void add(value_id v, live_range life);

    template <class Meet>
    void operator()(Meet meet) const
    {
        value_set present(values);
        keyed const* death = deaths.data();
        for (keyed const& birth : births) {
            for (; death->key <= birth.key; ++death) present.erase(death->who);
            meet(std::span<value_id const>(&birth.who, 1), present.list());
            present.insert(birth.who);
        }
    }
};

/// `add_ranges_of(walk, v)` adds those of v.
template <class AddRanges>
range_meetings meetings_in_time(std::size_t values, AddRanges add_ranges_of)
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    range_meetings walk{values, {}, {}};
    for (value_id v = 0; v != values; ++v) add_ranges_of(walk, v);
    sort_keyed(walk.births);
    sort_keyed(walk.deaths);
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
///             step of a root counts as well). Otherwise graph_of_meetings says how many. What exceeds the
///             budget is counted and not stored.
/// Throws:     precondition_error if `live` is not of this program.
template <interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& p, live_sets const& live,
                             interference_options const& options = {})
{
    detail::expect_sets_of(p, live);
    detail::flow_meetings const walk{p, live, depth_first(p.graph()).parent};
    return detail::result_of_meetings<R>(p.values(), options, walk);
}

template <interference_result R = interference_graph>
[[nodiscard]] R interference(snapshot const& p, interference_options const& options = {})
{
    return interference<R>(p, liveness(p), options);
}

/// Of live ranges: values interfere where they overlap.
///
/// Complexity: O(n log n) to count the edges, and O(n + edges) to list them if they fit; n = values. `lives`
///             is called once a value.
template <interference_result R = interference_graph, live_range_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::meetings_in_time(
        values, [&lives](auto& all, value_id v) { all.add(v, live_range(detail::ask(lives, v))); });
    return detail::result_of_meetings<R>(values, options, walk);
}

/// The same of live ranges with holes. A value arrives with each of its ranges, so that pairs have to be
/// visited for their number, too.
///
/// Throws: precondition_error if the ranges of a value do not ascend.
template <interference_result R = interference_graph, live_range_list_function Lives>
[[nodiscard]] R interference(std::size_t values, Lives lives, interference_options const& options = {})
{
    auto const walk = detail::meetings_in_time(values, [&lives](auto& all, value_id v) {
        for (live_range const life : detail::ask(lives, v)) all.add(v, life);
    });
    return detail::result_of_meetings<R>(values, options, walk);
}

/// Of any symmetric relation.
///
/// Complexity: O(n^2), n = values: `interfere(u, v)` is called once for each u < v, though there may be more
///             edges than fit. For a matrix that does not fit nothing is called.
template <interference_result R = interference_graph, interference_function Interfere>
[[nodiscard]] R interference(std::size_t values, Interfere interfere,
                             interference_options const& options = {})
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    auto each_edge = [&](auto visit) {
        for (value_id u = 0; u != values; ++u)
            for (value_id v = u + 1; v < values; ++v)
                if (detail::ask(interfere, u, v)) visit(u, v);
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
