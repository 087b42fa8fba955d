// SPDX-License-Identifier: BSL-1.0

/// A node holds what is added to all under it, and the most under it, itself included; so a change touches
/// O(log n) nodes and their ancestors, and no push down is needed: a query adds what the ancestors hold.

#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

namespace sublet::detail {

SUBLET_DECL void segment_tree::add(live_range when, byte_count bytes)
{
    change(when, static_cast<std::int64_t>(bytes));
}

SUBLET_DECL void segment_tree::remove(live_range when, byte_count bytes)
{
    change(when, -static_cast<std::int64_t>(bytes));
}

SUBLET_DECL byte_count segment_tree::most(live_range when) const
{
    std::int64_t most = 0;
    tree_.each(when, [&](std::size_t node) { most = larger(most, total(node)); });
    return static_cast<byte_count>(most);
}

SUBLET_DECL std::int64_t segment_tree::total(std::size_t node) const
{
    std::int64_t bytes = most_[node];
    while ((node /= 2) != 0) bytes += added_[node];
    return bytes;
}

SUBLET_DECL void segment_tree::change(live_range when, std::int64_t bytes)
{
    tree_.each(when, [&](std::size_t node) { put(node, bytes); });
    update_ancestors(when.first + tree_.leaves);
    update_ancestors(when.last - 1 + tree_.leaves);
}

SUBLET_DECL void segment_tree::update_ancestors(std::size_t node)
{
    while ((node /= 2) != 0) most_[node] = larger(most_[2 * node], most_[2 * node + 1]) + added_[node];
}

SUBLET_DECL table<position_id, std::uint32_t> covered_below(std::vector<live_range> const& ranges,
                                                            std::size_t positions)
{
    table<position_id, std::uint32_t> begun(positions + 1, 0),
        below(positions + 1, 0); // begun: ranges begun less ranges ended
    for (live_range const& r : ranges) {
        ++begun[r.first];
        --begun[r.last]; // modulo 2^32: the sum is correct
    }
    std::uint32_t alive = 0;
    for (std::size_t at = 0; at != positions; ++at) {
        alive += begun[at];
        below[at + 1] = below[at] + (alive != 0);
    }
    return below;
}

} // namespace sublet::detail
