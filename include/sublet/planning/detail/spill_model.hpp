// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SPILL_MODEL_HPP
#define SUBLET_PLANNING_DETAIL_SPILL_MODEL_HPP

/// What has to be there when each step runs, and from what it can be restored.
///
///     position      0        1        2        3        4 (end)
///                 def a    use a    def c    use b
///                          def b             def d      output d
///     operands                a                 b       d            there before
///     results       a         b        c        d                    made there for the first time
///     maker of b: position 1, which needs a; of a: position 0
///
/// A buffer is the storage of a value with its views; in-place pairs are not joined. Its maker is the only
/// step that writes it. It runs again only if it says that it may (effect_sink::may_recompute()), writes
/// planned storage only that is neither pinned nor given, and before an operand is written again. If it says
/// may_recompute_results(), it may also update external storage, which it does not touch when it runs again.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/spills.hpp>

#include <vector>

namespace sublet::detail {

/// Uses at the ends of nodes, by position.
std::vector<sort_key> node_end_touches(snapshot const& p, table<position_id, step_id> const& steps);

struct spill_model {
    /// A result may take the bytes of an operand that is not needed later.
    struct in_place_pair {
        buffer_id in = no_buffer, out = no_buffer;
    };
    struct storage {
        byte_count size = 0; ///< 0: it is not planned
        pool_id pool = 0;
        bool may_leave = false;          ///< its bytes may be given up before its last use
        bool may_copy = false;           ///< they may be copied out and back
        position_id maker = no_position; ///< of the step that makes it again; none: only copies restore it
        byte_count copy_cost = 0;        ///< out and back
    };

    table<position_id, step_id> steps;
    buffer_table buffers; ///< without in-place pairs joined
    table<buffer_id, storage> of;
    std::size_t pools = 0;
    csr_rows<position_id, buffer_id> operands;  ///< planned ones; those of the end are the outputs
    csr_rows<position_id, buffer_id> early;     ///< of these, those that no write of the step sees
    csr_rows<position_id, buffer_id> rewritten; ///< of these, those that the step writes
    csr_rows<position_id, buffer_id> results;   ///< planned ones
    csr_rows<position_id, in_place_pair> pairs;
    csr_rows<buffer_id, position_id> uses;    ///< positions at which it is an operand, ascending
    csr_rows<buffer_id, position_id> readers; ///< of these, those that may run again
    std::vector<buffer_id> given;             ///< there from the start
    table<position_id, byte_count> cost;      ///< of running the step again
    /// It makes the same up to here: the first position that writes an operand of it again.
    table<position_id, position_id> same_until;
    csr_rows<position_id, buffer_id> left_out; ///< updates, which it does not make when it runs again

    /// Requires:   the program has a plan in the order of `options`, whatever its size.
    /// Complexity: O(values + pairs + touches log touches).
    /// Throws:     precondition_error if sums of costs or sizes exceed 64 bits.
    spill_model(snapshot const& p, plan_options const& options, advice_options const& how);

    [[nodiscard]] bool is_left_out(position_id at, buffer_id b) const
    {
        for (buffer_id other : left_out[at])
            if (other == b) return true;
        return false;
    }
    [[nodiscard]] position_id end() const { return position_id::of(steps.size()); }
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/spill_model.ipp>
#endif

#endif
