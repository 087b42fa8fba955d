// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP
#define SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP

/// Ready steps, and the workers that they go to.

#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- ready queue -----------------------------------------------------------------------------------------

/// Steps that wait for nothing any more, and which of them is next.
///
///     ready, as they came      5  2  7  4
///
///     plan_order   2           the first by position, as the plan has it
///     fifo         5           who has been ready for longest
///     lifo         4           who became ready last: its operands are still warm
///     random       7, say      drawn; the same for the same seed
///     given        -           6 is next in the order that was given, and nobody overtakes it
///
/// A sound plan holds whichever is taken; the policies are there to show it, and to be measured.

namespace sublet::detail {

/// Positions, each of which may become ready once.
class ready_queue {
public:
    /// Requires: of `given`, `order` names every position once; of the others there is none.
    /// Throws:   precondition_error where a requirement is broken.
    ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed = 0,
                std::vector<step_id> order = {});

    /// As it was made: nothing is ready.
    void clear();

    /// Complexity: of `plan_order` O(log ready), of the others O(1); no allocation.
    void push(step_id at);

    /// The next one, or `no_step` if none can be taken now.
    /// Complexity: as of push().
    step_id pop();

    /// Whether none can be taken now.
    [[nodiscard]] bool is_empty() const
    {
        if (policy_ == queue_policy::given) return first_ == order_.size() || !is_ready_[order_[first_]];
        return ready_.size() == first_;
    }

    /// Somebody who is alone, and has just made one step ready, takes that.
    [[nodiscard]] bool allows_bypass() const { return policy_ != queue_policy::given; }

private:
    static bool is_later(step_id a, step_id b) { return a > b; } // the heap has its greatest on top

    queue_policy policy_;
    std::uint64_t seed_, random_state_;
    std::vector<step_id> order_;          // of `given`
    std::vector<unsigned char> is_ready_; // of `given`, by position
    std::vector<step_id> ready_;          // of the others; a heap, a row or a stack
    std::size_t first_ = 0;               // how many of the row, or of the order, have been taken
};

/// The order in which one worker takes all steps.
///
/// Requires:   each wait leads from a lower position to a higher one.
/// Complexity: O(steps + waits) and as many pushes and pops as there are steps.
/// Throws:     precondition_error if a given order has a step before one that it waits for.
[[nodiscard]] std::vector<step_id> order_of_one_worker(step_waits const& waits, ready_queue& queue);

// --- step dispatcher -------------------------------------------------------------------------------------

/// Hands the steps of one run to workers, each step once, when all that it waits for is done.
///
///     pending   0: -   1: 1   2: 1   3: 2        worker A did 0: 1 and 2 have nothing to wait for any more,
///                                                A takes 1; 2 is ready, and a worker that sleeps is woken
///
/// A worker that has done a step counts down those that wait for it. If one becomes ready and nothing else
/// is, it goes on with that one and asks nobody: a chain costs no lock. Otherwise they meet at the queue. Who
/// finds nothing there looks again for a while, then sleeps; a worker that leaves steps behind wakes one of
/// the sleepers, who wakes the next. When nothing is ready and nobody works, all is done.

class step_dispatcher {
public:
    /// The tables stay the caller's, so that another run allocates nothing.
    ///
    /// Requires: `pending` has an entry for each position; a given order keeps the waits.
    step_dispatcher(step_waits const& waits, ready_queue& queue, std::vector<std::uint32_t>& pending);

    /// What a worker does: `do_step(position)` for steps as they become ready, until none is to come. Any
    /// number of workers may come, at any time; the first does all if no other does.
    ///
    /// Requires: do_step throws nothing.
    template <class DoStep>
    void work(DoStep do_step)
    {
        for (step_id at = wait_for_step(); at != no_step;) {
            do_step(at);
            at = next(at);
            if (at == no_step) at = wait_for_step();
        }
    }

    /// No step begins any more.
    void stop() noexcept;
    [[nodiscard]] std::atomic<bool> const& is_stopping() const noexcept { return is_stopping_; }
    /// All is done, or has been stopped.
    [[nodiscard]] bool is_over() const noexcept;

private:
    /// After a step: one that it has made ready, or the next of the queue; `no_step`: there is none now.
    step_id next(step_id done);

    /// The step waited for one more. Was it the last?
    bool count_down(step_id at);

    /// For a worker that has nothing to do. `no_step`: the run is over.
    step_id wait_for_step();

    /// Until there may be something to do.
    void sleep();

    /// Whether there is something to do soon.
    bool spin_for_work() const;

    // --- under the lock ---------------------------------------------------------------------------------

    /// Says whether anything can be taken. True: somebody sleeps who has not been called, and is to be.
    bool publish_ready();
    void end();

    step_waits const& waits_;
    ready_queue& queue_;
    std::vector<std::uint32_t>& pending_; // by position: for how many it still waits
    std::atomic<bool> has_ready_{false};  // as the queue says
    std::atomic<bool> is_stopping_{false};
    std::atomic<bool> is_over_{false};
    std::atomic<std::uint32_t> wakeups_{0}; // to those who sleep
    adaptive_mutex lock_;                   // of the queue, and of
    std::uint32_t active_ = 0;              // workers that have a step
    std::uint32_t sleeping_ = 0;            // workers that sleep
    std::uint32_t waking_ = 0;              // of those, who will be up soon
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_dispatcher.ipp>
#endif

#endif
