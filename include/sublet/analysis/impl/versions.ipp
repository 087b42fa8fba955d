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

SUBLET_DECL std::vector<handoff> storage_order(snapshot const& p, std::size_t storages,
                                               std::vector<buffer_id> const& storage_of,
                                               std::vector<unsigned char> const& is_written,
                                               std::vector<node_id> const& order)
{
    detail::listed_touches const listed(p, order);
    auto writes = [&](touch t) { return t.kind == touch::access::def && is_written[t.value]; };
    csr_rows const reads = csr_rows::gathered(storages, [&](auto add) {
        for (step_id s : listed.steps)
            listed.each(s, [&](std::size_t, touch t) {
                if (storage_of[t.value] != no_buffer && !writes(t)) add(storage_of[t.value], s);
            });
    });
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch::access::def) def_of[t.value] = s;

    csr_rows const before = csr_rows::gathered(p.steps(), [&](auto add) {
        std::vector<step_id> last_write(storages, no_step);
        std::vector<std::uint32_t> old_reads(storages, 0), all_reads(storages, 0); // in `reads`
        // A read of a value made since the last write waits for its def, and so for that write.
        std::vector<step_id> made_after(p.values(), no_step); // by value, that write
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
            for (touch t : p.touches(s)) {
                step_id const writer = def_of[t.value];
                if (t.kind != touch::access::def && writer != no_step)
                    mark(listed.node_of[writer], writer + 1);
            }
            auto order_after = [&](step_id first) {
                if (first != no_step && first != s && first >= ordered_before[listed.node_of[first]])
                    add(s, first);
            };
            listed.each(s, [&](std::size_t, touch t) {
                buffer_id const b = storage_of[t.value];
                if (b == no_buffer) return;
                if (!writes(t)) {
                    ++all_reads[b];
                    if (made_after[t.value] != last_write[b]) order_after(last_write[b]);
                    if (t.kind == touch::access::def) made_after[t.value] = last_write[b];
                    return;
                }
                if (old_reads[b] == all_reads[b]) order_after(last_write[b]);
                while (old_reads[b] != all_reads[b]) order_after(reads[b][old_reads[b]++]);
                last_write[b] = made_after[t.value] = s;
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
            if (t.kind != touch::access::def || def_of[t.value] == s) continue;
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

SUBLET_DECL bool can_run(listed_touches const& listed, std::vector<value_role> const& role)
{
    std::vector<unsigned char> is_available;
    for (value_role flags : role) is_available.push_back(is_given(flags));
    bool can = true;
    for (step_id s : listed.steps)
        listed.each(s, [&](std::size_t, touch t) { // reads come first
            if (t.kind == touch::access::def) is_available[t.value] = 1;
            else can &= is_available[t.value] != 0;
        });
    return can;
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
            if (t.kind == touch::access::def && def_at[v] != s) {
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
            if (t.kind != touch::access::def || of == no_value) continue;
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
                             std::vector<value_id> const& name)
{
    std::vector<step_id> used_at(p.values(), no_step), defined_at(p.values(), no_step);
    std::vector<value_id> used_as(p.values()), defined_as(p.values());
    std::size_t at_end = listed.step_touch_count();
    return flow(
        p.nodes(), versions, [&p](node_id n) { return p.successors(n); },
        [&](node_id n, effect_sink& sink) {
            step_range const range = p.steps_of(n);
            for (step_id s = range.first; s != range.last; ++s) {
                if (s != range.first) sink.next_step();
                std::size_t touch_index = listed.first_touch(s);
                for (touch t : p.touches(s)) {
                    value_id const v = t.value, version = name[touch_index++];
                    if (t.kind == touch::access::def) {
                        sink.def(version);
                        if (used_at[v] == s && defined_at[v] != s) sink.may_overwrite(used_as[v], version);
                        defined_at[v] = s;
                        defined_as[v] = version;
                        continue;
                    }
                    if (t.kind == touch::access::use) sink.use(version);
                    else sink.use_early(version);
                    used_at[v] = s;
                    used_as[v] = version;
                }
                for (overwrite o : p.overwrites(s)) // a pair without effect is dropped
                    if (o.in != o.out && used_at[o.in] == s && defined_at[o.out] == s)
                        sink.may_overwrite(used_as[o.in], defined_as[o.out]);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, name[at_end++]);
        });
}

/// Storage needs an order if it holds several versions of a value, or if a part is written. The def of a view
/// writes nothing, unless it repeats a view in the same storage: that may be a write through the view. A step
/// that defines a view of storage that it does not touch otherwise writes a part. If nothing in that storage
/// has versions, an order exists only if the program can run as listed: otherwise a def may come later.
SUBLET_DECL std::vector<handoff> order_of_versions(versioned_program const& made,
                                                   std::vector<value_id> const& alias_of,
                                                   std::vector<node_id> const& order)
{
    std::size_t const versions = made.value_of.size();
    buffer_classes classes = aliases(versions, [&made](value_id v) { return made.alias_of[v]; });
    std::vector<buffer_id>& storage_of = classes.buffer_of;
    enum : unsigned char { is_available = 1, has_split = 2, has_part = 4, needs_order = 8 };
    std::vector<unsigned char> storage(classes.root.size()), is_written(versions);
    std::vector<value_id> before(alias_of.size(), no_value); // by value: the previous version
    for (value_id v = 0; v != versions; ++v) {
        value_id const named = made.value_of[v], old = before[named];
        unsigned char& flags = storage[storage_of[v]];
        if (is_given(made.role[v])) flags |= is_available;
        if (made.last[named] != named) flags |= has_split;
        bool const again = old != no_value && storage_of[old] == storage_of[v];
        if (again) flags |= needs_order;
        is_written[v] = alias_of[named] == no_value || again;
        before[named] = v;
    }
    std::vector<step_id> touched_at(storage.size(), no_step);
    for (step_id s : steps_in_order(made.program, order)) {
        auto const touches = made.program.touches(s);
        for (touch t : touches)
            if (t.kind != touch::access::def || is_written[t.value]) touched_at[storage_of[t.value]] = s;
        for (touch t : touches) {
            if (t.kind != touch::access::def) continue;
            unsigned char& flags = storage[storage_of[t.value]];
            if ((flags & is_available) != 0 && touched_at[storage_of[t.value]] != s)
                flags |= has_part, is_written[t.value] = 1;
            if (is_written[t.value]) flags |= is_available;
        }
    }
    bool any = false, only_parts = false;
    for (unsigned char& flags : storage) {
        if ((flags & has_part) != 0 && (flags & has_split) != 0) flags |= needs_order;
        any |= (flags & (needs_order | has_part)) != 0;
        only_parts |= (flags & has_part) != 0 && (flags & needs_order) == 0;
    }
    if (!any) return {};
    bool const orders_parts = only_parts && can_run(listed_touches(made.program, order), made.role);
    for (buffer_id& b : storage_of)
        if ((storage[b] & needs_order) == 0 && !(orders_parts && (storage[b] & has_part) != 0)) b = no_buffer;
    return storage_order(made.program, classes.root.size(), storage_of, is_written, order);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL versioned_program detail::versions_of(snapshot const& p, version_options const& options)
{
    std::size_t const values = p.values();
    versioned_program result;
    result.role = options.role.tabulate(values);
    result.alias_of = options.alias_of.tabulate(values);
    result.number.assign(values, 0);
    for (value_id v = 0; v != values; ++v) result.value_of.push_back(v);
    result.last = result.value_of;
    std::vector<unsigned char> const is_split = detail::values_to_split(p, result.role);
    bool splits = false, has_views = false;
    for (unsigned char is : is_split) splits |= is != 0;
    for (value_id of : result.alias_of) has_views |= of != no_value;
    if (!splits) result.program = p;
    if (!splits && !has_views) return result;

    detail::listed_touches const listed(p, options.order);
    auto const against = detail::edge_against_order(listed);
    if (!splits) {
        if (!against) result.handoffs = detail::order_of_versions(result, result.alias_of, options.order);
        return result;
    }
    result.violation = against;
    if (result.violation) return result;
    auto const same_storage = options.same_storage.tabulate(values);
    std::vector<unsigned char> keeps(values), is_kept(values); // by class, by value
    buffer_classes const classes = aliases(values, [&](value_id v) { return result.alias_of[v]; });
    for (value_id v = 0; v != values; ++v)
        if (same_storage[v] || has_role(result.role[v], value_role::external))
            keeps[classes.buffer_of[v]] = 1;
    for (value_id v = 0; v != values; ++v) is_kept[v] = keeps[classes.buffer_of[v]];

    std::vector<value_id> const alias_of = result.alias_of;
    std::vector<value_id> const name = detail::name_versions(listed, result, is_split, is_kept);
    if (result.violation) return result;
    result.program = detail::renamed(p, listed, result.value_of.size(), name);
    result.handoffs = detail::order_of_versions(result, alias_of, options.order);
    return result;
}

SUBLET_DECL versioned_program versions(snapshot const& p, plan_options const& options,
                                       per_value<bool> const& same_storage)
{
    auto keeps = [&](value_id v) {
        return same_storage[v] || options.pinned[v] != no_offset || !options.eligible[v];
    };
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
    lifted.pool = lift(options.pool);
    lifted.pinned = lift(options.pinned);
    lifted.eligible = lift(options.eligible);
    return lifted;
}

} // namespace sublet
