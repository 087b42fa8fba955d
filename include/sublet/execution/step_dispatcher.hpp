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
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class step_dispatcher {
public:
    /// The tables stay the caller's, so that another run allocates nothing.
    ///
    /// Requires: `pending` has an entry for each position; a given order keeps the waits.
    step_dispatcher(step_waits const& waits, ready_queue& queue, std::vector<std::uint32_t>& pending)
        : waits_(waits), queue_(queue), pending_(pending)
    {
        queue_.clear();
        for (std::size_t at = 0; at != pending_.size(); ++at) {
            pending_[at] = static_cast<std::uint32_t>(waits_.before[at].size());
            if (pending_[at] == 0) queue_.push(static_cast<step_id>(at));
        }
        show_queue();
    }

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
    void stop() noexcept
    {
        is_stopping_.store(true, std::memory_order_relaxed);
        holding const only(&lock_);
        end();
    }
    [[nodiscard]] std::atomic<bool> const& is_stopping() const noexcept { return is_stopping_; }
    /// All is done, or has been stopped.
    [[nodiscard]] bool is_over() const noexcept { return is_over_.load(std::memory_order_acquire); }

private:
    /// After a step: one that it has made ready, or the next of the queue; `no_step`: there is none now.
    step_id next(step_id done)
    {
        auto const after = waits_.after[done];
        std::size_t i = 0;
        auto next_ready = [&] {
            while (i != after.size() && !has_come(after[i])) ++i;
            return i == after.size() ? no_step : after[i++];
        };
        step_id const one = next_ready(), other = next_ready();
        bool const is_alone = one != no_step && other == no_step && queue_.takes_only_one_ready() &&
                              !has_ready_.load(std::memory_order_relaxed) &&
                              !is_stopping_.load(std::memory_order_relaxed);
        if (is_alone) return one;

        step_id taken = no_step;
        bool calls = false;
        {
            holding const only(&lock_);
            for (step_id at : {one, other})
                if (at != no_step) queue_.push(at);
            for (step_id at = next_ready(); at != no_step; at = next_ready()) queue_.push(at);
            if (!is_over()) taken = queue_.pop();
            active_ -= taken == no_step;
            calls = show_queue();
            if (active_ == 0) end();
        }
        if (calls) calls_.notify_one();
        return taken;
    }

    /// The step waited for one more. Was it the last?
    bool has_come(step_id at)
    {
        if (waits_.before[at].size() == 1) return true;
        return std::atomic_ref(pending_[at]).fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    /// For a worker that has nothing to do. `no_step`: the run is over.
    step_id wait_for_step()
    {
        for (;;) {
            step_id taken = no_step;
            bool calls = false;
            {
                holding const only(&lock_);
                if (is_over()) return no_step;
                taken = queue_.pop();
                active_ += taken != no_step;
                calls = show_queue();
                if (active_ == 0) end(); // there was no step at all
            }
            if (calls) calls_.notify_one();
            if (taken != no_step) return taken;
            if (!looks_again()) sleep();
        }
    }

    /// Until there may be something to do.
    void sleep()
    {
        std::uint32_t seen = 0;
        {
            holding const only(&lock_);
            if (is_over() || !queue_.is_empty()) return;
            ++asleep_;
            seen = calls_.load(std::memory_order_relaxed);
        }
        calls_.wait(seen, std::memory_order_relaxed);
        holding const only(&lock_);
        --asleep_;
        if (called_ != 0) --called_; // several may have woken at one call
    }

    /// Whether there is something to do soon.
    bool looks_again() const
    {
        for (int looks = 0; looks != 200; ++looks) {
            if (has_ready_.load(std::memory_order_relaxed) || is_over()) return true;
            pause_briefly();
        }
        return false;
    }

    // --- under the lock ---------------------------------------------------------------------------------

    /// Says whether anything can be taken. True: somebody sleeps who has not been called, and is to be.
    bool show_queue()
    {
        bool const has_ready = !queue_.is_empty();
        has_ready_.store(has_ready, std::memory_order_relaxed);
        if (!has_ready || asleep_ == called_) return false;
        ++called_;
        calls_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    void end()
    {
        is_over_.store(true, std::memory_order_release);
        called_ = asleep_;
        calls_.fetch_add(1, std::memory_order_relaxed);
        calls_.notify_all();
    }

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

#endif
