// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/trace.hpp>

#include "../random_source.hpp"
#include "../run_environment.hpp"
#include "../trace_reading.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

//     0 ─┬─► 1 ─► 3 ─┬─► 5
//        └─► 2 ─► 4 ─┘
snapshot diamond()
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1}, {2}, {3, 4}};
    return sequence(
        6, 6, [&](auto s) -> auto& { return uses[s]; }, [](auto s) { return std::vector<value_id>{+s}; });
}
plan_options const options{.bytes = 64};

std::string text_of(run_trace const& trace)
{
    std::ostringstream out;
    write_trace(out, trace);
    return out.str();
}

/// Each step of each run is called once, and calls of a thread or stream do not overlap.
void check_calls(run_trace const& trace, std::size_t steps)
{
    std::vector<std::vector<unsigned>> calls(trace.runs().size(), std::vector<unsigned>(steps));
    for (run_trace::call const& c : trace.calls()) {
        ++calls.at(c.run).at(c.step);
        CHECK(c.first <= c.last);
        CHECK(c.row < trace.runs()[c.run].rows);
    }
    for (auto const& of_run : calls) CHECK(of_run == std::vector<unsigned>(steps, 1));
    trace_reading const read(text_of(trace));
    CHECK(read.are_disjoint());
    std::size_t events = 0;
    for (auto const& [where, of_row] : read.events) events += of_row.size();
    CHECK(events == trace.calls().size());
}

} // namespace

TEST_CASE("a run on one thread has one row, in the order of the steps")
{
    run_trace trace;
    cpu_executor run(diamond(), options, no_plan{}, traced_kernel{&trace, synthetic_kernel{}});
    trace.begin_run("serial \"<1>\"\n");
    run.run();
    check_calls(trace, 6);
    for (step_id s = 0; s != 6; ++s) CHECK(trace.calls()[s].step == s);
    REQUIRE(trace.runs().size() == 1);
    CHECK(trace.runs()[0].rows == 1);
    CHECK(!trace.runs()[0].has_streams);
    trace_reading const read(text_of(trace));
    CHECK(read.processes.at(1) == "serial \"<1>\"\n");
    CHECK(read.rows.at({1, 1}) == "thread 0");
}

TEST_CASE("times are written in microseconds with three decimals, and steps by name")
{
    run_trace trace;
    cpu_executor run(diamond(), options, no_plan{}, traced_kernel{&trace, synthetic_kernel{}});
    run.run();
    std::ostringstream out;
    write_trace(out, trace, {.steps = [](step_id s) { return "step\t" + std::to_string(s); }});
    trace_reading const read(out.str());
    auto const& events = read.events.at({1, 1});
    for (step_id s = 0; s != 6; ++s) {
        CHECK(events[s].name == "step\t" + std::to_string(s));
        CHECK(events[s].arguments["step"] == +s);
        CHECK(events[s].first == static_cast<std::int64_t>(trace.calls()[s].first));
        CHECK(events[s].last == static_cast<std::int64_t>(trace.calls()[s].last));
    }
}

TEST_CASE("an empty trace is valid")
{
    run_trace trace;
    CHECK(trace_reading(text_of(trace)).events.empty());
    trace.begin_run("nothing");
    CHECK(trace_reading(text_of(trace)).processes.at(1) == "nothing");
}

TEST_CASE("without a trace the kernel is only called")
{
    unsigned calls = 0;
    auto count = [&](cpu_call const& call) {
        synthetic_kernel{}(call);
        ++calls;
    };
    cpu_executor run(diamond(), options, no_plan{}, traced_kernel{nullptr, count});
    run.run();
    CHECK(calls == 6);
}

TEST_CASE("runs follow each other, each with rows of its own")
{
    run_trace trace;
    auto const planned = plan_memory(diamond(), options);
    cpu_executor serial(diamond(), options, arena{planned.plan}, traced_kernel{&trace, synthetic_kernel{}});
    thread_executor threads(diamond(), options, arena{planned.plan},
                            traced_kernel{&trace, synthetic_kernel{}}, {.workers = 3});
    simulated_device device;
    stream_executor streams(device, diamond(), options, arena{planned.plan},
                            traced_kernel{&trace, synthetic_kernel{}}, {.streams = 2});
    trace.begin_run("serial");
    serial.run();
    trace.begin_run("threads");
    threads.run();
    trace.begin_run("streams");
    streams.run();
    check_calls(trace, 6);
    CHECK(trace.runs()[1].rows >= 1);
    CHECK(trace.runs()[1].rows <= 3);
    CHECK(trace.runs()[2].rows >= 1);
    CHECK(trace.runs()[2].rows <= 2);
    CHECK(trace.runs()[2].has_streams);
    trace_reading const read(text_of(trace));
    CHECK(read.processes.at(3) == "streams");
    CHECK(read.rows.at({3, 1}) == "stream 0");
}

TEST_CASE("calls nest: a kernel may run another program")
{
    run_trace trace;
    auto run_inner = [&](cpu_call const& call) {
        cpu_executor inner(diamond(), options, no_plan{}, traced_kernel{&trace, synthetic_kernel{}});
        if (call.step == 3) inner.run();
        synthetic_kernel{}(call);
    };
    cpu_executor outer(diamond(), options, no_plan{}, traced_kernel{&trace, run_inner});
    outer.run();
    REQUIRE(trace.calls().size() == 12);
    run_trace::call const& calls = trace.calls()[3];
    for (std::size_t i = 4; i != 10; ++i) {
        CHECK(calls.first <= trace.calls()[i].first);
        CHECK(trace.calls()[i].last <= calls.last);
    }
    CHECK(calls.last <= trace.calls()[10].first);
}

TEST_CASE("a call that throws has an end")
{
    run_trace trace;
    auto fail = [](cpu_call const& call) {
        if (call.step == 2) throw std::runtime_error("no");
        synthetic_kernel{}(call);
    };
    cpu_executor run(diamond(), options, no_plan{}, traced_kernel{&trace, fail});
    CHECK_THROWS_AS(run.run(), run_error);
    REQUIRE(trace.calls().size() == 3);
    CHECK(trace.calls()[2].step == 2);
    CHECK(trace.calls()[2].first <= trace.calls()[2].last);
    CHECK(trace_reading(text_of(trace)).are_disjoint());
}

TEST_CASE("each step of a random program is recorded once, on threads and on streams")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        subject const s = draw_subject(pick);
        run_trace trace;
        thread_options threading;
        threading.workers = 1 + pick.below(4);
        run_environment values(s);
        thread_executor threads(s.program, s.options, recycle{},
                                any_kernel(traced_kernel{&trace, values.traced(pick.below(3))}), threading);
        trace.begin_run("threads");
        values.run(threads, 1);
        check_calls(trace, s.program.steps());
    }
}

} // namespace this_test
