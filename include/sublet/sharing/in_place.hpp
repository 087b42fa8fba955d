// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_HPP
#define SUBLET_SHARING_IN_PLACE_HPP

/// Let results be written over operands that nobody needs any more, where the program allows it.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
/// Without this an output never shares with an input of its own step. Pairs are taken greedily in the order
/// of the steps. Only buffers of equal size are joined: that never raises the bytes alive at any position.

#include <sublet/analysis/buffers.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Join the buffers of declared in-place pairs; `steps` are the program's steps by position.
///
/// Ensures:    a pair is taken if and only if, when its turn comes: the step uses the input, defines the
///             output and touches the input's buffer in no other way; nothing touches that buffer later (an
///             early use or one at the end of the node counts), it is neither output nor pinned, and was not
///             taken at this step already; the output's buffer begins here, is no input and not pinned; both
///             are planned, of one pool and one size. Joined buffers keep the root of the first; the table
///             stays sorted by root.
/// Complexity: O(values + touches + (steps + pairs) log pairs) time, O(values + steps) memory.
template <std::same_as<snapshot> S>
[[nodiscard]] buffer_table take_in_place(S const& p, std::vector<step_id> const& steps, buffer_table table)
{
    if (p.overwrites().empty()) return table;

    std::vector<buffer>& buffers = table.buffers;
    std::vector<buffer_id> joined(buffers.size()); // leads, over some steps, to the buffer that b is part of
    for (std::size_t b = 0; b != joined.size(); ++b) joined[b] = static_cast<buffer_id>(b);
    auto buffer_of = [&](value_id v) {
        buffer_id b = table.buffer_of[v];
        while (joined[b] != b) b = joined[b] = joined[joined[b]];
        return b;
    };

    // While a step is looked at: by buffer, the one value that it reads, if it touches no other part of it.
    value_id const several = no_value - 1; // of ids a program has fewer
    std::vector<value_id> only_reads(buffers.size(), no_value);
    std::vector<step_id> defined_at(table.buffer_of.size(), no_node); // by value: the last step that does

    // The first position whose step may write over a buffer. Its life does not say: it ends before an early
    // use, and what an edge carries out of a node is read after the node's last step has written.
    std::vector<step_id> position_of(steps.size()), free_from(buffers.size(), 0);
    for (std::size_t i = 0; i != steps.size(); ++i) {
        position_of[steps[i]] = static_cast<step_id>(i);
        for (touch t : p.touches(steps[i])) free_from[table.buffer_of[t.value]] = static_cast<step_id>(i);
    }
    for (edge_use u : p.edge_uses()) {
        step_id& first = free_from[table.buffer_of[u.value]];
        first = larger(first, position_of[p.steps_of(u.pred).last - 1] + 1);
    }

    for (std::size_t i = 0; i != steps.size(); ++i) {
        auto const position = static_cast<step_id>(i);
        auto const pairs = p.overwrites(steps[i]);
        if (pairs.empty()) continue;
        for (touch t : p.touches(steps[i])) {
            bool const defines = t.kind == touch_kind::def;
            if (defines) defined_at[t.value] = position;
            value_id& read = only_reads[buffer_of(t.value)];
            read = defines || (read != no_value && read != t.value) ? several : t.value;
        }
        for (overwrite const pair : pairs) {
            buffer_id const from = buffer_of(pair.in), to = buffer_of(pair.out);
            buffer &in = buffers[from], &out = buffers[to];
            if (only_reads[from] != pair.in || defined_at[pair.out] != position) continue;
            if (free_from[from] > position || has_role(in.role, value_role::output)) continue;
            if (!in.is_planned() || !out.is_planned() || in.size != out.size || in.pool != out.pool) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            if (out.life.first != position || has_role(out.role, value_role::input)) continue;
            in.life = hull(in.life, out.life);
            in.role = in.role | out.role;
            in.alignment = combine_alignment(in.alignment, out.alignment);
            free_from[from] = free_from[to];
            joined[to] = from;
            only_reads[from] = several;
        }
        for (touch t : p.touches(steps[i])) only_reads[buffer_of(t.value)] = no_value;
    }

    std::vector<buffer_id> renumbered(buffers.size(), no_buffer);
    buffer_table result;
    for (std::size_t b = 0; b != buffers.size(); ++b) {
        if (joined[b] != b) continue;
        renumbered[b] = static_cast<buffer_id>(result.buffers.size());
        result.buffers.push_back(buffers[b]);
    }
    for (std::size_t v = 0; v != table.buffer_of.size(); ++v)
        result.buffer_of.push_back(renumbered[buffer_of(static_cast<value_id>(v))]);
    return result;
}

} // namespace sublet

#endif
