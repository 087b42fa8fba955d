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
#include <random>
#include <string>
#include <utility>
#include <vector>

// Pairs of buffers that are kept apart, in different banks.

namespace this_test {

using namespace sublet;

namespace {

using range = std::pair<byte_count, byte_count>;

/// The bytes that matter of a buffer at a position, of no period.
range bytes_at(placement_problem const& problem, buffer_id b, position_id at)
{
    placement_problem::buffer const& its = problem.buffers[b];
    if (at < its.life.first || at >= its.life.last) return {0, 0};
    for (placement_problem::gap const& gap : problem.gaps)
        if (gap.buffer == b && gap.when.first <= at && at < gap.when.last) return {gap.begin, gap.end};
    return {0, its.size};
}

/// Whether two buffers have bytes in one bank at a position, bank by bank.
bool share_bank(placement_problem const& problem, buffer_id a, buffer_id b, byte_count at, byte_count other,
                byte_count bank)
{
    position_id const period{problem.period};
    position_id const end{problem.period != 0 ? 2 * problem.period : 40};
    for (position_id t = 0; t != end; ++t)
        for (position_id u = 0; u != end; ++u) {
            bool const is_one = problem.period != 0 ? (t % period) == (u % period) : t == u;
            range const x = bytes_at(problem, a, t), y = bytes_at(problem, b, u);
            if (!is_one || x.first >= x.second || y.first >= y.second) continue;
            for (byte_count i = x.first; i != x.second; ++i)
                for (byte_count j : {(at + i) / bank * bank, (at + i) / bank * bank + bank - 1})
                    if ((other + y.first) / bank <= j / bank && j / bank <= (other + y.second - 1) / bank)
                        return true;
        }
    return false;
}

bool precedes(placement_problem const& problem, buffer_id a, buffer_id b)
{
    std::size_t const threads = problem.clocks.threads;
    for (std::size_t t = 0; t != threads; ++t)
        if (problem.clocks.end[a * threads + t] > problem.clocks.begin[b * threads + t]) return false;
    return true;
}

/// Whether all pairs are kept apart.
bool keeps_apart(placement_problem const& problem, placement const& placed)
{
    for (auto const& pair : problem.apart) {
        buffer_id const a = pair.first, b = pair.second;
        if (placed.offset[a] == no_offset || placed.offset[b] == no_offset) continue;
        pool_id const pool = placed.pool_of.empty() ? problem.buffers[a].pool : placed.pool_of[a];
        if (pool != (placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b])) continue;
        byte_count const bank = problem.pools[pool].bank;
        if (problem.clocks.threads != 0) {
            if (precedes(problem, a, b) || precedes(problem, b, a)) continue;
            if (placed.offset[a] / bank <= (placed.offset[b] + problem.buffers[b].size - 1) / bank &&
                placed.offset[b] / bank <= (placed.offset[a] + problem.buffers[a].size - 1) / bank)
                return false;
        } else if (share_bank(problem, a, b, placed.offset[a], placed.offset[b], bank)) {
            return false;
        }
    }
    return true;
}

/// Banks of a few units, pairs of one pool, and what is colocated at distances of whole banks.
void draw_banks(random_source& pick, placement_problem& problem, unsigned scale)
{
    for (pool_limits& pool : problem.pools) {
        pool.bank = byte_count{1 + pick.below(7)} * scale;
        if (pick.below(4) == 0) pool.guard = byte_count{pick.below(4)} * scale;
    }
    auto const n = static_cast<unsigned>(problem.buffers.size());
    std::vector<unsigned> storage(n);
    for (unsigned b = 0; b != n; ++b) storage[b] = b;
    for (placement_problem::colocation& c : problem.colocated) {
        c.distance -= c.distance % problem.pools[problem.buffers[c.buffer].pool].bank;
        unsigned const from = storage[+c.buffer], to = storage[+c.anchor];
        for (unsigned& s : storage)
            if (s == from) s = to;
    }
    for (unsigned left = n < 2 ? 0 : pick.below(2 * n); left != 0; --left) {
        unsigned const a = pick.below(n), b = pick.below(n);
        bool const is_pair = problem.buffers[a].pool == problem.buffers[b].pool || !problem.choices.empty();
        if (is_pair && storage[a] != storage[b]) problem.apart.push_back({a, b});
    }
}

placement_problem draw_apart(random_source& pick, unsigned most)
{
    random_placement_shape shape = draw_placement_shape(pick);
    shape.buffers = 1 + pick.below(most);
    placement_problem problem = draw_placement(pick, shape);
    for (placement_problem::buffer& b : problem.buffers)
        if (pick.below(3) != 0) b.pinned = no_offset;
    draw_banks(pick, problem, shape.scale);
    return problem;
}

/// What place() says instead of a placement.
std::string refused(placement_problem const& problem, placement& placed)
{
    return thrown_by<precondition_error>([&] { placed = place(problem); });
}

/// The least height of all offsets up to `most`; `most + 1` if there is none.
byte_count lowest_apart(placement_problem const& problem, byte_count most)
{
    placement_oracle const oracle(problem);
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (oracle.group_of[b] != placement_oracle::none) members.push_back(b);
    placement at;
    at.offset.assign(problem.buffers.size(), no_offset);
    for (buffer_id b : members) at.offset[b] = 0;
    byte_count lowest = most + 1;
    for (;;) {
        byte_count top = 0;
        for (buffer_id b : members) top = std::max(top, at.offset[b] + problem.buffers[b].size);
        if (top < lowest && oracle.is_valid(at.offset, top) && keeps_apart(problem, at)) lowest = top;
        std::size_t i = 0;
        for (; i != members.size(); ++i) {
            byte_count& its = at.offset[members[i]];
            if (its + problem.buffers[members[i]].size < most) {
                ++its;
                break;
            }
            its = 0;
        }
        if (i == members.size()) return lowest;
    }
}

} // namespace

TEST_CASE("pairs are in different banks, bounds are those without banks, and the checker agrees bank by bank")
{
    std::size_t placed_ones = 0, higher = 0, refused_ones = 0, wrong = 0, right = 0, shared = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem = draw_apart(pick, 6);
        CAPTURE(problem);
        placement placed;
        if (std::string const why = refused(problem, placed); !why.empty()) {
            CHECK(why.find("neither can be in whole banks") != std::string::npos);
            ++refused_ones;
            continue;
        }
        CHECK(printed(check_placement(problem, placed)) == "");
        verdict const proof = check_proof(problem, placed, 0);
        CHECK((proof || proof.error().what == fault::not_checkable));
        placement_problem without = problem;
        without.apart.clear();
        placement const closer = place(without);
        CHECK(placed.pools[0].lower_bound <= closer.pools[0].lower_bound);
        if (problem.apart.empty() || problem.pools[0].bank == 1) CHECK(placed.offset == closer.offset);
        if (placed.status > placement::outcome::feasible) continue;
        ++placed_ones;
        CHECK(keeps_apart(problem, placed));
        CHECK(placement_oracle(problem).is_valid(placed.offset, placed.pools[0].height));
        higher += placed.pools[0].height > closer.pools[0].height;
        verdict const of_closer = check_placement(problem, closer);
        bool const is_kept = keeps_apart(problem, closer);
        CHECK((!of_closer && of_closer.error().what == fault::shared_bank) == !is_kept);
        shared += !is_kept;
        placement const again = place(problem, {.previous = placed.offset});
        CHECK(printed(check_placement(problem, again, {.previous = placed.offset})) == "");
        CHECK(keeps_apart(problem, again));

        for (placement_problem::buffer& b : problem.buffers) b.pinned = no_offset; // one buffer elsewhere
        problem.pools[0].guard = 0;
        if (!move_one(pick, problem, placed)) continue;
        bool const is_valid = placement_oracle(problem).is_valid(placed.offset, placed.pools[0].height) &&
                              keeps_apart(problem, placed);
        CHECK(is_misplaced(check_placement(problem, placed)) != is_valid);
        ++(is_valid ? right : wrong);
    }
    CHECK(placed_ones > rounds(4000) / 2);
    CHECK(higher > rounds(4000) / 10);
    CHECK(shared > rounds(4000) / 10);
    CHECK(wrong > rounds(4000) / 10);
    CHECK(right > rounds(4000) / 20);
    CHECK(refused_ones < rounds(4000) / 20);
    MESSAGE(placed_ones << " placed, " << higher << " higher than without banks, " << refused_ones
                        << " refused");
}

TEST_CASE(
    "no offsets of a few small buffers are below the bound, and none that fit are said to be impossible")
{
    std::size_t optimal = 0, exact = 0, all = 0, above = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem problem =
            draw_placement(pick, {.buffers = 2 + pick.below(3), .positions = 4, .sizes = 3, .gaps = 20});
        draw_banks(pick, problem, 1);
        problem.pools[0].guard = 0;
        CAPTURE(problem);
        placement const placed = place(problem);
        REQUIRE(placed);
        byte_count const height = placed.pools[0].height;
        double combinations = 1;
        for (placement_problem::buffer const& b : problem.buffers)
            combinations *= static_cast<double>(height - b.size + 1);
        if (combinations > 5000) continue;
        byte_count const lowest = lowest_apart(problem, height);
        REQUIRE(lowest <= height); // ours is one of them
        CHECK(placed.pools[0].lower_bound <= lowest);
        if (placed.status == placement::outcome::optimal) CHECK(height == lowest);
        optimal += placed.status == placement::outcome::optimal;
        exact += height == lowest;
        above += height > lowest;
        ++all;
        for (byte_count capacity : {lowest, lowest - (lowest != 0)}) {
            problem.pools[0].capacity = capacity;
            placement const fitted = place(problem, {.objective = placement::objective::fit});
            CHECK(printed(check_placement(problem, fitted, {.objective = placement::objective::fit})) == "");
            if (fitted) CHECK(capacity == lowest);
            if (fitted.status == placement::outcome::infeasible) CHECK(capacity < lowest);
        }
    }
    CHECK(all > rounds(2000) / 2);
    CHECK(optimal > rounds(2000) / 4);
    CHECK(exact > all / 2);
    MESSAGE(exact << " of " << all << " as low as can be, " << optimal << " proved");
    CHECK(above < all / 2);
}

TEST_CASE("pairs are in different banks in every round, by clocks, and where pools are chosen")
{
    std::size_t chosen = 0, shared = 0, repeated = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.pools = 1 + pick.below(2);
        shape.pinned = 0;
        unsigned const what = seed % 3; // a period, clocks, choices
        if (what >= 1) shape.gaps = shape.colocated = 0;
        placement_problem problem = draw_placement(pick, shape);
        if (what == 0) problem.period = shape.positions;
        for (placement_problem::buffer& b : problem.buffers) // also across the border of two rounds
            if (what == 0 && !is_empty(b.life)) b.life.last = b.life.first + 1 + pick.below(shape.positions);
        if (what >= 1 && (what == 1 || pick.below(2) == 0)) draw_clocks(pick, problem, 1 + pick.below(3));
        for (buffer_id b = 0; what == 2 && b != problem.buffers.size(); ++b)
            for (pool_id pool = 0; pool != shape.pools; ++pool)
                if (pick.below(3) != 0) problem.choices.push_back({b, pool, pick.below(4)});
        draw_banks(pick, problem, shape.scale);
        if (what == 2) // a pair of two pools needs a choice
            std::erase_if(problem.apart, [&](auto const& pair) {
                auto may_choose = [&](buffer_id b) {
                    for (placement_problem::choice const& c : problem.choices)
                        if (c.buffer == b) return true;
                    return false;
                };
                return problem.buffers[pair.first].pool != problem.buffers[pair.second].pool &&
                       !may_choose(pair.first) && !may_choose(pair.second);
            });
        CAPTURE(problem);
        placement const placed = place(problem);
        CHECK(printed(check_placement(problem, placed)) == "");
        CHECK(keeps_apart(problem, placed));
        chosen += !placed.pool_of.empty() && !problem.apart.empty();
        repeated += what == 0 && !problem.apart.empty();
        placement_problem without = problem;
        without.apart.clear();
        placement const closer = place(without);
        if (!placed || !closer) continue;
        verdict const found = check_placement(problem, closer);
        CHECK((!found && found.error().what == fault::shared_bank) == !keeps_apart(problem, closer));
        shared += !found;
    }
    CHECK(chosen > rounds(1500) / 5);
    CHECK(repeated > rounds(1500) / 6);
    CHECK(shared > rounds(1500) / 10);
}

TEST_CASE("one of each pair is in whole banks, that which leaves less of them free, and others fill the rest")
{
    // 60 and 40 of 100 bytes each, and a bank of 64: only one of them is padded.
    placement_problem problem{{{{0, 2}, 60}, {{1, 3}, 40}}, {{.bank = 64}}};
    CHECK(place(problem).pools[0].height == 100);
    problem.apart = {{1, 0}};
    placement placed = place(problem);
    CHECK(placed.pools[0].height == 104);
    CHECK(placed.pools[0].lower_bound == 100);
    CHECK(placed.status == placement::outcome::feasible);
    CHECK(check_placement(problem, placed));
    problem.buffers[1].life = {2, 3}; // never live together
    problem.buffers.push_back({.life = {0, 3}, .size = 10});
    CHECK(place(problem).pools[0].height == 70);
    problem.buffers.pop_back();
    problem.buffers[1].life = {1, 3};
    problem.buffers[1].size = 0;
    CHECK(place(problem).pools[0].height == 60);
    problem.buffers[1].size = 40;
    problem.pools[0].bank = 1; // as buffers share no byte
    CHECK(place(problem).pools[0].height == 100);
    // One operand beside eight: it is in whole banks, and they are not.
    problem = {{{{0, 1}, 8}}, {{.bank = 64}}};
    for (unsigned i = 1; i != 9; ++i) {
        problem.buffers.push_back({.life = {0, 1}, .size = 16});
        problem.apart.push_back({i, 0});
    }
    CHECK(place(problem).pools[0].height == 136);
    problem.buffers.push_back({.life = {1, 2}, .size = 8, .pinned = 0});
    CHECK(place(problem).pools[0].height == 192); // with pins there are no regions
    // Eight taps beside eight signals, in banks that hold all of either.
    problem = {{}, {{.alignment = 8, .bank = 4096}}};
    for (unsigned i = 0; i != 8; ++i) {
        problem.buffers.push_back({.life = {0, 1}, .size = 64});
        problem.buffers.push_back({.life = {0, 1}, .size = 500, .alignment = 4});
        problem.apart.push_back({2 * i, 2 * i + 1});
    }
    placed = place(problem);
    CHECK(placed.pools[0].height == 4096 + 512);
    CHECK(check_placement(problem, placed));
    problem.buffers[0].alignment = 8192; // regions begin at its multiples
    CHECK(check_placement(problem, place(problem)));
    CHECK(place(problem).pools[0].height == 8192 + 512);
    // Storage in parts: each is in whole banks.
    problem = {{{{0, 3}, 16}, {{1, 2}, 8}, {{0, 3}, 60}}, {{.bank = 16}}};
    problem.colocated = {{1, 0, 32}};
    problem.apart = {{2, 1}};
    placed = place(problem);
    CHECK(printed(check_placement(problem, placed)) == "");
    CHECK(keeps_apart(problem, placed));
}

TEST_CASE("a pair in one bank is found, with the bank, and the sentence names both")
{
    placement_problem problem{{{{0, 4}, 8}, {{0, 4}, 8}, {{2, 4}, 8}}, {{.bank = 16}}};
    problem.apart = {{2, 1}};
    placement placed = place(problem);
    CHECK(check_placement(problem, placed));
    placed.offset = {0, 32, 40};
    placed.pools[0].height = 48;
    CHECK(printed(check_placement(problem, placed)) ==
          "buffers 1 and 2 are both alive at position 2, and are to be kept apart, with bytes in one bank, "
          "bytes [32, 48) of pool 0");
    placed.offset = {0, 8, 16};
    placed.pools[0].height = 24;
    CHECK(printed(check_placement(problem, placed)) == "");
    problem.buffers[2].life = {4, 5};
    placed.offset = {0, 32, 40};
    placed.pools[0].height = 48;
    CHECK(is_misplaced(check_placement(problem, placed)) == false);
    // A window of it is elsewhere.
    problem.buffers[1].size = 7;
    problem.buffers[2] = {{2, 4}, 24};
    problem.gaps = {{2, {2, 4}, 16, 24}};
    placed.offset = {0, 8, 0};
    placed.pools[0].height = 24;
    CHECK(is_misplaced(check_placement(problem, placed)) == false);
    problem.gaps[0].begin = 15;
    CHECK(printed(check_placement(problem, placed)).find("bytes [0, 16) of pool 0") != std::string::npos);
}

TEST_CASE(
    "pairs that no placement can keep apart, and what banks do not go with, are refused with their numbers")
{
    auto refused = [](placement_problem const& its) {
        return thrown_by<precondition_error>([&] { (void)place(its); }, "not refused");
    };
    placement_problem const two{{{{0, 2}, 8}, {{0, 2}, 8}}, {{.bank = 16}, {.bank = 16}}};
    placement_problem problem = two;
    problem.apart = {{0, 2}};
    CHECK(refused(problem) == "sublet: buffers 0 and 2 are kept apart, but there are only 2 buffers");
    CHECK(thrown_by<precondition_error>([&] { (void)check_placement(problem, place(two)); }) ==
          "sublet: buffers 0 and 2 are kept apart, of 2 buffers");
    problem.apart = {{1, 1}};
    CHECK(refused(problem) == "sublet: buffer 1 is kept apart from itself");
    CHECK(thrown_by<precondition_error>([&] { (void)check_placement(problem, place(two)); }) ==
          "sublet: buffers 1 and 1 are kept apart, of 2 buffers");
    problem.apart = {{1, 0}};
    problem.buffers[1].pool = 1;
    CHECK(refused(problem) ==
          "sublet: buffer 1 is in pool 1, and is kept apart from buffer 0, which is in pool 0");
    problem.choices = {{1, 0}};
    CHECK(refused(problem) == "not refused");
    problem = two;
    problem.apart = {{1, 0}};
    problem.pools[0].bank = 0;
    CHECK(refused(problem) == "sublet: the banks of pool 0 have 0 bytes");
    CHECK(thrown_by<precondition_error>([&] { (void)check_placement(problem, place(two)); }) ==
          "sublet: the banks of pool 0 have 0 bytes");
    problem.pools[0].bank = byte_count{1} << 62;
    CHECK(refused(problem) ==
          "sublet: buffer 1 has 8 bytes, and whole banks of 4611686018427387904 bytes hold "
          "it only beyond 62 bits");
    problem.pools[0].bank = (byte_count{1} << 62) - 7;
    CHECK(refused(problem) ==
          "sublet: buffer 1 has 8 bytes, and whole banks of 4611686018427387897 bytes hold "
          "it only beyond 62 bits");
    problem.pools[0] = {.page = 2, .bank = 16};
    CHECK(refused(problem) == "sublet: pool 0 has pages and banks: one of these, please");
    problem.pools[0] = {.largest_block = 8, .bank = 16};
    CHECK(refused(problem) ==
          "sublet: pool 0 has banks, and a largest block or reserved bytes: one of these, please");
    problem.pools[0] = {.reserved = {{0, 8}}, .bank = 16};
    CHECK(refused(problem) ==
          "sublet: pool 0 has banks, and a largest block or reserved bytes: one of these, please");
    problem.apart.clear();
    CHECK(refused(problem) == "not refused");
    problem = two;
    problem.apart = {{1, 0}};
    problem.colocated = {{1, 0, 16}};
    CHECK(refused(problem) == "sublet: buffers 1 and 0 are kept apart, and are parts of one storage");
    placement_problem parts = problem;
    parts.apart.clear();
    CHECK(thrown_by<precondition_error>([&] { (void)check_placement(problem, place(parts)); }) ==
          "sublet: buffers 0 and 1 are kept apart, and are colocated");
    problem.buffers.push_back({{0, 2}, 8});
    problem.colocated = {{2, 0, 8}};
    CHECK(refused(problem) == "sublet: buffers 2 and 0 are colocated in pool 0, and kept apart from others: "
                              "they need a distance of "
                              "whole banks");
    problem.apart.clear();
    CHECK(refused(problem) == "not refused");
    problem = two;
    problem.apart = {{1, 0}};
    problem.buffers[0].pinned = 0;
    problem.buffers[1].pinned = 8;
    CHECK(refused(problem) == "sublet: buffers 1 and 0 of pool 0 are kept apart, and neither can be in whole "
                              "banks of 16 bytes where it is pinned");
    problem.buffers[1].pinned = 16;
    CHECK(place(problem).pools[0].height == 24);
    problem.buffers[1].pinned = 20;
    problem.pools[0].guard = 12; // which may lie in a bank of the other
    CHECK(place(problem).pools[0].height == 28);
    problem.pools[0].guard = 0;
    problem.buffers[0].pinned = 8;
    problem.buffers[1].pinned = 24;
    placement_problem full = problem; // no pair is open, so others may fill the banks
    full.buffers.push_back({.life = {0, 2}, .size = 8, .pinned = 0});
    full.buffers.push_back({.life = {0, 2}, .size = 8, .pinned = 16});
    CHECK(place(full).pools[0].height == 32);
    problem.buffers[1].pinned = no_offset; // the pinned one is where it is, and the other one moves
    problem.buffers[0].pinned = 20;
    placement const placed = place(problem);
    CHECK(placed.offset[1] == 0);
    problem.pools[0].capacity = 31;
    CHECK(place(problem));
    problem.pools[0].capacity =
        no_limit; // another one in the bank of a pinned one: that is not in whole banks
    problem.buffers[1].size = 1;
    problem.buffers.push_back({.life = {0, 2}, .size = 2, .pinned = 18});
    CHECK(place(problem).pools[0].height == 28);
}

} // namespace this_test
