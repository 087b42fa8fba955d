// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_COLOCATION_HPP
#define SUBLET_PLACEMENT_DETAIL_COLOCATION_HPP

/// Groups of colocated buffers, and the distance of each buffer above the lowest of its group.
///
///     b 8 above a, b 16 above c           c 0
///                                         a 8
///     |--8--|--8--|                       b 16
///     c     a     b
///
/// A graph search from one buffer of each group adds up distances. A buffer that is reached twice must get
/// the same distance; otherwise the colocations contradict each other.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

struct shape_part {
    std::uint32_t shape = 0;
    buffer_id buffer = no_buffer;
    byte_count distance = 0; ///< above the shape's origin
};

struct colocated_groups {
    std::vector<std::uint32_t> first{0}; ///< by group: its first part; and one more
    std::vector<shape_part> parts;       ///< `shape` is the group; without parts of no bytes or no positions
    std::vector<sort_key> inconsistent;  ///< ascending {group, one, other}: contradictory distances
};

/// Groups in the order of their first members, which is also the order of their parts.
///
/// Requires:   members are distinct; every buffer with bytes that is colocated with a member is a member.
/// Ensures:    the lowest part of each group is at distance 0. A buffer without bytes is no part, but passes
///             distances on.
/// Complexity: O(members) if nothing is colocated, else O(buffers + colocations).
/// Throws:     precondition_error for colocated buffers that do not exist or are not both members, and for
///             distances that reach 2^62.
[[nodiscard]] colocated_groups group_colocated(placement_problem const& problem,
                                               std::vector<buffer_id> const& members,
                                               step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/colocation.ipp>
#endif

#endif
