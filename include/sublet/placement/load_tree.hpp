// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_LOAD_TREE_HPP
#define SUBLET_PLACEMENT_LOAD_TREE_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class load_tree {
public:
    explicit load_tree(std::size_t positions)
        : leaves_(positions), most_(2 * positions), added_(2 * positions)
    {
    }

    /// Requires: `when` is not empty and within the positions; no load is less than 0, or 2^63 or more.
    void add(live_range when, byte_count bytes) { change(when, static_cast<std::int64_t>(bytes)); }
    void remove(live_range when, byte_count bytes) { change(when, -static_cast<std::int64_t>(bytes)); }

    /// The most bytes alive at one of some positions.
    [[nodiscard]] byte_count most(live_range when) const
    {
        std::int64_t most = 0;
        for (std::size_t i = when.first + leaves_, j = when.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) most = larger(most, whole(i++));
            if (j % 2 == 1) most = larger(most, whole(--j));
        }
        return static_cast<byte_count>(most);
    }

private:
    /// With all that has been added above.
    std::int64_t whole(std::size_t node) const
    {
        std::int64_t bytes = most_[node];
        while ((node /= 2) != 0) bytes += added_[node];
        return bytes;
    }
    void change(live_range when, std::int64_t bytes)
    {
        for (std::size_t i = when.first + leaves_, j = when.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) put(i++, bytes);
            if (j % 2 == 1) put(--j, bytes);
        }
        repair(when.first + leaves_);
        repair(when.last - 1 + leaves_);
    }
    void put(std::size_t node, std::int64_t bytes)
    {
        most_[node] += bytes;
        added_[node] += bytes;
    }
    void repair(std::size_t node)
    {
        while ((node /= 2) != 0) most_[node] = larger(most_[2 * node], most_[2 * node + 1]) + added_[node];
    }

    std::size_t leaves_;
    std::vector<std::int64_t> most_, added_; // by node
};

/// At i: how many of the positions below i are in one of the ranges; for all positions and their end.
[[nodiscard]] inline std::vector<std::uint32_t> covered_below(std::vector<live_range> const& ranges,
                                                              std::size_t positions)
{
    std::vector<std::uint32_t> begun(positions + 1, 0), below(positions + 1, 0); // begun: and not ended
    for (live_range const& r : ranges) {
        ++begun[r.first];
        --begun[r.last]; // modulo 2^32: the sum is right again
    }
    std::uint32_t alive = 0;
    for (std::size_t at = 0; at != positions; ++at) {
        alive += begun[at];
        below[at + 1] = below[at] + (alive != 0);
    }
    return below;
}

} // namespace sublet

#endif
