// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/best_packing.hpp>

#include "../random_placements.hpp"

#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace {

using namespace sublet;

placement_shapes shapes_of_all(placement_problem const& problem)
{
    std::vector<buffer_id> members(problem.buffers.size());
    std::iota(members.begin(), members.end(), 0u);
    return shapes_of(problem, members);
}

bool is_sound(placement_shapes const& all, packing const& p)
{
    byte_count height = 0;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        placement_shape const& shape = all.shapes[s];
        if (p.origin[s] % shape.alignment != shape.phase) return false;
        if (shape.pinned != no_offset && shape.pinned != p.origin[s]) return false;
        height = larger(height, p.origin[s] + shape.size);
        for (std::uint32_t t = 0; t != s; ++t)
            for (shape_piece const& mine : all.pieces_of(s))
                for (shape_piece const& other : all.pieces_of(t))
                    if (overlaps(mine.when, other.when) &&
                        p.origin[s] + mine.begin < p.origin[t] + other.end &&
                        p.origin[t] + other.begin < p.origin[s] + mine.end)
                        return false;
    }
    return height == p.height;
}

} // namespace

TEST_CASE("random shapes with everything: packings are sound, and more orders never make them higher")
{
    std::size_t lower = 0, pins = 0;
    for (unsigned seed = 0; seed != 3000; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        if (seed % 10 == 0) kind.buffers = 10 + roll.below(30), kind.positions = 10 + roll.below(30);
        if (seed % 100 != 1) kind.pinned = seed % 100 == 2 ? 5 : 0;
        auto const problem = draw_placement(roll, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const bound = lower_bound(shapes);
        packing const first = first_packing(shapes, bound);
        if (kind.pinned != 0 && !is_sound(shapes, first)) continue; // pins that clash
        pins += kind.pinned != 0;
        REQUIRE(is_sound(shapes, first));
        REQUIRE(first.height >= bound.bytes);
        std::uint32_t tried = 0;
        packing const best = best_packing(shapes, bound, 1'000'000, first, tried);
        REQUIRE(is_sound(shapes, best));
        REQUIRE(best.height <= first.height);
        lower += best.height < first.height;
    }
    CHECK(lower > 100);
    CHECK(pins > 10);
}

TEST_CASE("no further order is begun once the bound is met, or visits are spent")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}}}); // 7, and the bound is 6
    auto bound = lower_bound(shapes);
    auto const first = first_packing(shapes, bound);
    CHECK(first.height == 7);
    std::uint32_t tried = 0;
    CHECK(best_packing(shapes, bound, 0, first, tried).height == 7);
    CHECK(tried == 0);
    CHECK(best_packing(shapes, bound, 1'000'000, first, tried).height == 7);
    CHECK(tried > 10);
    bound.bytes = 7;
    tried = 0;
    CHECK(best_packing(shapes, bound, 1'000'000, first, tried).height == 7);
    CHECK(tried == 0);
}
