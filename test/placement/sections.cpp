// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/sections.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

search_problem problem_of(placement_problem const& problem)
{
    return search_problem_of(scale_down(shapes_of_all(problem)));
}

} // namespace

TEST_CASE("sections are the ranks with maximal sets of live shapes")
{
    auto const p = problem_of({{{{0, 2}, 1}, {{1, 4}, 2}, {{2, 4}, 4}, {{4, 5}, 8}}});
    REQUIRE(p.sections == 3);
    CHECK(p.load == std::vector<search_number>{3, 6, 8});
    CHECK(p.first == std::vector<std::uint32_t>{0, 0, 1, 2});
    CHECK(p.last == std::vector<std::uint32_t>{1, 2, 2, 3});
}

TEST_CASE("a section holds the live shapes, and each set of live shapes is in a section")
{
    for_random_stackings(500, {8, 10, 6, true, false, false, true}, [](auto&, auto&, auto& all) {
        auto const p = search_problem_of(scale_down(all));
        byte_count most = 0;
        for (position_id rank = 0; rank + 1 < all.positions.size(); ++rank) {
            byte_count alive = 0;
            for (shape_piece const& piece : all.pieces)
                if (contains(piece.when, rank)) alive += piece.end - piece.begin;
            most = larger(most, alive);
        }
        search_number heaviest = 0;
        for (search_number load : p.load) heaviest = larger(heaviest, load);
        CHECK(static_cast<byte_count>(heaviest) * p.unit == most);
        for (std::uint32_t a = 0; a != p.shapes; ++a)
            for (std::uint32_t b = 0; b != p.shapes; ++b) {
                if (a == b) continue;
                bool share = false, is_edge = false;
                for (auto const& x : p.spans_of(a))
                    for (auto const& y : p.spans_of(b)) share |= x.first < y.last && y.first < x.last;
                shape_separation const up = min_separation(all, a, b), down = min_separation(all, b, a);
                for (auto const& e : p.edges_of(a)) {
                    if (e.to != b) continue;
                    is_edge = true;
                    auto const unit = static_cast<std::int64_t>(p.unit);
                    CHECK(e.up * unit == up.distance);
                    CHECK(e.down * unit == down.distance);
                }
                CHECK(share == up.meets);
                CHECK(is_edge == up.meets);
            }
    });
}

TEST_CASE("the highest origin follows from capacity and pin")
{
    auto p = problem_of({{{{0, 2}, 48}, {{1, 3}, 80}, {{1, 3}, 16, 1, 0, 32}}});
    REQUIRE(p.unit == 16);
    p.set_capacity(79);
    CHECK(p.max_origin == std::vector<search_number>{1, -1, 2});
    p.set_capacity(160);
    CHECK(p.max_origin == std::vector<search_number>{7, 5, 2});
}

TEST_CASE("a problem without shapes has no sections")
{
    auto p = problem_of({});
    CHECK(p.sections == 0);
    p.set_capacity(0);
}

// --- scaled shapes -----------------------------------------------------------------------------------------

namespace {

scaled_shapes scaled(placement_problem const& problem) { return scale_down(shapes_of_all(problem)); }

} // namespace

TEST_CASE("the unit is the greatest common divisor of all ends, phases and pins")
{
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80}}}).unit == 16);
    CHECK(scaled({{{{0, 2}, 48, 4}, {{1, 3}, 80, 8}}}).unit == 16);
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80}}, {}, {{0, {1, 2}, 8, 16}}}).unit == 8);
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80, 1, 0, 4}}}).unit == 4);
}

TEST_CASE("if all origins are multiples of an alignment, ends are rounded up to it")
{
    auto const result = scaled({{{{0, 2}, 50, 64}, {{1, 3}, 80, 64}}});
    CHECK(result.unit == 64);
    CHECK(result.shapes.pieces[0].end == 1);
    CHECK(result.shapes.pieces[1].end == 2);
    CHECK(result.shapes.shapes[0].size == 50);
    // One byte that need not be aligned, and nothing can be rounded.
    CHECK(scaled({{{{0, 2}, 50, 64}, {{1, 3}, 80, 64}, {{0, 1}, 1}}}).unit == 1);
}

TEST_CASE("an alignment that does not divide the unit becomes a multiple of it")
{
    auto const result = scaled({{{{0, 2}, 48, 24}, {{1, 3}, 80}}});
    CHECK(result.unit == 8);
    CHECK(result.shapes.shapes[0].alignment == 3);
    CHECK(result.shapes.shapes[1].alignment == 1);
}

TEST_CASE("the unit without shapes is a byte")
{
    CHECK(scaled({}).unit == 1);
    CHECK(scaled({}).height_bound == 0);
}

TEST_CASE("every stacking order ends within height_bound")
{
    for_random_stackings(300, {5, 6, 6, true, true, true, true}, [](auto&, auto&, auto& all) {
        auto const lowest = lowest_stacking(all);
        scaled_shapes const result = scale_down(all);
        if (lowest) CHECK(*lowest <= result.height_bound * result.unit);
    });
}

} // namespace this_test
