// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/affine.hpp>
#include <sublet/placement/detail/affine_placement.hpp>

#include "../random_batches.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a gap that exists for every batch is taken")
{
    //   position  0    1    2
    //   b         [===)          on a for a batch of 1 and of 9: from 64 N to 128 N
    //   c         ......[===)    64 N bytes: fits below b, where a is not live
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 1}, {0, 64}}, {1, {0, 2}, {0, 64}}, {2, {1, 2}, {0, 64}}};
    auto const start = fit_affine(buffers, {0, 1, 2}, 9);
    CHECK(start[1] == affine_bytes{0, 64});
    CHECK(start[2] == affine_bytes{});
}

TEST_CASE("a gap that is too small for some batch is skipped")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 1}, {100, 0}}, {1, {0, 2}, {64, 0}}, {2, {1, 2}, {0, 20}}};
    CHECK(fit_affine(buffers, {0, 1, 2}, 5)[2] == affine_bytes{});
    CHECK(fit_affine(buffers, {0, 1, 2}, 6)[2] == affine_bytes{164, 0}); // 120 bytes
}

TEST_CASE("without overlaps all starts are 0, and no buffers are accepted")
{
    std::vector<symbolic_plan::buffer> const one{{0, {3, 4}, {0, 64}, 64}};
    CHECK(fit_affine(one, {0}, 5)[0] == affine_bytes{});
    CHECK(fit_affine(one, {}, 5)[0] == affine_bytes{});
    CHECK(fit_affine(std::vector<symbolic_plan::buffer>{}, {}, 5).empty());
}

TEST_CASE("sums beyond 64 bits are refused")
{
    std::vector<symbolic_plan::buffer> const buffers(
        17, symbolic_plan::buffer{0, {0, 1}, {0, byte_count{1} << 40}});
    std::vector<buffer_id> const order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    CHECK(fit_affine(buffers, order, 900'000)[16] == affine_bytes{0, byte_count{1} << 44});
    CHECK_THROWS_AS(static_cast<void>(fit_affine(buffers, order, 1'000'000)), precondition_error);
}

TEST_CASE("fitted buffers overlap for no batch; with proportional sizes the result is first fit")
{
    random_source pick{std::mt19937(3)};
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        auto buffers = draw_growing_buffers(pick, 10, 7);
        bool const is_alike = pick.below(3) == 0;
        if (is_alike)
            for (symbolic_plan::buffer& b : buffers) b = {b.root, b.life, {0, b.size.at(1)}};
        byte_count const most = 1 + pick.below(9);
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != buffers.size(); ++b) order.push_back(b);
        std::shuffle(order.begin(), order.end(), pick.random);
        auto const start = fit_affine(buffers, order, most);
        for (std::size_t b = 0; b != buffers.size(); ++b) buffers[b].start = start[b];
        for (byte_count n = 1; n <= most; ++n) REQUIRE(lie_apart(buffers, n));
        if (!is_alike) continue;
        for (std::size_t i = 0; i != order.size(); ++i) {
            symbolic_plan::buffer const& own = buffers[order[i]];
            byte_count lowest = 0;
            auto is_free = [&] {
                for (std::size_t j = 0; j != i; ++j) {
                    symbolic_plan::buffer const& its = buffers[order[j]];
                    if (overlaps(its.life, own.life) && lowest < its.offset_at(1) + its.size.at(1) &&
                        its.offset_at(1) < lowest + own.size.at(1))
                        return false;
                }
                return true;
            };
            while (!is_free()) ++lowest;
            REQUIRE(own.offset_at(1) == lowest);
        }
    }
}

// --- improve affine ----------------------------------------------------------------------------------------

namespace {

/// The largest ratio of a height to its goal.
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

/// The most live bytes at a position.
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

TEST_CASE("a buffer on two with crossing tops is moved below them")
{
    //   a: 1000 then b: 100 N, never together; c: 10 bytes, live with both
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {1000, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {10, 0}}};
    std::vector<batch_goal> const goals{{1, 1010}, {8, 1010}, {32, 3210}};
    CHECK(worst_of(buffers, stack_affine(buffers, {0, 1, 2}, 32), goals) > 1.4);
    auto const better = improve_affine(buffers, {0, 1, 2}, goals, 32, 100);
    CHECK(better.worst == 1);
    CHECK(better.start[2] == affine_bytes{});
}

TEST_CASE("a stacking that meets its goals, or has no moves left, is unchanged")
{
    std::vector<symbolic_plan::buffer> const buffers{{0, {0, 2}, {1000, 0}}, {1, {0, 2}, {0, 100}}};
    std::vector<batch_goal> const goals{{1, 1100}}, none;
    CHECK(improve_affine(buffers, {1, 0}, goals, 32, 100).order == std::vector<buffer_id>{1, 0});
    CHECK(improve_affine(buffers, {1, 0}, {{1, 7}}, 32, 0).order == std::vector<buffer_id>{1, 0});
    CHECK(improve_affine(buffers, {1, 0}, none, 32, 100).worst == 1);
    CHECK(improve_affine(buffers, {1}, {{1, 7}}, 32, 100).start[1] == affine_bytes{});
}

TEST_CASE("no order gets worse, and the result is the stacking of its order")
{
    double before = 0, after = 0;
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const buffers = draw_growing_buffers(pick, 30, 12);
        byte_count const most = 1 + pick.below(20);
        std::vector<batch_goal> goals;
        for (byte_count batch : {byte_count{1}, (most + 1) / 2, most})
            goals.push_back({batch, most_alive(buffers, batch)});
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != buffers.size(); ++b) order.push_back(b);
        double const given = worst_of(buffers, stack_affine(buffers, order, most), goals);
        auto const better = improve_affine(buffers, order, goals, most, 200, seed);
        REQUIRE(better.worst <= given);
        REQUIRE(better.worst == worst_of(buffers, better.start, goals));
        REQUIRE(better.start == stack_affine(buffers, better.order, most));
        REQUIRE(better.order == improve_affine(buffers, order, goals, most, 200, seed).order);
        auto sorted = better.order;
        std::sort(sorted.begin(), sorted.end());
        REQUIRE(sorted == order);
        before += given - 1;
        after += better.worst - 1;
    }
    MESSAGE("above the live bytes: " << before / 2 << " % before, " << after / 2 << " % after");
    CHECK(2 * after < before);
}

// --- stack affine ------------------------------------------------------------------------------------------

namespace {

std::vector<symbolic_plan::buffer> placed(std::vector<symbolic_plan::buffer> buffers,
                                          std::vector<affine_bytes> const& start)
{
    for (std::size_t b = 0; b != buffers.size(); ++b) buffers[b].start = start[b];
    return buffers;
}

} // namespace

TEST_CASE("a buffer on two with crossing tops lies on the line over their maxima")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {1000, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {8, 8}}};
    auto const start = stack_affine(buffers, {0, 1, 2}, 32);
    CHECK(start[0] == affine_bytes{});
    CHECK(start[1] == affine_bytes{}); // not live with the first
    CHECK(start[2] == affine_bytes{929, 71});
}

TEST_CASE("a top that is always higher is used alone")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {50, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {8, 8}}};
    CHECK(stack_affine(buffers, {0, 1, 2}, 32)[2] == affine_bytes{0, 100});
    CHECK(stack_affine(buffers, {2, 0, 1}, 32)[1] == affine_bytes{8, 8});
}

TEST_CASE("a start that grows by multiples of the alignment is aligned itself; others leave padding")
{
    std::vector<symbolic_plan::buffer> buffers{{0, {0, 1}, {3, 128}}, {1, {0, 1}, {8, 0}, 64}};
    CHECK(stack_affine(buffers, {0, 1}, 9)[1] == affine_bytes{64, 128});
    buffers[0].size = {3, 100};
    auto const start = stack_affine(buffers, {0, 1}, 9);
    CHECK(start[1] == affine_bytes{4, 100}); // all multiples of 4
    CHECK(placed(buffers, start)[1].top() == affine_bytes{72, 100});
}

TEST_CASE("no start is below the floor, and an empty order gives zeros")
{
    std::vector<symbolic_plan::buffer> const buffers{{0, {0, 1}, {3, 0}}};
    CHECK(stack_affine(buffers, {0}, 4, {10, 7})[0] == affine_bytes{10, 7});
    CHECK(stack_affine(buffers, {}, 4)[0] == affine_bytes{});
    CHECK(stack_affine(std::vector<symbolic_plan::buffer>{}, {}, 4).empty());
}

TEST_CASE("sizes of 2^40 for a batch of a million add up, and sums beyond 64 bits are refused")
{
    affine_bytes const large{0, byte_count{1} << 40};
    std::vector<symbolic_plan::buffer> const buffers(15, symbolic_plan::buffer{0, {0, 1}, large, 4096});
    std::vector<buffer_id> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    auto const start = stack_affine(buffers, order, 1'000'000);
    CHECK(start[14] == affine_bytes{0, 14 * (byte_count{1} << 40)});
    CHECK_THROWS_AS(static_cast<void>(stack_affine(buffers, order, 2'000'000)), precondition_error);
}

TEST_CASE("stacked buffers overlap for no batch, each at the lowest affine start above the earlier ones")
{
    random_source pick{std::mt19937(11)};
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        auto const drawn = draw_growing_buffers(pick, 9, 7);
        byte_count const most = 1 + pick.below(9);
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != drawn.size(); ++b) order.push_back(b);
        std::shuffle(order.begin(), order.end(), pick.random);
        auto const buffers = placed(drawn, stack_affine(drawn, order, most));
        for (byte_count n = 1; n <= most; ++n) REQUIRE(lie_apart(buffers, n));
        // The naive way: each on top of all that overlap it.
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

TEST_CASE("with proportional sizes, stacking in the order of one batch's offsets raises no buffer")
{
    random_source pick{std::mt19937(5)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        auto drawn = draw_growing_buffers(pick, 9, 7);
        std::vector<byte_count> offset(drawn.size()); // first fit for a batch of 1, in any order
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
        auto const start = stack_affine(drawn, order, 10);
        for (std::size_t b = 0; b != drawn.size(); ++b) {
            REQUIRE(start[b].fixed == 0);
            REQUIRE(start[b].per_batch <= offset[b]);
        }
    }
}

} // namespace this_test
