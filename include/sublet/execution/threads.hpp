// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_THREADS_HPP
#define SUBLET_EXECUTION_THREADS_HPP

/// Runs a program on several threads: each step as soon as all steps that it waits for are done. Costs
/// O(steps + waits) atomic operations in a run.
///
///     sublet::thread_executor executor{program, options, sublet::arena{plan}, kernel, {.workers = 4}};
///
/// Waits by memory mode:
///
///     plan for one order       for data, and for the users of reused bytes: less memory, less concurrency
///     plan for any schedule    for data, and for the hand-offs of the plan
///     recycle, no_plan         for data
///     plan for every shape     as one for any schedule, which it has to be
///
/// A run leaves what cpu_executor leaves: construction proves that the waits order any two steps that touch
/// the same bytes, one of them writing.

#include <sublet/core/internal/facts.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/detail/clobber_checker.hpp>
#include <sublet/execution/detail/first_failure.hpp>
#include <sublet/execution/detail/host_values.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/step_dispatcher.hpp>
#include <sublet/execution/detail/thread_pool.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// You may supply your own runner in a few lines, here with tasks of the standard library:
///
///     struct tasks {
///         void run(std::size_t n, std::function<void(std::size_t)> f)
///         {
///             std::vector<std::future<void>> all;
///             for (std::size_t i = 0; i != n; ++i) {
///                 auto call = [&f, i] { f(i); };
///                 all.push_back(std::async(std::launch::async, call));
///             }
///         } // the futures wait for all calls
///     };
///
/// Calls a function in several threads.
///
/// Semantics:       `r.run(n, f)` calls f(0) ... f(n - 1) once each, in any threads, concurrently or in
///                  sequence, and returns when all calls have returned; f throws nothing. If run() throws, no
///                  call is in progress or begins later.
/// Minimal model:   a loop.     Ordinary model: a thread pool.
template <class R>
concept runner = requires(R& r, std::size_t n, void (*f)(std::size_t)) { r.run(n, f); };

/// How many threads run the steps, and which ready step runs first.
struct thread_options {
    /// Threads that run steps, including the caller's; never more than steps.
    std::size_t workers = 2;
    queue_policy policy = queue_policy::plan_order; ///< which of the ready steps runs next
    std::uint64_t seed = 0;             ///< of `random`
    std::vector<position_id> order = {}; ///< of `given`: all positions, each after those that it waits for
    std::vector<handoff> handoffs = {}; ///< order to be kept beyond data and edges
};

/// Runs a program any number of times, one run at a time. Several threads call the kernel concurrently, for
/// different steps; the kernel must guard its own state. Calls of `executor_options::upstream` are
/// serialised. A single worker runs in the caller's thread, in an order that is computed at construction,
/// without synchronisation.
template <class Kernel, class Runner = detail::thread_pool>
class thread_executor {
public:
    /// Keeps copies only: program, options and mode need not outlive it.
    ///
    /// Requires:   as of cpu_executor; at least one worker.
    /// Complexity: that of run_order_of(), and that of the proof (detail/proved_order.hpp) unless it is off.
    /// Throws:     unsound_plan if the plan is invalid for concurrent steps, or the order is (at any level an
    ///             address that is wrong: see arena);
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <detail::memory_mode Mode>
        requires(cpu_kernel<Kernel> && runner<Runner>)
    thread_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                    thread_options const& threading = {}, executor_options const& settings = {},
                    Runner pool = {})
        : thread_executor(std::move(kernel), std::move(pool), p,
                          *detail::with_said_views(p, detail::tabulated_options(options, p.values())), mode,
                          threading, settings)
    {
    }
    /// The same for a listing.
    template <detail::listed L, detail::memory_mode Mode>
        requires(cpu_kernel<Kernel> && runner<Runner>)
    thread_executor(L const& list, Mode const& mode, Kernel kernel, thread_options const& threading = {},
                    executor_options const& settings = {}, Runner pool = {})
        : thread_executor(std::move(kernel), std::move(pool), list.program(), list.options(), mode, threading,
                          settings)
    {
        if constexpr (requires { list.erased_handles(); }) values_.find_by(list.erased_handles());
    }

    /// For every shape of the plan of a growing_arena, as cpu_executor. The waits are those of all shapes.
    ///
    /// Throws: also precondition_error if the plan is for one order; plan_symbolic() plans for every schedule
    ///         if `valid_for` says so.
    template <class Options>
        requires(cpu_kernel<Kernel> && runner<Runner> && std::same_as<Options, symbolic_options>)
    thread_executor(snapshot const& p, Options const& options, arena const& mode, Kernel kernel,
                    thread_options const& threading = {}, executor_options const& settings = {},
                    Runner pool = {})
        : thread_executor(std::move(kernel), std::move(pool), mode, threading, settings,
                          detail::proved_shapes(p, options, mode, settings, threading.handoffs))
    {
    }
    /// The same for a listing, as cpu_executor.
    template <detail::listed L, class Options>
        requires(cpu_kernel<Kernel> && runner<Runner> && std::same_as<Options, symbolic_options>)
    thread_executor(L const& list, Options const& options, arena const& mode, Kernel kernel,
                    thread_options const& threading = {}, executor_options const& settings = {},
                    Runner pool = {})
        : thread_executor(list.program(), symbolic_options_of(list, options), mode, std::move(kernel),
                          threading, settings, std::move(pool))
    {
        if constexpr (requires { list.erased_handles(); }) values_.find_by(list.erased_handles());
    }
    template <class Options, class Mode>
        requires(std::same_as<Options, symbolic_options> &&
                 !(std::same_as<Mode, arena> && cpu_kernel<Kernel>))
    thread_executor(snapshot const&, Options const&, Mode const&, Kernel, thread_options const& = {},
                    executor_options const& = {}, Runner = {},
                    detail::shaped_problem<cpu_kernel<Kernel>> = {}) = delete;

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: no step began after the failure was seen, all running
    ///          steps have ended, all storage but the arenas is released and inputs have to be given again
    ///          before the next run; state values may be partly updated.
    /// Throws:  as cpu_executor::run(), for the step that failed first; what the runner throws.
    run_report run()
    {
        return values_.run_once([this] {
            if (values_.check() < executor_options::checks::paint) return run_steps([](auto) {}, [](auto) {});
            detail::clobber_checker checker(values_.lowered(), values_.storage(),
                                            values_.check() == executor_options::checks::digest, true);
            run_steps([&](position_id at) { checker.before(at); },
                      [&](position_id at) { checker.after(at); });
            checker.finish();
        });
    }

    /// As cpu_executor::input().
    [[nodiscard]] std::span<std::byte> input(value_id v) { return values_.input(v); }
    /// As cpu_executor::output().
    [[nodiscard]] std::span<std::byte const> output(value_id v) const { return values_.output(v); }
    /// As cpu_executor::bind().
    void bind(value_id v, std::span<std::byte> bytes) { values_.bind(v, bytes); }
    /// The same for a value that no step writes.
    template <class Bytes>
        requires detail::constant_bytes<Bytes>
    void bind(value_id v, Bytes&& constant)
    {
        values_.bind_constant(v, constant);
    }
    template <class Bytes>
        requires(!detail::constant_bytes<Bytes> && !std::convertible_to<Bytes, std::span<std::byte>>)
    void bind(value_id, Bytes&&, detail::bytes_are_bound_by_a_span<Bytes> = {}) = delete;
    /// As cpu_executor::set_shape(). The waits stay.
    void set_shape(shape_view one) { values_.set_shape(one); }

    /// Allocations since construction.
    [[nodiscard]] run_report::memory_use memory() const { return values_.storage().memory().use(); }

    /// By position of the lowered program.
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
        : thread_executor(std::move(kernel), std::move(pool), mode, threading, settings,
                          std::move(order.waits), std::move(order.lowered))
    {
    }
    thread_executor(Kernel kernel, Runner pool, arena const& mode, thread_options const& threading,
                    executor_options const& settings, detail::shaped_program shaped)
        : thread_executor(std::move(kernel), std::move(pool), for_every_schedule(mode), threading, settings,
                          std::move(shaped.waits), std::move(shaped))
    {
    }
    static arena const& for_every_schedule(arena const& mode)
    {
        SUBLET_EXPECTS(mode.plan.valid_for == program_reading::concurrent,
                       "sublet: the plan for every shape is for steps in one order, and threads run one for "
                       "every schedule: plan with valid_for = program_reading::concurrent");
        return mode;
    }
    template <class Mode, class Program>
    thread_executor(Kernel kernel, Runner pool, Mode const& mode, thread_options const& threading,
                    executor_options const& settings, step_waits waits, Program&& program)
        : values_(std::forward<Program>(program), mode, settings), kernel_(std::move(kernel)),
          runner_(std::move(pool)), waits_(std::move(waits)),
          workers_(std::min(threading.workers, std::max<std::size_t>(values_.lowered().positions(), 1))),
          queue_(threading.policy, values_.lowered().positions(), threading.seed, threading.order)
    {
        SUBLET_EXPECTS(threading.workers != 0, "sublet: at least one worker is needed");
        bool const is_single = workers_ == 1;
        if (is_single || threading.policy == queue_policy::given)
            order_ = detail::order_of_one_worker(waits_, queue_);
        if (!is_single) {
            pending_.assign(values_.lowered().positions(), 0);
            values_.storage().share();
        }
        values_.report().workers = workers_;
        values_.report().waits = waits_.list.size();
        values_.report().handoffs = waits_.count(step_waits::kind::handoff);
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        if (workers_ == 1) {
            cpu_call call(values_.lowered(), values_.storage());
            for (position_id at : order_) values_.run_step(at, kernel_, call, before, after);
            return;
        }
        detail::first_failure<> failure;
        detail::step_dispatcher dispatcher(waits_, queue_, pending_);
        // What a step throws is kept, and the queue has room for all of them.
        auto work = [&](std::size_t) noexcept { // NOLINT(bugprone-exception-escape)
            cpu_call call(values_.lowered(), values_.storage(), &dispatcher.is_stopping());
            dispatcher.work([&](position_id at) {
                try {
                    values_.run_step(at, kernel_, call, before, after);
                } catch (...) {
                    failure.keep(std::current_exception());
                    dispatcher.stop();
                }
            });
        };
        runner_.run(workers_, work);
        failure.rethrow_if_any();
        SUBLET_EXPECTS(dispatcher.is_over(), "sublet: a runner returned before it made all calls");
    }

    detail::host_values values_; // supplied and read; storage and state
    Kernel kernel_;
    Runner runner_;
    step_waits waits_;
    std::size_t workers_;
    detail::ready_queue queue_;
    std::vector<position_id> order_;            // of a single worker
    table<position_id, std::uint32_t> pending_; // of several: waits still to be satisfied
};

} // namespace sublet

#endif
