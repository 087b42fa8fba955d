// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_SPILLS_HPP
#define SUBLET_PLANNING_SPILLS_HPP

/// A program with spills as ordinary steps, so that planners, checkers and executors need no special case.
///
///     step  0   def a                        0   def a
///           1   use a   def b                1   use a   def b
///                                            2   use a   def home          a is copied out
///           2   use b   def c                3   use b   def c
///                                            4   use home   def a'         and copied back
///           3   use a, c                     5   use a', c
///
/// A restored buffer is a new value a' with its own live range and offset; so are the views of a that are
/// used later. A home has storage of its own (plan_options::eligible is false), outside all pools. Each copy and each recomputed step has a
/// position of its own: after a step its copies out, then copies back, then recomputed steps, in program
/// order. So if there are only copies, no more bytes are live at them than at an adjacent step.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// What may be spilled or recomputed, and what that costs.
struct advice_options {
    bool copies = true;       ///< bytes may be copied out and back
    bool remats = true;       ///< steps that say may_recompute() may be run again
    byte_count copy_cost = 2; ///< of each byte that is copied out and back
    /// Of running a step again. 0: the bytes that it reads and writes; `no_size`: it never runs again.
    per_value<byte_count, step_id> step_cost = byte_count{0};
    per_value<bool> movable = true; ///< false: its buffer is never spilled
};

/// A list of steps, one per node, in execution order.
struct spilled_program {
    /// Where a step comes from.
    enum class kind : std::uint8_t {
        original,     ///< a step of the program
        copied_out,   ///< copies its operand to its result, a home
        copied_back,  ///< copies its operand, a home, to its first result
        rematerialize ///< a step of the program, run again
    };

    /// The origin of a step.
    struct step {
        spilled_program::kind kind = spilled_program::kind::original; ///< where it comes from
        /// Of the program: the step to run, or the one that the copy follows or precedes.
        step_id step = no_step;
        friend bool operator==(spilled_program::step, spilled_program::step) = default;
    };

    snapshot program;                            ///< the steps, with the copies and the recomputed ones
    table<step_id, spilled_program::step> steps; ///< where each comes from
    table<value_id, value_id> origin;            ///< the value of the program; of a home the spilled value
    /// For each value of the program the version that holds it at the end.
    table<value_id, value_id> final_version;
    std::vector<value_id> homes;             ///< ascending
    table<value_id, value_id> alias_of;      ///< as in plan_options
    table<value_id, byte_count> view_offset; ///< likewise
    table<value_id, value_role> role;        ///< likewise

    /// The options of the program, for these values.
    [[nodiscard]] plan_options options(plan_options const& asked) const;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/spills.ipp>
#endif

#endif
