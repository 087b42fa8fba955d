// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/down_set_search.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a set has one number, given when it comes first")
{
    down_set_table sets(3);
    std::uint64_t const none = 0, first = 1, both = 3;
    std::uint64_t const a = down_set_table::hash_of(0), b = down_set_table::hash_of(1);
    CHECK(sets.number_of(&none, 0).is_new);
    CHECK(sets.number_of(&first, a).number == 1);
    CHECK(sets.number_of(&both, a ^ b).number == 2);
    CHECK(!sets.number_of(&first, a).is_new);
    CHECK(sets.number_of(&first, a).number == 1);
    CHECK(sets.size() == 3);
    CHECK(*sets[2] == both);
    CHECK(sets.hash(1) == a);
}

TEST_CASE("sets of one hash are still told apart by their bits")
{
    down_set_table sets(64);
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(sets.number_of(&set, 5).number == set);
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(sets.number_of(&set, 5).number == set);
}

TEST_CASE("a set without members is a set")
{
    down_set_table sets(0);
    CHECK(sets.number_of(nullptr, 0).is_new);
    CHECK(!sets.number_of(nullptr, 0).is_new);
}

TEST_CASE("thousands of sets are found again, as in a sorted map")
{
    dice pick{std::mt19937(1)};
    down_set_table sets(100);
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;
    std::size_t const empty = sets.bytes();
    for (int i = 0; i != 20000; ++i) {
        std::vector<std::uint64_t> set(2, 0);
        std::uint64_t hash = 0;
        for (std::uint32_t n = 0, members = pick.below(4); n != members; ++n) {
            std::uint32_t const m = pick.below(100);
            if ((set[m / 64] >> m % 64 & 1) != 0) continue;
            set[m / 64] |= std::uint64_t{1} << m % 64;
            hash ^= down_set_table::hash_of(m);
        }
        auto const place = sets.number_of(set.data(), hash);
        auto const [at, is_new] = known.insert({set, static_cast<std::uint32_t>(known.size())});
        REQUIRE(place.is_new == is_new);
        REQUIRE(place.number == at->second);
    }
    CHECK(sets.size() == known.size());
    CHECK(sets.bytes() > empty);
}

} // namespace this_test
