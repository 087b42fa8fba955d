// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/impl/config.hpp>

// --- storage order ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL listed_touches::listed_touches(snapshot const& program, std::vector<node_id> const& order)
    : p(program), steps(steps_in_order(program, order))
{
    for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
    auto const uses = p.edge_uses();
    ends = csr_rows::gathered(p.nodes(), [uses](auto add) {
        for (std::uint32_t i = 0; i != uses.size(); ++i) add(uses[i].pred, i);
    });
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::vector<handoff> storage_order(snapshot const& p, ordered_bytes const& bytes,
                                               std::vector<node_id> const& order)
{
    detail::listed_touches const listed(p, order);
    auto each_segment = [&](touch t, auto visit) {
        if (t.kind == touch::access::view) return;
        for (step_id i = bytes.of[t.value].first; i < bytes.of[t.value].last; ++i) visit(i);
    };
    csr_rows const reads = csr_rows::gathered(bytes.segments, [&](auto add) {
        for (step_id s : listed.steps)
            listed.each(s, [&](std::size_t, touch t) {
                if (!t.writes()) each_segment(t, [&](step_id i) { add(i, s); });
            });
    });
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.defines()) def_of[t.value] = s;

    csr_rows const before = csr_rows::gathered(p.steps(), [&](auto add) {
        std::vector<step_id> last_write(bytes.segments, no_step);
        std::vector<std::uint32_t> old_reads(bytes.segments, 0), all_reads(bytes.segments, 0); // in `reads`
        // By node: the end of its steps that are known to precede the current one.
        std::vector<step_id> ordered_before(p.nodes(), 0);
        std::vector<node_id> marked;
        auto mark = [&](node_id n, step_id end) {
            if (ordered_before[n] == 0) marked.push_back(n);
            ordered_before[n] = larger(ordered_before[n], end);
        };
        for (step_id s : listed.steps) {
            node_id const n = listed.node_of[s];
            if (s == p.steps_of(n).first) {
                for (node_id m : marked) ordered_before[m] = 0;
                marked.clear();
                for (node_id m : p.predecessors(n)) mark(m, p.steps_of(m).last);
            }
            mark(n, s);
            listed.each(s, [&](std::size_t, touch t) {
                step_id const writer = def_of[t.value];
                if (!t.defines() && writer != no_step && writer != s)
                    mark(listed.node_of[writer], writer + 1);
            });
            auto order_after = [&](step_id first) {
                if (first != no_step && first != s && first >= ordered_before[listed.node_of[first]])
                    add(s, first);
            };
            listed.each(s, [&](std::size_t, touch t) {
                each_segment(t, [&](step_id i) {
                    if (!t.writes()) {
                        ++all_reads[i];
                        order_after(last_write[i]);
                        return;
                    }
                    if (old_reads[i] == all_reads[i]) order_after(last_write[i]);
                    while (old_reads[i] != all_reads[i]) order_after(reads[i][old_reads[i]++]);
                    last_write[i] = s;
                });
            });
        }
    });
    csr_rows const after = before.transposed(p.steps());
    std::vector<handoff> handoffs;
    for (step_id from = 0; from != p.steps(); ++from)
        for (step_id to : after[from])
            if (handoffs.empty() || handoffs.back() != handoff{from, to}) handoffs.push_back({from, to});
    return handoffs;
}

} // namespace detail

} // namespace sublet

// --- versions --------------------------------------------------------------------------------------------

namespace sublet::detail {

/// By value: whether a step writes it although it is given or written by another step.
SUBLET_DECL std::vector<unsigned char> values_to_split(snapshot const& p, std::vector<value_role> const& role)
{
    std::vector<unsigned char> is_split(p.values());
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines() || def_of[t.value] == s) continue;
            if (def_of[t.value] != no_step || is_given(role[t.value])) is_split[t.value] = 1;
            def_of[t.value] = s;
        }
    return is_split;
}

/// An edge that leads to a node that is not later in the list.
SUBLET_DECL std::optional<versioned_program::reordering> edge_against_order(listed_touches const& listed)
{
    snapshot const& p = listed.p;
    std::vector<step_id> position(p.steps());
    for (step_id at = 0; at != p.steps(); ++at) position[listed.steps[at]] = at;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id to : p.successors(n)) {
            step_id const from = p.steps_of(n).last - 1, next = p.steps_of(to).first;
            if (position[from] >= position[next]) return versioned_program::reordering{no_value, from, next};
        }
    return std::nullopt;
}

/// By index of a touch, the version that it touches. Adds versions, and a use before a def, to `result`.
SUBLET_DECL std::vector<value_id> name_versions(listed_touches const& listed, versioned_program& result,
                                                std::vector<unsigned char> const& is_split,
                                                std::vector<unsigned char> const& is_kept)
{
    std::vector<value_id> const alias_of = result.alias_of;
    std::vector<value_id>& current = result.last;
    std::vector<unsigned char> is_available(current.size());
    for (value_id v = 0; v != current.size(); ++v) is_available[v] = !is_split[v] || is_given(result.role[v]);
    std::vector<step_id> def_at(current.size(), no_step), touched_at(current.size(), no_step); // last
    std::vector<value_id> name(listed.step_touch_count() + listed.p.edge_uses().size());
    for (step_id s : listed.steps) {
        listed.each(s, [&](std::size_t touch_index, touch t) {
            value_id const v = t.value;
            if (t.defines() && def_at[v] != s) {
                def_at[v] = s;
                if (!is_available[v]) {
                    if (touched_at[v] != no_step)
                        result.violation = versioned_program::reordering{v, s, touched_at[v]};
                    is_available[v] = 1;
                } else if (is_split[v]) {
                    SUBLET_EXPECTS(result.value_of.size() + 1 < no_value, "sublet: more versions than ids");
                    result.number.push_back(result.number[current[v]] + 1);
                    result.role.push_back(value_role::intermediate);
                    result.alias_of.push_back(is_kept[v] ? v : no_value);
                    current[v] = static_cast<value_id>(result.value_of.size());
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

SUBLET_DECL snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                             std::vector<value_id> const& name, std::vector<unsigned char> const& is_kept)
{
    std::vector<step_id> used_at(p.values(), no_step), defined_at(p.values(), no_step);
    std::vector<value_id> used_as(p.values()), defined_as(p.values());
    std::size_t at_end = listed.step_touch_count();
    return with_effects(p, versions,
        [&](node_id n, effect_sink& sink) {
            step_range const range = p.steps_of(n);
            for (step_id s = range.first; s != range.last; ++s) {
                if (s != range.first) sink.next_step();
                std::size_t touch_index = listed.first_touch(s);
                for (touch t : p.touches(s)) {
                    value_id const v = t.value, version = name[touch_index++];
                    if (t.defines()) {
                        bool const is_same_storage = !is_kept.empty() && is_kept[version] != 0;
                        if (t.kind == touch::access::def && is_same_storage)
                            sink.add(touch::access::write_view, version);
                        else sink.add(t.kind, version);
                        if (used_at[v] == s && defined_at[v] != s) sink.may_overwrite(used_as[v], version);
                        defined_at[v] = s;
                        defined_as[v] = version;
                        continue;
                    }
                    sink.add(t.kind, version);
                    used_at[v] = s;
                    used_as[v] = version;
                }
                for (overwrite o : p.overwrites(s)) // a pair without effect is dropped
                    if (o.in != o.out && used_at[o.in] == s && defined_at[o.out] == s)
                        sink.may_overwrite(used_as[o.in], defined_as[o.out]);
                sink.may_recompute(p.may_recompute(s));
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, name[at_end++]);
        });
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
    std::vector<unsigned char> const is_split = detail::values_to_split(p, result.role);
    bool splits = false;
    for (unsigned char is : is_split) splits |= is != 0;
    if (!splits) {
        result.program = p;
        return result;
    }
    detail::listed_touches const listed(p, options.order);
    result.violation = detail::edge_against_order(listed);
    if (result.violation) return result;
    auto const same_storage = options.same_storage.tabulate(values, "same_storage");
    std::vector<unsigned char> keeps(values), is_kept(values); // by class, by value
    buffer_classes const classes = aliases(values, [&](value_id v) { return result.alias_of[v]; });
    for (value_id v = 0; v != values; ++v)
        if (same_storage[v] || has_role(result.role[v], value_role::external))
            keeps[classes.buffer_of[v]] = 1;
    for (value_id v = 0; v != values; ++v) is_kept[v] = keeps[classes.buffer_of[v]];

    std::vector<value_id> const name = detail::name_versions(listed, result, is_split, is_kept);
    if (result.violation) return result;
    is_kept.assign(result.value_of.size(), 0); // by version: a view of the first one
    for (value_id v = 0; v != is_kept.size(); ++v)
        is_kept[v] = v != result.value_of[v] && result.alias_of[v] == result.value_of[v];
    result.program = detail::renamed(p, listed, result.value_of.size(), name, is_kept);
    return result;
}

SUBLET_DECL versioned_program versions(snapshot const& p, plan_options const& given,
                                       per_value<bool> const& same_storage)
{
    auto const asked = detail::tabulated_options(given, p.values());
    plan_options const& options = *asked;
    auto keeps = same_storage.tabulate(p.values());
    for (value_id v = 0; v != p.values(); ++v)
        if (options.pinned[v] != no_offset || !options.eligible[v]) keeps[v] = 1;
    return detail::versions_of(
        p,
        {.role = options.role, .alias_of = options.alias_of, .same_storage = keeps, .order = options.order});
}

SUBLET_DECL plan_options with_versions(plan_options const& options, versioned_program const& versioned)
{
    std::size_t const values = versioned.last.size();
    auto lift = [&](auto const& property) {
        auto table = property.tabulate(values);
        for (std::size_t v = values; v != versioned.value_of.size(); ++v) {
            auto const of_value = table[versioned.value_of[v]];
            table.push_back(of_value);
        }
        return table;
    };
    plan_options lifted = options;
    lifted.bytes = lift(options.bytes);
    lifted.alignment = lift(options.alignment);
    lifted.role = versioned.role;
    lifted.alias_of = versioned.alias_of;
    auto view_offset = lift(options.view_offset);
    for (std::size_t v = values; v != view_offset.size(); ++v) // the same bytes as the first version
        if (versioned.alias_of[v] == versioned.value_of[v]) view_offset[v] = 0;
    lifted.view_offset = std::move(view_offset);
    lifted.pool = lift(options.pool);
    lifted.pinned = lift(options.pinned);
    lifted.eligible = lift(options.eligible);
    return lifted;
}

} // namespace sublet
