// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_CALL_HPP
#define SUBLET_EXECUTION_STREAM_CALL_HPP

/// What a kernel sees of a program on a device: one step, its operands, and the stream to work in.
///
///     auto kernel = [&](auto const& call) {
///         my_operation<<<blocks, threads, 0, call.stream()>>>(call.in(0).data(), call.out(0).data());
///     };
///
/// The call is a handful of numbers, so a device that runs kernels later keeps a copy. What it refers to
/// stays until the run is over: addresses are written down when the step is issued, and written down once for
/// all runs where they do not change.

#include <sublet/contract.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet {

/// One step, as its kernel sees it; as cpu_call, but for the stream.
///
/// Throws: precondition_error for an operand that the step does not have.
template <class Stream>
class stream_call {
public:
    /// Requires: `operands` begins with the uses of the step, its defs and its scratch.
    stream_call(run_tape const& tape, step_id at, Stream stream, std::span<std::byte> const* operands)
        : step(tape.step_at[at]), position(at), tape_(&tape), operands_(operands), stream_(stream)
    {
    }

    step_id step;     ///< of the program
    step_id position; ///< in the order in which steps are issued

    [[nodiscard]] Stream stream() const { return stream_; }
    [[nodiscard]] std::span<value_id const> uses() const { return tape_->uses[position]; }
    [[nodiscard]] std::span<value_id const> defs() const { return tape_->defs[position]; }
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses().size(), i, 0); }
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const
    {
        return nth(defs().size(), j, uses().size());
    }
    /// Result j is a view of what was there before: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel asks for an operand that its step does not have");
        return tape_->is_view(defs()[j], position);
    }
    [[nodiscard]] std::size_t scratch_count() const { return tape_->scratch[position].size(); }
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(scratch_count(), k, uses().size() + defs().size());
    }

private:
    std::span<std::byte> nth(std::size_t count, std::size_t i, std::size_t first) const
    {
        SUBLET_EXPECTS(i < count, "sublet: a kernel asks for an operand that its step does not have");
        return operands_[first + i];
    }

    run_tape const* tape_;
    std::span<std::byte> const* operands_;
    Stream stream_;
};

namespace detail {

/// Where the operands of each step are written down, one after the other.
class operand_places {
public:
    explicit operand_places(run_tape const& tape);
    [[nodiscard]] std::size_t count() const { return first_.back(); }
    [[nodiscard]] std::size_t operator[](step_id at) const { return first_[at]; }

    /// Calls `bytes_of(value)` for each operand of the step.
    template <class BytesOf>
    void write(std::vector<std::span<std::byte>>& operands, run_tape const& tape, step_id at,
               BytesOf bytes_of) const
    {
        std::size_t next = first_[at];
        for (csr_rows const* rows : {&tape.uses, &tape.defs, &tape.scratch})
            for (value_id v : (*rows)[at]) operands[next++] = bytes_of(v);
    }

private:
    std::vector<std::size_t> first_; // by position, and one more
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/call.ipp>
#endif

#endif
