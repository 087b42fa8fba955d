// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SEARCH_ORDERS_HPP
#define SUBLET_PLACEMENT_SEARCH_ORDERS_HPP

/// Which shape a search decides about next: a rule for where, and keys for who is first there.
///
///     W:TWA    W  in the section that failed most     T  the most bytes of a section that it is in
///     S:TWA    S  in the one with the least slack     W  its width: how long it lives
///     L:TZW    L  anywhere, as low as possible        A  its area    Z  its size
///
/// No order is good for all problems, so there are several (portfolio.hpp); those that a search is given
/// first are few that do well on problems of very different kinds, the others are drawn. Among equally low
/// shapes it mostly pays to take first what has failed most often: Boussemart, Hemery, Lecoutre and Sais,
/// "Boosting systematic search by weighting constraints", ECAI 2004.

#include <sublet/keyed.hpp>
#include <sublet/placement/sections.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Of the sections with the lowest floor: the heaviest, by how often it had too little room, then the one
/// with the least slack; or the one with the least slack; or no section, just the lowest shape.
enum class search_rule : std::uint8_t { weight, slack, lowest };

/// Which shape of a section comes first, if several are equally low; the largest first.
enum class search_key : std::uint8_t { total, width, area, size };

struct search_order {
    search_rule rule;
    search_key keys[3];
    bool by_failures; ///< before the keys: who had part in more conflicts so far
};

/// The shapes by three keys, then by number.  O(n log n + sections they are in)
template <class Number>
[[nodiscard]] std::vector<std::uint32_t> rank_by(search_order const& order,
                                                 search_problem<Number> const& problem)
{
    std::uint32_t const n = problem.shapes;
    auto key = [&](search_key which, std::uint32_t k) {
        std::uint64_t value = 0;
        switch (which) {
        case search_key::total:
            for (auto const& p : problem.spans_of(k))
                for (std::uint32_t s = p.first; s != p.last; ++s)
                    value = larger(value, static_cast<std::uint64_t>(problem.load[s]));
            break;
        case search_key::width: value = problem.length[k]; break;
        case search_key::area:
            // The order of numbers that are not negative is that of their bits.
            value = std::bit_cast<std::uint64_t>(static_cast<double>(problem.length[k]) *
                                                 static_cast<double>(problem.size[k]));
            break;
        case search_key::size: value = problem.size[k]; break;
        }
        return falling(value);
    };
    std::vector<keyed> offers(n);
    std::vector<std::uint32_t> last(n), ranked(n);
    for (std::uint32_t k = 0; k != n; ++k) offers[k] = {key(order.keys[2], k), 0, k};
    sort_keyed(offers);
    for (std::uint32_t i = 0; i != n; ++i) last[i] = offers[i].who;
    for (std::uint32_t i = 0; i != n; ++i)
        offers[i] = {key(order.keys[0], last[i]), key(order.keys[1], last[i]), i};
    sort_keyed(offers);
    for (std::uint32_t i = 0; i != n; ++i) ranked[i] = last[offers[i].who];
    return ranked;
}

inline constexpr search_order search_orders[] = {
    {search_rule::lowest, {search_key::total, search_key::width, search_key::area}, true},
    {search_rule::weight, {search_key::total, search_key::width, search_key::area}, false},
    {search_rule::weight, {search_key::total, search_key::size, search_key::width}, true},
    {search_rule::lowest, {search_key::total, search_key::size, search_key::width}, true},
    {search_rule::weight, {search_key::width, search_key::area, search_key::total}, true},
};
inline constexpr std::size_t fixed_orders = sizeof search_orders / sizeof *search_orders;
inline constexpr std::size_t drawn_orders = 2;
inline constexpr std::uint32_t first_lap_drawn = 2;

/// Any rule, and three of the four keys in any order; the same for equal numbers.
[[nodiscard]] constexpr search_order draw_order(std::uint64_t seed, std::uint32_t lap, std::size_t which)
{
    std::uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15u + lap * drawn_orders + which;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u; // splitmix64, Steele, Lea and Flood, OOPSLA 2014
    bits = (bits ^ bits >> 32) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    auto below = [&](std::uint64_t n) {
        std::uint64_t const drawn = bits % n;
        bits /= n;
        return drawn;
    };
    search_order order{static_cast<search_rule>(below(3)), {}, below(4) != 0};
    search_key keys[] = {search_key::total, search_key::width, search_key::area, search_key::size};
    for (std::size_t i = 0; i != 3; ++i) {
        std::size_t const other = i + below(4 - i);
        order.keys[i] = keys[other];
        keys[other] = keys[i];
    }
    return order;
}

} // namespace sublet

#endif
