// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static placement_shape sized(byte_count size, byte_count alignment = 1, byte_count phase = 0)
{
    placement_shape shape;
    shape.size = size;
    shape.alignment = alignment;
    shape.phase = phase;
    return shape;
}

TEST_CASE("who comes takes the tightest gap, who leaves gives back a gap that grows with its neighbours")
{
    gap_list gaps(6);
    for (std::uint32_t who = 0; who != 5; ++who) gaps.stack(who, 10 * who, 10 - who); // 1 to 4 bytes between
    CHECK(gaps.take(5, sized(2), 100) == 19 + 9);                                     // of 2 bytes, above 2
    gaps.give_back(5);
    gaps.give_back(1); // 9 and 2 more: 10 to 20
    CHECK(gaps.take(5, sized(3), 100) == 37);
    gaps.give_back(5);
    CHECK(gaps.take(5, sized(4), 100) == 10);
    gaps.give_back(5);
    CHECK(gaps.take(1, sized(10), 100) == 10);
    CHECK(gaps.take(5, sized(10), 100) == 46);
}

TEST_CASE("of equal gaps the lowest is taken, and none above the ceiling")
{
    gap_list gaps(5);
    gaps.stack(0, 4, 4);
    gaps.stack(1, 12, 4);
    CHECK(gaps.take(2, sized(4), 3) == no_offset);
    CHECK(gaps.take(2, sized(4), 4) == 0);
    CHECK(gaps.take(3, sized(4), 11) == no_offset);
    CHECK(gaps.take(3, sized(4), 12) == 8);
    CHECK(gaps.take(4, sized(4), 19) == no_offset);
    CHECK(gaps.take(4, sized(4), 20) == 16);
}

TEST_CASE("an origin is where alignment and phase allow, and what lies below it stays free")
{
    gap_list gaps(3);
    gaps.stack(0, 0, 3);
    CHECK(gaps.take(1, sized(8, 16, 5), 100) == 5);
    CHECK(gaps.take(2, sized(2), 100) == 3);
}

TEST_CASE("a thousand come and go: each goes where a look at all gaps says")
{
    std::size_t misfits = 0;
    for (unsigned seed = 0; seed != 40; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        bool const is_aligned = seed % 2 == 1;
        std::uint32_t const n = 1000;
        gap_list gaps(n);
        std::map<byte_count, std::pair<byte_count, std::uint32_t>> alive; // by begin: end, who
        for (std::uint32_t who = 0; who != n; ++who) {
            while (!alive.empty() && roll.below(seed % 4 < 2 ? 5 : 9) < 4) {
                auto gone = alive.begin();
                for (std::uint32_t k = roll.below(static_cast<std::uint32_t>(alive.size())); k != 0; --k)
                    ++gone;
                gaps.give_back(gone->second.second);
                alive.erase(gone);
            }
            byte_count const alignment = is_aligned ? byte_count{1} << roll.below(4) : 1;
            placement_shape const shape = sized(1 + roll.below(60), alignment, roll.below(2) % alignment);
            std::set<std::pair<byte_count, byte_count>> by_room; // room, begin
            byte_count top = 0;
            for (auto const& [begin, rest] : alive) {
                if (begin != top) by_room.emplace(begin - top, top);
                top = rest.first;
            }
            by_room.emplace(no_limit - 1 - top, top);
            byte_count expected = no_offset;
            int tried = 0;
            for (auto [room, begin] : by_room) {
                byte_count const at = align_up(begin, shape);
                if (room < shape.size) continue;
                if (tried >= 64 && room < shape.size + shape.alignment) continue;
                if (at + shape.size <= begin + room) {
                    expected = at;
                    break;
                }
                ++tried;
            }
            misfits += tried != 0;
            byte_count const at = gaps.take(who, shape, no_limit - 1);
            REQUIRE(at == expected);
            alive[at] = {at + shape.size, who};
        }
    }
    CHECK(misfits > 1000);
}

TEST_CASE("where many gaps are too small by alignment only, one is taken that is large enough for sure")
{
    gap_list gaps(300);
    for (std::uint32_t who = 0; who != 200; ++who) gaps.stack(who, 16 * who, 7); // 9 bytes from 7 to 16
    gaps.stack(200, 200 * 16 + 24, 1);                                           // and 33, behind them
    CHECK(gaps.take(201, sized(8, 16), no_limit - 1) == 200 * 16);
    CHECK(gaps.take(202, sized(9, 16, 7), no_limit - 1) == 7);
    CHECK(gaps.take(203, sized(10, 16), no_limit - 1) == 201 * 16 + 16);
}

} // namespace this_test
