// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_LONGEST_PATH_IPP
#define SUBLET_ORDERING_IMPL_LONGEST_PATH_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/longest_path.hpp>
#include <sublet/ordering/topological.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL std::vector<std::uint32_t> path_lengths(order_graph const& g)
{
    std::vector<std::uint32_t> length(g.nodes(), 1);
    std::vector<node_id> const order = topological(g);
    for (std::size_t at = order.size(); at-- != 0;)
        for (node_id next : g.after[order[at]])
            length[order[at]] = larger(length[order[at]], length[next] + 1);
    return length;
}

SUBLET_DECL std::vector<node_id> longest_path(order_graph const& g)
{
    std::vector<std::uint64_t> rank;
    rank.reserve(g.nodes());
    for (std::uint32_t length : path_lengths(g)) rank.push_back(falling(length));
    return order_by_rank(g, rank);
}

} // namespace sublet

#endif
