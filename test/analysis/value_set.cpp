// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/bit_rows.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>

namespace this_test {

using namespace sublet;
using detail::value_set;

TEST_CASE("who comes is listed once, and who goes no more")
{
    value_set alive(3);
    CHECK(alive.list().empty());
    alive.insert(2);
    alive.insert(0);
    alive.insert(2);
    CHECK(alive.list().size() == 2);
    CHECK(alive.contains(0));
    CHECK_FALSE(alive.contains(1));
    CHECK(alive.erase(2));
    CHECK_FALSE(alive.erase(2));
    CHECK_FALSE(alive.erase(1));
    REQUIRE(alive.list().size() == 1);
    CHECK(alive.list().front() == 0);
}

TEST_CASE("there may be no values")
{
    value_set nobody(0);
    nobody.clear();
    CHECK(nobody.list().empty());
}

TEST_CASE("whatever comes, goes and is cleared, it is a set")
{
    dice pick{std::mt19937{1}};
    value_set alive(40);
    std::set<value_id> expected;
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        value_id const v = pick.below(40);
        std::uint32_t const what = pick.below(50);
        if (what == 0) {
            alive.clear();
            expected.clear();
        } else if (what < 26) {
            alive.insert(v);
            expected.insert(v);
        } else {
            REQUIRE(alive.erase(v) == (expected.erase(v) != 0));
        }
        REQUIRE(alive.list().size() == expected.size());
        for (value_id w : alive.list()) REQUIRE(expected.count(w) == 1);
        for (value_id w = 0; w != 40; ++w) REQUIRE(alive.contains(w) == (expected.count(w) != 0));
    }
}

} // namespace this_test
