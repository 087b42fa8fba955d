// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_WAITS_IPP
#define SUBLET_CHECKING_IMPL_CHECK_WAITS_IPP

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/check_waits.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

namespace sublet::detail {

SUBLET_DECL std::vector<step_id> places_in(std::vector<step_id> const& step_at, std::size_t steps)
{
    SUBLET_EXPECTS(step_at.size() == steps, "sublet: an order of steps does not name each of them once");
    std::vector<step_id> position(steps, no_step);
    for (std::size_t at = 0; at != steps; ++at) {
        SUBLET_EXPECTS(step_at[at] < steps && position[step_at[at]] == no_step,
                       "sublet: an order of steps does not name each of them once");
        position[step_at[at]] = static_cast<step_id>(at);
    }
    return position;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                 memory_plan const* plan, std::uint32_t pools,
                                                 std::vector<step_id> const& step_at)
{
    plan_demands const asked = demands(p, options);
    std::vector<step_id> const position = detail::places_in(step_at, p.steps());
    SUBLET_EXPECTS(plan == nullptr || detail::is_complete(*plan, p.values()),
                   "sublet: a plan has not one entry a value");
    auto const values = static_cast<value_id>(p.values());
    std::vector<byte_access> bytes_of(values); // by root
    for (value_id r = 0; r != values; ++r) {
        if (asked.root[r] != r) continue;
        bytes_of[r] = {.space = pools + r, .end = 1};
        if (plan == nullptr || !asked.is_planned(r)) continue;
        SUBLET_EXPECTS(plan->buffer_of[r] != no_buffer, "sublet: a value needs storage and has none");
        auto const [pool, offset] = detail::place_of(*plan, r);
        bool const is_within = pool < pools && pool < plan->arena_bytes.size() &&
                               offset <= plan->arena_bytes[pool] &&
                               asked.bytes[r] <= plan->arena_bytes[pool] - offset;
        SUBLET_EXPECTS(is_within, "sublet: a place is outside of the arena of its pool");
        bytes_of[r] = {.space = pool, .begin = offset, .end = offset + asked.bytes[r]};
    }

    std::vector<step_id> first_def(values, no_step); // by root: its position
    std::vector<std::uint32_t> versions(values, 0);
    for (value_id v = 0; v != values; ++v) versions[v] = is_given(asked.role[v]);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.kind != touch_kind::def) continue;
            step_id& first = first_def[asked.root[t.value]];
            first = smaller(first, position[s]);
            ++versions[t.value];
        }

    std::vector<unsigned char> is_name_only(values);
    std::vector<step_id> read_by(values, no_step); // by root
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) { // reads come first
            value_id const r = asked.root[t.value];
            if (t.kind != touch_kind::def) {
                read_by[r] = s;
                continue;
            }
            bool const is_there = is_given(asked.class_role[r]) || first_def[r] < position[s];
            is_name_only[t.value] = t.value != r && is_there && versions[t.value] == 1 && read_by[r] == s;
        }

    std::vector<byte_access> list;
    auto touches = [&](value_id v, step_id at, bool defines) {
        byte_access access = bytes_of[asked.root[v]];
        access.at = at;
        access.value = v;
        access.writes = defines && !is_name_only[v];
        list.push_back(access);
        if (is_name_only[v]) list.push_back({at, pools + v, 0, 1, v, defines});
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touches(t.value, position[s], t.kind == touch_kind::def);
    for (edge_use u : p.edge_uses()) touches(u.value, position[p.steps_of(u.pred).last - 1], false);
    return list;
}

SUBLET_DECL std::optional<race> check_waits(snapshot const& p, plan_options const& options,
                                            memory_plan const* plan, std::vector<step_id> const& step_at,
                                            csr_rows const& after, std::vector<handoff> const& handoffs)
{
    auto const pools = static_cast<std::uint32_t>(plan == nullptr ? 0 : plan->arena_bytes.size());
    std::vector<byte_access> const accesses = accesses_of(p, options, plan, pools, step_at);
    std::vector<step_id> const position = detail::places_in(step_at, p.steps());
    SUBLET_EXPECTS(after.rows() == p.steps(), "sublet: waits are not those of as many steps");
    step_order order;
    order.after = after;
    csr_rows alone;
    for (step_id at = 0; at != p.steps(); ++at) {
        for (step_id next : after[at])
            SUBLET_EXPECTS(at < next && next < p.steps(), "sublet: a wait leads back in the reference order");
        order.step_at.push_back(at);
        alone.append(at);
        alone.close_row();
    }
    order.position = order.step_at; // here positions are steps

    std::vector<race> asked;
    order_questions questions(order, alone);
    auto ask = [&](step_id earlier, step_id later, race const& found) {
        questions.ask(earlier, later, asked.size());
        asked.push_back(found);
        if (found.space < pools) return;
        asked.back().space = no_space;
        asked.back().begin = asked.back().end = 0;
    };
    race_questions(accesses, ask);
    std::optional<race> backwards;
    auto demand = [&](step_id from, step_id to) {
        race const found{.first = position[from], .second = position[to]};
        if (found.first < found.second) ask(found.first, found.second, found);
        else if (!backwards) backwards = found;
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const mine = p.steps_of(n);
        for (step_id s = mine.first + 1; s != mine.last; ++s) demand(s - 1, s);
        for (node_id next : p.successors(n)) demand(mine.last - 1, p.steps_of(next).first);
    }
    auto demand_all = [&](std::vector<handoff> const& list) {
        for (handoff h : list) {
            SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(), "sublet: a hand-off names no step");
            demand(h.from, h.to);
        }
    };
    if (plan != nullptr && plan->valid_for == program_reading::concurrent) demand_all(plan->handoffs);
    demand_all(handoffs);

    std::uint64_t const answer = questions.first_no();
    if (answer != questions.none) return asked[answer];
    return backwards;
}

} // namespace sublet

#endif
