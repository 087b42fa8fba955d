// SPDX-License-Identifier: BSL-1.0
// A plan for the largest shapes serves smaller ones; property/execution.cpp runs such plans.
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/fits.hpp>

#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include "../operations.hpp"
#include "../printed.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// 0: def a; 1: use a, def b; 2: use b, def c, perhaps over b; 3: use c
snapshot chain(bool in_place = false)
{
    std::vector<std::pair<value_id, value_id>> pairs;
    if (in_place) pairs = {{1, 2}};
    return program_of({{{}, {0}}, {{0}, {1}}, {{1}, {2}, pairs}, {{2}, {}}}, 3);
}
using sizes = std::vector<byte_count>;

/// The first tasks of a program; what they do not write is no output.
random_tasks prefix(random_tasks of, std::size_t tasks)
{
    std::vector<unsigned char> is_written(of.values(), 0);
    of.tasks.resize(tasks);
    for (auto& task : of.tasks) {
        for (value_id v : task.defs) is_written[v] = 1;
        task.next.erase(
            std::remove_if(task.next.begin(), task.next.end(), [tasks](node_id n) { return n >= tasks; }),
            task.next.end());
    }
    for (value_id v = 0; v != of.values(); ++v)
        if (is_written[v] == 0 && !detail::is_given(of.role[v])) of.role[v] = value_role::intermediate;
    return of;
}

} // namespace

TEST_CASE("a plan serves smaller sizes, and keeps its places and arenas")
{
    snapshot const p = chain();
    memory_plan const plan = plan_memory(p, {.bytes = sizes{64, 32, 64}}).plan;
    auto const fitted = fits(plan, p, {.bytes = sizes{16, 0, 8}});
    REQUIRE(fitted);
    CHECK(fitted.plan.arena_bytes == plan.arena_bytes);
    CHECK(fitted.plan.offset_of(0) == plan.offset_of(0));
    CHECK(fitted.plan.offset_of(1) == 0); // of no bytes
    CHECK(fitted.plan.offset_of(2) == plan.offset_of(2));
    CHECK(check_plan(p, fitted.plan, {.bytes = sizes{16, 0, 8}}));
    CHECK(check_plan(p, plan, {.bytes = sizes{16, 0, 8}}).error().what == fault::needless);
}

TEST_CASE("a plan serves fewer steps")
{
    memory_plan const plan = plan_memory(chain(), {.bytes = sizes{64, 32, 64}}).plan;
    snapshot const first_two = program_of({{{}, {0}}, {{0}, {1}}}, 2);
    auto const fitted = fits(plan, first_two, {.bytes = sizes{64, 32}});
    REQUIRE(fitted);
    CHECK(fitted.plan.buffers.size() == 2);
    CHECK(fitted.plan.offset_of(1) == plan.offset_of(1));
    CHECK(fits(plan, program_of({{{}, {1}}, {{1}, {2}}}, 3), {.bytes = sizes{64, 32, 64}}));
    CHECK(fits(plan, snapshot{}, {.bytes = sizes{}}));
    CHECK(fits(memory_plan{}, snapshot{}, {.bytes = sizes{}}));
}

TEST_CASE("what the plan has no room for is refused by name")
{
    snapshot const p = chain(true);
    sizes const bytes{64, 32, 32};
    plan_options const all{.bytes = bytes};
    memory_plan const plan = plan_memory(p, all).plan; // c is written over b
    REQUIRE(plan.offset_of(1) == plan.offset_of(2));
    REQUIRE(plan.offset_of(0) == 0);
    auto why = [&](snapshot const& program, plan_options const& options) {
        auto const fitted = fits(plan, program, options);
        return fitted ? std::string("it fits") : printed(fitted.error());
    };
    CHECK(why(p, all) == "it fits");
    CHECK(why(p, {.bytes = sizes{65, 32, 32}}) ==
          "values 0 and 1 are both alive at position 1 and share bytes [64, 65) of pool 0");
    CHECK(why(p, {.bytes = sizes{64, 33, 33}}) ==
          "value 1 occupies bytes [64, 97) of pool 0, an arena of only 96");
    CHECK(why(p, {.bytes = sizes{32, 16, 32}}) == // larger than its operand now
          "values 1 and 2 are both alive at position 2 and share bytes [64, 80) of pool 0");
    CHECK(why(chain(false), all) ==
          "values 1 and 2 are both alive at position 2 and share bytes [64, 96) of pool 0");
    CHECK(why(p, {.bytes = bytes, .in_place = false}) ==
          "values 1 and 2 are both alive at position 2 and share bytes [64, 96) of pool 0");
    CHECK(why(p, {.bytes = bytes, .alignment = 128}) ==
          "value 1 lies at offset 64 of pool 0, which is not a multiple of its alignment 128");
    CHECK(why(p, {.bytes = bytes, .pool = 1}) == "value 0 belongs to pool 1 and does not lie there");
    plan_options choice = all;
    choice.pool_choices = {{2, 1}};
    CHECK(why(p, choice) == "value 2 lies in pool 0, which is none of its choices");
    CHECK(why(p, {.bytes = bytes, .pools = {{.capacity = 95}}}) ==
          "the arena of pool 0 needs 96 bytes and its capacity is 95");
    CHECK(why(program_of({{{}, {0}}, {{0}, {3}}}, 4), {.bytes = sizes{64, 32, 32, 8}}) ==
          "value 3 needs storage and has none");
    CHECK(why(program_of({{{1}, {2}}}, 3), all) ==
          "value 1 is used at position 0 and never defined, and is neither input nor external");
    plan_options outside = all;
    outside.role = std::vector{value_role::external, value_role::intermediate, value_role::intermediate};
    CHECK(why(p, outside) == "value 0 has an offset, but the plan must not place it");
}

TEST_CASE("a value may be larger than planned if nothing else needs the bytes")
{
    snapshot const p = chain();
    memory_plan const plan = plan_memory(p, {.bytes = sizes{64, 32, 8}}).plan;
    REQUIRE(plan.offset_of(2) == 0);
    CHECK(fits(plan, p, {.bytes = sizes{64, 32, 64}}));
    CHECK(!fits(plan, p, {.bytes = sizes{64, 32, 65}}));
}

TEST_CASE("steps run in the order of the options, or in that of the plan without missing nodes")
{
    // 0: def a; 1: def b; 2: use b; 3: use a
    auto const operations = std::vector<operation>{{{}, {0}}, {{}, {1}}, {{1}, {}}, {{0}, {}}};
    auto program = [&](std::size_t nodes) {
        return program_of({operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(nodes)}, 2);
    };
    snapshot const loose = tasks(
        4, 2, [](node_id) { return std::array<node_id, 0>{}; },
        [&](node_id n, effect_sink& sink) {
            if (n < 2) sink.def(+n);
            else sink.use(3 - n);
        });
    plan_options options{.bytes = 8};
    options.order = {1, 2, 0, 3};
    memory_plan const plan = plan_memory(loose, options).plan;
    REQUIRE(plan.arena_bytes == sizes{8});
    options.order.clear();
    CHECK(fits(plan, loose, options).plan.order == plan.order);
    options.order = {1, 0, 2, 3};
    CHECK(fits(plan, loose, options).error().what == fault::clash);
    options.order = {0, 3, 1, 2};
    CHECK(fits(plan, loose, options));

    memory_plan in_order = plan_memory(program(3), {.bytes = 8}).plan;
    CHECK(fits(in_order, program(2), {.bytes = 8})); // a plan without an order is for any number of nodes
    in_order.order = {0, 1, 2};
    CHECK(fits(in_order, program(2), {.bytes = 8}).plan.order == std::vector<node_id>{0, 1});
    CHECK(fits(in_order, program(4), {.bytes = 8}).error().what == fault::foreign_plan);
    in_order.order = {0, 1, 1};
    CHECK(fits(in_order, program(2), {.bytes = 8}).error().what == fault::foreign_plan);
}

TEST_CASE("a view lies in its root where the program says")
{
    snapshot const p = program_of({{{}, {0}}, {{0}, {1}}, {{1}, {}}}, 2); // b is a part of a
    snapshot const viewing = tasks(
        3, 2, [](node_id n) { return n + 1 == 3 ? std::vector<node_id>{} : std::vector<node_id>{n + 1}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) sink.def(0);
            if (n == 1) sink.use(0), sink.view(1);
            if (n == 2) sink.use(1);
        });
    auto of = [](byte_count bytes) -> plan_options {
        return {.bytes = sizes{2 * bytes, bytes},
                .alias_of = std::vector<value_id>{no_value, 0},
                .view_offset = sizes{0, bytes}};
    };
    memory_plan const plan = plan_memory(viewing, of(32)).plan;
    REQUIRE(plan.offset_of(1) == 32);
    auto const fitted = fits(plan, viewing, of(8));
    REQUIRE(fitted);
    CHECK(fitted.plan.offset_of(1) == 8);
    CHECK(check_plan(viewing, plan, of(8)).error().what == fault::misplaced_view);
}

TEST_CASE("for the same program and sizes, it says what the checkers say")
{
    for (unsigned seed = first_seed(), end = seed + rounds(300); seed != end; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks drawn = draw_tasks(
            pick, {.tasks = 2 + pick.below(10), .views = 20, .pools = 2, .alignments = 4, .in_place = 40});
        snapshot const p = drawn.program();
        std::array const plans{plan_memory(p, drawn.options()).plan, plan_concurrent(p, drawn.options()).plan,
                               plan_with_handoffs(p, drawn.options()).plan,
                               plan_flow(p, drawn.options()).plan};
        for (byte_count& b : drawn.bytes)
            if (b != 0 && pick.below(4) == 0) b = 1 + pick.below(70);
        for (byte_count& a : drawn.alignment)
            if (pick.below(20) == 0) a = 1 + pick.below(8);
        plan_options const now = drawn.options();
        for (memory_plan const& plan : plans) {
            auto const said = plan.valid_for == program_reading::sequential ? check_plan(p, plan, now)
                              : plan.valid_for == program_reading::concurrent
                                  ? check_concurrent_plan(p, plan, now)
                                  : check_flow_plan(p, plan, now);
            if (!said && said.error().what == fault::foreign_plan) continue; // refused by the planner
            verdict const fitted = fits(plan, p, now);
            CHECK(fitted == said);
        }
    }
}

TEST_CASE("plans for every reading serve smaller sizes and fewer steps")
{
    for (unsigned seed = first_seed(), end = seed + rounds(300); seed != end; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks drawn = draw_tasks(
            pick, {.tasks = 2 + pick.below(10), .views = 20, .pools = 2, .alignments = 4, .in_place = 40});
        snapshot const whole = drawn.program();
        plan_options const all = drawn.options();
        std::array const planned{plan_memory(whole, all),
                                 static_cast<planned_memory>(plan_concurrent(whole, all)),
                                 static_cast<planned_memory>(plan_flow(whole, all))};
        random_tasks less = prefix(drawn, pick.below(static_cast<unsigned>(drawn.tasks.size()) + 1));
        byte_count const numerator = pick.below(9);
        for (byte_count& b : less.bytes) b = b * numerator / 8;
        snapshot const p = less.program();
        for (planned_memory const& one : planned) {
            if (!one) continue;
            auto const fitted = fits(one.plan, p, less.options());
            if (!fitted) FAIL_CHECK(printed(fitted.error()));
            for (value_id v = 0; v != p.values(); ++v)
                if (fitted.plan.buffer_of[v] != no_buffer)
                    CHECK(fitted.plan.offset_of(v) == one.plan.offset_of(v));
        }
    }
}

TEST_CASE("listings are joined by handle")
{
    auto list_of = [](byte_count bytes, bool other_numbers, bool has_more) {
        listing<std::string> list;
        if (other_numbers) list.facts("c", {.bytes = bytes / 2}), list.facts("b", {.bytes = bytes});
        list.step("first").make("a", {.bytes = bytes});
        list.step("second").read("a").make("b", {.bytes = bytes});
        list.step("third").read("b").make("c", {.bytes = bytes / 2});
        list.step("fourth").read("c");
        if (has_more) list.step("fifth").make("d", {.bytes = 8});
        return list;
    };
    auto const planned = plan_memory(list_of(64, false, false));
    auto const smaller = list_of(16, true, false);
    auto const fitted = fits(planned, smaller);
    REQUIRE(fitted);
    for (char const* h : {"a", "b", "c"}) {
        CHECK(fitted.offset_of(h) == planned.offset_of(h));
        CHECK(fitted.plan.offset_of(smaller.id(h)) == planned.offset_of(h));
    }
    CHECK(printed(fits(planned, list_of(16, true, true)).error()) == "value 'd' needs storage and has none");
    CHECK(!fits(planned, list_of(65, true, false)));
}

} // namespace this_test
