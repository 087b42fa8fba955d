// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/tokens.hpp>

#include "dice.hpp"
#include "slow_chooser.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

auto always(step_id from)
{
    return [from](buffer_id) { return from; };
}

/// Slots of 64, 16, 24 and 16 bytes have had 2, 3, 1 and 1 tenants and are all free for one who comes.
sized_slot_plan taken_by(byte_count size, slot_choice how)
{
    slot_chooser slots(8, how);
    auto nobody = [](buffer_id) { return no_step; };
    byte_count const sizes[] = {64, 16, 24, 16};
    for (buffer_id b = 0; b != 4; ++b)
        slots.take({.who = b, .size = sizes[b], .over = b == 0 ? 1u : b == 1 ? 2u : 9u}, nobody);
    slots.take({.who = 4, .size = 8, .begins = 1, .over = 9}, always(1)); // only 0 is free
    slots.take({.who = 5, .size = 8, .begins = 2, .over = 3}, always(2)); // only 1
    slots.take({.who = 6, .size = 8, .begins = 3, .over = 9}, always(3));
    slots.take({.who = 7, .size = size, .begins = 9}, always(9));
    return std::move(slots).finish();
}

} // namespace

TEST_CASE("four slots are free for one who wants 20 bytes")
{
    CHECK(taken_by(20, slot_choice::most_shared).slot_of[7] == 1);
    CHECK(taken_by(20, slot_choice::best_fit).slot_of[7] == 2);
    CHECK(taken_by(19, slot_choice::best_fit).slot_of[7] == 1);
    CHECK(taken_by(20, slot_choice::smallest_sufficient).slot_of[7] == 2);
    CHECK(taken_by(20, slot_choice::grow_largest).slot_of[7] == 2);
    CHECK(taken_by(16, slot_choice::grow_largest).slot_of[7] == 1); // and not 3, which is as large
}

TEST_CASE("none of the slots is large enough")
{
    CHECK(taken_by(100, slot_choice::most_shared).slot_bytes == std::vector<byte_count>{64, 100, 24, 16});
    CHECK(taken_by(100, slot_choice::best_fit).slot_bytes == std::vector<byte_count>{100, 16, 24, 16});
    CHECK(taken_by(100, slot_choice::grow_largest).slot_bytes == std::vector<byte_count>{100, 16, 24, 16});
    auto const plan = taken_by(100, slot_choice::smallest_sufficient);
    CHECK(plan.slot_bytes == std::vector<byte_count>{64, 16, 24, 16, 100});
    CHECK(plan.total_bytes == 220);
}

TEST_CASE("the choice of Caffe2 depends on the order in which slots fell free, and never sees them grow")
{
    auto third = [](step_id first_over, step_id second_over, byte_count size) {
        slot_chooser slots(3, slot_choice::caffe2_sized);
        auto all = always(0);
        slots.take({.who = 0, .size = 100, .over = first_over}, all);
        slots.take({.who = 1, .size = 10, .over = second_over}, all);
        return slots.take({.who = 2, .size = size, .begins = 5}, all);
    };
    CHECK(third(1, 2, 8) == 0);
    CHECK(third(2, 1, 8) == 1);
    CHECK(third(2, 1, 200) == 0);

    slot_chooser slots(3, slot_choice::caffe2_sized);
    auto all = always(0);
    slots.take({.who = 0, .size = 4, .over = 1}, all);
    slots.take({.who = 1, .size = 50, .begins = 1, .over = 3}, all);
    slots.take({.who = 2, .size = 20, .begins = 2, .over = 3}, all);
    CHECK(slots.take({.who = 2, .size = 30, .begins = 3}, all) == 1); // 50 would do, but it is said to have 4
    CHECK(std::move(slots).finish().slot_bytes == std::vector<byte_count>{50, 30});
}

TEST_CASE("a slot that sleeps is not asked about before its time")
{
    slot_chooser slots(4);
    auto never = [](buffer_id) { return no_step; };
    slots.take({.who = 0, .size = 8, .over = 1}, never);
    unsigned asked = 0;
    auto at_five = [&](buffer_id u) -> step_id {
        CHECK(u == 0);
        ++asked;
        return 5;
    };
    CHECK(slots.take({.who = 1, .size = 8, .begins = 1}, at_five) == 1);
    CHECK(slots.take({.who = 2, .size = 8, .begins = 4}, at_five) == 2);
    CHECK(asked == 1);
    CHECK(slots.take({.who = 3, .size = 8, .begins = 5}, at_five) == 0);
    CHECK(asked == 2);
}

TEST_CASE("a slot that nobody may follow sleeps until it is woken, now or for a later position")
{
    slot_chooser slots(6);
    auto never = [](buffer_id) { return no_step; };
    slots.take({.who = 0, .size = 8}, never);
    CHECK(slots.take({.who = 1, .size = 8, .begins = 1}, always(0)) == 1);
    slots.wake(0, 4);
    CHECK(slots.take({.who = 2, .size = 8, .begins = 3}, always(0)) == 2);
    CHECK(slots.take({.who = 3, .size = 8, .begins = 4}, always(0)) == 0);
    slots.wake(2);
    CHECK(slots.take({.who = 4, .size = 8, .begins = 4}, always(0)) == 2);
    CHECK(slots.take({.who = 5, .size = 8, .begins = 9}, always(0)) == 3);
}

TEST_CASE("an unknown size and a pool that is none are refused, and 0 bytes need no slot")
{
    slot_chooser slots(2);
    auto all = always(0);
    CHECK_THROWS_WITH_AS(slots.take({.who = 0, .size = no_size}, all),
                         "sublet: a buffer of unknown size cannot share a slot", precondition_error);
    CHECK_THROWS_WITH_AS(slots.take({.who = 0, .size = 8, .pool = no_value}, all),
                         "sublet: a pool id is out of range", precondition_error);
    CHECK(slots.take({.who = 0, .size = 0}, all) == no_slot);
    slots.take({.who = 0, .size = no_size - 1}, all);
    slots.take({.who = 1, .size = 1}, all);
    CHECK_THROWS_AS((void)std::move(slots).finish(), precondition_error);
}

TEST_CASE("random requests get what the rule says, however long the slots may sleep")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        std::size_t const buffers = 1 + roll.below(40), positions = 1 + roll.below(30);
        unsigned const pools = 1 + roll.below(3), sizes = 1 + roll.below(12), percent = roll.below(101);
        std::vector<std::vector<bool>> may(buffers, std::vector<bool>(positions));
        for (auto& row : may)
            for (std::size_t at = 0; at != positions; ++at) row[at] = roll.below(100) < percent;
        std::vector<slot_request> requests;
        for (buffer_id b = 0; b != buffers; ++b) {
            slot_request r{.who = b, .size = roll.below(sizes), .pool = roll.below(pools) * 7};
            r.begins = roll.below(static_cast<unsigned>(positions));
            r.over = roll.below(10) == 0 ? no_step : r.begins + roll.below(5);
            r.follows = roll.below(10) != 0;
            requests.push_back(r);
        }
        std::sort(requests.begin(), requests.end(),
                  [](auto const& a, auto const& b) { return a.begins < b.begins; });
        for (slot_choice how : all_choices) {
            CAPTURE(static_cast<int>(how));
            slow_chooser slow{how, {}, std::vector<slot_id>(buffers, no_slot)};
            slot_chooser exact(buffers, how), lazy(buffers, how);
            for (slot_request const& r : requests) {
                auto first_from = [&](buffer_id u, step_id at) {
                    while (at != positions && !may[u][at]) ++at;
                    return at == positions ? no_step : at;
                };
                slow.take(r, [&](buffer_id u) { return bool(may[u][r.begins]); });
                exact.take(r, [&](buffer_id u) { return first_from(u, r.begins); });
                lazy.take(r, [&](buffer_id u) -> step_id { return may[u][r.begins] ? 0 : r.begins + 1; });
            }
            auto const plan = std::move(exact).finish(), same = std::move(lazy).finish();
            REQUIRE(plan.slot_of == slow.slot_of);
            REQUIRE(plan == same);
            REQUIRE(plan.slot_bytes == same.slot_bytes);
            byte_count total = 0;
            for (slot_id s = 0; s != plan.slots; ++s) {
                CHECK(plan.slot_bytes[s] == slow.slots[s].bytes);
                CHECK(plan.slot_pool[s] == slow.slots[s].pool);
                total += plan.slot_bytes[s];
            }
            CHECK(plan.total_bytes == total);
        }
    }
}

} // namespace this_test
