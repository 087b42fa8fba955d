// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_HEIR_FOREST_HPP
#define SUBLET_SHARING_HEIR_FOREST_HPP

/// Numbers for positions, such that those which end up together lie together.
///
///         ┌──► 1 ──► 2 ──┐           heirs   0 ─► 1 ─► 2 ─┐          5 is number 0, and 0 to 5 its subtree
///     0 ──┤              ├──► 5                           ├─► 5      4 is number 1, 3 is 2
///         └──► 3 ──► 4 ──┘                        3 ─► 4 ─┘          2 is number 3, 1 is 4, 0 is 5
///
/// The heir of a position is the successor from which the longest way is left to go. Whoever comes before y
/// by heirs alone is in the subtree of y, and in preorder that is a range of numbers. The longest way is
/// taken because it is the one that others join: what leaves a subtree by a short way is soon below the same
/// heir.

#include <sublet/analysis/dependences.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Numbers of tokens, half-open as ranges are everywhere.
struct token_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(token_range, token_range) = default;
};

/// The numbers of the subtree of each position; the first is its own.
///
/// Ensures:    of successors with equally long ways the lowest is the heir; every number below the count of
///             positions is given once; subtrees are within or beside each other.
/// Complexity: O(positions + edges) time, O(positions) memory.
[[nodiscard]] std::vector<token_range> heir_forest(dependence_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/heir_forest.ipp>
#endif

#endif
