// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/sorting.hpp>

#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a table is sorted, and equal items keep their order")
{
    std::vector<std::pair<int, char>> items{{7, 'a'}, {4, 'b'}, {7, 'c'}, {2, 'd'}, {4, 'e'}};
    sort_by(items, [](auto const& x, auto const& y) { return x.first < y.first; });
    CHECK(items == std::vector<std::pair<int, char>>{{2, 'd'}, {4, 'b'}, {4, 'e'}, {7, 'a'}, {7, 'c'}});
}

TEST_CASE("an empty table, one item and text are sorted, too")
{
    std::vector<int> none, one{3};
    sort_ascending(none);
    sort_ascending(one);
    CHECK(none.empty());
    CHECK(one == std::vector<int>{3});
    std::vector<std::string> names{"relu", "add", "conv", "add"};
    sort_ascending(names);
    CHECK(names == std::vector<std::string>{"add", "add", "conv", "relu"});
}

TEST_CASE("the first number for which a predicate holds is found, or that there is none")
{
    for (std::size_t count = 0; count != 20; ++count)
        for (std::size_t first = 0; first <= count; ++first) {
            CAPTURE(count);
            CAPTURE(first);
            CHECK(partition_point(count, [&](std::size_t i) { return i >= first; }) == first);
        }
    CHECK(partition_point(9, [](std::size_t i) {
              CHECK(i < 9); // never called with the count itself
              return false;
          }) == 9);
}

TEST_CASE("an item is found in an ascending table if it is listed")
{
    std::vector<int> const ascending{1, 3, 3, 8};
    for (int i = -1; i != 10; ++i) {
        CAPTURE(i);
        CHECK(is_listed(ascending, i) == (i == 1 || i == 3 || i == 8));
    }
    CHECK_FALSE(is_listed(std::vector<int>{}, 0));
}

TEST_CASE("tables of any length are sorted as by std::sort with the index as last key")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::vector<std::pair<std::uint32_t, std::size_t>> items(pick() % 70);
        for (std::size_t i = 0; i != items.size(); ++i) items[i] = {pick() % (1 + seed % 40), i};
        auto expected = items;
        std::sort(expected.begin(), expected.end());
        sort_by(items, [](auto const& a, auto const& b) { return a.first < b.first; });
        CHECK(items == expected);

        std::vector<std::uint32_t> keys;
        for (auto const& [key, place] : expected) keys.push_back(key);
        auto const key = static_cast<std::uint32_t>(pick() % 45);
        CHECK(is_listed(keys, key) == (std::count(keys.begin(), keys.end(), key) != 0));
        CHECK(partition_point(keys.size(), [&](std::size_t i) { return keys[i] >= key; }) ==
              static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()));
    }
}

// --- sort key ----------------------------------------------------------------------------------------------

using sublet::detail::descending;
using sublet::detail::sort_key;

TEST_CASE("ids are sorted by key, then by tie, then by id")
{
    std::vector<sort_key> items{{2, 0, 0}, {1, 5, 1}, {1, 4, 3}, {1, 4, 2}};
    sort_by_key(items);
    std::vector<std::uint32_t> id;
    for (sort_key const& k : items) id.push_back(k.id);
    CHECK(id == std::vector<std::uint32_t>{2, 3, 1, 0});
}

TEST_CASE("a descending key sorts the largest first, for all of 64 bits")
{
    std::vector<sort_key> items{
        {descending(7), 0, 0}, {descending(~std::uint64_t{0}), 0, 1}, {descending(0), 0, 2}};
    sort_by_key(items);
    CHECK(items[0].id == 1);
    CHECK(items[1].id == 0);
    CHECK(items[2].id == 2);
}

TEST_CASE("an empty table is sorted, and random keys are sorted ascending")
{
    std::vector<sort_key> none;
    sort_by_key(none);
    CHECK(none.empty());
    std::mt19937 pick{3};
    std::vector<sort_key> items;
    for (std::uint32_t i = 0; i != 1000; ++i) items.push_back({pick() % 7, pick() % 5, i});
    sort_by_key(items);
    for (std::size_t i = 1; i != items.size(); ++i) {
        CHECK(items[i - 1] < items[i]);
        CHECK(!(items[i] < items[i - 1]));
    }
}

TEST_CASE("any number of keys is sorted as std::sort does, whichever of their bytes differ")
{
    std::mt19937_64 pick{5};
    for (unsigned round = 0; round != rounds(400); ++round) {
        CAPTURE(round);
        std::size_t const n = pick() % (round % 4 == 0 ? 5000 : 600);
        auto few_bits = [&] { return ((std::uint64_t{1} << pick() % 12) - 1) << pick() % 64; };
        std::uint64_t const in_key = few_bits(), in_tie = round % 3 == 0 ? few_bits() : 0, same = pick();
        std::vector<sort_key> items;
        for (std::uint32_t i = 0; i != n; ++i)
            items.push_back({(pick() & in_key) | (same & ~in_key), pick() & in_tie, i});
        if (round % 2 == 0) std::shuffle(items.begin(), items.end(), pick);
        if (round % 5 == 0) std::sort(items.begin(), items.end());
        std::vector<sort_key> expected = items;
        std::sort(expected.begin(), expected.end());
        sort_by_key(items);
        for (std::size_t i = 0; i != n; ++i) {
            REQUIRE(items[i].id == expected[i].id);
            REQUIRE(items[i].key == expected[i].key);
            REQUIRE(items[i].tie == expected[i].tie);
        }
    }
}

} // namespace this_test
