// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/concurrent.hpp>

#include "../dice.hpp"
#include "../random_conflicts.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<std::uint32_t>;

namespace {

/// a begins at 0 and is needed up to 4, but not where b begins; c and d begin at 2.
placement_conflicts four()
{
    placement_conflicts c;
    c.first_begin = {0, 1, 2, 3, 4};
    c.begin = {0, 1, 2, 2};
    c.ranges = {live_range_lists::source::from_liveness,
                4,
                {0, 2, 3, 4, 5},
                {{0, 1}, {2, 4}, {1, 2}, {2, 3}, {2, 4}}};
    return c;
}

order_keys keys_of_sizes(std::vector<byte_count> const& sizes, std::vector<unsigned char> antichain)
{
    std::vector<placement_problem::buffer> buffers;
    for (byte_count s : sizes) buffers.push_back({{}, s});
    return keys_of(buffers, four(), std::move(antichain));
}

} // namespace

TEST_CASE("each order puts first who it says")
{
    auto const keys = keys_of_sizes({10, 17, 20, 20}, {1, 0, 0, 1});
    CHECK(keys.conflicting == std::vector<byte_count>{50, 17, 50, 50});
    CHECK(order_by(concurrent_order::octave, keys) == ids{1, 2, 3, 0});
    CHECK(order_by(concurrent_order::size, keys) == ids{2, 3, 1, 0});
    CHECK(order_by(concurrent_order::area, keys) == ids{2, 3, 0, 1});
    CHECK(order_by(concurrent_order::peak, keys) == ids{3, 0, 2, 1});
    CHECK(order_by(concurrent_order::last, keys) == ids{3, 0, 2, 1});
    CHECK(order_by(concurrent_order::begin, keys) == ids{0, 1, 2, 3});
    CHECK(order_by_levels({1, 0, 0, 1}, keys) == ids{2, 1, 3, 0});
}

TEST_CASE("of equal sizes those come first whose conflicts have more bytes")
{
    CHECK(order_by(concurrent_order::size, keys_of_sizes({8, 8, 8, 9}, {0, 0, 0, 0})) == ids{3, 0, 2, 1});
}

TEST_CASE("products of sizes beyond 64 bits are still ordered")
{
    byte_count const large = byte_count{1} << 40;
    CHECK(order_by(concurrent_order::area, keys_of_sizes({large, 4 * large, large, large + (large >> 1)},
                                                         {0, 0, 0, 0})) == ids{1, 3, 0, 2});
}

TEST_CASE("conflicting bytes are those of a sum over pairs where nobody begins twice")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const n = 1 + roll.below(20);
        auto const c = draw_conflicts(roll, n, 1 + roll.below(20), 0);
        std::vector<byte_count> size;
        for (std::size_t i = 0; i != n; ++i) size.push_back(1 + roll.below(100));
        auto const found = conflicting_bytes(c, size);
        for (buffer_id b = 0; b != n; ++b) {
            byte_count sum = 0;
            for (buffer_id other = 0; other != n; ++other)
                if (c.conflict(b, other)) sum += size[other];
            REQUIRE(found[b] == sum);
        }
    }
}

} // namespace this_test
