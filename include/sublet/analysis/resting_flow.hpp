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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class resting_flow {
public:
    /// Arcs lead from the rows of `heads` to their items. Nothing rests anywhere.
    explicit resting_flow(csr_rows const& heads)
        : rest(heads.rows(), 0), heads_(heads), tail_(heads.items()), flow_(heads.items(), 0),
          arc_to_(heads.rows(), 0), seen_(heads.rows(), 0)
    {
        for (node_id t = 0; t != heads.rows(); ++t)
            for (node_id const& head : heads[t]) tail_[arc(head)] = t;
        into_ = csr_rows::gathered(heads.rows(), [&](auto add) {
            for (node_id t = 0; t != heads.rows(); ++t)
                for (node_id const& head : heads[t]) add(head, arc(head));
        });
    }

    /// Nothing will ever come here.
    [[nodiscard]] bool is_dead(node_id x) const { return seen_[x] == dead; }

    /// Move to x what rests right before it: all where no later node follows, and otherwise what x lacks.
    ///
    /// Requires: called for each node once, in an order that all arcs agree with.
    void collect(node_id x, byte_count need)
    {
        auto const arcs = into_[x];
        for (std::size_t i = arcs.size(); i-- != 0;)
            if (arcs[i] == arc(heads_[tail_[arcs[i]]].back())) move(arcs[i], rest[tail_[arcs[i]]]);
        for (std::size_t i = arcs.size(); i-- != 0 && rest[x] < need;)
            move(arcs[i], smaller(rest[tail_[arcs[i]]], need - rest[x]));
    }

    /// Move bytes to x from anywhere until it has what it needs, or is dead, or a search would take too long:
    /// more than a 16th of the visits that are left until there have been `most`. So searches get shorter as
    /// visits run out, and what is near is found to the last.
    ///
    /// Complexity: O(nodes + arcs) for each way that the bytes take; once for all dead nodes.
    void fetch(node_id x, byte_count need, std::uint64_t most)
    {
        while (rest[x] < need && !is_dead(x) && visits < most)
            if (!search(x, need, (most - visits) / 16 + 1)) return;
    }

    std::vector<byte_count> rest; ///< by node
    std::uint64_t visits = 0;     ///< of nodes, by searches

private:
    static constexpr std::uint32_t dead = ~std::uint32_t{0};

    std::uint32_t arc(node_id const& head) const
    {
        return static_cast<std::uint32_t>(&head - heads_[0].data());
    }
    node_id head_of(std::uint32_t a) const { return heads_[0].data()[a]; }
    void move(std::uint32_t a, byte_count bytes)
    {
        rest[tail_[a]] -= bytes;
        rest[head_of(a)] += bytes;
        flow_[a] += bytes;
    }

    /// Ends when x has enough, when a way has closed, when all who were seen are dead, or without success.
    bool search(node_id x, byte_count need, std::uint64_t most)
    {
        ++searches_;
        queue_.assign(1, x);
        seen_[x] = searches_;
        for (std::size_t i = 0; i != queue_.size(); ++i) {
            if (i == most) return false;
            node_id const at = queue_[i];
            ++visits;
            for (std::uint32_t a : into_[at])
                if (see(tail_[a], a) && bring(tail_[a], x, need)) return true;
            for (node_id const& head : heads_[at])
                if (flow_[arc(head)] != 0 && see(head, arc(head)) && bring(head, x, need)) return true;
        }
        for (node_id at : queue_) seen_[at] = dead;
        return true;
    }
    /// Whether bytes rest at a node that is seen for the first time.
    bool see(node_id at, std::uint32_t a)
    {
        if (seen_[at] >= searches_) return false; // dead, too
        seen_[at] = searches_;
        arc_to_[at] = a;
        queue_.push_back(at);
        return rest[at] != 0;
    }
    /// Half of what rests there, if that is more than x needs: the next who is in need is often nearer to x,
    /// but may as well be nearer to the other half. Whether the search has to end.
    bool bring(node_id from, node_id x, byte_count need)
    {
        byte_count bytes = larger(smaller(rest[from], need - rest[x]), rest[from] / 2);
        for (node_id at = from; at != x;) {
            std::uint32_t const a = arc_to_[at];
            bool const is_back = tail_[a] != at;
            if (is_back) bytes = smaller(bytes, flow_[a]);
            at = is_back ? tail_[a] : head_of(a);
        }
        bool has_closed = false;
        for (node_id at = from; at != x;) {
            std::uint32_t const a = arc_to_[at];
            bool const is_back = tail_[a] != at;
            if (is_back) has_closed |= (flow_[a] -= bytes) == 0;
            else flow_[a] += bytes;
            at = is_back ? tail_[a] : head_of(a);
        }
        rest[from] -= bytes;
        rest[x] += bytes;
        return has_closed || rest[x] >= need;
    }

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

#endif
