// SPDX-License-Identifier: BSL-1.0
#include <sublet/planning/planned_memory.hpp>

#include <sublet/advise_memory.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>

#include "affine_bytes.hpp"
#include "printed.hpp"
#include "random_source.hpp"
#include "random_tasks.hpp"
#include "rounds.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

TEST_CASE("the report names the reading of its bound: one order, or every schedule")
{
    plan_report report;
    report.naive_bytes = 4096;
    report.arena_bytes = 2048;
    report.lower_bound_bytes = 1024;
    std::ostringstream in_order, concurrently;
    in_order << report;
    CHECK(in_order.str() == "2 KiB instead of 4 KiB; no plan in this order goes below 1 KiB");
    report.reading = program_reading::concurrent;
    concurrently << report;
    CHECK(concurrently.str() == "2 KiB instead of 4 KiB; no plan for every schedule goes below 1 KiB");
    report.is_scheduled = true;
    std::ostringstream in_schedule;
    in_schedule << report;
    CHECK(in_schedule.str() == "2 KiB instead of 4 KiB; no plan in this schedule goes below 1 KiB");
    CHECK(report.gap() == 1);
}

TEST_CASE("without a plan, the report says why")
{
    plan_report report;
    report.refute(counterexample{fault::unplaced, counterexample::place{.value = 3}});
    std::ostringstream out;
    out << report;
    CHECK(out.str() == "no plan: value 3 needs storage and has none");
}

TEST_CASE("a result lists the values with an offset, unless there is no plan")
{
    planned_memory planned;
    planned.plan.buffers = {{.root = 1, .size = 8, .pool = 1, .offset = 16}};
    planned.plan.buffer_of = {no_buffer, 0, 0};
    planned.plan.arena_bytes = {0, 24};
    static_assert(std::forward_iterator<planned_memory::iterator>);
    auto const listed = [&] {
        std::vector<planned_memory::placed_value> list;
        for (auto placed : planned) list.push_back(placed);
        return list;
    };
    CHECK(planned);
    CHECK(listed() == std::vector<planned_memory::placed_value>{{1, 1, 16}, {2, 1, 16}});
    CHECK(planned.bytes() == 0);
    CHECK(planned.bytes(1) == 24);
    CHECK(planned.bytes(2) == 0);
    CHECK_THROWS_AS(static_cast<void>(planned.error()), precondition_error);
    planned.figures.refute(counterexample{fault::unplaced, counterexample::place{.value = 2}});
    CHECK(!planned);
    CHECK(planned.error().value() == 2);
    CHECK(listed().empty());
    CHECK(planned.bytes(1) == 0);
}

namespace {

/// What every result offers, in text.
template <class Plan>
std::string use(Plan const& planned)
{
    std::ostringstream out;
    if (!planned) {
        out << planned.error();
        std::string const why = "no plan: " + out.str();
        CHECK(printed(planned) == why);
        CHECK(printed(planned.report()) == why);
        CHECK(planned.begin() == planned.end());
        return why;
    }
    std::size_t values = 0;
    for (auto [value, pool, offset] : planned) values += pool == 0;
    out << planned.report() << "; " << planned.bytes() << ' ' << planned.bytes(1) << "; " << values
        << " values";
    CHECK(printed(planned) == printed(planned.report()));
    return out.str();
}

} // namespace

TEST_CASE("one generic function uses the result of every planner, with a plan and without")
{
    // 0: def a; 1: use a, def b; 2: use b, def c
    auto const chain = [](std::vector<std::vector<value_id>> uses) {
        return sequence(3, 3, [uses](step_id s, effect_sink& sink) {
            for (value_id v : uses[s]) sink.use(v);
            sink.def(+s);
        });
    };
    snapshot const good = chain({{}, {0}, {1}}), bad = chain({{2}, {0}, {1}});
    plan_options const options{.bytes = 64};
    auto const in_order = "128 B instead of 192 B; no plan in this order goes below 128 B; 128 0; 3 values";
    auto const is_undefined = "no plan: value 2 is used at position 0, listed before step 2, which makes it";
    CHECK(use(plan_memory(good, options)) == in_order);
    CHECK(use(plan_memory(bad, options)) == is_undefined);
    CHECK(use(advise_memory(good, options)) == in_order);
    CHECK(use(advise_memory(bad, options)) == is_undefined);
    auto const on_paths = "128 B instead of 192 B; no plan for every path goes below 128 B; 128 0; 3 values";
    CHECK(use(plan_flow(good, options)) == on_paths);
    CHECK(use(plan_flow(good, {.bytes = 64, .effort = effort::fast})) == on_paths);
    CHECK(use(plan_flow(bad, options)) == is_undefined);
    CHECK(use(plan_nested(program_tree(good), std::vector{options})) == on_paths);
    CHECK(use(plan_nested(program_tree(bad), std::vector{options})) ==
          is_undefined + std::string("; 2 is value 2 of program 0"));
    auto const at_once =
        "128 B instead of 192 B; no plan for every schedule goes below 128 B; 128 0; 3 values";
    auto const is_cyclic =
        "no plan: step 2 waits for itself: the order has a cycle: step 0 before 1 before 2 before 0";
    CHECK(use(plan_concurrent(good, options)) == at_once);
    CHECK(use(plan_concurrent(bad, options)) == is_cyclic);
    CHECK(use(plan_with_handoffs(good, options)) == at_once);
    CHECK(use(plan_with_handoffs(bad, options)) == is_cyclic);
    symbolic_options const any_batch{.bytes = affine_bytes{0, 64}, .dims = batches(4)};
    CHECK(use(plan_symbolic(good, any_batch)) ==
          "128*N bytes instead of 192*N, for N from 1 to 4; 512 0; 3 values");
    CHECK(use(plan_symbolic(bad, any_batch)) ==
          "no plan: value 2 is used at position 0, listed before step 2, which makes it");
}

namespace {

/// Calls `use(name, planned)` with the result of each planner for a program of steps that run one by one.
template <class Use>
void for_each_planner(snapshot const& p, plan_options const& options, Use use)
{
    use("plan_memory", plan_memory(p, options));
    use("advise_memory", advise_memory(p, options));
    use("plan_flow", plan_flow(p, options));
    use("plan_nested", plan_nested(program_tree(p), std::vector{options}));
    use("plan_concurrent", plan_concurrent(p, options));
    use("plan_concurrent, slots",
        plan_concurrent(p, options, {.strategy = concurrent_options::strategy_kind::slots}));
    use("plan_with_handoffs", plan_with_handoffs(p, options));
}

} // namespace

TEST_CASE("each planner fills each field of its result")
{
    // 0: def a; 1: use a, def b over a; 2: use b, def c; 3: use c, def d
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        sink.def(+s);
        if (s == 1) sink.may_overwrite(0, 1);
    });
    plan_options const options{.bytes = std::vector<byte_count>{8, 8, 16, 8},
                               .pools = {{.largest_block = 24}}};
    for_each_planner(p, options, [](char const* name, planned_memory const& planned) {
        CAPTURE(std::string(name));
        auto const& [plan, figures, in_place] = planned;
        bool const has_order = plan.valid_for != program_reading::concurrent;
        auto check_bytes = [&](pool_report const& r) {
            auto const [naive, bound, arena, peak_position] = r;
            CHECK(naive == 32);
            CHECK(bound == 24);
            CHECK(arena == 24);
            CHECK(peak_position == (has_order ? 2 : 0));
        };
        check_bytes(figures);
        REQUIRE(figures.pools.size() == 1);
        check_bytes(figures.pools[0]);
        CHECK(figures.reading == plan.valid_for);
        CHECK(!figures.is_scheduled);
        CHECK(figures.steps == 4);
        CHECK(figures.values == 4);
        CHECK(figures.buffers == 3);
        CHECK(figures.largest == std::vector<value_id>{2, 0, 3});
        CHECK(!figures.is_cut_short);
        CHECK(figures.is_checked);
        CHECK(figures);
        CHECK(plan.buffers.size() == 3);
        CHECK(plan.buffer_of == std::vector<buffer_id>{0, 0, 1, 2});
        CHECK(plan.arena_bytes == std::vector<byte_count>{24});
        CHECK(plan.blocks == std::vector<memory_plan::block>{{0, 0, 24}});
        REQUIRE(in_place.size() == 1);
        CHECK(static_cast<memory_plan::in_place_pair const&>(in_place[0]) ==
              memory_plan::in_place_pair{1, 0, 1, 8});
        bool const has_peak = plan.valid_for == program_reading::sequential;
        CHECK(in_place[0].peak_bytes == (has_peak ? 0 : no_size));
        CHECK(in_place[0].step_peak_bytes == (has_peak ? 0 : no_size));
    });
}

TEST_CASE("without a step what is given keeps its bytes, and an output is missing")
{
    for (unsigned roles = 0; roles != 16; ++roles) {
        CAPTURE(roles);
        std::vector<value_role> const role{value_role(roles % 4), value_role(roles / 4)};
        std::vector<byte_count> const bytes{8, 16};
        byte_count given = 0;
        value_id missing = no_value;
        for (value_id v : {1u, 0u}) {
            bool const is_given = has_role(role[v], value_role::input);
            if (is_given) given += bytes[v];
            else if (has_role(role[v], value_role::output)) missing = v;
        }
        snapshot const p = sequence(0, 2, [](step_id, effect_sink&) {});
        for (byte_count capacity : {no_limit, byte_count{9}, byte_count{1}})
            for_each_planner(p, {.bytes = bytes, .role = role, .pools = {{.capacity = capacity}}},
                             [&](char const* name, planned_memory const& planned) {
                                 CAPTURE(std::string(name));
                                 CHECK(bool(planned) == (missing == no_value && given <= capacity));
                                 if (planned) {
                                     CHECK(planned.bytes() == given);
                                     CHECK(planned.report().lower_bound_bytes == given);
                                 } else if (missing != no_value) {
                                     CHECK(planned.error().what == fault::used_undefined);
                                     CHECK(planned.error().value() == missing);
                                 } else CHECK(planned.error().what == fault::over_capacity);
                             });
    }
}

TEST_CASE("a root fits a block of its size, wherever its views begin")
{
    // 0: def r; 1: use r, view v of its last byte; 2: use v
    snapshot const p = sequence(3, 2, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        else sink.use(s - 1);
        if (s == 1) sink.view(1);
    });
    for (byte_count largest : {6u, 7u, 12u, 13u, 24u}) {
        CAPTURE(largest);
        plan_options const options{.bytes = std::vector<byte_count>{7, 1},
                                   .alias_of = std::vector<value_id>{no_value, 0},
                                   .view_offset = std::vector<byte_count>{0, 6},
                                   .pools = {{.largest_block = largest}}};
        for_each_planner(p, options, [&](char const* name, planned_memory const& planned) {
            CAPTURE(std::string(name));
            CHECK(bool(planned) == (largest >= 7));
            if (planned) CHECK(planned.bytes() == 7);
            else CHECK(planned.error().what == fault::over_block);
        });
    }
}

TEST_CASE("every planner takes an effort: any is valid, and balanced is the default")
{
    std::size_t fast_is_higher = 0;
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(40)});
        snapshot const p = tasks.program();
        auto const bytes_with = [&](auto plan) {
            std::vector<byte_count> bytes;
            for (effort work : {effort(effort::balanced), effort(effort::fast), effort(1), effort(1000)}) {
                plan_options options = tasks.options();
                options.effort = work;
                auto const planned = plan(options);
                REQUIRE(planned);
                CHECK(planned.report().is_checked);
                if (work == effort::balanced) CHECK(planned.plan == plan(tasks.options()).plan);
                bytes.push_back(planned.bytes());
            }
            CHECK(bytes[0] <= bytes[1]);
            fast_is_higher += bytes[0] < bytes[1];
        };
        std::vector<node_id> const order = sublet::order(p, tasks.options()).order;
        bytes_with([&](plan_options options) { return options.order = order, plan_memory(p, options); });
        bytes_with([&](plan_options const& options) { return plan_concurrent(p, options); });
        for (effort work : {effort(effort::fast), effort(1)}) {
            plan_options options = tasks.options();
            options.effort = work;
            CHECK(plan_with_handoffs(p, options));
            CHECK(sublet::order(p, options).order.size() == p.nodes());
        }
    }
    CHECK(fast_is_higher != 0);
}

TEST_CASE("each planner chooses pools and divides them into blocks that no buffer leaves")
{
    unsigned found[4] = {}, divided[4] = {}, chosen[4] = {}, with_handoffs = 0;
    for (std::uint32_t seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 2 + pick.below(20), .pools = 2, .alignments = 1 + pick.below(8), .in_place = 30});
        random_tasks chain = tasks; // for plan_flow: one after another
        for (random_tasks::task& task : chain.tasks) task.next.clear();
        for (node_id n = 1; n < chain.tasks.size(); ++n) chain.tasks[n - 1].next = {n};
        plan_options options = tasks.options();
        options.pools = {{.capacity = 64 + 8 * pick.below(40), .largest_block = 64 + 8 * pick.below(8)},
                         {.largest_block = 64 + 8 * pick.below(8)}};
        for (value_id v = 0; v != tasks.values(); ++v)
            if (pick.below(4) != 0)
                for (pool_id pool : {0u, 1u}) options.pool_choices.push_back({v, pool, pool * pick.below(9)});
        auto check = [&](unsigned planner, planned_memory const& planned) {
            CAPTURE(planner);
            if (!planned) {
                CHECK(planned.error().what ==
                      fault::over_capacity); // of values without a choice, or by bad luck
                return;
            }
            ++found[planner];
            CHECK(planned.report().is_checked);
            memory_plan const& plan = planned.plan;
            for (memory_plan::block const& b : plan.blocks)
                CHECK(b.size <= options.pools[b.pool].largest_block);
            for (memory_plan::placed_buffer const& b : plan.buffers) {
                auto const [at, offset] = plan.block_of(b.root);
                REQUIRE(at < plan.blocks.size());
                CHECK(plan.blocks[at].pool == b.pool);
                CHECK(offset + b.size <= plan.blocks[at].size);
                chosen[planner] += b.pool != tasks.pool[b.root];
            }
            for (std::size_t i = 1; i < plan.blocks.size(); ++i)
                divided[planner] += plan.blocks[i].pool == plan.blocks[i - 1].pool;
        };
        check(0, plan_memory(tasks.program(), options));
        check(1, plan_concurrent(tasks.program(), options));
        planned_with_handoffs const waits = plan_with_handoffs(tasks.program(), options);
        with_handoffs += waits && !waits.plan.handoffs.empty();
        check(2, waits);
        check(3, plan_flow(chain.program(), options));
    }
    for (unsigned planner : {0u, 1u, 2u, 3u}) {
        CAPTURE(planner);
        CHECK(divided[planner] > rounds(10));
        CHECK(chosen[planner] > rounds(50));
        CHECK(found[planner] > rounds(80));
    }
    CHECK(with_handoffs > rounds(5));
}

TEST_CASE("no plan in one order that the checker accepts is below the bound, in place or not")
{
    std::size_t tried = 0, reached = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 2 + pick.below(3), .in_place = 50});
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        std::vector<byte_count> bytes;
        for (std::size_t v = 0; v != p.values(); ++v) bytes.push_back(1 + pick.below(3));
        options.bytes = bytes;
        plan_options apart = options;
        apart.in_place = false;
        auto check = [&](auto planner, auto checker) {
            planned_memory const planned = planner(options), alone = planner(apart);
            bool const is_small = planned.report().pools.size() == 1 && alone.plan.buffers.size() <= 5;
            if (!planned || !alone || !is_small) return;
            reached += planned.bytes() == planned.report().lower_bound_bytes;
            byte_count const height = planned.report().lower_bound_bytes;
            memory_plan plan = alone.plan;
            if (height < 2) return;
            plan.arena_bytes[0] = height - 1;
            byte_count combinations = 1;
            for (memory_plan::placed_buffer const& b : plan.buffers)
                combinations *= b.size < height ? height - b.size : 0;
            if (combinations > 4000) return;
            for (byte_count code = 0; code != combinations; ++code) {
                byte_count rest = code;
                for (memory_plan::placed_buffer& b : plan.buffers) {
                    b.offset = rest % (height - b.size);
                    rest /= height - b.size;
                }
                ++tried;
                REQUIRE(checker(plan));
            }
        };
        check([&](plan_options const& o) { return plan_memory(p, o); },
              [&](memory_plan const& plan) { return !check_plan(p, plan, options); });
    }
    MESSAGE(tried, " plans refused, ", reached, " plans as low as the bound");
    CHECK(tried > rounds(1000));
    CHECK(reached > rounds(100));
}

TEST_CASE("a result without a plan still has none after it was moved from")
{
    auto const reads_nothing = sequence(1, 1, [](int, effect_sink& sink) { sink.use(0); });
    planned_memory from = plan_memory(reads_nothing, {.bytes = 8});
    REQUIRE(!from);
    planned_memory const to = std::move(from);
    CHECK(to.error().what == fault::used_undefined);
    CHECK(!from); // NOLINT(bugprone-use-after-move)
    CHECK(from.bytes() == 0);
    CHECK(from.begin() == from.end());
}

} // namespace this_test
