// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_FIT_CONCURRENTLY_IPP
#define SUBLET_PLACEMENT_IMPL_FIT_CONCURRENTLY_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/fit_concurrently.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

SUBLET_DECL packing fit_concurrently(std::vector<placement_buffer> const& buffers,
                                     std::vector<std::uint32_t> const& order, placed_by_range& placed,
                                     byte_count ceiling, std::uint64_t limit, std::uint64_t most)
{
    packing result;
    result.origin.assign(buffers.size(), no_offset);
    placed.clear();
    auto put = [&](std::uint32_t i, byte_count offset) {
        byte_count const end = offset + buffers[i].size;
        result.origin[i] = offset;
        result.height = larger(result.height, end);
        placed.insert(i, offset, end);
    };
    for (std::uint32_t i : order)
        if (buffers[i].pinned != no_offset) put(i, buffers[i].pinned);
    for (std::uint32_t i : order) {
        placement_buffer const& b = buffers[i];
        if (b.pinned != no_offset) continue;
        bool const in_haste = placed.visits() >= limit;
        bool const gives_up = placed.visits() >= most;
        byte_count const at =
            gives_up ? no_offset : placed.lowest_gap(i, b.size, b.alignment, ceiling, in_haste);
        if (at == no_offset) {
            result.height = no_limit;
            break;
        }
        put(i, at);
    }
    result.visits = placed.visits();
    return result;
}

SUBLET_DECL void lower_by_reordering(std::vector<placement_buffer> const& buffers,
                                     placement_conflicts const& conflicts, placed_by_range& placed,
                                     byte_count bound, std::uint64_t visits, std::vector<std::uint32_t> order,
                                     packing& best)
{
    std::uint64_t state = 88172645463325252u; // xorshift: Marsaglia, Journal of Statistical Software 2003
    auto below = [&state](std::size_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<std::size_t>(state >> 11) % n;
    };
    packing now = best;
    std::vector<std::uint32_t> too_high, next;     // places in the order
    std::size_t rounds = 16 * (order.size() + 16); // more are in vain where few are to be ordered
    for (std::uint64_t spent = 0; best.height > bound && spent < visits && rounds != 0; --rounds) {
        too_high.clear();
        for (std::uint32_t i = 1; i < order.size(); ++i)
            if (now.origin[order[i]] + buffers[order[i]].size > bound &&
                buffers[order[i]].pinned == no_offset)
                too_high.push_back(i);
        if (too_high.empty()) return;
        std::size_t at = too_high[below(too_high.size())], to = below(at);
        std::uint32_t const who = order[at];
        for (int tries = 64; tries != 0 && !conflicts.conflict(order[to], who); --tries) to = below(at);
        next = order;
        for (; at != to; --at) next[at] = next[at - 1];
        next[to] = who;
        packing found = fit_concurrently(buffers, next, placed, now.height);
        spent += found.visits + order.size();
        if (found.height > now.height) continue;
        now = std::move(found);
        order.swap(next);
        if (now.height < best.height) best = now;
    }
}

} // namespace sublet

#endif
