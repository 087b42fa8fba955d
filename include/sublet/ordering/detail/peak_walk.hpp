// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_PEAK_WALK_HPP
#define SUBLET_ORDERING_DETAIL_PEAK_WALK_HPP

/// Counts the live bytes along an order of nodes, forward and back, as lifetimes(), gather_buffers() and
/// take_in_place() do, in time linear in the touches of each node plus the matching of its in-place pairs.
/// Holds the limits of an order search and its best order. topological() returns the listed order if it is
/// feasible, else the nearest (Kahn, "Topological sorting of large networks", CACM 5, 1962).

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/node_order.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The work budget of an order search, in counts and not in seconds.
struct order_search_limits {
    std::uint64_t work = std::uint64_t{1} << 30; ///< touches, edges and words of sets to look at, about
    std::size_t bytes = std::size_t{64} << 20;   ///< memory for sets, about
    byte_count floor = 0;                        ///< the search stops at a peak as low as this
    byte_count bound = 0;                        ///< order_lower_bound(), if it is known
};

// --- topological -----------------------------------------------------------------------------------------

/// The listed order, or if the program cannot run in it, the topological order nearest to it.
///
///     listed 3 0 1 2          0 ──► 1 ──► 3        runs 0 1 3 2: of the ready nodes always
///                             └───► 2              the one that is listed first

/// Of each node: its place in the listed order.
[[nodiscard]] table<node_id, std::uint32_t> listed_places(order_graph const& g);

/// The ready node with the lowest rank runs next; among equal ranks, the one that is listed first.
///
/// Requires:   `rank` has an entry for each node; the graph has no error.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> order_by_rank(order_graph const& g,
                                                 table<node_id, std::uint64_t> const& rank);

/// The listed order itself if the program can run in it, in O(V + E); otherwise O(E + V log V).
[[nodiscard]] std::vector<node_id> topological(order_graph const& g);

// --- peak walk -------------------------------------------------------------------------------------------

/// Runs the nodes of a program one after the other and counts the live bytes.
///
///     run     live before   while it runs       live after
///      0           0          64  a                 64
///      1          64          96  a b               96         b is 32 bytes, and a is needed once more
///      2          96         128  a b c             64         the live range of a ends
///      3          64          64  b c                0         peak 128

/// Requires:   nodes run once each, after all their predecessors; the graph has no error and outlives
///             the walk.
/// Complexity: a run, and a step back, is linear in the node's touches, plus match_overwrites() for each step
///             that has pairs. O(steps + buffers) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
class peak_walk {
public:
    explicit peak_walk(order_graph const& g);
    /// Of a window, with more bytes live throughout, and others live while its first node runs, if that is
    /// the first of the program.
    peak_walk(order_graph const& g, byte_count live_through, byte_count first_bytes, bool is_at_start)
        : peak_walk(g)
    {
        live_ += live_through + first_bytes;
        untouched_input_bytes_ += first_bytes;
        steps_ = is_at_start ? 0 : 1;
    }

    [[nodiscard]] byte_count live() const { return live_; }
    [[nodiscard]] byte_count peak() const { return peak_; }
    [[nodiscard]] std::size_t ran() const { return log_.size(); }
    /// How many of the steps that touch a buffer have not run.
    [[nodiscard]] std::uint32_t remaining(buffer_id b) const { return remaining_[b]; }

    /// Runs a node. Returns the most bytes live while it runs.
    byte_count run(node_id n);

    void step_back();

    /// What run(n) would return.
    [[nodiscard]] byte_count peak_of(node_id n)
    {
        byte_count const most = run(n);
        step_back();
        return most;
    }

private:
    struct record {
        node_id node;
        byte_count live, peak; // before
    };

    [[nodiscard]] bool ends_here(buffer_id b) const { return remaining_[b] == 1 && !g_.is_kept[b]; }

    byte_count run_step(step_id s);

    /// Bytes of results that are computed in place of operands with their last use in step `s`.
    byte_count saved(step_id s, bool is_first);

    order_graph const& g_;
    table<buffer_id, std::uint32_t> remaining_; // steps that touch the buffer
    std::vector<record> log_;
    std::vector<overwrite_pair> candidates_;
    byte_count live_ = 0, peak_ = 0, untouched_input_bytes_ = 0;
    std::size_t steps_ = 0;
};

/// Requires:   `order` names every node once, each after all its predecessors.
/// Complexity: O(touches), plus match_overwrites() for each step that has pairs.
[[nodiscard]] byte_count peak_of(order_graph const& g, std::vector<node_id> const& order);

// --- order incumbent -------------------------------------------------------------------------------------

/// The best order found so far by a sequence of heuristics and searches.
///
///     listed 128    depth first 112    longest path 144   reversed 96        keeps reversed, given_peak 128

class order_incumbent {
public:
    /// Starts with topological(g), or reports the graph's error; `floor` is a lower bound on the peak of
    /// any order. Requires: the graph outlives this object.
    explicit order_incumbent(order_graph const& g, byte_count floor = 0);

    /// Starts with an order that was found.
    /// Requires: it has no error.
    order_incumbent(order_graph const& g, node_order found) : g_(g), best_(std::move(found)) {}

    /// No order has a lower peak than `bound`.
    void raise_bound(byte_count bound)
    {
        best_.lower_bound = smaller(larger(best_.lower_bound, bound), best_.peak);
    }
    /// Returns whether the order is better than all before; among equal peaks the first stays.
    bool offer(std::vector<node_id> order, node_order::method method);
    bool offer_reversed(std::vector<node_id> const& mirrored, node_order::method method)
    {
        return offer({mirrored.rbegin(), mirrored.rend()}, method);
    }

    [[nodiscard]] node_order const& best() const { return best_; }
    /// How many better orders were offered.
    [[nodiscard]] std::size_t changes() const { return changes_; }
    /// No order can be better.
    [[nodiscard]] bool is_settled() const { return !best_ || best_.peak <= best_.lower_bound; }

private:
    order_graph const& g_;
    node_order best_;
    std::size_t changes_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/peak_walk.ipp>
#endif

#endif
