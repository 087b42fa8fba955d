// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_intervals.hpp>

#include "../dice.hpp"
#include "random_batches.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<symbolic_plan::buffer> one_after_the_other(std::vector<affine_bytes> const& sizes)
{
    std::vector<symbolic_plan::buffer> buffers;
    for (step_id at = 0; at != sizes.size(); ++at) buffers.push_back({at, {at, at + 1}, sizes[at]});
    return buffers;
}

} // namespace

TEST_CASE("a buffer moves into a free slot that is large enough for every batch")
{
    auto const plan =
        share_symbolically(one_after_the_other({{0, 100}, {0, 60}, {0, 100}}), {.max_batch = 9});
    CHECK(plan.slot_of == std::vector<slot_id>{0, 0, 0});
    CHECK(plan.total == affine_bytes{0, 100});
}

TEST_CASE("what is large enough for some batches is not")
{
    auto const buffers = one_after_the_other({{0, 100}, {500, 0}});
    CHECK(share_symbolically(buffers, {.max_batch = 9}).slots == 2);
    CHECK(share_symbolically(buffers, {.max_batch = 9}).total == affine_bytes{500, 100});
    CHECK(share_symbolically(buffers, {.max_batch = 5}).slot_bytes == std::vector<affine_bytes>{{500, 0}});
}

TEST_CASE("a slot grows if its tenant is the larger one for every batch, and not if that is not wanted")
{
    auto const buffers = one_after_the_other({{0, 60}, {8, 100}, {0, 60}});
    CHECK(share_symbolically(buffers, {.max_batch = 9}).total == affine_bytes{8, 100});
    auto const plan = share_symbolically(buffers, {.max_batch = 9, .grow = false});
    CHECK(plan.total == affine_bytes{8, 160});
    CHECK(plan.slot_of == std::vector<slot_id>{0, 1, 0}); // the tighter one
}

// SYSTEMS T3: shapes with an unknown first dimension are compared among themselves only, never with fixed
// ones.
TEST_CASE("kept apart, a fixed buffer never has a slot after one that grows, nor the converse")
{
    auto const buffers = one_after_the_other({{0, 100}, {64, 0}, {0, 50}, {32, 0}});
    auto const plan =
        share_symbolically(buffers, {.max_batch = 9, .mixing = symbolic_options::mixing_rule::apart});
    CHECK(plan.slot_of == std::vector<slot_id>{0, 1, 0, 1});
    CHECK(plan.total == affine_bytes{64, 100});
    CHECK(share_symbolically(buffers, {.max_batch = 9}).total == affine_bytes{0, 100});
}

TEST_CASE("no buffers, other pools, sums beyond 64 bits")
{
    CHECK(share_symbolically(std::vector<symbolic_plan::buffer>{}, {.max_batch = 9}).slots == 0);
    auto buffers = one_after_the_other({{8, 0}, {8, 0}});
    buffers[1].pool = 1;
    CHECK(share_symbolically(buffers, {.max_batch = 9}).slot_pool == std::vector<pool_id>{0, 1});
    buffers.assign(17, {0, {0, 1}, {0, byte_count{1} << 40}});
    CHECK(share_symbolically(buffers, {.max_batch = 900'000}).slots == 17);
    CHECK_THROWS_AS(static_cast<void>(share_symbolically(buffers, {.max_batch = 1'000'000})),
                    precondition_error);
    CHECK_THROWS_AS(static_cast<void>(share_symbolically(buffers, {.max_batch = 0})), precondition_error);
}

TEST_CASE("tenants of a slot never meet, and for every batch one of them is as large as it")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        auto buffers = draw_growing_buffers(pick, 14, 9);
        for (symbolic_plan::buffer& b : buffers) b.pool = pick.below(4) == 0;
        byte_count const most = 1 + pick.below(12);
        auto const mixing =
            pick.below(2) == 0 ? symbolic_options::mixing_rule::apart : symbolic_options::mixing_rule::proved;
        auto const plan =
            share_symbolically(buffers, {.max_batch = most, .mixing = mixing, .grow = pick.below(2) == 0});
        for (byte_count n = 1; n <= most; ++n) {
            std::map<slot_id, byte_count> largest;
            byte_count total = 0;
            for (auto const& b : buffers)
                largest[plan.slot_of[b.root]] = larger(largest[plan.slot_of[b.root]], b.size.at(n));
            REQUIRE(largest.size() == plan.slots);
            for (auto const& [slot, bytes] : largest) {
                REQUIRE(plan.slot_bytes[slot].at(n) == bytes);
                total += bytes;
            }
            REQUIRE(plan.total.at(n) == total);
        }
        for (auto const& a : buffers)
            for (auto const& b : buffers) {
                if (a.root == b.root || plan.slot_of[a.root] != plan.slot_of[b.root]) continue;
                REQUIRE(!overlaps(a.life, b.life));
                REQUIRE(a.pool == b.pool);
                if (mixing == symbolic_options::mixing_rule::apart)
                    REQUIRE(a.size.is_scaled() == b.size.is_scaled());
            }
    }
}

} // namespace this_test
