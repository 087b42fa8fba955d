// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/improve.hpp>

#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/fewest_that_fail.hpp>
#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// The highest end, if no two shapes share a byte at a position; 0 otherwise.
byte_count height_if_packed(placement_shapes const& all, packing const& p)
{
    byte_count height = 0;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        if (p.origin[s] == no_offset) return 0;
        if (all.shapes[s].pinned != no_offset && all.shapes[s].pinned != p.origin[s]) return 0;
        if (p.origin[s] % all.shapes[s].alignment != all.shapes[s].phase % all.shapes[s].alignment) return 0;
        height = std::max(height, p.origin[s] + all.shapes[s].size);
        for (std::uint32_t t = 0; t != s; ++t)
            for (shape_piece const& mine : all.pieces_of(s))
                for (shape_piece const& other : all.pieces_of(t))
                    if (overlaps(mine.when, other.when) &&
                        p.origin[s] + mine.begin < p.origin[t] + other.end &&
                        p.origin[t] + other.begin < p.origin[s] + mine.end)
                        return 0;
    }
    return height;
}

/// A network of blocks: what goes round a block is alive as long as the block is.
placement_problem blocks(dice& roll, unsigned count)
{
    placement_problem problem;
    for (step_id at = 0, block = 0; block != count; ++block) {
        unsigned const steps = 3 + roll.below(4);
        problem.buffers.push_back({{at, at + steps + 1}, 10 + roll.below(10)});
        for (unsigned i = 0; i != steps; ++i)
            problem.buffers.push_back({{at + i, at + i + 2}, 10 + roll.below(40)});
        at += steps;
    }
    return problem;
}

struct counts_questions : steady {
    int left = 0;
    bool stop(byte_count, byte_count, std::uint64_t) override { return --left < 0; }
};

} // namespace

TEST_CASE("a packing at its bound is returned as it is")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 4}}});
    steady driver;
    std::uint32_t tried = 0;
    packing const p = improve(all, lower_bound(all), packing{{0, 8}, 12}, {}, driver, tried);
    CHECK(p.origin == std::vector<byte_count>{0, 8});
    CHECK(tried == 0);
}

TEST_CASE("a packing that any order would have avoided is lowered to the bound")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}, {{0, 4}, 3}}});
    steady driver;
    std::uint32_t tried = 0;
    packing const p = improve(all, lower_bound(all), packing{{0, 11, 8}, 19}, {}, driver, tried);
    CHECK(p.height == 11);
    CHECK(height_if_packed(all, p) == 11);
}

TEST_CASE("what is said to be low enough is not lowered any further")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}}});
    steady driver;
    std::uint32_t tried = 0;
    placement_bound bound = lower_bound(all);
    bound.bytes = 16;
    CHECK(improve(all, bound, packing{{0, 8}, 16}, {}, driver, tried).height == 16);
    CHECK(tried == 0);
}

TEST_CASE("where nothing is lower two pyramids are tried, and the visits are spent in vain")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 4, 1, 0, 2}, {{0, 2}, 4}}}); // the bound is 8
    steady driver;
    std::uint32_t tried = 0;
    packing const p = improve(all, lower_bound(all), packing{{2, 6}, 10}, {.visits = 100'000}, driver, tried);
    CHECK(p.origin == std::vector<byte_count>{2, 6});
    CHECK(tried == 2);
}

TEST_CASE("a driver that has enough gets what there is")
{
    dice roll{std::mt19937{21}};
    placement_shapes const all = shapes_of_all(blocks(roll, 30));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    for (int questions : {0, 1, 2, 3, 5, 20}) {
        CAPTURE(questions);
        counts_questions driver;
        driver.left = questions;
        std::uint32_t tried = 0;
        packing const p = improve(all, lower_bound(all), start, {}, driver, tried);
        CHECK(height_if_packed(all, p) == p.height);
        CHECK(p.height <= start.height);
        CHECK((questions != 0 || p.origin == start.origin));
    }
}

TEST_CASE("what orders leave above the bound in a network comes down to it")
{
    dice roll{std::mt19937{22}};
    byte_count before = 0, after = 0, bounds = 0;
    for (int round = 0; round != 12; ++round) {
        CAPTURE(round);
        placement_shapes const all = shapes_of_all(blocks(roll, 60));
        placement_bound const bound = lower_bound(all);
        packing const start = first_packing(all, bound);
        steady driver;
        std::uint32_t tried = 0;
        packing const p = improve(all, bound, start, {.visits = 2'000'000}, driver, tried);
        CHECK(height_if_packed(all, p) == p.height);
        before += start.height - bound.bytes;
        after += p.height - bound.bytes;
        bounds += bound.bytes;
    }
    CHECK(before > bounds / 50);
    CHECK(after < before / 10);
}

TEST_CASE("problems of any kind are packed no higher, and validly, with the same result for the same seed")
{
    dice roll{std::mt19937{23}};
    for (unsigned round = 0; round != rounds(1500); ++round) {
        CAPTURE(round);
        random_placement_shape traits = draw_placement_shape(roll);
        traits.buffers = 1 + roll.below(20);
        placement_shapes const all = shapes_of_all(draw_placement(roll, traits));
        if (all.fault != shape_fault::none || clashing_pins(all).are) continue;
        placement_bound const bound = lower_bound(all);
        packing const start = fit(all, order_by(placement_order::birth, all, bound));
        steady driver;
        std::uint32_t tried = 0;
        improve_options const options{.visits = 20'000, .seed = roll.below(3)};
        packing const p = improve(all, bound, start, options, driver, tried);
        CHECK(height_if_packed(all, p) == p.height);
        CHECK(p.height <= start.height);
        CHECK(p.height >= bound.bytes);
        CHECK(improve(all, bound, start, options, driver, tried).origin == p.origin);
    }
}

TEST_CASE("more visits than a number holds are no limit, and none are none")
{
    dice roll{std::mt19937{24}};
    placement_shapes const all = shapes_of_all(blocks(roll, 20));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    steady driver;
    std::uint32_t tried = 0;
    CHECK(improve(all, lower_bound(all), start, {.visits = 0}, driver, tried).origin == start.origin);
    placement_bound bound = lower_bound(all);
    bound.bytes = start.height - 1; // soon reached
    CHECK(improve(all, bound, start, {.visits = no_limit}, driver, tried).height < start.height);
}

} // namespace this_test
