// SPDX-License-Identifier: BSL-1.0
// Random programs on threads: with every plan, queue and number of workers the results are those of a single
// thread with separate storage for each value. SUBLET_ROUNDS in the environment multiplies the programs.
#include <sublet/execution/threads.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../random_views.hpp"
#include "../run_environment.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/schedules.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
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
    serial reference(s.program, s.options, no_plan{}, alone.traced(0));
    outcome const expected[] = {alone.run(reference, 1), alone.run(reference, 2)};
    std::size_t runs = 0;
    auto run_with = [&](auto const& mode, thread_options const& at_once, executor_options::checks level) {
        CAPTURE(static_cast<int>(at_once.policy));
        CAPTURE(at_once.workers);
        CAPTURE(static_cast<int>(level));
        run_environment environment(s);
        threaded run(s.program, s.options, mode, environment.traced(pick.below(5)), at_once,
                     {.check = level});
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

/// Counts the bytes that are live while steps of random tasks run, and the sections of groups.
class live_count {
public:
    byte_count most_live = 0;
    std::vector<std::size_t> most_open; ///< by group

    live_count(random_tasks const& tasks, std::vector<step_group> groups)
        : most_open(groups.size(), 0), tasks_(tasks), groups_(std::move(groups)), left_(tasks.values(), 0),
          open_(groups_.size(), 0)
    {
        for (auto const& task : tasks_.tasks)
            for (auto const* row : {&task.uses, &task.early, &task.defs})
                for (value_id v : *row) ++left_[v];
        for (step_group const& group : groups_) {
            steps_left_.emplace_back();
            for (auto const& section : group.sections) steps_left_.back().push_back(section.size());
        }
    }
    void begin(step_id s)
    {
        std::scoped_lock const lock(mutex_);
        for (value_id v : tasks_.tasks[s].defs) live_ += tasks_.bytes[v];
        most_live = std::max(most_live, live_);
        each_section_of(s, [&](std::size_t group, std::size_t section) {
            if (steps_left_[group][section] == groups_[group].sections[section].size()) ++open_[group];
            most_open[group] = std::max(most_open[group], open_[group]);
        });
    }
    void end(step_id s)
    {
        std::scoped_lock const lock(mutex_);
        auto const& task = tasks_.tasks[s];
        for (auto const* row : {&task.uses, &task.early, &task.defs})
            for (value_id v : *row)
                if (--left_[v] == 0 && !has_role(tasks_.role[v], value_role::output))
                    live_ -= tasks_.bytes[v];
        each_section_of(s, [&](std::size_t group, std::size_t section) {
            if (--steps_left_[group][section] == 0) --open_[group];
        });
    }

private:
    template <class Visit>
    void each_section_of(step_id s, Visit visit)
    {
        for (std::size_t g = 0; g != groups_.size(); ++g)
            for (std::size_t i = 0; i != groups_[g].sections.size(); ++i)
                for (step_id other : groups_[g].sections[i])
                    if (other == s) visit(g, i);
    }

    std::mutex mutex_;
    random_tasks const& tasks_;
    std::vector<step_group> groups_;
    std::vector<std::size_t> left_; // touches, by value
    std::vector<std::vector<std::size_t>> steps_left_;
    std::vector<std::size_t> open_;
    byte_count live_ = 0;
};

} // namespace

TEST_CASE("in runs under a cap and in groups never more bytes are live, nor more sections open, than may be")
{
    unsigned runs = 0, capped = 0, waits = 0;
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 4 + pick.below(16), .back = seed % 2 == 0 ? 0u : 4u, .early = 0, .given = 0});
        auto const takes = draw_durations(pick, tasks, 3);
        handoff_options wanted{.duration = takes, .workers = 1 + pick.below(4), .minimum_gain = 0};
        if (seed % 2 == 0) { // of some tasks at most one or two at once
            step_group group;
            group.at_once = 1 + pick.below(2);
            for (std::size_t t = 0; t != tasks.tasks.size(); ++t)
                if (pick.below(2) == 0) group.sections.push_back({step_id::of(t)});
            wanted.groups = {group};
        }
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        REQUIRE(curve);
        auto const& point = curve.points[pick.below(static_cast<unsigned>(curve.points.size()))];
        wanted.most_bytes = point.live_bytes;
        auto planned = plan_with_handoffs(tasks.program(), tasks.options(), wanted);
        if (!planned) { // offsets need more than what is live
            CHECK(planned.error().what == fault::over_budget);
            wanted.most_bytes = no_limit;
            planned = plan_with_handoffs(tasks.program(), tasks.options(), wanted);
        } else ++capped;
        REQUIRE(planned);
        waits += !planned.plan.handoffs.empty();
        for (unsigned run = 0; run != 10; ++run, ++runs) {
            live_count count(tasks, wanted.groups);
            auto kernel = [&](cpu_call const& call) {
                count.begin(call.step);
                std::this_thread::yield();
                count.end(call.step);
            };
            thread_options const at_once{
                .workers = 1 + pick.below(4), .policy = queue_policy::random, .seed = pick.wide()};
            thread_executor threads(tasks.program(), tasks.options(), arena{planned}, kernel, at_once);
            threads.run();
            CHECK(count.most_live <= planned.report().arena_bytes);
            CHECK(planned.report().arena_bytes <= wanted.most_bytes);
            for (std::size_t g = 0; g != wanted.groups.size(); ++g)
                CHECK(count.most_open[g] <= wanted.groups[g].at_once);
        }
    }
    CHECK(runs == 10 * rounds(100));
    if (rounds(100) < 100) return;
    CHECK(capped > 80);
    CHECK(waits > 50);
}

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
        return {views.program(), views.options()};
    };
    CHECK(run_drawn(draw) == rounds(programs) * 160);
}

} // namespace this_test
