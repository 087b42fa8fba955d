// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/shapes.hpp>

#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<buffer_id> all_buffers(placement_problem const& problem)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) members.push_back(b);
    return members;
}

placement_shapes shapes_of_all(placement_problem const& problem)
{
    return shapes_of(problem, all_buffers(problem), problem.pools.empty() ? pool_limits{} : problem.pools[0]);
}

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
        std::ostringstream out;
        out << problem;
        std::string const literal = out.str();
        CAPTURE(seed);
        CAPTURE(literal);
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

    // At 0 a is above b, at 1 b above c, at 2 c above a, all at offset 0.
    placement_problem const circle{{{{0, 3}, 10}, {{0, 3}, 10}, {{0, 3}, 10}},
                                   {},
                                   {{0, {0, 1}, 9, 10},
                                    {0, {1, 2}, 0, 0},
                                    {0, {2, 3}, 0, 1},
                                    {1, {0, 1}, 0, 1},
                                    {1, {1, 2}, 9, 10},
                                    {1, {2, 3}, 0, 0},
                                    {2, {0, 1}, 0, 0},
                                    {2, {1, 2}, 0, 1},
                                    {2, {2, 3}, 9, 10}}};
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

// --- bound -------------------------------------------------------------------------------------------------

static placement_bound bound_of(placement_problem const& problem)
{
    std::vector<buffer_id> members(problem.buffers.size());
    std::iota(members.begin(), members.end(), 0u);
    return lower_bound(shapes_of(problem, members));
}

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

// --- colocation groups -------------------------------------------------------------------------------------

namespace {

placement_problem alive_together(std::size_t n)
{
    placement_problem problem;
    problem.buffers.assign(n, {{0, 1}, 8});
    return problem;
}

std::vector<byte_count> distances(colocated_groups const& groups, std::size_t n)
{
    std::vector<byte_count> result(n, no_offset);
    for (shape_part const& p : groups.parts) result[p.buffer] = p.distance;
    return result;
}

} // namespace

TEST_CASE("without colocations each buffer is its own group, in the order of the members")
{
    auto const groups = group_colocated(alive_together(4), {2, 0, 3});
    CHECK(groups.first == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(groups.parts[0].buffer == 2);
    CHECK(groups.parts[1].buffer == 0);
    CHECK(groups.parts[2].shape == 2);
}

TEST_CASE("distances add up along colocations, in either direction")
{
    auto problem = alive_together(4);
    problem.colocated = {{1, 0, 8}, {1, 2, 16}};
    auto const groups = group_colocated(problem, {0, 1, 2, 3});
    CHECK(groups.first == std::vector<std::uint32_t>{0, 3, 4});
    CHECK(distances(groups, 4) == std::vector<byte_count>{8, 16, 0, 0});
    CHECK(groups.inconsistent.empty());
}

TEST_CASE("a buffer of 0 bytes is no part, but passes distances on")
{
    auto problem = alive_together(3);
    problem.colocated = {{1, 0, 100}, {2, 0, 104}};
    problem.buffers[0].size = 0;
    auto groups = group_colocated(problem, {0, 1, 2});
    CHECK(groups.parts.size() == 2);
    CHECK(distances(groups, 3) == std::vector<byte_count>{no_offset, 0, 4});
    CHECK(distances(group_colocated(problem, {2, 1}), 3) == std::vector<byte_count>{no_offset, 0, 4});
    problem.buffers[1].life.last = 0;
    problem.buffers[2].size = 0;
    CHECK(group_colocated(problem, {0, 1, 2}).parts.empty());
}

TEST_CASE("contradictory colocations are reported")
{
    auto problem = alive_together(4);
    problem.colocated = {{1, 0, 8}, {2, 1, 8}, {2, 0, 16}};
    CHECK(group_colocated(problem, {0, 1, 2, 3}).inconsistent.empty());
    problem.colocated[2].distance = 17;
    auto const groups = group_colocated(problem, {3, 0, 1, 2});
    REQUIRE(!groups.inconsistent.empty());
    CHECK(groups.inconsistent[0].key == 1);
    CHECK(groups.inconsistent[0].tie != groups.inconsistent[0].id);
    for (auto const size : {byte_count{8}, byte_count{0}}) {
        problem.buffers[0].size = problem.buffers[1].size = problem.buffers[2].size = size;
        CHECK(group_colocated(problem, {0, 1, 2, 3}).inconsistent.empty() == (size == 0));
    }
    problem = alive_together(1);
    problem.colocated = {{0, 0, 0}};
    CHECK(group_colocated(problem, {0}).inconsistent.empty());
    problem.colocated = {{0, 0, 1}};
    CHECK(!group_colocated(problem, {0}).inconsistent.empty());
}

TEST_CASE("long chains of colocations are followed")
{
    auto problem = alive_together(100'000);
    std::vector<buffer_id> members{0};
    for (buffer_id b = 1; b != problem.buffers.size(); ++b) {
        problem.colocated.push_back({b - 1, b, 1});
        members.push_back(b);
    }
    auto const groups = group_colocated(problem, members);
    CHECK(groups.first.size() == 2);
    CHECK(groups.parts.front().distance == 99'999);
    CHECK(groups.parts.back().distance == 0);
}

TEST_CASE("colocations with missing buffers, across pools, or too far are refused")
{
    auto problem = alive_together(3);
    auto refuses = [&problem](std::vector<buffer_id> const& members) {
        CHECK_THROWS_AS((void)group_colocated(problem, members), precondition_error);
    };
    problem.colocated = {{3, 0, 8}};
    refuses({0, 1, 2});
    problem.colocated = {{0, 3, 8}};
    refuses({0, 1, 2});
    problem.colocated = {{1, 0, 8}};
    refuses({0, 2});
    refuses({1, 2});
    byte_count const far = byte_count{1} << 61;
    problem.colocated = {{1, 0, 2 * far}};
    refuses({0, 1, 2});
    problem.colocated = {{1, 0, far}, {2, 1, far}};
    refuses({0, 1, 2});
    refuses({2, 1, 0});
    problem.colocated[1].distance = far - 1;
    CHECK(distances(group_colocated(problem, {0, 1, 2}), 3).back() == 2 * far - 1);
}

// --- residue class -----------------------------------------------------------------------------------------

TEST_CASE("the intersection of two residue classes holds the offsets that both allow")
{
    residue_class both{4, 3};
    CHECK(restrict_to(both, {6, 5}));
    CHECK(both == residue_class{12, 11});
    CHECK(restrict_to(both, {3, 2})); // already the case
    CHECK(both == residue_class{12, 11});
    CHECK(!restrict_to(both, {8, 2}));
    CHECK(both == residue_class{12, 11});
    CHECK(restrict_to(both, {24, 23}));
    CHECK(both == residue_class{24, 23});
}

TEST_CASE("the lowest allowed offset is at least the phase")
{
    CHECK(align_up(0, residue_class{8, 5}) == 5);
    CHECK(align_up(5, residue_class{8, 5}) == 5);
    CHECK(align_up(6, residue_class{8, 5}) == 13);
    CHECK(align_up(no_offset - 1, residue_class{8, 5}) == no_offset);
}

TEST_CASE("the distance of a part shifts the allowed origins")
{
    CHECK(aligned_origins(0, 8) == residue_class{8, 0});
    CHECK(aligned_origins(3, 8) == residue_class{8, 5});
    CHECK(aligned_origins(16, 8) == residue_class{8, 0});
}

TEST_CASE("large coprime alignments are combined fast, and too large ones are refused")
{
    byte_count const a = (byte_count{1} << 30) + 3, b = (byte_count{1} << 31) - 1;
    residue_class both{a, 17};
    CHECK(restrict_to(both, {b, 4711}));
    CHECK(both.alignment == a * b);
    CHECK(both.phase % a == 17);
    CHECK(both.phase % b == 4711);
    CHECK_THROWS_AS((void)restrict_to(both, {1'000'003, 0}), precondition_error);
}

TEST_CASE("random residue classes: the intersection equals trial of all offsets")
{
    random_source pick{std::mt19937{1}};
    for (unsigned round = 0; round != rounds(20'000); ++round) {
        byte_count const a = 1 + pick.below(40), b = 1 + pick.below(40);
        residue_class const one{a, pick.below(static_cast<unsigned>(a))};
        residue_class const other{b, pick.below(static_cast<unsigned>(b))};
        CAPTURE(round);
        byte_count first = 0;
        while (first != a * b && (first % a != one.phase || first % b != other.phase)) ++first;
        residue_class both = one;
        CHECK(restrict_to(both, other) == (first != a * b));
        if (first == a * b) {
            CHECK(both == one);
            continue;
        }
        CHECK(both.phase == first);
        CHECK(both.alignment == combine_alignment(a, b));
    }
}

// --- pieces ------------------------------------------------------------------------------------------------

namespace {

struct plain_piece {
    position_id first, last;
    byte_count begin, end;
    friend bool operator==(plain_piece const&, plain_piece const&) = default;
};

std::vector<plain_piece> plain(std::vector<shape_piece> const& pieces)
{
    std::vector<plain_piece> result;
    for (shape_piece const& p : pieces) result.push_back({p.when.first, p.when.last, p.begin, p.end});
    return result;
}

/// The pieces of buffer 1, of 8 bytes from position 2 to 9, 100 above an origin.
std::vector<plain_piece> with_gaps(std::vector<placement_problem::gap> gaps)
{
    placement_problem const problem{{{{0, 20}, 64}, {{2, 9}, 8}, {{0, 20}, 64}}, {}, std::move(gaps)};
    std::vector<shape_piece> pieces;
    append_pieces(problem, gaps_in_order(problem, {0, 1}), 1, 100, pieces);
    return plain(pieces);
}

using expected = std::vector<plain_piece>;

} // namespace

TEST_CASE("a buffer is one piece without its gaps, plus their windows")
{
    CHECK(with_gaps({}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{0, {3, 4}}, {2, {3, 4}}}) == expected{{2, 9, 100, 108}}); // gaps of others
    CHECK(with_gaps({{1, {6, 7}, 1, 3}, {1, {4, 5}}}) ==
          expected{{2, 4, 100, 108}, {5, 6, 100, 108}, {6, 7, 101, 103}, {7, 9, 100, 108}});
    CHECK(with_gaps({{1, {4, 5}}, {1, {5, 6}, 4, 8}}) ==
          expected{{2, 4, 100, 108}, {5, 6, 104, 108}, {6, 9, 100, 108}});
}

TEST_CASE("gaps outside of the live range are ignored")
{
    CHECK(with_gaps({{1, {0, 3}}, {1, {8, 20}}}) == expected{{3, 8, 100, 108}});
    CHECK(with_gaps({{1, {0, 2}}, {1, {1, 2}}, {1, {9, 12}}, {1, {5, 5}}}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{1, {0, 20}}}).empty());
    CHECK(with_gaps({{1, {0, 20}, 3, 3}}).empty());
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

TEST_CASE("a window of all bytes is no gap")
{
    CHECK(with_gaps({{1, {4, 6}, 0, 8}}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{1, {4, 6}, 0, 7}, {1, {6, 7}, 0, 7}}) ==
          expected{{2, 4, 100, 108}, {4, 7, 100, 107}, {7, 9, 100, 108}});
}

TEST_CASE("windows outside of the buffer, overlapping gaps, and gaps of missing buffers are refused")
{
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}, 0, 9}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}, 3, 2}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}}, {1, {5, 7}}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{3, {4, 6}}}), precondition_error);
}

TEST_CASE("pieces that overlap in time are merged from the lowest byte to the highest")
{
    std::vector<shape_piece> pieces{{{2, 6}, 10, 20}, {{0, 4}, 30, 40}, {{8, 9}, 0, 5}};
    merge_pieces(pieces);
    CHECK(plain(pieces) == expected{{0, 2, 30, 40}, {2, 4, 10, 40}, {4, 6, 10, 20}, {8, 9, 0, 5}});
    pieces = {{{0, 4}, 0, 8}, {{4, 6}, 0, 8}, {{2, 5}, 3, 7}};
    merge_pieces(pieces);
    CHECK(plain(pieces) == expected{{0, 6, 0, 8}});
}

TEST_CASE("random pieces: merging agrees with each position, with the fewest pieces")
{
    random_source pick{std::mt19937{1}};
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        std::vector<shape_piece> pieces(1 + pick.below(8));
        std::vector<std::pair<byte_count, byte_count>> painted(16, {no_offset, 0});
        for (shape_piece& p : pieces) {
            p.when.first = pick.below(14);
            p.when.last = p.when.first + 1 + pick.below(15 - p.when.first);
            p.begin = pick.below(6);
            p.end = p.begin + 1 + pick.below(6);
            for (position_id at = p.when.first; at != p.when.last; ++at)
                painted[at] = {std::min(painted[at].first, p.begin), std::max(painted[at].second, p.end)};
        }
        merge_pieces(pieces);
        expected should;
        for (position_id at = 0; at != 15; ++at) {
            auto const [begin, end] = painted[at];
            if (end == 0) continue;
            bool const goes_on = !should.empty() && should.back().last == at &&
                                 should.back().begin == begin && should.back().end == end;
            if (goes_on) ++should.back().last;
            else should.push_back({at, at + 1, begin, end});
        }
        CHECK(plain(pieces) == should);
    }
}

TEST_CASE("positions become their ranks, whether dense or sparse")
{
    for (std::uint32_t scale : {1u, 3u, 1000u, 100'000'000u}) {
        std::vector<shape_piece> pieces{
            {{4 * scale, 9 * scale}, 0, 8}, {{0, 4 * scale}, 0, 8}, {{7 * scale, 40 * scale}, 0, 8}};
        CHECK(rank_positions(pieces) ==
              table<position_id, position_id>{0, 4 * scale, 7 * scale, 9 * scale, 40 * scale});
        CHECK(plain(pieces) == expected{{1, 3, 0, 8}, {0, 1, 0, 8}, {2, 4, 0, 8}});
    }
    std::vector<shape_piece> none;
    CHECK(rank_positions(none).empty());
}

} // namespace this_test
