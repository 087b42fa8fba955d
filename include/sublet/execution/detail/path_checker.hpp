// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_PATH_CHECKER_HPP
#define SUBLET_EXECUTION_DETAIL_PATH_CHECKER_HPP

/// Finds values overwritten while a program with control flow runs: the dead ones on the path that is taken
/// are painted, the others compared with their digest where they are read.
///
///     node 0   x = ...; y = ...      x and y own their bytes
///       └► 1   use x, z = ...        y is dead on this edge: painted. Behind the node x is dead: painted
///
/// A value is dead where no path from here reads it before it is made anew: liveness of the flat program. A
/// copy that is not needed hands the bytes to its target.

#include <sublet/analysis/live_sets.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

#include <cstdint>
#include <span>

namespace sublet::detail {

/// Where buffers die: behind a step, or on an edge.
struct path_liveness {
    live_sets live;                    ///< buffers as values, by flat node
    csr_rows<step_id, buffer_id> ends; ///< buffers that a step touches and no later step of a path reads
};

/// Complexity: liveness(), and O(touches + sizes of the live-out sets).
[[nodiscard]] path_liveness live_buffers(snapshot const& p, lowered_program const& lowered);

/// Ids in its errors are those of the flat program.
class path_checker {
public:
    /// All outlive it.
    path_checker(snapshot const& p, lowered_program const& lowered, path_liveness const& live,
                 value_storage const& values, bool takes_digests);

    /// Before the kernel or the copy of a step, after its storage is allocated.
    /// Throws: clobbered_value.
    void before(step_id s);
    /// After it.
    /// Throws: clobbered_value.
    void after(step_id s);
    /// Paints what died at the step.
    void discard(step_id s);
    /// Reads what phis read on an edge, and paints what is dead behind it.
    /// Throws: clobbered_value.
    void follow(node_id from, node_id to);
    /// After the last step: checks the outputs.
    /// Throws: clobbered_value.
    void finish() const;

private:
    buffer_id buffer_of(value_id v) const { return lowered_.table.buffer_of[v]; }
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    bool is_in_arena(buffer_id b) const { return values_.has_arena() && its(b).is_planned(); }
    byte_count offset(buffer_id b) const
    {
        return static_cast<byte_count>(values_.where(b) - values_.arenas()[its(b).pool].bytes);
    }
    /// The step reads the bytes, or names them.
    bool reads(touch t) const
    {
        return !t.makes() && (t.kind != touch::access::write_view || is_tracked_[buffer_of(t.value)]);
    }

    void claim(buffer_id b);
    void discard(buffer_id b);
    void track(buffer_id b, step_id producer);
    template <class Predicate>
    buffer_id overlapping_owner(buffer_id b, Predicate matches) const;
    /// A result of the step may lie over its operand.
    bool may_lie_over(buffer_id result, buffer_id operand, step_id s) const;
    void compare(buffer_id b, step_id reader) const;
    [[noreturn]] void refuse(buffer_id b, step_id reader, buffer_id culprit) const;

    snapshot const& program_;
    lowered_program const& lowered_;
    path_liveness const& live_;
    value_storage const& values_;
    bool takes_digests_;
    table<pool_id, byte_owners> owners_;
    table<buffer_id, std::uint64_t> digest_;
    table<buffer_id, step_id> producer_; // the last step to write it
    table<buffer_id, unsigned char> is_tracked_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/path_checker.ipp>
#endif

#endif
