// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_LISTED_STEPS_HPP
#define SUBLET_ANALYSIS_INTERNAL_LISTED_STEPS_HPP

/// The steps of a program in the order in which their nodes are listed, and the first edge that such an order
/// breaks.

#include <sublet/core/counterexample.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// The steps by position, if the nodes run in `order` (empty: 0, 1, 2 ...), each with its steps in sequence.
///
/// Complexity: O(nodes + steps).
/// Throws:     precondition_error if `order` does not name every node once.
[[nodiscard]] table<position_id, step_id> steps_in_order(snapshot const& p,
                                                         std::vector<node_id> const& order);

/// The first position after which an edge leads to a node that is not later in the order.  O(V + E)
/// Requires: `order` is empty or names every node once.
std::optional<counterexample> first_backward_edge(snapshot const& p, std::vector<node_id> const& order);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/listed_steps.ipp>
#endif

#endif
