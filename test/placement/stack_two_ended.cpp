// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/two_ended.hpp>

#include "../dice.hpp"
#include "random_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<symbolic_plan::buffer> placed(std::vector<symbolic_plan::buffer> buffers,
                                          std::vector<affine_bytes> const& start)
{
    for (std::size_t b = 0; b != buffers.size(); ++b) buffers[b].start = start[b];
    return buffers;
}

} // namespace

TEST_CASE("what lies on both of two that cross lies on the line over their ends")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {1000, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {8, 8}}};
    auto const start = stack_two_ended(buffers, {0, 1, 2}, 32);
    CHECK(start[0] == affine_bytes{});
    CHECK(start[1] == affine_bytes{}); // it does not live with the first
    CHECK(start[2] == affine_bytes{929, 71});
}

TEST_CASE("where one of them is always the higher one, it counts alone")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {50, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {8, 8}}};
    CHECK(stack_two_ended(buffers, {0, 1, 2}, 32)[2] == affine_bytes{0, 100});
    CHECK(stack_two_ended(buffers, {2, 0, 1}, 32)[1] == affine_bytes{8, 8});
}

TEST_CASE("a start that grows by multiples of the alignment is itself one; another leaves room for rounding")
{
    std::vector<symbolic_plan::buffer> buffers{{0, {0, 1}, {3, 128}}, {1, {0, 1}, {8, 0}, 64}};
    CHECK(stack_two_ended(buffers, {0, 1}, 9)[1] == affine_bytes{64, 128});
    buffers[0].size = {3, 100};
    auto const start = stack_two_ended(buffers, {0, 1}, 9);
    CHECK(start[1] == affine_bytes{4, 100}); // all multiples of 4
    CHECK(placed(buffers, start)[1].top() == affine_bytes{72, 100});
}

TEST_CASE("nothing lies below the floor, and nothing at all is nothing")
{
    std::vector<symbolic_plan::buffer> const buffers{{0, {0, 1}, {3, 0}}};
    CHECK(stack_two_ended(buffers, {0}, 4, {10, 7})[0] == affine_bytes{10, 7});
    CHECK(stack_two_ended(buffers, {}, 4)[0] == affine_bytes{});
    CHECK(stack_two_ended(std::vector<symbolic_plan::buffer>{}, {}, 4).empty());
}

TEST_CASE("sizes of 2^40 for a batch of a million add up, and what leaves 64 bits is refused")
{
    affine_bytes const large{0, byte_count{1} << 40};
    std::vector<symbolic_plan::buffer> const buffers(15, symbolic_plan::buffer{0, {0, 1}, large, 4096});
    std::vector<buffer_id> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    auto const start = stack_two_ended(buffers, order, 1'000'000);
    CHECK(start[14] == affine_bytes{0, 14 * (byte_count{1} << 40)});
    CHECK_THROWS_AS(static_cast<void>(stack_two_ended(buffers, order, 2'000'000)), precondition_error);
}

TEST_CASE("stacked buffers lie apart for every batch, each as low as any affine start on top of those before")
{
    dice pick{std::mt19937(11)};
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        auto const drawn = draw_growing_buffers(pick, 9, 7);
        byte_count const most = 1 + pick.below(9);
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != drawn.size(); ++b) order.push_back(b);
        std::shuffle(order.begin(), order.end(), pick.random);
        auto const buffers = placed(drawn, stack_two_ended(drawn, order, most));
        for (byte_count n = 1; n <= most; ++n) REQUIRE(lie_apart(buffers, n));
        // The slow way: one after the other, each on top of whom it meets.
        for (std::size_t i = 0; i != order.size(); ++i) {
            byte_count low = 0, high = 0;
            for (std::size_t j = 0; j != i; ++j) {
                symbolic_plan::buffer const& below = buffers[order[j]];
                if (!overlaps(below.life, buffers[order[i]].life)) continue;
                low = std::max(low, below.top().at(1));
                high = std::max(high, below.top().at(most));
            }
            affine_bytes const start = buffers[order[i]].start, line = line_over(low, high, most);
            byte_count const step =
                sublet::detail::common_divisor(line.per_batch, buffers[order[i]].alignment);
            REQUIRE(start == affine_bytes{align_up(line.fixed, step), line.per_batch});
        }
    }
}

TEST_CASE("in the order of offsets that fit one batch nobody lies higher for any, if all grow alike")
{
    dice pick{std::mt19937(5)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        auto drawn = draw_growing_buffers(pick, 9, 7);
        std::vector<byte_count> offset(drawn.size()); // in any order, first fit, for a batch of 1
        for (std::size_t i = 0; i != drawn.size(); ++i) {
            drawn[i].size = {0, 1 + pick.below(20)};
            drawn[i].alignment = 1;
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t j = 0; j != i; ++j)
                    if (overlaps(drawn[i].life, drawn[j].life) &&
                        offset[i] < offset[j] + drawn[j].size.per_batch &&
                        offset[j] < offset[i] + drawn[i].size.per_batch) {
                        offset[i] = offset[j] + drawn[j].size.per_batch;
                        moved = true;
                    }
            }
        }
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != drawn.size(); ++b) order.push_back(b);
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return offset[a] != offset[b] ? offset[a] < offset[b] : a < b; });
        auto const start = stack_two_ended(drawn, order, 10);
        for (std::size_t b = 0; b != drawn.size(); ++b) {
            REQUIRE(start[b].fixed == 0);
            REQUIRE(start[b].per_batch <= offset[b]);
        }
    }
}

} // namespace this_test
