// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_LIST_SCHEDULE_HPP
#define SUBLET_ORDERING_DETAIL_LIST_SCHEDULE_HPP

/// Greedy list scheduling by live bytes: of the ready nodes that fit below a goal, the one that leaves the
/// fewest bytes live runs next, forwards or on the mirrored graph. A heuristic; O(E + touches log V).

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- mirrored graph --------------------------------------------------------------------------------------

/// The same ordering problem with time reversed.
///
///     forwards    0: def a     1: use a, def b     2: use b         live after each     a    b    -
///     mirrored    2: def b     1: use b, def a     0: use a         live after each     b    a    -
///
/// Reversal exchanges the first and the last touch of a buffer, and given and kept buffers. A rule applied to
/// the mirrored graph decides from the end.

namespace sublet::detail {

/// Ensures:    an order of the result, reversed, is one of `g`, and has the same peak in both if no step of
///             `g` reads early, no operand may be overwritten by one of several results, and no input is
///             untouched. Otherwise it is close: what is read early counts as held to the end of its step,
///             such an operand as overwritten only by the largest of its results, such an input not at all.
/// Complexity: O(V + E + touches + pairs).
[[nodiscard]] order_graph mirrored(order_graph const& g);

// --- pressure tracker ------------------------------------------------------------------------------------

/// For each node that has not run: by how much it would change the live bytes if it ran next.
///
///     a is read by 1 and 2          begins    ends
///     before    1: use a, def b     32 (b)     0
///     2 runs    1: use a, def b     32        64 (a)       the last reader is credited with the whole buffer
///
/// A buffer changes these numbers at most twice: when it is first touched, no other node begins it any more;
/// when one node is left that touches it, that node ends it. The sum of the ids of the nodes left identifies
/// that node.
///
/// Source: the credit is that of the least-peak-first scheduler in PyTorch's Inductor (2024).

/// Requires:   as peak_walk.
/// Complexity: all runs together O(V + touches), plus a call of `changed` for each touch and each buffer at
///             most. need() is constant for a node of one step without pairs and early reads, otherwise as
///             peak_walk::run.
class pressure_tracker {
public:
    explicit pressure_tracker(order_graph const& g);

    /// The needs that nodes may have, by bytes and node: the bytes that a node begins in the listed order,
    /// these less what it may save in place, and those that it may begin in some other order.
    [[nodiscard]] std::vector<sort_key> possible_needs() const;

    [[nodiscard]] byte_count live() const { return walk_.live(); }
    [[nodiscard]] byte_count peak() const { return walk_.peak(); }

    /// The bytes that must be free for `n` to run now.
    [[nodiscard]] byte_count need(node_id n)
    {
        if (is_plain_[n]) return begins_[n];
        byte_count const most = walk_.peak_of(n);
        return most > walk_.live() ? most - walk_.live() : 0;
    }
    /// The change of the live bytes by `n`, modulo 2^64; the upper half of the numbers is negative.
    [[nodiscard]] byte_count growth(node_id n) const { return begins_[n] - ends_[n]; }

    /// Runs a node, and calls changed(m) for each node m that now needs or frees other bytes.
    template <class Changed>
    void run(node_id n, Changed changed)
    {
        walk_.run(n);
        has_run_[n] = 1;
        for (buffer_id b : touched_by_[n]) {
            if (!has_begun_[b]) {
                has_begun_[b] = 1;
                for (node_id m : touches_[b])
                    if (!has_run_[m]) {
                        begins_[m] -= g_.size[b];
                        changed(m);
                    }
            }
            sum_left_[b] -= n;
            if (--left_[b] == 1 && !g_.is_kept[b]) {
                node_id const last = node_id::of(sum_left_[b]);
                ends_[last] += g_.size[b];
                changed(last);
            }
        }
    }

private:
    static csr_rows<node_id, buffer_id> touched_by(order_graph const& g); // the buffers of each node, once

    order_graph const& g_;
    peak_walk walk_;
    csr_rows<node_id, buffer_id> touched_by_;
    csr_rows<buffer_id, node_id> touches_;
    table<node_id, byte_count> begins_, ends_;
    table<node_id, unsigned char> is_plain_, has_run_;
    table<buffer_id, unsigned char> has_begun_;
    table<buffer_id, std::uint32_t> left_;     // nodes that touch the buffer and have not run
    table<buffer_id, std::uint64_t> sum_left_; // the sum of their ids
};

// --- ready nodes -----------------------------------------------------------------------------------------

/// A priority queue of ready nodes: the node with the least growth among those that fit into a given room.
///
///     need       8    16    16    40    64          room 20: the first three fit,
///     growth   + 8  - 16     0  - 40   + 8          and the second of them has the least growth
///               └── -16 ─┘└─  0 ─┘
///
/// Sorted by need, the nodes that fit are a prefix, and a tree over the sorted needs stores the best node of
/// each range. The need of a node may fall, if its results fit into operands or another node begins its
/// buffers. So each node reserves a leaf for each possible need, and occupies the next one above its own.
///
/// Source: the tree over sizes is from the discussion of wide graphs in PyTorch's scheduler (issue 190511).

/// The growth of a node, and its rank among nodes of equal growth: lowest first.
struct node_priority {
    std::uint64_t growth_key = ~std::uint64_t{0};
    std::uint32_t rank = ~std::uint32_t{0};
    node_id node = no_node;

    friend constexpr bool operator<(node_priority const& a, node_priority const& b) noexcept
    {
        return a.growth_key != b.growth_key ? a.growth_key < b.growth_key : a.rank < b.rank;
    }
};

class ready_nodes {
public:
    /// Requires:   `id` of each possible need is below `nodes`, `key` is its bytes. Each node has one.
    /// Complexity: O(needs log needs).
    ready_nodes(std::size_t nodes, std::vector<sort_key> possible_needs);

    [[nodiscard]] bool empty() const { return best_[1].node == no_node; }
    [[nodiscard]] bool holds(node_id n) const { return place_[n] != no_place; }

    /// Inserts a node, or updates its keys.  O(log needs)
    /// Requires:   one of its possible needs is at least `need`.
    void put(node_id n, byte_count need, std::uint64_t growth_key, std::uint32_t rank);

    /// Requires:   it is in the queue.  O(log needs)
    void take(node_id n)
    {
        set(place_[n], {});
        place_[n] = no_place;
    }

    /// Of the nodes that need at most `room`, the one with the least growth; if there are none, one with the
    /// least need. Requires: not empty().  O(log needs)
    [[nodiscard]] node_id best(byte_count room) const;

private:
    std::size_t fitting(byte_count room) const;
    node_priority least_of(std::size_t count) const; // of the first `count` leaves
    void set(std::size_t place, node_priority const& priority);

    static constexpr std::uint32_t no_place = ~std::uint32_t{0};
    std::vector<byte_count> needs_;           // possible ones, ascending
    csr_rows<node_id, std::uint32_t> places_; // of each node, ascending
    table<node_id, std::uint32_t> place_;     // of each node: its current leaf
    std::size_t leaf_count_ = 1;
    std::vector<node_priority> best_; // of [2i] and [2i + 1]; needs_[i] has leaf leaves_ + i
};

// --- list schedule ---------------------------------------------------------------------------------------

/// List scheduling: nodes that free memory run as soon as they are ready, others in the order of a rank.
///
///     rank 0 1 2 3 4        0 ──► 1 ──► 4        1 makes 64 bytes of 8; 3 makes 1 byte of 32
///                           2 ──► 3 ──► ┘        runs 0 2 3 1 4: no node that adds bytes fits below the
///                                                 goal before 3 has freed its 31 bytes
///
/// Least peak first: of the nodes that fit below the peak so far, or below a given goal, the one that leaves
/// the fewest bytes live; if none fits, the one that raises the peak least. The rule decides well among nodes
/// that free bytes, but among nodes that add some it starts the smallest on every branch and leaves all
/// branches half done. So these may go by rank instead, that is by an order which finishes what it begins.
///
/// Source: the first rule is that of PyTorch Inductor's reordering for peak memory (2024), which scans all
/// ready nodes where this descends a tree. The goal and the rank are new here.

struct schedule_rule {
    byte_count goal = 0;         ///< a peak that costs nothing; 0: only the peak so far
    bool growing_by_size = true; ///< nodes that add bytes: the smallest growth first; otherwise by rank
};

/// Requires:   `preferred` names every node once; the graph has no error.
/// Ensures:    an order in which the program can run. Ties go to the node that is first in `preferred`.
/// Complexity: O(E + touches log V); for nodes with several steps, pairs or early reads also a run of the
///             node whenever one of its buffers begins or has one node left.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                                 schedule_rule const& rule = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/list_schedule.ipp>
#endif

#endif
