// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_FIT_CONCURRENTLY_HPP

/// Place buffers one after the other, each into the lowest gap that those before it have left, and try to do
/// better by moving those that reach too high forward in the order.
///
///     order   a  b  c  d  e         d reaches above the bound, and conflicts with a and b
///             a  d  b  c  e         so it is offered its place before b: kept, as it is no higher than
///             before
///
/// Lowest fit depends on the order alone, and some order makes it optimal: take buffers by their offsets in
/// an optimal placement, and none is placed above its offset there. So the search is for an order.
///
/// Who reaches above the bound could have been lower only in bytes of those that were placed before it and
/// conflict with it, so it is moved before one of these.

#include <sublet/placement/conflicts.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/placed_by_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// As fit(): place `buffers`, all of one pool, in `order`, pinned ones first.
///
/// Requires:   `placed` is made of the conflicts of `buffers`; `order` names each once; pins are sound.
/// Ensures:    those that conflict do not overlap in bytes; every offset is a multiple of its alignment or a
///             pin. The placement is given up as soon as it is clear that it ends above `ceiling`. Once it
///             has visited as much as `limit`, it looks no longer for gaps but puts all others on top of
///             those that they conflict with; at `most` it is given up.
/// Complexity: n insertions and queries, n = buffers.
[[nodiscard]] inline packing fit_concurrently(std::vector<placement_buffer> const& buffers,
                                              std::vector<std::uint32_t> const& order,
                                              placed_by_range& placed, byte_count ceiling,
                                              std::uint64_t limit = no_limit, std::uint64_t most = no_limit)
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

/// Lower `best`, which was placed in `order`, to `bound` if that can be done within `visits`.
///
/// Ensures:    `best` is no higher than it was, and valid as fit_concurrently() has it.
inline void lower_by_reordering(std::vector<placement_buffer> const& buffers,
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
