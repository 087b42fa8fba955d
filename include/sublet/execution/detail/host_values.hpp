// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_HOST_VALUES_HPP
#define SUBLET_EXECUTION_DETAIL_HOST_VALUES_HPP

/// The values of a program in host memory, for cpu_executor and thread_executor: what the caller supplies and
/// reads, and the frame of a run.
///
///     external, state, not eligible, of unknown size     bind() your storage once
///     input                                              input() before every run, and fill it
///     output                                             output() after a run, until the next input()
///
/// It checks what is required before a run, and restores a consistent state after one, however it ended.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/binding_state.hpp>
#include <sublet/execution/detail/executor_state.hpp>
#include <sublet/execution/detail/live_peak.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/shaped_values.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet::detail {

/// A temporary container would dangle.
template <class Bytes>
concept constant_bytes =
    std::convertible_to<Bytes, std::span<std::byte const>> &&
    !std::convertible_to<Bytes, std::span<std::byte>> &&
    (std::is_lvalue_reference_v<Bytes> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Bytes>>);

// A parameter of a deleted overload: its name is the reason.
template <class Bytes>
struct bytes_are_bound_by_a_span {}; // std::as_bytes(std::span(weights))

class host_values {
public:
    /// Throws: unsound_plan for an offset outside of its arena; allocation_error if there is no memory for
    ///         the arenas; precondition_error for an alignment that is no power of two.
    template <memory_mode Mode>
    host_values(lowered_program lowered, Mode const& mode, executor_options const& settings)
        : lowered_(std::move(lowered)),
          storage_(lowered_, mode, counted_memory(settings.upstream, settings.limit)), check_(settings.check),
          bindings_(lowered_)
    {
        report_.lower_bound = live_peak(lowered_);
        if constexpr (std::same_as<Mode, arena>) report_.plan_bytes = sum_of(mode.plan.arena_bytes);
    }
    /// Of every shape, at first that of the arena. Throws: the same.
    host_values(shaped_program shaped, arena const& mode, executor_options const& settings)
        : host_values(std::move(shaped.lowered), mode, settings)
    {
        shape_ = std::move(shaped.values);
    }

    // --- between runs -----------------------------------------------------------------------------------

    // As the members of cpu_executor with these names.
    [[nodiscard]] std::span<std::byte> input(value_id v);
    [[nodiscard]] std::span<std::byte const> output(value_id v) const;
    void bind(value_id v, std::span<std::byte> bytes);
    void bind_constant(value_id v, std::span<std::byte const> bytes);
    void set_shape(shape_view one);

    [[nodiscard]] lowered_program const& lowered() const { return lowered_; }
    void find_by(erased_handles handles) { lowered_.handles = std::move(handles); }
    [[nodiscard]] value_storage& storage() { return storage_; }
    [[nodiscard]] value_storage const& storage() const { return storage_; }
    [[nodiscard]] executor_options::checks check() const { return check_; }
    /// What is the same for every run.
    [[nodiscard]] run_report& report() { return report_; }

    // --- a run ------------------------------------------------------------------------------------------

    /// Calls `steps()`, which runs every step once, with the checks before and the cleanup after it.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is released and inputs have to
    ///          be given again.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          whatever `steps` throws.
    template <class Steps>
    run_report run_once(Steps steps)
    {
        begin_run();
        struct run_cleanup { // on return and on exceptions
            host_values& self;
            run_state after = run_state::empty;
            // Releasing throws nothing: a memory resource deallocates without an exception.
            ~run_cleanup() { self.end_run(after); } // NOLINT(bugprone-exception-escape)
        } end{*this};
        storage_.begin(lowered_);
        storage_.memory().mark();
        steps();
        end.after = run_state::done;
        return report_of_run();
    }

    /// Runs the step at a position, and calls `before(at)` and `after(at)` around its kernel.
    /// Throws: run_error with the step if the kernel throws; what `before` and `after` throw.
    template <class Kernel, class Call, class Before, class After>
    void run_step(position_id at, Kernel& kernel, Call& call, Before& before, After& after)
    {
        call.position = at;
        call.step = lowered_.step_at[at];
        storage_.before(lowered_, at);
        before(at);
        try {
            kernel(std::as_const(call));
        } catch (...) {
            throw run_error(call.step, std::current_exception());
        }
        after(at);
        storage_.after(lowered_, at);
    }

private:
    void expect_idle() const;
    /// Another executor has written over the inputs and outputs in a growing arena.
    void forget_lost_values();
    /// The outputs of the last run can no longer be read, and what it carries is where the next one finds it.
    void end_round();
    void begin_run();
    void end_run(run_state after);
    run_report report_of_run() const;
    static byte_count sum_of(table<pool_id, byte_count> const& arenas);

    lowered_program lowered_;
    shaped_values shape_; // of every shape
    value_storage storage_;
    executor_options::checks check_;
    run_report report_; // the same for every run
    binding_state bindings_;
    executor_state state_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/host_values.ipp>
#endif

#endif
