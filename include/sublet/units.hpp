// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_UNITS_HPP
#define SUBLET_UNITS_HPP

/// The quantities that everything is counted in, live ranges, and what happens when a promise is broken.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- contract --------------------------------------------------------------------------------------------

/// What happens when a caller breaks a promise that no compiler can check: one sentence that says which.
///
///     SUBLET_EXPECTS(alignment >= 1, "sublet: an alignment is at least 1");
///
/// This is the second of the library's three doors for failure. The first is a concept error (a wrong
/// type), the third is a returned value (a fact about the data, with a witness): neither throws.

namespace sublet {

/// The one exception of the library's own. It carries a literal, so that throwing it allocates nothing
/// beyond the exception itself and including it does not pull in `std::string`.
class precondition_error : public std::exception {
public:
    explicit precondition_error(char const* sentence) noexcept : sentence_(sentence) {}
    char const* what() const noexcept override { return sentence_; }

private:
    char const* sentence_;
};

namespace detail {

/// Throw the sentence; without exceptions print it and abort.
///
/// Which of the two is decided where the library is compiled: in every file that includes it, or once for
/// sublet::compiled. Files of one program that differ in exceptions, sanitizers or the like have to use the
/// latter: inline functions compiled in two ways are one function to the linker, which keeps either.
[[noreturn]] void broken_precondition(char const* sentence);

} // namespace detail
} // namespace sublet

#define SUBLET_EXPECTS(condition, sentence)                                                                  \
    ((condition) ? void(0) : ::sublet::detail::broken_precondition(sentence))

// --- units -----------------------------------------------------------------------------------------------

/// The quantities that everything here is counted in: ids of 32 bits, bytes of 64 bits.
///
///     node 7, value 3, step 12      dense numbers from 0, so a table is indexed by them
///     1 500 000 000 bytes           a byte_count; it never wraps round
///
/// The largest number of each type is not a quantity: it says "none" (`no_value`, `no_offset`) or
/// "not known" (`no_size`). Sizes come from users and from files, so every sum and every product of
/// them goes through the checked functions below.

namespace sublet {

using node_id = std::uint32_t;   ///< a node of the program's graph: an operation or a basic block
using value_id = std::uint32_t;  ///< what a step defines and others use
using step_id = std::uint32_t;   ///< one operation, or its position in the order that is used
using buffer_id = std::uint32_t; ///< a class of values that are the same bytes
using slot_id = std::uint32_t;   ///< storage that several buffers occupy in turn, without an address
using pool_id = std::uint32_t;   ///< a kind of memory
using byte_count = std::uint64_t;
using tick_count = std::uint64_t; ///< time, in whatever unit durations are given

inline constexpr node_id no_node = ~node_id{0};
inline constexpr value_id no_value = ~value_id{0};
inline constexpr step_id no_step = ~step_id{0};
inline constexpr buffer_id no_buffer = ~buffer_id{0};
inline constexpr slot_id no_slot = ~slot_id{0};
inline constexpr byte_count no_offset = ~byte_count{0}; ///< not in an arena
inline constexpr byte_count no_size = ~byte_count{0};   ///< the size is not known
inline constexpr byte_count no_limit = ~byte_count{0};  ///< the capacity of a pool that has none

namespace detail {

/// An integer that is meant as a number, not as a truth value or a character.
template <class I>
concept integer = std::integral<I> && !
std::same_as<I, bool> && !std::same_as<I, char> && !std::same_as<I, wchar_t> && !std::same_as<I, char8_t> &&
    !std::same_as<I, char16_t> && !std::same_as<I, char32_t>;

/// An integer, or what turns into one by itself: an unscoped enum, an id type with a conversion, a proxy.
/// `+` finds out which integer that is, so that none is cut down to 32 bits unseen.
template <class N>
concept integer_like = integer<N> ||
                       (!std::is_arithmetic_v<N> && requires(N const& n) { requires integer<decltype(+n)>; });

/// A user's integer as an id. -1 of a signed type, or of a 64-bit one, is how much of the world writes
/// "none": it becomes `no_value` (which is also `no_node`, `no_buffer` ...).
///
/// Ensures: an id of ours, `no_value` too, comes back from any wider type as it was.
/// Throws:  precondition_error for any other negative number, and for one that needs more than 32 bits.
template <detail::integer I>
[[nodiscard]] constexpr std::uint32_t to_id(I number)
{
    if constexpr (std::signed_integral<I>) {
        if (number == I(-1)) return no_value;
        SUBLET_EXPECTS(number >= 0, "sublet: an id is negative (only -1 has a meaning: none)");
    }
    if constexpr (sizeof(I) > 4)
        SUBLET_EXPECTS(number <= I{no_value} || number == I(-1), "sublet: an id does not fit 32 bits");
    return static_cast<std::uint32_t>(number);
}

} // namespace detail

namespace detail {

/// The one place where a user's callable is called with an id of ours: its parameter may well be an `int`,
/// and the narrowing is then ours to answer for (ids that a user's int cannot hold are ids it never gave).
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

/// A user's integer as a number of bytes.
/// Throws: precondition_error for a negative one.
template <detail::integer_like N>
[[nodiscard]] constexpr byte_count to_byte_count(N const& number)
{
    auto const count = +number;
    if constexpr (std::signed_integral<decltype(+number)>)
        SUBLET_EXPECTS(count >= 0, "sublet: a size is negative");
    return static_cast<byte_count>(count);
}

/// From a dense index to the size of that value or buffer.
///
/// Semantics:     the same index always yields the same size, never a negative one.
/// Poorest model: archetype::sizes.   Ordinary model: [&](auto v) { return bytes[v]; }
template <class F>
concept size_function = std::invocable<F&, std::uint32_t> &&
                        integer_like<std::remove_cvref_t<std::invoke_result_t<F&, std::uint32_t>>>;

/// As std::max and std::min, but without <algorithm>: detail/sorting.hpp says why.
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

/// Throws: precondition_error if the result reaches 2^64 - 1.
[[nodiscard]] constexpr byte_count checked_add(byte_count a, byte_count b)
{
    SUBLET_EXPECTS(detail::sum_fits(a, b), "sublet: a sum of sizes exceeds 64 bits");
    return a + b;
}

/// Throws: precondition_error if the result reaches 2^64 - 1.
[[nodiscard]] constexpr byte_count checked_multiply(byte_count a, byte_count b)
{
    SUBLET_EXPECTS(b == 0 || a <= (no_size - 1) / b, "sublet: a product of sizes exceeds 64 bits");
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

/// The alignment that satisfies both.
/// Requires: a >= 1 and b >= 1.
/// Throws:   precondition_error if the least common multiple exceeds 64 bits.
[[nodiscard]] constexpr byte_count combine_alignment(byte_count a, byte_count b)
{
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
///     y = ...                [===)        y: [3, 4)    never touched again; may lie where x was
///
/// Half-open, because then a range that ends where another begins does not meet it, lengths are
/// differences, and "empty" needs no special number.

struct live_range {
    step_id first = 0;
    step_id last = 0;

    friend constexpr bool operator==(live_range, live_range) = default;

    [[nodiscard]] friend constexpr bool is_empty(live_range r) noexcept { return r.first >= r.last; }
    [[nodiscard]] friend constexpr step_id length(live_range r) noexcept
    {
        return is_empty(r) ? 0 : r.last - r.first;
    }
    [[nodiscard]] friend constexpr bool contains(live_range r, step_id position) noexcept
    {
        return r.first <= position && position < r.last;
    }

    /// Two ranges share a position. An empty range shares none.
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

/// From a dense index to the live range of that value or buffer.
///
/// Semantics:     the same index always yields the same range, with first <= last.
/// Poorest model: archetype::lives.   Ordinary model: [&](auto v) { return ranges[v]; }
template <class F>
concept live_range_function = std::invocable<F&, std::uint32_t> &&
                              std::convertible_to<std::invoke_result_t<F&, std::uint32_t>, live_range>;

// --- live range lists ------------------------------------------------------------------------------------

/// The live ranges of every value, where a value may have several: with holes in between.
///
///     position   0   1   2   3   4   5   6
///     a          [===)       [===========)       a: [0, 1), [3, 6)
///     b              [=======)                   b: [1, 3)            fits into the hole of a
///
/// Straight-line code has no holes; branches have, for one of two ways is laid out after the other.

/// Some range of the one list meets some range of the other.
///
/// Requires:   both ascend, and the ranges of a list do not overlap each other.
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

/// By value; those of a value ascend, are not empty, and neither overlap nor touch each other.
class live_range_lists {
public:
    /// How live ranges with holes are found. The ranges are the same.
    enum class source : std::uint8_t {
        automatic,     ///< one_pass where it is allowed, otherwise from_liveness
        from_liveness, ///< solve for what is alive at the ends of the nodes first: any program, any order
        one_pass ///< without: strict SSA without irreducible loops, in an order that keeps loops together
    };

    live_range_lists() = default;
    /// Made by `live_intervals`. Those of value v are `ranges[first[v]] .. ranges[first[v + 1]]`.
    live_range_lists(live_range_lists::source method, step_id positions, std::vector<std::uint32_t> first,
                     std::vector<live_range> ranges);
    /// Which one was taken, never `automatic`.
    [[nodiscard]] live_range_lists::source method() const { return method_; }

    [[nodiscard]] std::size_t values() const { return first_.size() - 1; }
    [[nodiscard]] step_id positions() const { return positions_; }
    /// Of all values together.
    [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

    [[nodiscard]] std::span<live_range const> operator[](value_id v) const
    {
        return {ranges_.data() + first_[v], ranges_.data() + first_[v + 1]};
    }
    /// One range around them all; empty if there is none.
    [[nodiscard]] live_range hull(value_id v) const
    {
        auto const mine = (*this)[v];
        return mine.empty() ? live_range{} : live_range{mine.front().first, mine.back().last};
    }

    /// The most values alive at one position.  O(ranges + positions)
    [[nodiscard]] std::size_t max_live() const { return max_overlap(ranges_, positions_); }

    /// The same ranges, however found.
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

/// Collects the ranges of every value from the last to the first. A new one swallows those that it touches.
class range_collector {
public:
    explicit range_collector(std::size_t values) : first_(values, none) {}

    /// Requires:   no range of v that was added begins before this one. An empty one says nothing.
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
