// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution.hpp>
#include <sublet/plan_nested.hpp>

#include "../operations.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using enum program_body::run_kind;
using word = std::uint64_t;

/// x = input, y = loop { b = 2 b + iteration }, y is the output; x is held to the end of the loop if it
/// `keeps` x.
struct doubling {
    explicit doubling(bool keeps = false)
        : tree(sequence(2, 2, [keeps](auto n, effect_sink& step) {
              if (n != 0) step.use(1);
              else if (keeps) step.use(0);
              else step.use_early(0);
          }))
    {
        snapshot const body = sequence(1, 2, [](auto, effect_sink& step) {
            step.use(0);
            step.def(1);
            step.may_overwrite(0, 1);
        });
        tree.add_body(0, 0, loop, body, {}, {{.inner = 0, .initial = 0, .next = 1, .result = 1}});
    }
    static plan_options options(program_id i)
    {
        if (i == 1) return {.bytes = 8, .alignment = 8};
        return {.bytes = 8, .alignment = 8, .role = std::vector{value_role::input, value_role::output}};
    }
    program_tree tree;
    static void kernel(nested_call const& call)
    {
        if (call.program == 0) return;
        word const b = as<word>(call.in(0))[0];
        as<word>(call.out(0))[0] = 2 * b + call.iteration;
    }
};

} // namespace

TEST_CASE("a loop runs as often as it is told, in the arena and without a plan, and again")
{
    for (bool const keeps : {false, true}) {
        doubling const d(keeps);
        auto const planned = plan_nested(d.tree, doubling::options);
        REQUIRE(planned);
        word times = 0;
        auto choose = [&times, keeps](nested_choice const& choice) {
            CHECK(choice.program == 0);
            CHECK(choice.step == 0);
            CHECK(choice.body == 1);
            CHECK(choice.alternatives == 2);
            if (keeps) CHECK(as<word>(choice.in(0))[0] == 5);
            else CHECK_THROWS_AS(static_cast<void>(choice.in(0)), precondition_error);
            CHECK_THROWS_AS(static_cast<void>(choice.in(1)), precondition_error);
            return choice.iteration < times;
        };
        nested_executor execute{d.tree,         doubling::options,
                                arena{planned}, &doubling::kernel,
                                choose,         {.check = executor_options::checks::digest}};
        nested_executor apart{d.tree, doubling::options, no_plan{}, &doubling::kernel, choose};
        for (times = 0; times != 4; ++times) {
            as<word>(execute.input(0))[0] = 5;
            as<word>(apart.input(0))[0] = 5;
            run_report const report = execute.run();
            word const expected[] = {5, 10, 21, 44};
            CHECK(as<word>(execute.output(1))[0] == expected[times]);
            CHECK(report.steps == times + 2);
            CHECK(report.copies == (keeps ? 1 : 0));
            CHECK(report.reserved == (keeps ? 16 : 8));
            CHECK(apart.run().copies == times + 2);
            CHECK(as<word>(apart.output(1))[0] == expected[times]);
        }
    }
}

TEST_CASE("adjacent branches are one choice, which reads the operands of its step, early ones too")
{
    program_tree tree(sequence(1, 2, [](auto, effect_sink& step) {
        step.use_early(0);
        step.def(1);
    }));
    snapshot const arm = op_list(1, {{}}, {{0}});
    for (int i = 0; i != 3; ++i) tree.add_body(0, 0, branch, arm, {}, {{.inner = 0, .result = 1}});
    auto options = [](program_id i) -> plan_options {
        if (i != 0) return {.bytes = 8, .alignment = 8};
        return {.bytes = 8, .alignment = 8, .role = std::vector{value_role::input, value_role::output}};
    };
    auto const planned = plan_nested(tree, options);
    auto kernel = [](nested_call const& call) {
        if (call.part == flat_tree::part::whole) as<word>(call.out(0))[0] = call.program;
        else CHECK(call.defs().empty());
    };
    auto choose = [](nested_choice const& choice) { return as<word>(choice.in(0))[0]; };
    nested_executor execute{tree,   options, arena{planned},
                            kernel, choose,  {.check = executor_options::checks::digest}};
    for (word arm_taken = 0; arm_taken != 3; ++arm_taken) {
        as<word>(execute.input(0))[0] = arm_taken;
        execute.run();
        CHECK(as<word>(execute.output(1))[0] == arm_taken + 1);
    }
    as<word>(execute.input(0))[0] = 3;
    CHECK_THROWS_WITH_AS(execute.run(),
                         "sublet: at step 0 of program 0 way 3 is chosen, but there are only 3 of them",
                         precondition_error);
}

TEST_CASE("a value of a body that is the caller's is bound by program and value, and missed before a run")
{
    program_tree tree(op_list(0, {{}}, {{}}));
    tree.add_body(0, 0, once, op_list(1, {{0}}, {{}}));
    auto options = [](program_id) -> plan_options {
        return {.bytes = 8, .role = [](auto) { return value_role::external; }};
    };
    auto const planned = plan_nested(tree, options);
    word seen = 0;
    auto kernel = [&seen](nested_call const& call) {
        if (call.program == 1) seen = as<word>(call.in(0))[0];
    };
    auto choose = [](nested_choice const&) { return 0; };
    nested_executor execute{tree, options, arena{planned}, kernel, choose};
    CHECK_THROWS_AS(execute.run(), unusable_value);
    CHECK_THROWS_AS(static_cast<void>(execute.input(0)), precondition_error);
    CHECK_THROWS_AS(execute.bind(tree_value{1, 1}, std::span<std::byte>()), precondition_error);
    CHECK_THROWS_AS(execute.bind(tree_value{2, 0}, std::span<std::byte>()), precondition_error);
    word const mine[] = {42};
    auto const bytes = std::as_bytes(std::span(mine));
    execute.bind(tree_value{1, 0}, bytes);
    execute.run();
    CHECK(seen == 42);
}

TEST_CASE("a buffer that a loop fills is made by the kernel at the beginning of its step")
{
    program_tree tree(op_list(1, {{}, {0}}, {{0}, {}}));
    tree.add_body(0, 0, loop, op_list(1, {{0}}, {{}}), {{.inner = 0, .outer = 0}});
    auto options = [](program_id) { return plan_options{.bytes = 8}; };
    std::vector<std::string> calls;
    auto kernel = [&calls](nested_call const& call) {
        char const* const part[] = {"whole", "beginning", "end"};
        calls.push_back(std::string(part[static_cast<int>(call.part)]) + std::to_string(call.uses().size()) +
                        std::to_string(call.defs().size()) + std::to_string(call.iteration));
    };
    auto choose = [](nested_choice const& choice) { return choice.iteration != 2; };
    nested_executor execute{tree, options, arena{plan_nested(tree, options)}, kernel, choose};
    execute.run();
    CHECK(calls == std::vector<std::string>{"beginning010", "whole100", "whole101", "end000", "whole100"});
}

TEST_CASE("a kernel that throws ends the run with its flat step, and the executor runs again")
{
    doubling const d;
    bool throws = true;
    auto kernel = [&throws](nested_call const& call) {
        if (throws && call.program == 1) throw std::runtime_error("broken");
        doubling::kernel(call);
    };
    auto choose = [](nested_choice const& choice) { return choice.iteration == 0; };
    nested_executor execute{d.tree, doubling::options, arena{plan_nested(d.tree, doubling::options)}, kernel,
                            choose};
    as<word>(execute.input(0))[0] = 5;
    step_id at = no_step;
    try {
        execute.run();
    } catch (run_error const& e) {
        at = e.step();
    }
    REQUIRE(at != no_step);
    CHECK(execute.flat().step_of[at].program == 1);
    CHECK(execute.flat().step_of[at].step == 0);
    throws = false;
    as<word>(execute.input(0))[0] = 5;
    execute.run();
    CHECK(as<word>(execute.output(1))[0] == 10);
}

TEST_CASE("a plan that is not sound, or of another tree, is refused before a run; its addresses at any level")
{
    doubling const d(true);
    auto const planned = plan_nested(d.tree, doubling::options);
    auto choose = [](nested_choice const&) { return 1; };
    auto make = [&](memory_plan const& plan, executor_options const& how) {
        nested_executor const execute{d.tree, doubling::options, arena{plan}, &doubling::kernel, choose, how};
    };
    memory_plan wrong = planned.plan;
    for (auto& b : wrong.buffers) b.offset = 0;
    CHECK_THROWS_AS(make(wrong, {}), unsound_plan);
    CHECK_NOTHROW(make(wrong, {.prove = false}));
    wrong.buffers[0].offset = 1000;
    CHECK_THROWS_AS(make(wrong, {.check = executor_options::checks::off}), unsound_plan);
    CHECK_THROWS_AS(make({}, {}), unsound_plan);
}

TEST_CASE("a tree of one program with control flow runs: what follows a node is a choice, too")
{
    // 0 leads to 1, which leads to itself or to 2.
    snapshot const p = flow(
        3, 1,
        [](node_id n) { return n == 1   ? std::vector{1, 2}
                               : n == 0 ? std::vector{1}
                                        : std::vector<int>{}; },
        [](node_id n, effect_sink& step) {
            if (n == 0) step.def(0);
            else step.use(0);
        });
    program_tree const tree(p);
    auto options = [](program_id) { return plan_options{.bytes = 8}; };
    std::size_t asked = 0;
    auto kernel = [](nested_call const& call) {
        if (call.step == 0) as<word>(call.out(0))[0] = 7;
    };
    auto choose = [&asked](nested_choice const& choice) {
        CHECK(choice.body == 0);
        CHECK(choice.step == 1);
        CHECK(as<word>(choice.in(0))[0] == 7);
        return ++asked == 4 ? 1 : 0;
    };
    nested_executor execute{tree,   options, arena{plan_nested(tree, options)},
                            kernel, choose,  {.check = executor_options::checks::digest}};
    CHECK(execute.run().steps == 6);
}

TEST_CASE("an inner loop counts from 0 in each iteration of the outer one")
{
    program_tree tree(op_list(0, {{}}, {{}}));
    tree.add_body(0, 0, loop, op_list(0, {{}}, {{}}));
    tree.add_body(1, 0, loop, op_list(0, {{}}, {{}}));
    auto options = [](program_id) { return plan_options{.bytes = 8}; };
    std::string counts;
    auto kernel = [&counts](nested_call const& call) {
        if (call.program == 2) counts += std::to_string(call.iteration);
    };
    auto choose = [](nested_choice const& choice) { return choice.iteration != 2; };
    nested_executor execute{tree, options, no_plan{}, kernel, choose};
    execute.run();
    CHECK(counts == "0101");
}

} // namespace this_test
