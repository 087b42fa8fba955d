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
#include <sublet/ordering/topological.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Requires:   as peak_walk.
/// Complexity: all runs together O(V + touches), and a call of `changed` for each touch and each buffer at
///             most. need() is constant for a node of one step without pairs and early reads, else as
///             peak_walk::run.
class node_demands {
public:
    explicit node_demands(order_graph const& g)
        : g_(g), walk_(g), touched_by_(touched_by(g)), touches_(touched_by_.transposed(g.buffers())),
          begins_(g.nodes()), ends_(g.nodes()), is_plain_(g.nodes()), has_run_(g.nodes()),
          has_begun_(g.buffers()), left_(g.buffers()), sum_left_(g.buffers())
    {
        for (node_id n = 0; n != g.nodes(); ++n) {
            step_range const its = g.steps[n];
            is_plain_[n] =
                its.last - its.first == 1 && g.pairs_of(its.first).empty() && g.early[its.first].empty();
            for (buffer_id b : touched_by_[n]) {
                ++left_[b];
                sum_left_[b] += n;
                if (!g.is_given[b]) begins_[n] += g.size[b];
            }
        }
        for (buffer_id b = 0; b != g.buffers(); ++b) {
            has_begun_[b] = g.is_given[b];
            if (left_[b] == 1 && !g.is_kept[b]) ends_[sum_left_[b]] += g.size[b];
        }
    }

    /// What nodes may need, by bytes and node: of each what it begins in the listed order, that less what may
    /// be saved, and what it may begin in some other order.
    [[nodiscard]] std::vector<keyed> announced() const
    {
        std::vector<keyed> result;
        std::vector<node_id> begun_by(g_.buffers(), no_node);
        std::vector<std::uint32_t> seen(g_.buffers()); // steps of the node
        for (node_id n : topological(g_)) {
            byte_count begun = 0, more = 0;
            for (buffer_id b : touched_by_[n]) {
                if (g_.is_given[b]) continue;
                if (begun_by[b] == no_node) begun_by[b] = n;
                if (begun_by[b] == n) begun += g_.size[b];
                else if (!is_listed(g_.before[n], begun_by[b])) more += g_.size[b];
            }
            result.push_back({begun, 0, n});
            if (more != 0) result.push_back({begun + more, 0, n});
            if (is_plain_[n]) continue;
            // As if it ran alone: what only its own steps touch comes and goes among them.
            byte_count alive = 0, most = 0;
            for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) {
                byte_count saved = 0, dead = 0;
                for (buffer_id b : g_.held[s]) {
                    if (seen[b]++ == 0 && begun_by[b] == n) alive += g_.size[b];
                    if (seen[b] == g_.touching[b] && !g_.is_kept[b] && !g_.is_given[b]) dead += g_.size[b];
                }
                for (overwrite_pair const& pair : g_.pairs_of(s)) saved = larger(saved, pair.saved);
                most = larger(most, alive - smaller(alive, saved));
                alive -= smaller(alive, dead);
            }
            for (buffer_id b : touched_by_[n]) seen[b] = 0;
            if (most != begun) result.push_back({most, 0, n});
        }
        return result;
    }

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
    static csr_rows touched_by(order_graph const& g) // by node: its buffers, each once
    {
        std::vector<node_id> seen(g.buffers(), no_node);
        csr_rows result;
        for (node_id n = 0; n != g.nodes(); ++n) {
            auto see = [&](buffer_id b) {
                if (seen[b] != n) result.append(b);
                seen[b] = n;
            };
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
                for (buffer_id b : g.held[s]) see(b);
                for (buffer_id b : g.early[s]) see(b);
            }
            result.close_row();
        }
        return result;
    }

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

#endif
