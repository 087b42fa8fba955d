// SPDX-License-Identifier: BSL-1.0

/// Views are followed to their roots, each chain once. A live range reaches from the first def to the last
/// touch, found in one walk of the order. Bytes that are written more than once are cut into segments at the
/// borders of all values on them; a segment tree keeps the latest listed access of each, so that a write that
/// moves is found in O(log n).

#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/known_property.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL buffer_classes classes_of(table<value_id, value_id> const& alias_of)
{
    std::size_t const values = alias_of.size();
    table<value_id, value_id> root = alias_of; // while chains are followed, the alias or the root
    for (value_id v = 0; v != values; ++v) {
        value_id const to = alias_of[v];
        SUBLET_EXPECTS(to == no_value || to < values,
                       "sublet: view % names value %, but there are only % values", v, to, values);
        if (to == no_value) root[v] = v;
        SUBLET_EXPECTS(to != v, "sublet: value % is a view of itself", v);
    }
    std::vector<value_id> chain;
    for (value_id start = 0; start != values; ++start) {
        value_id v = start;
        for (; root[v] != v; v = root[v]) {
            SUBLET_EXPECTS(chain.size() < values, "sublet: the views of value % form a cycle", start);
            chain.push_back(v);
        }
        for (value_id view : chain) root[view] = v;
        chain.clear();
    }

    buffer_classes classes;
    classes.buffer_of.assign(values, no_buffer);
    classes.root.reserve(values);
    for (value_id v = 0; v != values; ++v) {
        if (root[v] != v) continue;
        classes.buffer_of[v] = buffer_id::of(classes.root.size());
        classes.root.push_back(v);
    }
    for (value_id v = 0; v != values; ++v) classes.buffer_of[v] = classes.buffer_of[root[v]];
    return classes;
}

SUBLET_COLD_DECL table<value_id, value_id> roots_of_views(snapshot const& p,
                                                          per_value<value_id> const& alias_of)
{
    table<value_id, value_id> root;
    if (!p.has_views()) return root;
    buffer_classes const classes = classes_of(alias_of.tabulate(p.values(), "alias_of"));
    for (buffer_id b : classes.buffer_of) root.push_back(classes.root[b]);
    return root;
}

} // namespace sublet::detail

// --- lifetimes -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL lifetimes_options lifetimes_of(plan_options const& options)
{
    return {carried_roles(options), options.order, options.alias_of, options.view_offset, options.bytes};
}

SUBLET_COLD_DECL table<value_id, byte_count> offsets_in_roots(table<value_id, value_id> const& alias_of,
                                                              table<value_id, byte_count> const& view_offset)
{
    table<value_id, byte_count> offset(alias_of.size(), no_offset);
    std::vector<value_id> chain;
    for (value_id start = 0; start != alias_of.size(); ++start) {
        value_id v = start;
        for (; offset[v] == no_offset && alias_of[v] != no_value; v = alias_of[v]) chain.push_back(v);
        if (offset[v] == no_offset) offset[v] = 0;
        for (; !chain.empty(); chain.pop_back()) {
            value_id const view = chain.back();
            byte_count const before = offset[alias_of[view]], more = view_offset[view];
            offset[view] =
                sum_fits(before, more) && before + more < no_offset ? before + more : no_offset - 1;
        }
    }
    return offset;
}

/// How often each buffer is written, given values included; 2 stands for more.
SUBLET_DECL table<buffer_id, unsigned char> count_writes(snapshot const& p, buffer_classes const& classes,
                                                         table<value_id, value_role> const& role)
{
    table<buffer_id, unsigned char> writes(classes.root.size());
    table<buffer_id, step_id> written_at(classes.root.size(), no_step);
    for (value_id v = 0; v != p.values(); ++v)
        if (is_given(role[v])) writes[classes.buffer_of[v]] = 1;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            buffer_id const b = classes.buffer_of[t.value];
            if (!t.writes() || written_at[b] == s) continue;
            written_at[b] = s;
            writes[b] += writes[b] != 2;
        }
    return writes;
}

SUBLET_COLD_DECL ordered_bytes find_ordered_bytes(snapshot const& p, lifetimes_options const& options,
                                                  bool with_commuting)
{
    std::size_t const values = p.values();
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(values, "alias_of");
    buffer_classes const classes = classes_of(alias_of);
    table<buffer_id, unsigned char> writes = count_writes(p, classes, options.role.tabulate(values, "role"));
    for (value_id v : p.commuting())
        if (!with_commuting) writes[classes.buffer_of[v]] = 0;
    ordered_bytes result;
    bool any = false;
    for (unsigned char w : writes) any |= w == 2;
    if (!any) return result;

    table<value_id, byte_count> const begin =
        offsets_in_roots(alias_of, options.view_offset.tabulate(values, "view_offset"));
    table<value_id, byte_count> const bytes = options.bytes.tabulate(values, "bytes");
    table<value_id, byte_count> end;
    for (value_id v = 0; v != values; ++v) {
        bool const is_empty_storage = bytes[classes.root[classes.buffer_of[v]]] == 0;
        byte_count const own = is_empty_storage ? 1 : bytes[v]; // of no bytes, and yet in order
        end.push_back(own != no_size && sum_fits(begin[v], own) ? begin[v] + own : no_size);
    }
    std::vector<sort_key> borders; // {buffer, byte, value}
    for (value_id v = 0; v != values; ++v)
        if (writes[classes.buffer_of[v]] == 2)
            for (byte_count at : {begin[v], end[v]}) borders.push_back({classes.buffer_of[v], at, v});
    sort_by_key(borders);
    result.of = table<value_id, segment_range>(values);
    std::uint32_t segment = 0; // that begins at the border
    for (std::size_t i = 0; i != borders.size(); ++i) {
        sort_key const& at = borders[i];
        if (i != 0 && (at.key != borders[i - 1].key || at.tie != borders[i - 1].tie)) ++segment;
        value_id const v = at.id;
        if (at.tie == begin[v]) result.of[v].first = segment;
        if (at.tie == end[v]) result.of[v].last = segment;
    }
    result.segments = segment + 1;
    return result;
}

SUBLET_DECL std::optional<counterexample> moved_write(snapshot const& p, ordered_bytes const& bytes,
                                                      table<position_id, step_id> const& steps,
                                                      table<step_id, position_id> const& rank)
{
    struct moved_access {
        value_id value = no_value;
        position_id position = no_position;
    };
    struct accesses {                            // so far
        std::uint32_t touched = 0, written = 0;  // the highest ranks, from 1
        moved_access write = {};                 // the one of the highest rank
    };
    segment_nodes const nodes{bytes.segments};
    std::vector<accesses> of_all(2 * std::size_t{bytes.segments}), of_parts(of_all); // by node
    auto const at_end = csr_rows<step_id, value_id>::gathered(p.steps(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(p.steps_of(u.pred).last - 1, u.value);
    });
    std::optional<moved_access> moved;
    auto access = [&](value_id v, position_id at, bool writes) {
        if (is_empty(bytes.of[v])) return;
        std::uint32_t const its_rank = rank[steps[at]] + 1;
        moved_access const write{v, at};
        auto compare_with = [&](accesses const& earlier) {
            if (!moved && its_rank < (writes ? earlier.touched : earlier.written))
                moved = writes ? write : earlier.write;
        };
        auto note = [&](accesses& its) {
            its.touched = larger(its.touched, its_rank);
            if (!writes || its_rank < its.written) return;
            its.written = its_rank;
            its.write = write;
        };
        nodes.each(bytes.of[v], [&](std::size_t n) {
            compare_with(of_all[n]);
            compare_with(of_parts[n]);
            note(of_all[n]);
        });
        nodes.each_over_ends(bytes.of[v], [&](std::size_t n) {
            compare_with(of_all[n]);
            note(of_parts[n]);
            return true;
        });
    };
    for (position_id at = 0; at != steps.size() && !moved; ++at) {
        for (touch t : p.touches(steps[at]))
            if (t.kind != touch::access::view) access(t.value, at, t.writes());
        for (value_id v : at_end[steps[at]]) access(v, at, false);
    }
    if (!moved) return std::nullopt;
    return counterexample{fault::write_moved,
                          counterexample::access{.value = moved->value, .position = moved->position}};
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_ranges lifetimes(snapshot const& p, lifetimes_options const& given)
{
    detail::expect_steps_run_once(p);
    auto const asked = detail::with_said_views(
        p, detail::asked_options(given, p.values(), &lifetimes_options::role, &lifetimes_options::alias_of,
                                 &lifetimes_options::view_offset, &lifetimes_options::bytes));
    lifetimes_options const& options = *asked;
    table<position_id, step_id> steps; // where an order is given
    if (!options.order.empty()) steps = detail::steps_in_order(p, options.order);
    auto step_at = [&steps](position_id at) { return steps.empty() ? step_id{+at} : steps[at]; };
    detail::known_property<value_role> const role{options.role, p.values(), "role"};
    auto const positions = static_cast<std::uint32_t>(p.steps());

    live_ranges lives;
    lives.positions = positions;
    lives.of = table<value_id, live_range>(p.values(), {no_position, 0}); // until the end the first def
    auto first_def = [&lives](value_id v) { return lives.of[v].first; };
    for (position_id at = 0; at != positions; ++at)
        for (touch t : p.touches(step_at(at)))
            if (t.defines() && first_def(t.value) == no_position) lives.of[t.value].first = at;

    std::optional<counterexample::access> undefined;
    // The defs of `ready` steps count: of those before `at`, at the end of a node also of its last step.
    auto check_defined = [&](value_id v, position_id at, position_id ready) {
        if (detail::is_given(role[v]) || first_def(v) < ready) return;
        if (undefined && (undefined->position < at || (undefined->position == at && undefined->value <= v)))
            return;
        undefined = {.value = v, .other = first_def(v) == no_position ? no_value : v, .position = at};
    };
    auto extend_to = [&](value_id v, position_id until) {
        if (lives.of[v].last < until) lives.of[v].last = until;
    };
    for (position_id at = 0; at != positions; ++at)
        for (touch t : p.touches(step_at(at))) {
            if (!t.defines()) check_defined(t.value, at, at);
            extend_to(t.value, t.kind == touch::access::use_early ? +at : at + 1);
        }
    table<step_id, position_id> position_of(p.edge_uses().empty() ? 0 : p.steps());
    for (position_id at = 0; at != position_of.size(); ++at) position_of[step_at(at)] = at;
    for (edge_use u : p.edge_uses()) {
        position_id const at = position_of[p.steps_of(u.pred).last - 1];
        check_defined(u.value, at, at + 1);
        extend_to(u.value, at + 1);
    }
    for (value_id v = 0; v != p.values(); ++v) {
        if (has_role(role[v], value_role::input)) extend_to(v, 1);
        if (has_role(role[v], value_role::output)) {
            check_defined(v, positions, positions);
            extend_to(v, positions);
        }
    }
    auto fails = [&] {
        if (!undefined) return false;
        counterexample why{fault::used_undefined, *undefined};
        detail::explain_late_def(why, p, options.role.tabulate(p.values(), "role"),
                                 detail::roots_of_views(p, options.alias_of), options.order);
        return !lives.refute(std::move(why));
    };
    if (fails()) return lives;
    if (p.has_views()) { // a view needs the storage that it names
        table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
        buffer_classes const classes = detail::classes_of(alias_of);
        for (position_id at = 0; at != positions; ++at)
            for (touch t : p.touches(step_at(at)))
                if (t.views_what_is_there())
                    check_defined(classes.root[classes.buffer_of[t.value]], at, at + 1);
    }
    if (fails()) return lives;
    for (value_id v = 0; v != p.values(); ++v)
        if (detail::is_given(role[v]) || first_def(v) == no_position) lives.of[v].first = 0;
    if (options.order.empty()) return lives;
    detail::ordered_bytes const ordered = detail::find_ordered_bytes(p, options, false);
    if (ordered.segments == 0) return lives;
    table<step_id, position_id> listed(steps.size());
    for (position_id at = 0; at != listed.size(); ++at) listed[+at] = at;
    lives.refute(detail::moved_write(p, ordered, steps, listed));
    return lives;
}

// --- buffers ---------------------------------------------------------------------------------------------

SUBLET_DECL buffer_table gather_buffers(live_ranges const& lives, plan_options const& options)
{
    std::size_t const values = lives.of.size();
    using detail::known_property;
    table<value_id, value_id> alias_of; // if there are views
    bool const has_views = !options.alias_of.is_constant(no_value);
    if (has_views) alias_of = options.alias_of.tabulate(values, "alias_of");
    known_property<byte_count> const bytes{options.bytes, values, "bytes"};
    known_property<byte_count> const alignment{options.alignment, values, "alignment"};
    known_property<value_role> const role = options.carried.empty()
                                                ? known_property<value_role>{options.role, values, "role"}
                                                : detail::carried_roles(options, values);
    known_property<pool_id> const pool{options.pool, values, "pool"};
    known_property<byte_count> const pinned{options.pinned, values, "pinned"};
    known_property<bool> const eligible{options.eligible, values, "eligible"};
    known_property<std::uint32_t> const kind{options.kind, values, "kind"};
    table<value_id, byte_count> view_offset;
    if (has_views || !options.view_offset.is_constant())
        view_offset = options.view_offset.tabulate(values, "view_offset");
    bool has_offsets = false;
    for (value_id v = 0; v != values && has_views; ++v)
        has_offsets |= alias_of[v] != no_value && view_offset[v] != 0;

    buffer_classes classes; // without views each value is a buffer
    if (has_views) classes = detail::classes_of(alias_of);
    else classes.buffer_of.resize(values);
    for (value_id v = 0; v != values && !has_views; ++v) classes.buffer_of[v] = +v;
    buffer_table table;
    table.buffers.resize(has_views ? classes.root.size() : values);
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer& b = table.buffers[i];
        b.root = has_views ? classes.root[i] : value_id{+i};
        b.size = bytes[b.root];
        b.pool = pool[b.root];
        b.kind = kind[b.root];
    }
    if (has_offsets) table.offset_in_root = detail::offsets_in_roots(alias_of, view_offset);
    for (pool_limits const& p : options.pools)
        SUBLET_EXPECTS(p.alignment >= 1, "sublet: the alignment of a pool is 0, but has to be at least 1");
    for (value_id v = 0; v != values; ++v) {
        SUBLET_EXPECTS(alignment[v] >= 1, "sublet: the alignment of value % is 0, but has to be at least 1",
                       v);
        buffer& b = table.buffers[classes.buffer_of[v]];
        byte_count const begin = has_offsets ? table.offset_in_root[v] : 0;
        b.life = hull(b.life, lives.of[v]);
        if (alignment[v] != 1 && begin % alignment[v] == 0)
            b.alignment = detail::combine_alignment(b.alignment, alignment[v]);
        b.role = b.role | role[v];
        b.eligible = b.eligible && eligible[v];
        if (pinned[v] != no_offset) { // of a view: where its root begins then
            byte_count const pin = pinned[v] >= begin ? pinned[v] - begin : pinned[v];
            if (b.pinned == no_offset) b.pinned = pin;
            if (pin != b.pinned || pinned[v] < begin) b.conflicting_pin = pinned[v];
        }
        byte_count const own = bytes[v] == no_size ? 0 : bytes[v]; // the rest of the root, if there is any
        byte_count const end = detail::sum_fits(begin, own) ? begin + own : begin;
        if (b.size != no_size && (end > b.size || end < own) && table.oversized_view == no_value) {
            table.oversized_view = v;
            table.oversized_bytes = end;
        }
    }
    for (auto const& pair : options.apart)
        SUBLET_EXPECTS(pair.first < values && pair.second < values,
                       "sublet: values % and % are kept apart, but there are only % values", pair.first,
                       pair.second, values);
    table.apart = options.apart;
    table.buffer_of = std::move(classes.buffer_of);
    return table;
}

} // namespace sublet
