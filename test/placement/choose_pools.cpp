// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/internal/choose_pools.hpp>

#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/placement/detail/replan.hpp>
#include <sublet/placement/internal/pack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

pool_assignment choose(placement_problem const& problem)
{
    deterministic_control control;
    return choose_pools(problem, {}, control);
}

/// The placement for the chosen pools.
placement placed_as(placement_problem problem, pool_assignment const& chosen)
{
    for (std::size_t b = 0; b != problem.buffers.size(); ++b) problem.buffers[b].pool = chosen.pool_of[b];
    problem.choices.clear();
    placement result = pack(problem, {.objective = placement::objective::fit});
    result.pool_of = chosen.pool_of;
    result.cost = chosen.cost;
    result.cost_bound = chosen.cost_bound;
    if (result.status == placement::outcome::optimal && chosen.cost > chosen.cost_bound)
        result.status = placement::outcome::feasible;
    return result;
}

/// Buffers that may be in fast memory at no cost, or in slow memory at a price.
placement_problem fast_and_slow(std::vector<placement_problem::buffer> buffers, byte_count capacity,
                                std::vector<byte_count> prices)
{
    placement_problem problem{std::move(buffers), {{capacity, 1}, {}}};
    for (buffer_id b = 0; b != prices.size(); ++b) {
        problem.choices.push_back({b, 0, 0});
        problem.choices.push_back({b, 1, prices[b]});
    }
    return problem;
}

} // namespace

TEST_CASE("fast memory is filled, and the buffer with the least cost per byte is elsewhere")
{
    auto const problem = fast_and_slow({{{0, 4}, 8}, {{1, 3}, 8}, {{2, 6}, 8}}, 16, {9, 7, 8});
    auto const chosen = choose(problem);
    CHECK(chosen.pool_of == std::vector<pool_id>{0, 1, 0});
    CHECK(chosen.cost == 7);
    CHECK(chosen.cost_bound == 0);
    CHECK(choose(fast_and_slow(problem.buffers, 24, {9, 7, 8})).cost == 0);
    CHECK(choose(fast_and_slow(problem.buffers, 0, {9, 7, 8})).cost == 24);
}

TEST_CASE("one large buffer moves instead of many small ones, which move back")
{
    // Per byte the small ones are cheaper, but together they cost more, and one of them does not suffice.
    auto const problem =
        fast_and_slow({{{0, 4}, 12}, {{0, 4}, 4}, {{0, 4}, 4}, {{0, 4}, 4}}, 12, {20, 6, 6, 6});
    auto const chosen = choose(problem);
    CHECK(placed_as(problem, chosen).status <= placement::outcome::feasible);
    CHECK(chosen.cost <= 20);
}

TEST_CASE("a pool that fits the live bytes but no placement gives up one buffer")
{
    // At most 10 bytes are live, but the two of 3 leave no gap of 4 where the last needs it: height 11.
    placement_problem pieces{{{{0, 2}, 4}, {{0, 3}, 3}, {{2, 5}, 4}, {{1, 4}, 3}, {{3, 6}, 3}, {{4, 7}, 3}}};
    for (byte_count capacity = 6; capacity != 12; ++capacity) {
        CAPTURE(capacity);
        auto const problem = fast_and_slow(pieces.buffers, capacity, {5, 5, 5, 5, 5, 5});
        auto const chosen = choose(problem);
        auto const placed = placed_as(problem, chosen);
        CHECK(placed.status <= placement::outcome::feasible);
        CHECK(check_placement(problem, placed, {.objective = placement::objective::fit}));
    }
}

TEST_CASE("three pools: storage moved out of the first may displace some in the second")
{
    placement_problem problem{{{{0, 2}, 8}, {{0, 2}, 8}, {{0, 2}, 8}}, {{8, 1}, {8, 1}, {}}};
    for (buffer_id b = 0; b != 3; ++b) {
        problem.choices.push_back({b, 0, 0});
        problem.choices.push_back({b, 1, 10 + b});
        problem.choices.push_back({b, 2, 100 - 10 * b});
    }
    auto const chosen = choose(problem);
    std::vector<int> in(3, 0);
    for (pool_id pool : chosen.pool_of) ++in[pool];
    CHECK(in == std::vector<int>{1, 1, 1});
    CHECK(placed_as(problem, chosen).status <= placement::outcome::feasible);
}

TEST_CASE("a pin that conflicts in one pool is kept in another")
{
    placement_problem problem{{{{0, 2}, 8, 1, 0, 0}, {{0, 2}, 8, 1, 0, 4}}, {{64, 1}, {64, 1}}};
    problem.choices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 3}};
    auto const chosen = choose(problem);
    CHECK(chosen.pool_of == std::vector<pool_id>{0, 1});
    CHECK(placed_as(problem, chosen).status <= placement::outcome::feasible);
}

TEST_CASE("problems without buffers or without capacity have a result")
{
    CHECK(choose(placement_problem{}).pool_of.empty());
    placement_problem problem{{{{0, 2}, 8}, {{0, 2}, 0}}, {{0, 1}}};
    problem.choices = {{1, 0, 2}};
    auto const chosen = choose(problem); // there are no other pools
    CHECK(chosen.pool_of == std::vector<pool_id>{0, 0});
    CHECK(chosen.cost == 2);
    CHECK(chosen.cost_bound == 2);
    problem.choices = {{0, 70000, 0}};
    CHECK_THROWS_AS((void)choose(problem), precondition_error);
}

TEST_CASE("random choices: capacities are kept if greedy keeps them, and the cost bound is valid")
{
    int at_bound = 0, best = 0, solvable = 0, greedy_count = 0, optimal_claims = 0;
    for (std::uint32_t seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_placement_shape shape;
        shape.buffers = 1 + pick.below(5);
        shape.positions = 2 + pick.below(6);
        shape.alignments = 1 + pick.below(2);
        shape.colocated = pick.below(3) == 0 ? 30 : 0;
        shape.pinned = pick.below(4) == 0 ? 20 : 0;
        shape.gaps = pick.below(4) == 0 ? 30 : 0;
        shape.needless = 5;
        placement_problem problem = draw_placement(pick, shape);
        problem.pools = {{pick.below(14), 1}, {pick.below(20), 1 + pick.below(2)}, {}};
        if (pick.below(3) == 0) problem.pools[2].capacity = pick.below(20);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b)
            for (pool_id pool = 0; pool != 3; ++pool) {
                byte_count const cost = pick.below(20);
                if (pick.below(4) != 0) problem.choices.push_back({b, pool, cost});
            }
        CAPTURE(problem);
        pool_assignment chosen;
        pool_candidates candidates;
        try {
            candidates = candidates_of(problem);
        } catch (precondition_error const&) { // colocated buffers without a common pool
            continue;
        }
        chosen = choose(problem);
        auto const placed = placed_as(problem, chosen);
        bool const fits = placed.status <= placement::outcome::feasible;
        verdict const valid = check_placement(problem, placed, {.objective = placement::objective::fit});
        if (fits) REQUIRE(valid);
        auto again = choose(problem);
        REQUIRE(again.pool_of == chosen.pool_of);

        // All combinations of choices.
        byte_count least = no_limit, bound = 0;
        for (std::uint32_t k = 0; k != candidates.size(); ++k) bound += candidates.at(k, 0).cost;
        std::vector<std::uint32_t> choice(candidates.size(), 0);
        for (bool more = true; more;) {
            pool_assignment way;
            for (std::uint32_t k = 0; k != choice.size(); ++k) way.cost += candidates.at(k, choice[k]).cost;
            for (std::uint32_t k : candidates.storage_of)
                way.pool_of.push_back(candidates.at(k, choice[k]).pool);
            if (way.cost < least && placed_as(problem, way).status <= placement::outcome::feasible)
                least = way.cost;
            more = false;
            for (std::uint32_t k = 0; k != choice.size() && !more; ++k) {
                more = ++choice[k] != candidates.count(k);
                if (!more) choice[k] = 0;
            }
        }
        REQUIRE(chosen.cost_bound == bound);
        if (fits) {
            REQUIRE(least != no_limit);
            REQUIRE(least <= chosen.cost);
        }
        detail::pool_assignment_state greedy(
            [&] {
                placement_problem together = problem;
                for (auto& b : together.buffers) b.pool = 0;
                return together;
            }(),
            candidates);
        if (greedy.shapes.fault == shape_fault::none) {
            placement_problem together = problem;
            for (auto& b : together.buffers) b.pool = 0;
            if (detail::place_greedily(together, greedy)) {
                ++greedy_count;
                REQUIRE(fits);
            }
        }
        solvable += least != no_limit;
        best += fits && chosen.cost == least;
        at_bound += fits && chosen.cost == bound;
        optimal_claims += fits && chosen.cost == bound && least == bound;
    }
    CHECK(solvable > rounds(300));
    CHECK(greedy_count > rounds(200));
    CHECK(at_bound == optimal_claims);
    CHECK(at_bound > 30);
    CHECK(best > solvable * 9 / 10); // not guaranteed, but a regression of the heuristic shows here
}

// --- pool candidates ---------------------------------------------------------------------------------------

namespace {

struct offer {
    pool_id pool;
    byte_count cost;
    friend bool operator==(offer const&, offer const&) = default;
};

std::vector<offer> of(placement_problem const& problem, buffer_id b)
{
    pool_candidates const all = candidates_of(problem);
    std::vector<offer> result;
    std::uint32_t const k = all.storage_of[b];
    for (std::uint32_t c = 0; c != all.count(k); ++c)
        result.push_back({all.at(k, c).pool, all.at(k, c).cost});
    return result;
}

using offers = std::vector<offer>;

placement_problem three(std::vector<placement_problem::choice> choices,
                        std::vector<placement_problem::colocation> colocated = {})
{
    return {{{{0, 2}, 8, 1, 1}, {{0, 2}, 8, 1, 1}, {{0, 2}, 8, 1, 2}}, {}, {}, colocated, choices};
}

} // namespace

TEST_CASE("a buffer without choices is in its own pool, at no cost")
{
    CHECK(of(three({}), 0) == offers{{1, 0}});
    CHECK(of(three({{0, 5, 1}}), 2) == offers{{2, 0}});
    CHECK(candidates_of(placement_problem{}).size() == 0);
}

TEST_CASE("candidates are sorted by cost, then by pool, without duplicates")
{
    auto const problem = three({{0, 3, 9}, {0, 4, 2}, {0, 1, 2}, {0, 3, 1}, {0, 4, 7}});
    CHECK(of(problem, 0) == offers{{3, 1}, {1, 2}, {4, 2}});
    CHECK(of(problem, 1) == offers{{1, 0}}); // its own pool does not count for others
}

TEST_CASE("of colocated buffers the one without an anchor chooses")
{
    auto const problem = three({{0, 3, 4}, {0, 5, 1}, {1, 6, 0}}, {{1, 0, 8}});
    CHECK(of(problem, 0) == offers{{5, 1}, {3, 4}});
    CHECK(of(problem, 1) == of(problem, 0));
    pool_candidates const all = candidates_of(problem);
    CHECK(all.size() == 2);
    CHECK(all.storage_of == std::vector<std::uint32_t>{0, 0, 1});
    // In either direction.
    CHECK(of(three({{1, 3, 4}, {0, 6, 0}}, {{0, 1, 8}}), 0) == offers{{3, 4}});
}

TEST_CASE("two buffers without anchors must both allow the pool, and their costs are added")
{
    std::vector<placement_problem::colocation> const both = {{1, 0, 8}, {1, 2, 0}};
    CHECK(of(three({{0, 3, 4}, {0, 5, 1}, {2, 5, 6}, {2, 3, 2}, {2, 9, 0}}, both), 1) ==
          offers{{3, 6}, {5, 7}});
    CHECK(of(three({{0, 3, 4}, {0, 2, 1}}, both), 1) == offers{{2, 1}}); // the other has no choice
    CHECK_THROWS_AS((void)candidates_of(three({{0, 3, 4}, {2, 5, 6}}, both)), precondition_error);
}

TEST_CASE("in a cycle of anchors all must allow the pool")
{
    std::vector<placement_problem::colocation> const circle = {{0, 1, 0}, {1, 0, 0}};
    CHECK(of(three({{0, 3, 4}, {1, 3, 5}, {1, 7, 0}}, circle), 1) == offers{{3, 9}});
}

TEST_CASE("violated preconditions are refused")
{
    CHECK_THROWS_AS((void)candidates_of(three({{3, 0, 0}})), precondition_error);
    CHECK_THROWS_AS((void)candidates_of(three({}, {{0, 3, 0}})), precondition_error);
    byte_count const half = byte_count{1} << 63;
    CHECK_THROWS_AS((void)candidates_of(three({{0, 3, half}, {2, 3, half}}, {{1, 0, 8}, {1, 2, 0}})),
                    precondition_error);
}

// --- replan ------------------------------------------------------------------------------------------------

using offsets = std::vector<byte_count>;

namespace {

placement replanned(placement_problem const& problem, offsets const& previous,
                    std::vector<unsigned char> keep = {}, pack_options const& options = {})
{
    keep.resize(problem.buffers.size(), 0);
    deterministic_control control;
    return replan(problem, previous, keep, options, control);
}

pack_options const few{.visits = 10'000, .improve_visits = 10'000, .nodes = 2000};
pack_options const only_fit{.objective = placement::objective::fit};

/// Whether the buffers from `next` on can be placed within the height, by trying every offset.
bool can_be_put(placement_problem const& problem, offsets& at, std::size_t next, byte_count height)
{
    if (next == at.size()) return true;
    placement_problem::buffer const& b = problem.buffers[next];
    bool const is_fixed = at[next] != no_offset;
    byte_count const from = is_fixed ? at[next] : 0, to = is_fixed ? at[next] : height;
    for (byte_count o = from; o <= to; o += b.alignment) {
        bool fits = o + b.size <= height;
        for (std::size_t i = 0; i != at.size() && fits; ++i) {
            placement_problem::buffer const& other = problem.buffers[i];
            fits = i == next || at[i] == no_offset || !overlaps(b.life, other.life) || o + b.size <= at[i] ||
                   at[i] + other.size <= o;
        }
        if (!fits) continue;
        at[next] = o;
        if (can_be_put(problem, at, next + 1, height)) return true;
        at[next] = is_fixed ? o : no_offset;
    }
    return false;
}

/// The fewest bytes that must move, by trying all subsets.
byte_count fewest_moved(placement_problem const& problem, offsets const& previous, byte_count height)
{
    byte_count fewest = no_limit;
    std::size_t const n = problem.buffers.size();
    for (std::uint32_t moved_set = 0; moved_set != 1u << n; ++moved_set) {
        byte_count bytes = 0;
        offsets at = previous;
        for (std::size_t b = 0; b != n; ++b)
            if ((moved_set >> b & 1) != 0) {
                bytes += previous[b] == no_offset ? 0 : problem.buffers[b].size;
                at[b] = no_offset;
            } else if (previous[b] != no_offset && previous[b] % problem.buffers[b].alignment != 0)
                bytes = no_limit - 100;
        if (bytes < fewest && can_be_put(problem, at, 0, height)) fewest = bytes;
    }
    return fewest;
}

} // namespace

TEST_CASE("an unchanged problem moves nothing, even if pack() would differ")
{
    placement_problem const problem{{{{0, 2}, 64}, {{1, 3}, 32}, {{2, 4}, 64}}};
    CHECK(pack(problem).offset != offsets{32, 0, 32});
    auto const p = replanned(problem, {32, 0, 32});
    CHECK(p.offset == offsets{32, 0, 32});
    CHECK(p.moved_bytes == 0);
    CHECK(p.status == placement::outcome::optimal);
}

TEST_CASE("a new buffer is placed around the old ones")
{
    placement_problem const problem{{{{0, 4}, 8}, {{0, 4}, 8}, {{1, 2}, 4}}};
    auto const p = replanned(problem, {12, 4, no_offset});
    CHECK(p.offset == offsets{12, 4, 0});
    CHECK(p.moved_bytes == 0);
}

TEST_CASE("of two buffers that are newly live together the smaller moves")
{
    placement_problem const problem{{{{0, 3}, 8}, {{2, 5}, 16}, {{4, 6}, 4}}};
    auto const p = replanned(problem, {0, 0, 16});
    CHECK(p.offset == offsets{16, 0, 16});
    CHECK(p.moved_bytes == 8);
    CHECK(p.pools[0].height == 24);
}

TEST_CASE("a kept buffer stays, even if that costs height or bytes")
{
    placement_problem const problem{{{{0, 3}, 8}, {{2, 5}, 16}}};
    auto const p = replanned(problem, {0, 0}, {1, 0});
    CHECK(p.offset == offsets{0, 8});
    CHECK(p.moved_bytes == 16);
    auto const high = replanned(problem, {100, 0}, {1, 0});
    CHECK(high.offset == offsets{100, 0});
    CHECK(high.pools[0].height == 108);
    CHECK(high.status == placement::outcome::optimal);
    // Two kept buffers that conflict are like two pins.
    auto const clash = replanned(problem, {0, 0}, {1, 1});
    CHECK(clash.status == placement::outcome::infeasible);
    CHECK(clash.pools[0].proof.kind == placement::proof::reason::pins_clash);
}

TEST_CASE("height has priority over moves, unless the objective is fit")
{
    placement_problem problem{{{{0, 3}, 8}, {{2, 5}, 16}}, {{40, 1}}};
    auto const low = replanned(problem, {32, 0});
    CHECK(low.pools[0].height == 24);
    CHECK(low.moved_bytes == 8);
    auto const still = replanned(problem, {32, 0}, {}, only_fit);
    CHECK(still.offset == offsets{32, 0});
    CHECK(still.moved_bytes == 0);
    CHECK(still.status == placement::outcome::optimal); // fit requires no more
    problem.pools[0].capacity = 39;
    CHECK(replanned(problem, {32, 0}, {}, only_fit).moved_bytes == 8);
    problem.pools[0].capacity = no_limit;
    CHECK(replanned(problem, {1000, 0}, {}, only_fit).moved_bytes == 0);
    problem.pools[0].capacity = 23;
    CHECK(replanned(problem, {32, 0}, {}, only_fit).status == placement::outcome::infeasible);
}

TEST_CASE("a misaligned old offset is ignored, and colocated buffers stay together")
{
    placement_problem const aligned{{{{0, 3}, 8, 4}, {{2, 5}, 8}}};
    auto const p = replanned(aligned, {6, 14});
    CHECK(p.moved_bytes == 16); // height has priority: 16
    CHECK(replanned(aligned, {6, 14}, {}, only_fit).moved_bytes == 8);

    placement_problem pair{{{{0, 3}, 8}, {{2, 5}, 8}, {{0, 5}, 4}}};
    pair.colocated = {{1, 0, 8}};
    CHECK(replanned(pair, {4, 12, 0}).offset == offsets{4, 12, 0});
    auto const split = replanned(pair, {4, 20, 0}, {}, only_fit); // they were apart: at least one moves
    CHECK(split.offset[1] == split.offset[0] + 8);
    CHECK(split.offset[2] == 0);
    // There was no space below the anchor.
    CHECK(replanned(pair, {no_offset, 4, 0}, {}, only_fit).offset[2] == 0);
}

TEST_CASE("violated preconditions are refused")
{
    placement_problem const problem{{{{0, 3}, 8}, {{2, 5}, 16, 1, 0, 0}}};
    CHECK_THROWS_AS((void)replanned(problem, {0}), precondition_error);
    CHECK_THROWS_AS((void)replanned(problem, {0, 16}, {0, 1}), precondition_error);
    CHECK_THROWS_AS((void)replanned(problem, {no_offset, 0}, {1, 0}), precondition_error);
    CHECK(replanned(problem, {16, 0}, {1, 1}).offset == offsets{16, 0});
    CHECK(replanned(placement_problem{}, {}).offset.empty());
}

TEST_CASE("random problems: moved bytes are at least the minimum over all moves, and mostly equal")
{
    int tried = 0, fewest = 0, moves = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem problem;
        for (std::uint32_t i = 0, n = 2 + pick.below(3); i != n; ++i) {
            position_id const first = pick.below(5), last = first + 1 + pick.below(4);
            byte_count const size = 1 + pick.below(4), alignment = 1 + pick.below(2);
            problem.buffers.push_back({{first, last}, size, alignment});
        }
        offsets previous = pack(problem).offset;
        for (byte_count& before : previous)
            if (pick.below(4) == 0) before = pick.below(3) == 0 ? no_offset : pick.below(12);
        for (placement_problem::buffer& b : problem.buffers)
            if (pick.below(3) == 0) b.life.last += pick.below(3);
        bool const fit = pick.below(2) == 0;
        byte_count const lowest = pack(problem).pools[0].height;
        if (fit) problem.pools = {{lowest + pick.below(4), 1}};
        auto const p = replanned(problem, previous, {}, fit ? only_fit : pack_options{});
        REQUIRE(p.status <= placement::outcome::feasible);
        placement::question question;
        question.objective = fit ? placement::objective::fit : placement::objective::minimize;
        question.previous = previous;
        REQUIRE(check_placement(problem, p, question));
        if (!fit) REQUIRE(p.pools[0].height <= lowest);
        byte_count const limit = fit ? problem.pools[0].capacity : p.pools[0].height;
        byte_count const least = fewest_moved(problem, previous, limit);
        REQUIRE(p.moved_bytes >= least);
        ++tried;
        moves += least != 0;
        fewest += p.moved_bytes == least;
    }
    CHECK(moves > rounds(200));
    CHECK(fewest > tried * 9 / 10); // not guaranteed, but a regression of the heuristic shows here
}

TEST_CASE("random problems of all kinds: valid, and kept buffers keep their offsets")
{
    int kept = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.pools = 1 + pick.below(2);
        placement_problem const problem = draw_placement(pick, shape);
        CAPTURE(problem);
        offsets previous = pack(problem, few).offset;
        std::vector<unsigned char> keep(problem.buffers.size(), 0);
        for (std::size_t b = 0; b != previous.size(); ++b) {
            if (pick.below(5) == 0) previous[b] = pick.below(3) == 0 ? no_offset : pick.below(30);
            bool const may = previous[b] != no_offset && problem.buffers[b].pinned == no_offset;
            keep[b] = may && pick.below(4) == 0;
        }
        placement_problem pinned = problem;
        for (std::size_t b = 0; b != previous.size(); ++b)
            if (keep[b] != 0) pinned.buffers[b].pinned = previous[b];
        auto const p = replanned(problem, previous, keep, few);
        placement::question question;
        question.previous = previous;
        if (verdict const valid = check_placement(pinned, p, question); !valid) FAIL(valid.error());
        REQUIRE(replanned(problem, previous, keep, few).offset == p.offset);
        for (std::size_t b = 0; b != previous.size(); ++b)
            if (keep[b] != 0 && p.offset[b] != no_offset) {
                REQUIRE(p.offset[b] == previous[b]);
                ++kept;
            }
    }
    CHECK(kept > 100);
}

TEST_CASE("of thousands of buffers few move if few have changed")
{
    random_source pick{std::mt19937(3)};
    placement_problem problem;
    for (int i = 0; i != 3000; ++i) {
        position_id const first = pick.below(2000), last = first + 1 + pick.below(60);
        problem.buffers.push_back({{first, last}, 1 + byte_count{pick.below(500)}});
    }
    offsets const previous = pack(problem).offset;
    byte_count changed = 0;
    for (int i = 0; i != 20; ++i) {
        placement_problem::buffer& b = problem.buffers[pick.below(3000)];
        b.life.last += 5;
        changed += b.size;
    }
    byte_count height = 0;
    for (std::size_t b = 0; b != previous.size(); ++b)
        height = std::max(height, previous[b] + problem.buffers[b].size);
    problem.pools = {{height + height / 10, 1}};
    auto const p = replanned(problem, previous, {}, only_fit);
    CHECK(check_placement(problem, p, [&] {
        placement::question q;
        q.objective = placement::objective::fit;
        q.previous = previous;
        return q;
    }()));
    CHECK(p.moved_bytes <= changed * 2);
    CHECK(p.moved_bytes > 0);
}

} // namespace this_test
