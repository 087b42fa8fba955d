// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/infeasible_core.hpp>

#include "../all_shapes.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// All orders, each shape as low as the earlier ones allow.
bool can_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> order, byte_count capacity)
{
    std::sort(order.begin(), order.end());
    do {
        std::vector<byte_count> at(all.size(), no_offset);
        bool fits = true;
        for (std::size_t i = 0; i != order.size() && fits; ++i) {
            std::int64_t from = 0;
            for (std::size_t j = 0; j != i; ++j)
                if (auto const up = min_separation(all, order[j], order[i]); up.meets)
                    from = std::max(from, static_cast<std::int64_t>(at[order[j]]) + up.distance);
            placement_shape const& shape = all.shapes[order[i]];
            byte_count& own = at[order[i]] = align_up(static_cast<byte_count>(from), shape);
            fits = shape.pinned == no_offset || own <= shape.pinned;
            if (shape.pinned != no_offset) own = shape.pinned;
            fits = fits && own + shape.size <= capacity;
        }
        if (fits) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
}

std::vector<std::uint32_t> all_buffers(placement_shapes const& all)
{
    std::vector<std::uint32_t> result;
    for (std::uint32_t s = 0; s != all.size(); ++s) result.push_back(s);
    return result;
}

infeasible_core fewest(placement_shapes const& all, byte_count capacity, std::uint64_t nodes = 1'000'000)
{
    deterministic_control control;
    return minimize_core(all, capacity, all_buffers(all), nodes, control);
}

} // namespace

TEST_CASE("of many shapes the three that cannot be stacked remain")
{
    // Two of 4 and one of 3 at positions 3 and 4, within 10; the others are elsewhere or small.
    auto const all =
        shapes_of_all({{{{0, 2}, 9}, {{2, 5}, 4}, {{1, 3}, 1}, {{3, 6}, 4}, {{3, 5}, 3}, {{6, 8}, 9}}});
    auto const few = fewest(all, 10);
    CHECK(few.is_minimal);
    REQUIRE(few.shapes.size() == 3);
    for (std::uint32_t s : few.shapes) CHECK(all.shapes[s].size >= 3);
}

TEST_CASE("a shape that fails alone is the core, without a search")
{
    auto high = shapes_of_all({{{{0, 2}, 4}, {{0, 2}, 8, 1, 0, 3}, {{0, 2}, 1}}});
    auto const pinned = fewest(high, 10, 0);
    CHECK(pinned.shapes == std::vector<std::uint32_t>{1});
    CHECK(pinned.is_minimal);
    CHECK(pinned.nodes == 0);
    CHECK(fewest(shapes_of_all({{{{0, 2}, 4}, {{0, 2}, 11}}}), 10, 0).shapes ==
          std::vector<std::uint32_t>{1});
}

TEST_CASE("two shapes that fit in neither order are the core, without a search")
{
    // 7 + 3 = 10, but the upper shape must be at 8.
    auto const aligned = shapes_of_all({{{{0, 2}, 1}, {{0, 2}, 7, 4}, {{1, 2}, 3, 4}}});
    auto const few = fewest(aligned, 10, 0);
    CHECK(few.shapes == std::vector<std::uint32_t>{1, 2});
    CHECK(few.nodes == 0);
    // Below the pin there are 3 bytes, above it 4.
    auto const pinned = shapes_of_all({{{{0, 2}, 3, 1, 0, 3}, {{1, 2}, 5}}});
    CHECK(fewest(pinned, 10, 0).shapes == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("with too few nodes the core is not minimal, and that is reported")
{
    auto const all = shapes_of_all({{{{0, 9}, 4}, {{0, 9}, 4}, {{0, 9}, 4}, {{0, 4}, 1}, {{5, 9}, 1}}});
    auto const few = fewest(all, 11, 0);
    CHECK(!few.is_minimal);
    CHECK(few.shapes == all_buffers(all));
}

TEST_CASE("rectangles that are live together need no search")
{
    // 12, 17, 23 and 28, and 27 without alignments.
    auto const all =
        shapes_of_all({{{{0, 9}, 5}, {{2, 9}, 12, 8}, {{0, 4}, 6}, {{3, 7}, 4, 8}, {{3, 4}, 1}}});
    auto const few = fewest(all, 27, 0);
    CHECK(few.is_minimal);
    CHECK(few.nodes == 0);
    CHECK(few.shapes.size() == 4);
}

TEST_CASE("random problems: the core is infeasible, and feasible without any one shape")
{
    int failing = 0, smaller_sets = 0, singles = 0, pairs = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem problem;
        for (std::uint32_t i = 0, n = 2 + pick.below(5); i != n; ++i) {
            position_id const first = pick.below(6), last = first + 1 + pick.below(5);
            byte_count const size = 1 + pick.below(6), alignment = 1 + pick.below(3);
            byte_count const pinned = pick.below(6) == 0 ? alignment * pick.below(6) : no_offset;
            problem.buffers.push_back({{first, last}, size, alignment, 0, pinned});
            if (pick.below(4) != 0) continue;
            position_id const from = pick.below(6), to = from + 1 + pick.below(3);
            byte_count const begin = pick.below(static_cast<std::uint32_t>(size));
            problem.gaps.push_back({i, {from, to}, begin, size});
        }
        placement_shapes const all = shapes_of_all(problem);
        byte_count capacity = 0;
        while (capacity != 64 && !can_be_stacked(all, all_buffers(all), capacity)) ++capacity;
        if (capacity == 0 || all.size() == 0) continue;
        capacity -= 1 + pick.below(static_cast<std::uint32_t>(capacity)) / 3;
        ++failing;
        auto const few = fewest(all, capacity);
        REQUIRE(few.is_minimal);
        CHECK(std::is_sorted(few.shapes.begin(), few.shapes.end()));
        REQUIRE(!few.shapes.empty());
        CHECK(!can_be_stacked(all, few.shapes, capacity));
        for (std::size_t i = 0; i != few.shapes.size(); ++i) {
            auto without = few.shapes;
            without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
            CHECK(can_be_stacked(all, without, capacity));
        }
        smaller_sets += few.shapes.size() < all.size();
        singles += few.shapes.size() == 1;
        pairs += few.shapes.size() == 2;
    }
    CHECK(failing > rounds(1000));
    CHECK(smaller_sets > failing / 2);
    CHECK(singles > 20);
    CHECK(pairs > 100);
    CHECK(singles + pairs < failing - 50);
}

// --- conflicting pins --------------------------------------------------------------------------------------

/// Compares all pairs at each position.
static bool overlap(placement_shapes const& all, std::uint32_t a, std::uint32_t b)
{
    byte_count const at = all.shapes[a].pinned, bt = all.shapes[b].pinned;
    if (at == no_offset || bt == no_offset) return false;
    return share_a_byte(all, a, at, b, bt);
}

TEST_CASE("two overlapping pins are found, whatever shapes are listed between them")
{
    placement_problem problem{{{{0, 4}, 8, 1, 0, 0}, {{0, 9}, 8}, {{3, 5}, 8, 1, 0, 7}}};
    auto found = clashing_pins(shapes_of_all(problem));
    CHECK(found.conflict);
    CHECK(found.one == 0);
    CHECK(found.other == 2);
    problem.buffers[2].pinned = 8;
    CHECK(!clashing_pins(shapes_of_all(problem)).conflict);
    problem.buffers[2] = {{4, 5}, 8, 1, 0, 7};
    CHECK(!clashing_pins(shapes_of_all(problem)).conflict);
}

TEST_CASE("a window allows a pin within the extent of another shape")
{
    placement_problem problem{{{{0, 9}, 16, 1, 0, 0}, {{3, 5}, 8, 1, 0, 8}}};
    CHECK(clashing_pins(shapes_of_all(problem)).conflict);
    problem.gaps = {{0, {3, 5}, 0, 8}};
    CHECK(!clashing_pins(shapes_of_all(problem)).conflict);
    problem.gaps = {{0, {3, 5}, 0, 9}};
    CHECK(clashing_pins(shapes_of_all(problem)).conflict);
}

TEST_CASE("without pins there is no conflict")
{
    CHECK(!clashing_pins(placement_shapes{}).conflict);
    CHECK(!clashing_pins(shapes_of_all({{{{0, 4}, 8}, {{0, 4}, 8, 1, 0, 0}}})).conflict);
}

TEST_CASE("random pins with gaps: conflicts equal those of a scan over all pairs")
{
    int clashes = 0, sound = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem problem;
        for (std::uint32_t i = 0, n = 1 + pick.below(9); i != n; ++i) {
            position_id const first = pick.below(12), last = first + 1 + pick.below(6);
            byte_count const size = 1 + pick.below(6);
            byte_count const pinned = pick.below(8) == 0 ? no_offset : pick.below(40);
            problem.buffers.push_back({{first, last}, size, 1, 0, pinned});
            if (pick.below(2) == 0) continue;
            position_id const from = pick.below(12), to = from + 1 + pick.below(3);
            byte_count const begin = pick.below(static_cast<std::uint32_t>(size)),
                             end = begin + (size - begin) / 2;
            problem.gaps.push_back({i, {from, to}, begin, end});
        }
        placement_shapes const all = shapes_of_all(problem);
        bool clash = false;
        for (std::uint32_t a = 0; a != all.size(); ++a)
            for (std::uint32_t b = 0; b != a; ++b) clash = clash || overlap(all, a, b);
        auto const found = clashing_pins(all);
        REQUIRE(found.conflict == clash);
        if (found.conflict) {
            CHECK(found.one < found.other);
            CHECK(overlap(all, found.one, found.other));
        }
        ++(clash ? clashes : sound);
    }
    CHECK(clashes > rounds(500));
    CHECK(sound > rounds(500));
}

// --- subset ------------------------------------------------------------------------------------------------

TEST_CASE("a subset keeps live ranges, pieces, parts and positions, with new numbers")
{
    placement_problem problem{{{{0, 4}, 8}, {{1, 9}, 16, 4}, {{2, 5}, 4}, {{3, 7}, 2, 1, 0, 6}}};
    problem.gaps = {{1, {3, 5}, 0, 4}};
    problem.colocated = {{3, 2, 4}};
    placement_shapes const all = shapes_of(problem, {0, 1, 2, 3});
    REQUIRE(all.size() == 3);

    placement_shapes const some = subset_of(all, {1, 2});
    REQUIRE(some.size() == 2);
    CHECK(some.positions == all.positions);
    CHECK(some.first_piece == std::vector<std::uint32_t>{0, 3, 3 + all.first_piece[3] - all.first_piece[2]});
    for (std::uint32_t s : {0u, 1u}) {
        CHECK(some.shapes[s].life == all.shapes[s + 1].life);
        CHECK(some.shapes[s].alignment == all.shapes[s + 1].alignment);
        CHECK(some.shapes[s].pinned == all.shapes[s + 1].pinned);
        REQUIRE(some.pieces_of(s).size() == all.pieces_of(s + 1).size());
        for (std::size_t i = 0; i != some.pieces_of(s).size(); ++i) {
            CHECK(some.pieces_of(s)[i].when == all.pieces_of(s + 1)[i].when);
            CHECK(some.pieces_of(s)[i].begin == all.pieces_of(s + 1)[i].begin);
            CHECK(some.pieces_of(s)[i].end == all.pieces_of(s + 1)[i].end);
        }
    }
    REQUIRE(some.parts.size() == 3);
    CHECK(some.parts[0].shape == 0);
    CHECK(some.parts[0].buffer == 1);
    CHECK(some.parts[1].shape == 1);
    CHECK(some.parts[2].shape == 1);
    CHECK(some.parts[1].buffer + some.parts[2].buffer == 5);
    CHECK(subset_of(all, {}).size() == 0);
}

} // namespace this_test
