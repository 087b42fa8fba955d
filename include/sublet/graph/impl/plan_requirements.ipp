// SPDX-License-Identifier: BSL-1.0

/// Roots by following each chain of views once and writing its end to all on it; offsets by doubling: each
/// round adds the offset of what the part so far ends at. Properties of a class and its live range are
/// gathered at the root.

#include <sublet/core/internal/vectors.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL table<step_id, position_id> positions_in(std::vector<node_id> const& order,
                                                     snapshot const& program)
{
    std::size_t const nodes = program.nodes();
    if (!order.empty() && order.size() != nodes) broken_order(order, nodes);
    table<step_id, position_id> position(program.steps(), plan_requirements::never);
    position_id next = 0;
    for (std::size_t i = 0; i != nodes; ++i) {
        node_id const n = order.empty() ? node_id::of(i) : order[i];
        if (n >= nodes) broken_order(order, nodes);
        step_range const steps = program.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (position[s] != plan_requirements::never) broken_order(order, nodes);
            position[s] = next++;
        }
    }
    return position;
}

SUBLET_DECL table<value_id, value_id> roots_of(table<value_id, value_id> const& alias_of)
{
    std::size_t const values = alias_of.size();
    table<value_id, value_id> root(values, no_value);
    for (value_id v = 0; v != values; ++v) {
        value_id end = v;
        for (std::size_t walked = 0; root[end] == no_value && alias_of[end] != no_value; ++walked) {
            SUBLET_EXPECTS(alias_of[end] < values,
                           "sublet: view % names value %, but there are only % values", end, alias_of[end],
                           values);
            SUBLET_EXPECTS(walked != values, "sublet: the views of value % form a cycle", v);
            end = alias_of[end];
        }
        value_id const top = root[end] == no_value ? end : root[end];
        for (value_id u = v; u != end; u = alias_of[u]) root[u] = top;
        root[end] = top;
    }
    return root;
}

SUBLET_COLD_DECL table<value_id, byte_count> offsets_along(table<value_id, value_id> alias_of,
                                                           table<value_id, byte_count> offset)
{
    std::size_t const values = alias_of.size();
    bool has_more = false;
    std::vector<value_id> open; // views with an offset that covers only a part of their chain
    for (value_id v = 0; v != values; ++v) {
        if (alias_of[v] == no_value) offset[v] = 0;
        else open.push_back(v);
        has_more = has_more || offset[v] != 0;
    }
    if (!has_more) return offset;
    struct part {
        value_id to;
        byte_count offset;
    };
    std::vector<part> next;
    while (!open.empty()) { // each round doubles the part
        next.clear();
        for (value_id v : open) {
            value_id const to = alias_of[v];
            byte_count const more = offset[to];
            next.push_back({alias_of[to], sum_fits(offset[v], more) ? offset[v] + more : no_offset - 1});
        }
        std::size_t still_open = 0;
        for (std::size_t i = 0; i != next.size(); ++i) {
            value_id const v = open[i];
            alias_of[v] = next[i].to;
            offset[v] = next[i].offset;
            if (next[i].to != no_value) open[still_open++] = v;
        }
        shorten(open, still_open);
    }
    return offset;
}

/// While the first step runs each input is live, also if steps before it are left out: one that the step
/// reads early, for the last time, too.
SUBLET_COLD_DECL void hold_inputs_without(snapshot const& program, std::vector<step_id> const& optional,
                                          plan_requirements& d)
{
    std::vector<unsigned char> may_leave(program.steps(), 0); // by position
    for (step_id s : optional)
        if (s < program.steps()) may_leave[d.position[s]] = 1;
    std::size_t first = 0; // that stays
    while (first != may_leave.size() && may_leave[first] != 0) ++first;
    std::vector<std::pair<value_id, position_id>> held;
    each_touch(program, d.position, [&](value_id v, position_id at, access_kind kind) {
        value_id const r = d.root[v];
        if (kind == access_kind::reads_early && at <= first && d.life[r].last == at &&
            has_role(d.class_role[r], value_role::input))
            held.push_back({r, at + 1});
    });
    for (auto [r, last] : held) d.life[r].last = last;
}

SUBLET_DECL plan_requirements derive_requirements(snapshot const& program, plan_options const& options)
{
    std::size_t const values = program.values();
    // A member that a checker does not read here does not compile; choices are read in places.ipp.
    auto const& [bytes, alignment, role, alias_of, view_offset, pool, pinned, eligible, kind, pools, choices,
                 carried, optional, apart, order, previous, previous_value, keep_within, in_place, check,
                 effort] = options;
    plan_requirements d;
    d.position = positions_in(order, program);
    if (alias_of.is_constant(no_value) && view_offset.is_constant()) { // each value is a root
        d.root.resize(values);
        for (value_id v = 0; v != values; ++v) d.root[v] = v;
        d.offset_in_root = {byte_count{0}, values, "view_offset"};
    } else {
        table<value_id, value_id> const view_of = alias_of.tabulate(values, "alias_of");
        d.root = roots_of(view_of);
        d.offset_in_root = offsets_along(view_of, view_offset.tabulate(values, "view_offset"));
    }
    d.role = {role, values, "role"};
    for (plan_options::carry const& c : carried) {
        SUBLET_EXPECTS(c.from < values && c.to < values,
                       "sublet: value % is carried into value %, but there are only % values", c.from, c.to,
                       values);
        d.role.set(c.from, d.role[c.from] | value_role::output);
        d.role.set(c.to, d.role[c.to] | value_role::input);
    }
    for (auto const& pair : apart)
        SUBLET_EXPECTS(pair.first < values && pair.second < values,
                       "sublet: values % and % are kept apart, but there are only % values", pair.first,
                       pair.second, values);
    d.class_role = d.role;
    d.alignment = {alignment, values, "alignment"};
    d.bytes = bytes.tabulate(values, "bytes");
    d.pinned = {pinned, values, "pinned"};
    d.pool = {pool, values, "pool"};
    d.eligible = {eligible, values, "eligible"};
    d.kind = {kind, values, "kind"};
    for (pool_limits const& p : pools)
        SUBLET_EXPECTS(p.alignment >= 1, "sublet: the alignment of a pool is 0, but has to be at least 1");
    for (value_id v = 0; v != values; ++v) {
        SUBLET_EXPECTS(d.alignment[v] >= 1, "sublet: the alignment of value % is 0, but has to be at least 1",
                       v);
        value_id const r = d.root[v];
        if (v != r) d.class_role.set(r, d.class_role[r] | d.role[v]);
        if (d.pinned[r] == no_offset && d.pinned[v] != no_offset && d.pinned[v] >= d.offset_in_root[v])
            d.pinned.set(r, d.pinned[v] - d.offset_in_root[v]);
    }

    d.first_def.assign(values, plan_requirements::never);
    d.life = table<value_id, live_range>(
        values, {plan_requirements::never, 0}); // empty until a definition or a role gives its begin
    each_touch(program, d.position, [&d](value_id v, position_id p, access_kind m) {
        live_range& life = d.life[d.root[v]];
        life.last = larger(life.last, m == access_kind::reads_early ? p : position_id{p + 1});
        if (m < access_kind::views || m == access_kind::reads_at_end) return;
        life.first = smaller(life.first, p);
        d.first_def[v] = smaller(d.first_def[v], p);
    });
    if (!optional.empty()) hold_inputs_without(program, optional, d);
    auto const end = position_id::of(larger(program.steps(), std::size_t{1}));
    for (value_id r = 0; r != values; ++r) {
        live_range& life = d.life[r];
        if (has_role(d.class_role[r], value_role::input)) life = {0, larger(life.last, position_id{1})};
        if (has_role(d.class_role[r], value_role::output)) life.last = end;
        if (is_empty(life)) life = {};
    }
    return d;
}

} // namespace sublet::detail
