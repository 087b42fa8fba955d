// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_BUFFERS_HPP
#define SUBLET_ANALYSIS_BUFFERS_HPP

/// Buffers with all that a planner has to know of them: the properties of values, gathered by class.
///
///     values                                     buffer
///       a   64 bytes  [0, 3)   align 4             root a, 64 bytes, [0, 5), align 12, output
///       b = view(a)   [2, 5)   align 6, output
///
/// Size, pool and pin are the root's (a pin on a view pins the buffer as well); alignments combine by lcm,
/// roles by union, and the life is the hull of all lives. A view may show part of the bytes only: it begins
/// where the root begins, and holds all of its storage. There is no plan with a view of more bytes than that.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <vector>

namespace sublet {

struct buffer {
    value_id root = no_value;
    live_range life;
    byte_count size = 0; ///< `no_size` where it is not known
    byte_count alignment = 1;
    value_role role = value_role::intermediate;
    pool_id pool = 0;
    byte_count pinned = no_offset;
    byte_count pinned_too = no_offset; ///< where another of its values is pinned, if that is elsewhere
    buffer_id over = no_buffer;        ///< the larger one whose bytes it takes over, as placed_buffer has it
    bool eligible = true;

    /// Whether storage is to be planned for it.
    [[nodiscard]] bool is_planned() const { return is_wanted() && size != 0 && size != no_size; }
    /// The positions at which somebody writes or needs it: those at which it may share no slot.
    [[nodiscard]] live_range slot_life() const { return {life.first - (over != no_buffer), life.last}; }
    /// Whether storage should be planned for it, but its size is not known.
    [[nodiscard]] bool is_unsized() const { return is_wanted() && size == no_size; }

private:
    [[nodiscard]] bool is_wanted() const
    {
        return eligible && !has_role(role, value_role::external) && !is_empty(life);
    }
};

struct buffer_table {
    std::vector<buffer> buffers;              ///< by ascending root
    std::vector<buffer_id> buffer_of;         ///< by value
    std::vector<in_place_pair> in_place = {}; ///< the pairs whose buffers have been joined
    value_id oversized_view = no_value;       ///< the first view that has more bytes than its root, if any
    byte_count oversized_bytes = 0;           ///< and how many
};

/// Requires:   `lives` are the live ranges of the values that `options` speaks of.
/// Complexity: O(values) time and memory.
/// Throws:     precondition_error where a property has not one entry a value, an alignment is 0, or views
///             run in a circle.
[[nodiscard]] buffer_table gather_buffers(live_ranges const& lives, plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/buffers.ipp>
#endif

#endif
