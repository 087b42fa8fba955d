// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_LONGEST_PATH_HPP
#define SUBLET_ORDERING_LONGEST_PATH_HPP

/// Whoever has the longest way to go runs first.
///
///     0 ──► 1 ──► 2 ──► 5        to the end: 0: 4   1: 3   2: 2   5: 1        runs 0 1 2 3 4 5
///     3 ──► 4 ──────────┘                    3: 3   4: 2
///
/// A short branch that meets a long one is then made last, right before it is needed, and its results do not
/// lie about while the long one runs. Nothing is known of bytes: it helps where branches differ in length.
///
/// Source: the order of Caffe2's memory optimizer for inference (memonger.py, 2017).

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// By node: how many nodes the longest path from it to an end has, itself among them.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<std::uint32_t> path_lengths(order_graph const& g);

/// Ensures:    of the nodes that wait for none, that with the longest path to an end comes first; of equal
///             ones, what is listed first.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> longest_path(order_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/longest_path.ipp>
#endif

#endif
