// SPDX-License-Identifier: BSL-1.0
// Public calls where memory runs out at any of their allocations, or a callable throws at any of its calls.
#include "affine_bytes.hpp"
#include "counted_heap.hpp"
#include "failing_calls.hpp"
#include "printed.hpp"
#include "random_program.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/reporting/why_peak.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#if !defined(HEAP_IS_NOT_COUNTED)

namespace this_test {

using namespace sublet;

/// Two chains that meet, with a view, a result in place and a pool of its own.
struct subject {
    std::vector<std::vector<value_id>> uses = {{}, {0}, {1}, {0}, {3}, {2, 4}, {5}, {6, 2}};
    snapshot program = sequence(uses.size(), uses.size(), [this](step_id s, effect_sink& step) {
        for (value_id v : uses[s]) step.use(v);
        step.def(+s);
        step.may_recompute();
    });
    plan_options options = {.bytes = {64, 48, 64, 96, 16, 64, 64, 8}, .alignment = 16};
};

TEST_CASE("a planner that runs out of memory at any allocation frees all, and then plans the same")
{
    subject const s;
    for (auto work : {effort::fast, effort::balanced, effort::thorough}) {
        plan_options options = s.options;
        options.effort = work;
        CHECK(fail_each_allocation([&] { return plan_memory(s.program, options); },
                                   [](auto const& planned) { return printed_plan(planned); }) > 10);
        CHECK(fail_each_allocation([&] { return plan_concurrent(s.program, options); },
                                   [](auto const& planned) { return printed_plan(planned); }) > 10);
        CHECK(fail_each_allocation([&] { return plan_with_handoffs(s.program, options); },
                                   [](auto const& planned) { return printed_plan(planned); }) > 10);
        CHECK(fail_each_allocation([&] { return schedules(s.program, options); },
                                   [](schedule_curve const& curve) { return printed(curve); }) > 10);
        CHECK(fail_each_allocation([&] { return plan_flow(s.program, options); },
                                   [](auto const& planned) { return printed_plan(planned); }) > 10);
        CHECK(fail_each_allocation([&] { return order(s.program, options); },
                                   [](node_order const& found) { return printed_ids(found.order); }) > 5);
    }
}

TEST_CASE("a planner of a random program runs out of memory at any allocation without a leak")
{
    for (std::uint32_t seed = 0; seed != rounds(12); ++seed) {
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick);
        snapshot const p = drawn.program();
        plan_options const options = drawn.options();
        fail_each_allocation([&] { return drawn.program(); },
                             [](snapshot const& made) { return std::to_string(made.steps()); });
        fail_each_allocation([&] { return plan_memory(p, options); },
                             [](auto const& planned) { return printed_plan(planned); });
        fail_each_allocation([&] { return plan_flow(p, options); },
                             [](auto const& planned) { return printed_plan(planned); });
    }
}

TEST_CASE("an analysis, a colouring and a check that run out of memory free all, and then find the same")
{
    subject const s;
    planned_memory const planned = plan_memory(s.program, s.options);
    REQUIRE(planned);
    CHECK(fail_each_allocation([&] { return check_plan(s.program, planned.plan, s.options); },
                               [](auto const& found) { return printed_finding(found); }) > 4);
    memory_plan clash = planned.plan;
    for (auto& buffer : clash.buffers) buffer.offset = 0;
    CHECK(fail_each_allocation([&] { return check_plan(s.program, clash, s.options); },
                               [](auto const& found) { return printed_finding(found); }) > 5);
    CHECK(fail_each_allocation([&] { return liveness(s.program); },
                               [&](live_sets const& live) {
                                   std::ostringstream out;
                                   for (node_id n = 0; n != s.program.nodes(); ++n)
                                       live.for_each_live_in(
                                           n, [&](value_id v) { out << n << ' ' << v << '\n'; });
                                   return out.str();
                               }) > 2);
    CHECK(fail_each_allocation(
              [&] { return color(s.program); },
              [](chordal_coloring const& found) { return printed_ids(found.plan.slot_of); }) > 2);
    CHECK(fail_each_allocation([&] { return share_slots(s.program, s.options); },
                               [](shared_slots const& found) { return printed_ids(found.slot_of); }) > 5);
    CHECK(fail_each_allocation([&] { return dependences(s.program); },
                               [](dependence_graph const&) { return std::string(); }) > 2);
    CHECK(fail_each_allocation([&] { return versions(s.program, s.options); },
                               [](versioned_program const&) { return std::string(); }) > 2);
    CHECK(fail_each_allocation([&] { return why_peak(s.program, planned.plan); },
                               [](peak_reason const& why) { return std::to_string(why.bytes); }) > 2);
}

TEST_CASE("plans for every shape, and spills, run out of memory at any allocation without a leak")
{
    subject const s;
    symbolic_options const symbolic{.bytes = affine_bytes{16, 24}, .dims = batches(20)};
    CHECK(fail_each_allocation([&] { return plan_symbolic(s.program, symbolic); },
                               [](planned_symbolic const& planned) {
                                   std::ostringstream out;
                                   if (planned) out << planned.report();
                                   return out.str();
                               }) > 10);
    plan_options capped = s.options;
    capped.pools = {{.capacity = 200}};
    CHECK(fail_each_allocation([&] { return advise_memory(s.program, capped); },
                               [](memory_advice const& advice) {
                                   std::ostringstream out;
                                   out << advice.suggestions.size() << ' ' << advice.cost;
                                   return out.str();
                               }) > 10);
}

/// Twelve buffers that cross, so that all searches run.
static placement_problem crossing_buffers()
{
    placement_problem problem;
    random_source pick{std::mt19937(7)};
    for (int i = 0; i != 12; ++i) {
        position_id const first = pick.below(12);
        problem.buffers.push_back({{first, first + 1 + pick.below(6)}, 1 + pick.below(40)});
    }
    return problem;
}

TEST_CASE("placement on one thread and on several runs out of memory at any allocation without a leak")
{
    placement_problem const problem = crossing_buffers();
    auto run_out = [&](place_options const& options) {
        return fail_each_allocation([&] { return place(problem, options); },
                                    [](placement const& placed) { return printed_ids(placed.offset); });
    };
    auto hears = [](byte_count, byte_count, std::uint64_t) {}; // so that the short way is not taken
    for (std::size_t threads : {1u, 3u}) {
        CHECK(run_out({.threads = threads}) >= 2); // the offsets, and the pools
        CHECK(run_out({.threads = threads, .progress = hears}) > 10);
    }
}

TEST_CASE("what a callable throws at any of its calls arrives, and nothing leaks")
{
    subject const s;
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)sequence(
                  s.uses.size(), s.uses.size(),
                  [&](step_id n) -> auto& {
                      poll();
                      return s.uses[n];
                  },
                  [&](std::uint32_t n) {
                      poll();
                      return std::vector{n};
                  });
          }) >= 2 * s.uses.size());
    auto each_planner = [&](auto plan) {
        CHECK(throw_at_each_call([&](auto const& poll) {
                  plan_options options = s.options;
                  options.bytes = [&](value_id v) -> byte_count {
                      poll();
                      return 16 + v;
                  };
                  options.alignment = [&](value_id) -> byte_count {
                      poll();
                      return 16;
                  };
                  options.role = [&](value_id) {
                      poll();
                      return value_role::intermediate;
                  };
                  plan(options);
              }) >= 3 * s.uses.size());
    };
    each_planner([&](plan_options const& options) { (void)plan_memory(s.program, options); });
    each_planner([&](plan_options const& options) { (void)plan_concurrent(s.program, options); });
    each_planner([&](plan_options const& options) { (void)plan_with_handoffs(s.program, options); });
    each_planner([&](plan_options const& options) { (void)plan_flow(s.program, options); });
    each_planner([&](plan_options const& options) { (void)order(s.program, options); });
    each_planner([&](plan_options const& options) { (void)advise_memory(s.program, options); });
    each_planner([&](plan_options const& options) { (void)share_slots(s.program, options); });
    planned_memory const planned = plan_memory(s.program, s.options);
    each_planner([&](plan_options const& options) { (void)check_plan(s.program, planned.plan, options); });

    placement_problem const problem = crossing_buffers();
    for (std::size_t threads : {1u, 3u})
        throw_at_each_call([&](auto const& poll) {
            place_options options{.threads = threads};
            options.stop = [&] { // also called by other threads
                poll();
                return false;
            };
            (void)place(problem, options);
        });
}

} // namespace this_test

#endif
