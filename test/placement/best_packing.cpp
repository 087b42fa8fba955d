// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include "../all_shapes.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <sublet/placement/detail/fit.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Stops after so many attempts.
struct stops_after : deterministic_control {
    explicit stops_after(std::uint32_t attempts) : after(attempts) {}
    std::uint32_t after;
    byte_count reported = 0;
    bool stop(byte_count best, byte_count, std::uint64_t) override
    {
        reported = best;
        return after-- == 0;
    }
};

} // namespace

TEST_CASE("random shapes of all kinds: packings are valid, and more orders never make them higher")
{
    std::size_t lower = 0, pins = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        if (seed % 10 == 0) kind.buffers = 10 + pick.below(30), kind.positions = 10 + pick.below(30);
        if (seed % 100 != 1) kind.pinned = seed % 100 == 2 ? 5 : 0;
        auto const problem = draw_placement(pick, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const bound = lower_bound(shapes);
        packing const first = first_packing(shapes, bound);
        if (kind.pinned != 0 && !is_sound(shapes, first)) continue; // conflicting pins
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

TEST_CASE("stop() is called before each attempt, with the best height")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}}}); // 7, and the goal is 6
    auto bound = lower_bound(shapes);
    bound.bytes = 6;
    for (std::uint32_t attempts : {0u, 1u, 5u}) {
        stops_after control(attempts);
        std::uint32_t tried = 0;
        auto const best =
            best_packing(shapes, bound, 1'000'000, first_packing(shapes, bound), control, tried);
        CHECK(best.height == 7);
        CHECK(tried == attempts);
        CHECK(control.reported == 7);
    }
}

TEST_CASE("time components are packed separately, and only those above the bound again")
{
    // Two components: 7 bytes where 6 are live, and 20 bytes that nothing can lower.
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

TEST_CASE("no further order is tried once the bound is met or the visits are spent")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}}}); // 7, and the goal is 6
    auto bound = lower_bound(shapes);
    bound.bytes = 6;
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

// --- fit from peak -----------------------------------------------------------------------------------------

namespace {

using buffers = std::vector<placement_problem::buffer>;

packing from_peak(placement_shapes const& shapes, placement_order which = placement_order::peak_birth,
                  byte_count ceiling = no_limit - 1, bool has_roof = false)
{
    auto const bound = lower_bound(shapes);
    return fit_from_peak(shapes, order_by(which, shapes, bound), bound, ceiling, {}, has_roof);
}

packing all_from_peak(buffers const& b) { return from_peak(shapes_of_all({b})); }

/// The origin in the smallest gap into which the shape fits, between shapes that overlap in time: the lowest
/// in it; or, below a roof, the highest if the shape below the gap ends before this one and the one above it.
byte_count best_fit(placement_shapes const& all, std::vector<byte_count> const& origin, std::uint32_t s,
                    std::optional<byte_count> roof = {}, bool forwards = true)
{
    struct obstacle {
        byte_count begin, end;
        position_id until; // in the direction of time
        bool operator<(obstacle const& o) const { return begin < o.begin; }
    };
    auto until = [&](std::uint32_t t) -> position_id {
        live_range const life = all.shapes[t].life;
        return forwards ? +life.last : no_position - 1 - life.first;
    };
    std::vector<obstacle> in_the_way;
    for (std::uint32_t t = 0; t != all.size(); ++t)
        if (origin[t] != no_offset && overlaps(all.shapes[s].life, all.shapes[t].life))
            in_the_way.push_back({origin[t], origin[t] + all.shapes[t].size, until(t)});
    std::sort(in_the_way.begin(), in_the_way.end());
    in_the_way.push_back({roof.value_or(no_limit - 1), no_limit, no_position});
    obstacle below{0, 0, no_position};
    byte_count best = no_offset, best_gap = no_limit;
    for (obstacle const& above : in_the_way) {
        byte_count at = align_up(below.end, all.shapes[s]);
        if (above.begin > below.end && at + all.shapes[s].size <= above.begin &&
            above.begin - below.end < best_gap) {
            if (roof && below.until < until(s) && below.until < above.until)
                while (at + all.shapes[s].alignment + all.shapes[s].size <= above.begin)
                    at += all.shapes[s].alignment;
            best = at;
            best_gap = above.begin - below.end;
        }
        below = above;
    }
    return best;
}

} // namespace

TEST_CASE("shapes live at the peak are stacked, others take the smallest gap that is free")
{
    //            0 1 2 3 4 5
    //     0: 4   [=====)            the peak is at 2
    //     1: 6     [=====)
    //     2: 5       [===)
    //     3: 3         [===)        0 to 4 is free then, and what lies above 15
    //     4: 4           [=)        all above 3 is free then
    buffers const b{{{0, 3}, 4}, {{1, 4}, 6}, {{2, 4}, 5}, {{4, 5}, 4}, {{3, 5}, 3}};
    auto const p = all_from_peak(b);
    CHECK(p.origin == std::vector<byte_count>{0, 4, 10, 0, 3}); // by begin: 3 is the one of 3 bytes
    CHECK(p.height == 15);
}

TEST_CASE("fit_from_peak() of no shapes is empty")
{
    CHECK(all_from_peak(buffers{}).height == 0);
    CHECK(all_from_peak({{{5, 6}, 8, 64}}).origin == std::vector<byte_count>{0});
}

TEST_CASE("shapes that are all live together, or nested, are packed to the bound")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        buffers together, brackets;
        std::vector<position_id> open;
        for (position_id at = 0; at != 60; ++at) {
            byte_count const size = 1 + pick.below(50);
            together.push_back({{pick.below(30), 31 + pick.below(30)}, size});
            if (open.empty() || pick.below(2) == 0) {
                open.push_back(at);
            } else {
                brackets.push_back({{open.back(), at}, size});
                open.pop_back();
            }
        }
        for (buffers const& b : {together, brackets})
            CHECK(all_from_peak(b).height == lower_bound(shapes_of_all({b})).bytes);
    }
}

TEST_CASE("a packing above the ceiling is given up, at the peak and beside it")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 8}, {{1, 3}, 8}, {{2, 4}, 7}, {{3, 5}, 7}}});
    CHECK(from_peak(shapes, placement_order::peak_birth, 16).height == 16);
    CHECK(from_peak(shapes, placement_order::peak_birth, 15).height == no_limit);
    auto const beside = shapes_of_all({{{{0, 2}, 4}, {{0, 1}, 4, 1}, {{2, 4}, 3, 5}, {{3, 4}, 3, 5}}});
    CHECK(from_peak(beside, placement_order::peak_birth, 8).height == 8);
    CHECK(from_peak(beside, placement_order::peak_birth, 7).height == no_limit);
}

TEST_CASE("below a roof a chain of any sizes is packed to the bound")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        buffers chain;
        byte_count const alignment = 1 + pick.below(3) * 7;
        for (position_id at = 0; at != 300; ++at)
            chain.push_back({{at, at + 2}, alignment * (1 + pick.below(at % 50 == 7 ? 90 : 50)), alignment});
        auto const shapes = shapes_of_all({chain});
        byte_count const bound = lower_bound(shapes).bytes;
        packing const p = from_peak(shapes, placement_order::peak_birth, bound, true);
        REQUIRE(p.height == bound);
        REQUIRE(is_sound(shapes, p));
    }
}

TEST_CASE("fit_from_peak() refuses a pinned shape")
{
    CHECK_THROWS_AS((void)all_from_peak(buffers{{{0, 1}, 8, 1, 0, 8}}), precondition_error);
}

TEST_CASE("random shapes: each origin equals that of a scan of all placed shapes")
{
    std::size_t gaps = 0, given_up = 0, unlike = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        kind.pinned = kind.preferred = 0;
        if (seed % 3 != 0) kind.buffers = 8 + pick.below(30), kind.positions = 8 + pick.below(30);
        auto const problem = draw_placement(pick, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const bound = lower_bound(shapes);
        auto const which = pick.below(2) == 0 ? placement_order::peak_birth : placement_order::peak_death;
        auto const free = from_peak(shapes, which);

        std::vector<std::uint32_t> before, stack, after;
        for (std::uint32_t s : order_by(which, shapes, bound)) {
            live_range const life = shapes.shapes[s].life;
            (contains(life, bound.peak_position) ? stack
             : life.last <= bound.peak_position  ? before
                                                 : after)
                .push_back(s);
        }
        auto larger_first = [&](std::uint32_t s, std::uint32_t t) {
            return shapes.shapes[s].size != shapes.shapes[t].size
                       ? shapes.shapes[s].size > shapes.shapes[t].size
                       : s < t;
        };
        std::sort(after.begin(), after.end(), [&](auto s, auto t) {
            live_range const one = shapes.shapes[s].life, other = shapes.shapes[t].life;
            return one.first != other.first ? one.first < other.first : larger_first(s, t);
        });
        std::sort(before.begin(), before.end(), [&](auto s, auto t) {
            live_range const one = shapes.shapes[s].life, other = shapes.shapes[t].life;
            return one.last != other.last ? one.last > other.last : larger_first(s, t);
        });
        for (std::optional<byte_count> roof : {std::optional<byte_count>{}, std::optional(free.height),
                                               std::optional(std::max(bound.bytes, free.height - 1))}) {
            CAPTURE(roof.value_or(0));
            packing const p = roof ? from_peak(shapes, which, *roof, true) : free;
            std::vector<byte_count> origin(shapes.size(), no_offset);
            byte_count height = 0;
            bool fits = true;
            auto put = [&](std::uint32_t s, byte_count at) {
                fits = fits && at != no_offset && (!roof || at + shapes.shapes[s].size <= *roof);
                if (!fits) return;
                origin[s] = at;
                height = std::max(height, at + shapes.shapes[s].size);
            };
            for (std::uint32_t s : stack) put(s, align_up(height, shapes.shapes[s]));
            byte_count const top = height;
            for (auto const* side : {&after, &before})
                for (std::uint32_t s : *side) {
                    if (!fits) break;
                    put(s, best_fit(shapes, origin, s, roof, side == &after));
                    gaps += fits && !roof && origin[s] + shapes.shapes[s].size < top;
                }
            REQUIRE((p.height != no_limit) == fits);
            given_up += !fits;
            if (!fits) continue;
            REQUIRE(p.origin == origin);
            REQUIRE(p.height == height);
            unlike += roof && p.origin != free.origin;
        }
    }
    CHECK(given_up > rounds(50));
    CHECK(unlike > rounds(50));
    CHECK(gaps > 1000);
}

// --- bottom-left fit ---------------------------------------------------------------------------------------

namespace {

packing bottom_left(placement_shapes const& shapes, byte_count ceiling = no_limit - 1)
{
    std::vector<std::uint32_t> order(shapes.size());
    std::iota(order.begin(), order.end(), 0u);
    return bottom_left_fit(shapes, order, lower_bound(shapes), ceiling);
}

} // namespace

TEST_CASE("the shape that can lie lowest is next, ties by unplaced load, then by the order")
{
    //     position  0   1   2   3
    //     0: 2      [===)
    //     1: 5      [=======)            9 at 1: of 1, 2 and 3, which are live there, 1 is the first;
    //     2: 1          [===)            then 4 can lie at 0, too, and it is the only one; then 0, 2 and 3
    //     3: 3          [=======)        can lie at 5, and at 1 more bytes are unplaced
    //     4: 4              [===)
    auto const shapes = shapes_of_all({{{{0, 1}, 2}, {{0, 2}, 5}, {{1, 2}, 1}, {{1, 3}, 3}, {{2, 3}, 4}}});
    auto const p = bottom_left(shapes);
    CHECK(p.origin == std::vector<byte_count>{5, 0, 5, 6, 0});
    CHECK(p.height == 9);
}

TEST_CASE("bottom_left_fit() of no shapes is empty")
{
    CHECK(bottom_left(shapes_of_all({})).height == 0);
    CHECK(bottom_left(shapes_of_all({{{{5, 6}, 8, 64}}})).origin == std::vector<byte_count>{0});
}

TEST_CASE("a packing above the ceiling is given up")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 8}, {{1, 3}, 8}}});
    CHECK(bottom_left(shapes, 16).height == 16);
    CHECK(bottom_left(shapes, 15).height == no_limit);
    CHECK(bottom_left(shapes, 7).height == no_limit);
}

TEST_CASE("bytes that windows leave free are used by later shapes")
{
    // 1 has only its upper half at first, and 0 fits below it; but no shape is placed below an earlier one.
    placement_problem const problem{{{{0, 1}, 4}, {{0, 2}, 8}}, {}, {{1, {0, 1}, 4, 8}}};
    auto const shapes = shapes_of_all(problem);
    CHECK(bottom_left_fit(shapes, {0, 1}, lower_bound(shapes)).height == 8);
    CHECK(bottom_left_fit(shapes, {1, 0}, lower_bound(shapes)).height == 12);
}

TEST_CASE("bottom_left_fit() refuses a pinned shape")
{
    CHECK_THROWS_AS((void)bottom_left(shapes_of_all({{{{0, 1}, 8, 1, 0, 8}}})), precondition_error);
}

TEST_CASE("sums beyond 64 bits are above the ceiling")
{
    byte_count const most = (byte_count{1} << 62) - 1;
    buffers b(4, placement_problem::buffer{{0, 2}, most});
    CHECK(bottom_left(shapes_of_all({b})).height == 4 * most);
    b.push_back({{0, 2}, 1});
    CHECK(bottom_left(shapes_of_all({b})).height == 4 * most + 1);
    b[4].size = most;
    CHECK_THROWS_AS((void)bottom_left(shapes_of_all({b})), precondition_error); // the bound exceeds 64 bits
}

TEST_CASE("random shapes: each step agrees with the definition")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        kind.pinned = kind.preferred = 0;
        if (seed % 3 == 0) kind.buffers = 5 + pick.below(20), kind.positions = 5 + pick.below(20);
        auto const problem = draw_placement(pick, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const order = pick.permutation<std::uint32_t>(shapes.size());
        auto const p = bottom_left_fit(shapes, order, lower_bound(shapes));

        std::vector<byte_count> origin(shapes.size(), no_offset);
        byte_count height = 0;
        auto lowest = [&](std::uint32_t s) {
            std::int64_t at = 0;
            for (std::uint32_t t = 0; t != shapes.size(); ++t)
                if (shape_separation const apart = min_separation(shapes, t, s);
                    origin[t] != no_offset && apart.meets)
                    at = std::max(at, static_cast<std::int64_t>(origin[t]) + apart.distance);
            return align_up(static_cast<byte_count>(at), shapes.shapes[s]);
        };
        for (std::size_t step = 0; step != shapes.size(); ++step) {
            byte_count least = no_offset;
            for (std::uint32_t s : order)
                if (origin[s] == no_offset) least = std::min(least, lowest(s));
            std::optional<std::uint32_t> next;
            byte_count most = 0;
            for (position_id at = 0; at != shapes.positions.size(); ++at) {
                byte_count to_come = 0;
                std::optional<std::uint32_t> first;
                for (std::uint32_t s : order) {
                    if (origin[s] != no_offset) continue;
                    for (shape_piece const& piece : shapes.pieces_of(s))
                        if (contains(piece.when, at)) to_come += piece.end - piece.begin;
                    if (!first && lowest(s) == least && contains(shapes.shapes[s].life, at)) first = s;
                }
                if (!first || (next && to_come <= most)) continue;
                next = first;
                most = to_come;
            }
            origin[*next] = least;
            height = std::max(height, least + shapes.shapes[*next].size);
        }
        REQUIRE(p.origin == origin);
        REQUIRE(p.height == height);
    }
}

// --- gap list ----------------------------------------------------------------------------------------------

static placement_shape sized(byte_count size, byte_count alignment = 1, byte_count phase = 0)
{
    placement_shape shape;
    shape.size = size;
    shape.alignment = alignment;
    shape.phase = phase;
    return shape;
}

TEST_CASE("allocation takes the smallest gap, and deallocation merges adjacent gaps")
{
    gap_list gaps(6);
    for (std::uint32_t id = 0; id != 5; ++id) gaps.stack(id, 10 * id, 10 - id); // 1 to 4 bytes between
    CHECK(gaps.allocate(5, sized(2), 100) == 19 + 9);                           // of 2 bytes, above 2
    gaps.deallocate(5);
    gaps.deallocate(1); // 9 bytes and 2 more: 10 to 20
    CHECK(gaps.allocate(5, sized(3), 100) == 37);
    gaps.deallocate(5);
    CHECK(gaps.allocate(5, sized(4), 100) == 10);
    gaps.deallocate(5);
    CHECK(gaps.allocate(1, sized(10), 100) == 10);
    CHECK(gaps.allocate(5, sized(10), 100) == 46);
}

TEST_CASE("of equal gaps the lowest is taken, and none above the ceiling")
{
    gap_list gaps(5);
    gaps.stack(0, 4, 4);
    gaps.stack(1, 12, 4);
    CHECK(gaps.allocate(2, sized(4), 3) == no_offset);
    CHECK(gaps.allocate(2, sized(4), 4) == 0);
    CHECK(gaps.allocate(3, sized(4), 11) == no_offset);
    CHECK(gaps.allocate(3, sized(4), 12) == 8);
    CHECK(gaps.allocate(4, sized(4), 19) == no_offset);
    CHECK(gaps.allocate(4, sized(4), 20) == 16);
}

TEST_CASE("origins respect alignment and phase, and the padding below stays free")
{
    gap_list gaps(3);
    gaps.stack(0, 0, 3);
    CHECK(gaps.allocate(1, sized(8, 16, 5), 100) == 5);
    CHECK(gaps.allocate(2, sized(2), 100) == 3);
}

TEST_CASE("a thousand allocations and deallocations: each origin equals that of a scan of all gaps")
{
    std::size_t misfits = 0;
    for (unsigned seed = 0; seed != 40; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        bool const is_aligned = seed % 2 == 1;
        std::uint32_t const n = 1000;
        gap_list gaps(n);
        std::map<byte_count, std::pair<byte_count, std::uint32_t>> alive; // by begin: end, id
        for (std::uint32_t id = 0; id != n; ++id) {
            while (!alive.empty() && pick.below(seed % 4 < 2 ? 5 : 9) < 4) {
                auto gone = alive.begin();
                for (std::uint32_t k = pick.below(static_cast<std::uint32_t>(alive.size())); k != 0; --k)
                    ++gone;
                gaps.deallocate(gone->second.second);
                alive.erase(gone);
            }
            byte_count const alignment = is_aligned ? byte_count{1} << pick.below(4) : 1;
            placement_shape const shape = sized(1 + pick.below(60), alignment, pick.below(2) % alignment);
            std::set<std::pair<byte_count, byte_count>> by_gap; // room, begin
            byte_count top = 0;
            for (auto const& [begin, rest] : alive) {
                if (begin != top) by_gap.emplace(begin - top, top);
                top = rest.first;
            }
            by_gap.emplace(no_limit - 1 - top, top);
            byte_count expected = no_offset;
            int tried = 0;
            for (auto [room, begin] : by_gap) {
                byte_count const at = align_up(begin, shape);
                if (room < shape.size) continue;
                if (tried >= 64 && room < shape.size + shape.alignment) continue;
                if (at + shape.size <= begin + room) {
                    expected = at;
                    break;
                }
                ++tried;
            }
            misfits += tried != 0;
            byte_count const at = gaps.allocate(id, shape, no_limit - 1);
            REQUIRE(at == expected);
            alive[at] = {at + shape.size, id};
        }
    }
    CHECK(misfits > 1000);
}

TEST_CASE("if alignment makes many gaps too small, a gap with room for any alignment is taken")
{
    gap_list gaps(300);
    for (std::uint32_t id = 0; id != 200; ++id) gaps.stack(id, 16 * id, 7); // 9 bytes from 7 to 16
    gaps.stack(200, 200 * 16 + 24, 1);                                      // and 33, behind them
    CHECK(gaps.allocate(201, sized(8, 16), no_limit - 1) == 200 * 16);
    CHECK(gaps.allocate(202, sized(9, 16, 7), no_limit - 1) == 7);
    CHECK(gaps.allocate(203, sized(10, 16), no_limit - 1) == 201 * 16 + 16);
}

// --- time components ---------------------------------------------------------------------------------------

TEST_CASE("a time component ends where no live range crosses")
{
    auto const shapes =
        shapes_of_all({{{{0, 4}, 1}, {{2, 5}, 2}, {{5, 6}, 3}, {{9, 12}, 4}, {{9, 11}, 5}, {{11, 12}, 6}}});
    CHECK(time_components(shapes) == std::vector<std::uint32_t>{0, 2, 3, 6});
    auto const part = component_of(shapes, 3, 6);
    CHECK(part.positions == table<position_id, position_id>{9, 11, 12});
    REQUIRE(part.size() == 3);
    CHECK(part.shapes[2].size == 6);
    CHECK(part.shapes[2].life == live_range{1, 2});
    CHECK(part.pieces_of(1)[0].when == live_range{0, 1});
}

TEST_CASE("no shapes have no components, and a shape live in the gap of another is in its component")
{
    CHECK(time_components(shapes_of_all({})) == std::vector<std::uint32_t>{0});
    placement_problem const problem{{{{0, 9}, 4}, {{3, 4}, 4}}, {}, {{0, {2, 6}, 0, 0}}};
    CHECK(time_components(shapes_of_all(problem)) == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("random shapes: components are disjoint in time, indivisible, and keep their shapes")
{
    std::size_t cuts = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        kind.positions = 4 + pick.below(30);
        auto const shapes = shapes_of_all(draw_placement(pick, kind));
        auto const first = time_components(shapes);
        REQUIRE(first.back() == shapes.size());
        auto is_cut = [&](std::uint32_t at) { // no live range crosses `at`
            for (std::uint32_t s = 0; s != at; ++s)
                if (shapes.shapes[s].life.last > shapes.shapes[at].life.first) return false;
            return true;
        };
        std::vector<std::uint32_t> expected;
        for (std::uint32_t s = 0; s != shapes.size(); ++s)
            if (is_cut(s)) expected.push_back(s);
        expected.push_back(static_cast<std::uint32_t>(shapes.size()));
        CHECK(first == expected);
        cuts += first.size() > 2;
        for (std::size_t i = 0; i + 1 < first.size(); ++i) {
            auto const part = component_of(shapes, first[i], first[i + 1]);
            for (std::uint32_t s = 0; s != part.size(); ++s) {
                auto const own = part.pieces_of(s), before = shapes.pieces_of(first[i] + s);
                CHECK(part.shapes[s].size == shapes.shapes[first[i] + s].size);
                REQUIRE(own.size() == before.size());
                for (std::size_t k = 0; k != own.size(); ++k) {
                    CHECK(part.positions[own[k].when.first] == shapes.positions[before[k].when.first]);
                    CHECK(part.positions[own[k].when.last] == shapes.positions[before[k].when.last]);
                    CHECK(own[k].begin == before[k].begin);
                    CHECK(own[k].end == before[k].end);
                }
            }
        }
    }
    CHECK(cuts > 50);
}

} // namespace this_test
