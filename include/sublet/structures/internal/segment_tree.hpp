// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_SEGMENT_TREE_HPP
#define SUBLET_STRUCTURES_INTERNAL_SEGMENT_TREE_HPP

/// The nodes of a segment tree, and a segment tree with range add and range maximum: the bytes live at each
/// position of a pool.
///
///     maximum         7               add(1, 4, +3) updates the nodes that make up [1, 4),
///                   /   \             and then their ancestors
///                  4     7
///                 / \   / \           most(0, 2) reads the nodes that make up [0, 2)
///     position   0   1 2   3
///
/// A node holds the maximum of the positions under it, without what was added to its ancestors. It may be
/// negative, if bytes added at an ancestor were removed at a descendant.

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Node n has the children 2 n and 2 n + 1, position i is node `leaves` + i. A range is one of positions, or
/// of what else the leaves are: [first, last).
struct segment_nodes {
    std::size_t leaves;

    /// The nodes that make up r; none if it is empty.
    template <class Range, class Visit>
    void each(Range r, Visit visit) const
    {
        for (std::size_t i = r.first + leaves, j = r.last + leaves; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) visit(i++);
            if (j % 2 == 1) visit(--j);
        }
    }
    /// The nodes over the first position of r, then those over the last, upwards while `visit` returns true.
    /// All nodes over some that make up r are among them; others are under these.
    template <class Range, class Visit>
    void each_over_ends(Range r, Visit visit) const
    {
        for (std::uint32_t position : {+r.first, r.last - 1})
            for (std::size_t n = position + leaves; n != 0 && visit(n);) n /= 2;
    }
};

class segment_tree {
public:
    explicit segment_tree(std::size_t positions)
        : tree_{positions}, most_(2 * positions), added_(2 * positions)
    {
    }

    /// Requires: `when` is not empty and within the positions; every load is at least 0 and less than 2^63.
    void add(live_range when, byte_count bytes);
    void remove(live_range when, byte_count bytes);

    [[nodiscard]] byte_count most(live_range when) const;
    /// At any position, of which there is one at least.  O(1)
    [[nodiscard]] byte_count most() const
    {
        return static_cast<byte_count>(larger(most_[1], std::int64_t{0}));
    }

private:
    /// The maximum of a node, with what its ancestors add.
    std::int64_t total(std::size_t node) const;
    void change(live_range when, std::int64_t bytes);
    void put(std::size_t node, std::int64_t bytes)
    {
        most_[node] += bytes;
        added_[node] += bytes;
    }
    void update_ancestors(std::size_t node);

    segment_nodes tree_;
    std::vector<std::int64_t> most_, added_; // by node
};

/// For i in 0 ... positions: the number of positions below i that lie in a range.
[[nodiscard]] table<position_id, std::uint32_t> covered_below(std::vector<live_range> const& ranges,
                                                              std::size_t positions);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/structures/impl/segment_tree.ipp>
#endif

#endif
