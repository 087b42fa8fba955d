// SPDX-License-Identifier: BSL-1.0
#include <sublet/units.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ranges = std::vector<live_range>;

ranges listed(std::span<live_range const> list) { return ranges(list.begin(), list.end()); }

} // namespace

TEST_CASE("a value that lives in a hole of another does not meet it")
{
    ranges const a = {{0, 1}, {3, 6}}, b = {{1, 3}};
    CHECK_FALSE(overlaps(a, b));
    CHECK_FALSE(overlaps(b, a));
    CHECK(overlaps(a, ranges{{1, 4}}));
    CHECK(overlaps(a, a));
    CHECK_FALSE(overlaps(a, ranges{}));
    CHECK_FALSE(overlaps(a, ranges{{4, 4}}));
}

TEST_CASE("random lists of ranges meet where some position is in both")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        ranges list[2];
        std::vector<int> covers(20);
        for (ranges& mine : list) {
            step_id at = pick.below(8);
            for (std::uint32_t k = pick.below(4); k != 0; --k) {
                step_id const first = at + pick.below(3), last = first + pick.below(3);
                mine.push_back({first, last});
                for (step_id s = first; s != last; ++s) ++covers[s];
                at = last;
            }
        }
        CHECK(overlaps(list[0], list[1]) == (std::count(covers.begin(), covers.end(), 2) != 0));
    }
}

TEST_CASE("lists say what they are of, what is around them, and how many values are alive at once")
{
    live_range_lists const lists(live_range_lists::source::one_pass, 6, {0, 2, 2, 3},
                                 {{0, 1}, {3, 6}, {1, 4}});
    CHECK(lists.values() == 3);
    CHECK(lists.positions() == 6);
    CHECK(lists.ranges() == 3);
    CHECK(lists.method() == live_range_lists::source::one_pass);
    CHECK(listed(lists[0]) == ranges{{0, 1}, {3, 6}});
    CHECK(listed(lists[1]) == ranges{});
    CHECK(lists.hull(0) == live_range{0, 6});
    CHECK(is_empty(lists.hull(1)));
    CHECK(lists.max_live() == 2);
    CHECK(lists == live_range_lists(live_range_lists::source::from_liveness, 6, {0, 2, 2, 3},
                                    {{0, 1}, {3, 6}, {1, 4}}));
    CHECK_FALSE(lists == live_range_lists(live_range_lists::source::one_pass, 7, {0, 2, 2, 3},
                                          {{0, 1}, {3, 6}, {1, 4}}));
}

TEST_CASE("no lists are of nothing")
{
    CHECK(live_range_lists().values() == 0);
    CHECK(live_range_lists().max_live() == 0);
}

TEST_CASE("ranges found from the last to the first become one where they touch, however many")
{
    detail::range_collector found(2);
    found.add(0, {8, 9});
    found.add(0, {5, 6});
    found.add(1, {5, 5}); // nothing
    found.add(0, {3, 4});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{3, 4}, {5, 6}, {8, 9}});
    found.add(0, {2, 3});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{2, 4}, {5, 6}, {8, 9}});
    found.add(0, {1, 5});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{1, 6}, {8, 9}});
    found.add(0, {0, 9});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{0, 9}});
    CHECK(found.lists(live_range_lists::source::one_pass, 9)[1].empty());
}

} // namespace this_test
