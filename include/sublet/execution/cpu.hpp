// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CPU_HPP
#define SUBLET_EXECUTION_CPU_HPP

/// Runs a program on this machine, one step after the other, watched if you like.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/detail/executor_base.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- watch -----------------------------------------------------------------------------------------------

/// Catches a run in the act: dead bytes are painted, living ones compared with what their producer left.
///
///     address   0               64              128
///     bytes     [a a a a a a a a|FF FF FF FF FF |c c c c c ...     painted: read them and you get NaN
///     owner      a               (dead)          c                 who was the last to be put there?
///     digest     7c4e...                         91b0...           taken when written, compared when touched
///
/// The plan check says that a plan is wrong; this says that a run went wrong, whatever the reason: a plan
/// that nobody checked, a kernel that writes beyond its results, an effect that was not declared. Where
/// address sanitizing is on, dead bytes of an arena are poisoned instead, so that the very access is
/// reported; what a kernel does outside of all storage of values, only the sanitizer sees.

namespace sublet {

namespace detail {

/// Steps may come in another order and at once, if it is told so: what it knows is then looked up and changed
/// by one at a time, and bytes are painted so, as neighbours may share what a sanitizer keeps about them.
/// Digests are taken beside each other: who touches a buffer keeps others from writing it, if the plan is
/// sound.
class clobber_checker {
public:
    using storage = value_storage;

    clobber_checker(lowered_program const& lowered, storage const& values, bool takes_digests,
                    bool is_shared = false);

    /// Before the kernel, when the storage of its results is there.
    void before(step_id at);

    /// After the kernel, before any storage is given back.
    void after(step_id at);

    /// After the last step: what is the caller's now, and what has been all the time.
    void finish();

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    bool is_planned(buffer_id b) const { return its(b).is_planned(); }
    byte_count offset(buffer_id b) const
    {
        return static_cast<byte_count>(values_.where(b) - values_.arenas()[its(b).pool].bytes);
    }

    /// b was handed over, or its bytes were; or the caller bound the same for both.
    bool is_in_place(buffer_id b, step_id at) const;

    void claim(buffer_id b, step_id step);

    /// From now on b is what it is now.
    void track(buffer_id b, step_id producer);

    /// Of those who have moved in over b, the first that counts; `no_buffer`: none.
    template <class Predicate>
    buffer_id overlapping_owner(buffer_id b, Predicate matches) const
    {
        buffer_id found = no_buffer;
        if (!values_.has_arena() || !is_planned(b)) return found;
        byte_count const begin = offset(b);
        owners_[its(b).pool].each(begin, begin + its(b).size, [&](byte_count, byte_count, buffer_id owner) {
            if (found == no_buffer && owner != b && matches(owner)) found = owner;
        });
        return found;
    }

    /// When the step is done, what it has read and not written, unless it was allowed to write over it.
    void compare_read(buffer_id b, step_id at) const;
    /// Only the step that is being looked at still touches b.
    bool is_last(buffer_id b) const
    {
        scoped_lock const guard(lock());
        return remaining_[b] == 1;
    }
    /// By heirs and nobody else.
    template <class MayReuse>
    bool is_reused_only_by(buffer_id b, MayReuse may_reuse) const
    {
        scoped_lock const guard(lock());
        return overlapping_owner(b, [](buffer_id) { return true; }) != no_buffer &&
               overlapping_owner(b, [&](buffer_id occupant) { return !may_reuse(occupant); }) == no_buffer;
    }

    /// Nobody who counts has moved in over b, and its bytes are what its producer left.
    template <class Predicate>
    void compare(buffer_id b, step_id reader, Predicate matches) const
    {
        if (!takes_digests_) return;
        clobbered_value::finding what{.value = its(b).root, .reader = reader};
        std::uint64_t expected = 0;
        {
            scoped_lock const guard(lock());
            if (!is_tracked_[b]) return;
            what.producer = producer_[b];
            expected = digest_[b];
            if (buffer_id const culprit = overlapping_owner(b, matches); culprit != no_buffer) {
                what.culprit = its(culprit).root;
                what.culprit_step = is_tracked_[culprit] ? producer_[culprit] : placed_by_[culprit];
            }
        }
        if (what.culprit != no_value || digest(values_.bytes_of(b)) != expected) throw clobbered_value(what);
    }

    /// Nobody needs b any more.
    void discard(buffer_id b, step_id at);

    /// The stretches of an arena that still are `owner`'s.
    void discard_unowned(std::size_t pool, byte_count begin, byte_count end, buffer_id owner) const;

    /// By position: the buffers that its step writes, ascending, each once, however many views of it there
    /// are.
    void list_written();

    adaptive_mutex* lock() const { return is_shared_ ? &lock_ : nullptr; }

    lowered_program const& lowered_;
    storage const& values_;
    bool takes_digests_;
    bool is_shared_;
    mutable adaptive_mutex lock_;
    std::vector<byte_owners> owners_;      // by pool
    std::vector<std::uint32_t> remaining_; // by buffer: touches to come
    std::vector<std::uint64_t> digest_;    // by buffer
    std::vector<step_id> producer_;        // by buffer: the last step to write it
    std::vector<step_id> placed_by_;       // by buffer: the last step to move it in
    std::vector<unsigned char> is_tracked_;
    csr_rows written_;
};

} // namespace detail

// --- cpu call --------------------------------------------------------------------------------------------

/// What a kernel sees of a program: one step, the bytes of its operands, and room for its results.
///
///     c = add(a, b)        call.step     which operation it is, in your IR
///                          call.in(0)    the bytes of a          call.in(1)   of b
///                          call.out(0)   where c is to go        as<float>(call.out(0))
///
/// One functor is the kernel of a whole program. It has no part in where values live, in no memory mode.

/// Bytes as objects of a type that needs no constructor.
/// Throws: precondition_error if they do not begin at a multiple of its alignment or are no whole number of
///         objects.
template <class T, class B>
    requires std::is_trivially_copyable_v<T> && std::same_as<std::remove_const_t<B>, std::byte>
[[nodiscard]] auto as(std::span<B> bytes)
{
    using object = std::conditional_t<std::is_const_v<B>, T const, T>;
    SUBLET_EXPECTS(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0,
                   "sublet: a value is not aligned as its type needs it; plan it with that alignment");
    SUBLET_EXPECTS(bytes.size() % sizeof(T) == 0, "sublet: a value is no whole number of such objects");
    return std::span<object>(reinterpret_cast<object*>(bytes.data()), bytes.size() / sizeof(T));
}

/// One step, as its kernel sees it. Spans are valid until the kernel returns.
///
/// Operands are counted in the order in which the program names them; one that is not there (`no_value`) does
/// not count. A result may lie over an operand only where the program allows it: read before you write,
/// there.
///
/// Throws: precondition_error for an operand that the step does not have.
class cpu_call {
public:
    using storage = detail::value_storage;
    /// `is_stopping`: a null pointer where no other step can end the run.
    cpu_call(detail::lowered_program const& lowered, storage const& values,
             std::atomic<bool> const* is_stopping = nullptr)
        : lowered_(&lowered), values_(&values), is_stopping_(is_stopping)
    {
    }

    step_id step = 0;     ///< of the program
    step_id position = 0; ///< in the order of this run

    [[nodiscard]] std::span<value_id const> uses() const { return lowered_->uses[position]; }
    [[nodiscard]] std::span<value_id const> defs() const { return lowered_->defs[position]; }
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses(), i); }
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return nth(defs(), j); }

    /// Result j is a view of what was there before: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel asks for an operand that its step does not have");
        return lowered_->is_view(defs()[j], position);
    }

    /// Room to work in, as `executor_options::scratch` names it.
    [[nodiscard]] std::size_t scratch_count() const { return lowered_->scratch[position].size(); }
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(lowered_->scratch[position], k);
    }

    /// Another step has failed: results are of no use any more, so a long kernel may return early.
    [[nodiscard]] bool stop_requested() const noexcept;

private:
    std::span<std::byte> nth(std::span<value_id const> values, std::size_t i) const
    {
        SUBLET_EXPECTS(i < values.size(), "sublet: a kernel asks for an operand that its step does not have");
        return values_->value_bytes(*lowered_, values[i]);
    }

    detail::lowered_program const* lowered_;
    storage const* values_;
    std::atomic<bool> const* is_stopping_;
};

/// Semantics:     writes all of each result that is no view, and nothing else; keeps no span.
/// Ordinary models: [&](sublet::cpu_call const& call) { ... };   synthetic_kernel.
template <class K>
concept cpu_kernel = std::invocable<K&, cpu_call const&>;

namespace detail {

/// One step: storage for its results, the kernel, and what is over with it given back.
///
/// Throws: run_error with the step if the kernel throws; what `before` and `after` throw.
template <class Kernel, class Before, class After>
void run_step(lowered_program const& lowered, value_storage& values, step_id at, Kernel& kernel,
              cpu_call& call, Before& before, After& after)
{
    call.position = at;
    call.step = lowered.step_at[at];
    values.before(lowered, at);
    before(at);
    try {
        kernel(std::as_const(call));
    } catch (...) {
        throw run_error(call.step, std::current_exception());
    }
    after(at);
    values.after(lowered, at);
}

} // namespace detail

// --- cpu -------------------------------------------------------------------------------------------------

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

/// Runs a program, again and again.
///
/// Of the modes, `no_plan` and `recycle` allocate while running, `arena` when it is constructed. An executor
/// can be moved, and all spans stay; what was moved from runs nothing. One thread at a time may use it.
template <class Kernel>
class cpu_executor : public detail::executor_base {
public:
    /// Nothing of program, options and mode is kept but what was copied.
    ///
    /// Requires:   alignments are powers of two; scratch is defined by one step and used by none.
    /// Complexity: that of tape_of(), and of check_plan() from executor_options::checks::plan on.
    /// Throws:     unsound_plan if the plan or the order does not hold (edges of the program from
    ///             executor_options::checks::plan on; at any level where a place is outside of its arena);
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <detail::memory_mode Mode>
        requires cpu_kernel<Kernel> // asked of the class, it would go unnamed in errors where it is deduced
    cpu_executor(snapshot const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                 executor_options const& settings = {})
        : cpu_executor(std::move(kernel), p, options, mode, settings)
    {
    }

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is given back and inputs have
    ///          to be given again, then it may run again; what state values hold may be half updated.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          run_error (allocation_error, clobbered_value) with its step; from
    ///          executor_options::checks::paint on std::bad_alloc.
    run_report run()
    {
        return this->run_once([this] {
            if (check_ < executor_options::checks::paint) return run_steps([](auto) {}, [](auto) {});
            detail::clobber_checker checker(lowered_, values_, check_ == executor_options::checks::digest);
            run_steps([&](step_id at) { checker.before(at); }, [&](step_id at) { checker.after(at); });
            checker.finish();
        });
    }

private:
    template <class Mode>
    cpu_executor(Kernel kernel, snapshot const& p, plan_options const& options, Mode const& mode,
                 executor_options const& settings)
        : executor_base(detail::lower_program(p, options, settings.scratch),
                        prove(p, options, mode, settings), settings),
          kernel_(std::move(kernel))
    {
    }

    template <class Mode>
    static Mode const& prove(snapshot const& p, plan_options const& options, Mode const& mode,
                             executor_options const& settings)
    {
        if (!settings.prove || settings.check == executor_options::checks::off) return mode;
        if constexpr (std::same_as<Mode, arena>) {
            if (auto const why = check_plan(p, mode.plan, options)) throw unsound_plan(*why);
        } else if (auto const position = detail::first_backward_edge(p, options.order)) {
            throw unsound_plan({.what = fault::leads_back, .position = *position});
        }
        return mode;
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        cpu_call call(lowered_, values_);
        for (step_id at = 0; at != lowered_.positions(); ++at)
            detail::run_step(lowered_, values_, at, kernel_, call, before, after);
    }

    using executor_base::check_;
    using executor_base::lowered_;
    using executor_base::values_;
    Kernel kernel_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/cpu.ipp>
#endif

#endif
