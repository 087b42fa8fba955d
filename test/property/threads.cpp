// SPDX-License-Identifier: BSL-1.0
// Random programs on threads: with every plan, queue and number of workers the results are those of a single
// thread with separate storage for each value. SUBLET_ROUNDS in the environment multiplies the programs.
#include <sublet/execution/threads.hpp>

#include "../random_source.hpp"
#include "../random_views.hpp"
#include "../run_environment.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using serial = cpu_executor<any_kernel>;
using threaded = thread_executor<any_kernel>;

std::vector<position_id> draw_valid_order(step_waits const& waits, random_source& pick)
{
    ready_queue queue(queue_policy::random, waits.before.rows(), pick.wide());
    return order_of_one_worker(waits, queue);
}

/// Runs a subject in every mode with every queue and 1, 2 and 4 workers; returns the number of runs.
std::size_t run_all_modes(subject const& s, random_source& pick)
{
    run_environment alone(s);
    serial reference(s.program, s.options, no_plan{}, alone.traced(0), {.scratch = s.is_scratch});
    outcome const expected[] = {alone.run(reference, 1), alone.run(reference, 2)};
    std::size_t runs = 0;
    auto run_with = [&](auto const& mode, thread_options const& at_once, executor_options::checks level) {
        CAPTURE(static_cast<int>(at_once.policy));
        CAPTURE(at_once.workers);
        CAPTURE(static_cast<int>(level));
        run_environment environment(s);
        threaded run(s.program, s.options, mode, environment.traced(pick.below(5)), at_once,
                     {.check = level, .scratch = s.is_scratch});
        for (unsigned const number : {1u, 2u}) {
            CAPTURE(number);
            CHECK(environment.run(run, number) == expected[number - 1]);
            CHECK(environment.report().waits == run.waits().list.size());
            if constexpr (std::same_as<std::remove_cvref_t<decltype(mode)>, arena>)
                CHECK(environment.report().lower_bound <= environment.report().plan_bytes);
            ++runs;
        }
        return run.waits();
    };
    auto run_all = [&](auto const& mode) {
        step_waits const waits = run_with(mode, {.workers = 2}, executor_options::checks::digest);
        for (std::size_t const workers : {1u, 2u, 4u})
            for (auto const policy : {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo,
                                      queue_policy::random, queue_policy::given}) {
                thread_options at_once{.workers = workers, .policy = policy, .seed = pick.wide()};
                if (policy == queue_policy::given) at_once.order = draw_valid_order(waits, pick);
                executor_options::checks const levels[] = {
                    executor_options::checks::off, executor_options::checks::plan,
                    executor_options::checks::paint, executor_options::checks::digest};
                run_with(mode, at_once, levels[pick.below(4)]);
            }
    };
    auto when_sound = [&](char const* planner, planned_memory const& planned) {
        CAPTURE(planner);
        if (planned) run_all(arena{planned});
        return bool(planned);
    };
    run_all(no_plan{});
    run_all(recycle{});
    CHECK(when_sound("plan_memory", plan_memory(s.program, s.options)));
    when_sound("plan_concurrent", plan_concurrent(s.program, s.options));
    when_sound("plan_with_handoffs", plan_with_handoffs(s.program, s.options));
    return runs;
}

unsigned const programs = 25;

/// How many runs of drawn programs gave equal results.
template <class Draw>
std::size_t run_drawn(Draw draw)
{
    std::size_t runs = 0;
    for (unsigned seed = 0; seed != rounds(programs); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        runs += run_all_modes(draw(pick), pick);
    }
    return runs;
}

} // namespace

TEST_CASE("random programs on threads give equal results for every plan, queue and number of workers")
{
    CHECK(run_drawn(draw_subject) > rounds(programs) * 96); // some can be planned for any schedule too
}

TEST_CASE("versions of random names give equal results on threads, with every plan")
{
    CHECK(run_drawn(draw_versions) == rounds(programs) * 160);
}

TEST_CASE("views of parts and writes in place give equal results on threads, with every plan")
{
    auto const draw = [](random_source& pick) -> subject {
        random_views const views = draw_views(pick, 9);
        return {views.program(), views.options(), std::vector<bool>(views.values())};
    };
    CHECK(run_drawn(draw) == rounds(programs) * 160);
}

} // namespace this_test
