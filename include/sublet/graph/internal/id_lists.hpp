// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_ID_LISTS_HPP
#define SUBLET_GRAPH_INTERNAL_ID_LISTS_HPP

/// Lists of ids as users give them: by a callable or a table, by value, by reference or as a view. A list is
/// read where it is returned, and an initializer_list, which is gone by then, is refused.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/id.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet::detail {

template <class R>
inline constexpr bool is_initializer_list = false;
template <class E>
inline constexpr bool is_initializer_list<std::initializer_list<E>> = true;

/// A list that still exists after the call that returned it; an `initializer_list` does not.
template <class R>
concept returned_list = !std::is_void_v<R> && !is_initializer_list<std::remove_cvref_t<R>>;

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

} // namespace sublet::detail

#endif
