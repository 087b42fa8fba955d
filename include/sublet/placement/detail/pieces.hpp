// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PIECES_HPP
#define SUBLET_PLACEMENT_DETAIL_PIECES_HPP

/// The rectangles of a shape: at most one at each position, ascending in time.
///
///     a buffer   with a gap   and with a window       two at fixed distance: from the lowest
///     +-------+  +--+   +--+  +--+   +--+             byte to the highest at each position
///     |       |  |  |   |  |  |  +---+  |                +-----+            +--+--+
///     +-------+  +--+   +--+  |      |  |             +--+--+  |         +--+  |  +--+
///                             +------+--+             +-----+--+   ->    +--+--+--+--+
///
/// Positions are replaced by their ranks among those where a piece begins or ends: overlaps are unchanged,
/// and there are at most twice as many as pieces.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The bytes [begin, end) above a shape's origin, during `when`.
struct shape_piece {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

/// {buffer, begin, index} of the gaps of members, ascending.
///
/// Throws: precondition_error for a gap of no buffer.
[[nodiscard]] std::vector<sort_key> gaps_in_order(placement_problem const& problem,
                                                  std::vector<buffer_id> const& members,
                                                  step_poll const& poll = {});

/// Appends the solid parts of a buffer: its live range without its gaps, and the windows of the gaps. Returns
/// where the gaps of the next buffer begin; `near` is such a number.
///
/// Complexity: O(log gaps) if its gaps are not at `near`, and as many steps as the buffer has gaps.
/// Throws:     precondition_error for a window outside of the buffer, and for gaps that overlap.
std::size_t append_pieces(placement_problem const& problem, std::vector<sort_key> const& gaps, buffer_id id,
                          byte_count distance, std::vector<shape_piece>& pieces, std::size_t near = 0);

/// Replaces pieces that overlap in time by one at a position, from the lowest byte to the highest: paints the
/// intervals between piece ends twice, by rising begin and by falling end; the first paint stays.  O(n log n)
void merge_pieces(std::vector<shape_piece>& pieces);

/// Replaces the positions of `pieces` by their ranks, and returns the positions by rank: by counting sort if
/// positions are dense, else by comparison.
[[nodiscard]] table<position_id, position_id> rank_positions(std::vector<shape_piece>& pieces,
                                                             step_poll const& poll = {});

/// Ascending. Sorts parts, and merges them, so that little is done between two questions. Once `poll` has
/// stopped, they may be in any order.  O(n log n)
void sort_in_parts(std::vector<sort_key>& items, step_poll const& poll);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pieces.ipp>
#endif

#endif
