// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PER_VALUE_HPP
#define SUBLET_PER_VALUE_HPP

/// A property of every value, given in whichever way the user has it at hand:
///
///     .bytes = 4096                                       a constant
///     .bytes = std::vector{100, 200, 300}                 a table: anything with [] and size()
///     .bytes = [&](auto v) { return ir[v].bytes(); }      a callable
///
/// They are tried in the order callable, table, constant, and kept by value, so that options can be
/// stored, copied and returned; a `std::span` is a table that refers. Pointers are none of the three.
/// The type is erased here, once, so that planners are compiled for one options type and not for each
/// user's lambdas; a planner reads a property into a plain table before it starts.

#include <sublet/contract.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// What can be read as a T without surprise: no fraction, character or truth value becomes a size, no pointer
/// a truth value.
template <class X, class T>
concept readable_as = std::convertible_to<X, T> &&
                      (integer<T> ? integer_like<std::remove_cvref_t<X>>
                                  : !std::is_pointer_v<std::decay_t<X>> &&
                                        !std::is_floating_point_v<std::remove_cvref_t<X>>);

template <class X, class T>
concept value_callable =
    std::invocable<X const&, value_id> && readable_as<std::invoke_result_t<X const&, value_id>, T>;

template <class X, class T>
concept value_table = !
value_callable<X, T>&& requires(X const& x, std::size_t i) {
                           {
                               x[i]
                               } -> readable_as<T>;
                           {
                               x.size()
                               } -> std::convertible_to<std::size_t>;
                       };

template <class X, class T>
concept value_constant = !
value_callable<X, T> && !value_table<X, T> && readable_as<X, T>;

namespace detail {

/// As `ask`: the index of a user's table may well be an `int`.
template <class X>
constexpr decltype(auto) look_up(X const& table, value_id v)
{
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
    return table[v];
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

} // namespace detail

template <class X, class T>
inline constexpr bool is_value_property = value_callable<X, T> || value_table<X, T> || value_constant<X, T>;

/// A value of T for every value id; see above.
///
/// Throws: precondition_error where a number is negative, or does not fit the 32 bits of an id
///         (-1 is `no_value` where T is an id), or where a table has not one entry per value. All this is
///         found when the property is read, not when it is given.
template <class T>
class per_value {
public:
    per_value() = delete; // a property without default (bytes) was left out

    template <class X>
        requires(!std::same_as<std::remove_cvref_t<X>, per_value> &&
                 !std::is_array_v<std::remove_reference_t<X>>)
    per_value(X&& x)
    {
        using held = std::decay_t<X>;
        static_assert(is_value_property<held, T>,
                      "sublet: a property of values is a constant, a table with [] and size(), or a callable "
                      "that takes a value_id (for a map or a pointer pass a lambda that looks it up)");
        static_assert(std::copy_constructible<held>,
                      "sublet: a property of values is kept by value and copied, which this one cannot be");
        if constexpr (is_value_property<held, T> && std::copy_constructible<held>) {
            held_ = new held(std::forward<X>(x));
            actions_ = &actions_of<held>;
        }
    }
    template <class E>
    per_value(std::initializer_list<E> table) : per_value(std::vector<E>(table))
    {
    }
    template <class E, std::size_t N>
    per_value(E const (&table)[N]) : per_value(std::vector<E>(table, table + N))
    {
    }
    per_value(per_value const& other) : held_(other.actions_->copy(other.held_)), actions_(other.actions_) {}
    per_value& operator=(per_value const& other)
    {
        per_value copy(other);
        std::swap(held_, copy.held_);
        std::swap(actions_, copy.actions_);
        return *this;
    }
    ~per_value() { actions_->destroy(held_); }

    [[nodiscard]] T operator[](value_id v) const { return actions_->read(held_, v); }

    /// A truth value is tabulated as a byte: `vector<bool>` would cost every includer 20 ms.
    using cell = std::conditional_t<std::same_as<T, bool>, unsigned char, T>;

    /// The property of values 0 ... values - 1.
    [[nodiscard]] std::vector<cell> tabulate(std::size_t values) const
    {
        actions_->expect_size(held_, values);
        std::vector<cell> table(values);
        for (std::size_t v = 0; v != values; ++v) table[v] = (*this)[static_cast<value_id>(v)];
        return table;
    }

private:
    struct actions {
        T (*read)(void const*, value_id);
        void (*expect_size)(void const*, std::size_t);
        void* (*copy)(void const*);
        void (*destroy)(void*);
    };

    /// The user's number as ours.
    template <class N>
    static T as_property(N&& number)
    {
        if constexpr (!integer<T>) {
            return static_cast<T>(std::forward<N>(number));
        } else if constexpr (!integer<std::remove_cvref_t<N>>) {
            return as_property(+number);
        } else if constexpr (std::same_as<T, value_id>) {
            return to_id(number);
        } else {
            if constexpr (std::signed_integral<std::remove_cvref_t<N>>)
                SUBLET_EXPECTS(number >= 0, "sublet: a property of a value is negative");
            return static_cast<T>(number);
        }
    }

    template <class X>
    static T read_one(X const& x, value_id v)
    {
        if constexpr (value_callable<X, T>) {
            return as_property(detail::ask(x, v));
        } else if constexpr (value_table<X, T>) {
            SUBLET_EXPECTS(v < static_cast<std::size_t>(x.size()),
                           "sublet: the table of a property has no entry for a value");
            return as_property(detail::look_up(x, v));
        } else {
            return as_property(x);
        }
    }

    template <class X>
    static constexpr actions actions_of{
        [](void const* x, value_id v) -> T { return read_one(*static_cast<X const*>(x), v); },
        [](void const* x, std::size_t values) {
            if constexpr (value_table<X, T>)
                SUBLET_EXPECTS(static_cast<std::size_t>(static_cast<X const*>(x)->size()) == values,
                               "sublet: the table of a property has not one entry per value");
        },
        [](void const* x) -> void* { return new X(*static_cast<X const*>(x)); },
        [](void* x) { delete static_cast<X*>(x); }};

    void* held_ = nullptr;
    actions const* actions_ = nullptr;
};

} // namespace sublet

#endif
