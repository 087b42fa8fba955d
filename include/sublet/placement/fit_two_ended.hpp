// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_TWO_ENDED_HPP
#define SUBLET_PLACEMENT_FIT_TWO_ENDED_HPP

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

#include <sublet/affine_bytes.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// The starts of the buffers of `order`, by buffer; of others they are 0.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    of two buffers that are alive together, one starts nowhere below the top of the other, for
///             every batch from 1 to `most`.
/// Complexity: O(n k^2) at worst, about O(n k) as a rule, n = buffers, k = those alive together with one.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] std::vector<affine_bytes> fit_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                      std::vector<buffer_id> const& order, byte_count most);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit_two_ended.ipp>
#endif

#endif
