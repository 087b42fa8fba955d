// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_INTERFERENCE_ARGUMENTS_HPP
#define SUBLET_ANALYSIS_DETAIL_INTERFERENCE_ARGUMENTS_HPP

/// What interference() takes and returns, as concepts, and the names that an error of a compiler shows
/// otherwise.

#include <sublet/analysis/interference_graph.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/id_lists.hpp>

#include <concepts>
#include <span>
#include <type_traits>

namespace sublet::detail {

// Parameters of deleted overloads: their names are the reason.
template <class R>
struct no_interference_result {};
template <class F>
struct neither_live_ranges_nor_an_interference_function {};

/// What interference() returns.
template <class R>
concept interference_result = std::same_as<R, interference_graph> || std::same_as<R, interference_matrix>;

/// Maps a dense index to the live ranges of that value: a list by value or by reference.
///
/// Semantics:      the same index always yields the same ranges, ascending by their first positions.
/// Ordinary model: [&](auto v) -> auto& { return ranges[v]; }
template <class F>
concept live_range_list_function =
    std::invocable<F&, value_id> && returned_list<std::invoke_result_t<F&, value_id>> &&
    requires(std::remove_reference_t<std::invoke_result_t<F&, value_id>>& list) {
        std::begin(list) != std::end(list);
        { *std::begin(list) } -> std::convertible_to<live_range>;
    };

/// Whether the values with these two dense indices interfere.
///
/// Semantics:      symmetric: the library passes the lower index first.
/// Ordinary model: [&](auto u, auto v) { return overlaps(life[u], life[v]); }
template <class F>
concept interference_function = std::invocable<F&, value_id, value_id> &&
                                std::convertible_to<std::invoke_result_t<F&, value_id, value_id>, bool>;

} // namespace sublet::detail

#endif
