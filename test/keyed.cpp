// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/sorting.hpp>

#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace this_test {

using sublet::detail::falling;
using sublet::detail::keyed;

TEST_CASE("ids are sorted by key, then by tie, then by themselves")
{
    std::vector<keyed> items{{2, 0, 0}, {1, 5, 1}, {1, 4, 3}, {1, 4, 2}};
    sort_keyed(items);
    std::vector<std::uint32_t> who;
    for (keyed const& k : items) who.push_back(k.who);
    CHECK(who == std::vector<std::uint32_t>{2, 3, 1, 0});
}

TEST_CASE("a falling key sorts the largest first, up to the last of 64 bits")
{
    std::vector<keyed> items{{falling(7), 0, 0}, {falling(~std::uint64_t{0}), 0, 1}, {falling(0), 0, 2}};
    sort_keyed(items);
    CHECK(items[0].who == 1);
    CHECK(items[1].who == 0);
    CHECK(items[2].who == 2);
}

TEST_CASE("nothing is sorted too, and random keys leave nobody behind a smaller one")
{
    std::vector<keyed> none;
    sort_keyed(none);
    CHECK(none.empty());
    std::mt19937 pick{3};
    std::vector<keyed> items;
    for (std::uint32_t i = 0; i != 1000; ++i) items.push_back({pick() % 7, pick() % 5, i});
    sort_keyed(items);
    for (std::size_t i = 1; i != items.size(); ++i) {
        CHECK(items[i - 1] < items[i]);
        CHECK(!(items[i] < items[i - 1]));
    }
}

} // namespace this_test
