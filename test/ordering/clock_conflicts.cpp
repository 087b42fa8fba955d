// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/schedule.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<live_range> row(live_range_lists const& of, buffer_id b) { return {of[b].begin(), of[b].end()}; }

/// Buffers that begin one a position, with the ranges that they conflict with.
concurrent_lives beginning_one_by_one(step_id positions)
{
    concurrent_lives lives;
    lives.positions = positions;
    for (step_id at = 0; at != positions; ++at) {
        lives.begins.append(at);
        lives.begins.close_row();
        lives.ends.append(at);
        lives.ends.close_row();
    }
    return lives;
}

} // namespace

TEST_CASE("what may wait no longer conflicts behind the end of a buffer, and nothing else changes")
{
    concurrent_lives const lives = beginning_one_by_one(6);
    live_range_lists const exact(live_range_lists::source::from_liveness, 6, {0, 3, 4, 5, 6, 7, 8},
                                 {{0, 2}, {3, 4}, {5, 6}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
    std::vector<live_range> const in_clock{{0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
    auto first_row = [&](std::vector<unsigned char> const& may_wait) {
        return row(clock_conflicts(exact, lives, in_clock, may_wait), 0);
    };
    CHECK(first_row({0, 0, 0, 0, 0, 0}) == row(exact, 0));
    CHECK(first_row({0, 0, 0, 0, 0, 1}) == std::vector<live_range>{{0, 2}, {3, 4}});
    CHECK(first_row({0, 0, 0, 1, 0, 0}) == std::vector<live_range>{{0, 2}, {5, 6}});
    CHECK(first_row({1, 0, 0, 0, 0, 0}) == std::vector<live_range>{{0, 2}});
    CHECK(first_row({0, 1, 1, 0, 1, 0}) == row(exact, 0)); // 1 overlaps in the clock; 2 and 4 were free
}

TEST_CASE("tables of other buffers are refused")
{
    concurrent_lives const lives = beginning_one_by_one(1);
    live_range_lists const exact(live_range_lists::source::from_liveness, 1, {0, 1}, {{0, 1}});
    CHECK(clock_conflicts(exact, lives, {{0, 1}}, {0}) == exact);
    CHECK_THROWS_AS((void)clock_conflicts(exact, lives, {}, {0}), precondition_error);
    CHECK_THROWS_AS((void)clock_conflicts(exact, lives, {{0, 1}}, {}), precondition_error);
    CHECK_THROWS_AS((void)clock_conflicts(live_range_lists(), lives, {{0, 1}}, {0}), precondition_error);
}

TEST_CASE("a buffer whose ranges would fall into very many pieces counts as one that may wait")
{
    // Everybody conflicts with everybody behind, and every second may wait.
    step_id const n = 1000;
    concurrent_lives const lives = beginning_one_by_one(n);
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges, in_clock;
    std::vector<unsigned char> may_wait;
    for (step_id at = 0; at != n; ++at) {
        ranges.push_back({at, n});
        first.push_back(at + 1);
        in_clock.push_back({at, at + 1});
        may_wait.push_back(at % 2);
    }
    live_range_lists const exact(live_range_lists::source::from_liveness, n, first, ranges);
    live_range_lists const found = clock_conflicts(exact, lives, in_clock, may_wait);
    CHECK(found.ranges() < 70 * n);
    CHECK(found.ranges() > 10 * n);
    for (buffer_id b = 0; b != n; ++b) {
        REQUIRE(found[b].front().first == b);
        for (live_range r : found[b]) REQUIRE(r.last <= n);
    }
}

TEST_CASE("the positions left are those that the definition leaves")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(14), .early = 30, .views = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        std::vector<tick_count> takes;
        for (std::size_t s = 0; s != tasks.tasks.size(); ++s) takes.push_back(1 + roll.below(5));
        auto const [timed, clock] = in_clock_order(g, parallel_clock(g, takes, {.workers = roll.below(4)}));
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, timed, tasks.values(), buffer_of, tasks.role);
        auto const exact = later_conflicts(timed, lives).of;
        auto const in_clock = clock_lives(lives, clock);
        std::vector<unsigned char> may_wait, waits(timed.positions());
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            may_wait.push_back(roll.below(3) == 0);
            for (step_id at : lives.begins[b])
                if (may_wait[b]) waits[at] = 1;
        }
        auto const found = clock_conflicts(exact, lives, in_clock, may_wait);
        REQUIRE(found.positions() == exact.positions());
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            step_id last = 0;
            for (live_range r : found[b]) {
                REQUIRE(!is_empty(r));
                if (last != 0) REQUIRE(r.first > last); // neither overlap nor touch
                last = r.last;
            }
            tick_count end = 0; // of the last step that touches it
            for (step_id at : lives.ends[b])
                end = at == lives.positions ? no_limit : larger(end, clock.end[at]);
            for (step_id at = 0; at != timed.positions(); ++at) {
                bool was = false, is = false;
                for (live_range r : exact[b]) was = was || contains(r, at);
                for (live_range r : found[b]) is = is || contains(r, at);
                bool const ends_before = end <= clock.start[at] && !lives.ends[b].empty();
                REQUIRE(is == (was && !(ends_before && (may_wait[b] || waits[at]))));
            }
        }
    }
}

} // namespace this_test
