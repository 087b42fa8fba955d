// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_UNITS_HPP
#define SUBLET_UNITS_HPP

/// Ids of 32 bits, byte counts of 64 bits with checked sums and products, half-open live ranges, and the
/// error for violated preconditions. Two lists of live ranges are tested for overlap in O(ranges).

#include <sublet/impl/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- contract --------------------------------------------------------------------------------------------

/// The library has three ways to fail. A wrong type is a concept error, a violated precondition throws one
/// sentence that names it, and a fact about the data is a returned value with a witness.
///
///     SUBLET_EXPECTS(!sizes.empty(), "sublet: there are no sizes");
///     SUBLET_EXPECTS(value < blobs, "sublet: value % is named, but there are only % values", value, blobs);

namespace sublet {

/// The only exception type of the library's core. It owns its sentence, of at most 511 characters (a longer
/// one is cut and ends with "..."): throwing it allocates nothing more, and needs no `std::string`.
class precondition_error : public std::exception {
public:
    /// Copies the sentence.
    explicit precondition_error(char const* sentence) noexcept;
    char const* what() const noexcept override { return sentence_; }

private:
    char sentence_[512];
};

namespace detail {

/// A number, or a name, in a sentence about a violated precondition.
struct sentence_part {
    template <std::integral I>
    constexpr sentence_part(I n)
        : text(n < I{} ? "-" : nullptr),
          number(n < I{} ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n))
    {
    }
    constexpr sentence_part(char const* name) : text(name) {}

    char const* text; // nullptr: a number; "-": a negative one
    std::uint64_t number = 0;
};

/// Throws the sentence, each `%` in it replaced by one part; without exceptions prints it and aborts. The
/// choice is made where the library is compiled: in every file that includes it, or once for
/// sublet::compiled. If files of one program differ in exceptions, sanitizers or the like, use the latter:
/// the linker keeps only one of two differently compiled copies of an inline function.
[[noreturn]] void broken_precondition(char const* sentence);
[[noreturn]] void broken_precondition(char const* sentence, sentence_part a, sentence_part b = "",
                                      sentence_part c = "", sentence_part d = "");

/// Says why `order` does not name each of 0 ... count - 1 once. `item` is what they are: "node", "step".
/// Requires: it does not.
[[noreturn]] void broken_order(std::span<std::uint32_t const> order, std::size_t count,
                               char const* item = "node");

} // namespace detail
} // namespace sublet

#define SUBLET_EXPECTS(condition, ...)                                                                       \
    ((condition) ? void(0) : ::sublet::detail::broken_precondition(__VA_ARGS__))

// --- units -----------------------------------------------------------------------------------------------

/// Ids of 32 bits, byte counts of 64 bits.
///
///     node 7, value 3, step 12      dense numbers from 0, so a table is indexed by them
///     1 500 000 000 bytes           a byte_count; it never wraps round
///
/// The largest number of each type means "none" (`no_value`, `no_offset`) or "unknown" (`no_size`).

namespace sublet {

using node_id = std::uint32_t;    ///< a node of the program's graph: an operation or a basic block
using value_id = std::uint32_t;   ///< a result of a step that other steps use
using step_id = std::uint32_t;    ///< one operation, or its position in the order
using buffer_id = std::uint32_t;  ///< values that share the same bytes: views and in-place results
using slot_id = std::uint32_t;    ///< storage without address that buffers occupy in turn
using pool_id = std::uint32_t;    ///< a kind of memory
using program_id = std::uint32_t; ///< a program of a tree; 0: the root
using byte_count = std::uint64_t; ///< a size or an offset in bytes
using tick_count = std::uint64_t; ///< time, in whatever unit durations are given

inline constexpr node_id no_node = ~node_id{0};         ///< no such node
inline constexpr value_id no_value = ~value_id{0};      ///< no such value; an absent operand
inline constexpr step_id no_step = ~step_id{0};         ///< no such step, or none is known
inline constexpr buffer_id no_buffer = ~buffer_id{0};   ///< the value has no buffer
inline constexpr slot_id no_slot = ~slot_id{0};         ///< the value needs no slot
inline constexpr byte_count no_offset = ~byte_count{0}; ///< not in an arena
inline constexpr byte_count no_size = ~byte_count{0};   ///< the size is unknown
inline constexpr byte_count no_limit = ~byte_count{0};  ///< a pool without capacity limit

namespace detail {

/// A value of a program in a tree of programs.
struct tree_value {
    program_id program = 0;
    value_id value = no_value;
    friend bool operator==(tree_value, tree_value) = default;
};

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

/// Converts a user's integer to an id. -1 of a signed type, or of 64 bits, is a common "none": it becomes
/// `no_value` (which is also `no_node`, `no_buffer` ...).
/// Ensures: an id of this library, `no_value` too, survives a conversion to any wider type and back.
/// Throws:  precondition_error for any other negative number, and for one that needs more than 32 bits.
template <detail::integer I>
[[nodiscard]] constexpr std::uint32_t to_id(I number)
{
    if constexpr (std::signed_integral<I>) {
        if (number == I(-1)) return no_value;
        SUBLET_EXPECTS(number >= 0, "sublet: id % is negative (only -1 has a meaning: none)", number);
    }
    if constexpr (sizeof(I) > 4)
        SUBLET_EXPECTS(number <= I{no_value} || number == I(-1), "sublet: id % does not fit 32 bits", number);
    return static_cast<std::uint32_t>(number);
}

} // namespace detail

namespace detail {

/// Calls a user's callable with an id. Its parameter may be an `int`, so conversion warnings are disabled
/// here (ids that do not fit an int do not occur in a program that uses int ids).
template <class F, class... Arguments>
constexpr decltype(auto) call_user(F& f, Arguments&&... arguments)
{
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
    return f(std::forward<Arguments>(arguments)...);
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

/// An index or a size in memory; of a number that does not fit, the largest, which no allocation grants. With
/// 64 bits it is the same type; with 32 bits the mask narrows it without a cast, which 64 bits would call
/// useless.
[[nodiscard]] constexpr std::size_t to_size(std::uint64_t number) noexcept
{
    constexpr std::uint64_t largest = ~std::size_t{0};
    return (number < largest ? number : largest) & largest;
}

/// Throws: precondition_error for a negative one.
template <detail::integer_like N>
[[nodiscard]] constexpr byte_count to_byte_count(N const& number)
{
    auto const count = +number;
    if constexpr (std::signed_integral<decltype(+number)>)
        SUBLET_EXPECTS(count >= 0, "sublet: a size is negative: %", count);
    return static_cast<byte_count>(count);
}

/// The size of each value or buffer, by dense index.
///
/// Semantics:     the same index always yields the same size, never a negative one.
/// Minimal model: archetype::sizes.   Ordinary model: [&](auto v) { return bytes[v]; }
template <class F>
concept size_function = std::invocable<F&, std::uint32_t> &&
                        integer_like<std::remove_cvref_t<std::invoke_result_t<F&, std::uint32_t>>>;

/// std::max and std::min without <algorithm> (see detail/sorting.hpp).
template <integer I>
[[nodiscard]] constexpr I larger(I a, I b) noexcept
{
    return a < b ? b : a;
}
template <integer I>
[[nodiscard]] constexpr I smaller(I a, I b) noexcept
{
    return b < a ? b : a;
}

/// Whether a + b is a quantity, that is, below 2^64 - 1.
[[nodiscard]] constexpr bool sum_fits(byte_count a, byte_count b) noexcept { return b < no_size - a; }

} // namespace detail

/// The sum.
///
/// Throws: precondition_error if the result reaches 2^64 - 1.
[[nodiscard]] constexpr byte_count checked_add(byte_count a, byte_count b)
{
    SUBLET_EXPECTS(detail::sum_fits(a, b), "sublet: the sum of the sizes % and % exceeds 64 bits", a, b);
    return a + b;
}

/// The product.
///
/// Throws: precondition_error if the result reaches 2^64 - 1.
[[nodiscard]] constexpr byte_count checked_multiply(byte_count a, byte_count b)
{
    SUBLET_EXPECTS(b == 0 || a <= (no_size - 1) / b,
                   "sublet: the product of the sizes % and % exceeds 64 bits", a, b);
    return a * b;
}

/// The smallest multiple of `alignment` that is not below `offset`, or `no_offset` if it exceeds 64 bits.
/// Requires: alignment >= 1; it need not be a power of two.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, byte_count alignment) noexcept
{
    byte_count const past = offset % alignment;
    if (past == 0) return offset;
    return detail::sum_fits(offset, alignment - past) ? offset + (alignment - past) : no_offset;
}

namespace detail {

/// Requires: a >= 1 and b >= 1.
/// Throws:   precondition_error if the least common multiple exceeds 64 bits.
[[nodiscard]] constexpr byte_count combine_alignment(byte_count a, byte_count b)
{
    if (a == b && a != no_size) return a;
    byte_count x = a, y = b;
    while (y != 0) {
        byte_count const rest = x % y;
        x = y;
        y = rest;
    }
    return checked_multiply(a / x, b);
}

} // namespace detail

// --- live range ------------------------------------------------------------------------------------------

/// The positions at which a value occupies its storage, half-open: [first, last).
///
///     position   0   1   2   3   4
///     x = ...    [===========)            x: [0, 3)    last touched at 2
///     y = ...                [===)        y: [3, 4)    never touched again; may use the storage of x

struct live_range {
    step_id first = 0; ///< the first position in it
    step_id last = 0;  ///< the position after the last one in it

    friend constexpr bool operator==(live_range, live_range) = default;

    /// No position is in it.
    [[nodiscard]] friend constexpr bool is_empty(live_range r) noexcept { return r.first >= r.last; }
    /// How many positions are in it.
    [[nodiscard]] friend constexpr step_id length(live_range r) noexcept
    {
        return is_empty(r) ? 0 : r.last - r.first;
    }
    /// The position is in it.
    [[nodiscard]] friend constexpr bool contains(live_range r, step_id position) noexcept
    {
        return r.first <= position && position < r.last;
    }

    /// Some position is in both; an empty range overlaps none.
    [[nodiscard]] friend constexpr bool overlaps(live_range a, live_range b) noexcept
    {
        return a.first < b.last && b.first < a.last && !is_empty(a) && !is_empty(b);
    }

    /// The shortest range that covers both; an empty one adds nothing.
    [[nodiscard]] friend constexpr live_range hull(live_range a, live_range b) noexcept
    {
        if (is_empty(a)) return b;
        if (is_empty(b)) return a;
        return {a.first < b.first ? a.first : b.first, a.last < b.last ? b.last : a.last};
    }
};

namespace detail {

/// The next `more` elements are appended without an allocation. Amortized O(1) for each, as push_back().
template <class T>
void reserve_more(std::vector<T>& list, std::size_t more = 1)
{
    if (list.capacity() - list.size() >= more) return;
    list.reserve(larger(2 * list.capacity(), list.size() + more));
}

/// The live range of each value or buffer, by dense index.
///
/// Semantics:     the same index always yields the same range, with first <= last.
/// Minimal model: archetype::lives.   Ordinary model: [&](auto v) { return ranges[v]; }
template <class F>
concept live_range_function = std::invocable<F&, std::uint32_t> &&
                              std::convertible_to<std::invoke_result_t<F&, std::uint32_t>, live_range>;

// --- live range lists ------------------------------------------------------------------------------------

/// The live ranges of every value, possibly several per value, with holes between them.
///
///     position   0   1   2   3   4   5   6
///     a          [===)       [===========)       a: [0, 1), [3, 6)
///     b              [=======)                   b: [1, 3)            fits into the hole of a
///
/// Straight-line code has no holes; branches have, because one alternative is laid out after the other.

/// Requires:   both lists ascend, and the ranges within a list do not overlap.
/// Complexity: O(ranges).
[[nodiscard]] constexpr bool overlaps(std::span<live_range const> a, std::span<live_range const> b) noexcept
{
    for (std::size_t i = 0, j = 0; i != a.size() && j != b.size();) {
        if (overlaps(a[i], b[j])) return true;
        if (a[i].last <= b[j].last) ++i;
        else ++j;
    }
    return false;
}

} // namespace detail

/// By value; the ranges of a value ascend, are not empty, and neither overlap nor touch.
class live_range_lists {
public:
    /// How the ranges are computed; the result is the same.
    enum class source : std::uint8_t {
        automatic,     ///< one_pass if it applies and few values live at jumps, otherwise from_liveness
        from_liveness, ///< by liveness at node ends: any program, any order
        one_pass ///< without liveness: strict SSA, reducible loops, an order that keeps loops contiguous
    };

    live_range_lists() = default;
    /// The ranges of value v are `ranges[first[v]] .. ranges[first[v + 1]]`.
    live_range_lists(live_range_lists::source method, step_id positions, std::vector<std::uint32_t> first,
                     std::vector<live_range> ranges);
    /// The method used, never `automatic`.
    [[nodiscard]] live_range_lists::source method() const { return method_; }

    /// How many values it has ranges of, with and without any.
    [[nodiscard]] std::size_t values() const { return first_.size() - 1; }
    /// How many positions the order has.
    [[nodiscard]] step_id positions() const { return positions_; }
    /// How many ranges all values have.
    [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

    /// The ranges of v, ascending; none if v is live nowhere.
    [[nodiscard]] std::span<live_range const> operator[](value_id v) const
    {
        return {ranges_.data() + first_[v], ranges_.data() + first_[v + 1]};
    }
    /// The hull of all ranges of v; empty if v has none.
    [[nodiscard]] live_range hull(value_id v) const
    {
        auto const mine = (*this)[v];
        return mine.empty() ? live_range{} : live_range{mine.front().first, mine.back().last};
    }

    /// The most values alive at one position.  O(ranges + positions)
    [[nodiscard]] std::size_t max_live() const { return max_overlap(ranges_, positions_); }

    /// Compares the ranges, not the method.
    friend bool operator==(live_range_lists const& a, live_range_lists const& b)
    {
        return a.positions_ == b.positions_ && a.first_ == b.first_ && a.ranges_ == b.ranges_;
    }

private:
    static std::size_t max_overlap(std::vector<live_range> const& ranges, step_id positions);

    live_range_lists::source method_ = live_range_lists::source::from_liveness;
    step_id positions_ = 0;
    std::vector<std::uint32_t> first_{0};
    std::vector<live_range> ranges_;
};

namespace detail {

/// Collects the ranges of every value from last to first, and merges ranges that touch.
class range_collector {
public:
    explicit range_collector(std::size_t values) : first_(values, none) {}

    /// Requires:   no earlier added range of v begins before this one. An empty range is ignored.
    /// Complexity: O(1), amortised.
    void add(value_id v, live_range range);

    /// Complexity: O(values + calls of add).
    /// Throws:     precondition_error if there are 2^32 - 1 ranges or more.
    [[nodiscard]] live_range_lists lists(live_range_lists::source method, step_id positions) const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct linked {
        live_range range;
        std::uint32_t next; // of the same value
    };
    std::vector<std::uint32_t> first_; // by value
    std::vector<linked> found_;
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/units.ipp>
#endif

#endif
