// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/schedule.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("positions are numbered as the clock starts them, the edges with them")
{
    // 0 -> 1 -> 2, and 3 alone: of 2 and 3, with equal paths ahead, one worker takes the lower position.
    std::vector<std::vector<node_id>> const next{{1}, {2}, {}, {}};
    dependence_graph const g = dependences(flow(
        4, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
    clocked_graph const timed = in_clock_order(g, parallel_clock(g, tick_count{5}, {.workers = 1}));
    CHECK(timed.graph.step_at == std::vector<step_id>{0, 1, 3, 2});
    CHECK(timed.graph.position_of == std::vector<step_id>{0, 1, 3, 2});
    CHECK(timed.graph.after == csr_rows({0, 1, 2, 2, 2}, {1, 3}));
    CHECK(timed.clock.start == std::vector<tick_count>{0, 5, 10, 15});
    CHECK(timed.clock.end == std::vector<tick_count>{5, 10, 15, 20});
    CHECK(timed.clock.makespan == 20);
    CHECK(timed.clock.critical_path == 15);
}

TEST_CASE("the clock of another graph is refused")
{
    CHECK(in_clock_order(dependences(snapshot{}), clock_times{}).graph.positions() == 0);
    CHECK_THROWS_AS((void)in_clock_order(dependences(snapshot{}), clock_times{{0}, {1}, 1, 1}),
                    precondition_error);
}

TEST_CASE("another numbering is the same order of steps, and a topological one")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks =
            draw_tasks(roll, {.tasks = 1 + roll.below(14), .early = 30, .shuffled = seed % 2 == 1});
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        std::vector<tick_count> takes;
        for (std::size_t s = 0; s != tasks.tasks.size(); ++s) takes.push_back(1 + roll.below(5));
        clock_side const side = seed % 3 == 0 ? clock_side::latest : clock_side::earliest;
        clock_times const clock = parallel_clock(g, takes, {.workers = roll.below(4), .side = side});
        auto const [graph, times] = in_clock_order(g, clock);
        REQUIRE(graph.positions() == g.positions());
        REQUIRE(graph.edges() == g.edges());
        REQUIRE(graph.before == graph.after.transposed(g.positions()));
        auto is_early = [](dependence_graph const& in, step_id at) {
            return in.position_of[in.step_at[at]] != at;
        };
        auto number_of = [&, &its = graph](step_id at) { // the position of the same part of the same step
            step_id to = 0;
            while (its.step_at[to] != g.step_at[at] || is_early(its, to) != is_early(g, at)) ++to;
            return to;
        };
        for (step_id at = 0; at != g.positions(); ++at) {
            REQUIRE(graph.step_at[number_of(at)] == g.step_at[at]);
            REQUIRE(times.start[number_of(at)] == clock.start[at]);
            REQUIRE(times.end[number_of(at)] == clock.end[at]);
            if (at != 0) REQUIRE(times.start[at - 1] <= times.start[at]);
            for (step_id next : g.after[at]) {
                REQUIRE(is_listed(graph.after[number_of(at)], number_of(next)));
                REQUIRE(number_of(at) < number_of(next));
            }
        }
    }
}

} // namespace this_test
