// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_LEAST_LOAD_HPP
#define SUBLET_PLANNING_DETAIL_LEAST_LOAD_HPP

/// Bytes below which no copies of whole buffers and no steps run again bring the live bytes of a pool.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/spills.hpp>

namespace sublet::detail {

/// The most bytes that remain, and where.
struct lowest_load {
    byte_count bytes = 0;
    position_id position = 0;
};

/// Of each buffer: nothing that the options allow frees its storage before the end of its live range.
[[nodiscard]] table<buffer_id, unsigned char> staying_buffers(snapshot const& p, buffer_table const& buffers,
                                                              advice_options const& how);

/// The most bytes of each pool that must be there at once, whatever is copied and recomputed in between, and
/// where: at a step its operands, or what it touches, with all that stays. `buffers` are without in-place
/// pairs joined: any of them may come into use.
///
/// Complexity: O(values + touches).
[[nodiscard]] table<pool_id, lowest_load> least_loads(snapshot const& p,
                                                      table<position_id, step_id> const& steps,
                                                      buffer_table const& buffers,
                                                      table<buffer_id, unsigned char> const& stays);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/least_load.ipp>
#endif

#endif
