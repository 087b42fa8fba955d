// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_SOLID_PARTS_HPP
#define SUBLET_CHECKING_SOLID_PARTS_HPP

/// What a placement problem says is in the way, derived afresh by those who check a placement.
///
///     b, colocated 8 above a     +--+----+         at each position one stretch of bytes: from the lowest
///                             +--+--+    |         that is solid of a or b to the highest, the bytes
///                             |     |    |         between them included
///                             +-----+----+
///
/// Buffers that are tied to each other move as one, so each is known by one of them, its *root*, and by how
/// far above the lowest of them it lies.
///
/// Source: the ties are kept in a union-find whose links carry distances (Tarjan, "Applications of path
/// compression on balanced trees", Journal of the ACM 26(4), 1979).

#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// During `when` the bytes [begin, end), counted from the lowest buffer of the group; `buffer` is the one
/// that begins there.
struct solid_part {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
    buffer_id buffer = no_buffer;
};

struct solid_parts {
    std::vector<buffer_id> root;            ///< by buffer: the first that it is tied to, perhaps itself
    std::vector<byte_count> above;          ///< by buffer: distance from the lowest that has a place
    std::vector<unsigned char> needs_place; ///< by buffer
    std::vector<unsigned char> contradicts; ///< by root: its distances cannot all be
    std::vector<solid_part> parts;          ///< by root; of one root in time, one after the other
};

/// Requires:   windows lie within their buffers, gaps of a buffer do not meet; in a group no distance exceeds
///             2^62.
/// Ensures:    who has no bytes, no life, or is in a group of which nothing is solid, needs no place.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps and colocations.
/// Throws:     precondition_error if a gap or a colocation is one of no buffer.
[[nodiscard]] solid_parts solid_parts_of(placement_problem const& problem);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/solid_parts.ipp>
#endif

#endif
