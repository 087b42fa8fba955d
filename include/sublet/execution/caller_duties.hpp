// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CALLER_DUTIES_HPP
#define SUBLET_EXECUTION_CALLER_DUTIES_HPP

/// What the caller of an executor owes it, and what it has given so far.
///
///     value      storage        owed
///     weights    the caller's   bind() once       ──► there, for all runs
///     image      the plan's     input() a run     ──► there, until that run is over
///     scores     the plan's     nothing
///
/// The same wherever the bytes are, on this machine or on a device.

#include <sublet/analysis/buffers.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet::detail {

/// Every call is about the tape that it was made for.
class caller_duties {
public:
    explicit caller_duties(run_tape const& tape);

    /// Throws: precondition_error if there is no such value.
    template <id_like V>
    static value_id value_of(run_tape const& tape, V const& v)
    {
        value_id const value = as_id(v);
        SUBLET_EXPECTS(value < tape.bytes.size(),
                       "sublet: an executor is asked for a value that does not exist");
        return value;
    }
    static buffer const& buffer_of(run_tape const& tape, value_id v)
    {
        return tape.table.buffers[tape.table.buffer_of[v]];
    }

    /// Throws: precondition_error if v is no input in storage of the executor's.
    static void expect_input(run_tape const& tape, value_id v)
    {
        buffer const& its = buffer_of(tape, v);
        SUBLET_EXPECTS(has_role(its.role, value_role::input),
                       "sublet: input() is asked for no input, or give() before bind()");
        SUBLET_EXPECTS(its.is_planned() || its.size == 0, "sublet: storage of this input is to be bound");
    }
    /// Throws: precondition_error if v is no output.
    static void expect_output(run_tape const& tape, value_id v)
    {
        SUBLET_EXPECTS(has_role(buffer_of(tape, v).role, value_role::output),
                       "sublet: output() is asked for no output, or take() before bind()");
    }
    /// Throws: unusable_value if there are no results.
    static void expect_results(value_id v, bool has_results);
    /// Throws: precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///         bytes, for it or for a view of it, or they do not begin at its alignment.
    static void expect_fit(run_tape const& tape, value_id v, std::span<std::byte const> bytes);

    [[nodiscard]] bool is_there(buffer_id b) const { return is_there_[b] != 0; }
    void give(buffer_id b) { is_there_[b] = 1; }
    /// A run has had its inputs.
    void use_up_inputs(run_tape const& tape);

    /// Throws: unusable_value for the first that is owed and not there.
    void expect_all(run_tape const& tape) const;
    /// The same without what is given before every run.
    void expect_bound(run_tape const& tape) const;

private:
    void expect_there(buffer const& its, buffer_id b) const;

    std::vector<buffer_id> owed_;         // to be bound once, or given before every run
    std::vector<unsigned char> is_there_; // by buffer: bound or given
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/caller_duties.ipp>
#endif

#endif
