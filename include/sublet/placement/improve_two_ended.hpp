// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPROVE_TWO_ENDED_HPP
#define SUBLET_PLACEMENT_IMPROVE_TWO_ENDED_HPP

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

#include <sublet/affine_bytes.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// What a batch should need.
struct batch_goal {
    byte_count batch = 1;
    byte_count bytes = 0;
};

struct two_ended_stacking {
    std::vector<buffer_id> order;
    std::vector<affine_bytes> start; ///< by buffer
    double worst = 1;                ///< how many times its goal the batch needs that is farthest above; or 1
};

/// `order` stacked, and then better ones, until every batch needs what it should or so many moves are tried.
///
/// Requires:   `order` names some buffers, and none twice; their sizes are known; goals are not 0.
/// Ensures:    the starts are those of stack_two_ended() for the order that is returned; `worst` is no more
///             than that of the order given.
/// Complexity: stack_two_ended() for each move, and O(n c) where one is kept, n = buffers, c = those that
///             stand upon each other.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] two_ended_stacking improve_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                   std::vector<buffer_id> order,
                                                   std::vector<batch_goal> const& goals, byte_count most,
                                                   std::uint64_t moves, std::uint64_t seed = 0);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/improve_two_ended.ipp>
#endif

#endif
