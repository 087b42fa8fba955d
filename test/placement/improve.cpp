// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/improve.hpp>

#include "../all_shapes.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A network of blocks, each with a skip connection that is live as long as the block.
placement_problem blocks(random_source& pick, unsigned count)
{
    placement_problem problem;
    for (std::uint32_t at = 0, block = 0; block != count; ++block) {
        unsigned const steps = 3 + pick.below(4);
        problem.buffers.push_back({{at, at + steps + 1}, 10 + pick.below(10)});
        for (unsigned i = 0; i != steps; ++i)
            problem.buffers.push_back({{at + i, at + i + 2}, 10 + pick.below(40)});
        at += steps;
    }
    return problem;
}

struct counts_stop_queries : deterministic_control {
    int left = 0;
    bool stop(byte_count, byte_count, std::uint64_t) override { return --left < 0; }
};

} // namespace

TEST_CASE("a packing at its bound is returned unchanged")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 4}}});
    deterministic_control control;
    std::uint32_t tried = 0;
    packing const p = improve(all, lower_bound(all), packing{{0, 8}, 12}, {}, control, tried);
    CHECK(p.origin == std::vector<byte_count>{0, 8});
    CHECK(tried == 0);
}

TEST_CASE("a needlessly high packing is lowered to the bound")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}, {{0, 4}, 3}}});
    deterministic_control control;
    std::uint32_t tried = 0;
    packing const p = improve(all, lower_bound(all), packing{{0, 11, 8}, 19}, {}, control, tried);
    CHECK(p.height == 11);
    CHECK(is_sound(all, p));
}

TEST_CASE("a packing at the given goal is not lowered further")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}}});
    deterministic_control control;
    std::uint32_t tried = 0;
    placement_bound bound = lower_bound(all);
    bound.bytes = 16;
    CHECK(improve(all, bound, packing{{0, 8}, 16}, {}, control, tried).height == 16);
    CHECK(tried == 0);
}

TEST_CASE("if nothing is lower, two peak packings are tried, and the visits are spent")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 4, 1, 0, 2}, {{0, 2}, 4}}}); // the bound is 8
    deterministic_control control;
    std::uint32_t tried = 0;
    packing const p =
        improve(all, lower_bound(all), packing{{2, 6}, 10}, {.visits = 100'000}, control, tried);
    CHECK(p.origin == std::vector<byte_count>{2, 6});
    CHECK(tried == 2);
}

TEST_CASE("a control that stops gets the best so far")
{
    random_source pick{std::mt19937{21}};
    placement_shapes const all = shapes_of_all(blocks(pick, 30));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    for (int questions : {0, 1, 2, 3, 5, 20}) {
        CAPTURE(questions);
        counts_stop_queries control;
        control.left = questions;
        std::uint32_t tried = 0;
        packing const p = improve(all, lower_bound(all), start, {}, control, tried);
        CHECK(is_sound(all, p));
        CHECK(p.height <= start.height);
        CHECK((questions != 0 || p.origin == start.origin));
    }
}

TEST_CASE("network packings that greedy orders leave above the bound are lowered to it")
{
    random_source pick{std::mt19937{22}};
    byte_count before = 0, after = 0, bounds = 0;
    for (int round = 0; round != 12; ++round) {
        CAPTURE(round);
        placement_shapes const all = shapes_of_all(blocks(pick, 60));
        placement_bound const bound = lower_bound(all);
        packing const start = first_packing(all, bound);
        deterministic_control control;
        std::uint32_t tried = 0;
        packing const p = improve(all, bound, start, {.visits = 2'000'000}, control, tried);
        CHECK(is_sound(all, p));
        before += start.height - bound.bytes;
        after += p.height - bound.bytes;
        bounds += bound.bytes;
    }
    CHECK(before > bounds / 50);
    CHECK(after < before / 10);
}

TEST_CASE("random problems: the packing is no higher, valid, and the same for the same seed")
{
    random_source pick{std::mt19937{23}};
    for (unsigned round = 0; round != rounds(1500); ++round) {
        CAPTURE(round);
        random_placement_shape traits = draw_placement_shape(pick);
        traits.buffers = 1 + pick.below(20);
        placement_shapes const all = shapes_of_all(draw_placement(pick, traits));
        if (all.fault != shape_fault::none || clashing_pins(all).conflict) continue;
        placement_bound const bound = lower_bound(all);
        packing const start = fit(all, order_by(placement_order::birth, all, bound));
        deterministic_control control;
        std::uint32_t tried = 0;
        improve_options const options{.visits = 20'000, .seed = pick.below(3)};
        packing const p = improve(all, bound, start, options, control, tried);
        CHECK(is_sound(all, p));
        CHECK(p.height <= start.height);
        CHECK(p.height >= bound.bytes);
        CHECK(improve(all, bound, start, options, control, tried).origin == p.origin);
    }
}

TEST_CASE("no_limit visits do not overflow, and 0 visits do nothing")
{
    random_source pick{std::mt19937{24}};
    placement_shapes const all = shapes_of_all(blocks(pick, 20));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    deterministic_control control;
    std::uint32_t tried = 0;
    CHECK(improve(all, lower_bound(all), start, {.visits = 0}, control, tried).origin == start.origin);
    placement_bound bound = lower_bound(all);
    bound.bytes = start.height - 1; // reached soon
    CHECK(improve(all, bound, start, {.visits = no_limit}, control, tried).height < start.height);
}

// --- ejection ----------------------------------------------------------------------------------------------

namespace {

using buffers = std::vector<placement_problem::buffer>;
using origins = std::vector<byte_count>;

bool never() { return false; }

} // namespace

TEST_CASE("a shape that is too high takes a free gap")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{2, 4}, 8}}});
    origins origin{0, 8};
    CHECK(ejection(all, 0).lower(origin, 8, {}, never));
    CHECK(origin == origins{0, 0});
}

TEST_CASE("if nothing is free, the shape with the lower penalty is ejected and placed elsewhere")
{
    //  4 lies on 0, and no other place is high enough for it; the shape that it ejects fits beside both
    placement_shapes const all = shapes_of_all({{{{0, 6}, 4}, {{0, 2}, 8}, {{2, 4}, 4}, {{2, 6}, 8}}});
    origins origin{8, 0, 12, 0};
    REQUIRE(is_placed(all, origin, 16));
    CHECK(ejection(all, 0).lower(origin, 16, {}, never));
    origin = {12, 0, 8, 0};
    REQUIRE(is_placed(all, origin, 16));
    origin = {4, 8, 0, 8};
    REQUIRE(is_placed(all, origin, 16));
    CHECK(ejection(all, 0).lower(origin, 16, {}, never));
}

TEST_CASE("a moved shape takes its preferred origin if that is free")
{
    placement_problem problem{{{{0, 2}, 8}, {{0, 4}, 2}, {{2, 4}, 4}}};
    auto lowered = [&](byte_count preferred, byte_count alignment) {
        problem.buffers[2].preferred = preferred;
        problem.buffers[2].alignment = alignment;
        placement_shapes const all = shapes_of_all(problem);
        origins origin{0, 8, 12};
        CHECK(ejection(all, 0).lower(origin, 12, {}, never));
        return origin[2];
    };
    CHECK(lowered(3, 1) == 3);
    CHECK(lowered(4, 4) == 4);
    CHECK(lowered(3, 4) == 0);  // not aligned
    CHECK(lowered(5, 1) == 0);  // not free
    CHECK(lowered(10, 1) == 0); // too high
    CHECK(lowered(no_offset, 1) == 0);
}

TEST_CASE("a pinned shape is an obstacle and is never ejected")
{
    placement_shapes const all =
        shapes_of_all({{{{0, 4}, 4, 1, 0, 4}, {{0, 4}, 4}, {{0, 2}, 6}, {{2, 4}, 6}}});
    origins origin{4, 0, 8, 14};
    CHECK(ejection(all, 0).lower(origin, 14, {}, never));
    CHECK(origin == origins{4, 0, 8, 8});
    CHECK_FALSE(ejection(all, 0).lower(origin, 13, {1000}, never));
    CHECK(origin == origins{4, 0, 8, 8});
}

TEST_CASE("a ceiling below a pin's end or a shape's size fails at once")
{
    placement_shapes const all = shapes_of_all({{{{0, 4}, 4, 1, 0, 4}, {{4, 8}, 6}}});
    origins origin{4, 2};
    CHECK_FALSE(ejection(all, 0).lower(origin, 7, {}, never));
    CHECK_FALSE(ejection(all, 0).lower(origin, 5, {}, never));
    CHECK(origin == origins{4, 2});
    CHECK(ejection(all, 0).lower(origin, 8, {}, never));
}

TEST_CASE("pins that leave no room end the attempt")
{
    placement_shapes const all = shapes_of_all({{{{0, 4}, 4, 1, 0, 2}, {{0, 4}, 4, 1, 0, 8}, {{1, 3}, 5}}});
    origins origin{2, 8, 12};
    CHECK_FALSE(ejection(all, 0).lower(origin, 14, {}, never)); // without any limit
}

TEST_CASE("an attempt ends with its steps, its visits, or when stop() returns true")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 8}}}); // 8 is not enough
    origins origin{0, 8};
    ejection eject(all, 0);
    CHECK_FALSE(eject.lower(origin, 8, {.steps = 10}, never));
    CHECK(eject.steps() == 10);
    std::uint64_t const before = eject.visits();
    CHECK_FALSE(eject.lower(origin, 8, {.visits = before + 5000}, never));
    CHECK(eject.visits() >= before + 5000);
    CHECK(eject.visits() < before + 6000);
    int asked = 0;
    CHECK_FALSE(eject.lower(origin, 8, {}, [&] { return ++asked == 3; }));
    CHECK(origin == origins{0, 8});
}

TEST_CASE("the moves of a failed attempt do not affect the next result")
{
    random_source pick{std::mt19937{15}};
    placement_shapes const all =
        shapes_of_all(draw_placement(pick, {.buffers = 30, .positions = 12, .sizes = 20}));
    placement_bound const bound = lower_bound(all);
    origins const by_size = fit(all, order_by(placement_order::size, all, bound)).origin;
    origins const by_birth = fit(all, order_by(placement_order::birth, all, bound)).origin;
    ejection eject(all, 0);
    origins origin = by_size;
    CHECK_FALSE(eject.lower(origin, bound.bytes - 1, {100}, never)); // below the bound
    CHECK(origin == by_size);
    origin = by_birth;
    CHECK(eject.lower(origin, height_of(all, by_birth), {0}, never));
    CHECK(origin == by_birth);
    CHECK_FALSE(eject.lower(origin, bound.bytes - 1, {100}, never));
    origin = by_size;
    CHECK(eject.lower(origin, height_of(all, by_size), {0}, never));
    CHECK(origin == by_size);
}

TEST_CASE("no shape moves if all end below the ceiling")
{
    placement_shapes const all = shapes_of_all({{{{0, 2}, 8}, {{0, 2}, 8}}});
    origins origin{8, 0};
    CHECK(ejection(all, 0).lower(origin, 16, {.steps = 0}, never));
    CHECK(origin == origins{8, 0});
    placement_shapes const none = shapes_of_all({});
    origin.clear();
    CHECK(ejection(none, 0).lower(origin, 0, {}, never));
}

TEST_CASE("a successful attempt is a packing below the ceiling, a failed one changes nothing")
{
    random_source pick{std::mt19937{12}};
    int lowered = 0, asked = 0;
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        random_placement_shape traits = draw_placement_shape(pick);
        traits.buffers = 1 + pick.below(24);
        placement_problem const problem = draw_placement(pick, traits);
        placement_shapes const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none || clashing_pins(all).conflict) continue;
        packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
        origins origin = start.origin;
        byte_count const ceiling = pick.below(static_cast<std::uint32_t>(start.height) + 1);
        ++asked;
        if (ejection(all, pick.below(5)).lower(origin, ceiling, {200}, never)) {
            ++lowered;
            CHECK(is_placed(all, origin, ceiling));
        } else {
            CHECK(origin == start.origin);
        }
    }
    CHECK(lowered > asked / 10);
}

TEST_CASE("a shape that is live in several of many columns is placed past all pieces in them")
{
    random_source pick{std::mt19937{14}};
    unsigned lowered = 0;
    for (unsigned round = 0; round != rounds(12); ++round) {
        CAPTURE(round);
        placement_problem problem;
        for (unsigned i = 0; i != 1500; ++i) {
            position_id const first = pick.below(1500), longest = pick.below(8) == 0 ? 60 : 8;
            problem.buffers.push_back({{first, first + 1 + pick.below(longest)}, 1 + pick.below(40)});
        }
        placement_shapes const all = shapes_of_all(problem);
        placement_bound const bound = lower_bound(all);
        packing const start = fit(all, order_by(placement_order::birth, all, bound));
        origins origin = start.origin;
        byte_count const ceiling = bound.bytes + (start.height - bound.bytes) / 2;
        if (!ejection(all, round).lower(origin, ceiling, {2000}, never)) continue;
        ++lowered;
        CHECK(is_placed(all, origin, ceiling));
    }
    CHECK(lowered > rounds(12) / 2);
}

TEST_CASE("a long shape among very many is not compared with all of them")
{
    placement_problem problem;
    for (position_id i = 0; i != 20'000; ++i) problem.buffers.push_back({{i, i + 1}, 8});
    problem.buffers.push_back({{5000, 5200}, 8});
    placement_shapes const all = shapes_of_all(problem);
    origins origin(all.size());
    std::uint32_t raised = 0;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        live_range const life = all.shapes[s].life;
        origin[s] = length(life) == 1 ? 8 * (life.first * 37 % 100) : 816;
        if (length(life) != 1) raised = s;
    }
    ejection eject(all, 0);
    REQUIRE(eject.lower(origin, 824, {}, never)); // all are in the lists now
    std::uint64_t const before = eject.visits();
    REQUIRE(eject.lower(origin, 808, {}, never));
    CHECK(origin[raised] == 800);
    CHECK(eject.visits() - before < all.size() + all.size() / 4); // of these one a shape to compare origins
}

TEST_CASE("small packings are nearly always lowered to the optimum")
{
    random_source pick{std::mt19937{13}};
    int reached = 0, asked = 0;
    for (unsigned round = 0; round != rounds(400); ++round) {
        CAPTURE(round);
        // Slabs cut into bricks: the optimal height is that of a slab.
        byte_count const height = 60;
        buffers b;
        for (position_id at = 0; at < 12; at += 3)
            for (byte_count low = 0; low != height;) {
                byte_count const size = std::min<byte_count>(height - low, 1 + pick.below(40));
                b.push_back({{at, at + 3}, size});
                low += size;
            }
        b.push_back({{2, 8}, 1 + pick.below(5)});
        placement_shapes const all = shapes_of_all({b});
        byte_count const bound = lower_bound(all).bytes;
        packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
        origins origin = start.origin;
        ++asked;
        reached += ejection(all, 1).lower(origin, bound, {2000}, never);
        CHECK(height_of(all, origin) <= start.height);
    }
    CHECK(reached > asked * 9 / 10);
}

TEST_CASE("the same seed gives the same result")
{
    random_source pick{std::mt19937{14}};
    placement_shapes const all =
        shapes_of_all(draw_placement(pick, {.buffers = 40, .positions = 20, .sizes = 30}));
    packing const start = fit(all, order_by(placement_order::birth, all, lower_bound(all)));
    byte_count const ceiling = (lower_bound(all).bytes + start.height) / 2;
    origins once = start.origin, twice = start.origin;
    ejection a(all, 3), b(all, 3);
    CHECK(a.lower(once, ceiling, {5000}, never) == b.lower(twice, ceiling, {5000}, never));
    CHECK(once == twice);
    CHECK(a.visits() == b.visits());
}

// --- sorted pieces -----------------------------------------------------------------------------------------

namespace {

std::vector<std::uint32_t> shapes_during(sorted_pieces const& entries, live_range when)
{
    std::vector<piece_entry> found;
    entries.collect_overlaps(when, found);
    std::vector<std::uint32_t> shapes;
    for (piece_entry const& p : found) shapes.push_back(p.shape);
    return shapes;
}

} // namespace

TEST_CASE("pieces that overlap a live range are listed by offset")
{
    sorted_pieces entries;
    entries.insert(piece_entry{8, 12, {0, 2}, 0});
    entries.insert(piece_entry{0, 4, {1, 3}, 1});
    entries.insert(piece_entry{4, 8, {2, 4}, 2});
    CHECK(shapes_during(entries, {1, 2}) == std::vector<std::uint32_t>{1, 0});
    CHECK(shapes_during(entries, {2, 3}) == std::vector<std::uint32_t>{1, 2});
    CHECK(shapes_during(entries, {0, 4}) == std::vector<std::uint32_t>{1, 2, 0});
    CHECK(shapes_during(entries, {4, 5}).empty());
}

TEST_CASE("pieces at equal offsets are listed by shape, then by time")
{
    sorted_pieces entries;
    entries.insert(piece_entry{4, 8, {0, 9}, 7});
    entries.insert(piece_entry{4, 6, {5, 9}, 3});
    entries.insert(piece_entry{4, 6, {0, 4}, 3});
    std::vector<piece_entry> found;
    entries.collect_overlaps({0, 9}, found);
    REQUIRE(found.size() == 3);
    CHECK(found[0].when == live_range{0, 4});
    CHECK(found[1].when == live_range{5, 9});
    CHECK(found[2].shape == 7);
}

TEST_CASE("results are appended to the list")
{
    sorted_pieces entries;
    entries.insert(piece_entry{4, 8, {0, 9}, 7});
    std::vector<piece_entry> found(2);
    CHECK(entries.collect_overlaps({0, 1}, found) >= 1);
    CHECK(found.size() == 3);
}

TEST_CASE("removed pieces are not listed")
{
    sorted_pieces entries;
    CHECK(shapes_during(entries, {0, 9}).empty());
    entries.insert(piece_entry{4, 8, {0, 9}, 7});
    entries.insert(piece_entry{4, 8, {2, 9}, 5});
    entries.erase(piece_entry{4, 8, {0, 9}, 7});
    CHECK(shapes_during(entries, {0, 9}) == std::vector<std::uint32_t>{5});
}

TEST_CASE("random insertions and removals: the list equals that of a scan")
{
    random_source pick{std::mt19937{11}};
    for (int round = 0; round != 40; ++round) {
        CAPTURE(round);
        sorted_pieces entries;
        std::vector<piece_entry> model;
        std::uint32_t const heights = 1 + pick.below(round % 2 == 0 ? 4 : 100'000);
        std::uint32_t const count = pick.below(1500);
        for (std::uint32_t shape = 0; shape != count; ++shape) {
            piece_entry piece;
            piece.at = round % 4 == 1 ? shape : pick.below(heights);
            piece.other = piece.at + pick.below(9);
            piece.when.first = pick.below(50);
            piece.when.last = piece.when.first + 1 + pick.below(5);
            piece.shape = shape;
            entries.insert(piece);
            model.push_back(piece);
            if (pick.below(3) != 0) continue;
            std::size_t const gone = pick.below(static_cast<std::uint32_t>(model.size()));
            entries.erase(model[gone]);
            model.erase(model.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        std::sort(model.begin(), model.end());
        for (position_id first = 0; first < 55; first += 1 + pick.below(9)) {
            live_range const when{first, first + 1 + pick.below(6)};
            std::vector<std::uint32_t> expected;
            for (piece_entry const& p : model)
                if (overlaps(p.when, when)) expected.push_back(p.shape);
            CHECK(shapes_during(entries, when) == expected);
        }
    }
}

} // namespace this_test
