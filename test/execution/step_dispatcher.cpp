// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/step_dispatcher.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Random waits, each from a lower to a higher position; few make broad programs, many long ones.
step_waits draw_waits(random_source& pick, std::uint32_t positions)
{
    step_waits waits;
    std::uint32_t const many = pick.below(4);
    for (position_id to = 0; to != positions; ++to)
        for (position_id from = 0; from != to; ++from)
            if (pick.below(positions) < many) waits.list.push_back({from, to, step_waits::kind::data});
    waits.before = csr_rows<position_id, position_id>::gathered(positions, [&](auto add) {
        for (step_waits::wait w : waits.list) add(w.to, w.from);
    });
    waits.after = waits.before.transposed(positions);
    return waits;
}

struct tables {
    step_waits waits;
    ready_queue queue;
    table<position_id, std::uint32_t> pending;

    tables(step_waits of, queue_policy policy) : waits(std::move(of)), queue(policy, waits.before.rows(), 3)
    {
        pending.resize(waits.before.rows());
    }
};

} // namespace

TEST_CASE("a single worker runs all steps, and workers that come later find none")
{
    random_source pick{std::mt19937{1}};
    for (queue_policy const policy : {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo}) {
        tables its(draw_waits(pick, 20), policy);
        std::vector<position_id> const expected = order_of_one_worker(its.waits, its.queue);
        detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
        std::vector<position_id> order;
        dispatcher.work([&](position_id at) { order.push_back(at); });
        CHECK(order.size() == expected.size());
        CHECK(dispatcher.is_over());
        dispatcher.work([](position_id) { FAIL_CHECK("done twice"); });
    }
}

TEST_CASE("several workers run each step once, after all that it waits for")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const positions = pick.below(60);
        auto const policy = static_cast<queue_policy>(pick.below(4));
        CAPTURE(static_cast<int>(policy));
        tables its(draw_waits(pick, positions), policy);
        for (int repeat = 0; repeat != 3; ++repeat) {
            detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
            std::vector<int> done(positions); // no atomics: the dispatcher must synchronise steps
            std::atomic<int> wrong = 0;
            auto work = [&] {
                dispatcher.work([&](position_id at) {
                    for (position_id before : its.waits.before[at]) wrong += done[before] != 1;
                    if (at % 7 == seed % 7) std::this_thread::yield();
                    ++done[at];
                });
            };
            {
                auto const a = std::async(std::launch::async, work), b = std::async(std::launch::async, work);
                work();
            }
            CHECK(wrong == 0);
            CHECK(dispatcher.is_over());
            for (int times : done) CHECK(times == 1);
        }
    }
}

TEST_CASE("after a stop no step begins, and sleeping workers are woken to leave")
{
    for (position_id const stops_at : {0u, 5u, 19u}) {
        step_waits chain;
        chain.before = csr_rows<position_id, position_id>::gathered(20, [](auto add) {
            for (position_id at = 1; at != 20; ++at) add(at, at - 1);
        });
        chain.after = chain.before.transposed(20);
        tables its(chain, queue_policy::fifo);
        detail::step_dispatcher dispatcher(its.waits, its.queue, its.pending);
        std::atomic<int> steps = 0;
        auto work = [&] {
            dispatcher.work([&](position_id at) {
                ++steps;
                if (at != stops_at) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(2)); // the others sleep by now
                dispatcher.stop();
            });
        };
        {
            auto const a = std::async(std::launch::async, work), b = std::async(std::launch::async, work);
            work();
        }
        CHECK(steps == static_cast<int>(stops_at) + 1);
        CHECK(dispatcher.is_stopping());
        CHECK(dispatcher.is_over());
    }
}

// --- ready queue -------------------------------------------------------------------------------------------

namespace {

constexpr std::array policies{queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo,
                              queue_policy::random, queue_policy::given};

std::vector<position_id> taken(ready_queue& queue)
{
    std::vector<position_id> all;
    for (position_id at = queue.pop(); at != no_position; at = queue.pop()) all.push_back(at);
    return all;
}

/// Random waits, each from a lower to a higher position.
step_waits draw_wait_graph(random_source& pick, std::uint32_t positions)
{
    step_waits waits;
    for (position_id to = 0; to != positions; ++to)
        for (position_id from = 0; from != to; ++from)
            if (pick.below(positions) < 2) waits.list.push_back({from, to, step_waits::kind::data});
    waits.before = csr_rows<position_id, position_id>::gathered(positions, [&](auto add) {
        for (step_waits::wait w : waits.list) add(w.to, w.from);
    });
    waits.after = waits.before.transposed(positions);
    return waits;
}

} // namespace

TEST_CASE("the policy selects among the ready steps")
{
    auto order = [](queue_policy policy, std::vector<position_id> given = {}) {
        ready_queue queue(policy, 8, 1, given);
        for (position_id at : {5u, 2u, 7u, 4u}) queue.push(at);
        return taken(queue);
    };
    using positions = std::vector<position_id>;
    CHECK(order(queue_policy::plan_order) == positions{2, 4, 5, 7});
    CHECK(order(queue_policy::fifo) == positions{5, 2, 7, 4});
    CHECK(order(queue_policy::lifo) == positions{4, 7, 2, 5});
    CHECK(order(queue_policy::given, {7, 5, 6, 0, 1, 2, 3, 4}) == positions{7, 5}); // 6 is next but not ready
}

TEST_CASE("random steps are the same for the same seed, different for others, and repeat after a clear")
{
    std::set<std::vector<position_id>> seen;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        ready_queue queue(queue_policy::random, 10, seed);
        auto draw = [&queue, &seen] {
            queue.clear();
            for (position_id at = 0; at != 10; ++at) queue.push(at);
            auto all = taken(queue);
            seen.insert(all);
            std::sort(all.begin(), all.end());
            for (position_id at = 0; at != 10; ++at) CHECK(all[at] == at);
        };
        draw();
        draw();
    }
    CHECK(seen.size() == 20);
}

TEST_CASE("any sequence of pushes and pops agrees with a list that is searched")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const positions = 1 + pick.below(12);
        std::vector<position_id> to_come = pick.permutation<position_id>(positions), order = to_come;
        pick.shuffle(order);
        auto const policy = policies[pick.below(5)];
        CAPTURE(static_cast<int>(policy));
        ready_queue queue(policy, positions, seed,
                          policy == queue_policy::given ? order : std::vector<position_id>{});
        std::vector<position_id> ready; // in order of arrival
        std::size_t done = 0;
        for (int action = 0; action != 40; ++action) {
            bool const given_next =
                done != order.size() && std::find(ready.begin(), ready.end(), order[done]) != ready.end();
            CHECK(queue.is_empty() == (policy == queue_policy::given ? !given_next : ready.empty()));
            if (pick.below(2) == 0 && !to_come.empty()) {
                queue.push(to_come.back());
                ready.push_back(to_come.back());
                to_come.pop_back();
                continue;
            }
            position_id const got = queue.pop();
            if (ready.empty() || (policy == queue_policy::given && !given_next)) {
                CHECK(got == no_position);
                continue;
            }
            auto const at = std::find(ready.begin(), ready.end(), got);
            REQUIRE(at != ready.end());
            switch (policy) {
            case queue_policy::plan_order: CHECK(got == *std::min_element(ready.begin(), ready.end())); break;
            case queue_policy::fifo: CHECK(got == ready.front()); break;
            case queue_policy::lifo: CHECK(got == ready.back()); break;
            case queue_policy::given: CHECK(got == order[done]); break;
            case queue_policy::random: break;
            }
            ready.erase(at);
            ++done;
        }
    }
}

TEST_CASE("a single worker runs each step once after all that it waits for, by plan_order as listed")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const positions = pick.below(12);
        step_waits const waits = draw_wait_graph(pick, positions);
        std::vector<position_id> last;
        for (queue_policy const policy : policies) {
            CAPTURE(static_cast<int>(policy));
            ready_queue queue(policy, positions, seed,
                              policy == queue_policy::given ? last : std::vector<position_id>{});
            auto const order = order_of_one_worker(waits, queue);
            if (policy == queue_policy::given) CHECK(order == last);
            last = order;
            std::vector<std::size_t> when(positions, positions);
            for (std::size_t i = 0; i != order.size(); ++i) when.at(order[i]) = i;
            for (std::size_t at = 0; at != positions; ++at) {
                CHECK(when[at] < positions);
                if (policy == queue_policy::plan_order) CHECK(when[at] == at);
            }
            for (step_waits::wait w : waits.list) CHECK(when[w.from] < when[w.to]);
        }
    }
}

TEST_CASE("a given order names every position once, and each after those that it waits for")
{
    auto refuses = [](std::vector<position_id> order, char const* sentence) {
        auto make = [&order] {
            step_waits waits;
            waits.before = csr_rows<position_id, position_id>::gathered(3, [](auto add) { add(2, 1); });
            waits.after = waits.before.transposed(3);
            ready_queue queue(queue_policy::given, 3, 0, order);
            (void)order_of_one_worker(waits, queue);
        };
        CHECK_THROWS_WITH_AS(make(), sentence, precondition_error);
    };
    refuses({0, 1}, "sublet: an order does not name position 2");
    refuses({0, 1, 1}, "sublet: an order names position 1 twice");
    refuses({0, 1, 3}, "sublet: an order names position 3, but there are only 3 of them");
    refuses({0, 1, 2, 2}, "sublet: an order names position 2 twice");
    refuses({0, 2, 1}, "sublet: the given order has a step before one that it waits for");
    ready_queue queue(queue_policy::given, 0);
    CHECK(queue.pop() == no_position);
    CHECK_THROWS_AS(ready_queue(queue_policy::fifo, 3, 0, {0, 1, 2}), precondition_error); // not used
}

} // namespace this_test
