// SPDX-License-Identifier: BSL-1.0
#include "random_source.hpp"
#include "rounds.hpp"

#include "../printed.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/detail/penalty_bound.hpp>
#include <sublet/placement/detail/penalty_search.hpp>
#include <sublet/placement/place.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Up to seven buffers of one pool with a small capacity.
placement_problem draw_penalised(random_source& pick)
{
    placement_problem problem;
    std::uint32_t const n = 2 + pick.below(6), positions = 2 + pick.below(6), sizes = 1 + pick.below(5);
    bool const has_pins = pick.below(4) == 0, has_gaps = pick.below(3) == 0, is_aligned = pick.below(3) == 0;
    std::uint32_t const common = pick.below(2) * (2 + pick.below(2)); // alignment of all
    std::uint32_t const penalised = 20 + pick.below(81), apart = pick.below(3) * 10;
    byte_count const capacity = sizes + pick.below(3) + pick.below(n * sizes / 2);
    for (buffer_id b = 0; b != n; ++b) {
        placement_problem::buffer buffer;
        std::uint32_t const first = pick.below(positions);
        buffer.life = {first, first + 1 + pick.below(positions - first)};
        buffer.size = 1 + pick.below(sizes);
        if (pick.below(20) == 0) buffer.size = 0;
        if (is_aligned) buffer.alignment = common != 0 ? common : 1 + pick.below(3);
        if (has_pins && pick.below(4) == 0 && buffer.size <= capacity) {
            buffer.pinned = pick.below(static_cast<std::uint32_t>(capacity - buffer.size) + 1);
            buffer.pinned -= buffer.pinned % buffer.alignment;
        }
        if (has_gaps && length(buffer.life) > 2) {
            std::uint32_t const from = buffer.life.first + 1 + pick.below(length(buffer.life) - 2);
            problem.gaps.push_back({b, {from, from + 1}, 0, 0});
        }
        problem.buffers.push_back(buffer);
    }
    auto draw_pair = [&](buffer_id a, buffer_id b) {
        byte_count cost = pick.below(6);
        if (pick.below(100) < apart) cost = no_limit;
        placement_problem::buffer const &one = problem.buffers[a], &other = problem.buffers[b];
        bool const are_pinned = one.pinned != no_offset && other.pinned != no_offset;
        if (cost == no_limit && are_pinned) cost = 1;
        problem.penalties.push_back({a, b, cost});
    };
    for (buffer_id a = 0; a != n; ++a)
        for (buffer_id b = 0; b != a; ++b)
            if (pick.below(100) < penalised) draw_pair(a, b);
    if (problem.penalties.empty()) draw_pair(0, 1);
    if (pick.below(4) == 0) draw_pair(1, 0); // adds up
    byte_count most = 0;                     // live at once
    for (std::uint32_t at = 0; at != positions; ++at) {
        byte_count live = 0;
        for (placement_problem::buffer const& b : problem.buffers) live += contains(b.life, at) ? b.size : 0;
        most = live > most ? live : most;
    }
    byte_count const room = pick.below(4) == 0 ? 8 : pick.below(3);
    problem.pools = {{.capacity = has_pins ? capacity : most + room}};
    return problem;
}

/// All offsets of all buffers.
struct penalty_oracle {
    placement_problem const& problem;
    std::vector<std::vector<byte_count>> cost; ///< by pair; `no_limit`: never
    std::vector<byte_count> offset;
    byte_count least = no_limit; ///< that is paid; `no_limit`: nothing fits
    byte_count lowest = 0;       ///< height at that cost

    explicit penalty_oracle(placement_problem const& p)
        : problem(p), cost(p.buffers.size(), std::vector<byte_count>(p.buffers.size(), 0)),
          offset(p.buffers.size(), no_offset)
    {
        for (placement_problem::penalty const& of : p.penalties)
            for (byte_count* sum : {&cost[of.buffer][of.other], &cost[of.other][of.buffer]})
                *sum = *sum == no_limit || of.cost == no_limit ? no_limit : *sum + of.cost;
        for (std::size_t a = 0; a != offset.size(); ++a)
            for (std::size_t b = 0; b != offset.size(); ++b)
                for (std::uint32_t at = 0; at != 8; ++at)
                    if (a != b && lives(buffer_id::of(a), at) && lives(buffer_id::of(b), at))
                        cost[a][b] = no_limit;
        place_from(0, 0, 0);
    }
    bool lives(buffer_id b, std::uint32_t at) const
    {
        for (placement_problem::gap const& gap : problem.gaps)
            if (gap.buffer == b && contains(gap.when, at)) return false;
        return contains(problem.buffers[b].life, at);
    }
    void place_from(std::size_t i, byte_count paid, byte_count height)
    {
        if (paid > least || (paid == least && height >= lowest)) return;
        if (i == offset.size()) {
            least = paid;
            lowest = height;
            return;
        }
        placement_problem::buffer const& its = problem.buffers[buffer_id::of(i)];
        offset[i] = no_offset;
        if (its.size == 0) return place_from(i + 1, paid, height);
        for (byte_count at = 0; at + its.size <= problem.pools[pool_id{0}].capacity; at += its.alignment) {
            if (its.pinned != no_offset && its.pinned != at) continue;
            byte_count now = paid;
            for (std::size_t other = 0; other != i && now != no_limit; ++other) {
                if (offset[other] == no_offset) continue;
                byte_count const end = offset[other] + problem.buffers[buffer_id::of(other)].size;
                if (at >= end || offset[other] >= at + its.size) continue;
                now = cost[i][other] == no_limit ? no_limit : now + cost[i][other];
            }
            if (now == no_limit) continue;
            offset[i] = at;
            place_from(i + 1, now, at + its.size > height ? at + its.size : height);
        }
        offset[i] = no_offset;
    }
};

std::string why_refused(placement_problem const& problem, place_options const& options = {})
{
    try {
        (void)place(problem, options);
    } catch (precondition_error const& e) {
        return e.what();
    }
    return "";
}

/// Two buffers of a pool of 4 bytes, one after the other, that pay 7 if they share bytes.
placement_problem two_buffers()
{
    return {.buffers = {{{0, 2}, 4}, {{2, 4}, 2}}, .pools = {{.capacity = 4}}, .penalties = {{0, 1, 7}}};
}

} // namespace

TEST_CASE("what is paid is the least of all offsets where that is proved, and bounds are never above it")
{
    unsigned proved = 0, optimal = 0, lowest = 0, paying = 0, unfit = 0;
    unsigned const all = rounds(3000);
    for (std::uint32_t seed = first_seed(); seed != first_seed() + all; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem const problem = draw_penalised(pick);
        placement const placed = place(problem, {.effort = 20'000});
        verdict const valid = check_placement(problem, placed);
        if (!valid) FAIL(printed(valid.error()));
        verdict const proof = check_proof(problem, placed, 0);
        CHECK((proof || proof.error().what == fault::not_checkable));
        penalty_oracle const oracle(problem);
        if (placed.status >= placement::outcome::limit) {
            CHECK(oracle.least == no_limit);
            ++unfit;
            continue;
        }
        REQUIRE(oracle.least != no_limit);
        CHECK(placed.penalty_bound <= oracle.least);
        CHECK(placed.penalty >= oracle.least);
        proved += placed.status == placement::outcome::optimal;
        optimal += placed.penalty == oracle.least;
        lowest += placed.penalty == oracle.least && placed.pools[0].height == oracle.lowest;
        paying += oracle.least != 0;
    }
    if (all < 3000) return;
    CHECK(proved > 2300);
    CHECK(optimal > 2300);
    CHECK(lowest > optimal - optimal / 50);
    CHECK(paying > 350);
    CHECK(unfit > 50);
}

TEST_CASE("the checker refuses a placement with penalties of which something was changed")
{
    unsigned moved = 0;
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem const problem = draw_penalised(pick);
        placement const placed = place(problem, {.effort = 2'000});
        auto what = [&](auto change) {
            placement other = placed;
            change(other);
            verdict const found = check_placement(problem, other);
            return found ? fault::foreign_plan : found.error().what;
        };
        CHECK(what([](placement& p) { ++p.penalty; }) == fault::wrong_penalty);
        CHECK(what([](placement& p) { ++p.pools[0].penalty; }) == fault::wrong_penalty);
        CHECK(what([](placement& p) { ++p.penalty_bound; }) == fault::wrong_penalty_bound);
        CHECK(what([](placement& p) { ++p.penalty, ++p.pools[0].penalty; }) == fault::wrong_penalty);
        CHECK(what([](placement& p) { p.pools[0].penalty_bound = p.penalty_bound = p.penalty + 1; }) ==
              fault::wrong_penalty_bound);
        bool const fits = placed.status <= placement::outcome::feasible;
        if (fits) {
            auto const other_status = placed.status == placement::outcome::optimal
                                          ? placement::outcome::feasible
                                          : placement::outcome::optimal;
            CHECK(what([&](placement& p) { p.status = p.pools[0].status = other_status; }) ==
                  fault::wrong_status);
        }
        // A moved buffer: what it pays is known from all pairs.
        penalty_oracle const oracle(problem);
        auto const b = buffer_id{pick.below(static_cast<std::uint32_t>(problem.buffers.size()))};
        if (placed.offset[b] == no_offset || problem.buffers[b].pinned != no_offset || !fits) continue;
        placement other = placed;
        other.offset[b] = pick.below(12) * problem.buffers[b].alignment;
        byte_count paid = 0, height = 0;
        for (buffer_id x = 0; x != problem.buffers.size(); ++x) {
            if (other.offset[x] == no_offset) continue;
            byte_count const end = other.offset[x] + problem.buffers[x].size;
            height = end > height ? end : height;
            for (buffer_id y = 0; y != x; ++y) {
                if (other.offset[y] == no_offset || paid == no_limit) continue;
                if (other.offset[x] >= other.offset[y] + problem.buffers[y].size || other.offset[y] >= end)
                    continue;
                byte_count const cost = oracle.cost[x][y];
                paid = cost == no_limit ? no_limit : paid + cost;
            }
        }
        verdict const found = check_placement(problem, other);
        bool const is_same = paid == placed.penalty && height == placed.pools[0].height;
        CHECK(static_cast<bool>(found) == is_same);
        moved += !is_same;
    }
    if (rounds(400) == 400) CHECK(moved > 150);
}

TEST_CASE("a search pays less than insertion, within the capacity, and ends at its goal")
{
    std::uint64_t inserted = 0, searched = 0;
    for (std::uint32_t seed = 0; seed != rounds(12); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        detail::penalty_graph graph;
        for (std::uint32_t i = 0; i != 40; ++i) graph.items.push_back({1 + pick.below(9)});
        std::vector<std::vector<byte_count>> cost(40, std::vector<byte_count>(40, 0));
        for (std::uint32_t i = 0; i != 40; ++i)
            for (std::uint32_t j = 0; j != i; ++j)
                cost[i][j] = cost[j][i] = i - j < 5 ? no_limit : pick.below(8) == 0 ? 1 + pick.below(9) : 0;
        for (std::uint32_t i = 0; i != 40; ++i) {
            for (std::uint32_t j = 0; j != 40; ++j)
                if (cost[i][j] != 0) graph.arcs.push_back({j, cost[i][j]});
            graph.first_arc.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
        }
        graph.capacity = 42;
        detail::penalty_packing const first = detail::insert_in_orders(graph, {});
        detail::deterministic_control control;
        auto best_of = [&](byte_count goal) {
            detail::penalty_packing best = first;
            detail::penalty_search search(graph, 1, first.offset, 400'000);
            std::uint64_t const steps = search.run(400'000, goal, control, 0, best);
            REQUIRE(best.cost != no_limit);
            CHECK(best.cost == detail::priced(graph, best.offset).cost);
            CHECK(best.height <= 42);
            CHECK((best.cost <= goal || steps >= 400'000));
            return best.cost;
        };
        byte_count const cheapest = best_of(0);
        CHECK(best_of(cheapest + 1) >= cheapest);
        if (first.cost == no_limit) continue;
        inserted += first.cost;
        searched += cheapest;
    }
    if (rounds(12) == 12) CHECK(searched < inserted - inserted / 4);
}

TEST_CASE("a bound is what has to be paid, and its proof finds a placement by itself")
{
    unsigned paying = 0;
    for (std::uint32_t seed = first_seed(); seed != first_seed() + rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem problem = draw_penalised(pick);
        for (placement_problem::buffer& b : problem.buffers) b.size += b.size == 0;
        penalty_oracle const oracle(problem);
        auto const n = static_cast<std::uint32_t>(problem.buffers.size());
        detail::penalty_graph graph;
        graph.capacity = problem.pools[0].capacity;
        for (std::uint32_t i = 0; i != n; ++i) {
            placement_problem::buffer const& its = problem.buffers[i];
            graph.items.push_back({its.size, its.alignment, its.pinned});
            for (std::uint32_t j = 0; j != n; ++j)
                if (oracle.cost[i][j] != 0) graph.arcs.push_back({j, oracle.cost[i][j]});
            graph.first_arc.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
        }
        detail::deterministic_control control;
        detail::penalty_packing best;
        byte_count const bound = detail::penalty_prover(graph, 100'000, control).prove(best);
        if (oracle.least == no_limit) {
            CHECK(best.cost == no_limit);
            continue;
        }
        CHECK(bound == oracle.least);
        CHECK(best.cost == oracle.least);
        REQUIRE(best.offset.size() == n);
        CHECK(detail::priced(graph, best.offset).cost == oracle.least);
        for (std::uint32_t i = 0; i != n; ++i) {
            CHECK(best.offset[i] % graph.items[i].alignment == 0);
            CHECK((graph.items[i].pinned == no_offset || graph.items[i].pinned == best.offset[i]));
        }
        CHECK(detail::penalty_prover(graph, 3, control).prove(best) <= oracle.least);
        paying += oracle.least != 0;
    }
    if (rounds(1500) == 1500) CHECK(paying > 150);
}

TEST_CASE("a bound counts what alignments leave free, but not behind the highest buffer")
{
    placement_problem problem;
    problem.buffers = {{{0, 2}, 3, 2}, {{2, 4}, 1, 2}, {{4, 6}, 3, 2}};
    problem.pools = {{.capacity = 5}};
    problem.penalties = {{0, 1, 10}, {0, 2, 1}, {1, 2, 10}};
    placement const placed = place(problem);
    CHECK(placed.penalty == 1);
    CHECK(placed.penalty_bound == 1);
    CHECK(check_placement(problem, placed));
}

TEST_CASE("penalties are paid where a capacity leaves no choice, and not where it does")
{
    placement_problem problem = two_buffers();
    placement placed = place(problem);
    CHECK(placed.penalty == 7);
    CHECK(placed.pools[0].penalty == 7);
    CHECK(placed.penalty_bound == 7);
    CHECK(placed.status == placement::outcome::optimal);
    CHECK(placed.pools[0].height == 4);
    CHECK(check_placement(problem, placed));

    problem.pools[0].capacity = 6;
    placed = place(problem);
    CHECK(placed.penalty == 0);
    CHECK(placed.status == placement::outcome::optimal);
    CHECK(placed.pools[0].height == 6);
    CHECK(check_placement(problem, placed));

    problem.pools[0].capacity = 4;
    problem.penalties = {{0, 1, 3}, {1, 0, 4}}; // they add up
    placed = place(problem);
    CHECK(placed.penalty == 7);
    CHECK(placed.penalty_bound == 7);
    CHECK(check_placement(problem, placed));

    problem.pools.clear(); // no limit
    placed = place(problem);
    CHECK(placed.penalty == 0);
    CHECK(placed.pools[0].height == 6);
    CHECK(check_placement(problem, placed));

    problem.pools = {{.capacity = 4}};
    problem.penalties[0].cost = no_limit;
    placed = place(problem);
    CHECK(placed.status == placement::outcome::limit);
    CHECK(placed.penalty_bound == 0);
    CHECK(check_placement(problem, placed));
    REQUIRE(!placed);
    CHECK(printed(placed.error()) == "the buffers of pool 0 need 6 bytes and its capacity is 4");
}

TEST_CASE("buffers without bytes pay nothing")
{
    placement_problem problem = two_buffers();
    problem.buffers[0].size = problem.buffers[1].size = 0;
    placement const placed = place(problem);
    CHECK(check_placement(problem, placed));
    CHECK(placed.status == placement::outcome::optimal);
    CHECK(placed.penalty == 0);
    problem.buffers.clear();
    problem.penalties.clear();
    CHECK(check_placement(problem, place(problem)));
}

TEST_CASE("a pool that cannot be filled has neither a cost that counts nor a bound on it")
{
    placement_problem problem = two_buffers();
    problem.buffers.push_back({{0, 1}, 1});
    placement const placed = place(problem);
    CHECK(placed.status == placement::outcome::infeasible);
    CHECK(placed.penalty_bound == 0);
    CHECK(check_placement(problem, placed));
    CHECK(check_proof(problem, placed, 0));
    REQUIRE(!placed);
    CHECK(printed(placed.error()) == "the buffers of pool 0 need 5 bytes and its capacity is 4");
}

TEST_CASE("pools without penalties are placed as they are without those of others")
{
    placement_problem problem = two_buffers();
    problem.pools.push_back({.capacity = 100});
    for (std::uint32_t i = 0; i != 12; ++i)
        problem.buffers.push_back({{i % 5, i % 5 + 1 + i % 4}, 3 + i * 5 % 7, 1, 1});
    problem.gaps.push_back({5, {3, 4}, 0, 0});
    placement const placed = place(problem);
    CHECK(check_placement(problem, placed));
    CHECK(check_proof(problem, placed, 1));
    placement_problem without = problem;
    without.penalties.clear();
    placement const other = place(without);
    CHECK(placed.pools[1].height == other.pools[1].height);
    for (buffer_id b = 2; b != problem.buffers.size(); ++b) CHECK(placed.offset[b] == other.offset[b]);
    CHECK(other.penalty == 0);
    CHECK(place(without).offset == other.offset);
}

TEST_CASE("the same problem and options give the same placement for any number of threads")
{
    for (std::uint32_t seed = 0; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        placement_problem const problem = draw_penalised(pick);
        placement const one = place(problem, {.effort = 20'000});
        CHECK(place(problem, {.threads = 3, .effort = 20'000}).offset == one.offset);
        placement const stopped = place(problem, {.stop = [] { return true; }});
        verdict const valid = check_placement(problem, stopped);
        if (!valid) FAIL(printed(valid.error()));
        CHECK((stopped.is_timed_out || stopped.status == placement::outcome::optimal));
    }
}

TEST_CASE("penalties name two buffers of one pool")
{
    placement_problem problem = two_buffers();
    problem.penalties = {{0, 2, 1}};
    CHECK(why_refused(problem) == "sublet: a penalty names buffer 2, but there are only 2 buffers");
    problem.penalties = {{1, 1, 1}};
    CHECK(why_refused(problem) == "sublet: a penalty names buffer 1 twice");
    problem.penalties = {{0, 1, 1}};
    problem.buffers[1].pool = 1;
    problem.pools.push_back({});
    CHECK(why_refused(problem) ==
          "sublet: a penalty names buffers 0 and 1, which are in pools 0 and 1: they never share a byte");
    problem = two_buffers();
    problem.penalties = {{0, 1, no_limit - 2}, {0, 1, 5}};
    CHECK(why_refused(problem) == "sublet: the sum of the sizes 18446744073709551613 and 5 exceeds 64 bits");
    problem.penalties = {{0, 1, byte_count{1} << 61}};
    CHECK(why_refused(problem) == "sublet: the costs of penalties add up to 2305843009213693952, and with 2 "
                                  "buffers they may to at most 1537228672809129301");
    problem.penalties = {{0, 1, byte_count{1} << 60}};
    CHECK(place(problem).penalty == byte_count{1} << 60);
    problem.penalties = {{0, 1, no_limit}};
    problem.buffers[0].pinned = problem.buffers[1].pinned = 0;
    CHECK(why_refused(problem) ==
          "sublet: buffers 0 and 1 are pinned so that they share bytes, and a penalty forbids that");
}

TEST_CASE("what penalties cannot be combined with is refused by its name")
{
    auto refusal = [](auto change) {
        placement_problem problem = two_buffers();
        change(problem);
        return why_refused(problem);
    };
    std::string const end = ": place() does not combine them";
    CHECK(refusal([](auto& p) { p.clocks = {1, {0, 2}, {2, 4}}; }) ==
          "sublet: a problem has penalties, and clocks" + end);
    CHECK(refusal([](auto& p) { p.period = 4; }) == "sublet: a problem has penalties, and a period" + end);
    CHECK(refusal([](auto& p) { p.choices = {{0, 0, 1}}; }) ==
          "sublet: a problem has penalties, and choices of pools" + end);
    CHECK(refusal([](auto& p) { p.colocated = {{0, 1, 0}}; }) ==
          "sublet: a problem has penalties, and colocated buffers" + end);
    CHECK(refusal([](auto& p) { p.apart = {{0, 1}}; }) ==
          "sublet: a problem has penalties, and pairs apart in banks" + end);
    CHECK(refusal([](auto& p) { p.gaps = {{1, {2, 3}, 0, 1}}; }) ==
          "sublet: a problem has penalties, and a window of buffer 1" + end);
    CHECK(refusal([](auto& p) { p.pools[0].largest_block = 8; }) ==
          "sublet: pool 0 has penalties, and a largest block" + end);
    CHECK(refusal([](auto& p) { p.pools[0].guard = 8; }) ==
          "sublet: pool 0 has penalties, and a guard" + end);
    CHECK(refusal([](auto& p) { p.pools[0].reserved = {{0, 1}}; }) ==
          "sublet: pool 0 has penalties, and reserved ranges" + end);
    CHECK(refusal([](auto& p) { p.pools[0].page = 8; }) == "sublet: pool 0 has penalties, and pages" + end);
    std::vector<byte_count> const previous{no_offset, 0};
    CHECK(why_refused(two_buffers(), {.previous = previous}) ==
          "sublet: a problem has penalties, and an old place of buffer 1" + end);
}

TEST_CASE("a checker names two buffers that a penalty keeps apart")
{
    placement_problem problem = two_buffers();
    placement placed = place(problem);
    problem.penalties[0].cost = no_limit;
    verdict const found = check_placement(problem, placed);
    REQUIRE(!found);
    CHECK(printed(found.error()) ==
          "buffers 0 and 1 share bytes [0, 2) of pool 0, and a penalty without limit "
          "keeps them apart");
    problem.penalties[0].buffer = 9;
    CHECK_THROWS_WITH((void)check_placement(problem, placed),
                      "sublet: a penalty names buffer 9, but there are only 2 buffers");
}

} // namespace this_test
