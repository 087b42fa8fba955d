// SPDX-License-Identifier: BSL-1.0
// A feature that Apache SINGA's scheduler planned and never built: concurrent operations. And those of its
// defects that show when operations need not run in listed order.
#include <sublet/execution/threads.hpp>

#include "../operations.hpp"

#include <sublet/checking/check_streams.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/recorder.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using kernel = std::function<void(cpu_call const&)>; // erased, so that one executor is compiled
using executor = thread_executor<kernel>;
using enum value_role;

template <class Visit>
void each_policy(Visit visit)
{
    for (std::size_t workers : {1u, 2u, 4u})
        for (queue_policy policy :
             {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo, queue_policy::random})
            for (std::uint64_t seed = 0; seed != (policy == queue_policy::random ? 4 : 1); ++seed) {
                CAPTURE(workers);
                CAPTURE(static_cast<int>(policy));
                CAPTURE(seed);
                visit(thread_options{.workers = workers, .policy = policy, .seed = seed});
            }
}
template <class Visit>
void each_mode(snapshot const& p, plan_options const& options, Visit visit)
{
    visit(no_plan{}), visit(recycle{});
    auto const planned = plan_memory(p, options);
    REQUIRE(planned);
    visit(arena{planned});
}
template <class Mode>
memory_plan const* plan_of(Mode const& mode)
{
    if constexpr (std::same_as<Mode, arena>) return &mode.plan;
    else return nullptr;
}

/// The number of undetected mutants, each without one of the waits.
template <class Mode>
std::size_t count_undetected(snapshot const& p, plan_options const& options, Mode const& mode)
{
    run_order const order = run_order_of(p, options, mode);
    REQUIRE(check_waits(p, options, plan_of(mode), order.lowered.step_at, order.waits.after));
    std::size_t found = 0;
    for (step_waits::wait const& dropped : order.waits.list) {
        auto const after =
            csr_rows<position_id, position_id>::gathered(order.lowered.step_at.size(), [&](auto add) {
                for (step_waits::wait const& wait : order.waits.list)
                    if (!(wait == dropped)) add(wait.from, wait.to);
            });
        found += bool(check_waits(p, options, plan_of(mode), order.lowered.step_at, after));
    }
    return found;
}

} // namespace

TEST_CASE(
    "singa-d693b6b2, S2: readers of a block precede its next writer, also for a parameter updated in a cycle")
{
    enum { x, w, a, b, y };
    snapshot const program = op_list(5, {{x, w}, {w}, {w, a}, {w, b}}, {{a}, {w}, {b}, {w, y}});
    plan_options const options{.bytes = 64, .role = {input, state, intermediate, intermediate, output}};
    auto three_runs = [&](auto& run) {
        std::vector<std::byte> parameter(64);
        run.bind(w, std::span(parameter));
        std::uint64_t sum = 0;
        for (std::uint64_t again = 0; again != 3; ++again) {
            fill_noise(run.input(x), again);
            run.run();
            sum = fold_digest(fold_digest(sum, digest(run.output(y))), digest(parameter));
        }
        return sum;
    };
    cpu_executor<kernel> in_order(program, options, no_plan{}, synthetic_kernel{});
    std::uint64_t const expected = three_runs(in_order);
    each_mode(program, options, [&](auto const& mode) {
        step_waits const waits = run_order_of(program, options, mode).waits;
        CHECK(waits.list[0] == step_waits::wait{0, 1, step_waits::kind::anti}); // the one that was missing
        CHECK(count_undetected(program, options, mode) == 0);
        each_policy([&](thread_options const& how) {
            executor run(program, options, mode, synthetic_kernel{}, how,
                         {.check = executor_options::checks::digest});
            CHECK(three_runs(run) == expected);
        });
    });
    plan_options too_early = options; // the parameter is updated before it is read
    too_early.order = {1, 0, 2, 3};
    CHECK_THROWS_AS((void)run_order_of(program, too_early, no_plan{}), unsound_plan);
}

TEST_CASE("singa-680: an operation that does not declare a read would run too early, and is stopped")
{
    auto recorded = [](bool says_all) {
        recorder net;
        auto const a = net.intermediate<int>(1), b = net.output<int>(1);
        net.record({}, {a}, [=](auto const& call) { call.write(a)[0] = 7; });
        auto const function = [=](auto const& call) { call.write(b)[0] = call.read(a)[0]; };
        if (says_all) net.record({a}, {b}, function);
        else net.record({}, {b}, function);
        return net;
    };
    recorder const right = recorded(true), wrong = recorded(false);
    CHECK(run_order_of(snapshot(right), right.options(), recycle{}).waits.list.size() == 1);
    CHECK(run_order_of(snapshot(wrong), wrong.options(), recycle{}).waits.list.empty());
    each_policy([&](thread_options const& how) {
        executor sound(right, right.options(), recycle{}, right.kernel(), how);
        sound.run();
        CHECK(as<int>(sound.output(1))[0] == 7);
        executor early(wrong, wrong.options(), recycle{}, wrong.kernel(), how);
        std::string said;
        try {
            early.run();
        } catch (run_error const& e) {
            said = e.what();
        }
        CHECK(said.find("step 1, a kernel threw: sublet: a recorded function reads value ") != said.npos);
    });
}

TEST_CASE("singa-twice: a step that is listed twice runs once, under every policy and number of workers")
{
    // Each step reads the one before twice, next to a duplicate edge; every third has other successors.
    constexpr std::uint32_t steps = 60;
    snapshot const program = tasks(
        steps, steps,
        [](node_id n) {
            node_id const next = n + 1, third = n + 3;
            if (next == steps) return std::vector<node_id>{};
            if (n % 3 == 0 && third < steps) return std::vector<node_id>{next, next, third, third};
            return std::vector<node_id>{next, next};
        },
        [](node_id n, effect_sink& s) {
            if (n != 0) s.use(n - 1), s.use(n - 1);
            if (n > 3) s.use(n - 3);
            s.def(+n);
        });
    snapshot const wide = tasks(
        steps, steps, [](node_id) { return std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n > 6) s.use(n / 7), s.use(n / 7), s.use(n / 7 + 1);
            s.def(+n);
        });
    plan_options const options{.bytes = 8};
    for (snapshot const* p : {&program, &wide})
        each_mode(*p, options, [&](auto const& mode) {
            auto const list = run_order_of(*p, options, mode).waits.list;
            for (std::size_t i = 1; i < list.size(); ++i)
                CHECK((list[i - 1].from != list[i].from || list[i - 1].to != list[i].to));
            each_policy([&](thread_options const& how) {
                std::array<std::atomic<int>, steps> ran{};
                executor run(
                    *p, options, mode, [&](cpu_call const& call) { ++ran[call.step]; }, how);
                for (int times = 1; times != 3; ++times) {
                    run.run();
                    for (auto const& count : ran) REQUIRE(count == times);
                }
            });
        });
}

TEST_CASE("singa-parallel, S6: independent operations run concurrently")
{
    //     0 -> 1, 2 -> 3      1 and 2 wait until both have begun
    snapshot const program = op_list(4, {{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}});
    plan_options const options{.bytes = 64, .role = {intermediate, intermediate, intermediate, output}};
    auto meet = [&](auto const& mode, thread_options const& how) {
        std::atomic<int> begun = 0;
        bool met = true;
        kernel const work = [&](cpu_call const& call) {
            if (call.step == 1 || call.step == 2) {
                ++begun;
                auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                while (begun < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
                if (begun < 2) met = false;
            }
            synthetic_kernel{}(call);
        };
        executor run(program, options, mode, work, how);
        run_report const report = run.run();
        CHECK(report.workers == how.workers);
        return met;
    };
    auto const any_order = plan_concurrent(program, options);
    REQUIRE(any_order);
    for (queue_policy policy :
         {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo, queue_policy::random}) {
        CAPTURE(static_cast<int>(policy));
        thread_options const how{.workers = 2, .policy = policy};
        each_mode(program, options, [&](auto const& mode) { CHECK(meet(mode, how)); });
        CHECK(meet(arena{any_order}, how));
    }
}

TEST_CASE("singa-abort: a failure on one of several threads is thrown to the caller, and the executor can "
          "run again")
{
    snapshot const program = op_list(6, {{0}, {0}, {1}, {2, 3}, {4}}, {{1}, {2}, {3}, {4}, {5}});
    plan_options const options{
        .bytes = 64, .role = {input, intermediate, intermediate, intermediate, intermediate, output}};
    cpu_executor<kernel> in_order(program, options, no_plan{}, synthetic_kernel{});
    auto attempt = [](auto& run) {
        fill_noise(run.input(0), 1);
        run.run();
        return digest(run.output(5));
    };
    std::uint64_t const expected = attempt(in_order);
    each_mode(program, options, [&](auto const& mode) {
        each_policy([&](thread_options const& how) {
            std::atomic<step_id> broken = no_step;
            executor run(
                program, options, mode,
                [&](cpu_call const& call) {
                    if (call.step == broken.load()) throw std::exception();
                    synthetic_kernel{}(call);
                },
                how);
            for (step_id s = 0; s != 5; ++s) {
                broken = s;
                step_id said = no_step;
                try {
                    attempt(run);
                } catch (run_error const& e) {
                    said = e.step();
                }
                CHECK(said == s);
                broken = no_step;
                CHECK(attempt(run) == expected);
            }
        });
    });
}

} // namespace this_test
