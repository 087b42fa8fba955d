// SPDX-License-Identifier: BSL-1.0
#include "placement_oracle.hpp"
#include "random_placements.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include "../printed.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/place.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

bool is_unproved(verdict const& proof) { return proof || proof.error().what == fault::not_checkable; }

/// The oracle of a problem in which every solid byte keeps a guard above it free.
placement_oracle guarded_oracle(placement_problem const& problem, pool_id pool = 0)
{
    placement_oracle oracle(problem, pool);
    auto const guard = static_cast<placement_oracle::bytes>(problem.pools[pool].guard);
    for (placement_oracle::group& g : oracle.groups)
        for (placement_oracle::extent& e : g.solid)
            if (e.is_solid()) e.end += guard;
    return oracle;
}

/// Whether no two buffers of a pool that conflict by their clocks are closer than its guard.
bool are_apart(placement_problem const& problem, placement const& placed)
{
    std::size_t const threads = problem.clocks.threads;
    auto precedes = [&](buffer_id a, buffer_id b) {
        for (std::size_t t = 0; t != threads; ++t)
            if (problem.clocks.end[a * threads + t] > problem.clocks.begin[b * threads + t]) return false;
        return true;
    };
    auto pool_of = [&](buffer_id b) {
        return placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b];
    };
    for (buffer_id a = 0; a != problem.buffers.size(); ++a)
        for (buffer_id b = 0; b != a; ++b) {
            if (placed.offset[a] == no_offset || placed.offset[b] == no_offset) continue;
            if (pool_of(a) != pool_of(b) || precedes(a, b) || precedes(b, a)) continue;
            byte_count const guard = problem.pools[pool_of(a)].guard;
            if (placed.offset[a] < placed.offset[b] + problem.buffers[b].size + guard &&
                placed.offset[b] < placed.offset[a] + problem.buffers[a].size + guard)
                return false;
        }
    return true;
}

placement_problem draw_guarded(random_source& pick)
{
    random_placement_shape shape = draw_placement_shape(pick);
    shape.buffers = 1 + pick.below(6);
    placement_problem problem = draw_placement(pick, shape);
    problem.pools[0].guard = byte_count{1 + pick.below(4)} * shape.scale;
    return problem;
}

using ranges = std::vector<std::pair<byte_count, byte_count>>;

/// Ascending; what is closer than the guard is one.
ranges merged(pool_limits const& pool)
{
    ranges result;
    ranges all = pool.reserved;
    std::sort(all.begin(), all.end());
    for (auto range : all) {
        if (range.first == range.second) continue;
        if (!result.empty() && range.first <= result.back().second + pool.guard)
            result.back().second = std::max(result.back().second, range.second);
        else result.push_back(range);
    }
    return result;
}

/// The problem with the first ranges as buffers that live always.
placement_problem around_first(placement_problem problem, std::size_t count)
{
    ranges const all = merged(problem.pools[0]);
    for (placement_problem::buffer& b : problem.buffers)
        b.alignment = std::lcm(b.alignment, problem.pools[0].alignment);
    problem.pools[0].alignment = 1;
    for (std::size_t i = 0; i != count; ++i)
        problem.buffers.push_back(
            {.life = {0, 32}, .size = all[i].second - all[i].first, .pinned = all[i].first});
    return problem;
}

/// The least height of a stacking of the buffers around the ranges: if it is above a range, so are bytes.
placement_oracle::bytes lowest_around(placement_problem const& problem)
{
    ranges const all = merged(problem.pools[0]);
    for (std::size_t count = 0;; ++count) {
        placement_problem const around = around_first(problem, count);
        auto const lowest = guarded_oracle(around).lowest_stacking();
        if (count == all.size() || lowest == placement_oracle::unplaceable ||
            static_cast<byte_count>(lowest) + problem.pools[0].guard <= all[count].first)
            return lowest;
    }
}

bool is_end_of_range(placement_problem const& problem, byte_count height)
{
    for (auto range : merged(problem.pools[0]))
        if (range.second == height) return true;
    return false;
}

/// Whether the offsets are valid, and a guard apart from all ranges.
bool is_around(placement_problem const& problem, table<buffer_id, byte_count> offset, byte_count height)
{
    std::size_t const count = merged(problem.pools[0]).size();
    placement_problem const around = around_first(problem, count);
    for (std::size_t b = offset.size(); b != around.buffers.size(); ++b)
        offset.push_back(around.buffers[buffer_id::of(b)].pinned);
    byte_count top = 0;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (offset[b] != no_offset) top = std::max(top, offset[b] + problem.buffers[b].size);
    return top == height && guarded_oracle(around).is_valid(offset, no_limit);
}

placement_problem draw_reserved(random_source& pick)
{
    random_placement_shape shape = draw_placement_shape(pick);
    shape.buffers = 1 + pick.below(5);
    placement_problem problem = draw_placement(pick, shape);
    if (pick.below(3) == 0) problem.pools[0].guard = byte_count{1 + pick.below(3)} * shape.scale;
    for (unsigned n = 1 + pick.below(3); n != 0; --n) {
        byte_count const begin = pick.below(24) * shape.scale;
        problem.pools[0].reserved.push_back({begin, begin + pick.below(8) * shape.scale});
    }
    return problem;
}

} // namespace

TEST_CASE("with a guard no oracle finds a lower placement, and what is placed keeps it")
{
    std::size_t optimal = 0, exhausted = 0, by_bytes = 0, above = 0, unplaced = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem const problem = draw_guarded(pick);
        CAPTURE(problem);
        placement_oracle const oracle = guarded_oracle(problem);
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        CHECK(is_unproved(check_proof(problem, placed, 0)));
        placement::pool_result const& pool = placed.pools[0];
        auto const lowest = oracle.lowest_stacking();
        if (placed.status > placement::outcome::feasible) {
            if (!oracle.can_interleave()) CHECK(lowest == placement_oracle::unplaceable);
            ++unplaced;
            continue;
        }
        CHECK(oracle.is_valid(placed.offset, pool.height));
        placement const again = place(problem, {.previous = placed.offset});
        CHECK(printed(check_placement(problem, again, {.previous = placed.offset})) == "");
        if (placed.status == placement::outcome::optimal) CHECK(again.offset == placed.offset);
        if (!oracle.can_interleave()) {
            CHECK(pool.lower_bound <= static_cast<byte_count>(lowest));
            if (placed.status == placement::outcome::optimal)
                CHECK(pool.height == static_cast<byte_count>(lowest));
        }
        if (oracle.offset_combinations(static_cast<placement_oracle::bytes>(pool.height)) < 3000 &&
            pool.height != 0)
            CHECK(oracle.lowest_placement(static_cast<placement_oracle::bytes>(pool.height)) >=
                  static_cast<placement_oracle::bytes>(pool.lower_bound));
        placement_problem without = problem;
        without.pools[0].guard = 0;
        placement const closer = place(without);
        if (closer.status == placement::outcome::optimal) CHECK(pool.height >= closer.pools[0].height);
        above += pool.height > closer.pools[0].height;
        optimal += placed.status == placement::outcome::optimal;
        exhausted += pool.proof.kind == placement::proof::reason::exhausted;
        by_bytes += pool.proof.kind == placement::proof::reason::live_bytes;

        // Within the capacity, or above it.
        placement_problem limited = problem;
        limited.pools[0].capacity = pool.height - (pool.height != 0 ? pick.below(2) : 0);
        placement const fitted = place(limited, {.objective = placement::objective::fit});
        CHECK(printed(check_placement(limited, fitted, {.objective = placement::objective::fit})) == "");
        if (limited.pools[0].capacity == pool.height) CHECK(fitted.status <= placement::outcome::feasible);
        else if (placed.status == placement::outcome::optimal)
            CHECK(fitted.status == placement::outcome::infeasible);
    }
    CHECK(optimal > rounds(2000) / 2);
    CHECK(exhausted > rounds(2000) / 40);
    CHECK(by_bytes > rounds(2000) / 3);
    CHECK(above > rounds(2000) / 2);
    CHECK(unplaced > rounds(2000) / 40);
}

TEST_CASE("buffers that are closer than a guard are found, and no others")
{
    std::size_t wrong = 0, right = 0, closer = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem = draw_guarded(pick);
        for (placement_problem::buffer& b : problem.buffers) b.pinned = no_offset;
        CAPTURE(problem);
        placement_oracle const oracle = guarded_oracle(problem);
        placement placed = place(problem);
        if (placed.status > placement::outcome::feasible) continue;
        if (!move_one(pick, problem, placed)) continue;
        byte_count const height = placed.pools[0].height;
        bool const is_valid = oracle.is_valid(placed.offset, height);
        verdict const found = check_placement(problem, placed);
        CHECK(is_misplaced(found) != is_valid);
        ++(is_valid ? right : wrong);
        if (found || found.error().what != fault::too_close) continue;
        auto const near = *found.error().as<counterexample::buffers>();
        CHECK(near.end - near.begin < problem.pools[0].guard);
        ++closer;
    }
    CHECK(wrong > rounds(2000) / 10);
    CHECK(right > rounds(2000) / 10);
    CHECK(closer > rounds(2000) / 40);
}

TEST_CASE("a guard is kept in every round of a period, between blocks, by clocks, and where pools are chosen")
{
    std::size_t split = 0, chosen = 0, exact = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.pools = 1 + pick.below(2);
        unsigned const what = seed % 4; // a period, blocks, clocks, choices
        if (what >= 2) shape.gaps = shape.colocated = 0;
        placement_problem problem = draw_placement(pick, shape);
        for (pool_limits& pool : problem.pools) pool.guard = byte_count{pick.below(4)} * shape.scale;
        if (what == 0) problem.period = shape.positions;
        if (what == 1)
            for (pool_limits& pool : problem.pools) pool.largest_block = (6 + pick.below(20)) * shape.scale;
        if (what >= 2 && (what == 2 || pick.below(2) == 0)) draw_clocks(pick, problem, 1 + pick.below(3));
        if (what == 3)
            for (pool_limits& pool : problem.pools) pool.capacity = (6 + pick.below(20)) * shape.scale;
        for (buffer_id b = 0; what == 3 && b != problem.buffers.size(); ++b)
            for (pool_id pool = 0; pool != shape.pools; ++pool)
                if (pick.below(3) != 0) problem.choices.push_back({b, pool, pick.below(4)});
        CAPTURE(problem);
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
            CHECK(is_unproved(check_proof(problem, placed, pool)));
            split += placed.pools[pool].blocks.size() > 1;
            exact += placed.pools[pool].proof.kind == placement::proof::reason::antichain;
        }
        chosen += !placed.pool_of.empty() && placed.status <= placement::outcome::feasible;
        if (problem.clocks.threads != 0) CHECK(are_apart(problem, placed));
        if (placed.status > placement::outcome::feasible || what == 3) continue;
        if (problem.clocks.threads == 0 && what == 1)
            for (pool_id pool = 0; pool != placed.pools.size(); ++pool)
                CHECK(guarded_oracle(problem, pool).is_valid(placed.offset, placed.pools[pool].height));
        if (what == 0) { // the same two rounds later: there is no guard where a round ends
            placement_problem two = problem;
            two.period = 0;
            auto const buffers = static_cast<std::uint32_t>(problem.buffers.size());
            for (buffer_id b = 0; b != buffers; ++b) {
                auto copy = problem.buffers[b];
                copy.life = {copy.life.first + problem.period, copy.life.last + problem.period};
                two.buffers.push_back(copy);
                two.colocated.push_back({buffer_id{buffers + +b}, b, 0});
            }
            for (auto gap : problem.gaps) {
                gap.buffer = buffer_id{buffers + +gap.buffer};
                gap.when = {gap.when.first + problem.period, gap.when.last + problem.period};
                two.gaps.push_back(gap);
            }
            table<buffer_id, byte_count> twice = placed.offset;
            twice.insert(twice.end(), placed.offset.begin(), placed.offset.end());
            for (pool_id pool = 0; pool != placed.pools.size(); ++pool)
                CHECK(guarded_oracle(two, pool).is_valid(twice, placed.pools[pool].height));
        }
    }
    CHECK(split > rounds(2000) / 40);
    CHECK(chosen > rounds(2000) / 20);
    CHECK(exact > rounds(2000) / 20);
}

TEST_CASE("a guard is between buffers only: not behind the highest, not between parts of one storage")
{
    placement_problem const two{{{{0, 2}, 32}, {{1, 3}, 16}}, {{.guard = 8}}};
    placement const placed = place(two);
    CHECK(placed.pools[0].height == 56);
    CHECK(placed.pools[0].lower_bound == 56);
    CHECK(placed.pools[0].proof.kind == placement::proof::reason::live_bytes);
    CHECK(check_proof(two, placed, 0));
    placement_problem one = two;
    one.buffers[1].life = {2, 3}; // not live together
    CHECK(place(one).pools[0].height == 32);
    one = two;
    one.colocated.push_back({1, 0, 24}); // parts of one storage
    CHECK(place(one).pools[0].height == 40);
    one = two;
    one.buffers[1].size = 0;
    CHECK(place(one).pools[0].height == 32);
    one.pools[0].capacity = 32;
    CHECK(place(one));
    one = two;
    one.pools[0].capacity = 56;
    CHECK(place(one));
    one.pools[0].capacity = 55;
    CHECK(!place(one));
    one = two;
    one.pools[0].largest_block = 32; // the higher one has a block of its own
    placement const blocks = place(one);
    CHECK(check_placement(one, blocks));
    CHECK(blocks.pools[0].blocks.size() == 2);
}

TEST_CASE("of two pools the one is chosen that has room for the guard, too")
{
    placement_problem problem{{{{0, 2}, 32}, {{0, 2}, 32}}, {{.capacity = 72, .guard = 8}, {}}};
    for (buffer_id b : {0u, 1u})
        for (pool_id pool : {0u, 1u}) problem.choices.push_back({b, pool, pool * 5});
    CHECK(place(problem).cost == 0);
    problem.pools[0].capacity = 71;
    placement const placed = place(problem);
    CHECK(placed);
    CHECK(placed.cost == 5);
    CHECK(check_placement(problem, placed));
    problem.pools[0] = {.capacity = 80, .reserved = {{32, 48}}};
    CHECK(place(problem).cost == 0);
    problem.pools[0].reserved = {{24, 40}};
    CHECK(place(problem));
    CHECK(place(problem).cost == 5);
}

TEST_CASE("pins that are closer than a guard are refused, and the sentence says how close")
{
    placement_problem problem{{{{0, 2}, 32, 1, 0, 0}, {{1, 3}, 16, 1, 0, 36}}, {{.guard = 8}}};
    placement const placed = place(problem);
    REQUIRE(!placed);
    CHECK(printed(placed.error()) ==
          "buffers 0 and 1 are both alive at position 1, and only 4 bytes of pool 0 "
          "lie between them, fewer than its guard");
    CHECK(check_proof(problem, placed, 0));
    problem.buffers[1].pinned = 40;
    CHECK(place(problem));
    problem.pools[0].guard = byte_count{1} << 62;
    CHECK(thrown_by<precondition_error>([&] { (void)place(problem); }) ==
          "sublet: the guard of pool 0 has 2^62 bytes or more");
}

// --- reserved --------------------------------------------------------------------------------------------

TEST_CASE("around reserved ranges no oracle finds a lower placement, and nothing lies in them")
{
    std::size_t optimal = 0, exhausted = 0, by_bytes = 0, above = 0, below = 0, unplaced = 0, between = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem const problem = draw_reserved(pick);
        CAPTURE(problem);
        CAPTURE(problem.pools[0].guard);
        for (auto range : problem.pools[0].reserved) CAPTURE(range.first);
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        CHECK(is_unproved(check_proof(problem, placed, 0)));
        placement::pool_result const& pool = placed.pools[0];
        auto const lowest = lowest_around(problem);
        bool const can_interleave = guarded_oracle(around_first(problem, 0)).can_interleave();
        if (placed.status > placement::outcome::feasible) {
            if (!can_interleave) CHECK(lowest == placement_oracle::unplaceable);
            ++unplaced;
            continue;
        }
        CHECK(is_around(problem, placed.offset, pool.height));
        if (!can_interleave) {
            CHECK(pool.lower_bound <= static_cast<byte_count>(lowest));
            // Bytes that never matter may end in a range: then the oracle counts that range, too.
            bool const ends_at_range = is_end_of_range(problem, static_cast<byte_count>(lowest));
            if (placed.status == placement::outcome::optimal)
                CHECK((pool.height == static_cast<byte_count>(lowest) ||
                       (ends_at_range && pool.height < static_cast<byte_count>(lowest))));
        }
        placement const again = place(problem, {.previous = placed.offset});
        CHECK(printed(check_placement(problem, again, {.previous = placed.offset})) == "");
        CHECK(is_around(problem, again.offset, again.pools[0].height));
        if (placed.status == placement::outcome::optimal) CHECK(again.offset == placed.offset);
        optimal += placed.status == placement::outcome::optimal;
        exhausted += pool.proof.kind == placement::proof::reason::exhausted;
        by_bytes += pool.proof.kind == placement::proof::reason::live_bytes;
        auto const all = merged(problem.pools[0]);
        if (!all.empty()) {
            above += pool.height > all.back().second;
            below += pool.height != 0 && pool.height <= all[0].first;
            between += pool.height > all[0].second && pool.height <= all.back().first;
        }
        placement_problem limited = problem;
        limited.pools[0].capacity = pool.height - (pool.height != 0 ? pick.below(2) : 0);
        placement const fitted = place(limited, {.objective = placement::objective::fit});
        CHECK(printed(check_placement(limited, fitted, {.objective = placement::objective::fit})) == "");
        if (limited.pools[0].capacity != pool.height && placed.status == placement::outcome::optimal)
            CHECK(fitted.status == placement::outcome::infeasible);
    }
    CHECK(optimal > rounds(3000) / 2);
    CHECK(exhausted > rounds(3000) / 40);
    CHECK(by_bytes > rounds(3000) / 5);
    CHECK(above > rounds(3000) / 20);
    CHECK(below > rounds(3000) / 20);
    CHECK(between > rounds(3000) / 60);
    CHECK(unplaced > rounds(3000) / 40);
    MESSAGE(optimal << " optimal, " << exhausted << " by search, " << unplaced << " without a placement");
}

TEST_CASE("a buffer in a reserved range is found, and no other")
{
    std::size_t wrong = 0, right = 0, in_range = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem = draw_reserved(pick);
        for (placement_problem::buffer& b : problem.buffers) b.pinned = no_offset;
        placement placed = place(problem);
        if (placed.status > placement::outcome::feasible) continue;
        if (!move_one(pick, problem, placed)) continue;
        byte_count const height = placed.pools[0].height;
        bool const is_valid = is_around(problem, placed.offset, height);
        verdict const found = check_placement(problem, placed);
        CHECK(is_misplaced(found) != is_valid);
        ++(is_valid ? right : wrong);
        in_range += !found && found.error().what == fault::in_reserved;
    }
    CHECK(wrong > rounds(2000) / 10);
    CHECK(right > rounds(2000) / 20);
    CHECK(in_range > rounds(2000) / 20);
}

TEST_CASE("reserved ranges hold in every round, by clocks and where pools are chosen")
{
    std::size_t chosen = 0, exact = 0, reserved = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.pools = 1 + pick.below(2);
        unsigned const what = seed % 3; // a period, clocks, choices
        if (what >= 1) shape.gaps = shape.colocated = 0;
        placement_problem problem = draw_placement(pick, shape);
        for (pool_limits& pool : problem.pools) {
            pool.guard = byte_count{pick.below(2)} * shape.scale;
            for (unsigned n = pick.below(3); n != 0; --n) {
                byte_count const begin = pick.below(24) * shape.scale;
                pool.reserved.push_back({begin, begin + (1 + pick.below(8)) * shape.scale});
                ++reserved;
            }
        }
        if (what == 0) problem.period = shape.positions;
        if (what >= 1 && (what == 1 || pick.below(2) == 0)) draw_clocks(pick, problem, 1 + pick.below(3));
        if (what == 2)
            for (pool_limits& pool : problem.pools) pool.capacity = (12 + pick.below(30)) * shape.scale;
        for (buffer_id b = 0; what == 2 && b != problem.buffers.size(); ++b)
            for (pool_id pool = 0; pool != shape.pools; ++pool)
                if (pick.below(3) != 0) problem.choices.push_back({b, pool, pick.below(4)});
        CAPTURE(problem);
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
            CHECK(is_unproved(check_proof(problem, placed, pool)));
            exact += placed.pools[pool].proof.kind == placement::proof::reason::antichain;
        }
        chosen += !placed.pool_of.empty() && placed.status <= placement::outcome::feasible;
        if (problem.clocks.threads != 0) CHECK(are_apart(problem, placed));
        for (buffer_id b = 0; b != placed.offset.size() && what != 0; ++b) {
            if (placed.offset[b] == no_offset) continue;
            pool_id const pool = placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b];
            for (auto range : problem.pools[pool].reserved)
                CHECK((placed.offset[b] >= range.second ||
                       placed.offset[b] + problem.buffers[b].size <= range.first));
        }
    }
    CHECK(chosen > rounds(1500) / 20);
    CHECK(exact > rounds(1500) / 20);
    CHECK(reserved > rounds(1500) / 2);
}

TEST_CASE("the height is the end of the highest buffer, below and above reserved ranges")
{
    placement_problem problem{{{{0, 2}, 32}, {{1, 3}, 16}}, {{.reserved = {{100, 200}, {0, 8}, {4, 16}}}}};
    placement placed = place(problem);
    CHECK(placed.pools[0].height == 64);
    CHECK(placed.pools[0].lower_bound == 64);
    CHECK(placed.pools[0].proof.kind == placement::proof::reason::live_bytes);
    CHECK(check_proof(problem, placed, 0));
    CHECK(place(memory_plan{.buffers = {{0, {0, 1}, 48, 1, 0, 0}}, .arena_bytes = {48}}, {},
                problem.pools[0])
              .offset[0] == 16); // the pools of a plan, in one memory
    problem.buffers[0].size = 60;
    problem.buffers[1].size = 60;
    placed = place(problem);
    CHECK(placed.pools[0].height == 260);
    CHECK(placed.status == placement::outcome::optimal);
    CHECK(check_proof(problem, placed, 0));
    problem.pools[0].capacity = 259;
    CHECK(place(problem).status == placement::outcome::infeasible);
}

TEST_CASE("a pin in a reserved range is refused with both, and so are ranges that are none")
{
    placement_problem problem{{{{0, 2}, 32, 1, 0, 80}}, {{.reserved = {{100, 200}}}}};
    placement const placed = place(problem);
    REQUIRE(!placed);
    CHECK(printed(placed.error()) ==
          "buffer 0 lies at offset 80 of pool 0, in or too close to bytes [100, 200), which are reserved");
    CHECK(check_proof(problem, placed, 0));
    problem.buffers[0].pinned = 68;
    CHECK(place(problem));
    problem.pools[0].guard = 1;
    CHECK(!place(problem));
    auto refused = [](placement_problem const& its) {
        return thrown_by<precondition_error>([&] { (void)place(its); }, "not refused");
    };
    problem.pools[0] = {.largest_block = 64, .reserved = {{0, 1}}};
    CHECK(refused(problem) ==
          "sublet: pool 0 has reserved bytes, and a largest block: it is one allocation then");
    problem.pools[0] = {.reserved = {{2, 1}}};
    CHECK(refused(problem) == "sublet: a reserved range ends before it begins");
    problem.pools[0] = {.reserved = {{2, no_limit}}};
    CHECK(refused(problem) == "sublet: a reserved range ends beyond 62 bits");
}

// --- pages -----------------------------------------------------------------------------------------------

namespace {

placement_problem draw_paged(random_source& pick)
{
    random_placement_shape shape = draw_placement_shape(pick);
    shape.buffers = 1 + pick.below(6);
    shape.pools = 1 + pick.below(2);
    placement_problem problem = draw_placement(pick, shape);
    unsigned const kinds = 1 + pick.below(3);
    for (placement_problem::buffer& b : problem.buffers) {
        b.kind = pick.below(kinds);
        if (pick.below(3) != 0) b.pinned = no_offset;
    }
    for (pool_limits& pool : problem.pools) {
        pool.page = byte_count{1 + pick.below(7)} * shape.scale;
        if (pick.below(4) == 0) pool.guard = byte_count{pick.below(4)} * shape.scale;
    }
    for (placement_problem::colocation& c : problem.colocated) { // as place() asks for it
        c.distance -= c.distance % problem.pools[problem.buffers[c.buffer].pool].page;
        for (unsigned n = 0; n != 8; ++n)
            for (placement_problem::colocation const& other : problem.colocated)
                problem.buffers[other.buffer].kind = problem.buffers[other.anchor].kind;
    }
    return problem;
}

/// Whether no page of the pool has solid bytes of two kinds at one position.
bool has_whole_pages(placement_problem const& problem, table<buffer_id, byte_count> const& offset,
                     pool_id pool)
{
    placement_oracle const oracle(problem, pool);
    auto const page = static_cast<placement_oracle::bytes>(problem.pools[pool].page);
    for (std::size_t g = 0; g != oracle.groups.size(); ++g)
        for (std::size_t h = 0; h != g; ++h) {
            auto const &a = oracle.groups[g], &b = oracle.groups[h];
            buffer_id const x = a.parts[0].buffer, y = b.parts[0].buffer;
            if (problem.buffers[x].kind == problem.buffers[y].kind) continue;
            if (offset[x] == no_offset || offset[y] == no_offset) continue;
            auto const at = static_cast<placement_oracle::bytes>(offset[x]) - a.parts[0].distance;
            auto const other = static_cast<placement_oracle::bytes>(offset[y]) - b.parts[0].distance;
            for (std::size_t t = 0; t != a.solid.size() && t != b.solid.size(); ++t)
                for (auto byte = a.solid[t].begin; byte < a.solid[t].end; ++byte)
                    if (b.solid[t].is_solid() && (at + byte) / page >= (other + b.solid[t].begin) / page &&
                        (at + byte) / page <= (other + b.solid[t].end - 1) / page)
                        return false;
        }
    return true;
}

} // namespace

TEST_CASE(
    "buffers of different kinds that are live together share no page, and the bound is one without pages")
{
    std::size_t optimal = 0, several = 0, higher = 0, refused = 0, shared = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem = draw_paged(pick);
        CAPTURE(problem);
        std::string why;
        placement placed;
        try {
            placed = place(problem);
        } catch (precondition_error const& error) {
            why = error.what();
        }
        if (!why.empty()) {
            CHECK(why.find("no kind can be kept in whole pages") != std::string::npos);
            ++refused;
            continue;
        }
        CHECK(printed(check_placement(problem, placed)) == "");
        placement_problem without = problem;
        for (pool_limits& pool : without.pools) pool.page = 1;
        placement const closer = place(without);
        for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
            CHECK(is_unproved(check_proof(problem, placed, pool)));
            CHECK(has_whole_pages(problem, placed.offset, pool));
            placement_oracle const oracle = guarded_oracle(problem, pool);
            if (placed.pools[pool].status > placement::outcome::feasible) continue;
            CHECK(oracle.is_valid(placed.offset, placed.pools[pool].height));
            if (!oracle.can_interleave())
                CHECK(static_cast<placement_oracle::bytes>(placed.pools[pool].lower_bound) <=
                      oracle.lowest_stacking());
            higher += placed.pools[pool].height > closer.pools[pool].height;
        }
        if (placed.status > placement::outcome::feasible) continue;
        optimal += placed.status == placement::outcome::optimal;
        bool has_several = false;
        for (placement_problem::buffer const& b : problem.buffers)
            has_several = has_several || b.kind != problem.buffers[0].kind;
        several += has_several;
        if (!has_several) CHECK(placed.offset == closer.offset);
        if (closer.status <= placement::outcome::feasible) { // the checker against the oracle
            bool is_valid = true;
            for (pool_id pool = 0; pool != placed.pools.size(); ++pool)
                is_valid = is_valid && has_whole_pages(problem, closer.offset, pool);
            verdict const found = check_placement(problem, closer);
            CHECK((!found && found.error().what == fault::shared_page) == !is_valid);
            shared += !is_valid;
        }
        placement const again = place(problem, {.previous = placed.offset});
        CHECK(printed(check_placement(problem, again, {.previous = placed.offset})) == "");
    }
    CHECK(optimal > rounds(3000) / 3);
    CHECK(several > rounds(3000) / 4);
    CHECK(higher > rounds(3000) / 10);
    CHECK(shared > rounds(3000) / 10);
    CHECK(refused < rounds(3000) / 20);
    MESSAGE(several << " with several kinds, " << optimal << " optimal, " << refused << " refused");
}

TEST_CASE("pages hold by clocks, and the kind is spared that costs most to keep in whole pages")
{
    std::size_t shared = 0;
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem = draw_placement(pick, {.buffers = 2 + pick.below(7)});
        draw_clocks(pick, problem, 1 + pick.below(3));
        for (placement_problem::buffer& b : problem.buffers) b.kind = pick.below(2);
        placement const closer = place(problem);
        problem.pools[0].page = 4;
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        CHECK(is_unproved(check_proof(problem, placed, 0)));
        CHECK(are_apart(problem, placed));
        verdict const found = check_placement(problem, closer);
        bool is_shared = false;
        std::size_t const threads = problem.clocks.threads;
        auto precedes = [&](buffer_id a, buffer_id b) {
            for (std::size_t t = 0; t != threads; ++t)
                if (problem.clocks.end[a * threads + t] > problem.clocks.begin[b * threads + t]) return false;
            return true;
        };
        for (buffer_id a = 0; a != problem.buffers.size(); ++a)
            for (buffer_id b = 0; b != a; ++b) {
                if (closer.offset[a] == no_offset || closer.offset[b] == no_offset) continue;
                byte_count const from = std::max(closer.offset[a] / 4, closer.offset[b] / 4);
                byte_count const to = std::min((closer.offset[a] + problem.buffers[a].size - 1) / 4,
                                               (closer.offset[b] + problem.buffers[b].size - 1) / 4);
                is_shared = is_shared || (from <= to && problem.buffers[a].kind != problem.buffers[b].kind &&
                                          !precedes(a, b) && !precedes(b, a));
            }
        CHECK((!found && found.error().what == fault::shared_page) == is_shared);
        shared += is_shared;
    }
    CHECK(shared > rounds(500) / 10);

    // Twelve small buffers of kind 0 in two pages, beside one of a page and a half of kind 1.
    placement_problem problem{{}, {{.page = 64}}};
    for (int i = 0; i != 12; ++i) problem.buffers.push_back({.life = {0, 1}, .size = 10});
    problem.buffers.push_back({.life = {0, 1}, .size = 96, .kind = 1});
    placement const placed = place(problem);
    CHECK(placed.pools[0].height == 248); // 120 bytes above two pages; each of the twelve in one takes 768
    CHECK(placed.pools[0].lower_bound == 216);
    CHECK(check_placement(problem, placed));
    for (placement_problem::buffer& b : problem.buffers) b.kind = 7;
    CHECK(place(problem).pools[0].height == 216);
}

TEST_CASE("what pages do not go with is refused by name")
{
    auto refused = [](placement_problem const& its) {
        return thrown_by<precondition_error>([&] { (void)place(its); }, "not refused");
    };
    placement_problem problem{{{{0, 2}, 8}, {.life = {0, 2}, .size = 8, .kind = 1}}, {{.page = 0}}};
    CHECK(refused(problem) == "sublet: the pages of pool 0 have 0 bytes");
    problem.pools[0] = {.largest_block = 8, .page = 4};
    CHECK(refused(problem) ==
          "sublet: pool 0 has pages, and a largest block or reserved bytes: one of these, please");
    problem.pools[0] = {.page = 16};
    problem.colocated = {{1, 0, 0}};
    CHECK(refused(problem) ==
          "sublet: buffers 1 and 0 are colocated in pool 0, which has pages: they need one "
          "kind, and a distance of whole pages");
    problem.colocated.clear();
    problem.buffers[0].pinned = 0;
    problem.buffers[1].pinned = 8;
    CHECK(refused(problem) ==
          "sublet: in pool 0, which has pages, buffers of several kinds are pinned so that "
          "no kind can be kept in whole pages");
    problem.buffers[1].pinned = 16;
    CHECK(place(problem).pools[0].height == 24);
    problem.buffers[0].pinned = 8; // pins that begin no page
    problem.buffers[1].pinned = 36;
    CHECK(place(problem).pools[0].height == 44);
}

} // namespace this_test
