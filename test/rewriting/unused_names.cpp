// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/rename.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<std::uint64_t> unused(std::string const& prefix, std::size_t count,
                                  std::vector<std::string> const& names)
{
    return unused_names(
        prefix, count, names.size(), [&](value_id v) -> auto& { return names[v]; });
}

using numbers = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("names that are in use are left out")
{
    CHECK(unused("slot", 3, {"conv1", "slot0", "slot2", "slot07"}) == numbers{1, 3, 4});
    CHECK(unused("slot", 2, {}) == numbers{0, 1});
    CHECK(unused("slot", 0, {"slot0"}).empty());
    CHECK(unused("", 2, {"0", "2", "a", ""}) == numbers{1, 3});
}

TEST_CASE("a name may be a number, text or characters")
{
    CHECK(unused_names("", 2, 3, [](value_id v) { return 2 * v; }) == numbers{1, 3});
    CHECK(unused_names("s", 2, 1, [](value_id) { return "s0"; }) == numbers{1, 2});
    CHECK(unused_names("s", 1, 1, [](value_id) { return std::vector<char>{'s', '0'}; }) == numbers{1});
}

TEST_CASE("a number is what would be written again just so")
{
    CHECK(number_behind("s", "s0") == 0);
    CHECK(number_behind("s", "s120") == 120);
    CHECK(number_behind("s", "s18446744073709551615") == ~std::uint64_t{0});
    for (char const* none : {"", "s", "t0", "s00", "s01", "s 1", "s-1", "s1x", "S1", "s18446744073709551616",
                             "s99999999999999999999999"})
        CHECK(number_behind("s", none) == std::nullopt);
    CHECK(number_behind("slot_1", "slot_11") == 1);
}

// SYSTEMS M2, REGRESSIONS memonger.cc 11.
TEST_CASE("however the names in use were chosen, none is made again")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        std::string const prefix = std::string("m1").substr(0, roll.below(3));
        std::vector<std::string> names;
        for (auto i = roll.below(60); i != 0; --i) {
            std::string name = roll.below(4) == 0 ? "m" : prefix;
            for (auto k = roll.below(3); k != 0; --k) name += std::to_string(roll.below(12));
            names.push_back(name);
        }
        std::set<std::string> all(names.begin(), names.end());
        auto const found = unused(prefix, 20, names);
        REQUIRE(found.size() == 20);
        std::uint64_t before = 0;
        for (std::uint64_t number : found) {
            for (; before != number; ++before) REQUIRE(all.count(prefix + std::to_string(before)) == 1);
            REQUIRE(all.insert(prefix + std::to_string(number)).second);
            ++before;
        }
    }
}

} // namespace this_test
