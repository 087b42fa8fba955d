// SPDX-License-Identifier: BSL-1.0

/// Lists the accesses of all steps by position, asks the scan for the pairs that conflict, and one query
/// of reachability for each of them and for each required order; all queries are answered together.

#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/check_waits.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

SUBLET_DECL table<step_id, position_id> positions_of(table<position_id, step_id> const& step_at,
                                                     std::size_t steps)
{
    if (step_at.size() != steps) broken_order(step_at, steps, "step");
    table<step_id, position_id> position(steps, no_position);
    for (position_id at = 0; at != steps; ++at) {
        if (step_at[at] >= steps || position[step_at[at]] != no_position)
            broken_order(step_at, steps, "step");
        position[step_at[at]] = at;
    }
    return position;
}

SUBLET_DECL counterexample unordered(race const& r)
{
    return {fault::unordered, counterexample::waiting{.position = r.second,
                                                      .earlier = r.first,
                                                      .value = r.first_value,
                                                      .other = r.second_value,
                                                      .pool = r.space,
                                                      .begin = r.begin,
                                                      .end = r.end}};
}

SUBLET_DECL std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                 memory_plan const* plan, std::uint32_t pools,
                                                 table<position_id, step_id> const& step_at)
{
    plan_requirements const required = derive_requirements(p, options);
    table<step_id, position_id> const position = positions_of(step_at, p.steps());
    SUBLET_EXPECTS(plan == nullptr || is_complete(*plan, p.values()),
                   "sublet: a plan does not have one entry for each value");
    auto const values = static_cast<std::uint32_t>(p.values());
    table<value_id, byte_access> bytes_of(values); // by root
    for (value_id r = 0; r != values; ++r) {
        if (required.root[r] != r) continue;
        bytes_of[r] = {.space = pools + r, .end = larger(required.bytes[r], byte_count{1})};
        if (plan == nullptr || !required.is_planned(r)) continue;
        SUBLET_EXPECTS(plan->buffer_of[r] != no_buffer, "sublet: value % needs storage and has none", r);
        auto const [pool, offset] = place_of(*plan, r);
        bool const is_within = pool < pools && pool < plan->arena_bytes.size() &&
                               offset <= plan->arena_bytes[pool] &&
                               required.bytes[r] <= plan->arena_bytes[pool] - offset;
        SUBLET_EXPECTS(is_within, "sublet: value % is placed at offset % of pool %, outside of the arena", r,
                       offset, pool);
        bytes_of[r] = {.space = pool, .begin = offset, .end = offset + required.bytes[r]};
    }

    table<value_id, unsigned char> is_made(values); // a view that a step makes
    table<value_id, unsigned char> is_viewed(
        values); // a root that a step makes a view of, and writes nothing
    table<value_id, position_id> first_def(values, no_position); // the first position that makes a root
    for (position_id at = 0; at != p.steps(); ++at)
        for (touch t : p.touches(step_at[at])) {
            value_id const r = required.root[t.value];
            is_made[t.value] |= t.makes_view();
            is_viewed[r] |= t.views_what_is_there();
            if (t.value == r && t.defines()) first_def[r] = smaller(first_def[r], at);
        }

    std::vector<byte_access> list;
    auto touches = [&](value_id v, position_id at, touch::access kind) {
        touch const one{v, kind};
        value_id const r = required.root[v];
        bool const makes_root = v == r && first_def[r] == at && one.defines();
        bool const needs_root = one.views_what_is_there() && first_def[r] != no_position;
        if (is_viewed[r] && !is_given(required.role[r]) && (makes_root || needs_root))
            list.push_back({at, pools + values + r, 0, 1, v, makes_root});          // that the root is there
        if (is_made[v]) list.push_back({at, pools + v, 0, 1, v, one.makes_view()}); // its name
        if (kind == touch::access::view) return;
        byte_access access = bytes_of[r];
        access.at = at;
        access.value = v;
        access.writes = one.writes();
        if (v != r && required.bytes[v] != no_size && required.bytes[r] != 0) {
            access.begin += required.offset_in_root[v];
            access.end = smaller(access.end, access.begin + required.bytes[v]);
        }
        if (access.begin < access.end) list.push_back(access);
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touches(t.value, position[s], t.kind);
    for (edge_use u : p.edge_uses())
        touches(u.value, position[p.steps_of(u.pred).last - 1], touch::access::use);
    return list;
}

SUBLET_DECL verdict check_waits(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                table<position_id, step_id> const& step_at,
                                csr_rows<position_id, position_id> const& after,
                                std::vector<handoff> const& handoffs)
{
    expect_steps_run_once(p);
    auto const pools = static_cast<std::uint32_t>(plan == nullptr ? 0 : plan->arena_bytes.size());
    std::vector<byte_access> const accesses = accesses_of(p, options, plan, pools, step_at);
    table<step_id, position_id> const position = positions_of(step_at, p.steps());
    SUBLET_EXPECTS(after.rows() == p.steps(), "sublet: the waits have % rows for % steps", after.rows(),
                   p.steps());
    step_order order; // its points are the positions of the reference order
    order.after.reserve(after.rows(), after.items());
    for (position_id at = 0; at != p.steps(); ++at) {
        for (position_id next : after[at]) {
            SUBLET_EXPECTS(at < next && next < p.steps(),
                           "sublet: step % waits for step %, which is not before it in the reference order",
                           next, at);
            order.after.append(next);
        }
        order.after.close_row();
        order.step_at.push_back(at);
        order.position.push_back(at);
    }

    std::vector<race> races;
    reachability_queries queries(order);
    auto add_query = [&](std::uint32_t earlier, std::uint32_t later, race const& found) {
        queries.add(earlier, later, races.size());
        races.push_back(found);
        if (found.space < pools) return;
        races.back().space = no_space;
        races.back().begin = races.back().end = 0;
    };
    for_conflicting_pairs(accesses, add_query);
    std::optional<race> reversed;
    auto require_order = [&](step_id from, step_id to) {
        race const found{.first = position[from], .second = position[to]};
        if (found.first < found.second) add_query(found.first, found.second, found);
        else if (!reversed) reversed = found;
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const current = p.steps_of(n);
        for (step_id s = current.first + 1; s != current.last; ++s) require_order(s - 1, s);
        for (node_id next : p.successors(n)) require_order(current.last - 1, p.steps_of(next).first);
    }
    auto require_handoffs = [&](std::vector<handoff> const& list) {
        for (handoff h : list) {
            SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(),
                           "sublet: a hand-off leads from step % to step %, but there are only % steps",
                           h.from, h.to, p.steps());
            require_order(h.from, h.to);
        }
    };
    if (plan != nullptr && plan->valid_for == program_reading::concurrent) require_handoffs(plan->handoffs);
    require_handoffs(handoffs);

    std::uint64_t const answer = queries.first_failed();
    if (answer != queries.none) return unordered(races[to_size(answer)]);
    if (reversed) return unordered(*reversed);
    return {};
}

} // namespace sublet::detail
