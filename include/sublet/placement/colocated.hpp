// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_COLOCATED_HPP
#define SUBLET_PLACEMENT_COLOCATED_HPP

/// Who is one piece of storage with whom, and how far above the lowest of them.
///
///     b 8 above a, b 16 above c           c 0
///                                         a 8
///     |--8--|--8--|                       b 16
///     c     a     b
///
/// Buffers are joined to groups by walking from one of each to all that are colocated with it, adding up
/// distances on the way. Whoever is come by twice has to be found at the same height.

#include <sublet/keyed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// A buffer in its shape.
struct shape_part {
    std::uint32_t shape = 0;
    buffer_id buffer = no_buffer;
    byte_count distance = 0; ///< above the shape's origin
};

struct colocated_groups {
    std::vector<std::uint32_t> first{0}; ///< by group: its first part; and one more
    std::vector<shape_part> parts;       ///< `shape` is the group; not those of no bytes or no life
    std::vector<keyed> broken;           ///< ascending {group, one, other}: not at the distance asked for
};

/// Groups in the order in which `members` names the first of each, which is where its parts begin.
///
/// Requires:   members are distinct; whoever needs bytes and is colocated with a member is one.
/// Ensures:    the lowest part of each group is at distance 0. Who needs no bytes is no part, but passes
///             distances on.
/// Complexity: O(members) if nothing is colocated, else O(buffers + colocations).
/// Throws:     precondition_error for colocated buffers that do not exist or are not both members, and for
///             distances that reach 2^62.
[[nodiscard]] colocated_groups group_colocated(placement_problem const& problem,
                                               std::vector<buffer_id> const& members);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/colocated.ipp>
#endif

#endif
