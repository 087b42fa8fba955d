// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_REUSE_NETWORK_HPP
#define SUBLET_DETAIL_REUSE_NETWORK_HPP

/// The network in which buffers give bytes to later ones, whose largest antichain is a bound. Included by
/// detail/antichain.hpp.

#include <sublet/analysis/dependences.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- frontiers -------------------------------------------------------------------------------------------

/// Where, in every execution, the bytes of each buffer are free at the earliest.
///
///     0 ──► 1 ──► 3 ──► 4       ends {1}:     what follows 1 is free, and all behind it
///     └───► 2 ──► ┘             ends {1, 2}:  3 is free, and all behind it
///
/// What comes after all ends of a buffer is closed upwards, so its lowest positions say all. Nearly always
/// they are what follows the last end. If not, a walk from any one of the ends finds them, if it turns back
/// wherever a position is free. Ends differ: one may lead through half of the program before it meets the
/// others, and another meet them at once. So each has two steps, then each has eight times as many, until one
/// has finished.

namespace sublet::detail {

/// By buffer.
struct free_point_rows {
    std::vector<step_id> last_end; ///< the frontier is what follows this end; or `no_step`
    csr_rows lowest;               ///< then it is these; ascending
    std::vector<unsigned char>
        is_cut_short;         ///< no walk has finished: what follows `last_end` is free, or not yet
    std::uint64_t visits = 0; ///< positions that were looked at
};

/// One buffer after the other over the same graph.
class free_point_search {
public:
    explicit free_point_search(csr_rows const& after) : after_(after), seen_(after.rows(), 0) {}

    /// Whether all ways from `end` to where it is free have been walked; then they lead to `found`.
    template <class IsFree>
    bool walk(step_id end, std::size_t steps, IsFree is_free)
    {
        ++walks_;
        found.clear();
        open_.assign(1, end);
        while (!open_.empty()) {
            step_id const x = open_.back();
            open_.pop_back();
            for (step_id y : after_[x]) {
                if (seen_[y] == walks_) continue;
                if (steps-- == 0) return false;
                seen_[y] = walks_;
                ++visits;
                (is_free(y) ? found : open_).push_back(y);
            }
        }
        return true;
    }

    std::vector<step_id> found;
    std::uint64_t visits = 0;

private:
    csr_rows const& after_;
    std::vector<std::uint32_t> seen_; // by position: in which walk
    std::vector<step_id> open_;
    std::uint32_t walks_ = 0;
};

/// The frontiers of the buffers that `is_wanted`; the others have none, nor have outputs.
///
/// Requires:   `before` and `after` are the rows of a graph of which `lives` are positions. `is_free(b, x)`
/// is
///             asked of what some end of b leads to, and is true only if all do; where it is false though all
///             do, x is of no interest.
/// Ensures:    unless cut, a position of interest comes after all ends of b if and only if it follows
///             `last_end[b]`, or is in `lowest[b]` or comes after one of these. A buffer without ends is free
///             from the start: all positions that wait for nothing are its frontier.
/// Complexity: O(positions + edges) and the walks, which end together when there have been `most_visits`:
///             O(ends x length of the shortest walk from one of them) for each buffer.
template <class IsWanted, class IsFree>
[[nodiscard]] free_point_rows earliest_free_points(csr_rows const& before, csr_rows const& after,
                                                   concurrent_live_ranges const& lives, IsWanted is_wanted,
                                                   IsFree is_free, std::uint64_t most_visits)
{
    free_point_search walk(after);
    free_point_rows free_points;
    free_points.lowest.reserve(lives.buffers(), 0);
    free_points.last_end.assign(lives.buffers(), no_step);
    free_points.is_cut_short.assign(lives.buffers(), 0);
    auto search_from_ends = [&](buffer_id b, std::span<step_id const> ends) {
        auto is_free_here = [&](step_id x) { return is_free(b, x); };
        for (std::size_t steps = 2; walk.visits < most_visits; steps *= 8)
            for (std::size_t i = ends.size(); i-- != 0;) {
                std::uint64_t const before_it = walk.visits;
                if (!walk.walk(ends[i], steps, is_free_here)) continue;
                if (i + 1 == ends.size() && walk.found.size() == walk.visits - before_it)
                    free_points.last_end[b] = ends[i]; // it turned back at once
                return;
            }
        free_points.last_end[b] = ends.back();
        free_points.is_cut_short[b] = 1;
    };
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        std::span<step_id const> const ends = lives.ends[b];
        if (is_wanted(b) && !lives.is_kept(b)) {
            if (ends.size() == 1) {
                free_points.last_end[b] = ends[0];
            } else if (ends.empty()) {
                for (step_id x = 0; x != after.rows(); ++x)
                    if (before[x].empty()) free_points.lowest.append(x);
            } else {
                search_from_ends(b, ends);
            }
            if (ends.size() > 1 && free_points.last_end[b] == no_step) {
                sort_ascending(walk.found);
                for (step_id x : walk.found) {
                    bool is_lowest = true;
                    for (step_id y : before[x])
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

// --- giving network --------------------------------------------------------------------------------------

/// Who may give bytes to whom, as a network that is hardly larger than the program.
///
///     position 1:  ──►(2)──►(3)──► (4)──►(5)     a buffer that begins at 1 takes bytes out at node 2,
///                              └──► (6) ...      one that 1 is the last end of puts bytes in at node 3
///
/// There may be as many pairs of giver and taker as there are buffers squared. But bytes that are free behind
/// a position are free behind all that follow it, so they may as well walk there along the edges of the
/// dependence graph; a giver needs arcs only to where its bytes are free at the earliest.

/// Two nodes a position: what begins there, and whose last end it is. Behind them a node for each giver whose
/// frontier is another one, and a node for each taker that begins at several positions, if these are few.
///
/// Ensures:    arcs lead from the end of u to the begin of v if and only if u gives to v in every execution;
///             those `relaxed` may give and take more, those whose conflicts are undecided give less.
/// Complexity: O(positions + edges + buffers + ranges), the walks of frontiers() and a 16th of the visits.
/// Throws:     precondition_error if the weights together exceed 64 bits.
struct reuse_network {
    csr_rows arcs;                          // by node, to higher ones but for givers
    std::vector<byte_count> demand, supply; // by node
    std::vector<node_id> begin_of, end_of;  // by buffer; `no_node` if it takes nothing, or gives nothing
    node_id first_multi_end = 0, first_multi_begin = 0;
    std::vector<buffer_id> multi_begin; // by node, from the first of them on
    byte_count total = 0;               // weight of all
    byte_count relaxed = 0;             // weight of those
    std::uint64_t visits = 0;

    reuse_network(dependence_graph const& g, concurrent_live_ranges const& lives,
                  conflict_ranges const& conflicts, std::vector<byte_count> const& weights,
                  std::uint64_t most_visits);
};

// --- resting flow ----------------------------------------------------------------------------------------

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

class antichain_flow {
public:
    /// Arcs lead from the rows of `heads` to their items. Nothing rests anywhere.
    explicit antichain_flow(csr_rows const& heads);

    /// Nothing will ever come here.
    [[nodiscard]] bool is_in_cut(node_id x) const { return seen_[x] == in_cut; }

    /// Move to x what rests right before it: all where no later node follows, and otherwise what x lacks.
    ///
    /// Requires: called for each node once, in an order that all arcs agree with.
    void pull_adjacent(node_id x, byte_count need);

    /// Move bytes to x from anywhere until it has what it needs, or is dead, or a search would take too long:
    /// more than a 16th of the visits that are left until there have been `most`. So searches get shorter as
    /// visits run out, and what is near is found to the last.
    ///
    /// Complexity: O(nodes + arcs) for each way that the bytes take; once for all dead nodes.
    void augment(node_id x, byte_count need, std::uint64_t most);

    std::vector<byte_count> excess; ///< by node
    std::uint64_t visits = 0;       ///< of nodes, by searches

private:
    static constexpr std::uint32_t in_cut = ~std::uint32_t{0};

    std::uint32_t arc(node_id const& head) const;
    node_id head_of(std::uint32_t a) const { return heads_[0].data()[a]; }
    void move(std::uint32_t a, byte_count bytes)
    {
        excess[tail_[a]] -= bytes;
        excess[head_of(a)] += bytes;
        flow_[a] += bytes;
    }

    /// Ends when x has enough, when a way has closed, when all who were seen are dead, or without success.
    bool search(node_id x, byte_count need, std::uint64_t most);
    /// Whether bytes rest at a node that is seen for the first time.
    bool visit(node_id at, std::uint32_t a);
    /// Half of what rests there, if that is more than x needs: the next who is in need is often nearer to x,
    /// but may as well be nearer to the other half. Whether the search has to end.
    bool push_along_path(node_id from, node_id x, byte_count need);

    csr_rows const& heads_; // arcs are numbered as they stand here
    csr_rows in_arcs_;      // by node: the arcs that lead there
    std::vector<node_id> tail_;
    std::vector<byte_count> flow_;
    std::vector<std::uint32_t> path_arc_; // by node: the next arc of the way to who searches
    std::vector<std::uint32_t> seen_;     // by node: in which search
    std::vector<node_id> queue_;
    std::uint32_t searches_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/reuse_network.ipp>
#endif

#endif
