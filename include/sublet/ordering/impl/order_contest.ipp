// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_ORDER_CONTEST_IPP
#define SUBLET_ORDERING_IMPL_ORDER_CONTEST_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/ordering/topological.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL order_contest::order_contest(order_graph const& g, byte_count floor) : g_(g)
{
    best_.violation = g.violation;
    if (g.violation) return;
    best_.order = topological(g);
    best_.peak = best_.given_peak = sublet::peak_of(g, best_.order);
    best_.lower_bound = smaller(floor, best_.peak);
}

SUBLET_DECL bool order_contest::enter(std::vector<node_id> order, order_method how)
{
    byte_count const peak = sublet::peak_of(g_, order);
    if (peak >= best_.peak) return false;
    best_.order = std::move(order);
    best_.peak = peak;
    best_.found_by = how;
    return true;
}

} // namespace sublet

#endif
