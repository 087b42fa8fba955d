// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STEP_DISPATCHER_HPP
#define SUBLET_EXECUTION_STEP_DISPATCHER_HPP

/// Hands the steps of one run to workers, each step once, when all that it waits for is done.
///
///     pending   0: -   1: 1   2: 1   3: 2        worker A did 0: 1 and 2 have nothing to wait for any more,
///                                                A takes 1; 2 is ready, and a worker that sleeps is woken
///
/// A worker that has done a step counts down those that wait for it. If one becomes ready and nothing else
/// is, it goes on with that one and asks nobody: a chain costs no lock. Otherwise they meet at the queue. Who
/// finds nothing there looks again for a while, then sleeps; a worker that leaves steps behind wakes one of
/// the sleepers, who wakes the next. When nothing is ready and nobody works, all is done.

#include <sublet/execution/ready_queue.hpp>
#include <sublet/execution/short_lock.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace sublet::detail {

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
    bool has_come(step_id at);

    /// For a worker that has nothing to do. `no_step`: the run is over.
    step_id wait_for_step();

    /// Until there may be something to do.
    void sleep();

    /// Whether there is something to do soon.
    bool looks_again() const;

    // --- under the lock ---------------------------------------------------------------------------------

    /// Says whether anything can be taken. True: somebody sleeps who has not been called, and is to be.
    bool show_queue();
    void end();

    step_waits const& waits_;
    ready_queue& queue_;
    std::vector<std::uint32_t>& pending_; // by position: for how many it still waits
    std::atomic<bool> has_ready_{false};  // as the queue says
    std::atomic<bool> is_stopping_{false};
    std::atomic<bool> is_over_{false};
    std::atomic<std::uint32_t> calls_{0}; // to those who sleep
    short_lock lock_;                     // of the queue, and of
    std::uint32_t active_ = 0;            // workers that have a step
    std::uint32_t asleep_ = 0;            // workers that sleep
    std::uint32_t called_ = 0;            // of those, who will be up soon
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_dispatcher.ipp>
#endif

#endif
