// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODE_DEMANDS_HPP
#define SUBLET_ORDERING_NODE_DEMANDS_HPP

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

#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Requires:   as peak_walk.
/// Complexity: all runs together O(V + touches), and a call of `changed` for each touch and each buffer at
///             most. need() is constant for a node of one step without pairs and early reads, else as
///             peak_walk::run.
class node_demands {
public:
    explicit node_demands(order_graph const& g);

    /// What nodes may need, by bytes and node: of each what it begins in the listed order, that less what may
    /// be saved, and what it may begin in some other order.
    [[nodiscard]] std::vector<keyed> announced() const;

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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/node_demands.ipp>
#endif

#endif
