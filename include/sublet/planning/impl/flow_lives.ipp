// SPDX-License-Identifier: BSL-1.0

/// Each walks the touches once. A range of a buffer that may be unwritten is cut into the parts between
/// writes in which no other buffer lives alone, so that a placement sees fewer gaps.

#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/flow_lives.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL live_ranges hulls(snapshot const& p, live_range_lists const& lives)
{
    live_ranges hulls;
    hulls.positions = lives.positions();
    for (value_id v = 0; v != p.values(); ++v) hulls.of.push_back(lives.hull(v));
    return hulls;
}

SUBLET_COLD_DECL snapshot with_view_uses(snapshot const& p, plan_options const& options)
{
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    buffer_classes const classes = classes_of(alias_of);
    table<value_id, unsigned char> exists;
    for (value_role flags : role) exists.push_back(is_given(flags));
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) exists[t.value] = 1;
    return with_effects(p, p.values(), [&](node_id n, effect_sink& sink) {
        step_range const steps = p.steps_of(n);
        std::vector<value_id> made; // by the step
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            made.clear();
            for (touch t : p.touches(s)) {
                sink.add(t.kind, t.value);
                if (t.defines()) made.push_back(t.value);
            }
            sort_ascending(made);
            for (touch t : p.touches(s)) {
                value_id const root = classes.root[classes.buffer_of[t.value]];
                bool const needs_root =
                    t.views_what_is_there() || (t.kind == touch::access::write_view && exists[root]);
                if (needs_root && !std::binary_search(made.begin(), made.end(), root)) sink.use(root);
            }
            for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            copy_step_facts(p, s, sink);
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    });
}

SUBLET_DECL bool keep_pieces(snapshot const& p, plan_options const& options, plan_options& kept)
{
    if (!p.has_views() || !p.has_writes()) return false;
    table<value_id, value_role> role = options.role.tabulate(p.values(), "role");
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, byte_count> const bytes = options.bytes.tabulate(p.values(), "bytes");
    buffer_classes const classes = classes_of(alias_of);
    table<value_id, byte_count> const begin =
        offsets_in_roots(alias_of, options.view_offset.tabulate(p.values(), "view_offset"));
    auto root = [&classes](value_id v) { return classes.root[classes.buffer_of[v]]; };
    table<value_id, unsigned char> is_made(p.values()), is_piece(p.values());
    for (touch t : p.touches({0, step_id::of(p.steps())})) {
        if (t.makes()) is_made[t.value] = 1;
        if (t.kind == touch::access::write_view) is_piece[t.value] = 1;
    }
    table<value_id, value_role> of_class(p.values(), value_role::intermediate); // of a root
    std::vector<sort_key> pieces;                                               // {root, first byte, value}
    for (value_id v = 0; v != p.values(); ++v) {
        of_class[root(v)] = of_class[root(v)] | role[v];
        if (is_piece[v] && !is_made[root(v)]) pieces.push_back({root(v), begin[v], v});
    }
    sort_by_key(pieces);
    bool any = false;
    byte_count end = 0; // of the pieces so far of this storage
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        auto const r = value_id::of(pieces[i].key);
        byte_count const first = pieces[i].tie, size = bytes[value_id{pieces[i].id}];
        bool const is_further = i != 0 && pieces[i - 1].key == r;
        bool const is_output = has_role(of_class[r], value_role::output);
        if (is_further && !is_given(of_class[r]) && (is_output || first < end)) {
            role[r] =
                role[r] | value_role::input | (is_output ? value_role::output : value_role::intermediate);
            any = true;
        }
        byte_count const last = size != no_size && sum_fits(first, size) ? first + size : no_size;
        end = is_further ? larger(end, last) : last;
    }
    if (!any) return false;
    kept = options;
    kept.role = std::move(role);
    return true;
}

SUBLET_DECL void drop_unwritten(snapshot const& p, buffer_table& table)
{
    sublet::table<buffer_id, unsigned char> is_written(table.buffers.size(), 0);
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) is_written[table.buffer_of[t.value]] = 1;
    for (buffer_id b = 0; b != table.buffers.size(); ++b)
        if (!is_written[b] && !has_role(table.buffers[b].role, value_role::input)) table.buffers[b].life = {};
}

SUBLET_DECL table<step_id, position_id> augmented_positions(snapshot const& p,
                                                            std::vector<node_id> const& order)
{
    table<position_id, step_id> const steps = steps_in_order(p, order);
    table<step_id, position_id> position(steps.size(), 0);
    for (position_id at = 0; at != steps.size(); ++at) position[steps[at]] = at + 1;
    return position;
}

SUBLET_DECL std::optional<counterexample> read_of_undefined(snapshot const& p,
                                                            live_range_lists const& augmented,
                                                            table<value_id, value_role> const& role,
                                                            table<step_id, position_id> const& position,
                                                            flow_options const& flow)
{
    auto const read = undefined_read(p, augmented, role, flow.allows_undefined);
    if (!read) return std::nullopt;
    auto const at =
        read->step() == no_step ? position_id::of(p.steps()) : position_id{position[read->step()] - 1};
    return counterexample{
        fault::used_undefined,
        counterexample::access{.value = read->value(), .other = read->other(), .position = at}};
}

SUBLET_DECL table<value_id, unsigned char> read_unwritten(live_range_lists const& augmented,
                                                          table<value_id, value_role> const& role)
{
    table<value_id, unsigned char> is_unwritten(role.size(), 0);
    bool is_any = false;
    for (value_id v = 0; v != role.size(); ++v) {
        is_unwritten[v] = !is_given(role[v]) && !augmented[v].empty() && augmented[v].front().first == 0;
        is_any = is_any || is_unwritten[v] != 0;
    }
    if (!is_any) is_unwritten.clear();
    return is_unwritten;
}

SUBLET_DECL buffer_range_lists set_live_ranges(snapshot const& p, table<step_id, position_id> const& position,
                                               live_range_lists const& of_values,
                                               table<value_id, unsigned char> const& is_unwritten,
                                               memory_plan& plan, placement_problem& problem)
{
    unsorted_ranges all;
    for (value_id v = 0; v != plan.buffer_of.size(); ++v)
        if (plan.buffer_of[v] != no_buffer)
            for (live_range r : of_values[v]) all.add(plan.buffer_of[v], r);
    buffer_range_lists lives(all.lists(plan.buffers.size(), of_values.method(), of_values.positions()));
    buffer_range_lists counted = lives;
    if (!is_unwritten.empty()) {
        table<buffer_id, unsigned char> is_everywhere(plan.buffers.size(), 1);
        for (value_id v = 0; v != plan.buffer_of.size(); ++v)
            if (plan.buffer_of[v] != no_buffer && is_unwritten[v]) is_everywhere[plan.buffer_of[v]] = 0;
        position_id const entry = p.nodes() == 0 ? 0 : position[p.steps_of(0).first] - 1;
        table<position_id, std::uint32_t> writes_before(std::size_t{lives.positions()} + 1, 0);
        std::vector<position_id> writes; // ascending
        writes_before[entry + 1] = 1;    // of what is given
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s))
                if (t.defines() || t.writes()) writes_before[position[s]] = 1;
        for (position_id at = 0; at != lives.positions(); ++at) {
            if (writes_before[at + 1] != 0) writes.push_back(at);
            writes_before[at + 1] = static_cast<std::uint32_t>(writes.size());
        }
        // Between two writes a buffer need not have a gap, unless another one lives only there.
        std::vector<unsigned char> is_lived_in(writes.size() + 1, 0);
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            for (live_range r : lives[b])
                if (is_everywhere[b] && writes_before[r.first] == writes_before[r.last])
                    is_lived_in[writes_before[r.first]] = 1;
        auto const places = static_cast<std::uint32_t>(writes.size() + 1);
        std::vector<std::uint32_t> next_lived_in(places + std::size_t{1}, places);
        for (std::uint32_t i = places; i-- != 0;)
            next_lived_in[i] = is_lived_in[i] ? i : next_lived_in[i + 1];
        unsorted_ranges kept;
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            for (live_range r : lives[b]) {
                std::uint32_t first = writes_before[r.first], last = writes_before[r.last]; // of `writes`
                if (is_everywhere[b]) kept.add(b, r);
                while (!is_everywhere[b] && first != last) { // up to write `next` - 1
                    std::uint32_t const next = smaller(next_lived_in[first + 1], last);
                    kept.add(b, {writes[first], writes[next - 1] + 1});
                    first = next;
                }
            }
        counted = buffer_range_lists(kept.lists(plan.buffers.size(), lives.method(), lives.positions()));
    }
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        plan.buffers[b].life = lives.hull(b);
        problem.buffers[b].life = counted.hull(b);
        for (std::size_t i = 1; i < counted[b].size(); ++i)
            problem.gaps.push_back({b, {counted[b][i - 1].last, counted[b][i].first}});
    }
    return lives;
}

} // namespace sublet::detail
