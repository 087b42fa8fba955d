// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/places.hpp>

#include <doctest/doctest.h>
#include <iterator>
#include <random>
#include <set>

namespace this_test {

using numbers = sublet::detail::rank_set;

TEST_CASE("a member's neighbours are the next below and above, and it is not its own")
{
    numbers set(200);
    for (auto r : {3u, 64u, 130u}) set.insert(r);
    CHECK(set.below(64) == 3);
    CHECK(set.above(64) == 130);
    CHECK(set.below(3) == numbers::none);
    CHECK(set.above(130) == numbers::none);
    CHECK(set.above(0) == 3);
    CHECK(set.below(199) == 130);
}

TEST_CASE("an empty set has no neighbours, however large it might be")
{
    for (std::size_t n : {0u, 1u, 63u, 64u, 65u, 4096u, 300000u}) {
        numbers set(n);
        CHECK(set.below(n == 0 ? 0 : static_cast<std::uint32_t>(n - 1)) == numbers::none);
        CHECK(set.above(0) == numbers::none);
        CHECK(!set.contains(0));
    }
}

TEST_CASE("the last of 300,000 is found from the first, and forgotten when it is erased")
{
    numbers set(300000);
    set.insert(299999);
    CHECK(set.above(0) == 299999);
    set.erase(299999);
    CHECK(set.above(0) == numbers::none);
}

TEST_CASE("erasing one leaves the others, also those in the same word")
{
    numbers set(10000);
    for (auto r : {5000u, 5001u, 9000u}) set.insert(r);
    set.erase(5001);
    CHECK(set.contains(5000));
    CHECK(!set.contains(5001));
    CHECK(set.above(0) == 5000);
    set.erase(5000);
    CHECK(set.above(0) == 9000);
}

TEST_CASE("random insertions and erasures: the neighbours that std::set has")
{
    for (unsigned seed = 0; seed != 30; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::uint32_t const n = seed % 3 == 0 ? 50 : seed % 3 == 1 ? 5000 : 300000;
        numbers set(n);
        std::set<std::uint32_t> oracle;
        for (int i = 0; i != 2000; ++i) {
            auto const r = static_cast<std::uint32_t>(pick() % n);
            if (pick() % 3 != 0) {
                set.insert(r);
                oracle.insert(r);
            } else if (oracle.erase(r) != 0) {
                set.erase(r);
            }
            auto const q = static_cast<std::uint32_t>(pick() % n);
            auto const at = oracle.lower_bound(q), after = oracle.upper_bound(q);
            CHECK(set.contains(q) == (oracle.count(q) == 1));
            CHECK(set.below(q) == (at == oracle.begin() ? numbers::none : *std::prev(at)));
            CHECK(set.above(q) == (after == oracle.end() ? numbers::none : *after));
        }
    }
}

} // namespace this_test
