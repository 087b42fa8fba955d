// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/plan_concurrent.hpp>

#include "random_source.hpp"
#include "random_tasks.hpp"
#include "task_families.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <vector>

namespace this_test {

using namespace sublet;
using lists = std::vector<std::vector<value_id>>;

static snapshot listed(lists const& uses)
{
    return sequence(
        uses.size(), uses.size(), [&](step_id s) -> auto& { return uses[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
}

TEST_CASE("buffers that share in one order do not share if their branches run concurrently")
{
    // 0 -> 1 -> 2 and 0 -> 3 -> 4 meet in 5
    snapshot const p = listed({{}, {0}, {1}, {0}, {3}, {2, 4}});
    plan_options const options{.bytes = {8, 64, 8, 64, 8, 8}};
    auto const in_order = plan_memory(p, options);
    auto const at_once = plan_concurrent(p, options);
    CHECK(in_order.report().arena_bytes == 80);
    REQUIRE(at_once);
    CHECK(at_once.report().is_checked);
    CHECK(at_once.plan.valid_for == program_reading::concurrent);
    CHECK(at_once.antichain == std::vector<value_id>{0, 1, 2, 3, 4});
    CHECK(at_once.report().lower_bound_bytes == 152);
    CHECK(at_once.report().arena_bytes == 152);
    CHECK(at_once.is_bound_exact);
    auto claimed = in_order.plan;
    claimed.valid_for = program_reading::concurrent;
    CHECK(check_concurrent_plan(p, claimed, options).error().what == fault::overwritten);
}

TEST_CASE("a program without a concurrent reading is refused with a counterexample")
{
    auto fact = [](lists const& uses, lists const& defs, std::size_t values) {
        auto const planned =
            plan_concurrent(sequence(
                                uses.size(), values, [&](step_id s) -> auto& { return uses[s]; },
                                [&](step_id s) -> auto& { return defs[s]; }),
                            {.bytes = 8});
        REQUIRE(!planned);
        CHECK(!planned);
        return planned.error();
    };
    CHECK(fact({{}, {}}, {{0}, {0}}, 1).what == fault::several_defs);
    CHECK(fact({{0}}, {{}}, 1).what == fault::used_undefined);
    CHECK(fact({{1}, {0}}, {{0}, {1}}, 2).what == fault::cycle);
}

TEST_CASE("conflicting pins, capacities and pools are handled as in a plan for one order")
{
    snapshot const p = listed({{}, {0}});
    auto const clash = plan_concurrent(p, {.bytes = 8, .pinned = byte_count{0}});
    REQUIRE(!clash);
    CHECK(clash.error().what == fault::clash);
    auto const full = plan_concurrent(p, {.bytes = 8, .pools = {{.capacity = 15}}});
    REQUIRE(!full);
    CHECK(full.error().what == fault::over_capacity);
    REQUIRE(full.error().as<counterexample::place>() != nullptr);
    CHECK(full.error().as<counterexample::place>()->end == 16);
    auto const apart = plan_concurrent(p, {.bytes = 8, .pool = {0, 1}});
    REQUIRE(apart);
    CHECK(apart.plan.arena_bytes == std::vector<byte_count>{8, 8});
    CHECK(apart.report().lower_bound_bytes == 16);
}

TEST_CASE("unsized values are listed, external ones are not planned, the empty program is accepted")
{
    snapshot const p = listed({{}, {0}, {1}});
    auto const planned =
        plan_concurrent(p, {.bytes = std::vector<byte_count>{no_size, 8, 8},
                            .role = std::vector{value_role{}, value_role{}, value_role::output}});
    CHECK(planned);
    CHECK(planned.plan.unsized == std::vector<value_id>{0});
    CHECK(planned.report().arena_bytes == 16);
    CHECK(plan_concurrent(snapshot{}, {.bytes = 8}));
    CHECK(plan_concurrent(listed({{}}), {.bytes = 0}).report().arena_bytes == 0);
}

TEST_CASE("a hand-off that the execution keeps allows more sharing")
{
    snapshot const p = listed({{}, {0}, {}, {2}}); // two independent chains
    CHECK(plan_concurrent(p, {.bytes = 8}).report().arena_bytes == 32);
    auto const planned = plan_concurrent(p, {.bytes = 8}, {.handoffs = {{1, 2}}});
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == 16);
    CHECK(planned.plan.handoffs == std::vector<handoff>{{1, 2}});
}

TEST_CASE("random programs get valid plans, never above slots, and the bound is proved")
{
    for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(25),
                                                     .views = 20,
                                                     .pools = 2,
                                                     .alignments = 3,
                                                     .in_place = seed % 2 == 0 ? 30u : 0u,
                                                     .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        auto const offsets = plan_concurrent(tasks.program(), tasks.options());
        auto const slots = plan_concurrent(tasks.program(), tasks.options(),
                                           {.strategy = concurrent_options::strategy_kind::slots});
        REQUIRE(offsets);
        REQUIRE(slots);
        REQUIRE(offsets.report().arena_bytes <= slots.report().arena_bytes);
        REQUIRE(offsets.report().arena_bytes >= offsets.report().lower_bound_bytes);
        byte_count sum = 0;
        for (value_id a : offsets.antichain) {
            sum += offsets.plan.buffers[offsets.plan.buffer_of[a]].size;
            for (value_id b : offsets.antichain)
                if (seed % 2 == 1 && tasks.pool[a] == tasks.pool[b]) REQUIRE(!rule.reusable_by(a, b));
        }
        REQUIRE(sum == offsets.report().lower_bound_bytes);
        REQUIRE(!offsets.report().is_cut_short);
    }
}

TEST_CASE("no plan of a few tasks that the checker accepts is below the bound, whichever pairs it takes")
{
    std::size_t refused = 0, reached = 0, with_pairs = 0;
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(pick, {.tasks = 2 + pick.below(4), .operands = 2, .in_place = 90});
        for (byte_count& b : tasks.bytes) b = 1 + pick.below(3);
        plan_options options = tasks.options();
        options.bytes = tasks.bytes;
        auto const planned = plan_concurrent(tasks.program(), options);
        plan_options apart = options;
        apart.in_place = false;
        memory_plan plan = plan_concurrent(tasks.program(), apart).plan; // each root has a buffer of its own
        REQUIRE(planned);
        byte_count const bound = planned.report().lower_bound_bytes;
        REQUIRE(bound <= planned.bytes());
        if (bound < 2) continue;
        plan.arena_bytes[0] = bound - 1;
        byte_count combinations = 1; // none if a buffer is as large as the bound
        for (memory_plan::placed_buffer& b : plan.buffers) {
            b.offset = 0;
            combinations *= bound - detail::smaller(b.size, bound);
        }
        if (combinations > 2000) continue;
        for (std::size_t next = 0; combinations != 0 && next != plan.buffers.size();) {
            REQUIRE(!check_concurrent_plan(tasks.program(), plan, options));
            ++refused;
            for (next = 0; next != plan.buffers.size(); ++next) { // the next combination of offsets
                memory_plan::placed_buffer& b = plan.buffers[next];
                if (++b.offset + b.size < bound) break;
                b.offset = 0;
            }
        }
        reached += planned.bytes() == bound;
        with_pairs += !planned.in_place.empty();
    }
    CHECK(refused > rounds(400));
    CHECK(reached > rounds(400) / 4);
    CHECK(with_pairs != 0);
}

TEST_CASE("a plan with a spent budget is valid, no higher than slots, and marked as cut short")
{
    std::size_t cut_short = 0, higher = 0;
    for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(300), .views = 20});
        auto const planned = plan_concurrent(tasks.program(), tasks.options());
        for (std::uint64_t visits : {1u, 30u, 300u}) {
            plan_options options = tasks.options();
            options.effort = visits;
            auto const budgeted = plan_concurrent(tasks.program(), options);
            auto const slots = plan_concurrent(tasks.program(), options,
                                               {.strategy = concurrent_options::strategy_kind::slots});
            REQUIRE(budgeted);
            REQUIRE(budgeted.report().lower_bound_bytes == planned.report().lower_bound_bytes);
            REQUIRE(budgeted.report().arena_bytes <= slots.report().arena_bytes);
            if (budgeted.report().arena_bytes > planned.report().arena_bytes)
                REQUIRE(budgeted.report().is_cut_short);
            if (budgeted.report().arena_bytes == budgeted.report().lower_bound_bytes)
                REQUIRE(!budgeted.report().is_cut_short);
            cut_short += budgeted.report().is_cut_short;
            higher += budgeted.report().arena_bytes > planned.report().arena_bytes;
        }
    }
    CHECK(cut_short > rounds(10));
    CHECK(higher > rounds(10));
}

TEST_CASE("a chain of steps with one step beside it takes the bytes of the bound")
{
    listing<char> list;
    auto facts = [](byte_count bytes) { return listing<char>::value_facts{.bytes = bytes}; };
    auto last = list.step();
    last.make('a', facts(1013));
    auto next = [&]() -> auto& {
        auto const before = last;
        last = list.step();
        return last.wait_for(before);
    };
    next().read('a').make('b', facts(507));
    next().make('c', facts(225));
    next().make('d', facts(225));
    next().read('b');
    list.step().make('x', facts(1)); // the other queue
    next().make('e', facts(1013)).make('p', facts(32)).make('q', facts(32));
    next().read('c').read('x').make('r', facts(1));
    next().read('d').make('s', facts(1013));
    auto const planned = plan_concurrent(list);
    REQUIRE(planned);
    CHECK(planned.report().lower_bound_bytes == 1528);
    CHECK(planned.report().arena_bytes == 1528);
}

TEST_CASE("the report says that a budget was spent")
{
    plan_report report;
    report.arena_bytes = report.naive_bytes = 16;
    report.reading = program_reading::concurrent;
    std::ostringstream whole, cut;
    whole << report;
    report.is_cut_short = true;
    cut << report;
    CHECK(cut.str() == whole.str() + "; the budget of work was spent before the search was over");
}

TEST_CASE("the same program and options give the same plan")
{
    task_family const family = draw_family("local", 300);
    plan_options const options{.bytes = family.bytes};
    CHECK(plan_concurrent(family.program(), options).plan == plan_concurrent(family.program(), options).plan);
}

} // namespace this_test
