// SPDX-License-Identifier: BSL-1.0

/// One pass over the order each: nodes are marked as they come, so a node that is missing, named twice, or
/// the target of an edge from a later one is seen at once.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet::detail {

SUBLET_COLD_DECL table<position_id, step_id> steps_in_order(snapshot const& p,
                                                            std::vector<node_id> const& order)
{
    table<position_id, step_id> steps;
    if (order.empty()) {
        steps = table<position_id, step_id>(p.steps());
        for (step_id s = 0; s != steps.size(); ++s) steps[+s] = s;
        return steps;
    }
    steps.reserve(p.steps());
    if (order.size() != p.nodes()) broken_order(order, p.nodes());
    table<node_id, unsigned char> named(p.nodes());
    for (node_id n : order) {
        if (n >= p.nodes() || named[n]) broken_order(order, p.nodes());
        named[n] = 1;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) steps.push_back(s);
    }
    return steps;
}

SUBLET_DECL std::optional<counterexample> first_backward_edge(snapshot const& p,
                                                              std::vector<node_id> const& order)
{
    if (p.graph().items() == 0) return std::nullopt;
    table<node_id, unsigned char> has_run(p.nodes(), 0);
    position_id position = 0;
    for (std::size_t i = 0; i != p.nodes(); ++i) {
        node_id const n = order.empty() ? node_id::of(i) : order[i];
        has_run[n] = 1;
        position += p.steps_of(n).last - p.steps_of(n).first;
        for (node_id next : p.successors(n))
            if (has_run[next])
                return counterexample{fault::leads_back,
                                      counterexample::waiting{.position = position - 1},
                                      {p.steps_of(n).last - 1, p.steps_of(next).first}};
    }
    return std::nullopt;
}

} // namespace sublet::detail
