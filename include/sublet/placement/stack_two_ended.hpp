// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_STACK_TWO_ENDED_HPP
#define SUBLET_PLACEMENT_STACK_TWO_ENDED_HPP

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
/// Tops are kept by position, two for each, in a tree like that of load_tree.hpp: since whoever comes lies on
/// top, tops only rise, and nobody need be looked at twice.

#include <sublet/affine_bytes.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

namespace detail {

/// As low as `start` or higher, such that no rounding is lost on what is a multiple anyway.
[[nodiscard]] constexpr affine_bytes aligned_start(affine_bytes start, byte_count alignment)
{
    byte_count const fixed = align_up(start.fixed, common_divisor(start.per_batch, alignment));
    SUBLET_EXPECTS(fixed != no_offset, "sublet: a sum of sizes exceeds 64 bits");
    return {fixed, start.per_batch};
}

} // namespace detail

/// The starts of the buffers of `order`, by buffer; of others they are 0.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    no start is below `floor`; of two buffers that are alive together, the later in the order
///             starts nowhere below the top of the earlier, for every batch from 1 to `most`.
/// Complexity: O(n log^2 p), n = buffers, p = the last position; O(n + p) memory.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] std::vector<affine_bytes> stack_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                        std::vector<buffer_id> const& order, byte_count most,
                                                        affine_bytes floor = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/stack_two_ended.ipp>
#endif

#endif
