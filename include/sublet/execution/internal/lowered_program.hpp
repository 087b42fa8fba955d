// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_LOWERED_PROGRAM_HPP
#define SUBLET_EXECUTION_INTERNAL_LOWERED_PROGRAM_HPP

/// A program flattened for a run: for each position its step, what that uses and defines, and its buffers.
///
///     position   step   uses   defs   scratch   touched         buffer   values        ref_counts
///        0         2     -      a        -       0                0      a, b = view(a)  3
///        1         0     a      b, c     w       0, 1, 2          1      c               2
///        2         1     b, c   -        -       0, 1             2      w               1
///
/// A buffer is a value with all its views: the same bytes in every mode. `ref_counts` counts the steps that
/// touch it, plus one if it must stay to the end: its reference count when a run begins.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/errors.hpp>
#include <sublet/core/internal/erased_handles.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sublet::detail {

/// At one step, the bytes of `from` may be overwritten if no later step touches it: by the buffer `to` of a
/// declared in-place pair, or by any result (`no_buffer`) if the step reads it early.
struct operand_reuse {
    buffer_id from;
    buffer_id to;
};

struct lowered_program {
    using values_at = csr_rows<position_id, value_id>;
    using buffers_at = csr_rows<position_id, buffer_id>;

    sublet::table<position_id, step_id> step_at;
    values_at uses, defs, scratch; ///< in program order; `defs`: all that it may write but scratch
    values_at views;               ///< of `defs`, those that the step makes and does not write
    values_at updates;             ///< of `defs`, those with bytes that are there already
    buffers_at touched;            ///< each once
    buffers_at accessed;           ///< of these, those that the step may read or write
    std::vector<operand_reuse> reuses;
    std::vector<std::uint32_t> reuses_begin{0};         ///< by position, and one more: into `reuses`
    buffer_table table;                                 ///< each value with its views
    sublet::table<buffer_id, std::uint32_t> ref_counts; ///< how many steps touch it, and 1 for an output
    sublet::table<buffer_id, position_id> first_write;  ///< the first that writes it, or `no_position`
    sublet::table<buffer_id, unsigned char> is_updated; ///< a step changes it in place
    sublet::table<value_id, byte_count> bytes;          ///< its part of its buffer
    std::vector<buffer_id> unused_inputs; ///< inputs that no step reads: dead after the first step
    /// Of carried values: after a round each has the storage of the next one, and the last that of the first.
    std::vector<std::vector<buffer_id>> carried;
    bool is_any_schedule = false;         ///< one of many orders: they are dead before any step
    std::size_t pools = 0;
    erased_handles handles = {}; ///< of the listing that it was made of, if any

    [[nodiscard]] std::uint32_t positions() const { return static_cast<std::uint32_t>(step_at.size()); }
    [[nodiscard]] std::span<operand_reuse const> reuses_at(position_id position) const
    {
        return {reuses.data() + reuses_begin[position], reuses.data() + reuses_begin[position + 1]};
    }
    /// The two buffers have equal pool and size, so that one block can serve both.
    [[nodiscard]] bool is_same_size(operand_reuse y) const
    {
        if (y.to == no_buffer) return false;
        buffer const &from = table.buffers[y.from], &to = table.buffers[y.to];
        return from.is_planned() && to.is_planned() && from.pool == to.pool && from.size == to.size;
    }
    /// The result is a view of bytes that exist already: its step writes nothing.
    [[nodiscard]] bool is_view(value_id defined, position_id position) const
    {
        return has(views[position], defined);
    }
    /// The step changes bytes that exist already.
    [[nodiscard]] bool is_update(value_id written, position_id position) const
    {
        return has(updates[position], written);
    }

    /// An operand of the step at a position.
    struct operand {
        value_id value;
        std::size_t index; ///< among its uses, its defs and its scratch, one after the other
    };
    /// The operand that a kernel names by its handle or, without a handle's type, by its id.
    ///
    /// Complexity: O(operands of the step), and that of finding the handle. No allocation.
    /// Throws:     precondition_error if the step does not touch it, or it is no handle of the listing.
    template <class H>
    [[nodiscard]] operand operand_of(H const& h, position_id position) const
    {
        handle_key const key = key_of(h);
        erased_handles::found its = handles.find(key);
        bool is_id = false;
        if constexpr (std::convertible_to<H const&, value_id>)
            if (!its.is_of_type && (!handles || !(std::is_integral_v<H> || std::is_enum_v<H>)))
                its = {h, true}, is_id = true;
        if (!its.is_of_type) refuse_handle(position);
        if (its.value == no_value) refuse_operand(position, key, no_value);
        std::size_t index = 0;
        for (auto const* rows : {&uses, &defs, &scratch})
            for (value_id v : (*rows)[position]) {
                if (v == its.value) return {v, index};
                ++index;
            }
        refuse_operand(position, is_id ? handle_key{} : key, its.value);
    }

private:
    [[noreturn]] void refuse_handle(position_id position) const;
    [[noreturn]] void refuse_operand(position_id position, handle_key const& key, value_id v) const;
    static bool has(std::span<value_id const> row, value_id v)
    {
        for (value_id its : row)
            if (its == v) return true;
        return false;
    }
};

/// The program in the order of `options.order`; a value and its views form one buffer.
///
/// Scratch is what one step allocates and no other touches, and what is neither given nor an output.
///
/// Complexity: that of lifetimes(), and O(steps + values + touches + pairs + k log k) time, the same without
///             log in memory; k = uses at the ends of predecessors and unused inputs.
/// Throws:     unsound_plan if a value is needed before it is defined, the order moves a write, or a view has
///             more bytes than its root; precondition_error where a requirement is broken.
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options);

/// The same for a given order of single steps, in which steps of different nodes may interleave, for a plan
/// for any schedule. Operands that the first step reads early may be reused, inputs too.
/// Requires:   `steps` names every step once, each after all that it waits for. The second is not checked.
/// Complexity: as above, without lifetimes().
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options,
                                            table<position_id, step_id> steps);

/// The options with all that a plan decides, read from it alone: its order, unless it is for any schedule,
/// and the pool of each buffer in it. The pairs that it takes in place are among those that the program
/// declares.
///
/// Complexity: O(values + nodes).
/// Throws:     unsound_plan if the plan does not have an entry for each value.
[[nodiscard]] plan_options options_of_plan(snapshot const& program, plan_options options,
                                           memory_plan const& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/lowered_program.ipp>
#endif

#endif
