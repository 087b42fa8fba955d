// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP
#define SUBLET_EXECUTION_DETAIL_STEP_DISPATCHER_HPP

/// Ready steps, the workers that they go to, and the threads that work.

#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <thread>
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

namespace sublet {

enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

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
    [[nodiscard]] bool takes_only_one_ready() const { return policy_ != queue_policy::given; }

private:
    static bool is_later(step_id a, step_id b) { return a > b; } // the heap has its greatest on top

    queue_policy policy_;
    std::uint64_t seed_, draw_;
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

} // namespace sublet

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

// --- thread pool -----------------------------------------------------------------------------------------

/// Who lends threads to a run.
///
///     run(3, f)      caller    f(0) ─────────────────┐
///                    thread 1  f(1) ────────┐        ├─► returns when all have
///                    thread 2  f(2) ────────────┐    │
///                    between runs they sleep
///
/// Bring your own in a few lines; here, tasks of the standard library:
///
///     struct tasks {
///         template <class F> void run(std::size_t n, F f)
///         {
///             std::vector<std::future<void>> all;
///             for (std::size_t i = 0; i != n; ++i) {
///                 auto call = [&f, i] { f(i); };
///                 all.push_back(std::async(std::launch::async, call));
///             }
///         } // waits for all of them
///     };

namespace sublet {

/// Something that calls a function several times, perhaps at once.
///
/// Semantics:       `r.run(n, f)` calls f(0) ... f(n - 1) once each, at the same time or one after the other,
///                  in threads of its choice, and returns when all of them have; f throws nothing. If it
///                  throws, no call goes on or begins any more.
/// Poorest model:   a loop.     Ordinary model: thread_pool.
template <class R>
concept runner = requires(R& r, std::size_t n, void (*f)(std::size_t)) { r.run(n, f); };

/// Threads that stay between runs. They are started when they are needed first. Calls are taken like tickets,
/// by the caller as well: a thread that cannot be had, or has not woken up yet, is missed by nobody.
template <class Thread = std::jthread>
class basic_thread_pool {
public:
    basic_thread_pool() = default;
    basic_thread_pool(basic_thread_pool&&) = default;
    basic_thread_pool& operator=(basic_thread_pool&&) = delete;
    ~basic_thread_pool()
    {
        for (state& s : shared_) {
            s.is_closing = true;
            s.announce(0);
        }
    } // threads end first, then what they share

    /// Requires:   one run at a time; f throws nothing.
    /// Complexity: no allocation if no more threads are needed than before; none is needed for n = 1.
    template <std::invocable<std::size_t> F>
    void run(std::size_t n, F f)
    {
        SUBLET_EXPECTS(n < no_node, "sublet: a pool of threads is asked for more calls than 32 bits count");
        if (n > 1) start(n - 1);
        if (n < 2 || threads_.empty()) {
            for (std::size_t i = 0; i != n; ++i) f(i);
            return;
        }
        state& s = shared_.front();
        s.what = &f;
        s.call = [](void* what, std::size_t i) { (*static_cast<F*>(what))(i); };
        s.finished.store(0, std::memory_order_relaxed);
        s.announce(n - 1);
        f(std::size_t{0});
        auto by_others = static_cast<std::uint32_t>(n - 1);
        std::uint32_t const round = s.round.load(std::memory_order_relaxed);
        for (std::uint32_t i = s.take(round); i != 0; i = s.take(round), --by_others) f(i);
        s.wait_for(by_others);
    }

    [[nodiscard]] std::size_t threads() const { return threads_.size(); }

private:
    struct state {
        std::atomic<std::uint32_t> round{0};   // goes up when there is something to do, or to end for
        std::atomic<std::uint64_t> tickets{0}; // the round, and below it how many calls nobody has taken
        std::atomic<std::uint32_t> finished{0};
        std::atomic<bool> is_closing{false};
        void* what = nullptr;
        void (*call)(void*, std::size_t) = nullptr;

        void announce(std::uint64_t calls)
        {
            std::uint32_t const next = round.load(std::memory_order_relaxed) + 1;
            tickets.store(std::uint64_t{next} << 32 | (calls & 0xFFFF'FFFF), std::memory_order_release);
            round.store(next, std::memory_order_release);
            round.notify_all();
        }
        /// A call of this round that nobody has taken, or 0.
        std::uint32_t take(std::uint32_t of)
        {
            std::uint64_t now = tickets.load(std::memory_order_acquire);
            while (now >> 32 == of && static_cast<std::uint32_t>(now) != 0)
                if (tickets.compare_exchange_weak(now, now - 1, std::memory_order_acquire))
                    return static_cast<std::uint32_t>(now);
            return 0;
        }
        void serve(std::uint32_t seen)
        {
            for (;;) {
                round.wait(seen, std::memory_order_acquire);
                seen = round.load(std::memory_order_acquire);
                if (is_closing) return;
                for (std::uint32_t i = take(seen); i != 0; i = take(seen)) {
                    call(what, i);
                    finished.fetch_add(1, std::memory_order_release);
                    finished.notify_one();
                }
            }
        }
        void wait_for(std::uint32_t calls)
        {
            for (std::uint32_t is = finished.load(std::memory_order_acquire); is != calls;
                 is = finished.load(std::memory_order_acquire))
                finished.wait(is, std::memory_order_acquire);
        }
    };

    void start(std::size_t wanted)
    {
        try {
            if (shared_.empty()) shared_ = std::vector<state>(1); // where it stays if the pool is moved
            threads_.reserve(wanted);
            while (threads_.size() < wanted) {
                state* const s = &shared_.front();
                std::uint32_t const now = s->round.load(std::memory_order_relaxed);
                threads_.emplace_back([s, now] { s->serve(now); });
            }
        } catch (...) { // no thread, or no memory for one
        }
    }

    std::vector<state> shared_;
    std::vector<Thread> threads_;
};
using thread_pool = basic_thread_pool<>;

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_dispatcher.ipp>
#endif

#endif
