// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_EXACT_ORDER_IPP
#define SUBLET_ORDERING_IMPL_EXACT_ORDER_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/exact_order.hpp>

namespace sublet {

SUBLET_DECL exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start,
                                         order_search_limits const& limits)
{
    return exact_order(g, start, limits, [](byte_count, byte_count, std::uint64_t) { return false; });
}

} // namespace sublet

#endif
