// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/threads.hpp>

#include "../checked_resource.hpp"
#include "../counted_heap.hpp"
#include "../dead_bytes.hpp"
#include "../operations.hpp"
#include "../printed.hpp"
#include "../run_environment.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using executor = thread_executor<any_kernel>;
using roles = std::vector<value_role>;
value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output;
constexpr std::array levels{executor_options::checks::off, executor_options::checks::plan,
                            executor_options::checks::paint, executor_options::checks::digest};
constexpr std::array policies{queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo,
                              queue_policy::random, queue_policy::given};

//     a ─┬─► b ─► d ─┬─► f ─► g
//        └─► c ─► e ─┘
snapshot const diamond = op_list(7, {{0}, {0}, {1}, {2}, {3, 4}, {5}}, {{1}, {2}, {3}, {4}, {5}, {6}});
plan_options const diamond_options{.bytes = 64, .role = roles{input, none, none, none, none, none, output}};
memory_plan const diamond_plan = plan_memory(diamond, diamond_options).plan;
std::vector<position_id> const diamond_order{0, 1, 2, 3, 4, 5};

std::uint64_t result_of(executor& run)
{
    fill_noise(run.input(0), 1);
    run.run();
    return digest(run.output(6));
}

std::uint64_t diamond_result()
{
    cpu_executor run(diamond, diamond_options, no_plan{}, synthetic_kernel{});
    fill_noise(run.input(0), 1);
    run.run();
    return digest(run.output(6));
}

/// Calls `with(mode, options)` in all modes and policies with 1, 2 and 3 workers.
template <class With>
void for_each_mode(With with)
{
    for (queue_policy const policy : policies)
        for (std::size_t const workers : {1u, 2u, 3u}) {
            CAPTURE(static_cast<int>(policy));
            CAPTURE(workers);
            thread_options at_once{.workers = workers, .policy = policy, .seed = 7};
            if (policy == queue_policy::given) at_once.order = diamond_order;
            with(no_plan{}, at_once);
            with(recycle{}, at_once);
            with(arena{diamond_plan}, at_once);
        }
}

struct loop {
    template <class F>
    void run(std::size_t n, F f)
    {
        for (std::size_t i = 0; i != n; ++i) f(i);
    }
};

struct tasks {
    template <class F>
    void run(std::size_t n, F f)
    {
        std::vector<std::future<void>> all;
        for (std::size_t i = 0; i != n; ++i) all.push_back(std::async(std::launch::async, [&f, i] { f(i); }));
    }
};

struct null_runner {
    template <class F>
    void run(std::size_t, F)
    {
    }
};

struct no_thread {
    template <class F>
    explicit no_thread(F)
    {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    void join() {}
};

static_assert(!std::is_copy_constructible_v<executor>);
static_assert(std::is_nothrow_move_constructible_v<thread_executor<synthetic_kernel>>);

} // namespace

TEST_CASE("the results are those of a sequential run, and the report has workers and waits")
{
    auto const expected = diamond_result();
    for_each_mode([&](auto const& mode, thread_options const& at_once) {
        executor run(diamond, diamond_options, mode, synthetic_kernel{}, at_once);
        CHECK(result_of(run) == expected);
        CHECK(result_of(run) == expected);
        fill_noise(run.input(0), 1);
        run_report const report = run.run();
        CHECK(report.steps == 6);
        CHECK(report.workers == at_once.workers);
        CHECK(report.waits == run.waits().list.size());
        CHECK(report.waits == 5);
        CHECK((report.handoffs == 0) == !std::is_same_v<std::remove_cvref_t<decltype(mode)>, arena>);
    });
}

TEST_CASE("two independent steps run at the same time: each waits until the other has begun")
{
    std::atomic<int> begun = 0;
    auto meet = [&begun](cpu_call const& call) {
        if (call.step == 0 || call.step == 1)
            for (++begun; begun != 2;) std::this_thread::yield();
        synthetic_kernel{}(call);
    };
    auto const apart = plan_concurrent(diamond, diamond_options);
    REQUIRE(apart);
    for (queue_policy const policy : {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo}) {
        executor placed(diamond, diamond_options, arena{apart}, meet, {.policy = policy});
        executor again(diamond, diamond_options, recycle{}, meet, {.policy = policy});
        for (executor* run : {&placed, &again, &placed}) {
            begun = 0;
            CHECK(result_of(*run) == diamond_result());
        }
    }
}

TEST_CASE("a single worker is the caller's thread, and runs steps in the order of the policy")
{
    std::vector<step_id> ran;
    auto const here = std::this_thread::get_id();
    auto note = [&](cpu_call const& call) {
        CHECK(std::this_thread::get_id() == here);
        CHECK(call.step == +call.position);
        ran.push_back(call.step);
        synthetic_kernel{}(call);
    };
    auto order = [&](queue_policy policy, std::vector<position_id> given = {}) {
        ran.clear();
        executor run(diamond, diamond_options, recycle{}, note,
                     {.workers = 1, .policy = policy, .order = given});
        CHECK(result_of(run) == diamond_result());
        return ran;
    };
    using steps = std::vector<step_id>;
    CHECK(order(queue_policy::plan_order) == steps{0, 1, 2, 3, 4, 5});
    CHECK(order(queue_policy::fifo) == steps{0, 1, 2, 3, 4, 5});
    CHECK(order(queue_policy::lifo) == steps{1, 3, 0, 2, 4, 5});
    CHECK(order(queue_policy::given, {1, 0, 3, 2, 4, 5}) == steps{1, 0, 3, 2, 4, 5});
    CHECK_THROWS_WITH_AS(order(queue_policy::given, {0, 2, 4, 1, 3, 5}),
                         "sublet: the given order has a step before one that it waits for",
                         precondition_error);
}

TEST_CASE("your own runner may call concurrently or in sequence, may be shared, and must make all calls")
{
    thread_executor tasked(diamond, diamond_options, arena{diamond_plan}, synthetic_kernel{}, {.workers = 3},
                           {}, tasks{});
    thread_executor looped(diamond, diamond_options, arena{diamond_plan}, synthetic_kernel{}, {.workers = 3},
                           {}, loop{});
    auto result = [](auto& run) {
        fill_noise(run.input(0), 1);
        CHECK(run.run().workers == 3);
        return digest(run.output(6));
    };
    for (int repeat = 0; repeat != 20; ++repeat) {
        CHECK(result(tasked) == diamond_result());
        CHECK(result(looped) == diamond_result());
    }
    thread_executor idle(diamond, diamond_options, recycle{}, synthetic_kernel{}, {}, {}, null_runner{});
    (void)idle.input(0);
    CHECK_THROWS_WITH_AS(idle.run(), "sublet: a runner returned before it made all calls",
                         precondition_error);
    CHECK_THROWS_WITH_AS(executor(diamond, diamond_options, recycle{}, synthetic_kernel{}, {.workers = 0}),
                         "sublet: at least one worker is needed", precondition_error);
}

TEST_CASE("if no thread can be created, the caller's thread runs all steps")
{
    thread_executor run(diamond, diamond_options, recycle{}, synthetic_kernel{}, {.workers = 4}, {},
                        basic_thread_pool<no_thread>{});
    for (int repeat = 0; repeat != 2; ++repeat) {
        fill_noise(run.input(0), 1);
        run.run();
        CHECK(digest(run.output(6)) == diamond_result());
    }
}

TEST_CASE("an executor may be moved between runs, and a moved-from executor runs nothing")
{
    executor first(diamond, diamond_options, arena{diamond_plan}, synthetic_kernel{}, {.workers = 3});
    CHECK(result_of(first) == diamond_result());
    executor second = std::move(first);
    CHECK(result_of(second) == diamond_result());
    CHECK(first.run().steps == 0);
    CHECK(result_of(second) == diamond_result());
}

TEST_CASE("a program without steps can be run")
{
    for (queue_policy const policy : policies)
        for (std::size_t const workers : {1u, 4u}) {
            executor run(snapshot{}, {.bytes = 8}, recycle{}, synthetic_kernel{},
                         {.workers = workers, .policy = policy});
            CHECK(run.run().steps == 0);
        }
}

TEST_CASE("in an arena nothing is allocated while a program runs, after the first run")
{
    for_each_mode([&](auto const& mode, thread_options const& at_once) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(mode)>, arena>)
            for (executor_options::checks const level :
                 {executor_options::checks::off, executor_options::checks::plan}) {
                checked_resource source;
                executor run(diamond, diamond_options, mode, synthetic_kernel{}, at_once,
                             {.check = level, .upstream = &source});
                result_of(run);
                for (int repeat = 0; repeat != 5; ++repeat) {
                    fill_noise(run.input(0), 1);
                    std::size_t const heap_before = heap_allocations,
                                      allocations_before = source.requests.size();
                    run_report const report = run.run();
                    CHECK(heap_allocations == heap_before);
                    CHECK(source.requests.size() == allocations_before);
                    CHECK(report.run.allocations.total == 0);
                }
            }
    });
}

TEST_CASE("references are counted once by each step: storage is freed by the last one, whichever that is")
{
    // 40 steps read one value concurrently, and each writes one that the last step reads.
    std::size_t const readers = 40;
    snapshot const fan = sequence(readers + 2, readers + 2, [&](step_id s, effect_sink& sink) {
        s == 0 || s == readers + 1 ? void() : sink.use(0);
        for (step_id i = 1; s == readers + 1 && i != s; ++i) sink.use(+i);
        sink.def(+s);
    });
    plan_options const options{.bytes = 8, .role = [&](auto v) { return v == readers + 1 ? output : none; }};
    for (std::size_t const workers : {1u, 2u, 4u}) {
        checked_resource source; // not thread-safe: calls must be serialised
        executor run(fan, options, recycle{}, synthetic_kernel{}, {.workers = workers},
                     {.limit = 8 * (readers + 1), .upstream = &source});
        for (int repeat = 0; repeat != 20; ++repeat) {
            run_report const report = run.run();
            CHECK(report.run.bytes == run_report::counter{8, 8 * (readers + 1), 8 * (readers + 2)});
            CHECK(source.live() == 8);
        }
        CHECK_THROWS_AS(executor(fan, options, recycle{}, synthetic_kernel{}, {.workers = workers},
                                 {.limit = 8 * readers})
                            .run(),
                        allocation_error);
    }
}

TEST_CASE("with digests, a step that only makes a view may run while another writes the bytes again")
{
    //  0: -> r     1: -> x     2: x, makes v, a view of r     3: -> r, again     4: v -> y
    auto const p = sequence(5, 4, [](step_id step, effect_sink& s) {
        if (step == 0 || step == 3) s.def(0);
        if (step == 1) s.def(2);
        if (step == 2) s.use(2), s.view(1), s.only_views();
        if (step == 4) s.use(1), s.def(3);
    });
    plan_options const options{.bytes = 64,
                               .role = roles{none, none, none, output},
                               .alias_of = std::vector<value_id>{no_value, 0, no_value, no_value}};
    std::atomic<bool> is_written = false, is_viewed = false;
    auto kernel = [&](cpu_call const& call) {
        auto wait_for = [&call](std::atomic<bool> const& done) {
            while (!done && !call.stop_requested()) std::this_thread::yield();
        };
        if (call.step == 1) wait_for(is_written);
        synthetic_kernel{}(call);
        if (call.step == 2) is_viewed = true;
        if (call.step != 3) return;
        is_written = true; // and step 2 runs before step 3 ends
        wait_for(is_viewed);
    };
    executor run(p, options, no_plan{}, kernel, {.workers = 2}, {.check = executor_options::checks::digest});
    run.run();
    CHECK(is_viewed);
}

TEST_CASE("with digests, a step that only makes a view may run after a result is written over the root")
{
    for (byte_count const view_bytes : {0u, 1u})
        for (bool const reads_early : {false, true}) {
            //  0: makes v, a view of a     1: a -> b, over a
            auto const p = sequence(2, 3, [reads_early](step_id step, effect_sink& s) {
                if (step == 0) return s.view(1);
                reads_early ? s.use_early(0) : s.use(0);
                s.def(2);
                if (!reads_early) s.may_overwrite(0, 2);
            });
            plan_options const options{.bytes = std::vector<byte_count>{1, view_bytes, 1},
                                       .role = roles{input, none, output},
                                       .alias_of = std::vector<value_id>{no_value, 0, no_value}};
            auto const planned = plan_memory(p, options);
            REQUIRE(planned);
            REQUIRE(planned.plan.offset_of(2) == planned.plan.offset_of(0));
            auto check = [&](auto const& mode, thread_options const& threads) {
                std::vector<step_id> order;
                executor run(p, options, mode,
                             [&](cpu_call const& call) {
                                 if (threads.workers == 1) order.push_back(call.step);
                                 if (call.step == 1) call.out(0)[0] = std::byte{9};
                             },
                             threads, {.check = executor_options::checks::digest});
                for (int round = 0; round != 3; ++round) {
                    run.input(0)[0] = std::byte{5};
                    order.clear();
                    run.run();
                    CHECK(run.output(2)[0] == std::byte{9});
                }
                return order;
            };
            for (std::size_t const workers : {1u, 2u})
                for (queue_policy const policy :
                     {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo}) {
                    auto const order = check(arena{planned}, {.workers = workers, .policy = policy});
                    if (workers == 1 && policy == queue_policy::lifo)
                        CHECK(order == std::vector<step_id>{1, 0});
                    (void)check(recycle{}, {.workers = workers, .policy = policy});
                    (void)check(no_plan{}, {.workers = workers, .policy = policy});
                }
        }
}

TEST_CASE("an unsound plan is rejected with its counterexample; without the proof, digests find the "
          "clobbered value")
{
    memory_plan clash = diamond_plan;
    for (value_id v : {1u, 2u}) clash.buffers[clash.buffer_of[v]].offset = 0; // of b and c
    for (executor_options::checks const level :
         {executor_options::checks::plan, executor_options::checks::paint, executor_options::checks::digest})
        try {
            executor(diamond, diamond_options, arena{clash}, synthetic_kernel{}, {}, {.check = level});
            FAIL_CHECK("an unsound plan was run");
        } catch (unsound_plan const& e) {
            CHECK(e.why().what == fault::clash);
        }
    for (std::size_t const workers : {1u, 2u, 3u}) {
        executor run(diamond, diamond_options, arena{clash}, synthetic_kernel{}, {.workers = workers},
                     {.check = executor_options::checks::digest, .prove = false});
        for (int repeat = 0; repeat != 5; ++repeat) try {
                std::uint64_t const left = result_of(run);
                CHECK(workers != 1); // a single worker always loses b; several may have read it in time,
                CHECK(left == diamond_result()); // and a run without an error lost nothing
            } catch (clobbered_value const& e) {
                REQUIRE(e.details().value < 7); // b or c, or d or e placed over one of them
                REQUIRE(e.details().culprit < 7);
                if (workers == 1) CHECK(e.details().value <= 2);
                CHECK(clash.offset_of(e.details().culprit) == clash.offset_of(e.details().value));
                CHECK(e.details().culprit != e.details().value);
            }
    }
    memory_plan beyond = diamond_plan;
    beyond.buffers[2].offset = 4096;
    for (executor_options::checks const level : levels)
        CHECK_THROWS_AS(executor(diamond, diamond_options, arena{beyond}, synthetic_kernel{}, {},
                                 {.check = level, .prove = false}),
                        unsound_plan);
}

TEST_CASE(
    "a kernel that uses its own executor, from any thread, is rejected, and the executor can be used again")
{
    executor* self = nullptr;
    std::atomic<bool> misuses = true;
    executor run(diamond, diamond_options, recycle{},
                 [&](cpu_call const& call) {
                     if (misuses && call.step == 3) self->run();
                     if (misuses && call.step == 2) (void)self->input(0);
                     synthetic_kernel{}(call);
                 },
                 {.workers = 3});
    self = &run;
    for (int repeat = 0; repeat != 10; ++repeat) {
        misuses = true;
        try {
            result_of(run);
            FAIL_CHECK("a kernel ran its executor");
        } catch (run_error const& e) {
            CHECK(cause_of(e) == "sublet: an executor is used by its own kernel, or by two threads");
        }
        misuses = false;
        CHECK(result_of(run) == diamond_result());
    }
}

TEST_CASE("of two concurrent failures the first is thrown and the other counted; running kernels see a stop "
          "request")
{
    std::atomic<int> begun = 0;
    bool later_step_throws = true;
    executor run(diamond, diamond_options, recycle{}, [&](cpu_call const& call) {
        if (call.step > 1) FAIL_CHECK("a step began after a failure");
        for (++begun; begun != 2;) std::this_thread::yield();
        if (call.step == 0) throw precondition_error("no such operation");
        while (!call.stop_requested()) std::this_thread::yield();
        if (later_step_throws) throw precondition_error("stopped");
    });
    for (int repeat = 0; repeat != 20; ++repeat) {
        begun = 0;
        later_step_throws = repeat % 2 == 0;
        try {
            result_of(run);
            FAIL_CHECK("two steps failed without an error");
        } catch (run_error const& e) {
            CHECK(e.step() == 0);
            CHECK(e.later_failures() == (later_step_throws ? 1 : 0));
            CHECK(std::string(e.what()) ==
                  std::string("sublet: at step 0, a kernel threw: no such operation") +
                      (later_step_throws ? "; of the steps that ran at the same time, 1 more failed" : ""));
        }
        CHECK(run.memory().bytes.live == 0);
    }
}

TEST_CASE("any kernel call may throw: the error says so, nothing leaks, and the next run is right")
{
    auto const expected = diamond_result();
    for_each_mode([&](auto const& mode, thread_options const& at_once) {
        for (executor_options::checks const level :
             {executor_options::checks::off, executor_options::checks::digest}) {
            checked_resource source;
            std::optional<step_id> fails;
            std::optional<executor> run;
            run.emplace(
                diamond, diamond_options, mode,
                [&fails](cpu_call const& call) {
                    synthetic_kernel{}(call);
                    if (fails == call.step) throw call.step;
                },
                at_once, executor_options{.check = level, .upstream = &source});
            byte_count const arenas = run->memory().bytes.live;
            for (step_id at = 0; at != 6; ++at) {
                fails = at;
                try {
                    result_of(*run);
                    FAIL_CHECK("a kernel threw without an error");
                } catch (run_error const& e) {
                    CHECK(e.step() == at);
                    CHECK(e.later_failures() == 0);
                    CHECK_THROWS_AS(std::rethrow_exception(e.cause()), step_id);
                }
                CHECK(run->memory().bytes.live == arenas);
                CHECK_THROWS_AS(run->run(), unusable_value); // inputs have to be given again
                fails.reset();
                CHECK(result_of(*run) == expected);
            }
            run.reset();
            CHECK(source.live_blocks.empty());
        }
    });
}

TEST_CASE("any allocation may fail: the error says so, nothing leaks, and the next run is right")
{
    auto const expected = diamond_result();
    std::size_t failures = 0;
    for_each_mode([&](auto const& mode, thread_options const& at_once) {
        for (std::size_t max_allocations = 0, failed = 1; failed != 0; ++max_allocations) {
            CAPTURE(max_allocations);
            failed = 0;
            checked_resource source{.max_allocations = max_allocations};
            std::optional<executor> run;
            try {
                run.emplace(diamond, diamond_options, mode, synthetic_kernel{}, at_once,
                            executor_options{.upstream = &source});
                result_of(*run);
            } catch (allocation_error const& e) {
                ++failures, ++failed;
                CHECK(e.bytes() == source.refused_bytes);
                CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::bad_alloc);
                CHECK(source.live_blocks.empty());
            }
            source.max_allocations = ~std::size_t{0};
            if (run) CHECK(result_of(*run) == expected);
            run.reset();
            CHECK(source.live_blocks.empty());
        }
    });
    CHECK(failures > 150);
}

TEST_CASE(
    "any allocation of a run itself from the free store may fail: nothing leaks, and the next run is right")
{
    auto const expected = diamond_result();
    std::size_t failures = 0;
    for_each_mode([&](auto const& mode, thread_options const& at_once) {
        for (executor_options::checks const level :
             {executor_options::checks::plan, executor_options::checks::digest}) {
            executor run(diamond, diamond_options, mode, synthetic_kernel{}, at_once, {.check = level});
            byte_count const arenas = run.memory().bytes.live;
            for (std::size_t max_allocations = 0, failed = 1; failed != 0; ++max_allocations) {
                CAPTURE(max_allocations);
                failed = 0;
                fill_noise(run.input(0), 1);
                heap_limit = heap_allocations + max_allocations;
                try {
                    run.run();
                } catch (std::exception const&) {
                    failed = 1;
                }
                heap_limit = ~std::size_t{0};
                failures += failed;
                if (failed != 0) CHECK(run.memory().bytes.live == arenas);
                CHECK(result_of(run) == expected);
            }
        }
    });
#if !defined(HEAP_IS_NOT_COUNTED)
    CHECK(failures > 100);
#endif
}

// --- thread pool -------------------------------------------------------------------------------------------

namespace {

static_assert(runner<thread_pool> && runner<loop> && !runner<int>);
static_assert(std::is_nothrow_move_constructible_v<thread_pool> &&
              !std::is_copy_constructible_v<thread_pool>);

/// Threads of a limited number.
struct failing_thread : std::thread {
    static inline int left = 0;
    template <class F>
    explicit failing_thread(F f) : std::thread(start(f))
    {
    }
    template <class F>
    static std::thread start(F f)
    {
        if (left == 0)
            throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        --left;
        return std::thread(f);
    }
};

template <class Pool>
void expect_each_once(Pool& pool, std::size_t n)
{
    std::vector<std::atomic<int>> calls(n + 1);
    pool.run(n, [&calls](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i != n; ++i) CHECK(calls[i] == 1);
    CHECK(calls[n] == 0);
}

} // namespace

TEST_CASE("each call is made once, by the same threads in every run, and a single one by the caller")
{
    thread_pool pool;
    std::mutex guard;
    std::set<std::thread::id> seen;
    auto see = [&](std::size_t) {
        std::lock_guard const only(guard);
        seen.insert(std::this_thread::get_id());
    };
    pool.run(0, see);
    CHECK(seen.empty());
    pool.run(1, see);
    CHECK(seen == std::set{std::this_thread::get_id()});
    CHECK(pool.threads() == 0);
    for (int repeat = 0; repeat != 50; ++repeat) {
        std::atomic<int> here = 0;
        pool.run(4, [&](std::size_t i) { // each waits for the others, so that no thread makes two
            see(i);
            ++here;
            for (int now = here; now != 4; now = here) std::this_thread::yield();
        });
    }
    CHECK(seen.size() == 4);
    CHECK(pool.threads() == 3);
}

TEST_CASE("runs may need more or fewer threads than before")
{
    thread_pool pool;
    for (std::size_t const n : {3u, 1u, 5u, 2u, 0u, 6u, 4u}) expect_each_once(pool, n);
    CHECK(pool.threads() == 5);
    thread_pool moved = std::move(pool);
    expect_each_once(moved, 7);
    expect_each_once(pool, 2); // a moved-from pool can be used again
    CHECK(moved.threads() == 6);
}

TEST_CASE("all calls run at the same time, so that they may wait for each other")
{
    thread_pool pool;
    for (int repeat = 0; repeat != 20; ++repeat) {
        std::atomic<int> here = 0;
        pool.run(3, [&here](std::size_t) {
            ++here;
            for (int now = here; now != 3; now = here) std::this_thread::yield();
        });
        CHECK(here == 3);
    }
}

TEST_CASE("calls are made even if threads cannot be created")
{
    for (int const has : {0, 1, 2}) {
        CAPTURE(has);
        failing_thread::left = has;
        basic_thread_pool<failing_thread> pool;
        expect_each_once(pool, 5);
        CHECK(pool.threads() == static_cast<std::size_t>(has));
        expect_each_once(pool, 5);
        failing_thread::left = 9;
        expect_each_once(pool, 5);
        CHECK(pool.threads() == 4);
    }
}

} // namespace this_test
