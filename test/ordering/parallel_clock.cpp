// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/schedule.hpp>
#include <sublet/ordering/detail/order_graph.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

dependence_graph diamond() // 0 -> 1 -> 3, 0 -> 2 -> 3
{
    std::vector<std::vector<node_id>> const next{{1, 2}, {3}, {3}, {}};
    return dependences(flow(
        4, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
}

std::vector<tick_count> by_step(dependence_graph const& g, std::vector<tick_count> const& times)
{
    std::vector<tick_count> result;
    for (step_id at : g.position_of) result.push_back(times[at]);
    return result;
}

} // namespace

TEST_CASE("two branches run at once if there are two workers, and one after the other if there is one")
{
    dependence_graph const g = diamond();
    clock_times const two = parallel_clock(g, tick_count{10}, {.workers = 2});
    CHECK(by_step(g, two.start) == std::vector<tick_count>{0, 10, 10, 20});
    CHECK(by_step(g, two.end) == std::vector<tick_count>{10, 20, 20, 30});
    CHECK(two.makespan == 30);
    clock_times const one = parallel_clock(g, tick_count{10}, {.workers = 1});
    CHECK(by_step(g, one.start) == std::vector<tick_count>{0, 10, 20, 30});
    CHECK(one.makespan == 40);
    CHECK(one.critical_path == 30);
}

TEST_CASE("a short branch beside a long one runs at its begin or at its end")
{
    dependence_graph const g = diamond();
    std::vector<tick_count> const takes{1, 5, 2, 1};
    CHECK(by_step(g, parallel_clock(g, takes).start) == std::vector<tick_count>{0, 1, 1, 6});
    CHECK(by_step(g, parallel_clock(g, takes, {.side = clock_side::latest}).start) ==
          std::vector<tick_count>{0, 1, 4, 6});
}

TEST_CASE("whoever is free takes the step with the longest path ahead, not the first")
{
    // 0 and 1 stand alone, 2 -> 3 -> 4.
    std::vector<std::vector<node_id>> const next{{}, {}, {3}, {4}, {}};
    dependence_graph const g = dependences(flow(
        5, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
    clock_times const clock = parallel_clock(g, tick_count{1}, {.workers = 2});
    CHECK(by_step(g, clock.start) == std::vector<tick_count>{0, 1, 0, 1, 2});
    clock_times const late = parallel_clock(g, tick_count{1}, {.workers = 2, .side = clock_side::latest});
    CHECK(by_step(g, late.start) == std::vector<tick_count>{1, 2, 0, 1, 2});
}

TEST_CASE("a step that takes no time is refused")
{
    dependence_graph const g = diamond();
    CHECK_THROWS_WITH_AS((void)parallel_clock(g, {1, 1, 0, 1}),
                         "sublet: a step takes no time (a clock needs at least 1 for each)",
                         precondition_error);
    CHECK_THROWS_AS((void)parallel_clock(g, {1, 1, 1}), precondition_error);
    CHECK_THROWS_AS((void)parallel_clock(g, no_size / 2), precondition_error);
    snapshot const unwritten = sequence(1, 1, [](step_id, effect_sink& sink) { sink.use(0); });
    CHECK_THROWS_AS((void)parallel_clock(dependences(unwritten)), precondition_error);
}

TEST_CASE("the empty program takes no time")
{
    for (std::size_t workers : {0u, 1u, 2u})
        CHECK(parallel_clock(dependences(snapshot{}), tick_count{1}, {.workers = workers}).makespan == 0);
}

TEST_CASE("a schedule keeps the order, the number of workers, and none of them rests for nothing")
{
    for (std::uint32_t seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks =
            draw_tasks(roll, {.tasks = 1 + roll.below(14), .early = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        std::size_t const n = tasks.tasks.size();
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        std::vector<tick_count> takes;
        for (std::size_t s = 0; s != n; ++s) takes.push_back(1 + roll.below(1 + seed % 7));
        tick_count longest = 0, work = 0;
        std::vector<tick_count> path(n, 0); // to the end of each; relaxed until nothing changes
        for (std::size_t round = 0; round != n; ++round)
            for (std::size_t b = 0; b != n; ++b) {
                tick_count begin = 0;
                for (std::size_t a = 0; a != n; ++a)
                    if (rule.before[a][b]) begin = std::max(begin, path[a]);
                path[b] = begin + takes[b];
                longest = std::max(longest, path[b]);
            }
        for (tick_count t : takes) work += t;

        std::size_t const workers = roll.below(5);
        CAPTURE(workers);
        for (clock_side side : {clock_side::earliest, clock_side::latest}) {
            clock_times const clock = parallel_clock(g, takes, {.workers = workers, .side = side});
            REQUIRE(clock.critical_path == longest);
            for (step_id at = 0; at != g.positions(); ++at)
                REQUIRE(clock.end[at] == clock.end[g.position_of[g.step_at[at]]]);
            auto start = by_step(g, clock.start), end = by_step(g, clock.end);
            REQUIRE(*std::min_element(start.begin(), start.end()) == 0);
            REQUIRE(*std::max_element(end.begin(), end.end()) == clock.makespan);
            for (std::size_t a = 0; a != n; ++a) {
                REQUIRE(end[a] == start[a] + takes[a]);
                for (std::size_t b = 0; b != n; ++b)
                    if (rule.before[a][b]) REQUIRE(end[a] <= start[b]);
            }
            bool const is_late = side == clock_side::latest;
            auto precedes = [&](std::size_t a, std::size_t b) {
                return is_late ? rule.before[b][a] : rule.before[a][b];
            };
            if (is_late) { // look at it backwards
                std::swap(start, end);
                for (tick_count& t : start) t = clock.makespan - t;
                for (tick_count& t : end) t = clock.makespan - t;
            }
            if (workers == 0) REQUIRE(clock.makespan == longest);
            else REQUIRE(clock.makespan * workers <= work + (workers - 1) * longest); // Graham
            for (tick_count now = 0; now != clock.makespan; ++now) {
                std::size_t busy = 0, waits = 0;
                for (std::size_t a = 0; a != n; ++a) {
                    busy += start[a] <= now && now < end[a];
                    bool ready = start[a] > now;
                    for (std::size_t b = 0; b != n; ++b) ready = ready && (!precedes(b, a) || end[b] <= now);
                    waits += ready;
                }
                if (workers != 0) REQUIRE(busy <= workers);
                if (waits != 0) REQUIRE(busy == workers);
            }
        }
    }
}

TEST_CASE("what is used where a node ends keeps its reader waiting")
{
    // Node 1 uses 0 at the end of node 0 (a phi), which waits for the step that writes it.
    snapshot const p = flow(
        3, 2, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 1) s.use_at_end_of(node_id{0}, 0);
            if (n == 0) s.use_early(1);
            if (n == 2) s.def(0);
        });
    dependence_graph const g = dependences(p, {.role = {value_role::intermediate, value_role::input}});
    REQUIRE(!g.violation);
    for (std::size_t workers : {0u, 1u, 2u})
        for (clock_side side : {clock_side::earliest, clock_side::latest})
            CHECK(by_step(g, parallel_clock(g, tick_count{2}, {workers, side}).start) ==
                  std::vector<tick_count>{2, 4, 0});
}

TEST_CASE("a chain of a million steps needs no stack")
{
    dependence_graph const g = dependences(draw_family("chain", 1'000'000).program());
    CHECK(parallel_clock(g).makespan == 1'000'000);
    CHECK(parallel_clock(g, tick_count{1}, {.workers = 2}).makespan == 1'000'000);
}

} // namespace this_test
