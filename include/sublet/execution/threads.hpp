// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_THREADS_HPP
#define SUBLET_EXECUTION_THREADS_HPP

/// Runs a program on several threads.

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/detail/executor_base.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/step_dispatcher.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

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
/// Poorest model:   a loop.     Ordinary model: threads that stay.
template <class R>
concept runner = requires(R& r, std::size_t n, void (*f)(std::size_t)) { r.run(n, f); };

namespace detail {

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
            s.publish(0);
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
        s.publish(n - 1);
        f(std::size_t{0});
        auto remaining = static_cast<std::uint32_t>(n - 1);
        std::uint32_t const round = s.round.load(std::memory_order_relaxed);
        for (std::uint32_t i = s.take(round); i != 0; i = s.take(round), --remaining) f(i);
        s.wait_for(remaining);
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

        void publish(std::uint64_t calls)
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
        void run_worker(std::uint32_t seen)
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
            for (std::uint32_t count = finished.load(std::memory_order_acquire); count != calls;
                 count = finished.load(std::memory_order_acquire))
                finished.wait(count, std::memory_order_acquire);
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
                threads_.emplace_back([s, now] { s->run_worker(now); });
            }
        } catch (...) { // no thread, or no memory for one
        }
    }

    std::vector<state> shared_;
    std::vector<Thread> threads_;
};

/// The threads that a thread_executor makes by itself.
using thread_pool = basic_thread_pool<>;

} // namespace detail

// --- threads ---------------------------------------------------------------------------------------------

/// Run a program on several threads: every step as soon as all that it has to wait for is done.
///
///     sublet::thread_executor executor{program, options, sublet::arena{plan}, kernel, {.workers = 4}};
///
///     plan for one order       steps wait for their data, and for those whose bytes they take over: less
///                              memory, and less at once
///     plan for any schedule    steps wait for their data, and for the hand-offs that the plan names
///     recycle, no_plan         steps wait for their data
///
/// Whatever the plan and whoever is first, a run leaves what cpu_executor leaves: before the first run it is
/// proved that the waits order any two steps that touch the same bytes, if one of them writes.

struct thread_options {
    /// Threads that run steps, the caller's among them; no more than there are steps.
    std::size_t workers = 2;
    queue_policy policy = queue_policy::plan_order;
    std::uint64_t seed = 0;             ///< of `random`
    std::vector<step_id> order = {};    ///< of `given`: all positions, none before one that it waits for
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that has to be kept as well
};

namespace detail {

/// What went wrong first in a run, and how much after it.
template <class Error = run_error>
class first_failure {
public:
    void keep(std::exception_ptr what) noexcept
    {
        scoped_lock const guard(&lock_);
        if (failures_++ == 0) first_ = std::move(what);
    }
    void rethrow_if_any()
    {
        if (failures_ == 0) return;
        try {
            std::rethrow_exception(first_);
        } catch (Error& error) {
            error.add_later_failures(failures_ - 1);
            throw;
        }
    }

private:
    adaptive_mutex lock_;
    std::exception_ptr first_;
    std::size_t failures_ = 0;
};

} // namespace detail

/// Runs a program, again and again, one run at a time.
///
/// The kernel is called by several threads at once, for different steps; what it keeps for itself it has to
/// guard. Storage comes from `executor_options::upstream` one piece at a time. One worker runs in the
/// caller's thread, in an order that is known before, and pays for no other.
template <class Kernel, class Runner = detail::thread_pool>
class thread_executor : public detail::executor_base {
public:
    /// Nothing of program, options and mode is kept but what was copied.
    ///
    /// Requires:   as of cpu_executor; a worker at least.
    /// Complexity: that of run_order_of(), and that of the proof (detail/run_proof.hpp) if there is one.
    /// Throws:     unsound_plan if the plan does not hold when steps run at once, or the order does not;
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <detail::memory_mode Mode>
        requires(cpu_kernel<Kernel> && runner<Runner>)
    thread_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                    thread_options const& threading = {}, executor_options const& settings = {},
                    Runner pool = {})
        : thread_executor(std::move(kernel), std::move(pool), p, options, mode, threading, settings)
    {
    }

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: no step has begun after the failure was seen, those that
    ///          ran have ended, all storage but the arenas is given back and inputs have to be given again,
    ///          then it may run again; what state values hold may be half updated.
    /// Throws:  as cpu_executor::run(), for the step that failed first; what the runner throws.
    run_report run()
    {
        return this->run_once([this] {
            if (check_ < executor_options::checks::paint) return run_steps([](auto) {}, [](auto) {});
            detail::clobber_checker checker(lowered_, values_, check_ == executor_options::checks::digest,
                                            true);
            run_steps([&](step_id at) { checker.before(at); }, [&](step_id at) { checker.after(at); });
            checker.finish();
        });
    }

    /// By position: steps in the order of the tape.
    [[nodiscard]] step_waits const& waits() const { return waits_; }

private:
    template <class Mode>
    thread_executor(Kernel kernel, Runner pool, snapshot const& p, plan_options const& options,
                    Mode const& mode, thread_options const& threading, executor_options const& settings)
        : thread_executor(std::move(kernel), std::move(pool), mode, threading, settings,
                          detail::proved_order(p, options, mode, threading.handoffs, settings))
    {
    }
    template <class Mode>
    thread_executor(Kernel kernel, Runner pool, Mode const& mode, thread_options const& threading,
                    executor_options const& settings, detail::run_order order)
        : executor_base(std::move(order.lowered), mode, settings), kernel_(std::move(kernel)),
          runner_(std::move(pool)), waits_(std::move(order.waits)),
          workers_(std::min(threading.workers, std::max<std::size_t>(lowered_.positions(), 1))),
          queue_(threading.policy, lowered_.positions(), threading.seed, threading.order)
    {
        SUBLET_EXPECTS(threading.workers != 0, "sublet: steps are run by one worker at least");
        bool const is_single = workers_ == 1;
        if (is_single || threading.policy == queue_policy::given)
            order_ = order_of_one_worker(waits_, queue_);
        if (!is_single) {
            pending_.assign(lowered_.positions(), 0);
            values_.share();
        }
        report_.workers = workers_;
        report_.waits = waits_.list.size();
        report_.handoffs = waits_.count(step_waits::kind::handoff);
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        if (workers_ == 1) {
            cpu_call call(lowered_, values_);
            for (step_id at : order_) detail::run_step(lowered_, values_, at, kernel_, call, before, after);
            return;
        }
        detail::first_failure<> failure;
        detail::step_dispatcher dispatcher(waits_, queue_, pending_);
        auto work = [&](std::size_t) noexcept {
            cpu_call call(lowered_, values_, &dispatcher.is_stopping());
            dispatcher.work([&](step_id at) {
                try {
                    detail::run_step(lowered_, values_, at, kernel_, call, before, after);
                } catch (...) {
                    failure.keep(std::current_exception());
                    dispatcher.stop();
                }
            });
        };
        runner_.run(workers_, work);
        failure.rethrow_if_any();
        SUBLET_EXPECTS(dispatcher.is_over(), "sublet: a runner has not called what it was given to call");
    }

    using executor_base::check_;
    using executor_base::lowered_;
    using executor_base::report_;
    using executor_base::values_;
    Kernel kernel_;
    Runner runner_;
    step_waits waits_;
    std::size_t workers_;
    detail::ready_queue queue_;
    std::vector<step_id> order_;         // of one worker
    std::vector<std::uint32_t> pending_; // of several, by position: for how many it still waits
};

} // namespace sublet

#endif
