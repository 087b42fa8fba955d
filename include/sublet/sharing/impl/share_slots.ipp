// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL shared_buffers share_slots(dependence_graph const& g, concurrent_live_ranges const& lives,
                                       per_value<byte_count, buffer_id> const& sizes,
                                       buffer_slot_options const& options)
{
    if (options.strategy != slot_options::strategy_kind::tokens)
        return share_slots(lives, find_conflict_ranges(g, lives), sizes, options);
    token_plan found = share_by_tokens(g, lives, [&](buffer_id b) { return sizes[b]; },
                                       {.choice = options.choice,
                                        .pool = options.pool,
                                        .eligible = options.eligible,
                                        .most_ranges = options.most_ranges});
    std::uint64_t const undecided = found.undecided;
    return {std::move(found), undecided, {}};
}

SUBLET_DECL shared_buffers share_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                       per_value<byte_count, buffer_id> const& sizes,
                                       buffer_slot_options const& options)
{
    SUBLET_EXPECTS(options.strategy != slot_options::strategy_kind::tokens,
                   "sublet: sharing by tokens needs the dependence graph");
    if (options.strategy == slot_options::strategy_kind::chains) {
        chain_plan found = share_in_chains(lives, conflicts, [&](buffer_id b) { return sizes[b]; },
                                           {.choice = options.choice,
                                            .pool = options.pool,
                                            .eligible = options.eligible,
                                            .visits = options.visits});
        return {std::move(found), conflicts.undecided, {}};
    }
    chain_cover cover =
        fewest_slots(lives, conflicts, {.bytes = sizes, .pool = options.pool, .eligible = options.eligible});
    shared_buffers result;
    static_cast<slot_plan&>(result) = std::move(cover.plan);
    result.undecided = conflicts.undecided;
    result.antichain = std::move(cover.antichain);
    result.slot_bytes.assign(result.slots, 0);
    result.slot_pool.assign(result.slots, 0);
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        slot_id const s = result.slot_of[b];
        if (s == no_slot) continue;
        SUBLET_EXPECTS(sizes[b] != no_size, "sublet: buffer %, of unknown size, cannot share a slot", b);
        result.slot_bytes[s] = larger(result.slot_bytes[s], sizes[b]);
        result.slot_pool[s] = options.pool[b];
    }
    for (byte_count bytes : result.slot_bytes) result.total_bytes = checked_add(result.total_bytes, bytes);
    return result;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL shared_slots share_slots(snapshot const& p, plan_options const& given,
                                     slot_options const& options)
{
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
    detail::shared_buffers found = detail::share_slots(g, lives, size_of,
                                            {.strategy = options.strategy,
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
