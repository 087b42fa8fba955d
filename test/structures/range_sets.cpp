// SPDX-License-Identifier: BSL-1.0
#include <sublet/structures/internal/range_sets.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using ranges = std::vector<live_range>;

static ranges listed(detail::range_sets const& sets, std::size_t owner)
{
    return {sets[owner].begin(), sets[owner].end()};
}

TEST_CASE("an appended range is merged with those that it touches")
{
    ranges r;
    for (live_range next : {live_range{1, 3}, {3, 5}, {5, 5}, {4, 5}, {6, 7}, {6, 9}})
        detail::push_range(r, next);
    CHECK(r == ranges{{1, 5}, {6, 9}});
    ranges const more{{8, 10}, {11, 12}};
    detail::push_ranges(r, more);
    CHECK(r == ranges{{1, 5}, {6, 10}, {11, 12}});
}

TEST_CASE("sets beyond the budget merge their last ranges, and give the position from which they are inexact")
{
    detail::range_sets sets(2, 12);
    sets.assign(0, ranges{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}, no_position);
    CHECK(!sets.is_coarsened());
    CHECK(sets.exact_until(0) == no_position);
    sets.assign(1, ranges{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}, no_position);
    REQUIRE(sets.is_coarsened());
    CHECK(listed(sets, 0) == ranges{{0, 1}, {2, 3}, {4, 9}});
    CHECK(sets.exact_until(0) == 5);
    sets.assign(1, ranges{{0, 1}}, 3);
    CHECK(sets.exact_until(1) == 3);
    sets.assign(1, ranges{}, no_position);
    CHECK(sets[1].empty());
    CHECK(sets.exact_until(1) == no_position);
}

TEST_CASE("one range per set is kept with any budget")
{
    detail::range_sets sets(100, 1);
    for (position_id i = 0; i != 100; ++i) sets.assign(i, ranges{{i, i + 1}, {i + 2, i + 3}}, no_position);
    for (position_id i = 0; i != 100; ++i) {
        CHECK(sets[i].front().first == i);
        CHECK(sets[i].back().last == i + 3);
    }
}

TEST_CASE("gaps are filled, and memory is bounded")
{
    detail::range_sets sets(1000, 100'000);
    std::vector<live_range> const wide{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    for (std::size_t i = 0; i != 100'000; ++i) {
        sets.assign(i % 1000, wide, no_position);
        if (i >= 10) sets.erase((i - 10) % 1000);
    }
    CHECK(sets.capacity() < 5000);
    ranges wider;
    for (position_id i = 0; i != 500; ++i) wider.push_back({2 * i, 2 * i + 1});
    for (std::size_t i = 0; i != 1000; ++i) sets.assign(i, wider, no_position);
    CHECK(sets.is_coarsened());
    CHECK(sets.capacity() > 50'000);
    CHECK(sets.capacity() < 110'000);
}

TEST_CASE("sets are exact, or supersets from the position where they were coarsened")
{
    int coarser = 0;
    for (std::uint32_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const owners = 1 + pick.below(40);
        bool const is_tight = seed % 2 == 1;
        detail::range_sets sets(owners, is_tight ? 10 + pick.below(owners) : 1'000'000);
        std::vector<ranges> wanted(owners);
        for (int i = 0; i != 3000; ++i) {
            std::size_t const owner = pick.below(owners);
            ranges now;
            for (position_id at = pick.below(9), n = pick.below(20); n != 0; --n) {
                position_id const last = at + 1 + pick.below(5);
                now.push_back({at, last});
                at = last + 1 + pick.below(5);
            }
            if (pick.below(3) == 0) {
                sets.erase(owner);
                wanted[owner].clear();
            } else {
                sets.assign(owner, now, no_position);
                wanted[owner] = now;
            }
        }
        coarser += sets.is_coarsened();
        if (!is_tight) CHECK(!sets.is_coarsened());
        for (std::size_t owner = 0; owner != owners; ++owner) {
            ranges const own = listed(sets, owner);
            if (sets.exact_until(owner) == no_position) REQUIRE(own == wanted[owner]);
            for (position_id p = 0; p != 300; ++p) {
                auto holds = [p](ranges const& all) {
                    for (live_range r : all)
                        if (contains(r, p)) return true;
                    return false;
                };
                if (p < sets.exact_until(owner)) REQUIRE(holds(own) == holds(wanted[owner]));
                else REQUIRE((holds(own) || !holds(wanted[owner])));
            }
        }
    }
    CHECK(coarser >= 29);
}

} // namespace this_test
