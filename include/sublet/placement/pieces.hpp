// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PIECES_HPP
#define SUBLET_PLACEMENT_PIECES_HPP

/// The rectangles that something to be placed is made of: one at a position, one after the other.
///
///     a buffer   with a gap   and with a window       two at fixed distance: from the lowest
///     +-------+  +--+   +--+  +--+   +--+             byte to the highest at each position
///     |       |  |  |   |  |  |  +---+  |                +-----+            +--+--+
///     +-------+  +--+   +--+  |      |  |             +--+--+  |         +--+  |  +--+
///                             +------+--+             +-----+--+   ->    +--+--+--+--+
///
/// Then positions are replaced by their ranks among those where a piece begins or ends: what overlaps stays
/// as it is, and no table over positions is longer than twice the number of pieces.

#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// The bytes [begin, end) above a shape's origin, during `when`.
struct shape_piece {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

/// {buffer, begin, index} of all gaps, ascending.
///
/// Throws: precondition_error for a gap of no buffer.
[[nodiscard]] std::vector<keyed> gaps_in_order(placement_problem const& problem);

/// Append what of a buffer is solid: its life without its gaps, and their windows.
///
/// Complexity: O(log gaps), and as many steps as the buffer has gaps.
/// Throws:     precondition_error for a window outside of the buffer, and for gaps that meet.
void append_pieces(placement_problem const& problem, std::vector<keyed> const& gaps, buffer_id who,
                   byte_count distance, std::vector<shape_piece>& pieces);

/// Replace pieces that overlap in time by one at a position: from the lowest byte to the highest.
///
/// The pieces paint the positions between two of their begins and ends, and who paints first stays: the
/// lowest begins, then, in a second round, the highest ends.  O(n log n)
void merge_pieces(std::vector<shape_piece>& pieces);

/// Replace the positions of `pieces` by their ranks, and return the positions by rank. Where positions are
/// dense they are counted, otherwise sorted.
[[nodiscard]] std::vector<step_id> rank_positions(std::vector<shape_piece>& pieces);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pieces.ipp>
#endif

#endif
