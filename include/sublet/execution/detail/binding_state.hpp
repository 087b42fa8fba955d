// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_BINDING_STATE_HPP
#define SUBLET_EXECUTION_DETAIL_BINDING_STATE_HPP

/// Which values the caller must bind or supply, and which it has, wherever the bytes are.
///
///     value      storage        required
///     weights    the caller's   bind() once       ──► supplied for all runs
///     image      the plan's     input() per run   ──► supplied until that run is over
///     scores     the plan's     nothing
///
/// One flag for each buffer: supplied or not. The checks of a call with the wrong value are here too.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet::detail {

/// Every call takes the lowered program of the constructor.
class binding_state {
public:
    explicit binding_state(lowered_program const& lowered);

    /// Throws: precondition_error if the value does not exist.
    static void expect_value(lowered_program const& lowered, value_id v)
    {
        SUBLET_EXPECTS(v < lowered.bytes.size(),
                       "sublet: an executor is called with value %, but there are only % values", v,
                       lowered.bytes.size());
    }
    static buffer const& buffer_of(lowered_program const& lowered, value_id v)
    {
        return lowered.table.buffers[lowered.table.buffer_of[v]];
    }

    /// Throws: precondition_error if v is no input, or has storage of the caller's.
    static void expect_input(lowered_program const& lowered, value_id v)
    {
        buffer const& its = buffer_of(lowered, v);
        SUBLET_EXPECTS(has_role(its.role, value_role::input),
                       "sublet: input() is called for value %, which is no input, or give() before bind()",
                       v);
        SUBLET_EXPECTS(its.is_planned() || its.size == 0,
                       "sublet: input % has no planned storage: bind() storage for it", v);
    }
    /// Throws: precondition_error if v is no output.
    static void expect_output(lowered_program const& lowered, value_id v)
    {
        if (!has_role(buffer_of(lowered, v).role, value_role::output)) refuse_output(lowered, v);
    }
    [[noreturn]] static void refuse_output(lowered_program const& lowered, value_id v);
    /// Throws: unusable_value if there are no results to read.
    static void expect_results(value_id v, bool has_results);
    /// Throws: precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///         bytes, for it or for a view of it, or they do not begin at its alignment.
    static void expect_fit(lowered_program const& lowered, value_id v, std::span<std::byte const> bytes);

    [[nodiscard]] bool is_supplied(buffer_id b) const { return is_supplied_[b] == 1; }
    /// Also with too few bytes for the shape that there is now.
    [[nodiscard]] bool is_bound(buffer_id b) const { return is_supplied_[b] != 0; }
    void mark_supplied(buffer_id b) { is_supplied_[b] = 1; }
    /// After a run: inputs must be supplied again.
    void consume_inputs(lowered_program const& lowered);
    /// After a run that is done: the next one finds what is carried.
    void supply_carried(lowered_program const& lowered);

    /// After a change of sizes: what is bound is supplied if it has bytes enough for these, and must be bound
    /// again otherwise; `bound` are the bytes of each buffer.
    void compare_bound(lowered_program const& lowered, table<buffer_id, byte_count> const& bound);

    /// Throws: unusable_value for the first that is required and not supplied.
    void expect_all(lowered_program const& lowered) const;
    /// The same without inputs.
    void expect_bound(lowered_program const& lowered) const;

private:
    void expect_supplied(buffer const& its, buffer_id b) const;

    std::vector<buffer_id> required_;             // buffers to bind once, or to supply before every run
    static constexpr unsigned char too_small = 2;
    table<buffer_id, unsigned char> is_supplied_; // 1: bound or supplied; too_small: bound, for another shape
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/binding_state.ipp>
#endif

#endif
