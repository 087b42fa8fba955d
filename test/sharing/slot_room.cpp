// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/largest_first.hpp>

#include "../dice.hpp"
#include "../drawn_sharing.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("first fit finds the first slot whose tenants all share with the buffer, in any order of coming")
{
    std::size_t shared = 0;
    for (std::uint32_t seed = 0; seed != rounds(2500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, seed % 20 == 0 ? 150 : 20);
        dice roll{std::mt19937(seed)};
        auto coming = d.wanted;
        for (std::size_t i = coming.size(); i > 1; --i)
            std::swap(coming[i - 1], coming[roll.below(static_cast<unsigned>(i))]);
        slot_room room(d.lives, d.conflicts);
        std::vector<std::vector<buffer_id>> slots;
        for (buffer_id b : coming) {
            slot_id expected = 0;
            for (; expected != slots.size(); ++expected) {
                bool has_room = true;
                for (buffer_id u : slots[expected]) has_room = has_room && d.rule.may_share(u, b);
                if (has_room) break;
            }
            slot_id const found = room.find(b);
            REQUIRE((found == no_slot ? slots.size() : found) == expected);
            if (found == no_slot) slots.emplace_back();
            else ++shared;
            slots[expected].push_back(b);
            room.insert(b, expected);
        }
    }
    CHECK(shared > rounds(1000));
}

TEST_CASE("where there is no memory for all slots, what is found has room all the same")
{
    for (auto name : {"ladder64", "nested", "local", "training"}) {
        CAPTURE(name);
        task_family const family = draw_family(name, 1500);
        snapshot const p = family.program();
        dependence_graph const g = dependences(p);
        std::vector<buffer_id> each(family.tasks());
        std::iota(each.begin(), each.end(), buffer_id{0});
        auto const lives =
            concurrent_lifetimes(p, g, each.size(), each, std::vector<value_role>(each.size()));
        auto const conflicts = later_conflicts(g, lives);
        slot_room room(lives, conflicts, 0);
        dice roll{std::mt19937(7)};
        for (std::size_t i = each.size(); i > 1; --i)
            std::swap(each[i - 1], each[roll.below(static_cast<unsigned>(i))]);
        std::vector<std::vector<buffer_id>> slots;
        for (buffer_id b : each) {
            slot_id found = room.find(b);
            if (found == no_slot) {
                found = static_cast<slot_id>(slots.size());
                slots.emplace_back();
            }
            for (buffer_id u : slots[found])
                REQUIRE((gives_to(conflicts, lives, u, b) || gives_to(conflicts, lives, b, u)));
            slots[found].push_back(b);
            room.insert(b, found);
        }
        CHECK(slots.size() > 64);
        CHECK(slots.size() < each.size());
    }
}

TEST_CASE("slots are forgotten in turn, but one that is of use only in the next round")
{
    task_family const family = draw_family("chain", 400); // a buffer conflicts with its two neighbours
    snapshot const p = family.program();
    dependence_graph const g = dependences(p);
    std::vector<buffer_id> each(family.tasks());
    std::iota(each.begin(), each.end(), buffer_id{0});
    auto const lives = concurrent_lifetimes(p, g, each.size(), each, std::vector<value_role>(each.size()));
    auto const conflicts = later_conflicts(g, lives);
    slot_room room(lives, conflicts, 0); // 64 places
    for (slot_id s = 0; s != 64; ++s) room.insert(4 * s, s);
    CHECK(room.find(300) == 0);
    room.insert(300, slot_id{0});
    CHECK(room.find(301) == 1);
    room.insert(320, slot_id{64}); // slot 0 was of use, so slot 1 has to go
    CHECK(room.find(5) == 0);      // slot 0 is still there, with all its tenants
    CHECK(room.find(300) == 64);   // the place of slot 1 is that of slot 64 now
    room.insert(302, slot_id{1});  // which does not bring slot 1 back
    CHECK(room.find(300) == 64);
    CHECK(room.find(320) == 0);
    for (slot_id s = 65; s != 127; ++s) room.insert(320, s); // in the places of slots 2 to 63
    CHECK(room.find(319) == 0);
    room.insert(320, slot_id{127}); // in that of slot 0, which was of no use since
    CHECK(room.find(319) == no_slot);
    for (buffer_id b : {1u, 299u, 300u, 301u}) CHECK(room.find(b) == 127); // none of its tenants is left
}

} // namespace this_test
