// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP
#define SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP

/// Dispatches ready steps to workers: list scheduling with a queue policy. Amortised O(1) per wait and one
/// queue operation per step; workers without work spin, then sleep.

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/adaptive_mutex.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- ready queue -----------------------------------------------------------------------------------------

/// The steps with all waits satisfied, in the order of a policy.
///
///     ready, in this order     5  2  7  4
///
///     plan_order   2           the lowest position: plan order
///     fifo         5           ready for the longest time
///     lifo         4           ready last: its operands are likely in the cache
///     random       7           random; the same for the same seed
///     given        -           none now: 6 is next in the given order
///
/// A sound plan is valid under every policy; the policies exist for tests and measurements.

namespace sublet::detail {

/// Each position may become ready once.
class ready_queue {
public:
    /// Requires: `order` names every position once for `given`, and is empty otherwise.
    /// Throws:   precondition_error where a requirement is broken.
    ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed = 0,
                std::vector<position_id> order = {});

    void clear();

    /// Complexity: of `plan_order` O(log ready), of the others O(1); no allocation.
    void push(position_id at);

    /// The next one, or `no_position` if none is ready.
    /// Complexity: as of push().
    position_id pop();

    [[nodiscard]] bool is_empty() const
    {
        if (policy_ == queue_policy::given) return first_ == order_.size() || !is_ready_[order_[first_]];
        return ready_.size() == first_;
    }

    /// A worker may run the only ready step without the queue.
    [[nodiscard]] bool allows_bypass() const { return policy_ != queue_policy::given; }

private:
    static bool is_later(position_id a, position_id b) { return a > b; } // the heap has its maximum on top

    queue_policy policy_;
    std::uint64_t seed_, random_state_;
    std::vector<position_id> order_;             // of `given`
    table<position_id, unsigned char> is_ready_; // of `given`
    std::vector<position_id> ready_;             // of the others: a heap, a queue or a stack
    std::size_t first_ = 0;                      // how many of the queue, or of the order, have been taken
};

/// The order in which a single worker runs all steps.
///
/// Requires:   each wait leads from a lower position to a higher one.
/// Complexity: O(steps + waits) and one push and pop per step.
/// Throws:     precondition_error if a given order has a step before one that it waits for.
[[nodiscard]] std::vector<position_id> order_of_one_worker(step_waits const& waits, ready_queue& queue);

// --- step dispatcher -------------------------------------------------------------------------------------

/// Runs each step of a run once, on some worker, when all that it waits for is done.
///
///     pending   0: -   1: 1   2: 1   3: 2        worker A finished 0: 1 and 2 become ready,
///                                                A takes 1; 2 is queued, and a sleeping worker is woken
///
/// A worker that finishes a step decrements the counts of the steps that wait for it. If exactly one becomes
/// ready and the queue is empty, the worker runs it without the lock: a chain costs no lock. Otherwise it
/// uses the queue. A worker that finds the queue empty spins for a while, then sleeps; a worker that leaves
/// ready steps in it wakes one sleeping worker, which wakes the next. The run is over when nothing is ready
/// and no worker is active.

class step_dispatcher {
public:
    /// The caller owns the tables, so that another run allocates nothing.
    /// Requires: `pending` has an entry for each position; a given order keeps the waits.
    step_dispatcher(step_waits const& waits, ready_queue& queue, table<position_id, std::uint32_t>& pending);

    /// The loop of a worker: calls `do_step(position)` for steps as they become ready, until none is left.
    /// Any number of workers may call it, at any time; a single one runs all steps.
    /// Requires: do_step throws nothing.
    template <class DoStep>
    void work(DoStep do_step)
    {
        for (position_id at = wait_for_step(); at != no_position;) {
            do_step(at);
            at = next(at);
            if (at == no_position) at = wait_for_step();
        }
    }

    /// No step begins any more.
    void stop() noexcept;
    [[nodiscard]] std::atomic<bool> const& is_stopping() const noexcept { return is_stopping_; }
    /// All steps are done, or stop() was called.
    [[nodiscard]] bool is_over() const noexcept;

private:
    /// After a step: one that became ready, or the next of the queue; `no_position`: none now.
    position_id next(position_id done);

    /// Counts one satisfied wait of the step; true for its last one.
    bool count_down(position_id at);

    /// The next step for an idle worker; `no_position`: the run is over.
    position_id wait_for_step();

    void sleep();

    /// Whether a step became ready, or the run ended, while spinning.
    bool spin_for_work() const;

    // --- under the lock ---------------------------------------------------------------------------------

    /// Publishes whether a step is ready. True: a sleeping worker must be notified.
    bool publish_ready();
    void end();

    step_waits const& waits_;
    ready_queue& queue_;
    table<position_id, std::uint32_t>& pending_; // waits still to be satisfied
    std::atomic<bool> has_ready_{false};         // the queue is not empty
    std::atomic<bool> is_stopping_{false};
    std::atomic<bool> is_over_{false};
    std::atomic<std::uint32_t> wakeups_{0}; // counts notifications; idle workers sleep on it
    adaptive_mutex lock_;                   // guards the queue and the next three
    std::uint32_t active_ = 0;              // workers that run a step
    std::uint32_t sleeping_ = 0;            // workers that sleep
    std::uint32_t waking_ = 0;              // sleeping workers that have been notified
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_dispatcher.ipp>
#endif

#endif
