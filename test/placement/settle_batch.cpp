// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/settle_batch.hpp>

#include "../dice.hpp"
#include "random_batches.hpp"

#include <sublet/placement/stack_two_ended.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// A plan that stacks buffers in some order, in two pools.
symbolic_plan stacked(std::vector<symbolic_buffer> buffers, std::vector<buffer_id> const& order,
                      byte_count most)
{
    symbolic_plan plan{.max_batch = most, .buffers = buffers, .arena = {{}, {}}};
    for (pool_id pool : {0u, 1u}) {
        std::vector<buffer_id> of_pool;
        for (buffer_id b : order)
            if (buffers[b].pool == pool) of_pool.push_back(b);
        auto const start = stack_two_ended(buffers, of_pool, most);
        for (buffer_id b : of_pool) {
            plan.buffers[b].start = start[b];
            plan.arena[pool] = least_above(plan.arena[pool], plan.buffers[b].top(), most);
        }
    }
    for (buffer_id b = 0; b != buffers.size(); ++b) plan.buffer_of.push_back(b);
    return plan;
}

} // namespace

TEST_CASE("what lies on the line over two sinks onto the higher one")
{
    auto const plan =
        stacked({{0, {0, 2}, {1000, 0}}, {1, {2, 4}, {0, 100}}, {2, {1, 3}, {8, 8}}}, {0, 1, 2}, 32);
    CHECK(plan.at(3).offset_of(2) == 1142);
    memory_plan const settled = settle_batch(plan, 3);
    CHECK(settled.offset_of(2) == 1000);
    CHECK(settled.arena_bytes == std::vector<byte_count>{1032, 0});
    CHECK(settle_batch(plan, 1) == plan.at(1));
}

TEST_CASE("an empty plan has nothing that could sink")
{
    CHECK(settle_batch(symbolic_plan{}, 1) == memory_plan{});
    CHECK_THROWS_AS(static_cast<void>(settle_batch(symbolic_plan{}, 2)), precondition_error);
}

TEST_CASE("nobody rises, all lie apart and at multiples, and whoever lies above 0 touches another below")
{
    byte_count before = 0, after = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        auto buffers = draw_growing_buffers(pick, 14, 9);
        for (symbolic_buffer& b : buffers) b.pool = pick.below(4) == 0;
        byte_count const most = 1 + pick.below(20);
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != buffers.size(); ++b) order.push_back(b);
        std::shuffle(order.begin(), order.end(), pick.random);
        symbolic_plan const plan = stacked(buffers, order, most);
        byte_count const batch = 1 + pick.below(static_cast<std::uint32_t>(most));
        memory_plan const given = plan.at(batch), settled = settle_batch(plan, batch);
        for (std::size_t b = 0; b != buffers.size(); ++b) {
            REQUIRE(settled.buffers[b].offset <= given.buffers[b].offset);
            buffers[b].start = {settled.buffers[b].offset, 0};
            buffers[b].size = {buffers[b].size.at(batch), 0};
        }
        REQUIRE(lie_apart(buffers, 1));
        for (pool_id pool : {0u, 1u}) {
            byte_count height = 0;
            for (auto const& b : buffers)
                if (b.pool == pool) height = std::max(height, b.offset_at(1) + b.size.at(1));
            REQUIRE(settled.arena_bytes[pool] == height);
            before += given.arena_bytes[pool];
            after += height;
        }
        for (auto const& b : buffers) {
            auto lies_on = [&](symbolic_buffer const& other) {
                byte_count const end = other.offset_at(1) + other.size.at(1);
                return overlaps(other.life, b.life) && other.pool == b.pool && end <= b.offset_at(1) &&
                       b.offset_at(1) - end < b.alignment;
            };
            if (b.offset_at(1) != 0) REQUIRE(std::any_of(buffers.begin(), buffers.end(), lies_on));
        }
    }
    MESSAGE("arenas: " << before << " bytes before, " << after << " after");
    CHECK(after < before);
}

} // namespace this_test
