// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../touched_cells.hpp"
#include "../transitive.hpp"

#include <sublet/core/units.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using waits = std::vector<std::pair<position_id, position_id>>;
using rows = csr_rows<position_id, position_id>;

rows rows_of(std::size_t steps, waits const& list)
{
    return rows::gathered(steps, [&](auto add) {
        for (auto const& wait : list) add(wait.first, wait.second);
    });
}

/// Steps in a list, each {values read, values written}.
struct list_of_steps {
    std::vector<std::pair<std::vector<value_id>, std::vector<value_id>>> steps;
    plan_options options;
    std::size_t values;
    bool writes_views = false;

    snapshot program() const
    {
        auto const p = sequence(
            steps.size(), values, [this](step_id s) -> auto const& { return steps[s].first; },
            [this](step_id s) -> auto const& { return steps[s].second; });
        return with_views(p, options.alias_of.tabulate(values), writes_views);
    }
    verdict check(waits const& list, memory_plan const* plan = nullptr,
                  std::vector<handoff> const& handoffs = {}) const
    {
        table<position_id, step_id> order;
        for (step_id s = 0; s != steps.size(); ++s) order.push_back(s);
        return check_waits(program(), options, plan, order, rows_of(steps.size(), list), handoffs);
    }
};

/// The later position, which touches `other`, does not wait for the earlier one, which touches value.
counterexample race_of(position_id earlier, position_id later, value_id value, value_id other,
                       pool_id pool = no_space, byte_count begin = 0, byte_count end = 0)
{
    return {fault::unordered, counterexample::waiting{.position = later,
                                                      .earlier = earlier,
                                                      .value = value,
                                                      .other = other,
                                                      .pool = pool,
                                                      .begin = begin,
                                                      .end = end}};
}

/// An edge or a hand-off requires that the later position waits.
counterexample edge_of(position_id earlier, position_id later)
{
    return race_of(earlier, later, no_value, no_value);
}

/// Values 0, 1 and so on at the given offsets of one arena.
memory_plan placed(std::vector<byte_count> const& offsets, byte_count size, byte_count arena)
{
    memory_plan plan;
    plan.arena_bytes = {arena};
    for (value_id v = 0; v != offsets.size(); ++v) {
        plan.buffer_of.push_back(buffer_id::of(plan.buffers.size()));
        plan.buffers.push_back({.root = v, .size = size, .offset = offsets[v]});
    }
    return plan;
}

using enum value_role;

} // namespace

TEST_CASE("a value waits for all users of the bytes that it reuses, else the racing steps are named")
{
    enum : std::uint32_t { a, b, c, d };
    list_of_steps const list{{{{}, {a}}, {{a}, {b}}, {{a}, {c}}, {{b}, {d}}}, {.bytes = 8}, 4};
    memory_plan const plan = placed({0, 8, 16, 4}, 8, 24); // d over the end of a and the beginning of b
    CHECK(list.check({{0, 1}, {0, 2}, {1, 3}}, &plan) == race_of(2, 3, a, d, 0, 4, 8));
    CHECK(list.check({{0, 1}, {0, 2}, {1, 3}, {2, 3}}, &plan));
}

TEST_CASE("readers wait for the writer, also of unplanned storage and of values without bytes")
{
    enum : std::uint32_t { a, b };
    for (byte_count const bytes : {byte_count{8}, byte_count{0}, no_size}) {
        CAPTURE(bytes);
        list_of_steps const list{{{{}, {a}}, {{a}, {b}}}, {.bytes = bytes}, 2};
        CHECK(list.check({}) == race_of(0, 1, a, a));
        CHECK(list.check({{0, 1}}));
    }
}

TEST_CASE("a second write waits for the readers, or else for the last write")
{
    list_of_steps const list{{{{0}, {}}, {{}, {0}}, {{}, {0}}}, {.bytes = 8, .role = state}, 1};
    CHECK(list.check({{1, 2}}) == race_of(0, 1, 0, 0));
    CHECK(list.check({{0, 1}, {0, 2}}) == race_of(1, 2, 0, 0));
    CHECK(list.check({{0, 1}, {1, 2}}));
}

TEST_CASE("a view of what its step reads is not a write, but its readers wait for that step")
{
    enum : std::uint32_t { a, v, b, c };
    list_of_steps const list{{{{}, {a}}, {{a}, {b}}, {{a}, {v}}, {{v}, {c}}},
                             {.bytes = 8, .alias_of = std::vector<value_id>{no_value, a, no_value, no_value}},
                             4};
    CHECK(list.check({{0, 1}, {0, 2}, {2, 3}})); // 1 and 2 both read a
    CHECK(list.check({{0, 1}, {0, 2}, {0, 3}}) == race_of(2, 3, v, v));
    // A step may also write through the view that it makes.
    list_of_steps part = list;
    part.writes_views = true;
    part.steps[2].first.clear();
    CHECK(part.check({{0, 1}, {0, 2}, {2, 3}}) == race_of(1, 2, a, v));
    // Also if it reads the root, which is given.
    list_of_steps again = list;
    again.writes_views = true;
    again.options.role = std::vector<value_role>{state, state, intermediate, intermediate};
    CHECK(again.check({{0, 1}, {0, 2}, {2, 3}}) == race_of(1, 2, a, v));
}

TEST_CASE("edges of the program and hand-offs are required without common bytes")
{
    snapshot const program = tasks(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.next_step();
        });
    plan_options const options{.bytes = 8};
    auto check = [&](waits const& list, std::vector<handoff> const& handoffs = {},
                     memory_plan const* plan = nullptr) {
        return check_waits(program, options, plan, {0, 1, 2}, rows_of(3, list), handoffs);
    };
    CHECK(check({{1, 2}}) == edge_of(0, 1));
    CHECK(check({{0, 1}}) == edge_of(1, 2));
    CHECK(check({{0, 1}, {1, 2}}, {{0, 2}}));
    CHECK(check({{0, 1}, {1, 2}}, {{2, 0}}) == edge_of(2, 0)); // no order satisfies that too

    snapshot const three = sequence(3, 0, [](step_id, effect_sink&) {});
    memory_plan plan{.valid_for = program_reading::concurrent, .handoffs = {{0, 2}}};
    CHECK(check_waits(three, options, &plan, {0, 1, 2}, rows_of(3, {{0, 1}}), {}) == edge_of(0, 2));
    CHECK(check_waits(three, options, &plan, {0, 2, 1}, rows_of(3, {{0, 1}}), {})); // by position
}

TEST_CASE("a use at the end of a node reads after the writes of its last step")
{
    enum : std::uint32_t { a, b };
    snapshot const program = tasks(
        2, 2, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(a), s.next_step();
            else s.use_at_end_of(0, a), s.def(b);
        });
    memory_plan const plan = placed({0, 0}, 8, 8);
    plan_options const options{.bytes = 8};
    CHECK(check_waits(program, options, &plan, {0, 1, 2}, rows_of(3, {{0, 1}, {0, 2}}), {}) ==
          race_of(1, 2, a, b, 0, 0, 8));
    CHECK(check_waits(program, options, &plan, {0, 1, 2}, rows_of(3, {{0, 1}, {1, 2}}), {}));
}

TEST_CASE("malformed orders, waits and plans are refused")
{
    enum : std::uint32_t { a, b };
    list_of_steps const list{{{{}, {a}}, {{a}, {b}}}, {.bytes = 8}, 2};
    plan_options const& options = list.options;
    snapshot const program = list.program();
    rows const fine = rows_of(2, {{0, 1}});
    auto check = [&](table<position_id, step_id> const& order, rows const& after) {
        return bool{check_waits(program, options, nullptr, order, after)};
    };
    CHECK_THROWS_AS(check({0}, fine), precondition_error);
    CHECK_THROWS_AS(check({1, 1}, fine), precondition_error);
    CHECK_THROWS_AS(check({0, 2}, fine), precondition_error);
    CHECK_THROWS_AS(check({0, 1}, rows_of(2, {{1, 0}})), precondition_error);
    CHECK_THROWS_AS(check({0, 1}, rows_of(2, {{1, 1}})), precondition_error);
    CHECK_THROWS_AS(check({0, 1}, rows_of(2, {{0, 2}})), precondition_error);
    CHECK_THROWS_AS(check({0, 1}, rows_of(3, {})), precondition_error);
    CHECK_THROWS_AS((void)list.check({{0, 1}}, nullptr, {{0, 2}}), precondition_error);
    for (byte_count const offset : {byte_count{9}, no_offset, no_offset - 3}) {
        memory_plan const plan = placed({0, offset}, 8, 16);
        CHECK_THROWS_AS(list.check({{0, 1}}, &plan), precondition_error);
    }
    memory_plan plan = placed({0, 8}, 8, 16);
    plan.buffers[1].pool = 1;
    CHECK_THROWS_AS(list.check({{0, 1}}, &plan), precondition_error);
    plan.buffer_of[1] = no_buffer;
    CHECK_THROWS_AS(list.check({{0, 1}}, &plan), precondition_error);
    plan.buffer_of[1] = 7;
    CHECK_THROWS_AS(list.check({{0, 1}}, &plan), precondition_error);
    plan.buffer_of.pop_back();
    CHECK_THROWS_AS(list.check({{0, 1}}, &plan), precondition_error);
}

namespace {

/// The required orders by definition: every two steps are compared, byte by byte.
std::set<std::pair<position_id, position_id>> pairs_in_order(random_program const& p, memory_plan const* plan,
                                                             std::vector<step_id> const& order)
{
    auto pairs = required_pairs(p, order);
    auto const touched = cells_touched(p, plan, order);
    for (position_id a = 0; a != order.size(); ++a)
        for (position_id b = a + 1; b != order.size(); ++b)
            if (touched[a].clashes_with(touched[b])) pairs.insert({a, b});
    return pairs;
}

std::vector<std::vector<bool>> closure(std::size_t n, waits const& list)
{
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
    for (auto const& wait : list) before[wait.first][wait.second] = true;
    make_transitive(before);
    return before;
}

} // namespace

TEST_CASE("on random programs and plans a race is found if and only if two accesses of a byte are unordered")
{
    std::size_t sound = 0, racing = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 8);
        p.drops_free_edges = seed % 5 != 0;
        snapshot const program = p.program();
        auto const planned = plan_memory(program, p.options());
        REQUIRE(planned);
        bool const has_plan = seed % 4 != 0;
        memory_plan const* const plan = has_plan ? &planned.plan : nullptr;
        table<position_id, step_id> order;
        for (auto const& turn : p.turns()) order.push_back(turn.id);
        auto const has_to = pairs_in_order(p, plan, order);
        waits const all(has_to.begin(), has_to.end());
        auto check = [&](waits const& list) {
            return check_waits(program, p.options(), plan, order, rows_of(order.size(), list));
        };
        CHECK(check(all));
        if (all.empty()) continue;
        for (int round = 0; round != 6; ++round) {
            waits fewer;
            std::uint32_t const rate = 1 + pick.below(8);
            for (auto const& wait : all)
                if (pick.below(rate) != 0) fewer.push_back(wait);
            auto const before = closure(order.size(), fewer);
            bool is_sound = true;
            for (auto const& pair : all) is_sound = is_sound && before[pair.first][pair.second];
            auto const valid = check(fewer);
            CHECK(bool{valid} == is_sound);
            ++(is_sound ? sound : racing);
            if (valid) continue;
            CHECK(valid.error().what == fault::unordered);
            REQUIRE(valid.error().as<counterexample::waiting>() != nullptr);
            auto const found = *valid.error().as<counterexample::waiting>();
            CHECK(has_to.count({found.earlier, found.position}) == 1);
            CHECK(!before[found.earlier][found.position]);
            if (found.pool == no_space) continue;
            CHECK(found.begin < found.end);
            for (value_id v : {found.value, found.other}) {
                CHECK(planned.plan.offset_of(v) <= found.begin);
                CHECK(found.end <= planned.plan.offset_of(v) + p.bytes[p.root(v)]);
            }
        }
    }
    CHECK(sound > 200);
    CHECK(racing > 200);
}

TEST_CASE("a chain of 100 000 steps has no race, unless a single wait is missing")
{
    // Four values deep: s reads s - 1 and s - 4, and reuses the bytes of s - 5.
    std::uint32_t const n = 100'000;
    snapshot const program = sequence(n, n, [](step_id s, effect_sink& sink) {
        if (s >= 1) sink.use(s - 1);
        if (s >= 4) sink.use(s - 4);
        sink.def(+s);
    });
    plan_options const options{.bytes = 64};
    std::vector<byte_count> offsets;
    table<position_id, step_id> order;
    waits list;
    for (step_id s = 0; s != n; ++s) {
        offsets.push_back(s % 6 * 64);
        order.push_back(s);
        if (s >= 1) list.push_back({s - 1, +s});
    }
    memory_plan const plan = placed(offsets, 64, 6 * 64);
    rows const after = rows_of(n, list);
    CHECK(check_waits(program, options, &plan, order, after));
    list.erase(list.begin() + 70'000);
    CHECK(!check_waits(program, options, &plan, order, rows_of(n, list)));
}

} // namespace this_test
