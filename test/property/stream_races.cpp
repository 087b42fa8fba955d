// SPDX-License-Identifier: BSL-1.0
// Bytes reused across streams: defects of other systems, each on the smallest program that shows it. Here the
// results are right in every order of the device, and the check finds the wait if it is removed.
#include <sublet/execution/streams.hpp>

#include "../operations.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using device_call = stream_call<simulated_device::stream_type>;
using kernel = std::function<void(device_call const&)>; // erased, so that one executor is compiled
using executor = stream_executor<simulated_device, kernel>;
using enum value_role;

/// A program, and the stream that each step is sent to.
struct subject {
    snapshot program;
    plan_options options;
    stream_options streams;

    memory_plan plan() const
    {
        auto const planned = plan_memory(program, options);
        REQUIRE(planned);
        return planned.plan;
    }
};

template <class Run>
std::uint64_t results(subject const& s, Run& run)
{
    std::uint64_t sum = 0;
    for (int again = 0; again != 2; ++again) {
        run.run();
        for (value_id v = 0; v != s.program.values(); ++v)
            if (has_role(s.options.role[v], output)) sum = fold_digest(sum, digest(run.output(v)));
    }
    return sum;
}

/// On the requested streams, and on one to four chosen by the executor, in every device order.
template <class Mode>
void check_all_orders(subject const& s, Mode const& mode)
{
    cpu_executor<synthetic_kernel> in_order(s.program, s.options, no_plan{}, {});
    std::uint64_t const expected = results(s, in_order);
    std::vector<stream_options> stream_cases{s.streams};
    for (std::size_t count : {1u, 2u, 3u, 4u}) stream_cases.push_back({.streams = count});
    for (stream_options const& streams : stream_cases) {
        CAPTURE(streams.streams);
        for (simulated_options::order_kind order :
             {simulated_options::order_kind::eager, simulated_options::order_kind::in_turn,
              simulated_options::order_kind::random, simulated_options::order_kind::latest_first,
              simulated_options::order_kind::favour, simulated_options::order_kind::starve})
            for (std::uint32_t which = 0; which != 3; ++which) {
                CAPTURE(static_cast<int>(order));
                CAPTURE(which);
                simulated_device device({.order = order, .seed = which, .which = which});
                executor run(device, s.program, s.options, mode, synthetic_kernel{}, streams);
                CHECK(results(s, run) == expected);
            }
    }
}

/// The faults found when a wait is left out: one for each.
template <class Mode>
std::vector<counterexample> faults(subject const& s, Mode const& mode)
{
    memory_plan const* plan = nullptr;
    if constexpr (std::same_as<Mode, arena>) plan = &mode.plan;
    run_order const order = run_order_of(s.program, s.options, mode);
    stream_schedule const schedule = schedule_streams(order, mode, s.streams);
    REQUIRE(check_schedule(s.program, s.options, plan, order.lowered, schedule, s.streams));
    std::vector<counterexample> found;
    for (std::size_t i = 0; i != schedule.commands.size(); ++i) {
        if (schedule.commands[i].what != stream_schedule::action::wait) continue;
        stream_schedule without = schedule;
        without.commands.erase(without.commands.begin() + static_cast<std::ptrdiff_t>(i));
        auto const valid = check_schedule(s.program, s.options, plan, order.lowered, without, s.streams);
        CAPTURE(i);
        CHECK(!valid);
        if (!valid) found.push_back(valid.error());
    }
    CHECK(found.size() == schedule.waits);
    return found;
}
bool has(std::vector<counterexample> const& list, fault what, value_id first, value_id second)
{
    return std::any_of(list.begin(), list.end(), [&](counterexample const& f) {
        auto const* pair = f.as<counterexample::commands>();
        return f.what == what && pair != nullptr && pair->first_value == first &&
               (second == no_value || pair->second_value == second);
    });
}

} // namespace

TEST_CASE("thread-7: a block that one stream copies out is not written on another before the copy ends")
{
    // a is computed and copied; then b is computed in the bytes of a.
    enum { a, copy, b, y };
    subject const s{op_list(4, {{}, {a}, {}, {b}}, {{a}, {copy}, {b}, {y}}),
                    {.bytes = 64, .role = {intermediate, output, intermediate, output}},
                    {.streams = 2, .stream_of = {0, 1, 0, 0}}};
    memory_plan const plan = s.plan();
    REQUIRE(plan.offset_of(b) == plan.offset_of(a));
    check_all_orders(s, arena{plan});
    check_all_orders(s, recycle{});
    CHECK(has(faults(s, arena{plan}), fault::race, a, b));
}

TEST_CASE("thread-8: readers are counted over all streams: the last on one does not free what another reads")
{
    enum { a, b, c, d, y };
    subject const s{op_list(5, {{}, {a}, {a}, {b}, {c, d}}, {{a}, {b}, {c}, {d}, {y}}),
                    {.bytes = 64, .role = {intermediate, intermediate, intermediate, intermediate, output}},
                    {.streams = 2, .stream_of = {0, 0, 1, 0, 0}}};
    check_all_orders(s, recycle{});
    check_all_orders(s, no_plan{});
    CHECK(has(faults(s, recycle{}), fault::freed_in_use, a, no_value));
    CHECK(!faults(s, no_plan{}).empty());
    // Freed at the launch, as in SINGA: right on one stream only.
    run_order const order = run_order_of(s.program, s.options, recycle{});
    auto freed_at_launch = [&](stream_options const& how) {
        stream_schedule schedule = schedule_streams(order, recycle{}, how);
        for (stream_schedule::command& c : schedule.commands)
            if (c.what == stream_schedule::action::release) c.stream = 0;
        return check_schedule(s.program, s.options, nullptr, order.lowered, schedule, how);
    };
    CHECK(freed_at_launch({.streams = 1}));
    CHECK(freed_at_launch(s.streams).error().what == fault::freed_in_use);
}

TEST_CASE("thread-10: in a diamond over two streams a branch reuses a slot of the other only when it is free")
{
    //     0 -> 1 -> 3 ─┐      3 writes d over a, which 2 may still be reading
    //     └──> 2 ─────> 4
    enum { a, b, c, d, y };
    subject const s{op_list(5, {{}, {a}, {a}, {b}, {c, d}}, {{a}, {b}, {c}, {d}, {y}}),
                    {.bytes = 64, .role = {intermediate, intermediate, intermediate, intermediate, output}},
                    {.streams = 2, .stream_of = {0, 0, 1, 0, 1}}};
    memory_plan const plan = s.plan();
    REQUIRE(plan.offset_of(d) == plan.offset_of(a));
    check_all_orders(s, arena{plan});
    check_all_orders(s, recycle{});
    CHECK(has(faults(s, arena{plan}), fault::race, a, d));
}

TEST_CASE("thread-20: bytes that three streams use in turn are waited for at each hand-off")
{
    // a, b and c use the same bytes in turn, each on its own stream; b has half of them, so c reuses a too.
    enum { a, p, b, q, c, r };
    subject const s{op_list(6, {{}, {a}, {}, {b}, {}, {c}}, {{a}, {p}, {b}, {q}, {c}, {r}}),
                    {.bytes = {64, 8, 32, 8, 64, 8},
                     .role = {intermediate, output, intermediate, output, intermediate, output}},
                    {.streams = 3, .stream_of = {0, 0, 1, 1, 2, 2}}};
    memory_plan const plan = s.plan();
    REQUIRE(plan.offset_of(c) == plan.offset_of(a));
    REQUIRE(plan.offset_of(b) - plan.offset_of(a) <= 32);
    check_all_orders(s, arena{plan});
    check_all_orders(s, recycle{});
    auto const found = faults(s, arena{plan});
    CHECK(has(found, fault::race, a, b));
    CHECK(has(found, fault::race, b, c));
}

TEST_CASE("singa-parallel, S6: on two streams neither of two branches waits for the other")
{
    subject const s{op_list(4, {{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}),
                    {.bytes = 64, .role = {intermediate, intermediate, intermediate, output}},
                    {.streams = 2}};
    auto steps_by = [&](simulated_options::order_kind order) {
        std::vector<step_id> steps;
        simulated_device device({.order = order});
        executor run(
            device, s.program, s.options, arena{s.plan()},
            [&](device_call const& call) {
                steps.push_back(call.step);
                synthetic_kernel{}(call);
            },
            s.streams);
        run.run();
        return steps;
    };
    CHECK(steps_by(simulated_options::order_kind::eager) == std::vector<step_id>{0, 1, 2, 3});
    CHECK(steps_by(simulated_options::order_kind::latest_first) == std::vector<step_id>{0, 2, 1, 3});
}

TEST_CASE(
    "singa-abort: a device that fails or is lost at any call ends a run with an exception, and nothing leaks")
{
    subject const s{op_list(5, {{}, {0}, {0}, {1}, {2, 3}}, {{0}, {1}, {2}, {3}, {4}}),
                    {.bytes = 64, .role = {intermediate, intermediate, intermediate, intermediate, output}},
                    {.streams = 2}};
    cpu_executor<synthetic_kernel> in_order(s.program, s.options, no_plan{}, {});
    std::uint64_t const expected = results(s, in_order);
    auto check = [&](auto const& mode) {
        std::size_t failures = 0;
        for (std::uint64_t calls = 0;; ++calls) {
            CAPTURE(calls);
            simulated_device device;
            {
                executor run(device, s.program, s.options, mode, synthetic_kernel{}, s.streams);
                device.fail_after(calls);
                try {
                    run.run();
                    break;
                } catch (run_error const&) {
                    ++failures;
                }
                device.fail_after(simulated_device::never);
                CHECK(results(s, run) == expected);
                device.lose_after(0);
                CHECK_THROWS_AS(run.run(), run_error);
                CHECK_THROWS_AS(run.run(), std::exception); // no more runs
            }
        }
        CHECK(failures > 5);
        simulated_device device;
        executor(device, s.program, s.options, mode, synthetic_kernel{}, s.streams).run();
        CHECK(device.live_streams() == 0);
        CHECK(device.live_events() == 0);
        CHECK(device.memory().used == 0);
    };
    check(no_plan{});
    check(recycle{});
    check(arena{s.plan()});
}

} // namespace this_test
