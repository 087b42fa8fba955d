// SPDX-License-Identifier: BSL-1.0
#include <sublet/structures/internal/segment_tree.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("added and removed bytes are counted at each position")
{
    segment_tree load(5);
    load.add({0, 3}, 8);
    load.add({2, 5}, 4);
    CHECK(load.most({0, 2}) == 8);
    CHECK(load.most({0, 5}) == 12);
    CHECK(load.most({3, 5}) == 4);
    load.remove({0, 3}, 8);
    CHECK(load.most({0, 5}) == 4);
    CHECK(load.most({0, 2}) == 0);
}

TEST_CASE("random changes give the same as a table")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const positions = 1 + pick.below(20);
        segment_tree load(positions);
        std::vector<byte_count> table(positions, 0);
        for (int step = 0; step != 60; ++step) {
            position_id const first = pick.below(positions), last = first + 1 + pick.below(positions - first);
            auto const begin = table.begin() + first, end = table.begin() + last;
            REQUIRE(load.most({first, last}) == *std::max_element(begin, end));
            REQUIRE(load.most() == *std::max_element(table.begin(), table.end()));
            byte_count const least = *std::min_element(begin, end);
            byte_count const bytes = pick.wide() >> 9;
            if (pick.below(2) == 0) {
                load.add({first, last}, bytes);
                for (auto it = begin; it != end; ++it) *it += bytes;
            } else {
                load.remove({first, last}, least);
                for (auto it = begin; it != end; ++it) *it -= least;
            }
        }
    }
}

TEST_CASE("covered positions are counted by prefix")
{
    using ranges = std::vector<live_range>;
    CHECK(covered_below(ranges{}, 2) == std::vector<std::uint32_t>{0, 0, 0});
    CHECK(covered_below(ranges{{1, 3}, {2, 4}, {5, 6}}, 6) ==
          std::vector<std::uint32_t>{0, 0, 1, 2, 3, 3, 4});
}

} // namespace this_test
