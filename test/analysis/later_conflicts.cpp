// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/later_conflicts.hpp>

#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sublet;

TEST_CASE("ranges with holes say who gives to whom, views, early reads, inputs and outputs included")
{
    for (std::uint32_t seed = 0; seed != 1000; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(14), .early = 30, .views = seed % 30, .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        REQUIRE(!g.violation);
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        auto const conflicts = later_conflicts(g, lives);
        for (value_id u = 0; u != tasks.values(); ++u) {
            if (rule.root[u] != u) continue;
            REQUIRE(conflicts.of[u].front().first == lives.first(u));
            for (value_id v = 0; v != tasks.values(); ++v)
                if (rule.root[v] == v && u != v)
                    REQUIRE(gives_to(conflicts, lives, u, v) == rule.gives(u, v));
        }
    }
}
