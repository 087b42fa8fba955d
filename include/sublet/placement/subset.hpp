// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SUBSET_HPP
#define SUBLET_PLACEMENT_SUBSET_HPP

/// Some of the shapes of a pool, as a problem of their own.
///
///     shapes      0  1  2  3  4        positions stay as they are, with the same ranks: what was read off
///     chosen         1     3  4        the whole at a position can be compared with what is read off the
///     subset         0     1  2        part

#include <sublet/placement/shapes.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Requires:   `chosen` ascends.
/// Ensures:    shape i of the result is `chosen[i]`, with its parts.
/// Complexity: O(all shapes and their parts + positions).
[[nodiscard]] placement_shapes subset_of(placement_shapes const& all,
                                         std::vector<std::uint32_t> const& chosen);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/subset.ipp>
#endif

#endif
