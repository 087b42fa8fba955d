// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

placement_shapes shapes_of_all(placement_problem const& problem)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (problem.buffers[b].pool == 0) members.push_back(b);
    return shapes_of(problem, members);
}

/// What was inserted, looked at one by one.
struct pile {
    placement_shapes const& all;
    std::vector<std::pair<std::uint32_t, byte_count>> placed = {};

    bool is_free(std::uint32_t s, byte_count origin) const
    {
        for (auto [t, at] : placed)
            for (shape_piece const& mine : all.pieces_of(s))
                for (shape_piece const& other : all.pieces_of(t))
                    if (overlaps(mine.when, other.when) && origin + mine.begin < at + other.end &&
                        at + other.begin < origin + mine.end)
                        return false;
        return true;
    }
    bool is_aligned(std::uint32_t s, byte_count origin) const
    {
        return origin % all.shapes[s].alignment == all.shapes[s].phase;
    }
    byte_count lowest(std::uint32_t s, byte_count from, byte_count highest) const
    {
        for (byte_count at = from; at <= highest; ++at)
            if (is_aligned(s, at) && is_free(s, at)) return at;
        return no_offset;
    }
    byte_count tightest(std::uint32_t s, byte_count highest, byte_count beyond) const
    {
        byte_count best = no_offset, least_room = no_offset;
        for (byte_count at = 0; at <= highest; ++at) {
            if (!is_aligned(s, at) || !is_free(s, at)) continue;
            byte_count end = at;
            while (end != beyond && is_free(s, end + 1)) ++end;
            byte_count const room = end == beyond ? no_offset - 1 : end - at;
            if (room < least_room) {
                best = at;
                least_room = room;
            }
            at = end;
        }
        return best;
    }
    byte_count top(std::uint32_t s, byte_count beyond) const
    {
        byte_count at = beyond;
        while (at != 0 && is_free(s, at - 1)) --at;
        while (!is_aligned(s, at)) ++at;
        return at;
    }
};

} // namespace

TEST_CASE("a shape goes into the lowest gap that it fits, or the tightest, or on top")
{
    placement_problem const problem{{{{0, 2}, 8}, {{0, 2}, 8}, {{1, 3}, 8}, {{0, 3}, 4}}};
    auto const shapes = shapes_of_all(problem);
    placed_pieces all(shapes);
    all.insert(shapes, 0, 12);
    all.insert(shapes, 1, 24);
    CHECK(all.free_origin(shapes, 2, 0, 100) == 0); // shapes go by birth: 2 is the one of 4 bytes
    CHECK(shapes.shapes[2].size == 4);
    CHECK(all.free_origin(shapes, 2, 0, 100, gap_choice::tightest) == 20);
    CHECK(all.free_origin(shapes, 2, 10, 100) == 20);
    CHECK(all.origin_on_top(shapes, 2, 100) == 32);
    CHECK(all.free_origin(shapes, 3, 0, 100) == 0);
    CHECK(all.free_origin(shapes, 3, 5, 100) == 32);
}

TEST_CASE("of two equally tight gaps the lower is taken, and any before the one without end")
{
    placement_problem const problem{{{{0, 2}, 4}, {{0, 2}, 4}, {{0, 2}, 8}}};
    auto const shapes = shapes_of_all(problem);
    placed_pieces all(shapes);
    all.insert(shapes, 0, 12);
    all.insert(shapes, 1, 28);
    CHECK(all.free_origin(shapes, 2, 0, 100, gap_choice::tightest) == 0);
    CHECK(all.free_origin(shapes, 2, 1, 100, gap_choice::tightest) == 1);
    CHECK(all.free_origin(shapes, 2, 5, 100, gap_choice::tightest) == 16);
}

TEST_CASE("nobody placed, nobody in the way; and whoever is too large finds no place")
{
    auto const shapes = shapes_of_all({{{{0, 9}, 8, 16}}});
    placed_pieces all(shapes);
    CHECK(all.free_origin(shapes, 0, 0, 0) == 0);
    CHECK(all.free_origin(shapes, 0, 1, 15) == no_offset);
    CHECK(all.free_origin(shapes, 0, 1, 16) == 16);
    CHECK(all.origin_on_top(shapes, 0, 0) == 0);
    all.insert(shapes, 0, 0);
    CHECK(all.free_origin(shapes, 0, 0, 15) == no_offset);
    CHECK(all.origin_on_top(shapes, 0, 15) == no_offset);
    all.clear();
    CHECK(all.visits() == 0);
    CHECK(all.free_origin(shapes, 0, 0, 15) == 0);
}

TEST_CASE("those that are packed well become one: nobody walks past them one by one")
{
    placement_problem problem;
    for (int i = 0; i != 1000; ++i) problem.buffers.push_back({{0, 2}, 8});
    auto const shapes = shapes_of_all(problem);
    placed_pieces all(shapes);
    for (std::uint32_t s = 0; s != 999; ++s) all.insert(shapes, s, 8 * s);
    std::uint64_t const before = all.visits();
    CHECK(all.free_origin(shapes, 999, 0, no_limit / 2) == 8 * 999);
    CHECK(all.visits() - before < 20);
}

TEST_CASE("random shapes with gaps, windows and alignments: every origin is the one that a scan finds")
{
    std::size_t gaps = 0, nowhere = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        kind.scale = 1;
        kind.pinned = kind.preferred = 0;
        if (seed % 10 == 0) kind.buffers = 20 + roll.below(80), kind.positions = 10 + roll.below(90);
        auto const problem = draw_placement(roll, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        placed_pieces all(shapes);
        pile one_by_one{shapes};
        byte_count beyond = 0;
        for (std::uint32_t s = 0; s != shapes.size(); ++s) {
            byte_count const from = roll.below(3) == 0 ? roll.below(20) : 0;
            byte_count const highest = roll.below(2) == 0 ? roll.below(30) : 2 * beyond + 1000;
            byte_count const lowest = one_by_one.lowest(s, from, highest);
            REQUIRE(all.free_origin(shapes, s, from, highest) == lowest);
            nowhere += lowest == no_offset;
            byte_count const top = one_by_one.top(s, beyond);
            REQUIRE(all.origin_on_top(shapes, s, top) == top);
            if (top != 0) REQUIRE(all.origin_on_top(shapes, s, top - 1) == no_offset);
            byte_count const tight = one_by_one.tightest(s, highest, larger(highest, beyond) + 1);
            REQUIRE(all.free_origin(shapes, s, 0, highest, gap_choice::tightest) == tight);
            gaps += tight != one_by_one.lowest(s, 0, highest);
            byte_count const at =
                roll.below(2) == 0 ? roll.below(40) : one_by_one.lowest(s, 0, 2 * beyond + 1000);
            all.insert(shapes, s, at); // on others, if it comes so
            one_by_one.placed.emplace_back(s, at);
            beyond = larger(beyond, at + shapes.shapes[s].size);
        }
    }
    CHECK(gaps > 100);
    CHECK(nowhere > 100);
}

} // namespace this_test
