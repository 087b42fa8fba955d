// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_REUSE_NETWORK_HPP
#define SUBLET_PLANNING_DETAIL_REUSE_NETWORK_HPP

/// The flow network in which buffers reuse the bytes of earlier ones, and the flow that yields the heaviest
/// antichain (detail/antichain.hpp).

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- earliest free points --------------------------------------------------------------------------------

/// The earliest positions at which the bytes of each buffer are free in every execution.
///
///     0 ──► 1 ──► 3 ──► 4       ends {1}:     free at the successors of 1 and all that follows them
///     └───► 2 ──► ┘             ends {1, 2}:  free at 3 and all that follows it
///
/// The positions after all ends of a buffer are closed upwards, so their minimal elements describe them.
/// Nearly always these are the successors of the last end. Otherwise a search from any one of the ends finds
/// them, if it does not continue past a free position. One search may traverse half of the program, another
/// may end at once. So every end gets a budget of two steps, then of eight times as many, until one search
/// finishes.

namespace sublet::detail {

/// Of each buffer.
struct free_point_rows {
    /// The free points are the successors of this end; or `no_position`.
    table<buffer_id, position_id> last_end;
    csr_rows<buffer_id, position_id> lowest; ///< in that case the free points; ascending
    /// No search has finished: the successors of `last_end` may not be free yet.
    table<buffer_id, unsigned char> is_cut_short;
    std::uint64_t visits = 0; ///< positions visited
};

class free_point_search {
public:
    explicit free_point_search(csr_rows<position_id, position_id> const& after)
        : after_(after), seen_(after.rows(), 0)
    {
    }

    /// Whether the search from `end` finished within `steps`; then `found` are the free positions reached.
    template <class IsFree>
    bool walk(position_id end, std::size_t steps, IsFree is_free)
    {
        ++walks_;
        found.clear();
        open_.assign(1, end);
        while (!open_.empty()) {
            position_id const x = open_.back();
            open_.pop_back();
            for (position_id y : after_[x]) {
                if (seen_[y] == walks_) continue;
                if (steps-- == 0) return false;
                seen_[y] = walks_;
                ++visits;
                (is_free(y) ? found : open_).push_back(y);
            }
        }
        return true;
    }

    std::vector<position_id> found;
    std::uint64_t visits = 0;

private:
    csr_rows<position_id, position_id> const& after_;
    table<position_id, std::uint32_t> seen_; // number of the search that visited it last
    std::vector<position_id> open_;
    std::uint32_t walks_ = 0;
};

/// The earliest free points of the buffers that `is_wanted`; other buffers and outputs have none.
///
/// Requires:   `before` and `after` are the rows of the graph, `lives` are positions of it. `is_free(b, x)`,
///             for any x, says whether x follows all ends of b; it may be false for an irrelevant x that
///             does, but then the search continues past x.
/// Ensures:    unless cut short, a relevant position comes after all ends of b if and only if it follows
///             `last_end[b]`, or is in `lowest[b]` or comes after one of these. A buffer without ends is free
///             from the start: its free points are all positions without predecessors.
/// Complexity: O(positions + edges) and the searches, which end together after `most_visits`:
///             O(ends x length of the shortest search from one of them) for each buffer.
template <class IsWanted, class IsFree>
[[nodiscard]] free_point_rows earliest_free_points(csr_rows<position_id, position_id> const& before,
                                                   csr_rows<position_id, position_id> const& after,
                                                   concurrent_live_ranges const& lives, IsWanted is_wanted,
                                                   IsFree is_free, std::uint64_t most_visits)
{
    free_point_search walk(after);
    free_point_rows free_points;
    free_points.lowest.reserve(lives.buffers(), 0);
    free_points.last_end.assign(lives.buffers(), no_position);
    free_points.is_cut_short.assign(lives.buffers(), 0);
    auto search_from_ends = [&](buffer_id b, std::span<position_id const> ends) {
        auto is_free_here = [&](position_id x) { return is_free(b, x); };
        for (std::size_t steps = 2; walk.visits < most_visits; steps *= 8)
            for (std::size_t i = ends.size(); i-- != 0;) {
                std::uint64_t const before_it = walk.visits;
                if (!walk.walk(ends[i], steps, is_free_here)) continue;
                if (i + 1 == ends.size() && walk.found.size() == walk.visits - before_it)
                    free_points.last_end[b] = ends[i]; // it ended at the successors
                return;
            }
        free_points.last_end[b] = ends.back();
        free_points.is_cut_short[b] = 1;
    };
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        std::span<position_id const> const ends = lives.ends[b];
        if (is_wanted(b) && !lives.is_kept(b)) {
            if (ends.size() == 1) {
                free_points.last_end[b] = ends[0];
            } else if (ends.empty()) {
                for (position_id x = 0; x != after.rows(); ++x)
                    if (before[x].empty()) free_points.lowest.append(x);
            } else {
                search_from_ends(b, ends);
            }
            if (ends.size() > 1 && free_points.last_end[b] == no_position) {
                sort_ascending(walk.found);
                for (position_id x : walk.found) {
                    bool is_lowest = true;
                    for (position_id y : before[x])
                        if (y > ends.back() && is_free(b, y)) is_lowest = false;
                    if (is_lowest) free_points.lowest.append(x);
                }
            }
        }
        free_points.lowest.close_row();
    }
    free_points.visits = walk.visits;
    return free_points;
}

// --- reuse network ---------------------------------------------------------------------------------------

using flow_node = std::uint32_t; ///< of a network: of a position or of a buffer
inline constexpr flow_node no_flow_node = ~flow_node{0};
using flow_arcs = csr_rows<flow_node, flow_node>;

/// Which buffers may reuse the bytes of which, as a network of about the size of the program.
///
///     position 1:  ──►(2)──►(3)──► (4)──►(5)     a buffer that begins at 1 demands bytes at node 2,
///                              └──► (6) ...      a buffer with 1 as its last end supplies bytes at node 3
///
/// The reuse pairs can be as many as the square of the buffers. But bytes that are free after a position are
/// free after all its successors, so they can move along the edges of the dependence graph: a buffer needs
/// arcs only to its earliest free points. There are two nodes per position, for begins and for last ends,
/// then one for each buffer with other free points, and one for each buffer that begins at several positions,
/// if these are few.
///
/// Ensures:    arcs lead from the end of u to the begin of v if and only if v may reuse u in every execution;
///             for `relaxed` weight there may be more arcs, for buffers with undecided conflicts there are
///             fewer.
/// Complexity: O(positions + edges + buffers + ranges), the searches for free points and a 16th of the
///             visits.
/// Throws:     precondition_error if the sum of weights exceeds 64 bits.
struct reuse_network {
    flow_arcs arcs; // by node, to higher nodes, except from nodes of multi_end buffers
    std::vector<byte_count> demand, supply; // by node
    table<buffer_id, flow_node> begin_of, end_of; // `no_flow_node`: no demand, or no supply
    flow_node first_multi_end = 0, first_multi_begin = 0;
    std::vector<buffer_id> multi_begin; // by node, from first_multi_begin on
    byte_count total = 0;               // weight of all buffers
    byte_count relaxed = 0;             // weight of the buffers with relaxed arcs
    std::uint64_t visits = 0;

    reuse_network(dependence_graph const& g, concurrent_live_ranges const& lives,
                  conflict_ranges const& conflicts, table<buffer_id, byte_count> const& weights,
                  std::uint64_t most_visits);
};

// --- reduced network -------------------------------------------------------------------------------------

/// The network without its series and parallel parts: fewer nodes, the same flow and the same least cut.
///
///     -3 ──► +5 ──► -4 ──► +2     +: supply, -: demand. In series: +5 goes to -4 only, which routes 4
///     -3 ──► +3
///
///     +1 ──► -3 ──► +4 ──► x      in parallel: -3 and -2 are served through +1 only, which routes 1;
///      └───► -2 ──► +1 ──┘        +4 and +1 go to x only
///     -4 ──► x + 5
///
/// Arcs have unlimited capacity. So a node that only supplies is joined with its only successor, and one that
/// only demands with its only predecessor; a demand without predecessors is in the cut, a supply without
/// successors is not. A node that neither supplies nor demands is bypassed if it has one predecessor: it is
/// in the cut if a successor is. Chains, forks and joins vanish; what remains of a program are the places at
/// which branches read one another.
///
/// Source: reduction as in Valdes, Tarjan and Lawler, "The recognition of series parallel digraphs", SIAM J.
/// Comput. 1982.
///
/// Complexity: O(nodes + arcs) for each sweep; sweeps end when one removes less than an eighth of the nodes.
class reduced_network {
public:
    explicit reduced_network(reuse_network const& net);

    flow_arcs arcs;                         ///< by node, to higher nodes, ascending, each once
    std::vector<byte_count> demand, supply; ///< by node; one of them is 0
    byte_count routed = 0;                  ///< by the reduction

    /// By node of the whole network: whether it is in the cut, given the same for the nodes that are left.
    [[nodiscard]] std::vector<unsigned char> whole_cut(std::vector<unsigned char> const& reduced_cut) const;

private:
    enum class removal : std::uint8_t { joined, in_cut, not_in_cut, in_cut_if_any };
    struct removed_node {
        flow_node node;
        removal how;
        flow_node with;                            // joined
        std::size_t first_next = 0, last_next = 0; // in_cut_if_any: its successors in next_
    };

    /// Whether enough nodes were removed for another sweep.
    bool sweep();
    flow_node find(flow_node x)
    {
        while (joined_with_[x] != x) x = joined_with_[x] = joined_with_[joined_with_[x]];
        return x;
    }
    bool is_left(flow_node x) const { return joined_with_[x] == x && is_gone_[x] == 0; }
    /// All supply of x may serve its demand, since what was joined with x is before or after it.
    void serve_itself(flow_node x);
    void remove(flow_node x, removal how, flow_node with = no_flow_node);
    /// Removes x if that is possible; a node that may now be removed, or `no_flow_node`.
    flow_node reduce(flow_node x);
    /// The only node other than x in a row; x if there is none, `no_flow_node` if there are several.
    flow_node only_neighbor(flow_node x, flow_arcs const& rows, flow_node row);
    /// The arcs between the nodes that are left.
    void rebuild();

    // Nodes are numbered in topological order until the last sweep has ended.
    flow_arcs before_;
    std::vector<flow_node> joined_with_;
    std::vector<unsigned char> is_gone_;          // neither left nor joined
    std::vector<flow_node> row_after_, row_before_; // the row of its neighbours; `no_flow_node`: several rows
    std::vector<removed_node> removed_;           // in this order
    std::vector<flow_node> next_;
    std::vector<flow_node> number_; // of the nodes that are left
    std::size_t left_ = 0;
    std::vector<flow_node> topological_; // by node of the whole network
};

// --- antichain flow --------------------------------------------------------------------------------------

/// A preflow in an acyclic graph: excess bytes at nodes, moved along arcs to where they are needed.
///
///     5 ──► 0 ──► 0 ──► x: needs 3          the nearest excess: 5, two arcs away
///           │                               half of it is moved, but at least what is needed:
///           └───► 0                         2 ──► 0 ──► 0 ──► x: 3
///
/// Arcs have unlimited capacity, and flow can be taken back. So x gets excess of a node that leads to it in
/// the residual network. A breadth-first search backwards from x finds the nearest one. If there is none, no
/// later flow can reach any node visited: these nodes join the cut and are never searched again.
///
/// Source: Ford and Fulkerson, "Flows in networks", Princeton 1962; that failed searches need no repetition:
/// Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 1955.

class antichain_flow {
public:
    /// Arcs lead from the rows of `heads` to their items. There is no excess at first.
    explicit antichain_flow(flow_arcs const& heads);

    [[nodiscard]] bool is_in_cut(flow_node x) const { return seen_[x] == in_cut; }

    /// Moves the excess of direct predecessors to x: all of it if they have no later successor, otherwise
    /// what x needs.
    /// Requires: called for each node once, in an order that all arcs agree with.
    void pull_adjacent(flow_node x, byte_count need);

    /// Augments until x has what it needs or is in the cut, or until a search would take more than a 16th of
    /// the visits that remain of `most`. So searches get shorter as the budget is spent, and near excess is
    /// still found at the end.
    ///
    /// Complexity: O(nodes + arcs) for each augmenting path; once in total for all nodes of the cut.
    void augment(flow_node x, byte_count need, std::uint64_t most);

    std::vector<byte_count> excess; ///< by node
    std::uint64_t visits = 0;       ///< of nodes, by searches

private:
    static constexpr std::uint32_t in_cut = ~std::uint32_t{0};

    std::uint32_t arc(flow_node const& head) const;
    flow_node head_of(std::uint32_t a) const { return heads_[0].data()[a]; }
    void move(std::uint32_t a, byte_count bytes)
    {
        excess[tail_[a]] -= bytes;
        excess[head_of(a)] += bytes;
        flow_[a] += bytes;
    }

    /// Ends when x has enough, a residual arc is saturated, all visited nodes are in the cut, or it fails.
    bool search(flow_node x, byte_count need, std::uint64_t most);
    /// Whether a node visited for the first time has excess.
    bool visit(flow_node at, std::uint32_t a);
    /// Pushes half of the excess, or what x needs if that is more: the next node with a demand is often near
    /// x, but may be near the other half. Whether the search must end.
    bool push_along_path(flow_node from, flow_node x, byte_count need);

    flow_arcs const& heads_;                     // arcs are numbered in this order
    csr_rows<flow_node, std::uint32_t> in_arcs_; // by node: the arcs that enter it
    std::vector<flow_node> tail_;
    std::vector<byte_count> flow_;
    std::vector<std::uint32_t> path_arc_; // by node: the next arc on the path to x
    std::vector<std::uint32_t> seen_;     // by node: number of the search
    std::vector<flow_node> queue_;
    std::uint32_t searches_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/reuse_network.ipp>
#endif

#endif
