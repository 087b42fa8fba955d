// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_SHAPED_VALUES_HPP
#define SUBLET_EXECUTION_DETAIL_SHAPED_VALUES_HPP

/// The sizes and places of a program's values for the shape that runs, of one plan for every shape. What does
/// not depend on the shape (steps, operands, touches) was lowered once.
///
///     shape ──► find()    sizes of all values, offsets of all buffers; checked, nothing changed yet
///           └─► apply()   into the lowered program, and the storage moves its addresses

#include <sublet/core/formula.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/arena_blocks.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet::detail {

class shaped_values {
public:
    /// Of an executor for one shape: find() is refused.
    shaped_values() = default;
    /// Of the plan of the blocks, which outlive it. `options` are tabulated.
    shaped_values(arena_blocks const& blocks, symbolic_options const& options, std::size_t values);

    /// Sizes and places for a shape.
    ///
    /// Complexity: O(values + pairs of the stacking + operations of the formulas); no allocation from the
    ///             second shape on.
    /// Throws:     precondition_error if the shape is none of the ranges, or the blocks are smaller; as
    ///             symbolic_plan::place(); unsound_plan if a view ends outside of its root, which only sizes
    ///             by shape can cause. Then what was applied before stays.
    void find(lowered_program const& lowered, shape_view one);
    /// Writes what was found into the lowered program of the same program.
    void apply(lowered_program& lowered) const;

    /// Of a planned buffer of the lowered program.
    [[nodiscard]] byte_count offset_of(lowered_program const& lowered, buffer_id b) const
    {
        return now_.at.of[blocks_->plan().buffer_of[lowered.table.buffers[b].root]];
    }
    [[nodiscard]] bool is_placed(lowered_program const& lowered, buffer_id b) const
    {
        return blocks_->plan().buffer_of[lowered.table.buffers[b].root] != no_buffer;
    }
    [[nodiscard]] table<pool_id, byte_count> const& arena_bytes() const { return now_.at.bytes; }
    /// The plan for the shape that was found last.
    [[nodiscard]] memory_plan plan() const { return blocks_->plan().at(now_.shape); }

private:
    struct open_size {
        value_id value;
        formula bytes;
    };

    arena_blocks const* blocks_ = nullptr;
    std::vector<open_size> open_;               // sizes that depend on the shape, and are no buffer's
    table<value_id, unsigned char> is_whole_;   // its size is that of its buffer
    table<value_id, byte_count> bytes_, begin_; // for the shape that was found; the first byte in the root
    symbolic_plan::places now_;
};

/// A program lowered for the first shape of an arena, and what another shape changes.
struct shaped_program {
    lowered_program lowered;
    step_waits waits; ///< for every shape; with a plan for one order, each step waits for the one before
    lowered_program with_bytes; ///< the same in which all that the plan places has some, for a schedule
    shaped_values values;
    plan_options first; ///< of the first shape
};

/// Lowers a program for every shape of the arena's plan, which is proved once for all of them unless
/// `settings` turn the proof off. Of a plan for every schedule, the waits are those of all shapes, and keep
/// the given hand-offs: a view with an open place or size counts as all of its storage.
///
/// Throws: precondition_error if the arena is not that of a growing_arena; unsound_plan with a counterexample,
///         a cycle if hand-offs contradict such a wait; errors of lower_planned().
[[nodiscard]] shaped_program proved_shapes(snapshot const& p, symbolic_options const& options,
                                           arena const& mode, executor_options const& settings,
                                           std::vector<handoff> const& handoffs = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/shaped_values.ipp>
#endif

#endif
