// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_NESTING_HPP
#define SUBLET_GRAPH_NESTING_HPP

/// A tree laid out so that every subtree is a stretch: "is a above b" is two comparisons.
///
///         0            preorder   0  1  3  4  2
///        / \                      [==============)   subtree of 0
///       1   2                        [=======)       subtree of 1
///      / \                                       [)  subtree of 2
///     3   4
///
/// Dominator trees and loop forests are both asked that question all the time.

#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// Over the numbers of the nodes, which may hang in several trees.
struct nesting {
    std::vector<node_id> preorder; ///< parents before their children
    std::vector<node_id> entered;  ///< by node: its index in preorder
    std::vector<node_id> end;      ///< by node: its subtree is preorder[entered[n] .. end[n])

    /// b is a, or lies below it.
    [[nodiscard]] bool is_above(node_id a, node_id b) const
    {
        return entered[a] <= entered[b] && entered[b] < end[a];
    }
};

/// Lay out the trees that `parent` (by node; `no_node` for a root) describes.
///
/// Requires:   `order` names every node once, parents before children.
/// Ensures:    siblings, and roots, follow each other as in `order`.
/// Complexity: O(nodes) time and memory.
[[nodiscard]] nesting nest(std::vector<node_id> const& parent, std::vector<node_id> const& order);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/nesting.ipp>
#endif

#endif
