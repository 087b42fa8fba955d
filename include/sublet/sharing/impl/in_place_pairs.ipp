// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_IN_PLACE_PAIRS_IPP
#define SUBLET_SHARING_IMPL_IN_PLACE_PAIRS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/in_place_pairs.hpp>

namespace sublet {

SUBLET_DECL buffer_table join_in_place(buffer_table table, std::vector<in_place_pair> pairs)
{
    if (pairs.empty()) return table;

    std::vector<buffer>& buffers = table.buffers;
    std::vector<buffer_id> heir(buffers.size(), no_buffer);
    std::vector<unsigned char> is_heir(buffers.size(), 0);
    for (in_place_pair const& pair : pairs) {
        buffer_id const to = table.buffer_of[pair.out];
        heir[table.buffer_of[pair.in]] = to;
        is_heir[to] = 1;
    }
    std::vector<buffer_id> joined(buffers.size(), no_buffer); // to whom
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        if (is_heir[b]) continue;
        buffer_id now = joined[b] = b;
        for (buffer_id next = heir[b]; next != no_buffer; next = heir[next]) {
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

    std::vector<buffer_id> renumbered(buffers.size(), no_buffer);
    buffer_table result;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        if (joined[b] != b) continue;
        renumbered[b] = static_cast<buffer_id>(result.buffers.size());
        result.buffers.push_back(buffers[b]);
    }
    for (buffer& b : result.buffers)
        if (b.over != no_buffer) b.over = renumbered[b.over];
    for (buffer_id b : table.buffer_of) result.buffer_of.push_back(renumbered[joined[b]]);
    result.in_place = std::move(pairs);
    return result;
}

} // namespace sublet

#endif
