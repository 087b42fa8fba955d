// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_CLOCK_ORDER_IPP
#define SUBLET_ORDERING_IMPL_CLOCK_ORDER_IPP

#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/clock_order.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

SUBLET_DECL clocked_graph in_clock_order(dependence_graph const& g, clock_times const& clock)
{
    std::size_t const n = g.positions();
    SUBLET_EXPECTS(clock.start.size() == n, "sublet: the clock is of another graph");
    std::vector<keyed> order;
    order.reserve(n);
    for (step_id at = 0; at != n; ++at) order.push_back({clock.start[at], 0, at});
    sort_keyed(order);
    std::vector<step_id> place(n);
    for (step_id i = 0; i != n; ++i) place[order[i].who] = i;

    clocked_graph result;
    result.graph.before = csr_rows::gathered(n, [&](auto add) {
        for (step_id i = 0; i != n; ++i)
            for (step_id next : g.after[order[i].who]) add(place[next], i);
    });
    result.graph.after = result.graph.before.transposed(n);
    result.clock.makespan = clock.makespan;
    result.clock.critical_path = clock.critical_path;
    for (keyed const& o : order) {
        result.graph.step_at.push_back(g.step_at[o.who]);
        result.clock.start.push_back(clock.start[o.who]);
        result.clock.end.push_back(clock.end[o.who]);
    }
    for (step_id at : g.position_of) result.graph.position_of.push_back(place[at]);
    return result;
}

} // namespace sublet

#endif
