// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CPU_CALL_HPP
#define SUBLET_EXECUTION_CPU_CALL_HPP

/// What a kernel sees of a program: one step, the bytes of its operands, and room for its results.
///
///     c = add(a, b)        call.step     which operation it is, in your IR
///                          call.in(0)    the bytes of a          call.in(1)   of b
///                          call.out(0)   where c is to go        as<float>(call.out(0))
///
/// One functor is the kernel of a whole program. It has no part in where values live, in no memory mode.

#include <sublet/contract.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet {

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
    cpu_call(run_tape const& tape, storage const& values, std::atomic<bool> const* is_stopping = nullptr)
        : tape_(&tape), values_(&values), is_stopping_(is_stopping)
    {
    }

    step_id step = 0;     ///< of the program
    step_id position = 0; ///< in the order of this run

    [[nodiscard]] std::span<value_id const> uses() const { return tape_->uses[position]; }
    [[nodiscard]] std::span<value_id const> defs() const { return tape_->defs[position]; }
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses(), i); }
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return nth(defs(), j); }

    /// Result j is a view of what was there before: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel asks for an operand that its step does not have");
        return tape_->is_view(defs()[j], position);
    }

    /// Room to work in, as `executor_options::scratch` names it.
    [[nodiscard]] std::size_t scratch_count() const { return tape_->scratch[position].size(); }
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(tape_->scratch[position], k);
    }

    /// Another step has failed: results are of no use any more, so a long kernel may return early.
    [[nodiscard]] bool stop_requested() const noexcept;

private:
    std::span<std::byte> nth(std::span<value_id const> values, std::size_t i) const
    {
        SUBLET_EXPECTS(i < values.size(), "sublet: a kernel asks for an operand that its step does not have");
        return values_->shown_by(*tape_, values[i]);
    }

    run_tape const* tape_;
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
void run_step(run_tape const& tape, value_storage& values, step_id at, Kernel& kernel, cpu_call& call,
              Before& before, After& after)
{
    call.position = at;
    call.step = tape.step_at[at];
    values.before(tape, at);
    before(at);
    try {
        kernel(std::as_const(call));
    } catch (...) {
        throw run_error(call.step, std::current_exception());
    }
    after(at);
    values.after(tape, at);
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/cpu_call.ipp>
#endif

#endif
