// SPDX-License-Identifier: BSL-1.0
#include <sublet/planned_memory.hpp>

#include <doctest/doctest.h>

#include <sstream>
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

TEST_CASE("values with an offset are listed, and a plan is sound unless it is refuted")
{
    planned_memory planned;
    planned.plan.buffers = {{.root = 1, .size = 8, .offset = 16}};
    planned.plan.buffer_of = {no_buffer, 0, 0};
    CHECK(planned.values() == std::vector<value_id>{1, 2});
    CHECK(planned.is_sound());
    planned.refuted = witness{};
    CHECK(!planned.is_sound());
}

} // namespace this_test
