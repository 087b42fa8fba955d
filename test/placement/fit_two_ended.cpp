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

TEST_CASE("a gap that is there for every batch is taken")
{
    //   position  0    1    2
    //   b         [===)          on a for a batch of 1 and of 9: from 64 N to 128 N
    //   c         ......[===)    64 N bytes: fits beside a, under b's place
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 1}, {0, 64}}, {1, {0, 2}, {0, 64}}, {2, {1, 2}, {0, 64}}};
    auto const start = fit_two_ended(buffers, {0, 1, 2}, 9);
    CHECK(start[1] == affine_bytes{0, 64});
    CHECK(start[2] == affine_bytes{});
}

TEST_CASE("a gap that is too small for some batch is passed over")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 1}, {100, 0}}, {1, {0, 2}, {64, 0}}, {2, {1, 2}, {0, 20}}};
    CHECK(fit_two_ended(buffers, {0, 1, 2}, 5)[2] == affine_bytes{});
    CHECK(fit_two_ended(buffers, {0, 1, 2}, 6)[2] == affine_bytes{164, 0}); // 120 bytes
}

TEST_CASE("nobody in the way, nobody at all")
{
    std::vector<symbolic_plan::buffer> const one{{0, {3, 4}, {0, 64}, 64}};
    CHECK(fit_two_ended(one, {0}, 5)[0] == affine_bytes{});
    CHECK(fit_two_ended(one, {}, 5)[0] == affine_bytes{});
    CHECK(fit_two_ended(std::vector<symbolic_plan::buffer>{}, {}, 5).empty());
}

TEST_CASE("what leaves 64 bits is refused")
{
    std::vector<symbolic_plan::buffer> const buffers(
        17, symbolic_plan::buffer{0, {0, 1}, {0, byte_count{1} << 40}});
    std::vector<buffer_id> const order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    CHECK(fit_two_ended(buffers, order, 900'000)[16] == affine_bytes{0, byte_count{1} << 44});
    CHECK_THROWS_AS(static_cast<void>(fit_two_ended(buffers, order, 1'000'000)), precondition_error);
}

TEST_CASE("fitted buffers lie apart for every batch; with sizes that grow alike it is the lowest fit")
{
    dice pick{std::mt19937(3)};
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
        auto const start = fit_two_ended(buffers, order, most);
        for (std::size_t b = 0; b != buffers.size(); ++b) buffers[b].start = start[b];
        for (byte_count n = 1; n <= most; ++n) REQUIRE(lie_apart(buffers, n));
        if (!is_alike) continue;
        for (std::size_t i = 0; i != order.size(); ++i) {
            symbolic_plan::buffer const& mine = buffers[order[i]];
            byte_count lowest = 0;
            auto is_free = [&] {
                for (std::size_t j = 0; j != i; ++j) {
                    symbolic_plan::buffer const& its = buffers[order[j]];
                    if (overlaps(its.life, mine.life) && lowest < its.offset_at(1) + its.size.at(1) &&
                        its.offset_at(1) < lowest + mine.size.at(1))
                        return false;
                }
                return true;
            };
            while (!is_free()) ++lowest;
            REQUIRE(mine.offset_at(1) == lowest);
        }
    }
}

} // namespace this_test
