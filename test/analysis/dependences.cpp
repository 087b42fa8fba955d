// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using rows = std::vector<std::vector<value_id>>;

static snapshot listed(rows const& uses, rows const& defs, std::size_t values)
{
    return sequence(
        uses.size(),
        values, [&](step_id s) -> auto& { return uses[s]; }, [&](step_id s) -> auto& { return defs[s]; });
}

static std::vector<step_id> row(csr_rows const& of, step_id at) { return {of[at].begin(), of[at].end()}; }

TEST_CASE("who reads waits for who writes, and for nobody else")
{
    dependence_graph const g = dependences(listed({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, 4));
    REQUIRE(!g.violation);
    CHECK(row(g.after, 0) == std::vector<step_id>{1, 2});
    CHECK(row(g.before, 3) == std::vector<step_id>{1, 2});
    CHECK(g.edges() == 4);
}

TEST_CASE("steps of a node follow each other, and the edges of the program are kept")
{
    snapshot const p = flow(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id, effect_sink& s) { s.next_step(); });
    dependence_graph const g = dependences(p);
    REQUIRE(g.positions() == 4);
    for (step_id s = 0; s != 3; ++s)
        CHECK(row(g.after, g.position_of[s]) == std::vector{g.position_of[s + 1]});
}

TEST_CASE("a step that reads early has a position to read and one to write")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use_early(0);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    CHECK(g.step_at == std::vector<step_id>{0, 1, 1});
    CHECK(g.position_of == std::vector<step_id>{0, 2});
    CHECK(g.start_of(1) == 1);
    CHECK(g.start_of(0) == 0);
}

TEST_CASE("where a step begins is found though others stand before where it writes")
{
    snapshot const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.use_early(0);
        sink.def(s + 1);
    });
    dependence_graph const g =
        dependences(p, {.role = std::vector{value_role::input, value_role{}, value_role{}}});
    CHECK(g.step_at == std::vector<step_id>{0, 1, 0}); // what waits for nothing comes first
    CHECK(g.start_of(0) == 0);
    CHECK(g.start_of(1) == 1);
}

TEST_CASE("what has no concurrent reading is returned as a fact")
{
    auto fault_of = [](snapshot const& p, value_role role = value_role::intermediate) {
        auto const g = dependences(p, {.role = role});
        REQUIRE(g.violation);
        return *g.violation;
    };
    CHECK(fault_of(listed({{}, {}}, {{0}, {0}}, 1)) ==
          dependence_violation{dependence_violation::kind::several_defs, 0, {0, 1}});
    CHECK(fault_of(listed({{}, {}}, {{}, {0}}, 1), value_role::input) ==
          dependence_violation{dependence_violation::kind::several_defs, 0, {no_step, 1}});
    CHECK(fault_of(listed({{0}}, {{}}, 1)) ==
          dependence_violation{dependence_violation::kind::never_defined, 0, {0}});
    CHECK(fault_of(listed({{0}}, {{0}}, 1)) ==
          dependence_violation{dependence_violation::kind::never_defined, 0, {0}});
    CHECK(fault_of(listed({{}}, {{}}, 1), value_role::output) ==
          dependence_violation{dependence_violation::kind::never_defined, 0, {}});
    CHECK(fault_of(listed({{2}, {0}, {1}, {2}}, {{0}, {1}, {2}, {}}, 3)) ==
          dependence_violation{dependence_violation::kind::cycle, no_value, {0, 1, 2}});
    snapshot const early = sequence(2, 2, [](step_id s, effect_sink& sink) {
        sink.use_early(1 - s);
        sink.def(s);
    });
    CHECK(fault_of(early).steps.size() == 2);
}

TEST_CASE("a hand-off is an edge like others, and may close a cycle")
{
    snapshot const p = listed({{}, {0}}, {{0}, {1}}, 2);
    CHECK(dependences(listed({{}, {}}, {{0}, {1}}, 2), {.handoffs = {{1, 0}}}).step_at ==
          std::vector<step_id>{1, 0});
    CHECK(dependences(p, {.handoffs = {{1, 0}}}).violation->what == dependence_violation::kind::cycle);
    CHECK_THROWS_AS((void)dependences(p, {.handoffs = {{1, 2}}}), precondition_error);
}

TEST_CASE("the empty program has no positions")
{
    CHECK(dependences(snapshot{}).positions() == 0);
    CHECK(!dependences(snapshot{}).violation);
}

TEST_CASE("every numbering is topological, and reaches exactly what the definition says")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(14), .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        for (auto order : {dependence_options::position_order::depth_first,
                           dependence_options::position_order::breadth_first,
                           dependence_options::position_order::as_listed}) {
            dependence_graph const g = dependences(tasks.program(), {.role = tasks.role, .order = order});
            REQUIRE(!g.violation);
            std::vector<std::vector<bool>> reaches(g.positions(), std::vector<bool>(g.positions()));
            for (step_id at = static_cast<step_id>(g.positions()); at-- != 0;) {
                step_id last = at;
                for (step_id next : g.after[at]) {
                    REQUIRE(next > last);
                    last = next;
                    reaches[at][next] = true;
                    for (std::size_t x = 0; x != g.positions(); ++x)
                        if (reaches[next][x]) reaches[at][x] = true;
                }
            }
            REQUIRE(g.before == g.after.transposed(g.positions()));
            for (step_id a = 0; a != tasks.tasks.size(); ++a)
                for (step_id b = 0; b != tasks.tasks.size(); ++b)
                    if (a != b) REQUIRE(reaches[g.position_of[a]][g.start_of(b)] == rule.before[a][b]);
        }
    }
}

TEST_CASE("a chain of a million steps needs no stack")
{
    dependence_graph const g = dependences(draw_family("chain", 1'000'000).program());
    CHECK(g.edges() == 999'999);
}

} // namespace this_test
