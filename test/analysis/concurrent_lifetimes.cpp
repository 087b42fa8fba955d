// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Whether edges lead from one position to another, by walking.
struct walk {
    dependence_graph const& g;
    bool before(step_id a, step_id b) const
    {
        std::vector<step_id> reached{a};
        std::vector<bool> seen(g.positions());
        while (!reached.empty()) {
            step_id const at = reached.back();
            reached.pop_back();
            for (step_id next : g.after[at]) {
                if (next == b) return true;
                if (!seen[next]) reached.push_back(next);
                seen[next] = true;
            }
        }
        return false;
    }
};

} // namespace

TEST_CASE("a value read by two that do not wait for each other has two ends")
{
    random_tasks tasks;
    tasks.tasks = {{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {}, {}}, {{0}, {}, {2}, {}, {}}};
    snapshot const p = sequence(3, 3, [&](step_id s, effect_sink& sink) {
        for (auto v : tasks.tasks[s].uses) sink.use(v);
        sink.def(s);
    });
    auto const lives = concurrent_lifetimes(p, dependences(p), 3, {0, 1, 2}, std::vector<value_role>(3));
    CHECK(lives.begins[0].size() == 1);
    CHECK(lives.ends[0].size() == 2);
    CHECK(lives.first(0) == 0);
    CHECK(lives.last(0) == 3);
}

TEST_CASE("an input begins nowhere, an output never ends")
{
    snapshot const p = sequence(1, 2, [](step_id, effect_sink& sink) {
        sink.use(0);
        sink.def(1);
    });
    std::vector<value_role> const role{value_role::input, value_role::output};
    auto const lives = concurrent_lifetimes(p, dependences(p, {.role = role}), 2, {0, 1}, role);
    CHECK(lives.begins[0].empty());
    CHECK(lives.is_kept(1));
    CHECK(!lives.is_kept(0));
    CHECK(lives.last(1) == 1);
}

TEST_CASE("giving follows the rule, views and early reads included")
{
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(12), .early = 30, .views = 30, .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        REQUIRE(!g.violation);
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        walk oracle{g};
        for (value_id u = 0; u != tasks.values(); ++u)
            for (value_id v = 0; v != tasks.values(); ++v)
                if (rule.root[u] == u && rule.root[v] == v && u != v)
                    REQUIRE(gives_to(lives, u, v, oracle) == rule.gives(u, v));
    }
}

} // namespace this_test
