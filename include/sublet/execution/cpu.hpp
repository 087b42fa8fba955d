// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CPU_HPP
#define SUBLET_EXECUTION_CPU_HPP

/// Runs a program on the host, one step after another, in one of three memory modes, optionally with checks
/// of every touched value. Overhead of a run without checks: O(steps + touches).

#include <sublet/core/internal/facts.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/clobber_checker.hpp>
#include <sublet/execution/detail/host_values.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/shaped_values.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/snapshot.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet {

/// Views bytes as objects of a trivially copyable type.
/// Throws: precondition_error unless their address is a multiple of alignof(T), and their size of sizeof(T).
template <class T, class B>
    requires std::is_trivially_copyable_v<T> && std::same_as<std::remove_const_t<B>, std::byte>
[[nodiscard]] auto as(std::span<B> bytes)
{
    using object = std::conditional_t<std::is_const_v<B>, T const, T>;
    SUBLET_EXPECTS(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0,
                   "sublet: a value is not aligned as its type needs it; plan it with that alignment");
    SUBLET_EXPECTS(bytes.size() % sizeof(T) == 0,
                   "sublet: the size of a value, % bytes, is not a multiple of the object size %",
                   bytes.size(), sizeof(T));
    return std::span<object>(reinterpret_cast<object*>(bytes.data()), bytes.size() / sizeof(T));
}

/// The interface of a kernel to a program: one step, the bytes of its operands and of its results.
///
///     c = add(a, b)        call.step     which operation it is, in your IR
///                          call.in(0)    the bytes of a          call.in(1)   of b
///                          call.out(0)   the bytes of c          as<float>(call.out(0))
///
///     write(row)           call.out(0)   the bytes of row, as they are; written values come before results
///
/// One functor is the kernel of the whole program, for every memory mode.
///
/// One step, as its kernel sees it. Spans are valid until the kernel returns. Operands are numbered in
/// program order, without those that are absent (`no_value`). A result may overlap an operand only where the
/// program allows it: read such an operand before you write.
///
/// Throws: precondition_error for an operand that the step does not have.
class cpu_call {
public:
    /// Where the bytes are; for the executor.
    using storage = detail::value_storage;
    /// `is_stopping`: a null pointer where no other step can end the run.
    cpu_call(detail::lowered_program const& lowered, storage const& values,
             std::atomic<bool> const* is_stopping = nullptr)
        : lowered_(&lowered), values_(&values), is_stopping_(is_stopping)
    {
    }

    step_id step = 0;     ///< of the program
    position_id position = 0; ///< in the order of this run

    /// The values that the step reads, in program order.
    [[nodiscard]] std::span<value_id const> uses() const { return lowered_->uses[position]; }
    /// The values that it writes or makes, without scratch: written ones first, then its results.
    [[nodiscard]] std::span<value_id const> defs() const { return lowered_->defs[position]; }
    /// The bytes of operand i.
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses(), i); }
    /// The bytes of result j.
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return nth(defs(), j); }

    /// Result j is a view of bytes that exist already: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: the kernel of step % accesses operand % of %", step, j,
                       defs().size());
        return lowered_->is_view(defs()[j], position);
    }
    /// The bytes of result j are there already: the step changes them, or a part of them.
    [[nodiscard]] bool is_update(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel accesses an operand that its step does not have");
        return lowered_->is_update(defs()[j], position);
    }

    /// How many scratch values the step has: those that it allocates and no other step touches, and that are
    /// no outputs and not the caller's. Their bytes have no contents before it and none after it.
    [[nodiscard]] std::size_t scratch_count() const { return lowered_->scratch[position].size(); }
    /// The bytes of scratch value k, in program order.
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(lowered_->scratch[position], k);
    }

    /// The bytes of the value that the listing of the executor calls h: an operand, a result or scratch of
    /// the step. Without a listing, and by a `value_id`, of the value with that id. What the step only reads
    /// must not be written.
    ///
    ///     as<float>(call.of("y"))
    ///
    /// Complexity: O(1) expected for the handle, and O(operands of the step). No allocation.
    /// Throws:     precondition_error if the step does not touch it, or if h is of another type than the
    ///             handles; by a handle, if the executor was not made of a listing.
    template <class H>
    [[nodiscard]] std::span<std::byte> of(H const& h) const
    {
        detail::key_type<H> key = h; // a literal is a pointer
        return values_->value_bytes(*lowered_, lowered_->operand_of(key, position).value);
    }

    /// Another step has failed: results are discarded, so a long kernel may return early.
    [[nodiscard]] bool stop_requested() const noexcept;

private:
    std::span<std::byte> nth(std::span<value_id const> values, std::size_t i) const
    {
        SUBLET_EXPECTS(i < values.size(), "sublet: the kernel of step % accesses operand % of %", step, i,
                       values.size());
        return values_->value_bytes(*lowered_, values[i]);
    }

    detail::lowered_program const* lowered_;
    storage const* values_;
    std::atomic<bool> const* is_stopping_;
};

/// A callable that runs one step of a program on the host.
///
/// Semantics:     writes every byte of each result that is no view, and nothing else; keeps no span.
/// Ordinary models: [&](sublet::cpu_call const& call) { ... };   synthetic_kernel.
template <class K>
concept cpu_kernel = std::invocable<K&, cpu_call const&>;

/// The reference executor: runs a program on one thread, in the order of the options, or in that of the plan;
/// of a plan for any schedule in one that it allows. It checks the plan before the first run.
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
/// A program can be run any number of times. `no_plan` and `recycle` allocate during a run, `arena` at
/// construction. An executor can be moved, and spans stay valid; a moved-from executor must not run. One
/// thread at a time may use it.
template <class Kernel>
class cpu_executor {
public:
    /// Keeps copies only: program, options and mode need not outlive it.
    ///
    /// Requires:   alignments are powers of two.
    /// Complexity: that of lower_program(), and of check_plan() from executor_options::checks::plan on.
    /// Throws:     unsound_plan if the plan or the order is invalid (edges of the program from
    ///             executor_options::checks::plan on; at any level an address that is wrong: see arena);
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <detail::memory_mode Mode>
        requires cpu_kernel<Kernel> // not on the class: errors under deduction would not name it
    cpu_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                 executor_options const& settings = {})
        : cpu_executor(std::move(kernel), p,
                       *detail::with_said_views(p, detail::tabulated_options(options, p.values())), mode,
                       settings)
    {
    }
    /// The same for a listing.
    template <detail::listed L, detail::memory_mode Mode>
        requires cpu_kernel<Kernel>
    cpu_executor(L const& list, Mode const& mode, Kernel kernel, executor_options const& settings = {})
        : cpu_executor(std::move(kernel), list.program(), list.options(), mode, settings)
    {
        if constexpr (requires { list.erased_handles(); }) values_.find_by(list.erased_handles());
    }
    /// For every shape of the plan of a growing_arena, beginning with that of `mode`: see set_shape().
    ///
    /// Complexity: also that of the check of the plan for every shape, in place of check_plan().
    /// Throws:     also precondition_error if `mode` is not the arena of a growing_arena; unsound_plan if its
    ///             plan was changed.
    template <class Options>
        requires(cpu_kernel<Kernel> && std::same_as<Options, symbolic_options>)
    cpu_executor(snapshot const& p, Options const& options, arena const& mode, Kernel kernel,
                 executor_options const& settings = {})
        : values_(detail::proved_shapes(p, options, mode, settings), mode, settings),
          kernel_(std::move(kernel))
    {
    }
    template <class Options, class Mode>
        requires(std::same_as<Options, symbolic_options> &&
                 !(std::same_as<Mode, arena> && cpu_kernel<Kernel>))
    cpu_executor(snapshot const&, Options const&, Mode const&, Kernel, executor_options const& = {},
                 detail::shaped_problem<cpu_kernel<Kernel>> = {}) = delete;
    /// The same for a listing: the options say of its values what those of plan_symbolic() say.
    template <detail::listed L, class Options>
        requires(cpu_kernel<Kernel> && std::same_as<Options, symbolic_options>)
    cpu_executor(L const& list, Options const& options, arena const& mode, Kernel kernel,
                 executor_options const& settings = {})
        : cpu_executor(list.program(), symbolic_options_of(list, options), mode, std::move(kernel), settings)
    {
        if constexpr (requires { list.erased_handles(); }) values_.find_by(list.erased_handles());
    }
    template <class Mode>
        requires(!detail::memory_mode<Mode> || !cpu_kernel<Kernel>)
    cpu_executor(snapshot const&, plan_options const&, Mode const&, Kernel, executor_options const& = {},
                 detail::executor_problem<Mode, cpu_kernel<Kernel>> = {}) = delete;

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is released and inputs have to
    ///          be given again before the next run; state values may be partly updated.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          run_error (allocation_error, clobbered_value) with its step; from
    ///          executor_options::checks::paint on std::bad_alloc.
    run_report run()
    {
        return values_.run_once([this] {
            if (values_.check() < executor_options::checks::paint) return run_steps([](auto) {}, [](auto) {});
            detail::clobber_checker checker(values_.lowered(), values_.storage(),
                                            values_.check() == executor_options::checks::digest,
                                            values_.lowered().is_any_schedule);
            run_steps([&](position_id at) { checker.before(at); },
                      [&](position_id at) { checker.after(at); });
            checker.finish();
        });
    }

    /// The bytes of an input, to be filled before a run; of one into which the last run has carried a value
    /// (plan_options::carried), only to replace it. Outputs of the last run become invalid: an input may
    /// share bytes with them.
    /// Throws: precondition_error if v is no input or has storage of the caller's; allocation_error.
    [[nodiscard]] std::span<std::byte> input(value_id v) { return values_.input(v); }

    /// The bytes of an output after a run.
    /// Throws: precondition_error if v is no output; unusable_value if no run has computed it, or an input
    ///         has been given since, or another executor has used the same growing_arena.
    [[nodiscard]] std::span<std::byte const> output(value_id v) const { return values_.output(v); }

    /// Sets the caller's storage for a value that is external, state, not eligible or of unknown size, and
    /// for all views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; where steps run
    ///           concurrently, storage bound for two values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment.
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

    /// Takes another shape for the next runs, where it was made for every shape: sizes and addresses change.
    /// Inputs have to be given again, and outputs can no longer be read; the caller's storage stays bound, and
    /// is asked for again where it has too few bytes. Memory follows when input() or run() is called.
    ///
    /// Complexity: O(values + touches + pairs of the stacking + operations of the formulas). Nothing is
    ///             planned or proved.
    /// Throws:     precondition_error if the executor was made for one shape, or a kernel is running; as
    ///             symbolic_plan::place(); where sizes are by shape, also if the arena is larger than those of
    ///             the samples, and unsound_plan if a view ends outside of its root. Then it keeps its shape.
    ///             std::bad_alloc: set a shape again before the next run.
    void set_shape(shape_view one) { values_.set_shape(one); }

    /// Allocations since construction.
    [[nodiscard]] run_report::memory_use memory() const { return values_.storage().memory().use(); }

private:
    template <class Mode>
    cpu_executor(Kernel kernel, snapshot const& p, plan_options const& options, Mode const& mode,
                 executor_options const& settings)
        : values_(detail::proved_sequence(p, options, detail::plan_in(mode), settings), mode, settings),
          kernel_(std::move(kernel))
    {
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        cpu_call call(values_.lowered(), values_.storage());
        for (position_id at = 0; at != values_.lowered().positions(); ++at)
            values_.run_step(at, kernel_, call, before, after);
    }

    detail::host_values values_; // supplied and read; storage and state
    Kernel kernel_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/cpu.ipp>
#endif

#endif
