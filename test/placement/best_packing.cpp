// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

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

/// Says stop after so many attempts.
struct stopping : steady {
    explicit stopping(std::uint32_t attempts) : after(attempts) {}
    std::uint32_t after;
    byte_count told = 0;
    bool stop(byte_count best, byte_count, std::uint64_t) override
    {
        told = best;
        return after-- == 0;
    }
};

} // namespace

TEST_CASE("random shapes with everything: packings are sound, and more orders never make them higher")
{
    std::size_t lower = 0, pins = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
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
    CHECK(lower > rounds(100));
    CHECK(pins > rounds(10));
}

TEST_CASE("a driver that says stop is asked before each attempt, and told the height")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}}}); // 7, and the bound is 6
    auto const bound = lower_bound(shapes);
    for (std::uint32_t attempts : {0u, 1u, 5u}) {
        stopping driver(attempts);
        std::uint32_t tried = 0;
        auto const best = best_packing(shapes, bound, 1'000'000, first_packing(shapes, bound), driver, tried);
        CHECK(best.height == 7);
        CHECK(tried == attempts);
        CHECK(driver.told == 7);
    }
}

TEST_CASE("each part of time is packed on its own, and only those that are too high again")
{
    // Two parts: 7 bytes where 6 are alive, and 20 bytes that nothing can lower.
    auto const shapes = shapes_of_all({{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}, {{5, 6}, 20}}});
    auto bound = lower_bound(shapes);
    auto const first = first_packing(shapes, bound);
    CHECK(first.origin == std::vector<byte_count>{0, 4, 0});
    CHECK(first.height == 20);
    std::uint32_t tried = 0;
    packing worse = first;
    worse.origin[2] = 5;
    worse.height = 25;
    CHECK(best_packing(shapes, bound, 1'000'000, worse, tried).origin == first.origin);
    CHECK(tried == 1);
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

} // namespace this_test
