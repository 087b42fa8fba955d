// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STORAGE_HPP
#define SUBLET_EXECUTION_STORAGE_HPP

/// The three memory modes of a run.
///
///     position         0       1       2       3
///     no_plan      a  [=========================     allocated at the first write, freed after the run
///                  b          [=================
///     recycle      a  [===============)              freed after the last step that touches it,
///                  b          [===============)      or its block taken over by an in-place result
///     arena        a, b: offsets in one block per pool, allocated before the first run, or in the
///                  reserved addresses of a growing_arena
///
/// `no_plan` gives every value its own bytes and is the oracle for the other two; `recycle` is what
/// frameworks with reference counts do; `arena` runs a plan of this library.
///
/// Source: the first two are the modes of Apache SINGA's graph scheduler (pull request 626, 2020).

#include <sublet/core/formula.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/errors.hpp>

namespace sublet {

namespace detail {
class arena_blocks;
struct blocks_of_arena;
} // namespace detail

/// Storage of its own for each value, kept to the end of the run.
struct no_plan {
    static constexpr bool is_memory_mode = true; ///< for the executors
};
/// Storage that is freed after the last step that touches it.
struct recycle {
    static constexpr bool is_memory_mode = true; ///< for the executors
};
/// The offsets of a plan, in one allocation for each pool, in which its blocks lie one behind the other.
///
/// Executors read from the plan alone what it decides: pools, offsets, the order of the nodes, the results in
/// place. The options say what the values need, and what the proof of the plan compares. At every level of
/// checks, proved or not, an executor checks all addresses when it is made: each buffer lies within the arena
/// of its pool and each view within its root, sums of offsets do not wrap, offsets are multiples of the
/// alignments, and arenas that it is given have the bytes and the alignment.
struct arena {
    static constexpr bool is_memory_mode = true; ///< for the executors
    arena() = default;
    /// A plan that was made before, or read from elsewhere.
    arena(memory_plan p);
    /// The plan of a planner's result.
    /// Throws: unsound_plan with its error, if there is none.
    template <class Planned>
        requires requires(Planned const& planned) {
                     memory_plan(planned.plan);
                     unsound_plan(planned.error());
                 }
    arena(Planned const& planned)
    {
        if (!planned) throw unsound_plan(planned.error());
        plan = planned.plan;
    }
    memory_plan plan; ///< a copy, with the offsets of all buffers

private:
    friend struct detail::blocks_of_arena;
    detail::arena_blocks* blocks_ = nullptr; // of a growing arena; null: the executor allocates its own
    sublet::shape shape_;                    // of a growing arena
};

namespace detail {

/// The blocks that a growing_arena gives to an executor.
struct blocks_of_arena {
    static void give(arena& to, arena_blocks& blocks, shape_view one)
    {
        to.blocks_ = &blocks;
        to.shape_.assign(one.sizes().begin(), one.sizes().end());
    }
    static shape const& shape_of(arena const& mode) { return mode.shape_; }
    static arena_blocks* of(arena const& mode) { return mode.blocks_; }
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/storage.ipp>
#endif

#endif
