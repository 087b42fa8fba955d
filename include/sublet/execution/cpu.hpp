// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CPU_HPP
#define SUBLET_EXECUTION_CPU_HPP

/// Run a program on this machine, one step after the other, in one of three memory modes.
///
///     auto kernel = [&](sublet::cpu_call const& call) {
///         auto x = sublet::as<float>(call.in(0));
///         auto y = sublet::as<float>(call.out(0));
///         my_operation(ir.operations[call.step], x, y);
///     };
///     sublet::cpu_executor executor{program, options, sublet::arena{plan}, kernel};
///     read_image(sublet::as<float>(executor.input(image)));
///     executor.run();
///     show(sublet::as<float>(executor.output(result)));
///
/// One functor is the kernel of the whole program: it knows your operations, the executor knows where their
/// operands lie. This is the reference executor: it proves a plan before it runs it, and can watch it.

#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/cpu_call.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/run_desk.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/execution/watch.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <utility>

namespace sublet {

/// Runs a program, again and again.
///
/// Of the modes, `no_plan` and `recycle` allocate while running, `arena` when it is constructed. An executor
/// can be moved, and all spans stay; what was moved from runs nothing. One thread at a time may use it.
template <class Kernel>
class cpu_executor : public run_desk {
public:
    /// Nothing of program, options and mode is kept but what was copied.
    ///
    /// Requires:   alignments are powers of two; scratch is defined by one step and used by none.
    /// Complexity: that of tape_of(), and of check_plan() from check_level::plan on.
    /// Throws:     unsound_plan if the plan or the order does not hold (edges of the program from
    ///             check_level::plan on; at any level where a place is outside of its arena);
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <memory_mode Mode>
        requires cpu_kernel<Kernel> // asked of the class, it would go unnamed in errors where it is deduced
    cpu_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                 executor_options const& how = {})
        : cpu_executor(std::move(kernel), p, options, mode, how)
    {
    }

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is given back and inputs have
    ///          to be given again, then it may run again; what state values hold may be half updated.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          run_error (allocation_error, clobbered_value) with its step; from check_level::paint on
    ///          std::bad_alloc.
    run_report run()
    {
        return this->run_once([this] {
            if (check_ < check_level::paint) return run_steps([](auto) {}, [](auto) {});
            detail::run_watch watch(tape_, values_, check_ == check_level::digest);
            run_steps([&](step_id at) { watch.before(at); }, [&](step_id at) { watch.after(at); });
            watch.finish();
        });
    }

private:
    template <class Mode>
    cpu_executor(Kernel kernel, snapshot const& p, plan_options const& options, Mode const& mode,
                 executor_options const& how)
        : run_desk(tape_of(p, options, how.scratch), prove(p, options, mode, how), how),
          kernel_(std::move(kernel))
    {
    }

    template <class Mode>
    static Mode const& prove(snapshot const& p, plan_options const& options, Mode const& mode,
                             executor_options const& how)
    {
        if (!how.prove || how.check == check_level::off) return mode;
        if constexpr (std::same_as<Mode, arena>) {
            if (auto const why = check_plan(p, mode.plan, options)) throw unsound_plan(*why);
        } else if (auto const position = detail::first_edge_back(p, options.order)) {
            throw unsound_plan({.what = fault::leads_back, .position = *position});
        }
        return mode;
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        cpu_call call(tape_, values_);
        for (step_id at = 0; at != tape_.positions(); ++at)
            detail::run_step(tape_, values_, at, kernel_, call, before, after);
    }

    using run_desk::check_;
    using run_desk::tape_;
    using run_desk::values_;
    Kernel kernel_;
};

} // namespace sublet

#endif
