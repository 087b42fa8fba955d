// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/placed_by_range.hpp>

#include "../dice.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace sublet;

namespace {

/// Any begins and ranges at all: the conflicts need not be those of a program.
placement_conflicts draw_conflicts(dice& roll, std::size_t buffers, step_id positions)
{
    placement_conflicts drawn;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (std::size_t b = 0; b != buffers; ++b) {
        step_id at = roll.below(positions);
        drawn.begins.append(at);
        for (step_id more = at; roll.below(4) == 0 && (more += 1 + roll.below(3)) < positions;)
            drawn.begins.append(more);
        drawn.begins.close_row();
        for (step_id from = at; from < positions; from += 1 + roll.below(4)) {
            step_id const to = smaller(positions, from + 1 + roll.below(4));
            ranges.push_back({from, to});
            from = to;
            if (roll.below(2) == 0) break;
        }
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    drawn.ranges = {interval_method::from_liveness, positions, std::move(first), std::move(ranges)};
    return drawn;
}

struct stay {
    buffer_id who;
    byte_count begin, end;
};

byte_count lowest_by_trial(placement_conflicts const& c, std::vector<stay> const& placed, buffer_id b,
                           byte_count size, byte_count alignment, byte_count ceiling)
{
    for (byte_count at = 0; at + size <= ceiling; at += alignment)
        if (std::none_of(placed.begin(), placed.end(),
                         [&](stay s) { return c.conflict(b, s.who) && s.begin < at + size && at < s.end; }))
            return at;
    return no_offset;
}

} // namespace

TEST_CASE("the first gap that is wide enough is found, and a ceiling is kept")
{
    placement_conflicts c;
    for (int i = 0; i != 3; ++i) c.begins.append(0), c.begins.close_row();
    c.ranges = {interval_method::from_liveness, 1, {0, 1, 2, 3}, {{0, 1}, {0, 1}, {0, 1}}};
    placed_by_range placed(c);
    std::uint64_t visits = 0;
    CHECK(placed.lowest_gap(2, 8, 1, 8, visits) == 0);
    placed.insert(0, 4, 8);
    placed.insert(1, 16, 20);
    CHECK(placed.lowest_gap(2, 4, 1, 100, visits) == 0);
    CHECK(placed.lowest_gap(2, 5, 1, 100, visits) == 8);
    CHECK(placed.lowest_gap(2, 5, 3, 100, visits) == 9);
    CHECK(placed.lowest_gap(2, 9, 1, 100, visits) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 29, visits) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 28, visits) == no_offset);
    CHECK(placed.lowest_gap(2, 9, 1, 8, visits) == no_offset);
    CHECK(visits != 0);
}

TEST_CASE("random placements leave the gaps that a trial of every offset finds")
{
    for (std::uint32_t seed = 0; seed != 1500; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const n = 1 + roll.below(25);
        auto const c = draw_conflicts(roll, n, 1 + roll.below(20));
        placed_by_range placed(c);
        std::vector<stay> stays;
        std::uint64_t visits = 0;
        for (buffer_id b = 0; b != n; ++b) {
            byte_count const size = 1 + roll.below(9), alignment = 1 + roll.below(4);
            byte_count const ceiling = roll.below(3) == 0 ? 1 + roll.below(40) : 1000;
            byte_count at = placed.lowest_gap(b, size, alignment, ceiling, visits);
            REQUIRE(at == lowest_by_trial(c, stays, b, size, alignment, ceiling));
            if (at == no_offset) continue;
            if (roll.below(5) == 0) at += roll.below(20); // may lie over others: unions do not mind
            placed.insert(b, at, at + size);
            stays.push_back({b, at, at + size});
        }
    }
}
