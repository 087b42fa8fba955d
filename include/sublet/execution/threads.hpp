// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_THREADS_HPP
#define SUBLET_EXECUTION_THREADS_HPP

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

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/detail/run_desk.hpp>
#include <sublet/execution/detail/run_proof.hpp>
#include <sublet/execution/detail/step_dispatcher.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace sublet {

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
        holding const only(&lock_);
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
    short_lock lock_;
    std::exception_ptr first_;
    std::size_t failures_ = 0;
};

} // namespace detail

/// Runs a program, again and again, one run at a time.
///
/// The kernel is called by several threads at once, for different steps; what it keeps for itself it has to
/// guard. Storage comes from `executor_options::upstream` one piece at a time. One worker runs in the
/// caller's thread, in an order that is known before, and pays for no other.
template <class Kernel, class Runner = thread_pool>
class thread_executor : public run_desk {
public:
    /// Nothing of program, options and mode is kept but what was copied.
    ///
    /// Requires:   as of cpu_executor; a worker at least.
    /// Complexity: that of run_order_of(), and from check_level::plan on that of execution/detail/run_proof.hpp.
    /// Throws:     unsound_plan if the plan does not hold when steps run at once, or the order does not;
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <memory_mode Mode>
        requires(cpu_kernel<Kernel> && runner<Runner>)
    thread_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                    thread_options const& at_once = {}, executor_options const& how = {}, Runner lender = {})
        : thread_executor(std::move(kernel), std::move(lender), p, options, mode, at_once, how)
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
            if (check_ < check_level::paint) return run_steps([](auto) {}, [](auto) {});
            detail::run_watch watch(tape_, values_, check_ == check_level::digest, true);
            run_steps([&](step_id at) { watch.before(at); }, [&](step_id at) { watch.after(at); });
            watch.finish();
        });
    }

    /// By position: steps in the order of the tape.
    [[nodiscard]] step_waits const& waits() const { return waits_; }

private:
    template <class Mode>
    thread_executor(Kernel kernel, Runner lender, snapshot const& p, plan_options const& options,
                    Mode const& mode, thread_options const& at_once, executor_options const& how)
        : thread_executor(std::move(kernel), std::move(lender), mode, at_once, how,
                          detail::proved_order(p, options, mode, at_once.handoffs, how))
    {
    }
    template <class Mode>
    thread_executor(Kernel kernel, Runner lender, Mode const& mode, thread_options const& at_once,
                    executor_options const& how, run_order order)
        : run_desk(std::move(order.tape), mode, how), kernel_(std::move(kernel)), runner_(std::move(lender)),
          waits_(std::move(order.waits)),
          workers_(std::min(at_once.workers, std::max<std::size_t>(tape_.positions(), 1))),
          queue_(at_once.policy, tape_.positions(), at_once.seed, at_once.order)
    {
        SUBLET_EXPECTS(at_once.workers != 0, "sublet: steps are run by one worker at least");
        bool const is_alone = workers_ == 1;
        if (is_alone || at_once.policy == queue_policy::given) order_ = order_of_one_worker(waits_, queue_);
        if (!is_alone) {
            pending_.assign(tape_.positions(), 0);
            values_.share();
        }
        report_.workers = workers_;
        report_.waits = waits_.list.size();
        report_.handoffs = waits_.count(wait_kind::handoff);
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        if (workers_ == 1) {
            cpu_call call(tape_, values_);
            for (step_id at : order_) detail::run_step(tape_, values_, at, kernel_, call, before, after);
            return;
        }
        detail::first_failure<> failure;
        detail::step_dispatcher dispatcher(waits_, queue_, pending_);
        auto work = [&](std::size_t) noexcept {
            cpu_call call(tape_, values_, &dispatcher.is_stopping());
            dispatcher.work([&](step_id at) {
                try {
                    detail::run_step(tape_, values_, at, kernel_, call, before, after);
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

    using run_desk::check_;
    using run_desk::report_;
    using run_desk::tape_;
    using run_desk::values_;
    Kernel kernel_;
    Runner runner_;
    step_waits waits_;
    std::size_t workers_;
    ready_queue queue_;
    std::vector<step_id> order_;         // of one worker
    std::vector<std::uint32_t> pending_; // of several, by position: for how many it still waits
};

} // namespace sublet

#endif
