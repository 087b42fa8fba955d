// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_VALUE_PROPERTY_HPP
#define SUBLET_CORE_INTERNAL_VALUE_PROPERTY_HPP

/// What a property of values may be made from: a callable by id, a table with [] and size(), or a constant.
/// The first that applies is taken, and nothing loses its meaning by conversion.

#include <sublet/core/ids.hpp>
#include <sublet/core/internal/id.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace sublet::detail {

/// A pointer or, as a lambda without captures, what converts to one: its truth says nothing.
template <class X>
concept pointer_like = std::is_pointer_v<std::decay_t<X>> || requires(X const& x) {
    +x;
    requires std::is_pointer_v<decltype(+x)>;
};

/// Converts to T without loss of meaning: no fraction, character or bool becomes a size, no pointer a bool.
template <class X, class T>
concept readable_as =
    std::convertible_to<X, T> &&
    (is_id<T> || (integer<T> ? integer_like<std::remove_cvref_t<X>>
                             : !pointer_like<X> && !std::is_floating_point_v<std::remove_cvref_t<X>>));

template <class X, class T, class Id = value_id>
concept value_callable = std::invocable<X const&, Id> && readable_as<std::invoke_result_t<X const&, Id>, T>;

template <class X, class T, class Id = value_id>
concept value_table = !value_callable<X, T, Id> && requires(X const& x, Id i) {
    { x[i] } -> readable_as<T>;
    { x.size() } -> std::convertible_to<std::size_t>;
};

template <class X, class T, class Id = value_id>
concept value_constant = !value_callable<X, T, Id> && !value_table<X, T, Id> && readable_as<X, T>;

template <class X, class T, class Id = value_id>
inline constexpr bool is_value_property =
    value_callable<X, T, Id> || value_table<X, T, Id> || value_constant<X, T, Id>;

} // namespace sublet::detail

#endif
