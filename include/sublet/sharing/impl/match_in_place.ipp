// SPDX-License-Identifier: BSL-1.0

/// Each buffer has at most one pair as input and one as output, so pairs form chains: from the front of
/// each, a result of equal size joins the buffer before it, and a smaller one begins a buffer of its own.
/// Then the buffers that are left are numbered.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/internal/match_in_place.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL std::vector<std::uint64_t> apart_keys(buffer_table const& table)
{
    std::vector<std::uint64_t> keys;
    for (auto const& pair : table.apart)
        keys.push_back(pair_key(table.buffer_of[pair.first], table.buffer_of[pair.second]));
    sort_ascending(keys);
    return keys;
}

SUBLET_COLD_DECL buffer_table join_in_place(buffer_table table, std::vector<memory_plan::in_place_pair> pairs)
{
    if (pairs.empty()) return table;

    sublet::table<buffer_id, buffer>& buffers = table.buffers;
    sublet::table<buffer_id, buffer_id> successor(buffers.size(), no_buffer);
    sublet::table<buffer_id, unsigned char> is_successor(buffers.size(), 0);
    for (memory_plan::in_place_pair const& pair : pairs) {
        buffer_id const to = table.buffer_of[pair.out];
        successor[table.buffer_of[pair.in]] = to;
        is_successor[to] = 1;
    }
    sublet::table<buffer_id, buffer_id> joined(buffers.size(), no_buffer); // the one it is joined with
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        if (is_successor[b]) continue;
        buffer_id now = joined[b] = b;
        for (buffer_id next = successor[b]; next != no_buffer; next = successor[next]) {
            buffer &in = buffers[now], &out = buffers[next];
            if (live_range const rest{out.life.first + 1, out.life.last};
                out.size != in.size && !is_empty(rest)) {
                out.life = rest;
                out.over = now;
                now = joined[next] = next;
                continue;
            }
            in.life = hull(in.life, out.life);
            in.role = in.role | out.role;
            in.alignment = combine_alignment(in.alignment, out.alignment);
            joined[next] = now;
        }
    }

    sublet::table<buffer_id, buffer_id>& renumbered = successor; // not needed any more
    buffer_id left = 0;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        if (joined[b] != b) continue;
        renumbered[b] = left;
        if (left != b) buffers[left] = buffers[b];
        ++left;
    }
    buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(+left), buffers.end());
    for (buffer& b : buffers)
        if (b.over != no_buffer) b.over = renumbered[b.over];
    for (buffer_id& b : table.buffer_of) b = renumbered[joined[b]];
    table.oversized_view = no_value; // what was refused is not refused again
    table.oversized_bytes = 0;
    table.in_place = std::move(pairs);
    return table;
}

SUBLET_DECL std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, sublet::table<position_id, step_id> const& steps, buffer_table const& table,
               bool only_equal_sizes)
{
    if (p.overwrites().empty()) return {};

    // The first position with a step that may write over a buffer. Its live range does not tell: it ends
    // before an early use, and an edge use is read after the node's last step has written.
    sublet::table<step_id, position_id> position_of(steps.size());
    sublet::table<buffer_id, position_id> free_from(table.buffers.size(), 0);
    for (position_id at = 0; at != steps.size(); ++at) {
        position_of[steps[at]] = at;
        for (touch t : p.touches(steps[at])) free_from[table.buffer_of[t.value]] = at;
    }
    for (edge_use u : p.edge_uses()) {
        position_id& free = free_from[table.buffer_of[u.value]];
        free = larger(free, position_id{position_of[p.steps_of(u.pred).last - 1] + 1});
    }
    return match_in_place(
        p, table,
        [&](buffer_id b, step_id s) {
            return free_from[b] <= position_of[s] && contains(table.buffers[b].life, position_of[s]);
        },
        [&](buffer_id b, step_id s) { return table.buffers[b].life.first == position_of[s]; },
        only_equal_sizes);
}

} // namespace sublet::detail
