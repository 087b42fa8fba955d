// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/step_waits.hpp>

#include "../dice.hpp"
#include "../random_names.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/program.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using enum value_role;
using list = std::vector<step_id>;

namespace {

/// Steps, each with what it reads and what it writes.
snapshot program_of(std::vector<std::pair<std::vector<int>, std::vector<int>>> const& steps,
                    std::size_t values)
{
    return sequence(
        steps.size(), values, [&](auto s) -> auto& { return steps[s].first; },
        [&](auto s) -> auto& { return steps[s].second; });
}

std::optional<witness> moved(snapshot const& p, plan_options const& options, list const& steps)
{
    return detail::listed_order(p, options).moved_write(steps);
}

witness at(value_id v, step_id position)
{
    return {.what = fault::write_moved, .value = v, .position = position};
}

} // namespace

TEST_CASE("who reads what a part is written to, or writes it, stays on its side of that")
{
    enum { a, part, out, other };
    auto const p = program_of({{{}, {a}}, {{}, {part}}, {{a}, {out}}, {{}, {other}}}, 4);
    plan_options const options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    CHECK(!moved(p, options, {0, 1, 2, 3}));
    CHECK(!moved(p, options, {3, 0, 1, 2}));
    CHECK(moved(p, options, {0, 2, 3, 1}) == at(part, 3));
    CHECK(moved(p, options, {1, 3, 0, 2}) == at(a, 2));
    CHECK(detail::listed_order(p, options).handoffs() == std::vector<handoff>{{0, 1}, {1, 2}});
    auto const late = program_of({{{}, {a}}, {{a}, {out}}, {{}, {part}}}, 3);
    plan_options const few{.bytes = 8, .alias_of = {-1, 0, -1}};
    CHECK(moved(late, few, {0, 2, 1}) == at(part, 1)); // 1 comes too late, but 2 is the write
}

TEST_CASE("what is written once, by itself and not through a view, may be anywhere")
{
    enum { a, v, out };
    auto const p = program_of({{{a}, {out}}, {{a}, {v}}}, 3);
    plan_options options{.bytes = 8, .role = {input, intermediate, output}, .alias_of = {-1, 0, -1}};
    CHECK(!moved(p, options, {1, 0}));
    CHECK(!moved(program_of({{{}, {a}}, {{a}, {out}}, {{a}, {v}}}, 3), {.bytes = 8, .alias_of = {-1, 0, -1}},
                 {0, 2, 1}));
    auto const written = program_of({{{a}, {out}}, {{}, {v}}}, 3);
    CHECK(moved(written, options, {1, 0}) == at(v, 0));
    options.alias_of = no_value;
    CHECK(!moved(written, options, {1, 0}));
    CHECK(!moved(snapshot(), {.bytes = 8}, {}));
}

TEST_CASE("a read at the end of a node is one by its last step")
{
    enum : value_id { a, part };
    auto const p = flow(
        4, 2, [](node_id n) { return n == 1 ? list{3} : list{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(a);
            if (n == 2) s.def(part);
            if (n == 3) s.use_at_end_of(1, a);
        });
    plan_options const options{.bytes = 8, .alias_of = {-1, 0}};
    CHECK(!moved(p, options, {0, 1, 3, 2}));
    CHECK(moved(p, options, {0, 2, 1, 3}) == at(part, 1));
}

TEST_CASE("the list is what the options say, and says nothing if it cannot be run")
{
    enum { a, part, out, x };
    plan_options options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    auto const p = program_of({{{a}, {out}}, {{}, {part}}, {{}, {a}}}, 4);
    CHECK(!moved(p, options, {2, 0, 1}));
    CHECK(!moved(p, options, {2, 1, 0}));
    options.order = {2, 0, 1};
    CHECK(!moved(p, options, {2, 0, 1}));
    CHECK(moved(p, options, {2, 1, 0}) == at(part, 1));
    options.order = {2, 1, 0};
    CHECK(moved(p, options, {2, 0, 1}) == at(part, 2));

    auto with_edge = [](node_id from, node_id to) {
        return flow(
            3, 3, [=](node_id n) { return n == from ? list{to} : list{}; },
            [](node_id n, effect_sink& s) {
                if (n == 2) s.use(0);
                s.def(n == 2 ? 2 : n);
            });
    };
    plan_options const three{.bytes = 8, .alias_of = {-1, 0, -1}};
    CHECK(moved(with_edge(0, 1), three, {0, 2, 1}));
    CHECK(!moved(with_edge(2, 1), three, {0, 2, 1}));
}

TEST_CASE("orders that keep the hand-offs move no write, and those that leave something else move one")
{
    std::size_t kept = 0, different = 0, harmless = 0;
    for (std::uint32_t seed = 0; seed != rounds(60'000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_names const names =
            draw_names(roll, {.nodes = 7, .names = 14, .given = 15, .views = 60, .shuffled = seed % 2 == 0});
        snapshot const p = names.program();
        plan_options const options{
            .bytes = 8, .role = names.role, .alias_of = names.alias_of, .order = names.order};
        if (dependences(p, {.role = names.role}).violation) continue; // a name is written twice
        if (lifetimes(p, {.role = names.role, .order = names.order}).violation) continue; // or by one step
        names_run const expected(names);
        if (expected.is_ambiguous) continue;
        detail::listed_order const listed(p, options);
        for (bool const keeps : {false, true}) {
            auto const handoffs = keeps ? listed.handoffs() : std::vector<handoff>{};
            dependence_graph const g = dependences(p, {.role = names.role, .handoffs = handoffs});
            REQUIRE(!g.violation);
            list steps;
            for (step_id i = 0; i != g.positions(); ++i)
                if (g.position_of[g.step_at[i]] == i) steps.push_back(g.step_at[i]);
            bool is_different = false;
            for (std::size_t i = 0; i != steps.size(); ++i)
                for (std::size_t k = i + 1; k < steps.size(); ++k)
                    is_different |= expected.before[steps[k]][steps[i]];
            CHECK(listed.moved_write(steps).has_value() == is_different);
            if (keeps) CHECK(!is_different);
            kept += keeps && !handoffs.empty();
            different += is_different;
            harmless += !is_different && !keeps && !listed.handoffs().empty();
        }
    }
    CHECK(kept > rounds(100));
    CHECK(different > rounds(100));
    CHECK(harmless > rounds(20));
}

} // namespace this_test
