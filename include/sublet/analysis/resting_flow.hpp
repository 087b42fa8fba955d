// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_RESTING_FLOW_HPP
#define SUBLET_ANALYSIS_RESTING_FLOW_HPP

/// Bytes that rest at the nodes of a graph without cycles, and are moved along its arcs to where they are
/// needed.
///
///     5 ──► 0 ──► 0 ──► x: needs 3          the nearest that has some: 5 rest two arcs away
///           │                               more than is needed is moved at once, half of it:
///           └───► 0                         2 ──► 0 ──► 0 ──► x: 3
///
/// Arcs carry any number of bytes, and what they have carried can be taken back. So x gets bytes that rest at
/// a node that leads to it, or that went from such a node elsewhere. A breadth-first search over both kinds
/// of arcs, backwards from x, finds the nearest; if it finds none, nothing that is moved later will ever come
/// by any node that it saw. Those are dead: together they are a cut, and never looked at again.
///
/// Source: Ford and Fulkerson, "Flows in networks", Princeton 1962; that searches in vain need not be
/// repeated: Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly
/// 1955.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

class resting_flow {
public:
    /// Arcs lead from the rows of `heads` to their items. Nothing rests anywhere.
    explicit resting_flow(csr_rows const& heads);

    /// Nothing will ever come here.
    [[nodiscard]] bool is_dead(node_id x) const { return seen_[x] == dead; }

    /// Move to x what rests right before it: all where no later node follows, and otherwise what x lacks.
    ///
    /// Requires: called for each node once, in an order that all arcs agree with.
    void collect(node_id x, byte_count need);

    /// Move bytes to x from anywhere until it has what it needs, or is dead, or a search would take too long:
    /// more than a 16th of the visits that are left until there have been `most`. So searches get shorter as
    /// visits run out, and what is near is found to the last.
    ///
    /// Complexity: O(nodes + arcs) for each way that the bytes take; once for all dead nodes.
    void fetch(node_id x, byte_count need, std::uint64_t most);

    std::vector<byte_count> rest; ///< by node
    std::uint64_t visits = 0;     ///< of nodes, by searches

private:
    static constexpr std::uint32_t dead = ~std::uint32_t{0};

    std::uint32_t arc(node_id const& head) const;
    node_id head_of(std::uint32_t a) const { return heads_[0].data()[a]; }
    void move(std::uint32_t a, byte_count bytes)
    {
        rest[tail_[a]] -= bytes;
        rest[head_of(a)] += bytes;
        flow_[a] += bytes;
    }

    /// Ends when x has enough, when a way has closed, when all who were seen are dead, or without success.
    bool search(node_id x, byte_count need, std::uint64_t most);
    /// Whether bytes rest at a node that is seen for the first time.
    bool see(node_id at, std::uint32_t a);
    /// Half of what rests there, if that is more than x needs: the next who is in need is often nearer to x,
    /// but may as well be nearer to the other half. Whether the search has to end.
    bool bring(node_id from, node_id x, byte_count need);

    csr_rows const& heads_; // arcs are numbered as they stand here
    csr_rows into_;         // by node: the arcs that lead there
    std::vector<node_id> tail_;
    std::vector<byte_count> flow_;
    std::vector<std::uint32_t> arc_to_; // by node: the next arc of the way to who searches
    std::vector<std::uint32_t> seen_;   // by node: in which search
    std::vector<node_id> queue_;
    std::uint32_t searches_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/resting_flow.ipp>
#endif

#endif
