// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_TAPE_HPP
#define SUBLET_EXECUTION_TAPE_HPP

/// A program as a run sees it: at each position who is read, who is written, whose storage is needed.
///
///     position   step   uses   defs   scratch   touched         buffer   values        holds
///        0         2     -      a        -       0                0      a, b = view(a)  3
///        1         0     a      b, c     w       0, 1, 2          1      c               2
///        2         1     b, c   -        -       0, 1             2      w               1
///
/// A buffer here is a value with all its views: the same bytes in every mode. `holds` counts the steps that
/// touch it, and one more if it has to stay to the end: its reference count when a run begins.

#include <sublet/analysis/buffers.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// Within a step, the bytes of `from` may be written over if nothing touches it later: by the buffer `to` of
/// a declared in-place pair, or by any result (`no_buffer`) if the step reads it early.
struct yielded {
    buffer_id from;
    buffer_id to;
};

struct run_tape {
    std::vector<step_id> step_at; ///< by position
    csr_rows uses, defs, scratch; ///< by position: values, in the order in which the program names them
    csr_rows touched;             ///< by position: buffers, each once
    std::vector<yielded> yields;
    std::vector<std::uint32_t> yields_begin{0}; ///< by position, and one more: into `yields`
    buffer_table table;                         ///< values with their views
    std::vector<std::uint32_t> holds;           ///< by buffer
    std::vector<step_id> first_write;           ///< by buffer: its position, or `no_step`
    std::vector<byte_count> bytes;              ///< by value: what it shows of its buffer
    std::vector<buffer_id> given_up;            ///< inputs that nobody needs: they leave with the first step
    bool is_any_schedule = false;               ///< the order is one of many: they leave before any step
    std::size_t pools = 0;

    [[nodiscard]] step_id positions() const { return static_cast<step_id>(step_at.size()); }
    [[nodiscard]] std::span<yielded const> yields_at(step_id position) const
    {
        return {yields.data() + yields_begin[position], yields.data() + yields_begin[position + 1]};
    }
    /// The buffers of an in-place pair are alike: one block will do for both.
    [[nodiscard]] bool is_even(yielded y) const
    {
        if (y.to == no_buffer) return false;
        buffer const &from = table.buffers[y.from], &to = table.buffers[y.to];
        return from.is_planned() && to.is_planned() && from.pool == to.pool && from.size == to.size;
    }
    /// The result is a view of what was there before: its step has nothing to write.
    [[nodiscard]] bool is_view(value_id defined, step_id position) const
    {
        buffer_id const b = table.buffer_of[defined];
        buffer const& its = table.buffers[b];
        return its.root != defined && (is_given(its.role) || first_write[b] < position);
    }
};

/// The program in the order of `options.order`, with the buffers that its views make.
///
/// Requires:   `scratch` is defined by one step and used by none.
/// Complexity: that of lifetimes(), and O(steps + values + touches + pairs + k log k) time, without the
///             logarithm in memory; k uses at the ends of predecessors and inputs that nobody needs.
/// Throws:     unsound_plan if a value is needed before it is defined, the order moves a write, or a view has
///             more bytes than its root;
///             precondition_error where a requirement is broken.
[[nodiscard]] run_tape tape_of(snapshot const& program, plan_options const& options,
                               per_value<bool> const& scratch);

/// The same in an order of single steps, which nodes cannot say if they overlap: one of those in which a plan
/// for any schedule is run. The first of them is a step as others are: what it reads early yields, and be it
/// an input.
///
/// Requires:   `steps` names every step once, each behind what it waits for. It is believed.
/// Complexity: as above, without lifetimes().
[[nodiscard]] run_tape tape_of(snapshot const& program, plan_options const& options,
                               per_value<bool> const& scratch, std::vector<step_id> steps);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/tape.ipp>
#endif

#endif
