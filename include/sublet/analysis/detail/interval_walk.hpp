// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_INTERVAL_WALK_HPP
#define SUBLET_ANALYSIS_DETAIL_INTERVAL_WALK_HPP

/// The backward walk over an order of nodes that finds live intervals: a value that is live opens a range,
/// its def closes it. What is live at the end of a node comes from the walk itself or from trees.

#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// An order of the nodes, and where each of them is in it.
struct node_layout {
    std::vector<node_id> order;
    table<node_id, std::uint32_t> index_of; // of each node in the order
    table<node_id, position_id> end;        // of each node: the position after its last step
};

/// Throws: precondition_error if `order`, unless empty, does not name every node once.
node_layout lay_out(snapshot const& p, std::vector<node_id> order);

/// The ranges that are live at the point of a backward walk: their ends are known, their begins not yet.
class open_ranges {
public:
    explicit open_ranges(std::size_t values) : open_(values), until_(values), closed_(values) {}

    [[nodiscard]] std::span<value_id const> values() const { return open_.list(); }
    /// v is live here, up to `until` at least.
    void open(value_id v, position_id until)
    {
        open_.insert(v);
        if (until_[v] < until) until_[v] = until;
    }
    /// v is not live before `first`.
    void close(value_id v, position_id first)
    {
        if (open_.erase(v)) closed_.add(v, {first, std::exchange(until_[v], 0)});
    }
    void close_all(position_id first)
    {
        while (!values().empty()) close(values().back(), first); // removes it from the list
    }
    /// Walks the steps of a node backwards; the last one is before `position`.
    void walk(snapshot const& p, node_id n, position_id position)
    {
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            --position;
            for (touch t : p.touches(s)) {
                if (!t.defines()) continue;
                open(t.value, position + 1);
                close(t.value, position);
            }
            for (touch t : p.touches(s))
                if (!t.defines())
                    open(t.value, t.kind == touch::access::use_early ? +position : position + 1);
        }
        if (n == 0) // values live where the program begins are in storage before
            for (value_id v : values()) open(v, position + 1);
    }
    [[nodiscard]] range_collector const& closed() const { return closed_; }

private:
    sparse_set open_;
    table<value_id, position_id> until_; // where the range of each value ends; 0 if it is not open
    range_collector closed_;
};

/// The walk without liveness. Returns whether its requirements hold, and it takes no more than `most` ranges
/// that are open at edges; otherwise `ranges` are meaningless.
///
/// Complexity: O(V + E + values + touches) and the number of values live at each edge that does not lead to
///             the next node, and at the end of each node that has no such edge.
bool found_in_one_pass(snapshot const& p, node_layout const& layout, open_ranges& ranges, std::uint64_t most);

/// From live sets as trees: lists only what changes from the end of a node to the begin of the next one.
///
/// Complexity: as live_by_trees, and O(log values) for each range.
live_range_lists intervals_by_trees(snapshot const& p, node_layout const& layout);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/interval_walk.ipp>
#endif

#endif
