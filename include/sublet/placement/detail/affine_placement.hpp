// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_AFFINE_PLACEMENT_HPP
#define SUBLET_PLACEMENT_DETAIL_AFFINE_PLACEMENT_HPP

/// Placement for every batch: buffers stacked from either end of an arena that grows. Included by
/// placement/pack.hpp.

#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

// --- stack two ended -------------------------------------------------------------------------------------

/// Stack buffers whose sizes grow with a batch, in a given order, so that they lie apart for every batch.
///
///     a: 100 N     b: 1000       N = 1    c at 1000        c starts at the line over both: 758 + 242 N
///                c on both       N = 32   c at 3200 + ...  (the lowest that is affine and above a and b)
///
/// Each buffer lies on top of all before it that it is alive with: its start is the lowest affine number that
/// none of their tops is above, for a batch of 1 or for the largest; so for none between.
///
/// Where all sizes grow alike, every batch sees the same picture at another scale: in the order of the
/// offsets that an ordinary placement has for any one of them, no buffer comes to lie higher than there.
///
/// Tops are kept by position, two for each, in a tree like that of segment_tree.hpp: since whoever comes lies on
/// top, tops only rise, and nobody need be looked at twice.

namespace sublet::detail {

/// As low as `start` or higher, such that no rounding is lost on what is a multiple anyway.
[[nodiscard]] constexpr affine_bytes aligned_start(affine_bytes start, byte_count alignment)
{
    byte_count const fixed = align_up(start.fixed, common_divisor(start.per_batch, alignment));
    SUBLET_EXPECTS(fixed != no_offset, "sublet: a sum of sizes exceeds 64 bits");
    return {fixed, start.per_batch};
}

/// The starts of the buffers of `order`, by buffer; of others they are 0.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    no start is below `floor`; of two buffers that are alive together, the later in the order
///             starts nowhere below the top of the earlier, for every batch from 1 to `most`.
/// Complexity: O(n log^2 p), n = buffers, p = the last position; O(n + p) memory.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] std::vector<affine_bytes> stack_affine(std::vector<symbolic_plan::buffer> const& buffers,
                                                     std::vector<buffer_id> const& order, byte_count most,
                                                     affine_bytes floor = {});

// --- fit two ended ---------------------------------------------------------------------------------------

/// Place buffers whose sizes grow with a batch, one after the other, each into a gap that is there for every
/// batch.
///
///     offset for the largest batch
///        |        [ 64 N ]  above both          x must lie below or above each buffer in the way, the same
///        |  x? ->                               for all batches: it rises from 0 to the top of the first
///        |  [ 100 ]                             that it can lie neither below nor above, and looks again
///        +-----------------------
///
/// There need be no lowest gap: of two starts each may be the lower one for some batch. What is found depends
/// on the order of looking, which is by start for a batch of 1. As x never sinks, whom it has passed it need
/// not pass again.

/// The starts of the buffers of `order`, by buffer; of others they are 0.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    of two buffers that are alive together, one starts nowhere below the top of the other, for
///             every batch from 1 to `most`.
/// Complexity: O(n k^2) at worst, about O(n k) as a rule, n = buffers, k = those alive together with one.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] std::vector<affine_bytes> fit_affine(std::vector<symbolic_plan::buffer> const& buffers,
                                                   std::vector<buffer_id> const& order, byte_count most);

// --- improve two ended -----------------------------------------------------------------------------------

/// Lower a stacking for every batch by moving single buffers in its order.
///
///     the batch that is farthest above its goal, and who is on top there      top
///     whom it stands on, down to the ground                                   / |
///     one of those takes another turn; stack again; keep what is no worse    a  b  ...
///
/// Two batches want two orders where what is fixed and what grows lie upon each other: the order that is best
/// for one makes the other high. Nobody can say which compromise is good but by trying, and who is not under
/// the highest has no part in how high it is; so mostly those are moved.
///
/// No guaranteed factor. Limits are counts: the same input has the same answer everywhere.
///
/// Source: moving the turns of those that a bottleneck stands on is the hill climbing of the Ethos-U
/// compiler's allocator; here for several batches at once, and without its second address space.

/// What a batch should need.
struct batch_goal {
    byte_count batch = 1;
    byte_count bytes = 0;
};

struct affine_stacking {
    std::vector<buffer_id> order;
    std::vector<affine_bytes> start; ///< by buffer
    double worst = 1;                ///< how many times its goal the batch needs that is farthest above; or 1
};

/// `order` stacked, and then better ones, until every batch needs what it should or so many moves are tried.
///
/// Requires:   `order` names some buffers, and none twice; their sizes are known; goals are not 0.
/// Ensures:    the starts are those of stack_affine() for the order that is returned; `worst` is no more
///             than that of the order given.
/// Complexity: stack_affine() for each move, and O(n c) where one is kept, n = buffers, c = those that
///             stand upon each other.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] affine_stacking improve_affine(std::vector<symbolic_plan::buffer> const& buffers,
                                             std::vector<buffer_id> order,
                                             std::vector<batch_goal> const& goals, byte_count most,
                                             std::uint64_t moves, std::uint64_t seed = 0);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/affine_placement.ipp>
#endif

#endif
