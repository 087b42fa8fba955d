// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/improve.hpp>

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
using buffers = std::vector<placement_problem::buffer>;
using origins = std::vector<byte_count>;

bool never() { return false; }

/// All shapes lie below the ceiling, where pins and alignment allow, and no two share a byte at a position.
bool is_packed(placement_shapes const& all, origins const& origin, byte_count ceiling)
{
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        placement_shape const& shape = all.shapes[s];
        if (origin[s] > ceiling || origin[s] + shape.size > ceiling) return false;
        if (shape.pinned == no_offset ? origin[s] % shape.alignment != shape.phase
                                      : origin[s] != shape.pinned)
            return false;
        for (std::uint32_t t = 0; t != s; ++t)
            for (shape_piece const& p : all.pieces_of(s))
                for (shape_piece const& q : all.pieces_of(t))
                    if (overlaps(p.when, q.when) && origin[s] + p.begin < origin[t] + q.end &&
                        origin[t] + q.begin < origin[s] + p.end)
                        return false;
    }
    return true;
}

byte_count height_of(placement_shapes const& all, origins const& origin)
{
    byte_count height = 0;
    for (std::size_t s = 0; s != all.size(); ++s) height = std::max(height, origin[s] + all.shapes[s].size);
    return height;
}

} // namespace

TEST_CASE("what is too high takes a place that is free")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}}});
    origins origin{0, 8};
    CHECK(ejection(all, 0).lower(origin, 8, {}, never));
    CHECK(origin == origins{0, 0});
}

TEST_CASE("where nothing is free the lighter one is pushed out, and finds another place")
{
    //  4 lies on 0, and no other place is high enough for it; what it pushes out fits beside both
    placement_shapes const all = shapes_of_all({{{{0, 6}, 4}, {{0, 2}, 8}, {{2, 4}, 4}, {{2, 6}, 8}}});
    origins origin{8, 0, 12, 0};
    REQUIRE(is_packed(all, origin, 16));
    CHECK(ejection(all, 0).lower(origin, 16, {}, never));
    origin = {12, 0, 8, 0};
    REQUIRE(is_packed(all, origin, 16));
    origin = {4, 8, 0, 8};
    REQUIRE(is_packed(all, origin, 16));
    CHECK(ejection(all, 0).lower(origin, 16, {}, never));
}

TEST_CASE("who moves takes the place that it prefers, if that is free")
{
    placement_problem problem{{{{0, 2}, 8}, {{0, 4}, 2}, {{2, 4}, 4}}};
    auto lowered = [&](byte_count preferred, byte_count alignment) {
        problem.buffers[2].preferred = preferred;
        problem.buffers[2].alignment = alignment;
        placement_shapes const all = shapes_of_all(problem);
        origins origin{0, 8, 12};
        CHECK(ejection(all, 0).lower(origin, 12, {}, never));
        return origin[2];
    };
    CHECK(lowered(3, 1) == 3);
    CHECK(lowered(4, 4) == 4);
    CHECK(lowered(3, 4) == 0);  // not aligned
    CHECK(lowered(5, 1) == 0);  // not free
    CHECK(lowered(10, 1) == 0); // too high
    CHECK(lowered(no_offset, 1) == 0);
}

TEST_CASE("a pinned shape is in everybody's way and in nobody's power")
{
    placement_shapes const all =
        shapes_of_all({{{{0, 4}, 4, 1, 0, 4}, {{0, 4}, 4}, {{0, 2}, 6}, {{2, 4}, 6}}});
    origins origin{4, 0, 8, 14};
    CHECK(ejection(all, 0).lower(origin, 14, {}, never));
    CHECK(origin == origins{4, 0, 8, 8});
    CHECK_FALSE(ejection(all, 0).lower(origin, 13, {1000}, never));
    CHECK(origin == origins{4, 0, 8, 8});
}

TEST_CASE("below a pin, and below a shape, there is no packing to look for")
{
    placement_shapes const all = shapes_of_all({{{{0, 4}, 4, 1, 0, 4}, {{4, 8}, 6}}});
    origins origin{4, 2};
    CHECK_FALSE(ejection(all, 0).lower(origin, 7, {}, never));
    CHECK_FALSE(ejection(all, 0).lower(origin, 5, {}, never));
    CHECK(origin == origins{4, 2});
    CHECK(ejection(all, 0).lower(origin, 8, {}, never));
}

TEST_CASE("pins that leave room nowhere end the attempt")
{
    placement_shapes const all = shapes_of_all({{{{0, 4}, 4, 1, 0, 2}, {{0, 4}, 4, 1, 0, 8}, {{1, 3}, 5}}});
    origins origin{2, 8, 12};
    CHECK_FALSE(ejection(all, 0).lower(origin, 14, {}, never)); // without any limit
}

TEST_CASE("an attempt ends with its steps, its visits, or when it is told so")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 8}}}); // 8 is not enough
    origins origin{0, 8};
    ejection eject(all, 0);
    CHECK_FALSE(eject.lower(origin, 8, {.steps = 10}, never));
    CHECK(eject.steps() == 10);
    std::uint64_t const before = eject.visits();
    CHECK_FALSE(eject.lower(origin, 8, {.visits = before + 5000}, never));
    CHECK(eject.visits() >= before + 5000);
    CHECK(eject.visits() < before + 6000);
    int asked = 0;
    CHECK_FALSE(eject.lower(origin, 8, {}, [&] { return ++asked == 3; }));
    CHECK(origin == origins{0, 8});
}

TEST_CASE("what an attempt has moved about does not matter to the next")
{
    dice roll{std::mt19937{15}};
    random_placement_shape traits;
    traits.buffers = 30;
    traits.positions = 12;
    traits.sizes = 20;
    placement_shapes const all = shapes_of_all(draw_placement(roll, traits));
    placement_bound const bound = lower_bound(all);
    origins const by_size = fit(all, order_by(placement_order::size, all, bound)).origin;
    origins const by_birth = fit(all, order_by(placement_order::birth, all, bound)).origin;
    ejection eject(all, 0);
    origins origin = by_size;
    CHECK_FALSE(eject.lower(origin, bound.bytes - 1, {100}, never)); // nothing is so low
    CHECK(origin == by_size);
    origin = by_birth;
    CHECK(eject.lower(origin, height_of(all, by_birth), {0}, never));
    CHECK(origin == by_birth);
    CHECK_FALSE(eject.lower(origin, bound.bytes - 1, {100}, never));
    origin = by_size;
    CHECK(eject.lower(origin, height_of(all, by_size), {0}, never));
    CHECK(origin == by_size);
}

TEST_CASE("nobody has to move where all is low enough already")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 8}}});
    origins origin{8, 0};
    CHECK(ejection(all, 0).lower(origin, 16, {.steps = 0}, never));
    CHECK(origin == origins{8, 0});
    placement_shapes const none = shapes_of_all({});
    origin.clear();
    CHECK(ejection(none, 0).lower(origin, 0, {}, never));
}

TEST_CASE("what is lowered is a packing below the ceiling, and what is not is as it was")
{
    dice roll{std::mt19937{12}};
    int lowered = 0, asked = 0;
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        random_placement_shape traits = draw_placement_shape(roll);
        traits.buffers = 1 + roll.below(24);
        placement_problem const problem = draw_placement(roll, traits);
        placement_shapes const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none || clashing_pins(all).are) continue;
        packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
        origins origin = start.origin;
        byte_count const ceiling = roll.below(static_cast<std::uint32_t>(start.height) + 1);
        ++asked;
        if (ejection(all, roll.below(5)).lower(origin, ceiling, {200}, never)) {
            ++lowered;
            CHECK(is_packed(all, origin, ceiling));
        } else {
            CHECK(origin == start.origin);
        }
    }
    CHECK(lowered > asked / 10);
}

TEST_CASE("small packings are nearly always lowered to where nothing is lower")
{
    dice roll{std::mt19937{13}};
    int reached = 0, asked = 0;
    for (unsigned round = 0; round != rounds(400); ++round) {
        CAPTURE(round);
        // Slabs cut into bricks: the height is what they were cut from.
        byte_count const height = 60;
        buffers b;
        for (step_id at = 0; at < 12; at += 3)
            for (byte_count low = 0; low != height;) {
                byte_count const size = std::min<byte_count>(height - low, 1 + roll.below(40));
                b.push_back({{at, at + 3}, size});
                low += size;
            }
        b.push_back({{2, 8}, 1 + roll.below(5)});
        placement_shapes const all = shapes_of_all({b});
        byte_count const bound = lower_bound(all).bytes;
        packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
        origins origin = start.origin;
        ++asked;
        reached += ejection(all, 1).lower(origin, bound, {2000}, never);
        CHECK(height_of(all, origin) <= start.height);
    }
    CHECK(reached > asked * 9 / 10);
}

TEST_CASE("the same seed lowers in the same way")
{
    dice roll{std::mt19937{14}};
    random_placement_shape traits;
    traits.buffers = 40;
    traits.positions = 20;
    traits.sizes = 30;
    placement_shapes const all = shapes_of_all(draw_placement(roll, traits));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    byte_count const ceiling = (lower_bound(all).bytes + start.height) / 2;
    origins once = start.origin, twice = start.origin;
    ejection a(all, 3), b(all, 3);
    CHECK(a.lower(once, ceiling, {5000}, never) == b.lower(twice, ceiling, {5000}, never));
    CHECK(once == twice);
    CHECK(a.visits() == b.visits());
}

} // namespace this_test
