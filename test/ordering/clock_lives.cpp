// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/schedule.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a buffer lives from the begin of the step that makes it to the end of the last that reads it")
{
    // 0 makes a, 1 reads it and makes b, 2 reads a and makes c, 3 reads b.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1}}, defs{{0}, {1}, {2}, {}};
    snapshot const p = sequence(
        4, 3, [&](step_id s) -> auto& { return uses[s]; }, [&](step_id s) -> auto& { return defs[s]; });
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 3, {0, 1, 2}, std::vector<value_role>(3));
    // In billions of ticks: 0 runs [0, 1), 1 [1, 3), 2 [1, 6), 3 [3, 4).
    tick_count const unit = 1'000'000'000;
    clock_times const clock = parallel_clock(g, {unit, 2 * unit, 5 * unit, unit});
    CHECK(clock_lives(lives, clock) == std::vector<live_range>{{0, 4}, {1, 4}, {1, 4}});
    // One worker runs 2 before 1, which has the shorter path ahead: a ends with 1.
    clock_times const alone = parallel_clock(g, {unit, 2 * unit, 5 * unit, unit}, {.workers = 1});
    CHECK(clock_lives(lives, alone) == std::vector<live_range>{{0, 3}, {2, 4}, {1, 2}});
}

TEST_CASE("lives of another graph are refused")
{
    CHECK(clock_lives({}, clock_times{}).empty());
    CHECK_THROWS_AS((void)clock_lives({}, clock_times{{0}, {1}, 1, 1}), precondition_error);
}

TEST_CASE("lives overlap exactly where the steps that touch them do")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(12), .early = 30, .views = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        std::vector<tick_count> takes;
        for (std::size_t s = 0; s != tasks.tasks.size(); ++s) takes.push_back(1 + roll.below(9));
        clock_times const clock = parallel_clock(g, takes, {.workers = roll.below(4)});
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        auto const ranges = clock_lives(lives, clock);
        REQUIRE(ranges.size() == tasks.values());

        auto has_ended = [&](value_id u, value_id v) { // when v begins
            if (rule.is_kept[u] || rule.is_given[v] || rule.defs[v].empty()) return false;
            for (std::size_t d : rule.defs[v])
                for (auto const* touches : {&rule.late[u], &rule.early[u]})
                    for (std::size_t t : *touches)
                        if (clock.end[g.position_of[t]] > clock.start[g.position_of[d]]) return false;
            return true;
        };
        for (value_id u = 0; u != tasks.values(); ++u) {
            if (rule.root[u] != u) continue;
            REQUIRE(!is_empty(ranges[u]));
            bool const is_touched = !rule.late[u].empty() || !rule.early[u].empty();
            for (value_id v = 0; v != u; ++v)
                if (rule.root[v] == v && is_touched && (!rule.late[v].empty() || !rule.early[v].empty()))
                    REQUIRE(overlaps(ranges[u], ranges[v]) == !(has_ended(u, v) || has_ended(v, u)));
        }
    }
}

} // namespace this_test
