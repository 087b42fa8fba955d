// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/run_desk.hpp>

#include <doctest/doctest.h>

#include <sublet/execution/run_options.hpp>
#include <sublet/graph/program.hpp>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// An executor whose steps are whatever a test wants them to be.
struct desk : run_desk {
    desk(snapshot const& p, plan_options const& options)
        : run_desk(tape_of(p, options, per_value<bool>(false)), no_plan{}, {})
    {
    }
    template <class Steps>
    run_report run(Steps steps)
    {
        return run_once(steps);
    }
    void give_output_bytes() { values_.before(tape_, 0); }
};

} // namespace

TEST_CASE("what is owed has to be there before a run, and outputs are there after it until the next input")
{
    snapshot const program = sequence(
        1, 2, [](auto) { return std::vector{0}; }, [](auto) { return std::vector{1}; });
    desk its(program, {.bytes = 8, .role = {value_role::input, value_role::output}});
    auto const make = [&] { its.give_output_bytes(); };
    CHECK_THROWS_AS(its.run(make), unusable_value);
    CHECK(its.input(0).size() == 8);
    CHECK_THROWS_AS((void)its.output(1), unusable_value);
    CHECK(its.run(make).steps == 1);
    CHECK(its.output(1).size() == 8);
    CHECK_THROWS_AS(its.run(make), unusable_value); // an input is given before every run
    (void)its.input(0);
    CHECK_THROWS_AS((void)its.output(1), unusable_value);
    CHECK_THROWS_AS(its.run([&] { its.run(make); }), precondition_error);
    (void)its.input(0);
    CHECK_NOTHROW(its.run(make));
}

} // namespace this_test
