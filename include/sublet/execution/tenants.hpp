// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_TENANTS_HPP
#define SUBLET_EXECUTION_TENANTS_HPP

/// Whose bytes they were before, when a buffer moves in.
///
///     before     |=== a ===|= b =|====== (nobody) ==|
///     c          ......[== c ==============).........      c follows a, and b
///
/// A plan says where buffers lie, a tape when each is first written. One walk along the tape knows for every
/// newcomer whom it follows: those who must be done with their bytes when steps run at once.

#include <sublet/analysis/buffers.hpp>
#include <sublet/execution/byte_owners.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <vector>

namespace sublet::detail {

class tenants {
public:
    /// Inputs are there. Both must outlive this.
    ///
    /// Throws: unsound_plan if the plan has no place for a buffer, or one outside of the arena of its pool.
    tenants(run_tape const& tape, memory_plan const& plan);

    /// Let b move in, and call `follows(before)` for everybody whose bytes it takes, by ascending offset; for
    /// some more than once. Inputs, and what lies in no arena, have nobody before them.
    ///
    /// Complexity: a step for each stretch between places where buffers begin or end.
    template <class Follows>
    void move_in(buffer_id b, Follows follows)
    {
        if (!its(b).is_planned() || is_given(its(b).role)) return;
        byte_owners& arena = arenas_[its(b).pool];
        buffer_id last = no_buffer;
        arena.each(begin(b), end(b), [&](byte_count, byte_count, buffer_id before) {
            if (before != no_buffer && before != b && before != last) follows(last = before);
        });
        arena.claim(begin(b), end(b), b);
    }

private:
    buffer const& its(buffer_id b) const { return tape_.table.buffers[b]; }
    byte_count begin(buffer_id b) const { return plan_.offset_of(its(b).root); }
    byte_count end(buffer_id b) const { return begin(b) + its(b).size; }

    run_tape const& tape_;
    memory_plan const& plan_;
    std::vector<byte_owners> arenas_; // by pool
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/tenants.ipp>
#endif

#endif
