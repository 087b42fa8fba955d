// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_PEAK_WALK_HPP
#define SUBLET_ORDERING_PEAK_WALK_HPP

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

#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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
    byte_count live_ = 0, peak_ = 0, only_at_first_ = 0;
    std::size_t steps_ = 0;
};

/// The most bytes alive at any time if the nodes run in this order.
///
/// Requires:   `order` names every node once, each behind all those that it waits for.
/// Complexity: O(touches), and match_overwrites() for each step that has pairs.
[[nodiscard]] byte_count peak_of(order_graph const& g, std::vector<node_id> const& order);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/peak_walk.ipp>
#endif

#endif
