// SPDX-License-Identifier: BSL-1.0
// Random recordings with calls that update and overwrite values, run concurrently: on threads and on the
// streams of a device, by plans for one order, with hand-offs and for any order. In every run the results are
// those of the calls one by one on vectors.
#include <sublet/execution/recorder.hpp>

#include "../random_recording.hpp"
#include "../random_source.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using on_threads = thread_executor<recorded_kernel<cpu_call>>;
using device_call = stream_call<simulated_device::stream_type>;
using on_streams = stream_executor<simulated_device, recorded_kernel<device_call>>;

/// Calls `run(program, options, mode, named)` for each way to plan a recording: without versions
/// for its own order, with versions for any order.
template <class Recorder, class Run>
void each_plan(Recorder const& net, Run run)
{
    snapshot const listed = snapshot(net);
    plan_options const options = net.options();
    run(listed, options, no_plan{}, same_id);
    run(listed, options, recycle{}, same_id);
    auto const in_order = plan_memory(listed, options);
    REQUIRE(in_order);
    run(listed, options, arena{in_order}, same_id);

    auto const made = versions(listed, options, net.updated());
    REQUIRE(made);
    auto const lifted = with_versions(options, made);
    auto const last = [&](value_id v) { return made.last[v]; };
    run(made.program, lifted, recycle{}, last);
    auto const any_order = plan_concurrent(made.program, lifted);
    REQUIRE(any_order);
    run(made.program, lifted, arena{any_order}, last);
    auto const waiting = plan_with_handoffs(made.program, lifted);
    REQUIRE(waiting);
    run(made.program, lifted, arena{waiting}, last);
}

} // namespace

TEST_CASE(
    "a random recording computes on threads, by every plan and policy, the same as its calls in sequence")
{
    std::size_t updates = 0;
    for (unsigned seed = 0; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const drawn = draw_recording(pick);
        auto const expected = run_immediately(drawn, 2);
        each_plan(drawn.net, [&](auto const& program, auto const& options, auto const& mode, auto named) {
            updates += program.has_writes();
            for (queue_policy policy :
                 {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo, queue_policy::random}) {
                CAPTURE(static_cast<int>(policy));
                std::size_t const workers = 1 + pick.below(4);
                CAPTURE(workers);
                executor_options::checks const level =
                    pick.below(2) == 0 ? executor_options::checks::plan : executor_options::checks::digest;
                on_threads run(program, options, mode, drawn.net.kernel(),
                               {.workers = workers, .policy = policy, .seed = seed}, {.check = level});
                CHECK(run_recorded(drawn, run, 2, named) == expected);
            }
        });
    }
    CHECK(updates > rounds(50));
}

TEST_CASE("a random recording computes on adversarial streams the same as its calls in sequence")
{
    std::size_t streams_used = 0;
    for (unsigned seed = 0; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const drawn = draw_recording<device_call>(pick);
        auto const expected = run_immediately(drawn, 2);
        each_plan(drawn.net, [&](auto const& program, auto const& options, auto const& mode, auto named) {
            for (simulated_options::order_kind order :
                 {simulated_options::order_kind::random, simulated_options::order_kind::latest_first,
                  simulated_options::order_kind::starve}) {
                CAPTURE(static_cast<int>(order));
                std::size_t const streams = 1 + pick.below(8);
                CAPTURE(streams);
                simulated_device device({.order = order, .seed = seed, .which = pick.below(4)});
                on_streams run(device, program, options, mode, drawn.net.kernel(), {.streams = streams});
                CHECK(run_recorded(drawn, run, 2, named) == expected);
                streams_used = std::max(streams_used, run.schedule().streams);
            }
        });
    }
    CHECK(streams_used > 4);
}

} // namespace this_test
