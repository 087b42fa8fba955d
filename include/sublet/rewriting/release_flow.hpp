// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_FLOW_HPP
#define SUBLET_REWRITING_RELEASE_FLOW_HPP

/// When storage can be given back where successors are alternatives: on every path once, and as early as that
/// path allows.
///
///        0: def a, def b       b is released after its use in 1; and on the edge from 0 to 2, where nobody
///        /      \              needs it any more, and 0 could not know
///     1: use b   2: use a      a is released after 2, and on the edge from 0 to 1
///        \      /
///        3                     what all edges to a node release, it releases where it begins
///
/// What is dead behind a touch is released after that step. What is alive where a node ends, and not where a
/// successor begins, dies on the edge: as in a loop, which keeps what it needs until it is left.
///
/// Source: liveness as in Appel, "Modern compiler implementation", 1998; releases on edges are the drops of
/// reference counting compilers, Reinking, Xie, de Moura and Leijen, "Perceus", PLDI 2021.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

/// On the way from one node to another, after what is used at the end of the first.
struct edge_release {
    node_id from = no_node;
    node_id to = no_node;
    buffer_id what = no_buffer;
    friend bool operator==(edge_release, edge_release) = default;
};

struct flow_release_points {
    csr_rows after;                    ///< by step: what it releases when it has ended, ascending
    csr_rows at_entry;                 ///< by node: what is released before its first step, ascending
    std::vector<edge_release> on_edge; ///< ascending by `to`, `from`, `what`; parallel edges are one
    std::vector<buffer_id> at_start;   ///< given, and not needed where the program begins
};

/// The release points of a control-flow graph. `buffer_of`, by value, is `no_buffer` for what is not
/// released; `role` has an entry a value.
///
/// Requires:   a value that is read on some path before it is written is given.
/// Ensures:    on every path from node 0 a buffer is there when it is touched, if it was allocated where it
///             was first written since it was last released, or given; it is released once for each
///             allocation, where the last touch of any of its values that the path can still lead to has
///             been. Buffers with an output or an external value are not released.
/// Complexity: that of liveness, and O(sum over edges of what is alive at their ends + touches).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
[[nodiscard]] flow_release_points flow_releases(snapshot const& p, std::size_t buffers,
                                                std::vector<buffer_id> const& buffer_of,
                                                std::vector<value_role> const& role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/release_flow.ipp>
#endif

#endif
