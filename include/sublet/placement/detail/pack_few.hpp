// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PACK_FEW_HPP
#define SUBLET_PLACEMENT_DETAIL_PACK_FEW_HPP

/// The short way for pools of a few buffers: what first_packing() does for them, on the stack, without
/// shapes. It is taken only where that reaches the bytes live, so the result is the one of the long way.
///
///     a few plain buffers? ─► live bytes ─► bottom-left fit ─► at the bytes live? ─► done
///           │ no                                                      │ no
///           └──────────────► open_pool ─► pack_shapes ◄───────────────┘

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <span>

namespace sublet::detail {

/// At most so many buffers, and so many in a time component, are placed here.
inline constexpr std::size_t most_few = 128, most_few_together = 64;

/// Places the members of a pool, and returns true, if they are few, each of less than 2^40 bytes without pin,
/// preference and parts, nothing has gaps, the pool has one block, and the placement ends at the bytes live.
/// Otherwise nothing has happened.
///
/// Complexity: O(members (members + positions)) time, no memory.
[[nodiscard]] bool pack_few(placement_problem const& problem, std::span<buffer_id const> members,
                            pool_limits const& limits, placement::objective objective,
                            table<buffer_id, byte_count>& offset, placement::pool_result& out);

/// Places all of a problem so, if each of its pools is placed so, and no other rule is given; otherwise
/// nothing has happened, or `offset` and `pools` of the result are worthless.
[[nodiscard]] bool place_few(placement_problem const& problem, placement::objective objective,
                             placement& result);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack_few.ipp>
#endif

#endif
