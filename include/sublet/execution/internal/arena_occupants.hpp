// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_ARENA_OCCUPANTS_HPP
#define SUBLET_EXECUTION_INTERNAL_ARENA_OCCUPANTS_HPP

/// The previous occupants of the bytes of each buffer in an arena.
///
///     before     |=== a ===|= b =|====== (free) ====|
///     c          ......[== c ==============).........      c follows a and b
///
/// A plan says where buffers lie, a lowered program when each is first written. One walk in program order
/// finds the buffers that each new one overlaps: their uses must end before it is written.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

namespace sublet::detail {

class arena_occupants {
public:
    /// Inputs occupy their bytes at the start. Both arguments must outlive this.
    /// Throws: unsound_plan if a buffer has no offset, or ends outside of the arena of its pool.
    arena_occupants(lowered_program const& lowered, memory_plan const& plan);

    /// Lets b occupy its bytes and calls `visit(before)` for each previous occupant, by ascending offset, for
    /// some more than once, in O(segments of b). Inputs and buffers that are not in an arena have none.
    template <class Visit>
    void occupy(buffer_id b, Visit visit)
    {
        if (!its(b).is_planned() || is_given(its(b).role)) return;
        byte_owners& arena = arenas_[its(b).pool];
        buffer_id last = no_buffer;
        arena.each(begin(b), end(b), [&](byte_count, byte_count, buffer_id before) {
            if (before != no_buffer && before != b && before != last) visit(last = before);
        });
        arena.claim(begin(b), end(b), b);
    }

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    byte_count begin(buffer_id b) const { return plan_.offset_of(its(b).root); }
    byte_count end(buffer_id b) const { return begin(b) + its(b).size; }

    lowered_program const& lowered_;
    memory_plan const& plan_;
    table<pool_id, byte_owners> arenas_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/arena_occupants.ipp>
#endif

#endif
