// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_LIVE_RANGE_HPP
#define SUBLET_LIVE_RANGE_HPP

/// The positions at which a value occupies its storage, half-open: [first, last).
///
///     position   0   1   2   3   4
///     x = ...    [===========)            x: [0, 3)    last touched at 2
///     y = ...                [===)        y: [3, 4)    never touched again; may lie where x was
///
/// Half-open, because then a range that ends where another begins does not meet it, lengths are
/// differences, and "empty" needs no special number.

#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace sublet {

struct live_range {
    step_id first = 0;
    step_id last = 0;

    friend constexpr bool operator==(live_range, live_range) = default;
};

[[nodiscard]] constexpr bool is_empty(live_range r) noexcept { return r.first >= r.last; }
[[nodiscard]] constexpr step_id length(live_range r) noexcept { return is_empty(r) ? 0 : r.last - r.first; }
[[nodiscard]] constexpr bool contains(live_range r, step_id position) noexcept
{
    return r.first <= position && position < r.last;
}

/// Two ranges share a position. An empty range shares none.
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

/// From a dense index to the live range of that value or buffer.
///
/// Semantics:     the same index always yields the same range, with first <= last.
/// Poorest model: archetype::lives.   Ordinary model: [&](auto v) { return ranges[v]; }
template <class F>
concept live_range_function = std::invocable<F&, std::uint32_t> &&
                              std::convertible_to<std::invoke_result_t<F&, std::uint32_t>, live_range>;

} // namespace sublet

#endif
