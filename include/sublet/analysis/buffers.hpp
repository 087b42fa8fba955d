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

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
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
[[nodiscard]] inline buffer_table gather_buffers(live_ranges const& lives, plan_options const& options)
{
    std::size_t const values = lives.of.size();
    auto const alias_of = options.alias_of.tabulate(values);
    auto const bytes = options.bytes.tabulate(values);
    auto const alignment = options.alignment.tabulate(values);
    auto const role = options.role.tabulate(values);
    auto const pool = options.pool.tabulate(values);
    auto const pinned = options.pinned.tabulate(values);
    auto const eligible = options.eligible.tabulate(values);

    buffer_classes classes = aliases(values, [&](value_id v) { return alias_of[v]; });
    buffer_table table;
    table.buffers.reserve(classes.root.size());
    for (value_id root : classes.root) {
        buffer b;
        b.root = root;
        b.size = bytes[root];
        b.pool = pool[root];
        table.buffers.push_back(b);
    }
    for (std::size_t v = 0; v != values; ++v) {
        SUBLET_EXPECTS(alignment[v] >= 1, "sublet: an alignment is at least 1");
        buffer& b = table.buffers[classes.buffer_of[v]];
        b.life = hull(b.life, lives.of[v]);
        b.alignment = combine_alignment(b.alignment, alignment[v]);
        b.role = b.role | role[v];
        b.eligible = b.eligible && eligible[v];
        if (b.pinned == no_offset) b.pinned = pinned[v];
        else if (pinned[v] != no_offset && pinned[v] != b.pinned) b.pinned_too = pinned[v];
        bool const is_sized = b.size != no_size && bytes[v] != no_size;
        if (is_sized && bytes[v] > b.size && table.oversized_view == no_value) {
            table.oversized_view = static_cast<value_id>(v);
            table.oversized_bytes = bytes[v];
        }
    }
    table.buffer_of = std::move(classes.buffer_of);
    return table;
}

} // namespace sublet

#endif
