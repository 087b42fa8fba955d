// SPDX-License-Identifier: BSL-1.0

/// What is written on every path is a set for each node, found forwards; a read of a value outside of the set
/// is one that some path has not written.

#include <sublet/checking/detail/available_values.hpp>
#include <sublet/checking/detail/unwritten_reads.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL node_ends ends_of_nodes(snapshot const& p, detail::plan_requirements const& required)
{
    node_ends ends;
    std::vector<node_id> open;
    ends.is_endless.assign(p.nodes(), 1);
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) {
            ends.is_endless[n] = 0;
            open.push_back(n);
        }
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n))
            if (std::exchange(ends.is_endless[before], 0)) open.push_back(before);
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(required.role[v], value_role::output)) ends.outputs.push_back(v);
    ends.read_by_edges = csr_rows<node_id, value_id>::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    return ends;
}

SUBLET_DECL bool needs_root(touch t, plan_requirements const& required)
{
    if (t.kind != touch::access::write_view) return t.views_what_is_there();
    value_id const r = required.root[t.value];
    return is_given(required.role[r]) || required.first_def[r] != plan_requirements::never;
}

SUBLET_DECL std::optional<counterexample> find_unwritten_read(snapshot const& p,
                                                              detail::plan_requirements const& required,
                                                              node_ends const& ends, bool allows_undefined)
{
    std::optional<counterexample> first;
    auto found = [&](value_id v, position_id position) {
        if (first && (first->position() < position || (first->position() == position && first->value() <= v)))
            return;
        bool const is_ever_written = required.first_def[v] != detail::plan_requirements::never;
        first =
            counterexample{fault::used_undefined,
                           counterexample::access{
                               .value = v, .other = is_ever_written ? v : no_value, .position = position}};
    };
    if (p.nodes() == 0) {
        for (value_id v : ends.outputs)
            if (!is_given(required.role[v])) found(v, 0);
        return first;
    }
    detail::shared_sets sets(p.values());
    auto const written =
        find_along_paths(detail::along::all_paths, p, sets, 0, [&](node_id n, detail::shared_sets::set now) {
            for (touch t : p.touches(p.steps_of(n)))
                if (t.defines()) now = sets.with(now, t.value);
            return now;
        });
    auto has_to_be_written = [&](value_id v) {
        bool const is_never_written = required.first_def[v] == detail::plan_requirements::never;
        return !is_given(required.role[v]) && (!allows_undefined || is_never_written);
    };
    table<value_id, node_id> written_in(p.values(), no_node);
    std::vector<detail::shared_sets::set> at_exits;
    for (node_id n = 0; n != p.nodes(); ++n) {
        if (!written.is_reached[n]) continue;
        auto read = [&](value_id v, position_id position) {
            if (written_in[v] != n && has_to_be_written(v) && !sets.has(written.entering[n], v))
                found(v, position);
        };
        step_range const node_steps = p.steps_of(n);
        for (step_id s = node_steps.first; s != node_steps.last; ++s) {
            for (touch t : p.touches(s))
                if (t.defines()) written_in[t.value] = n;
                else read(t.value, required.position[s]);
            for (touch t : p.touches(s)) // a view needs its root, which the step may make
                if (needs_root(t, required)) read(required.root[t.value], required.position[s]);
        }
        for (value_id v : ends.read_by_edges[n]) read(v, required.position[node_steps.last - 1]);
        if (p.successors(n).empty()) at_exits.push_back(written.leaving[n]);
    }
    if (at_exits.empty()) return first;
    detail::shared_sets::set const at_end = sets.common(at_exits);
    for (value_id v : ends.outputs)
        if (has_to_be_written(v) && !sets.has(at_end, v)) found(v, position_id::of(p.steps()));
    return first;
}

} // namespace sublet::detail
