// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/detail/transitive_reduction.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

// --- byte owners -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL byte_owners::byte_owners(std::vector<sort_key> borders, byte_count end)
    : borders_(std::move(borders))
{
    borders_.push_back({0, 0, 0});
    borders_.push_back({end, 0, 0});
    sort_by_key(borders_);
    auto const is_same = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    borders_.erase(std::unique(borders_.begin(), borders_.end(), is_same), borders_.end());
    owner_.assign(borders_.size(), no_buffer);
}

SUBLET_DECL void byte_owners::claim(byte_count begin, byte_count end, buffer_id id)
{
    for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i) owner_[i] = id;
}

SUBLET_DECL std::size_t byte_owners::segment_at(byte_count begin) const
{
    auto const at = std::lower_bound(borders_.begin(), borders_.end(), begin,
                                     [](sort_key const& border, byte_count b) { return border.key < b; });
    return static_cast<std::size_t>(at - borders_.begin());
}

// --- arena occupants -------------------------------------------------------------------------------------

SUBLET_DECL arena_occupants::arena_occupants(lowered_program const& lowered, memory_plan const& plan)
    : lowered_(lowered), plan_(plan)
{
    expect_placed(lowered, plan);
    std::vector<std::vector<sort_key>> borders(plan.arena_bytes.size());
    auto const buffers = static_cast<buffer_id>(lowered.table.buffers.size());
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!its(b).is_planned()) continue;
        borders[its(b).pool].push_back({begin(b), 0, b});
        borders[its(b).pool].push_back({end(b), 0, b});
    }
    for (std::size_t pool = 0; pool != borders.size(); ++pool)
        arenas_.emplace_back(std::move(borders[pool]), plan.arena_bytes[pool]);
    for (buffer_id b = 0; b != buffers; ++b)
        if (its(b).is_planned() && is_given(its(b).role)) arenas_[its(b).pool].claim(begin(b), end(b), b);
}

// --- program order ---------------------------------------------------------------------------------------

SUBLET_DECL program_order::program_order(snapshot const& program, plan_options const& options)
    : program_(program), options_(options), is_written_(program.values())
{
    std::vector<value_role> const role = options.role.tabulate(program.values());
    std::vector<value_id> const alias_of = options.alias_of.tabulate(program.values());
    buffer_classes classes = aliases(program.values(), [&](value_id v) { return alias_of[v]; });
    storage_of_ = std::move(classes.buffer_of);
    storages_ = classes.root.size();
    std::vector<unsigned char> writes(storages_); // number of writes, at most 2; given counts as one
    std::vector<step_id> read_at(storages_, no_step);
    for (value_id v = 0; v != program.values(); ++v)
        if (is_given(role[v])) writes[storage_of_[v]] = 1;
    for (step_id s = 0; s != program.steps(); ++s)
        for (touch t : program.touches(s)) { // reads come first
            buffer_id const b = storage_of_[t.value];
            if (t.kind != touch::access::def) read_at[b] = s;
            else if (classes.root[b] == t.value || read_at[b] != s) // otherwise a mere view
                is_written_[t.value] = 1, writes[b] += writes[b] < 2;
        }
    for (buffer_id& b : storage_of_)
        if (writes[b] < 2) b = no_buffer;
    bool const is_unordered =
        std::all_of(storage_of_.begin(), storage_of_.end(), [](buffer_id b) { return b == no_buffer; });
    has_order_ = !is_unordered && !first_backward_edge(program, options.order) &&
                 !lifetimes(program, {.role = options.role, .order = options.order}).violation;
}

SUBLET_DECL std::optional<witness> program_order::moved_write(std::vector<step_id> const& steps) const
{
    if (!has_order_) return std::nullopt;
    listed_touches const listed(program_, options_.order);
    std::vector<step_id> rank_of(steps.size()); // rank in the list, from 1
    for (step_id at = 0; at != steps.size(); ++at) rank_of[listed.steps[at]] = at + 1;
    struct users {
        step_id touched = 0, written = 0; // maximal ranks so far
        witness write;
    };
    std::vector<users> users_of(storages_);
    std::optional<witness> moved;
    for (step_id at = 0; at != steps.size() && !moved; ++at)
        listed.each(steps[at], [&](std::size_t, touch t) {
            buffer_id const b = storage_of_[t.value];
            if (b == no_buffer || moved) return;
            users& its = users_of[b];
            bool const writes = t.kind == touch::access::def && is_written_[t.value];
            step_id const rank = rank_of[steps[at]];
            if (writes) {
                its.write = {.what = fault::write_moved, .value = t.value, .position = at};
                its.written = rank;
            }
            if (rank < (writes ? its.touched : its.written)) moved = its.write;
            its.touched = std::max(its.touched, rank);
        });
    return moved;
}

SUBLET_DECL std::vector<handoff> program_order::handoffs() const
{
    return storage_order(program_, storages_, storage_of_, is_written_, options_.order);
}

} // namespace sublet::detail

// --- step waits ------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL std::size_t step_waits::count(step_waits::kind why) const
{
    std::size_t found = 0;
    for (step_waits::wait const& one : list) found += one.why == why;
    return found;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL wait_finder::wait_finder(snapshot const& program, plan_options const& options,
                                     lowered_program const& lowered)
    : program_(program), lowered_(lowered), position_of_(lowered.step_at.size()),
      viewed_at_(program.values(), no_step), users_(lowered.table.buffers.size()),
      last_waiter_(lowered.step_at.size(), no_step)
{
    for (value_role role : options.role.tabulate(program.values())) versions_.push_back(is_given(role));
    for (step_id at = 0; at != lowered.positions(); ++at) {
        position_of_[lowered.step_at[at]] = at;
        for (touch t : program.touches(lowered.step_at[at]))
            versions_[t.value] += t.kind == touch::access::def;
    }
    for (edge_use u : program.edge_uses())
        end_uses_.push_back({position_of_[program.steps_of(u.pred).last - 1], 0, u.value});
    sort_by_key(end_uses_);
}

SUBLET_DECL void wait_finder::follow_touches(arena_occupants* arenas)
{
    std::size_t next_end_use = 0; // index of the next entry of end_uses_
    for (step_id at = 0; at != lowered_.positions(); ++at) {
        for (touch t : program_.touches(lowered_.step_at[at])) { // reads come first
            if (t.kind != touch::access::def) read(t.value, at);
            else if (is_mere_view(t.value, at)) viewed_at_[t.value] = at;
            else touched(t.value, at).written_at = at;
        }
        for (; next_end_use != end_uses_.size() && end_uses_[next_end_use].key == at; ++next_end_use)
            read(end_uses_[next_end_use].id, at);
        for (buffer_id b : touched_) wait(b, at, arenas);
        for (buffer_id b : touched_) {
            users& its = users_[b];
            if (its.written_at == at) continue;
            while (!its.readers.empty() && last_waiter_[its.readers.back()] == at) its.readers.pop_back();
            its.readers.push_back(at);
        }
        touched_.clear();
    }
}

SUBLET_DECL void wait_finder::follow_edges()
{
    for (node_id n = 0; n != program_.nodes(); ++n) {
        step_range const range = program_.steps_of(n);
        for (step_id s = range.first + 1; s != range.last; ++s)
            add_steps(s - 1, s, step_waits::kind::control);
        for (node_id next : program_.successors(n))
            add_steps(range.last - 1, program_.steps_of(next).first, step_waits::kind::control);
    }
}

SUBLET_DECL void wait_finder::follow(std::vector<handoff> const& handoffs)
{
    for (handoff h : handoffs) add_steps(h.from, h.to, step_waits::kind::handoff);
}

SUBLET_DECL step_waits wait_finder::reduced()
{
    sort_by_key(found_);
    auto const is_same_pair = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same_pair), found_.end());
    auto rows_of = [&](auto const& list) {
        return csr_rows::gathered(lowered_.step_at.size(), [&](auto add_pair) {
            for (auto const& wait : list) add_pair(as_wait(wait).to, as_wait(wait).from);
        });
    };
    auto const is_implied = has_indirect_path(rows_of(found_), found_.size(), [&](std::uint32_t i) {
        return csr_graph::edge{as_wait(found_[i]).from, as_wait(found_[i]).to};
    });
    step_waits result;
    for (std::size_t i = 0; i != found_.size(); ++i)
        if (!is_implied[i]) result.list.push_back(as_wait(found_[i]));
    result.before = rows_of(result.list);
    result.after = result.before.transposed(lowered_.step_at.size());
    return result;
}

SUBLET_DECL void wait_finder::add(step_id from, step_id to, step_waits::kind why)
{
    if (from == to || from == no_step) return;
    last_waiter_[from] = to;
    found_.push_back({std::uint64_t{to} << 32 | from, static_cast<std::uint64_t>(why), 0});
}

SUBLET_DECL wait_finder::users& wait_finder::touched(value_id v, step_id at)
{
    buffer_id const b = lowered_.table.buffer_of[v];
    if (users_[b].touched_at != at) touched_.push_back(b);
    users_[b].touched_at = at;
    return users_[b];
}

SUBLET_DECL void wait_finder::wait(buffer_id b, step_id at, arena_occupants* arenas)
{
    users& its = users_[b];
    if (its.written_at != at || its.read_at == at) add(its.writer, at, step_waits::kind::data);
    if (its.written_at != at) return;
    for (step_id reader : its.readers) add(reader, at, step_waits::kind::anti);
    if (its.readers.empty()) add(its.writer, at, step_waits::kind::output);
    its.writer = at;
    its.readers.clear();
    if (arenas == nullptr || lowered_.first_write[b] != at) return;
    arenas->occupy(b, [&](buffer_id before) {
        for (step_id reader : users_[before].readers) add(reader, at, step_waits::kind::handoff);
        if (users_[before].readers.empty()) add(users_[before].writer, at, step_waits::kind::handoff);
    });
}

SUBLET_DECL std::vector<step_id> concurrent_step_order(snapshot const& p, plan_options const& options,
                                                       std::vector<handoff> handoffs)
{
    auto graph = [&] {
        return dependences(p, {.role = options.role,
                               .handoffs = handoffs,
                               .order = dependence_options::position_order::as_listed});
    };
    auto steps_of = [](dependence_graph const& g) { // skip the early reads of a step
        std::vector<step_id> steps;
        for (std::size_t at = 0; at != g.step_at.size(); ++at)
            if (step_id const its = g.step_at[at]; g.position_of[its] == at) steps.push_back(its);
        return steps;
    };
    dependence_graph g = graph();
    if (g.violation) {
        bool const is_cycle = g.violation->what == dependence_violation::kind::cycle;
        bool const is_second = g.violation->what == dependence_violation::kind::several_defs;
        throw unsound_plan({.what = is_cycle    ? fault::cycle
                                    : is_second ? fault::several_defs
                                                : fault::used_undefined,
                            .value = g.violation->value,
                            .position = g.violation->steps.empty() ? no_step : g.violation->steps.back()});
    }
    program_order const listed(p, options);
    auto const moved = listed.moved_write(steps_of(g));
    if (!moved) return steps_of(g);
    for (handoff h : listed.handoffs()) handoffs.push_back(h);
    g = graph();
    if (g.violation) throw unsound_plan(*moved);
    return steps_of(g);
}

} // namespace sublet::detail
