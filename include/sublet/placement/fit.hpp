// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_HPP
#define SUBLET_PLACEMENT_FIT_HPP

/// Place buffers one after the other, each into a gap that those before it have left.
///
///     gaps at the life of x, from below:   [12 bytes]  [8 bytes]  [no end]        x: 8 bytes
///     lowest      takes the first that is large enough (12)
///     tightest    takes the smallest that is large enough (8)
///
/// How good the result is depends on the order alone; no order is best for all problems, which is why
/// place.hpp tries several.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020 (tightest gap), for any order, alignment and pins.

#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace sublet {

enum class gap_choice : std::uint8_t { lowest, tightest };

struct packing {
    std::vector<byte_count> offset; ///< by buffer; `no_offset` for one of 0 bytes or an empty life
    byte_count height = 0;          ///< `no_limit` if it was given up
    std::uint64_t visits = 0;       ///< how many buffers in the way were looked at
};

/// The place for a buffer among those in its way; `no_offset` if it would reach beyond `ceiling`.
template <class InTheWay>
[[nodiscard]] byte_count find_gap(placement_buffer const& b, gap_choice choice, InTheWay& in_the_way,
                                  byte_count ceiling, std::uint64_t& visits)
{
    byte_count top = 0; // of all that was visited
    byte_count best = no_offset, best_gap = no_size;
    if (b.size > ceiling) return no_offset;
    byte_count const highest = ceiling - b.size;
    in_the_way.for_each_in_the_way(b.life, b.size, [&](placed const& other) {
        ++visits;
        if (other.offset > top && other.offset - top >= b.size) {
            byte_count const at = align_up(top, b.alignment); // a division, so only where there might be room
            if (at < other.offset && b.size <= other.offset - at && other.offset - at < best_gap) {
                best = at;
                best_gap = other.offset - at;
                if (choice == gap_choice::lowest || best_gap == b.size) return false;
            }
        }
        if (other.end > top) top = other.end;
        return top <= highest;
    });
    if (best != no_offset) return best;
    top = align_up(top, b.alignment);
    return top <= highest ? top : no_offset; // no_offset is above all ceilings
}

/// Place `buffers`, all of one pool, in `order`; pinned ones first.
///
/// Requires:   `buffers` are sorted by birth; `order` names each once; alignments are >= 1; pinned buffers
///             do not overlap. `in_the_way` is an empty placed_by_column, of whatever width: the answer is
///             the same.
/// Ensures:    no two overlap in life and bytes; every offset is a multiple of its alignment or a pin. The
///             placement is given up as soon as it is clear that it ends above `ceiling`.
/// Complexity: n insertions and queries, n = buffers.
template <class InTheWay, std::same_as<placement_buffer> Buffer>
[[nodiscard]] packing fit(std::vector<Buffer> const& buffers, std::vector<std::uint32_t> const& order,
                          gap_choice choice, InTheWay in_the_way, byte_count ceiling = no_limit - 1)
{
    packing result;
    result.offset.assign(buffers.size(), no_offset);
    auto put = [&](std::uint32_t i, byte_count offset) {
        Buffer const& b = buffers[i];
        result.offset[i] = offset;
        in_the_way.insert(placed{b.life, offset, offset + b.size});
        if (offset + b.size > result.height) result.height = offset + b.size;
    };
    auto needs_bytes = [&](std::uint32_t i) { return buffers[i].size != 0 && !is_empty(buffers[i].life); };
    for (std::uint32_t i : order) {
        if (!needs_bytes(i) || buffers[i].pinned == no_offset) continue;
        SUBLET_EXPECTS(sum_fits(buffers[i].pinned, buffers[i].size),
                       "sublet: a pinned buffer ends beyond 64 bits");
        put(i, buffers[i].pinned);
    }
    for (std::uint32_t i : order) {
        if (!needs_bytes(i) || buffers[i].pinned != no_offset) continue;
        byte_count const offset = find_gap(buffers[i], choice, in_the_way, ceiling, result.visits);
        if (offset == no_offset) {
            result.height = no_limit;
            return result;
        }
        put(i, offset);
    }
    return result;
}

} // namespace sublet

#endif
