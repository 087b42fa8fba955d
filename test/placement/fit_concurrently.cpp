// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/concurrent.hpp>

#include "../dice.hpp"
#include "../random_conflicts.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<std::uint32_t>;
using buffers = std::vector<placement_problem::buffer>;

namespace {

/// Lowest fit by its definition: pairs are tested, and offsets tried one by one.
packing fit_by_trial(buffers const& all, ids const& order, placement_conflicts const& c, byte_count ceiling)
{
    packing p;
    p.origin.assign(all.size(), no_offset);
    auto is_free = [&](std::uint32_t i, byte_count at) {
        for (std::uint32_t j = 0; j != all.size(); ++j)
            if (p.origin[j] != no_offset && c.conflict(i, j) && p.origin[j] < at + all[i].size &&
                at < p.origin[j] + all[j].size)
                return false;
        return true;
    };
    for (bool pinned : {true, false})
        for (std::uint32_t i : order) {
            if ((all[i].pinned != no_offset) != pinned) continue;
            byte_count at = pinned ? all[i].pinned : 0;
            while (!pinned && !is_free(i, at)) at += all[i].alignment;
            if (!pinned && at + all[i].size > ceiling) {
                p.height = no_limit;
                return p;
            }
            p.origin[i] = at;
            p.height = std::max(p.height, at + all[i].size);
        }
    return p;
}

bool is_valid(buffers const& all, packing const& p, placement_conflicts const& c)
{
    for (std::uint32_t i = 0; i != all.size(); ++i) {
        if (p.origin[i] % all[i].alignment != 0 || p.origin[i] + all[i].size > p.height) return false;
        for (std::uint32_t j = 0; j != i; ++j)
            if (c.conflict(i, j) && p.origin[i] < p.origin[j] + all[j].size &&
                p.origin[j] < p.origin[i] + all[i].size)
                return false;
    }
    return true;
}

struct drawn_fit {
    placement_conflicts conflicts;
    buffers all;
    ids order;

    explicit drawn_fit(dice& roll, unsigned n, unsigned alignments = 4)
        : conflicts(draw_conflicts(roll, n, 1 + roll.below(20)))
    {
        for (std::uint32_t i = 0; i != n; ++i) {
            byte_count const size = 1 + roll.below(12), alignment = 1 + roll.below(alignments);
            all.push_back({{}, size, alignment});
            order.insert(order.begin() + roll.below(i + 1), i);
        }
    }
};

/// Four in a row, each in conflict with the next: 2, 3, 2, 4 bytes.
placement_conflicts row_of_four()
{
    placement_conflicts c;
    c.first_begin = {0, 1, 2, 3, 4};
    c.begin = {0, 1, 2, 3};
    c.ranges = {
        live_range_lists::source::from_liveness, 4, {0, 1, 2, 3, 4}, {{0, 2}, {1, 3}, {2, 4}, {3, 4}}};
    return c;
}

} // namespace

TEST_CASE("the order decides")
{
    auto const c = row_of_four();
    placed_by_range placed(c);
    buffers const all{{{}, 2}, {{}, 3}, {{}, 2}, {{}, 4}};
    CHECK(fit_concurrently(all, {0, 2, 1, 3}, placed, 100).height == 6);
    CHECK(fit_concurrently(all, {0, 2, 1, 3}, placed, 100).origin == std::vector<byte_count>{0, 2, 0, 2});
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 100).height == 9);
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 8).height == no_limit);
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 9).height == 9);
}

TEST_CASE("a random order is fitted as by trial of every offset, with pins, up to a ceiling")
{
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        drawn_fit drawn(roll, 1 + roll.below(20));
        if (roll.below(2) == 0) drawn.all[0].pinned = drawn.all[0].alignment * roll.below(10);
        byte_count const ceiling = roll.below(2) == 0 ? 10 + roll.below(40) : 1000;
        placed_by_range placed(drawn.conflicts);
        auto const found = fit_concurrently(drawn.all, drawn.order, placed, ceiling);
        auto const right = fit_by_trial(drawn.all, drawn.order, drawn.conflicts, ceiling);
        REQUIRE(found.height == right.height);
        REQUIRE(found.origin == right.origin);
        auto const again = fit_concurrently(drawn.all, drawn.order, placed, ceiling);
        REQUIRE(again.origin == found.origin);
        REQUIRE(again.visits == found.visits);
    }
}

TEST_CASE("without visits left a fit is valid all the same")
{
    std::size_t higher = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        drawn_fit const drawn(roll, 100);
        placed_by_range placed(drawn.conflicts);
        auto const patient = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1);
        auto const hasty = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1, 0);
        REQUIRE(is_valid(drawn.all, hasty, drawn.conflicts));
        higher += hasty.height > patient.height;
    }
    CHECK(higher != 300);
}

TEST_CASE("who reaches too high is moved forward in the order until the bound is met")
{
    auto const c = row_of_four();
    placed_by_range placed(c);
    buffers const all{{{}, 2}, {{}, 3}, {{}, 2}, {{}, 4}};
    ids const order{1, 0, 2, 3};
    packing p = fit_concurrently(all, order, placed, 100);
    lower_by_reordering(all, c, placed, 6, 0, order, p);
    CHECK(p.height == 9);
    lower_by_reordering(all, c, placed, 6, 100000, order, p);
    CHECK(p.height == 6);
}

TEST_CASE("reordering never makes a placement higher or invalid, moves no pin, and ends without a bound")
{
    std::size_t lower = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        drawn_fit drawn(roll, 1 + roll.below(20));
        if (roll.below(2) == 0) drawn.all[0].pinned = drawn.all[0].alignment * roll.below(10);
        placed_by_range placed(drawn.conflicts);
        packing const before = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1);
        packing after = before;
        lower_by_reordering(drawn.all, drawn.conflicts, placed, 0, 1000000, drawn.order, after);
        REQUIRE(is_valid(drawn.all, after, drawn.conflicts));
        REQUIRE(after.height <= before.height);
        if (drawn.all[0].pinned != no_offset) REQUIRE(after.origin[0] == drawn.all[0].pinned);
        lower += after.height < before.height;
    }
    CHECK(lower > rounds(100));
}

} // namespace this_test
