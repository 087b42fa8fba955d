// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_LIST_SCHEDULE_HPP
#define SUBLET_ORDERING_DETAIL_LIST_SCHEDULE_HPP

/// One walk that takes the ready node with the least demand, forwards or backwards. Included by
/// ordering/best_order.hpp.

#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- mirrored graph --------------------------------------------------------------------------------------

/// The same program backwards in time.
///
///     forwards    0: def a     1: use a, def b     2: use b         live behind each    a    b    -
///     mirrored    2: def b     1: use b, def a     0: use a         live behind each    b    a    -
///
/// Bytes are alive between the first touch and the last, and seen from the end these change places, as what
/// is given and what is kept do. So an order found for the mirror image, read backwards, needs as much: a
/// rule that decides well from the end is the same rule in the mirror.

namespace sublet::detail {

/// Ensures:    an order of the result, reversed, is one of `g`, and has the same peak in both if no step of
///             `g` reads early, no operand may be overwritten by one of several results, and no input goes
///             untouched. Else it is close: what is read early counts as held to the end of its step, such
///             an operand as overwritten by the largest of its results only, such an input not at all.
/// Complexity: O(V + E + touches + pairs).
[[nodiscard]] order_graph mirrored(order_graph const& g);

// --- node demands ----------------------------------------------------------------------------------------

/// What each node would do to memory if it ran next, kept up as nodes run.
///
///     a is read by 1 and 2          begins    ends
///     before    1: use a, def b     32 (b)     0
///     2 runs    1: use a, def b     32        64 (a)       the last reader is credited with the whole buffer
///
/// A buffer changes what nodes do to memory twice at most: when it begins, nobody else begins it any more;
/// when a single node is left that touches it, that node ends it. The sum of the ids of those left is enough
/// to know who that is.
///
/// Source: the credit is that of the scheduler with the least peak first in PyTorch's Inductor (2024).

/// Requires:   as peak_walk.
/// Complexity: all runs together O(V + touches), and a call of `changed` for each touch and each buffer at
///             most. need() is constant for a node of one step without pairs and early reads, else as
///             peak_walk::run.
class pressure_tracker {
public:
    explicit pressure_tracker(order_graph const& g);

    /// What nodes may need, by bytes and node: of each what it begins in the listed order, that less what may
    /// be saved, and what it may begin in some other order.
    [[nodiscard]] std::vector<sort_key> possible_needs() const;

    [[nodiscard]] byte_count live() const { return walk_.live(); }
    [[nodiscard]] byte_count peak() const { return walk_.peak(); }

    /// Bytes that have to be free for `n` to run now.
    [[nodiscard]] byte_count need(node_id n)
    {
        if (is_plain_[n]) return begins_[n];
        byte_count const most = walk_.peak_of(n);
        return most > walk_.live() ? most - walk_.live() : 0;
    }
    /// By how much more is alive behind `n` than before it; half of the numbers stand for less.
    [[nodiscard]] byte_count growth(node_id n) const { return begins_[n] - ends_[n]; }

    /// Run a node, and call changed(m) for those that do something else to memory now.
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
                node_id const last = static_cast<node_id>(sum_left_[b]);
                ends_[last] += g_.size[b];
                changed(last);
            }
        }
    }

private:
    static csr_rows touched_by(order_graph const& g); // by node: its buffers, each once

    order_graph const& g_;
    peak_walk walk_;
    csr_rows touched_by_;                           // by node: buffers
    csr_rows touches_;                              // by buffer: nodes
    std::vector<byte_count> begins_, ends_;         // by node
    std::vector<unsigned char> is_plain_, has_run_; // by node
    std::vector<unsigned char> has_begun_;          // by buffer
    std::vector<std::uint32_t> left_;               // by buffer: nodes
    std::vector<std::uint64_t> sum_left_;           // by buffer: their ids
};

// --- ready nodes -----------------------------------------------------------------------------------------

/// The nodes that may run next, and which of them leaves the least behind among those that fit.
///
///     need       8    16    16    40    64          room 20: the first three fit,
///     leaves   + 8  - 16     0  - 40   + 8          and the second of them leaves least
///               └── -16 ─┘└─  0 ─┘
///
/// Sorted by what nodes need, those that fit are a prefix, and a tree over the sorted needs knows the best of
/// each stretch. What a node needs may fall, where results find room in operands or others begin its buffers.
/// So it announces some needs beforehand, takes a place for each, and stands at the next one above.
///
/// Source: the tree over sizes is from the discussion of wide graphs in PyTorch's scheduler (issue 190511).

/// What a node leaves behind, and who goes first of those that leave the same: lowest first.
struct node_priority {
    std::uint64_t growth_key = ~std::uint64_t{0};
    node_id rank = no_node;
    node_id node = no_node;

    friend constexpr bool operator<(node_priority const& a, node_priority const& b) noexcept
    {
        return a.growth_key != b.growth_key ? a.growth_key < b.growth_key : a.rank < b.rank;
    }
};

class ready_nodes {
public:
    /// Requires:   `id` of each announced need is below `nodes`, `key` the bytes. Each node has one at
    /// least. Complexity: O(announced log announced).
    ready_nodes(std::size_t nodes, std::vector<sort_key> possible_needs);

    [[nodiscard]] bool empty() const { return best_[1].node == no_node; }
    [[nodiscard]] bool holds(node_id n) const { return place_[n] != no_place; }

    /// Put a node there, or anew, with other claims.
    ///
    /// Requires:   it announced no less than `need`.
    /// Complexity: O(log announced).
    void put(node_id n, byte_count need, std::uint64_t growth_key, node_id rank);

    /// Requires:   it is there.
    /// Complexity: O(log announced).
    void take(node_id n)
    {
        set(place_[n], {});
        place_[n] = no_place;
    }

    /// Of the nodes that need no more than `room` that which leaves least; if there are none, of those that
    /// need least.
    ///
    /// Requires:   not empty().
    /// Complexity: O(log announced).
    [[nodiscard]] node_id best(byte_count room) const;

private:
    std::size_t fitting(byte_count room) const;
    node_priority least_of(std::size_t count) const; // of the first so many leaves
    void set(std::size_t place, node_priority const& priority);

    static constexpr std::uint32_t no_place = ~std::uint32_t{0};
    std::vector<byte_count> needs_;    // announced, ascending
    csr_rows places_;                  // by node, ascending
    std::vector<std::uint32_t> place_; // by node: where it stands
    std::size_t leaf_count_ = 1;
    std::vector<node_priority> best_; // of [2i] and [2i + 1]; needs_[i] has leaf leaves_ + i
};

// --- list schedule ---------------------------------------------------------------------------------------

/// Run whatever gives memory back as soon as it can run, all else in the order that a rank says.
///
///     rank 0 1 2 3 4        0 ──► 1 ──► 4        1 makes 64 bytes of 8; 3 makes 1 byte of 32
///                           2 ──► 3 ──► ┘        runs 0 2 3 1 4: nothing that grows fits below the goal
///                                                 before 3 has given its 31 bytes back
///
/// The least peak first: of the nodes that fit below the peak so far, or below a goal that is aimed at
/// anyway, that which leaves the fewest bytes behind; if none fits, the one that raises the peak least. That
/// decides well among nodes that give bytes back, and badly among those that take some: the smallest of them
/// is begun on every branch, and all branches then lie about half done. So those may go by rank instead, by
/// an order that finishes what it begins.
///
/// Source: the first rule is that of PyTorch Inductor's reordering for peak memory (2024); there the choice
/// is a pass over all ready nodes, here one way down a tree. The goal and the rank are ours.

struct schedule_rule {
    byte_count goal = 0; ///< a peak that costs nothing; 0: only what has been reached
    bool growing_by_size =
        true; ///< of nodes that leave more alive than before the smallest first; else by rank
};

/// Requires:   `preferred` names every node once; the graph has no violation.
/// Ensures:    an order in which the program can run. Ties go to whoever comes first in `preferred`.
/// Complexity: O(E + touches log V); for nodes of several steps, with pairs or early reads besides a run of
///             theirs whenever one of their buffers begins or comes to its last node.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                                 schedule_rule const& rule = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/list_schedule.ipp>
#endif

#endif
