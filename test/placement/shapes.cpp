// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/shapes.hpp>

#include "../all_shapes.hpp"
#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The solid part of a shape at a position.
placement_oracle::extent solid_at(placement_shapes const& all, std::uint32_t s, position_id position)
{
    placement_oracle::extent found;
    for (shape_piece const& p : all.pieces_of(s))
        if (all.positions[p.when.first] <= position && position < all.positions[p.when.last]) {
            CHECK(!found.is_solid());
            found = {static_cast<std::int64_t>(p.begin), static_cast<std::int64_t>(p.end)};
        }
    return found;
}

} // namespace

TEST_CASE("a buffer without gaps is one rectangle")
{
    placement_problem const problem{{{{4, 9}, 64}}};
    auto const shapes = shapes_of(problem, {0});
    REQUIRE(shapes.size() == 1);
    CHECK(shapes.is_plain(0));
    CHECK(shapes.positions == table<position_id, position_id>{4, 9});
}

TEST_CASE("buffers of 0 bytes are in no shape, and equal begins keep the order of members")
{
    placement_problem const problem{
        {{{4, 9}, 8}, {{4, 4}, 8}, {{0, 9}, 0}, {{3, 5}, 8}, {{4, 5}, 8}}, {}, {{3, {0, 9}}}};
    auto const shapes = shapes_of(problem, {4, 3, 2, 1, 0});
    REQUIRE(shapes.parts.size() == 2);
    CHECK(shapes.parts[0].buffer == 4);
    CHECK(shapes.parts[1].buffer == 0);
    CHECK(shapes_of(problem, {}).size() == 0);
    CHECK(shapes_of(problem, {1, 2, 3}).positions.empty());
}

TEST_CASE("the separation of two shapes depends on their solid parts")
{
    // a leaves all but its lowest 2 bytes free from 4 to 6, while b is live.
    placement_problem problem{{{{0, 9}, 8}, {{4, 6}, 16}, {{9, 10}, 8}}, {}, {{0, {4, 6}, 0, 2}}};
    auto const shapes = shapes_of_all(problem);
    CHECK(min_separation(shapes, 0, 1).distance == 2);
    CHECK(min_separation(shapes, 1, 0).distance == 16);
    CHECK(!min_separation(shapes, 0, 2).meets);
    problem.gaps[0] = {0, {4, 6}, 6, 8};
    CHECK(min_separation(shapes_of_all(problem), 1, 0).distance == 10);
    problem.gaps.push_back({1, {5, 6}, 12, 13});
    CHECK(min_separation(shapes_of_all(problem), 0, 1).distance == 8);
    problem.gaps[1] = {1, {3, 6}, 12, 13};
    CHECK(min_separation(shapes_of_all(problem), 0, 1).distance == -4);
}

TEST_CASE("a shape has the preferred origin of a part, unless it would be below 0")
{
    placement_problem problem{{{{0, 9}, 8}, {{0, 9}, 8, 1, 0, no_offset, 20}}, {}, {}, {{1, 0, 8}}};
    CHECK(shapes_of_all(problem).shapes[0].preferred == 12);
    problem.buffers[1].preferred = 7;
    CHECK(shapes_of_all(problem).shapes[0].preferred == no_offset);
}

TEST_CASE("contradictions within a shape are reported")
{
    placement_problem problem{{{{0, 9}, 8}, {{0, 9}, 8}, {{0, 9}, 8}}, {}, {}, {{1, 0, 4}, {2, 0, 6}}};
    auto expect = [&problem](shape_fault fault, buffer_id buffer, buffer_id other) {
        auto const shapes = shapes_of_all(problem);
        CHECK(shapes.fault == fault);
        CHECK(shapes.buffer == buffer);
        CHECK(shapes.other == other);
    };
    expect(shape_fault::none, no_buffer, no_buffer);
    problem.buffers[1].pinned = 4;
    expect(shape_fault::none, no_buffer, no_buffer);
    problem.buffers[1].pinned = 3; // which leaves no bytes below for 0
    expect(shape_fault::parts_clash, 1, 0);
    problem.buffers[1].pinned = 4;
    problem.buffers[2].pinned = 7;
    expect(shape_fault::parts_clash, 2, 1);
    problem.buffers[2].pinned = no_offset;
    problem.buffers[2].alignment = 4;
    expect(shape_fault::parts_clash, 1, 2);
    problem.buffers[1].alignment = 8;
    expect(shape_fault::pin_misaligned, 1, no_buffer);
    problem.buffers[1].pinned = no_offset; // no multiples of 8 and of 4 differ by 2
    expect(shape_fault::parts_clash, 2, 1);
    problem.buffers[1].alignment = 1;
    expect(shape_fault::none, no_buffer, no_buffer);
    problem.colocated.push_back({2, 1, 1});
    CHECK(shapes_of_all(problem).fault == shape_fault::parts_clash);
    problem.gaps = {{0, {0, 9}}, {1, {0, 9}}, {2, {0, 9}}}; // without solid parts
    expect(shape_fault::none, no_buffer, no_buffer);
    problem = {{{{0, 9}, 8, 3, 0, 10}}, {}, {{0, {0, 9}}}};
    expect(shape_fault::none, no_buffer, no_buffer);
    problem.gaps = {};
    expect(shape_fault::pin_misaligned, 0, no_buffer);
}

TEST_CASE("invalid and too large numbers are refused")
{
    auto refuses = [](placement_problem const& problem) {
        CHECK_THROWS_AS((void)shapes_of_all(problem), precondition_error);
    };
    byte_count const large = byte_count{1} << 62;
    refuses({{{{0, 1}, 8, 0}}});
    refuses({{{{0, 1}, no_size}}});
    refuses({{{{0, 1}, large}}});
    refuses({{{{0, 1}, large / 2}, {{0, 1}, large / 2}}, {}, {}, {{1, 0, large / 2}}});
    refuses({{{{0, 1}, 8, 1, 0, large}}});
    refuses({{{{0, 1}, 8, 1, 0, no_offset - 1}}});
    refuses({{{{0, 1}, 8}}, {{no_limit, 0}}});
    refuses({{{{0, 1}, 8, large}}, {{no_limit, 3}}});
    CHECK(shapes_of_all({{{{0, 1}, large - 1}}}).shapes[0].size == large - 1);
    CHECK(shapes_of_all({{{{0, 1}, 0, 0}, {{1, 1}, no_size, 0}}}).size() == 0); // never examined
}

TEST_CASE("random problems: the shapes agree with the definitions")
{
    unsigned shapes_seen = 0, faults_seen = 0;
    for (unsigned seed = 0; seed != rounds(6000); ++seed) {
        random_source pick{std::mt19937{seed}};
        placement_problem const problem = draw_placement(pick, draw_placement_shape(pick));
        CAPTURE(seed);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        placement_shapes const all = shapes_of_all(problem);

        bool possible = true;
        for (std::size_t g = 0; g != oracle.groups.size(); ++g) {
            bool has_origin = oracle.least_origin(g, 0) != oracle.unplaceable;
            possible = possible && has_origin;
        }
        CHECK((all.fault == shape_fault::none) == possible);
        if (all.fault != shape_fault::none) {
            ++faults_seen;
            continue;
        }
        REQUIRE(all.size() == oracle.groups.size());
        std::vector<std::size_t> group(all.size(), oracle.none);
        std::size_t parts = 0;
        for (auto const& g : oracle.groups) parts += g.parts.size();
        CHECK(all.parts.size() == parts);
        for (std::size_t i = 0; i != all.parts.size(); ++i) {
            shape_part const& p = all.parts[i];
            CHECK((i == 0 || all.parts[i - 1].shape <= p.shape));
            REQUIRE(p.shape < all.size());
            std::size_t const g = oracle.group_of[p.buffer];
            REQUIRE(g != oracle.none);
            CHECK((group[p.shape] == oracle.none || group[p.shape] == g));
            group[p.shape] = g;
            for (auto const& part : oracle.groups[g].parts)
                if (part.buffer == p.buffer) CHECK(part.distance == static_cast<std::int64_t>(p.distance));
        }
        for (std::uint32_t s = 0; s != all.size(); ++s) {
            ++shapes_seen;
            placement_shape const& shape = all.shapes[s];
            REQUIRE(group[s] != oracle.none);
            auto const& g = oracle.groups[group[s]];
            CHECK(static_cast<std::int64_t>(shape.size) == g.size);
            CHECK((s == 0 || all.shapes[s - 1].life.first <= shape.life.first));
            CHECK(shape.life ==
                  live_range{all.pieces_of(s).front().when.first, all.pieces_of(s).back().when.last});
            for (position_id at = 0; at != 16; ++at) {
                auto const is = solid_at(all, s, at);
                auto const should = at < g.solid.size() ? g.solid[at] : placement_oracle::extent{};
                CHECK(is.is_solid() == should.is_solid());
                if (is.is_solid()) CHECK((is.begin == should.begin && is.end == should.end));
            }
            for (byte_count least = 0; least != 20; ++least) {
                byte_count const up = align_up(least, shape);
                if (shape.pinned == no_offset) {
                    CHECK(static_cast<std::int64_t>(up) ==
                          oracle.least_origin(group[s], static_cast<std::int64_t>(least)));
                } else {
                    CHECK(oracle.is_allowed(group[s], static_cast<std::int64_t>(shape.pinned)));
                }
            }
            for (std::uint32_t t = 0; t != s; ++t) {
                CHECK(min_separation(all, s, t).meets == oracle.meets(group[s], group[t]));
                if (!min_separation(all, s, t).meets) continue;
                for (std::int64_t at = 0; at != 40; ++at) {
                    CHECK(oracle.is_above(group[t], at, group[s], 20) ==
                          (at >= 20 + min_separation(all, s, t).distance));
                }
            }
        }
    }
    CHECK(shapes_seen > rounds(10'000));
    CHECK(faults_seen > rounds(100));
}

TEST_CASE("two shapes with windows can interleave, and three can form a cycle without interleaving pairs")
{
    placement_problem const two{{{{0, 4}, 2}, {{0, 4}, 2}},
                                {},
                                {{0, {0, 2}, 0, 1}, {0, {2, 4}, 1, 2}, {1, {0, 2}, 1, 2}, {1, {2, 4}, 0, 1}}};
    CHECK(!can_only_be_stacked(shapes_of_all(two), {0, 1}));
    CHECK(can_only_be_stacked(shapes_of_all(two), {0}));
    CHECK(can_only_be_stacked(shapes_of_all(two), {}));

    placement_problem const circle = circle_of_three();
    placement_shapes const all = shapes_of_all(circle);
    CHECK(!can_only_be_stacked(all, {0, 1, 2}));
    for (std::vector<std::uint32_t> const& pair : {std::vector<std::uint32_t>{0, 1}, {0, 2}, {1, 2}})
        CHECK(can_only_be_stacked(all, pair));
}

TEST_CASE("gaps without windows, and windows with a common byte, allow only stackings")
{
    placement_problem const gaps{{{{0, 9}, 8}, {{2, 4}, 8}, {{0, 9}, 8, 4}}, {}, {{0, {2, 4}, 0, 0}}};
    CHECK(can_only_be_stacked(shapes_of_all(gaps), {0, 1, 2}));
    placement_problem const windows{{{{0, 9}, 8}, {{2, 4}, 2}}, {}, {{0, {0, 3}, 0, 5}, {0, {3, 9}, 4, 8}}};
    CHECK(can_only_be_stacked(shapes_of_all(windows), {0, 1}));
}

TEST_CASE("random windows: can_only_be_stacked() is exact")
{
    unsigned counts[2] = {}, interleavable = 0, circles = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        placement_problem const problem =
            pick.below(2) == 0 ? draw_circle(pick) : draw_interlocking(pick, 2 + pick.below(2));
        placement_oracle const oracle(problem);
        placement_shapes const all = shapes_of_all(problem);
        std::vector<std::uint32_t> shapes;
        for (std::uint32_t s = 0; s != all.size(); ++s) shapes.push_back(s);
        bool const expected = !oracle.has_other_than_stackings(9);
        CHECK(can_only_be_stacked(all, shapes) == expected);
        ++counts[expected];
        bool can_interleave = false;
        for (std::uint32_t s : shapes)
            for (std::uint32_t t = 0; t != s; ++t)
                can_interleave = can_interleave || !can_only_be_stacked(all, {t, s});
        circles += !expected && !can_interleave;
        interleavable += expected && oracle.can_interleave();
    }
    CHECK(counts[0] > rounds(100));
    CHECK(counts[1] > 100);
    CHECK(circles > rounds(20));
    CHECK(interleavable > rounds(50)); // no common byte, but they cannot interleave
}

} // namespace this_test
