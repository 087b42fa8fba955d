// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_IDS_HPP
#define SUBLET_CORE_IDS_HPP

/// Numbers of 32 bits, of a type for each kind of thing: a value is never taken for a buffer.
///
///     node 7, value 3, step 12      dense numbers from 0, so a table is indexed by them
///     no_value, no_step             the largest number of each kind: none
///
///     value_id v = 3;               from any integer; -1 of a signed type is none
///     bytes[v]; v + 1;              an id converts to its number, a std::uint32_t,
///     buffer_id b = v;              and never to an id of another kind: this does not compile
///     v == b;                       nor does this
///
/// In a template, a generic lambda among them, clang up to 19 takes std::vector<value_id>{5} for five values,
/// as it does for every class that is made from an int: write std::vector{value_id{5}}.

#include <sublet/core/errors.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {
namespace detail {

/// An integer type other than bool and the character types.
template <class I>
concept integer =
    std::integral<I> && !std::same_as<I, bool> && !std::same_as<I, char> && !std::same_as<I, wchar_t> &&
    !std::same_as<I, char8_t> && !std::same_as<I, char16_t> && !std::same_as<I, char32_t>;

/// What a constant `vector<bool>` returns: a truth value, in libc++ in a class that converts to it.
template <class N>
inline constexpr bool is_constant_bit = std::is_same_v<N, bool>;
#if defined(_LIBCPP_VERSION)
template <>
inline constexpr bool is_constant_bit<std::vector<bool>::const_reference> = true;
#endif

/// An integer, or a type that converts to one: an unscoped enum, an id type with a conversion, a proxy. Unary
/// `+` yields the integer type, so no value is truncated to 32 bits unnoticed.
template <class N>
concept integer_like = integer<N> || (!std::is_arithmetic_v<N> && !is_constant_bit<N> &&
                                      requires(N const& n) { requires integer<decltype(+n)>; });

/// The number of an id. -1 of a signed type, or of 64 bits, is a common "none": it becomes the largest.
/// Throws: precondition_error for any other negative number, and for one that needs more than 32 bits.
template <integer I>
[[nodiscard]] constexpr std::uint32_t to_number(I number)
{
    constexpr std::uint32_t none = ~std::uint32_t{0};
    if constexpr (std::signed_integral<I>) {
        if (number == I(-1)) return none;
        SUBLET_EXPECTS(number >= 0, "sublet: id % is negative (only -1 has a meaning: none)", number);
    }
    if constexpr (sizeof(I) > 4)
        SUBLET_EXPECTS(number <= I{none} || number == I(-1), "sublet: id % does not fit 32 bits", number);
    return static_cast<std::uint32_t>(number);
}

enum class kind : std::uint8_t { node, value, step, position, buffer, slot, pool, program };

template <kind K>
class id;
template <class N>
inline constexpr bool is_id = false;
template <kind K>
inline constexpr bool is_id<id<K>> = true;

/// The proxy of `vector<bool>`, recognised by `flip`.
template <class N>
inline constexpr bool is_bit = requires(N n) { n.flip(); };

/// What an id is made from: an integer that is neither a character nor a truth value, and no other id.
template <class N>
concept id_number = integer_like<N> && !is_id<N> && !is_bit<N>;

/// A number of one kind. As cheap as a std::uint32_t; not initialised unless a value is given.
template <kind K>
class id {
public:
    id() = default;
    /// Throws: precondition_error for a negative number other than -1, and for one of more than 32 bits.
    template <id_number N>
    constexpr id(N const& number) : number_(to_number(+number))
    {
    }
    /// A number of one kind is not one of another: where it has to become one, say +id.
    template <kind Other>
    id(id<Other>) = delete;
    /// The same, not tested.
    /// Requires: 0 <= number < 2^32.
    template <integer I>
    [[nodiscard]] static constexpr id of(I number) noexcept
    {
        id result;
        result.number_ = static_cast<std::uint32_t>(number);
        return result;
    }
    /// The number.
    [[nodiscard]] constexpr operator std::uint32_t() const noexcept { return number_; }

    constexpr id& operator++() noexcept { return ++number_, *this; }
    constexpr id& operator--() noexcept { return --number_, *this; }
    constexpr id operator++(int) noexcept { return of(number_++); }
    constexpr id operator--(int) noexcept { return of(number_--); }
    constexpr id& operator+=(std::uint32_t more) noexcept { return number_ += more, *this; }
    constexpr id& operator-=(std::uint32_t less) noexcept { return number_ -= less, *this; }

private:
    std::uint32_t number_;
};

/// Ids of one kind are compared as numbers; those of two kinds are not compared.
template <kind A, kind B>
    requires(A != B)
bool operator==(id<A>, id<B>) = delete;
template <kind A, kind B>
    requires(A != B)
bool operator!=(id<A>, id<B>) = delete; // GCC 12 reports two errors without it
template <kind A, kind B>
    requires(A != B)
void operator<=>(id<A>, id<B>) = delete;

} // namespace detail

using node_id = detail::id<detail::kind::node>;   ///< of the program's graph: an operation or a basic block
using value_id = detail::id<detail::kind::value>; ///< a result of a step that other steps use
using step_id = detail::id<detail::kind::step>;   ///< one operation
using position_id = detail::id<detail::kind::position>; ///< in an order of steps: 0 is that of the first
using buffer_id = detail::id<detail::kind::buffer>;   ///< values that share bytes: views and in-place results
using slot_id = detail::id<detail::kind::slot>;       ///< storage without address that buffers occupy in turn
using pool_id = detail::id<detail::kind::pool>;       ///< a kind of memory
using program_id = detail::id<detail::kind::program>; ///< a program of a tree; 0: the root

inline constexpr node_id no_node = -1;         ///< no such node
inline constexpr value_id no_value = -1;       ///< no such value; an absent operand
inline constexpr step_id no_step = -1;         ///< no such step, or none is known
inline constexpr position_id no_position = -1; ///< no such position, or none is known
inline constexpr buffer_id no_buffer = -1;     ///< the value has no buffer
inline constexpr slot_id no_slot = -1;         ///< the value needs no slot

/// An entry for each thing of one kind: a vector that is indexed by an id of that kind, or by an integer.
///
///     table<value_id, buffer_id> buffer_of;      buffer_of[v]; buffer_of[b] does not compile
template <class Id, class T>
class table : public std::vector<T> {
public:
    using std::vector<T>::vector;
    table() = default;
    /// Takes the entries.
    table(std::vector<T> entries) noexcept : std::vector<T>(std::move(entries)) {}

    /// The entry of a thing.
    /// Requires: there is one.
    [[nodiscard]] T& operator[](Id of) noexcept { return std::vector<T>::operator[](of); }
    /// The same of a constant table.
    [[nodiscard]] T const& operator[](Id of) const noexcept { return std::vector<T>::operator[](of); }
    /// The same, of its number.
    template <detail::integer I>
    [[nodiscard]] T& operator[](I number) noexcept
    {
        return std::vector<T>::operator[](static_cast<std::size_t>(number));
    }
    /// The same of a constant table.
    template <detail::integer I>
    [[nodiscard]] T const& operator[](I number) const noexcept
    {
        return std::vector<T>::operator[](static_cast<std::size_t>(number));
    }
};

namespace detail {

/// Says why `order` does not name each of 0 ... count - 1 once. `item` is what they are: "node", "step".
/// Requires: it does not.
[[noreturn]] void broken_numbers(std::vector<std::uint32_t> const& order, std::size_t count,
                                 char const* item);
template <class Ids>
[[noreturn]] void broken_order(Ids const& order, std::size_t count, char const* item = "node")
{
    broken_numbers({order.begin(), order.end()}, count, item);
}

} // namespace detail
} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/ids.ipp>
#endif

#endif
