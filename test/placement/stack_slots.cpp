// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/internal/stack_slots.hpp>

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static placement_problem problem_of(std::vector<placement_problem::buffer> listed,
                                    std::vector<pool_limits> pools = {})
{
    return {std::move(listed), std::move(pools)};
}

static sized_slot_plan slots_of(std::vector<slot_id> slot_of, std::vector<byte_count> bytes,
                                std::vector<pool_id> pools)
{
    sized_slot_plan plan;
    plan.slot_of = std::move(slot_of);
    plan.slots = static_cast<slot_id>(bytes.size());
    plan.slot_bytes = std::move(bytes);
    plan.slot_pool = std::move(pools);
    return plan;
}

TEST_CASE("slots lie one above the other in their pools, coarse alignments first")
{
    auto const problem = problem_of({{.life = {}, .size = 40, .alignment = 8},
                                     {.life = {}, .size = 96, .alignment = 64},
                                     {.life = {}, .size = 64, .alignment = 8, .pool = 1},
                                     {.life = {}, .size = 8}});
    placement const placed = stack_slots(problem, slots_of({0, 1, 2, 0}, {40, 96, 64}, {0, 0, 1}), {100, 64});
    CHECK(placed.offset == std::vector<byte_count>{96, 0, 0, 96});
    CHECK(placed.pools[0].height == 136);
    CHECK(placed.pools[0].lower_bound == 100);
    CHECK(placed.pools[1].height == 64);
    CHECK(placed.status == placement::outcome::feasible);
    CHECK(placed.pools[0].proof.kind == placement::proof::reason::given);
    CHECK(placed.pools[1].status == placement::outcome::optimal);
}

TEST_CASE("a slot is aligned for all its buffers and for its pool")
{
    auto const problem = problem_of({{.life = {}, .size = 5, .alignment = 6},
                                     {.life = {}, .size = 5, .alignment = 4},
                                     {.life = {}, .size = 1}},
                                    {{.alignment = 5}});
    placement const placed = stack_slots(problem, slots_of({1, 1, 0}, {7, 5}, {0, 0}));
    CHECK(placed.offset == std::vector<byte_count>{0, 0, 5});
    CHECK(placed.pools[0].height == 12);
}

TEST_CASE("a buffer of 0 bytes has no offset, and an exceeded capacity is reported")
{
    auto const problem = problem_of({{.life = {}, .size = 0}, {.life = {}, .size = 8}}, {{.capacity = 7}});
    placement const placed = stack_slots(problem, slots_of({no_slot, 0}, {8}, {0}));
    CHECK(placed.offset == std::vector<byte_count>{no_offset, 0});
    CHECK(placed.status == placement::outcome::limit);
    CHECK(placed.pool == 0);
    CHECK(stack_slots(placement_problem{}, sized_slot_plan{}).offset.empty());
}

TEST_CASE("slots beyond 64 bits are refused")
{
    byte_count const half = byte_count{1} << 63;
    auto const problem = problem_of({{.life = {}, .size = half}, {.life = {}, .size = half}});
    CHECK_THROWS_AS((void)stack_slots(problem, slots_of({0, 1}, {half, half}, {0, 0})), precondition_error);
}

} // namespace this_test
