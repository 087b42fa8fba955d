// SPDX-License-Identifier: BSL-1.0

/// Walks the touches in listed order with the current version of each value: a def of a value that is split
/// begins the next one, and each touch is named by the version that is current there. The program is then
/// copied with these names.

#include <sublet/analysis/detail/renamed_program.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

/// Of each value: whether a step writes it although it is given or written by another step.
SUBLET_DECL table<value_id, unsigned char> values_to_split(snapshot const& p,
                                                           table<value_id, value_role> const& role)
{
    table<value_id, unsigned char> is_split(p.values());
    table<value_id, step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines() || def_of[t.value] == s) continue;
            if (def_of[t.value] != no_step || is_given(role[t.value])) is_split[t.value] = 1;
            def_of[t.value] = s;
        }
    return is_split;
}

/// An edge that leads to a node that is not later in the list.
SUBLET_DECL std::optional<counterexample> edge_against_order(listed_touches const& listed)
{
    snapshot const& p = listed.p;
    table<step_id, position_id> position(p.steps());
    for (position_id at = 0; at != p.steps(); ++at) position[listed.steps[at]] = at;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id to : p.successors(n)) {
            step_id const from = p.steps_of(n).last - 1, next = p.steps_of(to).first;
            if (position[from] >= position[next])
                return counterexample{fault::leads_back, counterexample::waiting{.step = from}};
        }
    return std::nullopt;
}

/// By index of a touch, the version that it touches. Adds versions, and a use before a def, to `result`.
SUBLET_DECL std::vector<value_id> name_versions(listed_touches const& listed, versioned_program& result,
                                                table<value_id, unsigned char> const& is_split,
                                                table<value_id, unsigned char> const& is_kept)
{
    table<value_id, value_id> const alias_of = result.alias_of;
    table<value_id, value_id>& current = result.last;
    table<value_id, unsigned char> is_available(current.size());
    for (value_id v = 0; v != current.size(); ++v) is_available[v] = !is_split[v] || is_given(result.role[v]);
    table<value_id, step_id> def_at(current.size(), no_step), touched_at(current.size(), no_step); // last
    std::vector<value_id> name(listed.step_touch_count() + listed.p.edge_uses().size());
    for (step_id s : listed.steps) {
        listed.each(s, [&](std::size_t touch_index, touch t) {
            value_id const v = t.value;
            if (t.defines() && def_at[v] != s) {
                def_at[v] = s;
                if (!is_available[v]) {
                    if (touched_at[v] != no_step)
                        result.refute(counterexample{
                            fault::used_undefined,
                            counterexample::access{.value = v, .other = v, .step = touched_at[v]}});
                    is_available[v] = 1;
                } else if (is_split[v]) {
                    SUBLET_EXPECTS(result.value_of.size() + 1 < no_value, "sublet: more versions than ids");
                    result.number.push_back(result.number[current[v]] + 1);
                    result.role.push_back(value_role::intermediate);
                    result.alias_of.push_back(is_kept[v] ? v : no_value);
                    current[v] = value_id::of(result.value_of.size());
                    result.value_of.push_back(v);
                }
            }
            touched_at[v] = s;
            name[touch_index] = current[v];
        });
        for (touch t : listed.p.touches(s)) { // a view refers to the version available when its step ends
            value_id const of = alias_of[t.value];
            if (!t.defines() || of == no_value) continue;
            value_id& made = result.alias_of[current[t.value]];
            if (made != t.value) made = current[of];
        }
    }
    for (value_id v = 0; v != current.size(); ++v)
        if (current[v] != v && has_role(result.role[v], value_role::output)) {
            result.role[v] = static_cast<value_role>(static_cast<unsigned>(result.role[v]) &
                                                     ~static_cast<unsigned>(value_role::output));
            result.role[current[v]] = value_role::output;
        }
    return name;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL versioned_program detail::versions_of(snapshot const& p, version_options const& options)
{
    expect_steps_run_once(p);
    std::size_t const values = p.values();
    versioned_program result;
    result.role = options.role.tabulate(values, "role");
    result.alias_of = options.alias_of.tabulate(values, "alias_of");
    result.number.assign(values, 0);
    for (value_id v = 0; v != values; ++v) result.value_of.push_back(v);
    result.last = result.value_of;
    table<value_id, unsigned char> const is_split = detail::values_to_split(p, result.role);
    bool splits = false;
    for (unsigned char is : is_split) splits |= is != 0;
    if (!splits) {
        result.program = p;
        return result;
    }
    detail::listed_touches const listed(p, options.order);
    if (!result.refute(detail::edge_against_order(listed))) return result;
    auto const same_storage = options.same_storage.tabulate(values, "same_storage");
    table<buffer_id, unsigned char> keeps(values);
    table<value_id, unsigned char> is_kept(values);
    buffer_classes const classes = group_views(values, [&](value_id v) { return result.alias_of[v]; });
    for (value_id v = 0; v != values; ++v)
        if (same_storage[v] || has_role(result.role[v], value_role::external))
            keeps[classes.buffer_of[v]] = 1;
    for (value_id v = 0; v != values; ++v) is_kept[v] = keeps[classes.buffer_of[v]];

    std::vector<value_id> const name = detail::name_versions(listed, result, is_split, is_kept);
    if (!result) return result;
    is_kept.assign(result.value_of.size(), 0); // of each version: a view of the first one
    for (value_id v = 0; v != is_kept.size(); ++v)
        is_kept[v] = v != result.value_of[v] && result.alias_of[v] == result.value_of[v];
    result.program = detail::renamed(p, listed, result.value_of.size(), name, is_kept);
    return result;
}

SUBLET_DECL versioned_program versions(snapshot const& p, plan_options const& given,
                                       per_value<bool> const& same_storage)
{
    detail::expect_one_program(given, "versions");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    auto keeps = same_storage.tabulate(p.values());
    for (value_id v = 0; v != p.values(); ++v)
        if (options.pinned[v] != no_offset || !options.eligible[v]) keeps[v] = 1;
    versioned_program made = detail::versions_of(
        p,
        {.role = options.role, .alias_of = options.alias_of, .same_storage = keeps, .order = options.order});
    if (p.said_views().empty()) return made;
    plan_options const lifted = with_versions(options, made);
    std::size_t const values = made.value_of.size();
    made.program =
        made.program.with_views(lifted.alias_of.tabulate(values), lifted.view_offset.tabulate(values));
    return made;
}

SUBLET_DECL plan_options with_versions(plan_options const& options, versioned_program const& versioned)
{
    std::size_t const before = versioned.last.size(), values = versioned.value_of.size();
    auto const begin = options.view_offset.tabulate(before, "view_offset");
    table<value_id, byte_count> view_offset(values);
    for (value_id v = 0; v != values; ++v) {
        bool const is_first =
            versioned.alias_of[v] == versioned.value_of[v]; // the same bytes as the first version
        view_offset[v] = is_first ? 0 : begin[versioned.value_of[v]];
    }
    return detail::options_of_copies(
        options, before, {versioned.value_of, versioned.role, versioned.alias_of, view_offset});
}

} // namespace sublet
