// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_UNITS_HPP
#define SUBLET_CORE_UNITS_HPP

/// Byte counts of 64 bits with checked sums and products, half-open live ranges, and lists of them by value.

#include <sublet/core/errors.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/internal/arithmetic.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
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
};

/// No position is in it.
[[nodiscard]] constexpr bool is_empty(live_range r) noexcept { return r.first >= r.last; }
/// How many positions are in it.
[[nodiscard]] constexpr std::uint32_t length(live_range r) noexcept
{
    return is_empty(r) ? 0 : r.last - r.first;
}
/// The position is in it.
[[nodiscard]] constexpr bool contains(live_range r, position_id position) noexcept
{
    return r.first <= position && position < r.last;
}

/// Some position is in both; an empty range overlaps none.
[[nodiscard]] constexpr bool overlaps(live_range a, live_range b) noexcept
{
    return a.first < b.last && b.first < a.last && !is_empty(a) && !is_empty(b);
}

/// The shortest range that covers both; an empty one adds nothing.
[[nodiscard]] constexpr live_range hull(live_range a, live_range b) noexcept
{
    if (is_empty(a)) return b;
    if (is_empty(b)) return a;
    return {a.first < b.first ? a.first : b.first, a.last < b.last ? b.last : a.last};
}

// --- live range lists ------------------------------------------------------------------------------------

/// The live ranges of every value, possibly several per value, with holes between them.
///
///     position   0   1   2   3   4   5   6
///     a          [===)       [===========)       a: [0, 1), [3, 6)
///     b              [=======)                   b: [1, 3)            fits into the hole of a
///
/// Straight-line code has no holes; branches have, because one alternative is laid out after the other.

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

/// The same by buffer: list b is of buffer b.
class buffer_range_lists : public live_range_lists {
public:
    using live_range_lists::live_range_lists;
    buffer_range_lists() = default;
    /// Takes lists of which the numbers are those of buffers.
    explicit buffer_range_lists(live_range_lists ranges) : live_range_lists(std::move(ranges)) {}
    /// The ranges of b.
    [[nodiscard]] std::span<live_range const> operator[](buffer_id b) const
    {
        return live_range_lists::operator[](value_id::of(+b));
    }
    /// From the first begin to the last end of b.
    [[nodiscard]] live_range hull(buffer_id b) const { return live_range_lists::hull(value_id::of(+b)); }
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/units.ipp>
#endif

#endif
