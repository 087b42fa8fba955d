// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/problem.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace sublet;
using buffers = std::vector<placement_buffer>;

TEST_CASE("the bound is the most bytes alive at once, and where")
{
    auto bound = lower_bound(buffers{{{0, 2}, 64}, {{1, 3}, 32}, {{2, 4}, 48}});
    CHECK(bound.bytes == 96);
    CHECK(bound.peak_position == 1);
    CHECK(bound.live_bytes == std::vector<byte_count>{64, 96, 80, 48});
}

TEST_CASE("nothing is bounded by nothing")
{
    CHECK(lower_bound(buffers{}).bytes == 0);
    CHECK(lower_bound(buffers{{{2, 2}, 64}}).bytes == 0);
}

TEST_CASE("the top of a pin bounds the arena too, unless the pinned buffer needs no bytes")
{
    CHECK(lower_bound(buffers{{{0, 1}, 8, 1, 0, 100}, {{0, 1}, 20}}).bytes == 108);
    CHECK(lower_bound(buffers{{{0, 1}, 0, 1, 0, 100}, {{1, 1}, 9, 1, 0, 100}}).bytes == 0);
    CHECK_THROWS_AS((void)lower_bound(buffers{{{0, 1}, 8, 1, 0, no_offset - 8}}), precondition_error);
}

TEST_CASE("pools are counted by the highest that is named, and there are few")
{
    CHECK(pool_count(placement_problem{}) == 0);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 2}}, {}}) == 3);
    CHECK(pool_count(placement_problem{{}, {{}, {}}}) == 2);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 65535}}, {}}) == 65536);
    for (pool_id far : {65536u, 4'000'000'000u})
        CHECK_THROWS_AS((void)pool_count(placement_problem{{{{0, 1}, 8, 1, far}}, {}}), precondition_error);
}
