// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_SEGMENT_TREE_HPP
#define SUBLET_DETAIL_SEGMENT_TREE_HPP

/// How many bytes are alive at each position of a pool, while buffers come and go.
///
///     most of all     7               add(1, 4, +3) touches the nodes that make up [1, 4),
///                   /   \             and repairs those above them
///                  4     7
///                 / \   / \           most(0, 2) asks the nodes that make up [0, 2)
///     position   0   1 2   3
///
/// A node holds the most of the positions under it, without what has been added to nodes above: that may be
/// less than nothing, where what was added above has been removed below.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class segment_tree {
public:
    explicit segment_tree(std::size_t positions)
        : leaves_(positions), most_(2 * positions), added_(2 * positions)
    {
    }

    /// Requires: `when` is not empty and within the positions; no load is less than 0, or 2^63 or more.
    void add(live_range when, byte_count bytes);
    void remove(live_range when, byte_count bytes);

    /// The most bytes alive at one of some positions.
    [[nodiscard]] byte_count most(live_range when) const;

private:
    /// With all that has been added above.
    std::int64_t total(std::size_t node) const;
    void change(live_range when, std::int64_t bytes);
    void put(std::size_t node, std::int64_t bytes)
    {
        most_[node] += bytes;
        added_[node] += bytes;
    }
    void update_ancestors(std::size_t node);

    std::size_t leaves_;
    std::vector<std::int64_t> most_, added_; // by node
};

/// At i: how many of the positions below i are in one of the ranges; for all positions and their end.
[[nodiscard]] std::vector<std::uint32_t> covered_below(std::vector<live_range> const& ranges,
                                                       std::size_t positions);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/segment_tree.ipp>
#endif

#endif
