// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ID_HPP
#define SUBLET_CORE_INTERNAL_ID_HPP

/// Which integers an id is made from, and the class template of all ids: a number of 32 bits with its kind in
/// its type, so that mixing two kinds does not compile.

#include <sublet/core/errors.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace sublet::detail {

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

enum class kind : std::uint8_t { node, value, step, position, buffer, slot, pool, program, move };

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

} // namespace sublet::detail

#endif
