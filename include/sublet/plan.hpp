// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_HPP
#define SUBLET_PLAN_HPP

/// Plans are data: who shares with whom, or where everybody lies.
///
///     value   buffer        buffer   life     size   offset
///       a       0             0      [0, 2)     64        0
///       b       1             1      [1, 3)     32       64
///       c       0  (view)     2      [2, 4)     64        0     (buffer 0 has moved out)
///       d       2
///
/// Nothing in a plan is believed: checking/check_plan.hpp re-derives lives and sizes from the program.

#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Under which reading of the program a plan is valid (see the README: three readings).
enum class program_reading : std::uint8_t {
    sequential,  ///< steps run one after the other, in the plan's order
    concurrent,  ///< steps run in any order that edges and data allow
    control_flow ///< successors are alternatives
};

/// A slot for each buffer, without addresses. A buffer that needs no storage has `no_slot`.
struct slot_plan {
    std::vector<slot_id> slot_of;
    slot_id slots = 0;
    friend bool operator==(slot_plan const&, slot_plan const&) = default;
};

/// The same with sizes: a slot is as large as its largest tenant.
struct sized_slot_plan : slot_plan {
    std::vector<byte_count> slot_bytes; ///< by slot
    std::vector<pool_id> slot_pool;     ///< by slot
    byte_count total_bytes = 0;
};

/// Why there is no plan: two that must not share are fixed to the same slot.
struct fixed_clash {
    value_id value = no_value;
    value_id other = no_value;
    slot_id slot = no_slot;
    step_id step = no_step; ///< that both occupy, if there are steps
    friend bool operator==(fixed_clash const&, fixed_clash const&) = default;
};

/// Step `to` begins only when step `from` has ended, because of memory and not because of data.
struct handoff {
    step_id from = no_step;
    step_id to = no_step;
    friend bool operator==(handoff, handoff) = default;
};

/// A buffer, when it lives, and where. One that is written over a larger one, in place, begins where that
/// begins in memory, and its life begins where the other's ends: a position after the step that writes it. So
/// lives and sizes add up to what is in use at each position, and no two rectangles meet.
struct placed_buffer {
    value_id root = no_value; ///< the value that the others of the buffer are views or in-place successors of
    live_range life = {};
    byte_count size = 0;
    byte_count alignment = 1;
    pool_id pool = 0;
    byte_count offset = no_offset;
    buffer_id over = no_buffer; ///< the larger one whose bytes it takes over
    /// The positions at which somebody writes or needs it: those at which it may share no slot.
    [[nodiscard]] live_range slot_life() const { return {life.first - (over != no_buffer), life.last}; }
    friend bool operator==(placed_buffer const&, placed_buffer const&) = default;
};

/// `out` is written over the storage of `in`, at a step that reads `in` and defines `out`.
struct in_place_pair {
    step_id step = no_step;
    value_id in = no_value;
    value_id out = no_value;
    byte_count bytes = 0; ///< of the buffer of `out`: so many fewer are alive at the step
    friend bool operator==(in_place_pair const&, in_place_pair const&) = default;
};

/// And what that is good for.
struct in_place_gain : in_place_pair {
    byte_count peak_bytes = 0;      ///< so much higher the peak of its pool would be without this pair
    byte_count step_peak_bytes = 0; ///< ... without any of this pool at the step
    friend bool operator==(in_place_gain const&, in_place_gain const&) = default;
};

/// An offset for each value that needs one.
struct memory_plan {
    program_reading valid_for = program_reading::sequential;
    std::vector<node_id> order = {};         ///< of the nodes; empty: 0, 1, 2 ...
    std::vector<placed_buffer> buffers = {}; ///< those of more than 0 bytes, by ascending root
    /// By value; `no_buffer`: 0 bytes, unsized, external, ineligible, untouched.
    std::vector<buffer_id> buffer_of = {};
    std::vector<byte_count> arena_bytes = {}; ///< by pool
    std::vector<handoff> handoffs = {};       ///< that a concurrent execution has to keep
    std::vector<value_id> unsized = {}; ///< roots of buffers of unknown size: no storage is planned for them

    /// The first byte of v in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(value_id v) const
    {
        return buffer_of[v] == no_buffer ? no_offset : buffers[buffer_of[v]].offset;
    }
    friend bool operator==(memory_plan const&, memory_plan const&) = default;
};

} // namespace sublet

#endif
