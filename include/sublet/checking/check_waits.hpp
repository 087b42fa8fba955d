// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_WAITS_HPP
#define SUBLET_CHECKING_CHECK_WAITS_HPP

/// The opponent of everything that lets steps run at once: looks for two that touch the same bytes and need
/// not come in the order in which a plan is right.
///
///     reference order   0: w a      1: r a      2: w b over a      3: r b
///     waits             0 ──► 1, 2 ──► 3                           2 need not wait for 1: that is the race
///
/// A plan that is sound for the steps one after the other, in the reference order, is run at once: each step
/// begins when those it waits for are done. Say that two accesses clash if they touch the same byte and one
/// of them writes. If every two that clash are of the same step, or the later one waits for the earlier, then
/// each execution leaves what the reference order leaves. For put the steps of any execution into a row that
/// keeps the waits, and take the first in the reference order that does not stand where it stands there. It
/// and its left neighbour are in the wrong order, so do not clash, and may change places: no access finds
/// another byte than before. Exchange by exchange the row becomes the reference order. And steps that do run
/// at the same time do not clash, so it makes no difference in which row they are put.
///
/// Shares nothing with execution/: bytes and accesses are derived from the program afresh.

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/race_questions.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

namespace detail {

/// By step, its place in an order of the steps.
inline std::vector<step_id> places_in(std::vector<step_id> const& step_at, std::size_t steps)
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

} // namespace detail

/// Who touches which bytes at which position, if a step touches all the bytes of a value with its views. The
/// space of a planned value is its pool; there are `pools` of them, and behind these each class of values
/// that lies nowhere has a space of its own: the caller's storage, that of a value of unknown size, that of a
/// class before there is a plan. A class of 0 bytes has one there: its readers wait for its writer.
///
/// A result is not written if it is a view of what is there and the step reads: of a class that was given or
/// written before, by a name that was not, and is written once. Whoever reads it waits for that step still,
/// so such a name has a byte of its own.
///
/// Requires:   `step_at` names every step once; in a plan every value that needs one has a place within the
///             arena of its pool.
/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] inline std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
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

/// Look for two steps that have to come one after the other and need not, if a position begins when those
/// that it waits for are done. None: every execution leaves what the reference order leaves.
///
/// They have to if both touch the same bytes and one of them writes; and if the program says so by an edge,
/// by the row of steps of a node, or a hand-off does, of a concurrent plan or among `handoffs`.
///
/// Requires:   as accesses_of(); check_plan() passes the plan for the reference order, or
///             check_concurrent_plan() passes it. `after` has, by position, who waits for it: each higher.
/// Ensures:    of clashes the first by the later position, else the first order that was asked for. Of
///             clashes within an arena `space` is the pool; others lie in `no_space`.
/// Complexity: that of accesses_of(), of race_questions(), and of order_questions for what is asked.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] inline std::optional<race> check_waits(snapshot const& p, plan_options const& options,
                                                     memory_plan const* plan,
                                                     std::vector<step_id> const& step_at,
                                                     csr_rows const& after,
                                                     std::vector<handoff> const& handoffs = {})
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
