// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_STEP_WAITS_IPP
#define SUBLET_EXECUTION_IMPL_STEP_WAITS_IPP

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/detours.hpp>
#include <sublet/execution/listed_order.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

namespace sublet {

SUBLET_DECL std::size_t step_waits::count(wait_kind why) const
{
    std::size_t found = 0;
    for (step_wait const& wait : list) found += wait.why == why;
    return found;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL wait_finder::wait_finder(snapshot const& program, plan_options const& options,
                                     run_tape const& tape)
    : program_(program), tape_(tape), position_of_(tape.step_at.size()),
      viewed_at_(program.values(), no_step), users_(tape.table.buffers.size()),
      waited_by_(tape.step_at.size(), no_step)
{
    for (value_role role : options.role.tabulate(program.values())) versions_.push_back(is_given(role));
    for (step_id at = 0; at != tape.positions(); ++at) {
        position_of_[tape.step_at[at]] = at;
        for (touch t : program.touches(tape.step_at[at])) versions_[t.value] += t.kind == touch_kind::def;
    }
    for (edge_use u : program.edge_uses())
        leaving_.push_back({position_of_[program.steps_of(u.pred).last - 1], 0, u.value});
    sort_keyed(leaving_);
}

SUBLET_DECL void wait_finder::follow_touches(tenants* arenas)
{
    std::size_t left = 0; // of those needed where nodes end, so many have been seen
    for (step_id at = 0; at != tape_.positions(); ++at) {
        for (touch t : program_.touches(tape_.step_at[at])) { // reads come first
            if (t.kind != touch_kind::def) read(t.value, at);
            else if (is_mere_view(t.value, at)) viewed_at_[t.value] = at;
            else touched(t.value, at).written_at = at;
        }
        for (; left != leaving_.size() && leaving_[left].key == at; ++left) read(leaving_[left].who, at);
        for (buffer_id b : touched_) wait(b, at, arenas);
        for (buffer_id b : touched_) {
            users& its = users_[b];
            if (its.written_at == at) continue;
            while (!its.readers.empty() && waited_by_[its.readers.back()] == at) its.readers.pop_back();
            its.readers.push_back(at);
        }
        touched_.clear();
    }
}

SUBLET_DECL void wait_finder::follow_edges()
{
    for (node_id n = 0; n != program_.nodes(); ++n) {
        step_range const mine = program_.steps_of(n);
        for (step_id s = mine.first + 1; s != mine.last; ++s) add_steps(s - 1, s, wait_kind::control);
        for (node_id next : program_.successors(n))
            add_steps(mine.last - 1, program_.steps_of(next).first, wait_kind::control);
    }
}

SUBLET_DECL void wait_finder::follow(std::vector<handoff> const& handoffs)
{
    for (handoff h : handoffs) add_steps(h.from, h.to, wait_kind::handoff);
}

SUBLET_DECL step_waits wait_finder::thinned()
{
    sort_keyed(found_);
    auto const is_same_pair = [](keyed const& a, keyed const& b) { return a.key == b.key; };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same_pair), found_.end());
    auto rows_of = [&](auto const& list) {
        return csr_rows::gathered(tape_.step_at.size(), [&](auto add_pair) {
            for (auto const& wait : list) add_pair(as_wait(wait).to, as_wait(wait).from);
        });
    };
    auto const is_implied = has_detour(rows_of(found_), found_.size(), [&](std::uint32_t i) {
        return csr_graph::edge{as_wait(found_[i]).from, as_wait(found_[i]).to};
    });
    step_waits result;
    for (std::size_t i = 0; i != found_.size(); ++i)
        if (!is_implied[i]) result.list.push_back(as_wait(found_[i]));
    result.before = rows_of(result.list);
    result.after = result.before.transposed(tape_.step_at.size());
    return result;
}

SUBLET_DECL void wait_finder::add(step_id from, step_id to, wait_kind why)
{
    if (from == to || from == no_step) return;
    waited_by_[from] = to;
    found_.push_back({std::uint64_t{to} << 32 | from, static_cast<std::uint64_t>(why), 0});
}

SUBLET_DECL wait_finder::users& wait_finder::touched(value_id v, step_id at)
{
    buffer_id const b = tape_.table.buffer_of[v];
    if (users_[b].touched_at != at) touched_.push_back(b);
    users_[b].touched_at = at;
    return users_[b];
}

SUBLET_DECL void wait_finder::wait(buffer_id b, step_id at, tenants* arenas)
{
    users& its = users_[b];
    if (its.written_at != at || its.read_at == at) add(its.writer, at, wait_kind::data);
    if (its.written_at != at) return;
    for (step_id reader : its.readers) add(reader, at, wait_kind::anti);
    if (its.readers.empty()) add(its.writer, at, wait_kind::output);
    its.writer = at;
    its.readers.clear();
    if (arenas == nullptr || tape_.first_write[b] != at) return;
    arenas->move_in(b, [&](buffer_id before) {
        for (step_id reader : users_[before].readers) add(reader, at, wait_kind::handoff);
        if (users_[before].readers.empty()) add(users_[before].writer, at, wait_kind::handoff);
    });
}

SUBLET_DECL std::vector<step_id> steps_at_once(snapshot const& p, plan_options const& options,
                                               std::vector<handoff> handoffs)
{
    auto graph = [&] {
        return dependences(p,
                           {.role = options.role, .handoffs = handoffs, .order = position_order::as_listed});
    };
    auto steps_of = [](dependence_graph const& g) { // not where they read early
        std::vector<step_id> steps;
        for (std::size_t at = 0; at != g.step_at.size(); ++at)
            if (step_id const its = g.step_at[at]; g.position_of[its] == at) steps.push_back(its);
        return steps;
    };
    dependence_graph g = graph();
    if (g.violation) {
        bool const is_cycle = g.violation->what == dependence_fault::cycle;
        bool const is_second = g.violation->what == dependence_fault::several_defs;
        throw unsound_plan({.what = is_cycle    ? fault::cycle
                                    : is_second ? fault::several_defs
                                                : fault::used_undefined,
                            .value = g.violation->value,
                            .position = g.violation->steps.empty() ? no_step : g.violation->steps.back()});
    }
    listed_order const listed(p, options);
    auto const moved = listed.moved_write(steps_of(g));
    if (!moved) return steps_of(g);
    for (handoff h : listed.handoffs()) handoffs.push_back(h);
    g = graph();
    if (g.violation) throw unsound_plan(*moved);
    return steps_of(g);
}

} // namespace sublet::detail

#endif
