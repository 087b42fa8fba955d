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

#include <sublet/placement/result.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

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
[[nodiscard]] placement_bound lower_bound(placement_shapes const& all);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/bound.ipp>
#endif

#endif
