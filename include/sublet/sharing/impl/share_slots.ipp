// SPDX-License-Identifier: BSL-1.0
/// The stages in turn: dependences, buffers of values and their in-place pairs, live ranges by
/// happens-before, slots of the buffers; then each value gets the slot of its buffer.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/internal/buffer_slots.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

static_assert(static_cast<int>(slot_options::strategy_kind::fewest) ==
              static_cast<int>(detail::slot_strategy::fewest));

SUBLET_DECL shared_slots share_slots(snapshot const& p, plan_options const& given,
                                     slot_options const& options)
{
    detail::expect_one_program(given, "share_slots");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& values = *asked;
    auto const role = values.role.tabulate(p.values());
    auto const takes_part = options.takes_part.tabulate(p.steps());
    dependence_graph const g = dependences(p, detail::dependences_of(values, options.handoffs));
    if (!g) {
        shared_slots none;
        none.refute(g);
        return none;
    }

    live_ranges touched{{}, sublet::table<value_id, live_range>(p.values()), 1};
    auto touch_all = [&](auto call) { // call(value, step)
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s)) call(t.value, s);
        for (edge_use u : p.edge_uses()) call(u.value, p.steps_of(u.pred).last - 1);
    };
    touch_all([&](value_id v, step_id) { touched.of[v] = {0, 1}; });
    for (value_id v = 0; v != p.values(); ++v)
        if (role[v] != value_role::intermediate) touched.of[v] = {0, 1};
    buffer_table table = gather_buffers(touched, values);
    SUBLET_EXPECTS(table.oversized_view == no_value,
                   "sublet: value % is a view of % bytes, more than its root has", table.oversized_view,
                   table.oversized_bytes);
    if (values.in_place) table = take_in_place(p, g, std::move(table));

    std::size_t const buffers = table.buffers.size();
    sublet::table<buffer_id, unsigned char> eligible(buffers, 1);
    touch_all([&](value_id v, step_id s) { eligible[table.buffer_of[v]] &= takes_part[s]; });
    detail::concurrent_live_ranges const lives =
        detail::concurrent_lifetimes(p, g, buffers, table.buffer_of, role);
    auto size_of = [&](buffer_id b) {
        return table.buffers[b].is_planned() ? table.buffers[b].size : byte_count{0};
    };
    detail::shared_buffers found =
        detail::share_slots(g, lives, size_of,
                            {.strategy = static_cast<detail::slot_strategy>(options.strategy),
                             .choice = options.choice,
                             .pool = [&](buffer_id b) { return table.buffers[b].pool; },
                             .eligible = [&](buffer_id b) { return eligible[b] != 0; },
                             .most_ranges = options.most_ranges,
                             .visits = values.effort.of(4'000'000)});
    shared_slots plan;
    plan.undecided = found.undecided;
    for (buffer_id b : found.antichain) plan.antichain.push_back(table.buffers[b].root);
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of) slot_of.push_back(found.slot_of[b]);
    static_cast<sized_slot_plan&>(plan) = std::move(found);
    plan.slot_of = std::move(slot_of);
    return plan;
}

} // namespace sublet
