// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<placement_problem::buffer>;

packing packed(buffers const& b, std::vector<std::uint32_t> const& order,
               gap_choice choice = gap_choice::lowest, fit_limits limits = {})
{
    return fit(shapes_of_all({b}), order, choice, limits);
}

/// Two shapes share a byte at a position.
bool clash(placement_shapes const& all, std::uint32_t s, byte_count at, std::uint32_t t, byte_count there)
{
    for (shape_piece const& mine : all.pieces_of(s))
        for (shape_piece const& other : all.pieces_of(t))
            if (overlaps(mine.when, other.when) && at + mine.begin < there + other.end &&
                there + other.begin < at + mine.end)
                return true;
    return false;
}

} // namespace

TEST_CASE("lowest takes the first gap that is large enough, tightest the smallest")
{
    //  12 bytes of gap, then one of 8, between two that are pinned
    buffers const b{{{0, 3}, 4, 1, 0, 12}, {{0, 3}, 4, 1, 0, 24}, {{1, 3}, 8}};
    CHECK(packed(b, {2, 0, 1}, gap_choice::lowest).origin[2] == 0);
    CHECK(packed(b, {2, 0, 1}, gap_choice::tightest).origin[2] == 16);
}

TEST_CASE("a gap that only alignment makes too small is passed over")
{
    buffers b{{{0, 2}, 3, 1, 0, 0}, {{0, 2}, 4, 1, 0, 10}, {{0, 2}, 6, 8}};
    CHECK(packed(b, {0, 1, 2}).origin[2] == 16);
    b[2].alignment = 3;
    CHECK(packed(b, {0, 1, 2}, gap_choice::tightest).origin[2] == 3);
}

TEST_CASE("who does not overlap in time may lie at the same place")
{
    auto const p = packed({{{0, 2}, 8}, {{2, 4}, 8}}, {0, 1});
    CHECK(p.origin == std::vector<byte_count>{0, 0});
    CHECK(p.height == 8);
}

TEST_CASE("who is not in the order is not placed")
{
    auto const p = packed({{{0, 2}, 8}, {{0, 2}, 4}}, {1});
    CHECK(p.origin == std::vector<byte_count>{no_offset, 0});
    CHECK(p.height == 4);
    CHECK(packed({}, {}).height == 0);
}

TEST_CASE("a packing that cannot end below the ceiling is given up")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}};
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.ceiling = 16}).height == 16);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.ceiling = 15}).height == no_limit);
    CHECK(packed(b, {0, 1}, gap_choice::tightest, {.ceiling = 15}).height == no_limit);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.ceiling = 7}).height == no_limit); // not even the first
    CHECK(packed({{{0, 1}, 8, 1, 0, 8}}, {0}, gap_choice::lowest, {.ceiling = 15}).height == no_limit);
}

TEST_CASE("a preferred origin is taken where it is free and nothing gets higher by it")
{
    buffers b{{{0, 2}, 8}, {{0, 2}, 4}};
    b[1].preferred = 12;
    CHECK(packed(b, {0, 1}).origin[1] == 8);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.expected = 15}).origin[1] == 8);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.expected = 16}).origin[1] == 12);
    b[1].preferred = 7;
    CHECK(packed(b, {0, 1}, gap_choice::lowest, {.expected = 16}).origin[1] == 8);
    b[1].preferred = 4;
    CHECK(packed(b, {1, 0}, gap_choice::lowest, {.expected = 12}).origin == std::vector<byte_count>{8, 4});
    b[1].alignment = 3;
    CHECK(packed(b, {1, 0}, gap_choice::lowest, {.expected = 12}).origin[1] == 0);
    b[1].preferred = no_offset - 1;
    CHECK(packed(b, {1, 0}, gap_choice::lowest, {.expected = 12}).origin[1] == 0);
}

TEST_CASE("once patience is spent all others go on top, and gaps are left")
{
    buffers const b{{{0, 3}, 4, 1, 0, 8}, {{0, 1}, 2}, {{1, 2}, 6}, {{2, 3}, 2}};
    auto const p = packed(b, {0, 1, 2, 3}, gap_choice::lowest, {.patience = 0});
    CHECK(p.origin == std::vector<byte_count>{8, 12, 12, 12});
    CHECK(packed(b, {0, 1, 2, 3}).origin == std::vector<byte_count>{8, 0, 0, 0});
}

TEST_CASE("a packing that takes too many visits is given up")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}, {{0, 2}, 8}};
    auto const p = packed(b, {0, 1, 2});
    CHECK(p.visits > 8);
    CHECK(packed(b, {0, 1, 2}, gap_choice::lowest, {.visits = p.visits}).origin == p.origin);
    CHECK(packed(b, {0, 1, 2}, gap_choice::lowest, {.visits = 1}).height == no_limit);
}

TEST_CASE("offsets go up to the last of 64 bits and never round it")
{
    byte_count const most = (byte_count{1} << 62) - 1;
    buffers b(5, placement_problem::buffer{{0, 2}, most});
    CHECK(packed(b, {0, 1, 2, 3}).height == 4 * most);
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == no_limit);
    b[4] = {{0, 2}, 1, most};
    CHECK(packed(b, {0, 1, 2, 4}).height == 3 * most + 1);
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == 4 * most + 1);
    b[4].alignment = byte_count{1} << 61;
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == no_limit);
}

TEST_CASE("random shapes in random orders: each origin is the one that a scan over all offsets finds")
{
    std::size_t preferred = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        kind.scale = 1;
        kind.pinned = 0;
        auto const problem = draw_placement(roll, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        std::vector<std::uint32_t> order(shapes.size());
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[roll.below(static_cast<std::uint32_t>(i))]);
        byte_count const expected = roll.below(30);
        auto const p = fit(shapes, order, gap_choice::lowest, {.expected = expected});

        std::vector<byte_count> origin(shapes.size(), no_offset);
        byte_count height = 0;
        for (std::uint32_t s : order) {
            placement_shape const& shape = shapes.shapes[s];
            auto is_free = [&](byte_count at) {
                if (at % shape.alignment != shape.phase) return false;
                for (std::uint32_t t = 0; t != shapes.size(); ++t)
                    if (origin[t] != no_offset && clash(shapes, s, at, t, origin[t])) return false;
                return true;
            };
            byte_count at = 0;
            while (!is_free(at)) ++at;
            byte_count const top = std::max({height, expected, at + shape.size});
            bool const takes = shape.preferred != no_offset && shape.preferred + shape.size <= top &&
                               is_free(shape.preferred);
            if (takes && at != shape.preferred) ++preferred;
            origin[s] = takes ? shape.preferred : at;
            height = std::max(height, origin[s] + shape.size);
        }
        CHECK(p.origin == origin);
        CHECK(p.height == height);
        auto const hasty = fit(shapes, order, gap_choice::lowest, {.patience = roll.below(100)});
        for (std::uint32_t s = 0; s != shapes.size(); ++s)
            for (std::uint32_t t = 0; t != s; ++t)
                CHECK(!clash(shapes, s, hasty.origin[s], t, hasty.origin[t]));
    }
    CHECK(preferred > rounds(100));
}

} // namespace this_test
