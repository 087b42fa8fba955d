// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_UNITS_HPP
#define SUBLET_CORE_UNITS_HPP

/// Byte counts of 64 bits with checked sums and products, and half-open live ranges. Two lists of live ranges
/// are tested for overlap in O(ranges).

#include <sublet/core/errors.hpp>
#include <sublet/core/ids.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- units -----------------------------------------------------------------------------------------------

/// Byte counts of 64 bits.
///
///     1 500 000 000 bytes           never wraps round
///
/// The largest number of each type means "none" (`no_offset`) or "unknown" (`no_size`).

namespace sublet {

using byte_count = std::uint64_t; ///< a size or an offset in bytes

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

/// std::max and std::min without <algorithm>, which public headers do not include (detail/sorting.hpp says
/// why).
template <class N>
    requires(integer<N> || is_id<N>)
[[nodiscard]] constexpr N larger(N a, N b) noexcept
{
    return a < b ? b : a;
}
template <class N>
    requires(integer<N> || is_id<N>)
[[nodiscard]] constexpr N smaller(N a, N b) noexcept
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
    position_id first = 0; ///< the first position in it
    position_id last = 0;  ///< the position after the last one in it

    friend constexpr bool operator==(live_range, live_range) = default;

    /// No position is in it.
    [[nodiscard]] friend constexpr bool is_empty(live_range r) noexcept { return r.first >= r.last; }
    /// How many positions are in it.
    [[nodiscard]] friend constexpr std::uint32_t length(live_range r) noexcept
    {
        return is_empty(r) ? 0 : r.last - r.first;
    }
    /// The position is in it.
    [[nodiscard]] friend constexpr bool contains(live_range r, position_id position) noexcept
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

/// Keeps the first `size` elements.
/// Requires: there are as many.
template <class T>
void shorten(std::vector<T>& list, std::size_t size) noexcept
{
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
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
    live_range_lists(live_range_lists::source method, std::uint32_t positions,
                     std::vector<std::uint32_t> first, std::vector<live_range> ranges);
    /// The method used, never `automatic`.
    [[nodiscard]] live_range_lists::source method() const { return method_; }

    /// How many values it has ranges of, with and without any.
    [[nodiscard]] std::size_t values() const { return first_.size() - 1; }
    /// How many positions the order has.
    [[nodiscard]] std::uint32_t positions() const { return positions_; }
    /// How many ranges all values have.
    [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

    /// The ranges of v, ascending; none if v is live nowhere.
    [[nodiscard]] std::span<live_range const> operator[](value_id v) const
    {
        std::size_t const i{v};
        return {ranges_.data() + first_[i], ranges_.data() + first_[i + 1]};
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
    static std::size_t max_overlap(std::vector<live_range> const& ranges, std::uint32_t positions);

    live_range_lists::source method_ = live_range_lists::source::from_liveness;
    std::uint32_t positions_ = 0;
    std::vector<std::uint32_t> first_{0};
    std::vector<live_range> ranges_;
};

namespace detail {

/// The same by buffer.
class buffer_range_lists : public live_range_lists {
public:
    using live_range_lists::live_range_lists;
    buffer_range_lists() = default;
    /// Takes lists of which the numbers are those of buffers.
    explicit buffer_range_lists(live_range_lists lists) : live_range_lists(std::move(lists)) {}
    [[nodiscard]] std::span<live_range const> operator[](buffer_id b) const
    {
        return live_range_lists::operator[](value_id::of(+b));
    }
    [[nodiscard]] live_range hull(buffer_id b) const { return live_range_lists::hull(value_id::of(+b)); }
};

/// Collects the ranges of every value from last to first, and merges ranges that touch.
class range_collector {
public:
    explicit range_collector(std::size_t values) : first_(values, none) {}

    /// Requires:   no earlier added range of v begins before this one. An empty range is ignored.
    /// Complexity: O(1), amortised.
    void add(value_id v, live_range range);

    /// Complexity: O(values + calls of add).
    /// Throws:     precondition_error if there are 2^32 - 1 ranges or more.
    [[nodiscard]] live_range_lists lists(live_range_lists::source method, std::uint32_t positions) const;

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
#include <sublet/core/impl/units.ipp>
#endif

#endif
