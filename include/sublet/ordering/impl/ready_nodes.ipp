// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_READY_NODES_IPP
#define SUBLET_ORDERING_IMPL_READY_NODES_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/ready_nodes.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL ready_nodes::ready_nodes(std::size_t nodes, std::vector<keyed> announced)
    : place_(nodes, no_place)
{
    sort_keyed(announced);
    needs_.reserve(announced.size());
    for (keyed const& a : announced) needs_.push_back(a.key);
    places_ = csr_rows::gathered(nodes, [&](auto add) {
        for (std::uint32_t i = 0; i != announced.size(); ++i) add(announced[i].who, i);
    });
    while (leaves_ <= announced.size()) leaves_ *= 2;
    best_.resize(2 * leaves_);
}

SUBLET_DECL void ready_nodes::put(node_id n, byte_count need, std::uint64_t left, node_id rank)
{
    auto const places = places_[n];
    std::size_t at = 0;
    while (at + 1 != places.size() && needs_[places[at]] < need) ++at;
    std::uint32_t const place = places[at];
    if (holds(n) && place_[n] != place) set(place_[n], {});
    place_[n] = place;
    set(place, {left, rank, n});
}

SUBLET_DECL node_id ready_nodes::best(byte_count room) const
{
    node_claim const found = least_of(fitting(room));
    if (found.node != no_node) return found.node;
    std::size_t at = 1;
    while (at < leaves_) at = best_[2 * at].node != no_node ? 2 * at : 2 * at + 1;
    return least_of(fitting(needs_[at - leaves_])).node;
}

SUBLET_DECL std::size_t ready_nodes::fitting(byte_count room) const
{
    return first_that(needs_.size(), [&](std::size_t i) { return needs_[i] > room; });
}

SUBLET_DECL node_claim ready_nodes::least_of(std::size_t count) const // of the first so many leaves
{
    node_claim found;
    for (std::size_t at = leaves_ + count; at > 1; at /= 2)
        if (at % 2 != 0 && best_[at - 1] < found) found = best_[at - 1];
    return found;
}

SUBLET_DECL void ready_nodes::set(std::size_t place, node_claim const& claim)
{
    std::size_t at = leaves_ + place;
    best_[at] = claim;
    while (at > 1) {
        node_claim const& other = best_[at ^ 1];
        node_claim const& least = best_[at] < other ? best_[at] : other;
        at /= 2;
        if (best_[at].left == least.left && best_[at].rank == least.rank) return;
        best_[at] = least;
    }
}

} // namespace sublet

#endif
