// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_AFFINE_PLACEMENT_HPP
#define SUBLET_PLACEMENT_DETAIL_AFFINE_PLACEMENT_HPP

/// Offsets that are affine in the batch size N, for buffers with such sizes: in a given order on top of all
/// earlier ones (stack_affine) or into gaps (fit_affine), and hill climbing over the order (improve_affine).
/// No guaranteed factor.

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <vector>

// --- stack affine ----------------------------------------------------------------------------------------

namespace sublet::detail {

/// The lowest aligned start at or above `start`, without padding for parts that are multiples already.
[[nodiscard]] constexpr affine_bytes aligned_start(affine_bytes start, byte_count alignment)
{
    byte_count const fixed = align_up(start.fixed, common_divisor(start.per_batch, alignment));
    SUBLET_EXPECTS(fixed != no_offset, "sublet: a sum of sizes exceeds 64 bits");
    return {fixed, start.per_batch};
}

/// Stacks buffers in a given order; the starts are by buffer, 0 for those not in `order`.
///
///     a: 100 N     b: 1000       N = 1    c at 1000        c starts at the line over both: 929 + 71 N
///                c on both       N = 32   c at 3201        (the lowest that is affine and above a and b)
///
/// Each start is the lowest affine number at or above the tops of all earlier buffers that it is live with,
/// for a batch of 1 and for the largest, and therefore for all between. If all sizes are proportional to N,
/// no buffer is placed higher than by an ordinary placement, in the order of its offsets. Tops are kept by
/// position, two for each, in a segment tree; no earlier buffer is examined twice.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    no start is below `floor`; of two buffers that are live together, the later in the order
///             starts at or above the top of the earlier, for every batch from 1 to `most`.
/// Complexity: O(n log^2 p), n = buffers, p = the last position; O(n + p) memory.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] table<buffer_id, affine_bytes>
stack_affine(table<buffer_id, symbolic_plan::buffer> const& buffers, std::vector<buffer_id> const& order,
             byte_count most, affine_bytes floor = {});

// --- fit affine ------------------------------------------------------------------------------------------

/// Places buffers one after the other, each into a gap that exists for every batch; starts as stack_affine().
///
///     offset for the largest batch
///        |        [ 64 N ]  above both          x must lie below or above each buffer that it is live with,
///        |  x? ->                               for all batches: it rises from 0 to the top of the first
///        |  [ 100 ]                             that it is neither below nor above, and checks again
///        +-----------------------
///
/// There may be no lowest gap: of two starts each may be the lower one for some batch. Placed buffers are
/// checked by start for a batch of 1; one that x is above needs no second check.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    of two buffers that are live together, one starts at or above the top of the other, for every
///             batch from 1 to `most`.
/// Complexity: O(n k^2) at worst, about O(n k) as a rule, n = buffers, k = those live together with one.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] table<buffer_id, affine_bytes>
fit_affine(table<buffer_id, symbolic_plan::buffer> const& buffers, std::vector<buffer_id> const& order,
           byte_count most);

// --- improve affine --------------------------------------------------------------------------------------

/// Hill climbing: lowers the worst ratio of a stacking to its goals by moving single buffers in the order.
///
///     the batch with the worst ratio, and the buffer with the highest top there    top
///     its critical path: the buffers stacked below it                              / |
///     move one of these in the order; stack again; keep unless it is worse        a  b
///
/// If fixed and growing sizes are stacked on each other, the best order for one batch may be bad for another.
/// Only buffers on the critical path contribute to the worst height, so mostly those are moved. Source: the
/// hill climbing of the Ethos-U compiler's allocator; here for several batches, in one address space.

/// The height that a batch should need.
struct batch_goal {
    byte_count batch = 1;
    byte_count bytes = 0;
};

struct affine_stacking {
    std::vector<buffer_id> order;
    table<buffer_id, affine_bytes> start;
    double worst = 1;                ///< the largest ratio of a height to its goal; at least 1
};

/// Stacks `order`, then improves it until all goals are met or `moves` orders are tried.
///
/// Requires:   `order` names some buffers, and none twice; their sizes are known; goals are not 0.
/// Ensures:    the starts are those of stack_affine() for the returned order; `worst` is no more than that
///             of the given order.
/// Complexity: stack_affine() for each move, and O(n c) for each kept one, n = buffers, c = length of the
///             critical path.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] affine_stacking improve_affine(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                             std::vector<buffer_id> order,
                                             std::vector<batch_goal> const& goals, byte_count most,
                                             std::uint64_t moves, std::uint64_t seed = 0);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/affine_placement.ipp>
#endif

#endif
