// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_READY_NODES_HPP
#define SUBLET_ORDERING_READY_NODES_HPP

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

#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// What a node leaves behind, and who goes first of those that leave the same: lowest first.
struct node_claim {
    std::uint64_t left = ~std::uint64_t{0};
    node_id rank = no_node;
    node_id node = no_node;

    friend constexpr bool operator<(node_claim const& a, node_claim const& b) noexcept
    {
        return a.left != b.left ? a.left < b.left : a.rank < b.rank;
    }
};

class ready_nodes {
public:
    /// Requires:   `who` of each announced need is below `nodes`, `key` the bytes. Each node has one at
    /// least. Complexity: O(announced log announced).
    ready_nodes(std::size_t nodes, std::vector<keyed> announced);

    [[nodiscard]] bool empty() const { return best_[1].node == no_node; }
    [[nodiscard]] bool holds(node_id n) const { return place_[n] != no_place; }

    /// Put a node there, or anew, with other claims.
    ///
    /// Requires:   it announced no less than `need`.
    /// Complexity: O(log announced).
    void put(node_id n, byte_count need, std::uint64_t left, node_id rank);

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
    node_claim least_of(std::size_t count) const; // of the first so many leaves
    void set(std::size_t place, node_claim const& claim);

    static constexpr std::uint32_t no_place = ~std::uint32_t{0};
    std::vector<byte_count> needs_;    // announced, ascending
    csr_rows places_;                  // by node, ascending
    std::vector<std::uint32_t> place_; // by node: where it stands
    std::size_t leaves_ = 1;
    std::vector<node_claim> best_; // of [2i] and [2i + 1]; needs_[i] has leaf leaves_ + i
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/ready_nodes.ipp>
#endif

#endif
