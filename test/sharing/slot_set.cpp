// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/coloring.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <random>
#include <set>

namespace this_test {

using namespace sublet;
using detail::slot_set;

namespace {

slot_set of(std::initializer_list<slot_id> slots)
{
    slot_set result;
    for (slot_id s : slots) result.insert(s);
    return result;
}

} // namespace

TEST_CASE("the lowest free slot is the first gap, from where one asks")
{
    slot_set const taken = of({0, 1, 3});
    CHECK(taken.lowest_free() == 2);
    CHECK(taken.lowest_free(2) == 2);
    CHECK(taken.lowest_free(3) == 4);
    CHECK(taken.lowest_free(1000) == 1000);
    CHECK(taken.contains(3));
    CHECK_FALSE(taken.contains(2));
    CHECK_FALSE(taken.contains(1000));
}

TEST_CASE("nothing is taken at first, and again when it is cleared")
{
    slot_set taken;
    CHECK(taken.lowest_free() == 0);
    CHECK(taken.lowest_free(70) == 70);
    CHECK_FALSE(taken.contains(0));
    taken = of({0, 100});
    taken.clear();
    CHECK(taken.lowest_free() == 0);
    CHECK_FALSE(taken.contains(100));
}

TEST_CASE("what is returned is free, what is taken twice is taken once")
{
    slot_set taken = of({0, 1, 1, 2});
    taken.erase(1);
    CHECK(taken.lowest_free() == 1);
    taken.erase(2);
    CHECK(taken.contains(0));
    CHECK_FALSE(taken.contains(1));
}

TEST_CASE("full words are passed over, and behind the last the next slot is free")
{
    slot_set taken;
    for (slot_id s = 0; s != 192; ++s) taken.insert(s);
    CHECK(taken.lowest_free() == 192);
    CHECK(taken.lowest_free(63) == 192);
    CHECK(taken.lowest_free(127) == 192);
    CHECK(taken.lowest_free(192) == 192);
    taken.erase(64);
    CHECK(taken.lowest_free() == 64);
    CHECK(taken.lowest_free(65) == 192);
    CHECK(of({1000}).lowest_free(1000) == 1001);
}

TEST_CASE("whatever comes and goes, it is a set")
{
    dice pick{std::mt19937{1}};
    slot_set taken;
    std::set<slot_id> expected;
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        slot_id const s = pick.below(pick.below(3) == 0 ? 300 : 70), from = pick.below(320);
        if (expected.count(s) != 0 && pick.below(3) == 0) taken.erase(s), expected.erase(s);
        else taken.insert(s), expected.insert(s);
        slot_id lowest = from;
        while (expected.count(lowest) != 0) ++lowest;
        REQUIRE(taken.lowest_free(from) == lowest);
        REQUIRE(taken.contains(from) == (expected.count(from) != 0));
    }
}

} // namespace this_test
