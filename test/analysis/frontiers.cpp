// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/frontiers.hpp>

#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sublet;

namespace {

/// By position: what it leads to.
std::vector<std::vector<bool>> closure(dependence_graph const& g)
{
    std::vector<std::vector<bool>> leads(g.positions(), std::vector<bool>(g.positions()));
    for (std::size_t x = g.positions(); x-- != 0;)
        for (step_id y : g.after[x]) {
            leads[x][y] = true;
            for (std::size_t z = 0; z != g.positions(); ++z)
                if (leads[y][z]) leads[x][z] = true;
        }
    return leads;
}

} // namespace

TEST_CASE("what comes after two branches begins where they meet")
{
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s == 3) sink.use(1), sink.use(2);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 4, {0, 1, 2, 3}, std::vector<value_role>(4));
    frontier_rows const found = frontiers(g, lives, [](buffer_id) { return true; });
    CHECK(found.last_end[0] == no_step);
    CHECK(std::vector<step_id>(found.lowest[0].begin(), found.lowest[0].end()) == std::vector<step_id>{3});
    CHECK(found.last_end[1] == 3);
    CHECK(found.lowest[1].empty());
}

TEST_CASE("frontiers say of every position whether it comes after all ends")
{
    for (std::uint32_t seed = 0; seed != 1000; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(40),
                                                     .operands = 1 + roll.below(5),
                                                     .back = 4 * roll.below(3),
                                                     .early = 20,
                                                     .views = 30,
                                                     .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        frontier_rows const found = frontiers(g, lives, [](buffer_id) { return true; });
        auto const leads = closure(g);
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            REQUIRE(found.is_cut[b] == 0);
            if (found.last_end[b] != no_step) REQUIRE(found.lowest[b].empty());
            for (step_id x = 0; x != g.positions(); ++x) {
                bool is_after = !lives.is_kept(b);
                for (step_id end : lives.ends[b]) is_after = is_after && leads[end][x];
                bool is_found = found.last_end[b] != no_step && leads[found.last_end[b]][x];
                for (step_id y : found.lowest[b]) is_found = is_found || y == x || leads[y][x];
                REQUIRE(is_found == is_after);
            }
        }
    }
}
