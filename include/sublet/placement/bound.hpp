// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_BOUND_HPP
#define SUBLET_PLACEMENT_BOUND_HPP

/// What no placement of some shapes goes below, and why.
///
///     bytes  |      +--+
///     alive  |  +---+  +--+        at one position so many bytes are alive that they need all of this,
///            |--+         +---     however they are stacked
///            +---------^------> position
///
/// Or one shape alone reaches that high: by its pin, or because it is so large. Neither knows of alignment:
/// what it costs between two shapes is for those to find who place them.

#include <sublet/contract.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct placement_bound {
    byte_count bytes = 0;
    std::vector<byte_count> live_bytes = {}; ///< by rank of position
    step_id peak_position = 0;               ///< the first rank with the most bytes alive
    proof_kind kind = proof_kind::nothing;   ///< or live_bytes, or top_of_pin
    std::uint32_t shape = ~std::uint32_t{0}; ///< top_of_pin: the first that reaches as high
};

/// The lower bound for the shapes of one pool.
///
/// Complexity: O(pieces + positions).
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once, or a shape leads beyond that.
[[nodiscard]] inline placement_bound lower_bound(placement_shapes const& all)
{
    placement_bound bound;
    bound.live_bytes.assign(all.positions.size(), 0);
    std::vector<byte_count> dying(all.positions.size(), 0);
    for (shape_piece const& p : all.pieces) {
        byte_count& born = bound.live_bytes[p.when.first];
        born = checked_add(born, p.end - p.begin);
        dying[p.when.last] += p.end - p.begin;
    }
    byte_count load = 0, most = 0;
    for (step_id at = 0; at != bound.live_bytes.size(); ++at) {
        bound.live_bytes[at] = load = checked_add(load - dying[at], bound.live_bytes[at]);
        if (load <= most) continue;
        most = load;
        bound.peak_position = at;
    }
    bound.bytes = most;
    if (most != 0) bound.kind = proof_kind::live_bytes;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        placement_shape const& shape = all.shapes[s];
        byte_count const top =
            checked_add(shape.pinned == no_offset ? shape.phase : shape.pinned, shape.size);
        if (top <= bound.bytes) continue;
        bound.bytes = top;
        bound.kind = proof_kind::top_of_pin;
        bound.shape = s;
    }
    return bound;
}

} // namespace sublet

#endif
