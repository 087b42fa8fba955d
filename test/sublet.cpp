// SPDX-License-Identifier: BSL-1.0
#include <sublet/sublet.hpp>

#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace this_test {

TEST_CASE("one include gives the whole library")
{
    auto touched = [](auto step, auto& sink) { sink.def(+step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    CHECK(program.steps() == 3);
}

namespace {

/// What everything that can fail returns.
template <class R>
concept result = std::constructible_from<bool, R const&> && !std::convertible_to<R const&, bool> &&
                 requires(R const& r, std::ostream& out) {
                     { r.error() } -> std::same_as<sublet::counterexample const&>;
                     out << r.error();
                 };

/// A call, and the type that it returns.
struct call_that_can_fail {
    char const* call;
    char const* type;
};

template <result R, std::same_as<R> Type>
call_that_can_fail row(char const* call, char const* type)
{
    return {call, type};
}

#define RETURNS(type, ...) row<decltype(__VA_ARGS__), type>(#__VA_ARGS__, #type)

std::vector<call_that_can_fail> calls_that_can_fail()
{
    using namespace sublet;
    snapshot const p;
    plan_options const options{.bytes = 0};
    memory_plan const plan;
    program_tree const tree;
    placement_problem const problem;
    return {RETURNS(planned_memory, plan_memory(p, options)),
            RETURNS(planned_concurrently, plan_concurrent(p, options)),
            RETURNS(planned_with_handoffs, plan_with_handoffs(p, options)),
            RETURNS(schedule_curve, schedules(p, options)),
            RETURNS(planned_flow, plan_flow(p, options)),
            RETURNS(planned_nested, plan_nested(tree, {})),
            RETURNS(planned_symbolic, plan_symbolic(p, {.bytes = affine_bytes{}})),
            RETURNS(memory_advice, advise_memory(p, options)),
            RETURNS(fitted_plan, fits(plan, p, options)),
            RETURNS(live_ranges, lifetimes(p)),
            RETURNS(dependence_graph, dependences(p)),
            RETURNS(versioned_program, versions(p, options)),
            RETURNS(interference_graph, interference(p)),
            RETURNS(interference_matrix, interference<interference_matrix>(p)),
            RETURNS(node_order, order(p, options)),
            RETURNS(chordal_coloring, color(p)),
            RETURNS(graph_coloring, color(csr_graph())),
            RETURNS(shared_slots, share_slots(p, options)),
            RETURNS(placement, place(problem)),
            RETURNS(verdict, check_plan(p, plan, options)),
            RETURNS(verdict, check_plan(p, symbolic_plan(), symbolic_options{.bytes = affine_bytes{}})),
            RETURNS(verdict, check_flow_plan(p, plan, options)),
            RETURNS(verdict, check_concurrent_plan(p, plan, options)),
            RETURNS(verdict, check_schedule(p, step_schedule(), options, {})),
            RETURNS(verdict, check_placement(problem, placement())),
            RETURNS(verdict, check_proof(problem, placement(), 0)),
            RETURNS(verdict, check_slots(p, slot_plan())),
            RETURNS(verdict, check_ssa(p)),
            RETURNS(verdict, check_rewrite(p, p)),
            RETURNS(verdict, check_streams(stream_commands()))};
}

} // namespace

TEST_CASE("everything that can fail converts to bool and has a counterexample; SUBLET_PRINT=1 lists it")
{
    auto const calls = calls_that_can_fail(); // does not compile for a result of another shape
    CHECK(calls.size() == 30);
    if (std::getenv("SUBLET_PRINT") == nullptr) return;
    for (call_that_can_fail const& one : calls) std::cout << one.call << " | " << one.type << '\n';
}

} // namespace this_test
