// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/bound.hpp>

#include "../all_shapes.hpp"
#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

placement_bound bound_of(placement_problem const& problem) { return lower_bound(shapes_of_all(problem)); }

} // namespace

TEST_CASE("the bound is the most live bytes, and their position")
{
    auto const bound = bound_of({{{{0, 20}, 64}, {{10, 30}, 32}, {{20, 40}, 48}}});
    CHECK(bound.bytes == 96);
    CHECK(bound.kind == placement::proof::reason::live_bytes);
    CHECK(bound.peak_position == 1); // the second of the positions 0, 10, 20, 30, 40
    CHECK(bound.live_bytes == std::vector<byte_count>{64, 96, 80, 48, 0});
}

TEST_CASE("the bound of no shapes is 0")
{
    CHECK(bound_of({}).bytes == 0);
    CHECK(bound_of({{{{2, 2}, 64}, {{2, 3}, 0}}}).bytes == 0);
    CHECK(bound_of({}).kind == placement::proof::reason::nothing);
}

TEST_CASE("of two equal peaks the first is used")
{
    CHECK(bound_of({{{{0, 1}, 8}, {{1, 2}, 9}, {{2, 3}, 9}}}).peak_position == 1);
}

TEST_CASE("all bytes outside of gaps and windows are live")
{
    placement_problem const problem{{{{0, 4}, 10}, {{0, 4}, 5}}, {}, {{0, {1, 2}, 2, 8}, {0, {2, 3}, 0, 0}}};
    CHECK(bound_of(problem).live_bytes == std::vector<byte_count>{15, 11, 5, 15, 0});
}

TEST_CASE("a common alignment pads all buffers of a position but the highest")
{
    auto const bound = bound_of({{{{0, 2}, 4, 8}, {{0, 3}, 5, 16}, {{1, 3}, 13, 24}, {{3, 4}, 24, 8}}});
    CHECK(bound.bytes == 28);
    CHECK(bound.kind == placement::proof::reason::exhausted);
    CHECK(bound.stacked == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(bound.peak_position == 3); // of the bytes without padding: 24, and 22 before
    // A buffer aligned otherwise may lie in the padding.
    CHECK(bound_of({{{{0, 2}, 4, 8}, {{0, 3}, 5, 16}, {{1, 3}, 13, 24}, {{0, 1}, 1}}}).bytes == 22);
    // On top counts the end of the whole buffer: 8 + 12, or 16 + 9 with the window on top.
    placement_problem window{{{{0, 2}, 9, 8}, {{1, 2}, 12, 8}}};
    window.gaps.push_back({0, {1, 2}, 0, 1});
    CHECK(bound_of(window).bytes == 20);
}

TEST_CASE("the padding of shapes that can interleave is not counted, since no stacking proves it")
{
    // At offset 0 each of the first two is above the other at half of the positions.
    placement_problem problem{{{{0, 4}, 13, 8}, {{0, 4}, 13, 8}, {{0, 4}, 5, 8}},
                              {},
                              {{0, {0, 2}, 0, 5}, {0, {2, 4}, 8, 13}, {1, {0, 2}, 8, 13}, {1, {2, 4}, 0, 5}}};
    CHECK(bound_of(problem).bytes == 15);
    CHECK(bound_of(problem).kind == placement::proof::reason::live_bytes);
    problem.gaps.pop_back(); // the second has a byte that it needs at all positions
    CHECK(bound_of(problem).kind == placement::proof::reason::exhausted);
}

TEST_CASE("a pin, or a size above the live bytes, bounds the arena too")
{
    auto const pinned = bound_of({{{{0, 1}, 8, 1, 0, 100}, {{0, 1}, 20}, {{0, 1}, 8, 1, 0, 100}}});
    CHECK(pinned.bytes == 108);
    CHECK(pinned.kind == placement::proof::reason::top_of_pin);
    CHECK(pinned.shape == 0);
    placement_problem const window{{{{0, 2}, 10}}, {}, {{0, {0, 1}, 0, 4}, {0, {1, 2}, 4, 8}}};
    CHECK(bound_of(window).bytes == 10);
    CHECK(bound_of(window).kind == placement::proof::reason::top_of_pin);
    placement_problem const phase{
        {{{0, 1}, 4}, {{1, 2}, 4, 16}}, {}, {}, {{1, 0, 5}}}; // 1 is at 16 or higher
    CHECK(bound_of(phase).bytes == 20);
}

TEST_CASE("a bound beyond 64 bits is refused")
{
    byte_count const half = byte_count{1} << 61;
    std::vector<placement_problem::buffer> eight(8, {{0, 2}, half});
    CHECK_THROWS_AS((void)bound_of({eight}), precondition_error);
    for (position_id i = 0; i != 8; ++i) eight[i].life = {i, 20};
    CHECK_THROWS_AS((void)bound_of({eight}), precondition_error);
    for (position_id i = 0; i != 8; ++i) eight[i].life = {i, i + 2};
    CHECK(bound_of({eight}).bytes == 2 * half);
}

TEST_CASE(
    "random problems: nothing is below the bound of stacks, and for rectangles of a position it is exact")
{
    int raised = 0, exact = 0, reached = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        random_source pick{std::mt19937{seed}};
        auto form = draw_placement_shape(pick);
        form.buffers = 2 + pick.below(5);
        form.alignments = 2 + pick.below(7);
        form.scale = 1;
        bool const is_clique = pick.below(3) == 0;
        if (is_clique) form.gaps = form.colocated = form.needless = 0;
        placement_problem problem = draw_placement(pick, form);
        if (is_clique)
            for (auto& b : problem.buffers) b.life = {0, 1};
        CAPTURE(seed);
        placement_shapes const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        placement_bound bound = lower_bound(all);
        byte_count const before = bound.bytes;
        bool const is_raised = raise_by_stacks(all, 100'000, bound);
        CHECK(is_raised == (bound.bytes > before));
        placement_oracle const oracle(problem);
        std::int64_t const lowest = oracle.lowest_stacking();
        std::uint64_t work = 100'000;
        if (is_clique && !problem.buffers.empty()) {
            std::vector<std::uint32_t> clique(all.size());
            std::iota(clique.begin(), clique.end(), 0u);
            byte_count const least = least_stack(all, clique, 0, work);
            CHECK(least == (lowest == oracle.unplaceable ? no_limit : static_cast<byte_count>(lowest)));
            CHECK(work < 100'000);
            ++exact;
        }
        if (!is_raised) continue;
        ++raised;
        CHECK(bound.kind == placement::proof::reason::exhausted);
        CHECK(static_cast<std::int64_t>(bound.bytes) <= lowest);
        CHECK(oracle.lowest_placement(static_cast<std::int64_t>(bound.bytes)) == oracle.unplaceable);
        reached += static_cast<std::int64_t>(bound.bytes) == lowest;
    }
    CHECK(raised > rounds(100));
    CHECK(exact > rounds(500));
    CHECK(reached > rounds(50));
}

TEST_CASE("stacks count only where pins or alignments differ, and only as long as the work lasts")
{
    placement_problem mixed{{{{0, 9}, 5}, {{2, 9}, 12, 8}, {{0, 4}, 6}, {{3, 7}, 4, 8}}};
    placement_shapes const all = shapes_of_all(mixed);
    placement_bound bound = lower_bound(all);
    CHECK(bound.bytes == 27);
    CHECK(!raise_by_stacks(all, 3, bound));
    CHECK(raise_by_stacks(all, 1000, bound));
    CHECK(bound.bytes == 28);
    CHECK(bound.stacked == std::vector<std::uint32_t>{0, 1, 2, 3});
    for (auto& b : mixed.buffers) b.alignment = 8;
    placement_shapes const equal = shapes_of_all(mixed);
    bound = lower_bound(equal);
    CHECK(!raise_by_stacks(equal, 1000, bound));
    placement_problem const pins{{{{0, 1}, 4, 1, 0, 10}, {{0, 1}, 7}, {{0, 1}, 6}}};
    bound = lower_bound(shapes_of_all(pins));
    CHECK(bound.bytes == 17);
    CHECK(raise_by_stacks(shapes_of_all(pins), 1000, bound));
    CHECK(bound.bytes == 20);
}

} // namespace this_test
