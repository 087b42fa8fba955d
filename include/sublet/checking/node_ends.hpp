// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_NODE_ENDS_HPP
#define SUBLET_CHECKING_NODE_ENDS_HPP

/// What is read where the nodes of a control-flow graph end: by edges, and by whoever takes the outputs.
///
///     0 ──► 1 ──► 2        2 has no successor: the program ends, and its outputs are read
///     └──► 3 ◄──► 4        3 and 4 go round for ever: stopped where either ends, what is there of the
///                          outputs has to be right
///
/// It is the checker's own derivation, on purpose a second one.

#include <sublet/checking/demands.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct node_ends {
    csr_rows read_by_edges;                ///< by node: values
    std::vector<value_id> outputs;         ///< ascending
    std::vector<unsigned char> is_endless; ///< by node: no path leads to one without successors
};

/// Requires:   `asked` are the demands of the program.
/// Complexity: O(values + V + E + touches).
[[nodiscard]] node_ends ends_of_nodes(snapshot const& p, plan_demands const& asked);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/node_ends.ipp>
#endif

#endif
