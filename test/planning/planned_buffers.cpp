// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static buffer sized(value_id root, byte_count size)
{
    buffer b;
    b.root = root;
    b.life = {0, 1};
    b.size = size;
    return b;
}

TEST_CASE("buffers that need storage are listed under the same number in plan and problem")
{
    buffer_table table;
    table.buffers = {sized(0, 8), sized(1, no_size), sized(2, 0), sized(4, 16)};
    table.buffer_of = {0, 1, 2, 0, 3};
    memory_plan plan;
    placement_problem problem;
    CHECK(!detail::list_planned(table, plan, problem));
    CHECK(plan.buffer_of == std::vector<buffer_id>{0, no_buffer, no_buffer, 0, 1});
    CHECK(plan.unsized == std::vector<value_id>{1});
    REQUIRE(problem.buffers.size() == 2);
    CHECK(problem.buffers[1].size == 16);
    CHECK(plan.buffers[1].root == 4);
}

TEST_CASE("a buffer with two pins refutes every plan")
{
    buffer_table table;
    table.buffers = {sized(0, 8)};
    table.buffers[0].pinned = 0;
    table.buffers[0].conflicting_pin = 64;
    table.buffer_of = {0};
    memory_plan plan;
    placement_problem problem;
    auto const refuted = detail::list_planned(table, plan, problem);
    REQUIRE(refuted);
    CHECK(refuted->what == fault::off_pin);
    REQUIRE(refuted->as<counterexample::place>());
    CHECK(refuted->as<counterexample::place>()->needed == 64);
}

} // namespace this_test
