// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<placement_problem::buffer>;

packing outwards(placement_shapes const& shapes, placement_order which = placement_order::peak_birth,
                 byte_count ceiling = no_limit - 1)
{
    auto const bound = lower_bound(shapes);
    return fit_outwards(shapes, order_by(which, shapes, bound), bound, ceiling);
}

packing all_outwards(buffers const& b) { return outwards(shapes_of_all({b})); }

/// A gap that `size` bytes fit into with an alignment, between those that overlap in time: the tightest.
byte_count tightest(placement_shapes const& all, std::vector<byte_count> const& origin, std::uint32_t s)
{
    std::vector<std::pair<byte_count, byte_count>> in_the_way;
    for (std::uint32_t t = 0; t != all.size(); ++t)
        if (origin[t] != no_offset && overlaps(all.shapes[s].life, all.shapes[t].life))
            in_the_way.emplace_back(origin[t], origin[t] + all.shapes[t].size);
    std::sort(in_the_way.begin(), in_the_way.end());
    in_the_way.emplace_back(no_limit - 1, no_limit);
    byte_count top = 0, best = no_offset, best_room = no_limit;
    for (auto [begin, end] : in_the_way) {
        byte_count const at = align_up(top, all.shapes[s]);
        if (begin > top && at + all.shapes[s].size <= begin && begin - top < best_room) {
            best = at;
            best_room = begin - top;
        }
        top = end;
    }
    return best;
}

} // namespace

TEST_CASE("who is alive at the peak is stacked, others take the tightest gap of those free at their time")
{
    //            0 1 2 3 4 5
    //     0: 4   [=====)            the peak is at 2
    //     1: 6     [=====)
    //     2: 5       [===)
    //     3: 4             [=)      0 to 4 is free then, and what lies above 15
    //     4: 4             [=)      6 to 10, had 3 not left it
    buffers const b{{{0, 3}, 4}, {{1, 4}, 6}, {{2, 4}, 5}, {{4, 5}, 4}, {{3, 5}, 3}};
    auto const p = all_outwards(b);
    CHECK(p.origin == std::vector<byte_count>{0, 4, 10, 0, 3}); // by birth: 3 is the one of 3 bytes
    CHECK(p.height == 15);
}

TEST_CASE("nothing is placed outwards from nothing")
{
    CHECK(all_outwards(buffers{}).height == 0);
    CHECK(all_outwards({{{5, 6}, 8, 64}}).origin == std::vector<byte_count>{0});
}

TEST_CASE("where all live together, or each within another, nothing is lost")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        buffers together, brackets;
        std::vector<step_id> open;
        for (step_id at = 0; at != 60; ++at) {
            byte_count const size = 1 + roll.below(50);
            together.push_back({{roll.below(30), 31 + roll.below(30)}, size});
            if (open.empty() || roll.below(2) == 0) {
                open.push_back(at);
            } else {
                brackets.push_back({{open.back(), at}, size});
                open.pop_back();
            }
        }
        for (buffers const& b : {together, brackets})
            CHECK(all_outwards(b).height == lower_bound(shapes_of_all({b})).bytes);
    }
}

TEST_CASE("what ends above the ceiling is given up, in the stack and beside it")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 8}, {{1, 3}, 8}, {{2, 4}, 7}, {{3, 5}, 7}}});
    CHECK(outwards(shapes, placement_order::peak_birth, 16).height == 16);
    CHECK(outwards(shapes, placement_order::peak_birth, 15).height == no_limit);
    auto const beside = shapes_of_all({{{{0, 2}, 4}, {{0, 1}, 4, 1}, {{2, 4}, 3, 5}, {{3, 4}, 3, 5}}});
    CHECK(outwards(beside, placement_order::peak_birth, 8).height == 8);
    CHECK(outwards(beside, placement_order::peak_birth, 7).height == no_limit);
}

TEST_CASE("a pinned shape is not placed outwards")
{
    CHECK_THROWS_AS((void)all_outwards(buffers{{{0, 1}, 8, 1, 0, 8}}), precondition_error);
}

TEST_CASE("random shapes: each origin is the one that a look at all that is placed finds")
{
    std::size_t gaps = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        kind.pinned = kind.preferred = 0;
        if (seed % 3 != 0) kind.buffers = 8 + roll.below(30), kind.positions = 8 + roll.below(30);
        auto const problem = draw_placement(roll, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const bound = lower_bound(shapes);
        auto const which = roll.below(2) == 0 ? placement_order::peak_birth : placement_order::peak_death;
        auto const p = outwards(shapes, which);

        std::vector<std::uint32_t> before, stack, after;
        for (std::uint32_t s : order_by(which, shapes, bound)) {
            live_range const life = shapes.shapes[s].life;
            (contains(life, bound.peak_position) ? stack
             : life.last <= bound.peak_position  ? before
                                                 : after)
                .push_back(s);
        }
        auto larger_first = [&](std::uint32_t s, std::uint32_t t) {
            return shapes.shapes[s].size != shapes.shapes[t].size
                       ? shapes.shapes[s].size > shapes.shapes[t].size
                       : s < t;
        };
        std::sort(after.begin(), after.end(), [&](auto s, auto t) {
            live_range const one = shapes.shapes[s].life, other = shapes.shapes[t].life;
            return one.first != other.first ? one.first < other.first : larger_first(s, t);
        });
        std::sort(before.begin(), before.end(), [&](auto s, auto t) {
            live_range const one = shapes.shapes[s].life, other = shapes.shapes[t].life;
            return one.last != other.last ? one.last > other.last : larger_first(s, t);
        });
        std::vector<byte_count> origin(shapes.size(), no_offset);
        byte_count height = 0;
        auto put = [&](std::uint32_t s, byte_count at) {
            origin[s] = at;
            height = std::max(height, at + shapes.shapes[s].size);
        };
        for (std::uint32_t s : stack) put(s, align_up(height, shapes.shapes[s]));
        byte_count const top = height;
        for (auto const& side : {after, before})
            for (std::uint32_t s : side) {
                put(s, tightest(shapes, origin, s));
                gaps += origin[s] + shapes.shapes[s].size < top;
            }
        REQUIRE(p.origin == origin);
        REQUIRE(p.height == height);
    }
    CHECK(gaps > 1000);
}

} // namespace this_test
