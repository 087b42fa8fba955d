// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_PROGRAM_TOKENS_IPP
#define SUBLET_SHARING_IMPL_PROGRAM_TOKENS_IPP

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/in_place_concurrent.hpp>
#include <sublet/sharing/program_tokens.hpp>
#include <sublet/value_role.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL program_token_plan share_by_tokens(snapshot const& p, plan_options const& values,
                                               program_token_options const& options)
{
    program_token_plan plan;
    auto const role = values.role.tabulate(p.values());
    auto const takes_part = options.takes_part.tabulate(p.steps());
    dependence_graph const g = dependences(p, {.role = role, .handoffs = options.handoffs});
    plan.violation = g.violation;
    if (g.violation) return plan;

    live_ranges touched{std::vector<live_range>(p.values()), 1, std::nullopt};
    auto touch_all = [&](auto call) { // with the step
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s)) call(t.value, s);
        for (edge_use u : p.edge_uses()) call(u.value, p.steps_of(u.pred).last - 1);
    };
    touch_all([&](value_id v, step_id) { touched.of[v] = {0, 1}; });
    for (value_id v = 0; v != p.values(); ++v)
        if (role[v] != value_role::intermediate) touched.of[v] = {0, 1};
    buffer_table table = gather_buffers(touched, values);
    SUBLET_EXPECTS(table.oversized_view == no_value, "sublet: a view has more bytes than its root");
    if (values.in_place) table = take_in_place_concurrently(p, g, std::move(table));

    std::size_t const buffers = table.buffers.size();
    std::vector<unsigned char> eligible(buffers, 1);
    touch_all([&](value_id v, step_id s) { eligible[table.buffer_of[v]] &= takes_part[s]; });
    concurrent_lives const lives = concurrent_lifetimes(p, g, buffers, table.buffer_of, role);
    auto size_of = [&](buffer_id b) {
        return table.buffers[b].is_planned() ? table.buffers[b].size : byte_count{0};
    };
    static_cast<token_plan&>(plan) =
        share_by_tokens(g, lives, size_of,
                        {.choice = options.choice,
                         .pool = [&](buffer_id b) { return table.buffers[b].pool; },
                         .eligible = [&](buffer_id b) { return eligible[b] != 0; },
                         .most_ranges = options.most_ranges});
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of) slot_of.push_back(plan.slot_of[b]);
    plan.slot_of = std::move(slot_of);
    return plan;
}

} // namespace sublet

#endif
