// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SYMBOLIC_PLAN_HPP
#define SUBLET_SYMBOLIC_PLAN_HPP

/// Where every value lies, for every batch: one formula a buffer.
///
///     buffer   size       start             N = 1      N = 3        each begins at a multiple of 64:
///       a      100 N      0                 [0, 100)   [0, 300)       start + what is missing to the next
///       b      32         100 N + 32        [192 ..)   [384 ..)
///
/// A start is fixed + per_batch * N, rounded up to a multiple of the buffer's alignment. Where both parts are
/// multiples already nothing is rounded, and code that runs for any batch computes an offset by one
/// multiplication and one addition. at(N) is the ordinary plan for one batch.

#include <sublet/affine_bytes.hpp>
#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

struct symbolic_buffer {
    value_id root = no_value;
    live_range life = {};
    affine_bytes size = {};
    byte_count alignment = 1; ///< its own and its pool's
    pool_id pool = 0;
    affine_bytes start = {};

    [[nodiscard]] byte_count offset_at(byte_count batch) const
    {
        byte_count const offset = align_up(start.at(batch), alignment);
        SUBLET_EXPECTS(offset != no_offset, "sublet: a sum of sizes exceeds 64 bits");
        return offset;
    }
    /// Its bytes end here or below, for every batch.
    [[nodiscard]] affine_bytes top() const
    {
        affine_bytes const end = checked_add(start, size);
        return {checked_add(end.fixed, most_rounding(start, alignment)), end.per_batch};
    }
    friend bool operator==(symbolic_buffer const&, symbolic_buffer const&) = default;
};

/// Of the sequential reading.
struct symbolic_plan {
    byte_count max_batch = 1;
    std::vector<node_id> order = {};           ///< of the nodes; empty: 0, 1, 2 ...
    std::vector<symbolic_buffer> buffers = {}; ///< those of more than 0 bytes, by ascending root
    std::vector<buffer_id> buffer_of = {};     ///< by value; `no_buffer`: it has no storage of the plan's
    std::vector<affine_bytes> arena = {};      ///< by pool: enough for every batch
    std::vector<value_id> unsized = {};        ///< roots of buffers of unknown size

    /// The first byte of v in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(value_id v, byte_count batch) const
    {
        return buffer_of[v] == no_buffer ? no_offset : buffers[buffer_of[v]].offset_at(batch);
    }

    /// The plan for one batch. Its arenas are as high as it needs, which may be less than `arena` says.
    ///
    /// Complexity: O(values).
    /// Throws:     precondition_error if there is no such batch.
    template <integer Batch>
    [[nodiscard]] memory_plan at(Batch which) const
    {
        byte_count const batch = to_byte_count(which);
        SUBLET_EXPECTS(batch >= 1 && batch <= max_batch, "sublet: a plan holds from 1 to its max_batch");
        memory_plan plan;
        plan.order = order;
        plan.buffer_of = buffer_of;
        plan.unsized = unsized;
        plan.arena_bytes.assign(arena.size(), 0);
        plan.buffers.reserve(buffers.size());
        for (symbolic_buffer const& b : buffers) {
            placed_buffer const p{b.root, b.life, b.size.at(batch), b.alignment, b.pool, b.offset_at(batch)};
            plan.buffers.push_back(p);
            byte_count& height = plan.arena_bytes[b.pool];
            height = larger(height, checked_add(p.offset, p.size));
        }
        return plan;
    }
    friend bool operator==(symbolic_plan const&, symbolic_plan const&) = default;
};

} // namespace sublet

#endif
