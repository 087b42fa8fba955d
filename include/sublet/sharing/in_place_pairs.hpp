// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_PAIRS_HPP
#define SUBLET_SHARING_IN_PLACE_PAIRS_HPP

/// Let results be written over operands: what does not depend on when steps run.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
/// Whether anybody still needs the operand, and whether the result's buffer is not in use before, depends on
/// how the program is read; that is asked. Pairs of different steps are never in each other's way: an operand
/// is free at the last step that touches it, and a result begins at one.

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

/// Join the buffers of declared in-place pairs, those of a step in the order in which it declares them.
///
/// Requires:   is_free(b, step): only the step itself touches the buffer when the step writes or later.
///             begins(b, step): nothing touches it before the step writes. Both are asked with buffers of
///             `table` as it was given.
/// Ensures:    a pair is taken if and only if the step uses the input, defines the output and touches the
///             input's buffer in no other way; that buffer is free, neither output nor pinned, and not taken
///             already; the output's buffer begins here, is no input, not pinned, and has not been joined to
///             another; both are planned, of one pool and one size. Joined buffers keep the root of the first
///             in the chain; the table stays sorted by root.
/// Complexity: O(values + touches + pairs) time, O(values) memory; each callable is called once a pair at
///             most.
template <std::same_as<snapshot> S, class IsFree, class Begins>
[[nodiscard]] buffer_table join_in_place(S const& p, buffer_table table, IsFree is_free, Begins begins)
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
    std::vector<step_id> defined_at(table.buffer_of.size(), no_step); // by value: the last step that does
    auto const pairs = p.overwrites();                                // by step
    for (std::size_t i = 0; i != pairs.size();) {
        step_id const s = pairs[i].step;
        for (touch t : p.touches(s)) {
            bool const defines = t.kind == touch_kind::def;
            if (defines) defined_at[t.value] = s;
            value_id& read = only_reads[buffer_of(t.value)];
            read = defines || (read != no_value && read != t.value) ? several : t.value;
        }
        for (; i != pairs.size() && pairs[i].step == s; ++i) {
            overwrite const pair = pairs[i];
            buffer_id const from = buffer_of(pair.in), to = buffer_of(pair.out);
            buffer &in = buffers[from], &out = buffers[to];
            if (only_reads[from] != pair.in || defined_at[pair.out] != s) continue;
            if (has_role(in.role, value_role::output) || has_role(out.role, value_role::input)) continue;
            if (!in.is_planned() || !out.is_planned() || in.size != out.size || in.pool != out.pool) continue;
            if (in.pinned != no_offset || out.pinned != no_offset || to != table.buffer_of[pair.out])
                continue;
            if (!is_free(table.buffer_of[pair.in], s) || !begins(to, s)) continue;
            in.life = hull(in.life, out.life);
            in.role = in.role | out.role;
            in.alignment = combine_alignment(in.alignment, out.alignment);
            joined[to] = from;
            only_reads[from] = several;
        }
        for (touch t : p.touches(s)) only_reads[buffer_of(t.value)] = no_value;
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
