// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/step_dispatcher.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Waits drawn between positions, each from a lower to a higher one; few make broad programs, many long ones.
step_waits drawn_waits(dice& pick, step_id positions)
{
    step_waits waits;
    std::uint32_t const many = pick.below(4);
    for (step_id to = 0; to != positions; ++to)
        for (step_id from = 0; from != to; ++from)
            if (pick.below(positions) < many) waits.list.push_back({from, to, step_waits::kind::data});
    waits.before = csr_rows::gathered(positions, [&](auto add) {
        for (step_waits::wait w : waits.list) add(w.to, w.from);
    });
    waits.after = waits.before.transposed(positions);
    return waits;
}

struct tables {
    step_waits waits;
    ready_queue queue;
    std::vector<std::uint32_t> pending;

    tables(step_waits of, queue_policy policy) : waits(std::move(of)), queue(policy, waits.before.rows(), 3)
    {
        pending.resize(waits.before.rows());
    }
};

} // namespace

TEST_CASE("a worker alone does everything, and those who come later find nothing to do")
{
    dice pick{std::mt19937{1}};
    for (queue_policy const policy : {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo}) {
        tables its(drawn_waits(pick, 20), policy);
        std::vector<step_id> const expected = order_of_one_worker(its.waits, its.queue);
        detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
        std::vector<step_id> order;
        dispatcher.work([&](step_id at) { order.push_back(at); });
        CHECK(order.size() == expected.size());
        CHECK(dispatcher.is_over());
        dispatcher.work([](step_id) { FAIL_CHECK("done twice"); });
    }
}

TEST_CASE("several workers do each step once, after all that it waits for")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        step_id const positions = pick.below(60);
        auto const policy = static_cast<queue_policy>(pick.below(4));
        CAPTURE(static_cast<int>(policy));
        tables its(drawn_waits(pick, positions), policy);
        for (int repeat = 0; repeat != 3; ++repeat) {
            detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
            std::vector<int> done(
                positions); // no atomics: what a step sees of others is the dispatcher's doing
            std::atomic<int> wrong = 0;
            auto work = [&] {
                dispatcher.work([&](step_id at) {
                    for (step_id before : its.waits.before[at]) wrong += done[before] != 1;
                    if (at % 7 == seed % 7) std::this_thread::yield();
                    ++done[at];
                });
            };
            {
                std::jthread const a(work), b(work);
                work();
            }
            CHECK(wrong == 0);
            CHECK(dispatcher.is_over());
            for (int times : done) CHECK(times == 1);
        }
    }
}

TEST_CASE("after a stop no step begins, and workers that sleep are woken to leave")
{
    for (step_id const stops_at : {0u, 5u, 19u}) {
        step_waits chain;
        chain.before = csr_rows::gathered(20, [](auto add) {
            for (step_id at = 1; at != 20; ++at) add(at, at - 1);
        });
        chain.after = chain.before.transposed(20);
        tables its(chain, queue_policy::fifo);
        detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
        std::atomic<int> steps = 0;
        auto work = [&] {
            dispatcher.work([&](step_id at) {
                ++steps;
                if (at != stops_at) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(2)); // others sleep by now
                dispatcher.stop();
            });
        };
        {
            std::jthread const a(work), b(work);
            work();
        }
        CHECK(steps == static_cast<int>(stops_at) + 1);
        CHECK(dispatcher.is_stopping());
        CHECK(dispatcher.is_over());
    }
}

} // namespace this_test
