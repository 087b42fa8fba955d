// SPDX-License-Identifier: BSL-1.0

// A view of more bytes than its root would be accessed beyond its end: no function plans, proves or runs it.

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/execution.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// 0: a   1: b = view(a)   2: c = view(b)   3: d = f(c)
snapshot const views_of_views = tasks(
    4, 4, [](node_id n) { return n == 3 ? std::vector<node_id>{} : std::vector<node_id>{n + 1}; },
    [](node_id n, effect_sink& sink) {
        if (n != 0) sink.use(n - 1);
        if (n == 1 || n == 2) sink.view(+n);
        else sink.def(+n);
    });

plan_options options_with(byte_count root, byte_count view, byte_count view_of_view, bool check = true)
{
    return {.bytes = std::vector<byte_count>{root, view, view_of_view, 16},
            .role = std::vector{value_role::intermediate, value_role::intermediate, value_role::intermediate,
                                value_role::output},
            .alias_of = std::vector<value_id>{no_value, 0, 1, no_value},
            .check = check};
}

counterexample const too_large{fault::oversized_view,
                               counterexample::view{.value = 2, .other = 0, .end = 128, .needed = 64}};

void expect_refused(verdict const& valid)
{
    REQUIRE(!valid);
    counterexample why = valid.error();
    why.value_in_tree = why.other_in_tree = {}; // of a nested plan
    CHECK(why == too_large);
}

} // namespace

TEST_CASE("a view of more bytes than its root is rejected by every planner, with and without the check")
{
    for (bool check : {true, false}) {
        plan_options const options = options_with(64, 32, 128, check);
        expect_refused(plan_memory(views_of_views, options).report());
        expect_refused(plan_concurrent(views_of_views, options).report());
        expect_refused(plan_with_handoffs(views_of_views, options).report());
        expect_refused(plan_flow(views_of_views, options).report());
        expect_refused(plan_nested(program_tree(views_of_views), std::vector{options}).report());
        expect_refused(advise_memory(views_of_views, options).report());
    }
    CHECK_THROWS_AS((void)share_slots(views_of_views, options_with(64, 32, 128)), precondition_error);
}

TEST_CASE("the view and its root are reported, even if the class is written over another one")
{
    // 0: a   1: b over a   2: c = view(b), too large   3: d = f(c)
    snapshot const over = tasks(
        4, 4, [](node_id n) { return n == 3 ? std::vector<node_id>{} : std::vector<node_id>{n + 1}; },
        [](node_id n, effect_sink& sink) {
            if (n != 0) sink.use(n - 1);
            if (n == 2) sink.view(+n);
            else sink.def(+n);
            if (n == 1) sink.may_overwrite(0, 1);
        });
    for (bool check : {true, false}) {
        plan_options const options{.bytes = std::vector<byte_count>{64, 64, 65, 8},
                                   .alias_of = std::vector<value_id>{no_value, no_value, 1, no_value},
                                   .check = check};
        counterexample const fact{fault::oversized_view,
                                  counterexample::view{.value = 2, .other = 1, .end = 65, .needed = 64}};
        CHECK(plan_memory(over, options).error() == fact);
        CHECK(plan_concurrent(over, options).error() == fact);
        CHECK(plan_flow(over, options).error() == fact);
    }
}

TEST_CASE("a plan for every shape rejects a view that is too large for one of them")
{
    auto planned = [](affine_bytes root, affine_bytes view) {
        symbolic_options options{.bytes = std::vector<affine_bytes>{root, view, view, {16, 0}},
                                 .dims = batches(9)};
        options.alias_of = std::vector<value_id>{no_value, 0, 1, no_value};
        return plan_symbolic(views_of_views, options);
    };
    CHECK(planned({8, 8}, {8, 8}));
    CHECK(planned({8, 8}, {0, 8}));
    counterexample const last = planned({8, 8}, {0, 9}).error();
    CHECK(last.at_shape == shape{9});
    CHECK(last.what == fault::oversized_view);
    CHECK(planned({0, 9}, {1, 8}));
    CHECK(planned({0, 8}, {1, 7}));
    counterexample const first = planned({0, 8}, {2, 7}).error();
    CHECK(first.at_shape == shape{1});
    auto const* view = first.as<counterexample::view>();
    REQUIRE(view != nullptr);
    CHECK(view->needed == 8);
}

TEST_CASE("a view of more bytes than its root is rejected by every checker")
{
    plan_options const right = options_with(128, 32, 128), wrong = options_with(64, 32, 128);
    CHECK(check_plan(views_of_views, plan_memory(views_of_views, right).plan, right));
    expect_refused(check_plan(views_of_views, plan_memory(views_of_views, right).plan, wrong));
    expect_refused(check_concurrent_plan(views_of_views, plan_concurrent(views_of_views, right).plan, wrong));
    expect_refused(check_flow_plan(views_of_views, plan_flow(views_of_views, right).plan, wrong));
}

TEST_CASE("a view of more bytes than its root is rejected by every executor, with a plan or without")
{
    auto expect_thrown = [](auto make) {
        try {
            make();
            FAIL("it was run");
        } catch (unsound_plan const& e) {
            CHECK(e.why() == too_large);
            CHECK(std::string(e.what()).find(
                      "sublet: a program cannot run: value 2 is a view of value 0 that ends at byte 128") ==
                  0);
        }
    };
    plan_options const wrong = options_with(64, 32, 128);
    executor_options const unchecked{.check = executor_options::checks::off};
    auto const plan = plan_memory(views_of_views, options_with(128, 32, 128)).plan;
    expect_thrown([&] { cpu_executor(views_of_views, wrong, no_plan{}, synthetic_kernel{}, unchecked); });
    expect_thrown([&] { cpu_executor(views_of_views, wrong, recycle{}, synthetic_kernel{}); });
    expect_thrown([&] { cpu_executor(views_of_views, wrong, arena{plan}, synthetic_kernel{}); });
}

TEST_CASE("views that are smaller, equally large, or of unknown size are planned")
{
    for (byte_count view : {byte_count{0}, byte_count{63}, byte_count{64}, no_size}) {
        auto const planned = plan_memory(views_of_views, options_with(64, view, view));
        CHECK(planned);
        CHECK(planned.report().arena_bytes == 80);
    }
    CHECK(plan_memory(views_of_views, options_with(no_size, 8, 8)));
}

TEST_CASE("the message about a large view has both values and their bytes")
{
    std::ostringstream out;
    out << too_large;
    CHECK(out.str() == "value 2 is a view of value 0 that ends at byte 128, but there are only 64 bytes");
}

} // namespace this_test
