// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_BOUND_HPP
#define SUBLET_PLACEMENT_DETAIL_BOUND_HPP

/// Lower bounds of shapes: bytes live at a position, tops of pins, padding, and stacks.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// A height that no placement of the shapes goes below, and its reason.
///
///     bytes  |      +--+
///     live   |  +---+  +--+        the bytes live at one position are needed however they are
///            |--+         +---     stacked
///            +---------^------> position
///
/// Or the top of a single shape: its pin plus its size, or its size.
///
/// Or the padding of a common alignment g > 1, which is above all pieces of a position but the highest:
///
///     g = 8   5 + 3 | 13 + 3 | 4       of three shapes of 4, 5 and 13 bytes the one on top is not padded:
///             0       8        24      they need 8 + 16 + 4 = 28 bytes, and 29 with others on top
///
/// All origins and all begins of pieces are multiples of g. So the distance of the begins of two pieces of a
/// position is one, too, and at least the height of the lower one: rounding heights up to multiples of g
/// removes no placement. The sum of the rounded heights is the least end of the highest piece, if that is
/// rounded, too: so the bound is this sum less the most padding of a piece. It holds for every placement, as
/// all pieces of one position are stacked.
struct placement_bound {
    byte_count bytes = 0;
    table<position_id, byte_count> live_bytes = {}; ///< by rank of position
    position_id peak_position = 0;                  ///< the first rank with the most live bytes
    placement::proof::reason kind = placement::proof::reason::nothing; ///< or one of the three
    std::uint32_t shape = no_shape;          ///< for top_of_pin: the first that reaches this high
    std::vector<std::uint32_t> stacked = {}; ///< for exhausted: the shapes of the position, ascending
};

/// Sorts ids by falling key, stable: a radix sort that skips digits in which all keys agree. Once `poll` has
/// stopped, they may be in any order.  O(n * digits that differ)
void sort_descending(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key,
                     step_poll const& poll = {});

/// The largest g such that all origins, and all begins of pieces above them, are multiples of g; 0 without
/// shapes. Pins count as origins since they have the residue of their shape.  O(pieces)
[[nodiscard]] byte_count common_alignment(placement_shapes const& all);

/// Raises the bound to the highest top that a single shape requires. O(shapes)
void raise_to_tops(placement_shapes const& all, placement_bound& bound);

/// Once `poll` has stopped, the bound is valid, but the padding may be missing, and before it the live bytes:
/// then `live_bytes` is empty.
///
/// Complexity: O(pieces + positions); if shapes have a common alignment O(pieces log pieces + positions).
/// Throws:     precondition_error if 2^64 - 1 bytes or more are live at once, or a shape ends beyond that.
[[nodiscard]] placement_bound lower_bound(placement_shapes const& all, step_poll const& poll = {});

/// The least end of the highest piece if the pieces of `some` at one rank are stacked: a bound that counts
/// pins and all alignments, not only the common one.
///
///     a 5 bytes, c 6        alignment 1      order b a d c   0..12  12..17  24..28  28..34
///     b 12 bytes, d 4       alignment 8      order b a c d   0..12  12..17  17..23  24..28     least
///
/// At one position the pieces of every placement are stacked, those that interleave included. In a given
/// order, a lower piece never raises the next one: so of all orders of the same pieces only the lowest end
/// counts, and equal pieces are interchangeable. Pinned pieces come in the order of their pins.
///
/// Source: Held and Karp, "A dynamic programming approach to sequencing problems", Journal of SIAM 10, 1962.
///
/// Requires:   each of `some` has a piece at the rank.
/// Returns:    0 if `work` operations do not suffice, or `poll` has stopped; `no_limit` if they cannot be
///             stacked.
/// Complexity: O(k log k + s c) time, O(k + s) memory, k pieces of c kinds with s sets, which is the product
///             over kinds of one more than their pieces; s c operations, subtracted from `work`.
[[nodiscard]] byte_count least_stack(placement_shapes const& all, std::vector<std::uint32_t> const& some,
                                     position_id rank, std::uint64_t& work, step_poll const& poll = {});

/// Operations of a stack; its table has less than 32 MiB.
inline constexpr std::uint64_t max_stack_work = std::uint64_t{1} << 22;

/// Raises the bound by the stacks of single positions, most live bytes first, while about `work` operations
/// last. Does nothing if no stack can be above the load and its padding: without pins and with one alignment.
///
/// Without pins and alignments the bound of any one position is its load, so mapped sizes (dual feasible
/// functions) and sums of sizes give no more. Nor do two positions: what is live at both comes first. Nor
/// does a linear programme that may cut buffers into rows: rows of one byte fit into the load. Only a search
/// over several positions could, and of the windows that `bench_placement --windows` tries none raises the
/// bound.
///
/// Returns:    whether it raised the bound; then its kind is `exhausted`.
bool raise_by_stacks(placement_shapes const& all, std::uint64_t work, placement_bound& bound,
                     step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/bound.ipp>
#endif

#endif
