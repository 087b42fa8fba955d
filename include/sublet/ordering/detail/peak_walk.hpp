// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_PEAK_WALK_HPP
#define SUBLET_ORDERING_DETAIL_PEAK_WALK_HPP

/// What every search for an order does again and again: run nodes and see the bytes, compare orders, give up.

#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// When a search gives up, in what it has done and not in seconds.
struct order_search_limits {
    static constexpr std::uint64_t work_per_state = 4096; ///< touches and edges of the nodes that it tries

    /// Sets of nodes, at most. As soon as they are more work than sets of a network are, that counts.
    std::uint64_t states = 1'000'000;
    std::size_t bytes = std::size_t{256} << 20; ///< for these sets, about
    byte_count floor = 0;                       ///< a peak as low as this is as good as any
};

// --- topological -----------------------------------------------------------------------------------------

/// The listed order, or where a program cannot run so, the nearest to it that it can run in.
///
///     listed 3 0 1 2          0 ──► 1 ──► 3        runs 0 1 3 2: whoever is listed first of those
///                             └───► 2              that need not wait
///
/// Of all nodes that may run next always that with the lowest rank: every order that a program can run in
/// comes of some rank, the listed one of the place in the list.
///
/// Source: Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962.

/// By node: its place in the listed order.
[[nodiscard]] std::vector<node_id> listed_places(order_graph const& g);

/// Of the nodes that wait for none the lowest rank runs first; of equal ranks, what is listed first.
///
/// Requires:   `rank` has an entry for each node; the graph has no violation.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> order_by_rank(order_graph const& g,
                                                 std::vector<std::uint64_t> const& rank);

/// Ensures:    the listed order itself, if the program can run in it.
/// Complexity: O(V + E) then, else O(E + V log V).
[[nodiscard]] std::vector<node_id> topological(order_graph const& g);

// --- peak walk -------------------------------------------------------------------------------------------

/// Run the nodes of a program one after the other, and see how many bytes that needs.
///
///     run     live before   while it runs       live behind
///      0           0          64  a                 64
///      1          64          96  a b               96         b is 32 bytes, and a is needed once more
///      2          96         128  a b c             64         a dies
///      3          64          64  b c                0         peak 128
///
/// What is alive behind a set of nodes does not depend on the order in which they ran, so a step back is as
/// easy as a step forward, and a search may go both ways.

/// The live bytes are those of lifetimes(), gather_buffers() and take_in_place(), for the order in which the
/// nodes are run.
///
/// Requires:   nodes run once each, behind all those that they wait for; the graph has no violation and
///             outlives the walk.
/// Complexity: a run, and a step back, is linear in the node's touches, and match_overwrites() for each step
///             that has pairs. O(steps + buffers) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
class peak_walk {
public:
    explicit peak_walk(order_graph const& g);

    /// Bytes alive behind all nodes that have run.
    [[nodiscard]] byte_count live() const { return live_; }
    /// The most bytes alive at any time so far.
    [[nodiscard]] byte_count peak() const { return peak_; }
    [[nodiscard]] std::size_t ran() const { return log_.size(); }
    /// How many steps that touch a buffer have not run.
    [[nodiscard]] std::uint32_t remaining(buffer_id b) const { return remaining_[b]; }

    /// Run a node. Returns the most bytes alive while it runs.
    byte_count run(node_id n);

    /// As if the last node had not run.
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

    [[nodiscard]] bool dies(buffer_id b) const { return remaining_[b] == 1 && !g_.is_kept[b]; }

    byte_count run_step(step_id s);

    /// Bytes of results that are written over operands which die, and would else be there besides.
    byte_count saved(step_id s, bool is_first);

    order_graph const& g_;
    std::vector<std::uint32_t> remaining_; // by buffer: steps
    std::vector<record> log_;
    std::vector<overwrite_pair> candidates_;
    byte_count live_ = 0, peak_ = 0, untouched_input_bytes_ = 0;
    std::size_t steps_ = 0;
};

/// The most bytes alive at any time if the nodes run in this order.
///
/// Requires:   `order` names every node once, each behind all those that it waits for.
/// Complexity: O(touches), and match_overwrites() for each step that has pairs.
[[nodiscard]] byte_count peak_of(order_graph const& g, std::vector<node_id> const& order);

// --- order contest ---------------------------------------------------------------------------------------

/// Several orders enter, the one with the least peak stays.
///
///     listed 128    depth first 112    longest path 144    reversed 96        reversed wins, listed was 128

class order_incumbent {
public:
    /// The listed order is in it from the beginning, or the nearest to it that can run; `floor`: no order has
    /// a lower peak. A graph without any order has the same violation in the result.
    ///
    /// Requires: the graph outlives the contest.
    explicit order_incumbent(order_graph const& g, byte_count floor = 0);

    /// Returns whether it is better than all before; of equal ones the first stays.
    bool offer(std::vector<node_id> order, node_order::method method);
    /// The same order backwards.
    bool offer_reversed(std::vector<node_id> const& mirrored, node_order::method method)
    {
        return offer({mirrored.rbegin(), mirrored.rend()}, method);
    }

    [[nodiscard]] node_order const& best() const { return best_; }
    /// Nobody can win any more.
    [[nodiscard]] bool is_settled() const { return best_.violation || best_.peak <= best_.lower_bound; }

private:
    order_graph const& g_;
    node_order best_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/peak_walk.ipp>
#endif

#endif
