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

/// How many times its goal the batch needs that is farthest above.
double worst_of(std::vector<symbolic_plan::buffer> buffers, std::vector<affine_bytes> const& start,
                std::vector<batch_goal> const& goals)
{
    double worst = 1;
    for (auto goal : goals) {
        byte_count height = 0;
        for (std::size_t b = 0; b != buffers.size(); ++b) {
            buffers[b].start = start[b];
            height = std::max(height, buffers[b].offset_at(goal.batch) + buffers[b].size.at(goal.batch));
        }
        worst = std::max(worst, static_cast<double>(height) / static_cast<double>(goal.bytes));
    }
    return worst;
}

/// The most bytes alive at a position.
byte_count most_alive(std::vector<symbolic_plan::buffer> const& buffers, byte_count batch)
{
    byte_count most = 0;
    for (auto const& at : buffers) {
        byte_count live = 0;
        for (auto const& b : buffers) live += contains(b.life, at.life.first) ? b.size.at(batch) : 0;
        most = std::max(most, live);
    }
    return most;
}

} // namespace

TEST_CASE("who stands on two that cross is moved below them")
{
    //   a: 1000 then b: 100 N, never together; c: 10 bytes, alive with both
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {1000, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {10, 0}}};
    std::vector<batch_goal> const goals{{1, 1010}, {8, 1010}, {32, 3210}};
    CHECK(worst_of(buffers, stack_two_ended(buffers, {0, 1, 2}, 32), goals) > 1.4);
    auto const better = improve_two_ended(buffers, {0, 1, 2}, goals, 32, 100);
    CHECK(better.worst == 1);
    CHECK(better.start[2] == affine_bytes{});
}

TEST_CASE("what is good enough, or must not be moved, stays as it is")
{
    std::vector<symbolic_plan::buffer> const buffers{{0, {0, 2}, {1000, 0}}, {1, {0, 2}, {0, 100}}};
    std::vector<batch_goal> const goals{{1, 1100}}, none;
    CHECK(improve_two_ended(buffers, {1, 0}, goals, 32, 100).order == std::vector<buffer_id>{1, 0});
    CHECK(improve_two_ended(buffers, {1, 0}, {{1, 7}}, 32, 0).order == std::vector<buffer_id>{1, 0});
    CHECK(improve_two_ended(buffers, {1, 0}, none, 32, 100).worst == 1);
    CHECK(improve_two_ended(buffers, {1}, {{1, 7}}, 32, 100).start[1] == affine_bytes{});
}

TEST_CASE("no order gets worse, and what is returned is a stacking in the order that is returned")
{
    double before = 0, after = 0;
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        auto const buffers = draw_growing_buffers(pick, 30, 12);
        byte_count const most = 1 + pick.below(20);
        std::vector<batch_goal> goals;
        for (byte_count batch : {byte_count{1}, (most + 1) / 2, most})
            goals.push_back({batch, most_alive(buffers, batch)});
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != buffers.size(); ++b) order.push_back(b);
        double const given = worst_of(buffers, stack_two_ended(buffers, order, most), goals);
        auto const better = improve_two_ended(buffers, order, goals, most, 200, seed);
        REQUIRE(better.worst <= given);
        REQUIRE(better.worst == worst_of(buffers, better.start, goals));
        REQUIRE(better.start == stack_two_ended(buffers, better.order, most));
        REQUIRE(better.order == improve_two_ended(buffers, order, goals, most, 200, seed).order);
        auto sorted = better.order;
        std::sort(sorted.begin(), sorted.end());
        REQUIRE(sorted == order);
        before += given - 1;
        after += better.worst - 1;
    }
    MESSAGE("above what is alive: " << before / 2 << " % before, " << after / 2 << " % after");
    CHECK(2 * after < before);
}

} // namespace this_test
