// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_EDGE_RULES_HPP
#define SUBLET_GRAPH_INTERNAL_EDGE_RULES_HPP

/// What a call requires of the edges of a program and of the order of its nodes, and the program as control
/// flow.

#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet::detail {

/// Throws: precondition_error if the edges of the program are control flow, which may skip or repeat a node.
void expect_steps_run_once(snapshot const& p);

/// The program as control flow: itself, or a copy in `other`.
inline snapshot const& as_control_flow(snapshot const& p, snapshot& other)
{
    return p.edges() == edge_meaning::control_flow ? p : other = p.as_control_flow();
}

/// Throws: precondition_error if the nodes run as they are listed, and `order` is another order.
void expect_listed_order(snapshot const& p, std::vector<node_id> const& order);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/edge_rules.ipp>
#endif

#endif
