// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_FIT_CONCURRENTLY_HPP

/// Place buffers one after the other, each into the lowest gap that those before it have left, and try to do
/// better by moving those that reach too high forward in the order.
///
///     order   a  b  c  d  e         d reaches above the bound, and conflicts with a and b
///             a  d  b  c  e         so it is offered its place before b: kept, as it is no higher than
///             before
///
/// Lowest fit depends on the order alone, and some order makes it optimal: take buffers by their offsets in
/// an optimal placement, and none is placed above its offset there. So the search is for an order.
///
/// Who reaches above the bound could have been lower only in bytes of those that were placed before it and
/// conflict with it, so it is moved before one of these.

#include <sublet/placement/conflicts.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/placed_by_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// As fit(): place `buffers`, all of one pool, in `order`, pinned ones first.
///
/// Requires:   `placed` is made of the conflicts of `buffers`; `order` names each once; pins are sound.
/// Ensures:    those that conflict do not overlap in bytes; every offset is a multiple of its alignment or a
///             pin. The placement is given up as soon as it is clear that it ends above `ceiling`. Once it
///             has visited as much as `limit`, it looks no longer for gaps but puts all others on top of
///             those that they conflict with; at `most` it is given up.
/// Complexity: n insertions and queries, n = buffers.
[[nodiscard]] packing fit_concurrently(std::vector<placement_buffer> const& buffers,
                                       std::vector<std::uint32_t> const& order, placed_by_range& placed,
                                       byte_count ceiling, std::uint64_t limit = no_limit,
                                       std::uint64_t most = no_limit);

/// Lower `best`, which was placed in `order`, to `bound` if that can be done within `visits`.
///
/// Ensures:    `best` is no higher than it was, and valid as fit_concurrently() has it.
void lower_by_reordering(std::vector<placement_buffer> const& buffers, placement_conflicts const& conflicts,
                         placed_by_range& placed, byte_count bound, std::uint64_t visits,
                         std::vector<std::uint32_t> order, packing& best);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit_concurrently.ipp>
#endif

#endif
