// SPDX-License-Identifier: BSL-1.0

/// Steps are points, or two where a step reads early. The def of each value gives the edges of data, the
/// order of storage those between accesses of the same bytes; a topological order of the points numbers the
/// positions. Without one, the error is a change before the def, or a cycle.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/internal/topological_points.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL position_id dependence_graph::start_of(step_id s) const
{
    for (position_id p : before[position_of[s]])
        if (step_at[p] == s) return p;
    return position_of[s];
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL dependence_options dependences_of(plan_options const& options, std::vector<handoff> handoffs)
{
    return {.role = carried_roles(options),
            .handoffs = std::move(handoffs),
            .alias_of = options.alias_of,
            .view_offset = options.view_offset,
            .bytes = options.bytes,
            .listed = options.order};
}

/// A step that reads early is two points, any other is one; points are numbered in the order of steps.
struct dependence_points {
    using point = std::uint32_t;

    snapshot const& p;
    table<step_id, point> write_point; // empty if point and step are the same number
    std::vector<step_id> owner;        // by point; empty likewise

    explicit dependence_points(snapshot const& program) : p(program)
    {
        auto const steps = step_id::of(p.steps());
        auto reads_early = [this](step_id s) {
            for (touch t : p.touches(s))
                if (t.kind == touch::access::use_early) return true;
            return false;
        };
        step_id s = 0;
        while (s != steps && !reads_early(s)) ++s;
        if (s == steps) return;
        for (s = 0; s != steps; ++s) {
            if (reads_early(s)) owner.push_back(s);
            write_point.push_back(static_cast<point>(owner.size()));
            owner.push_back(s);
        }
    }
    std::size_t size() const { return owner.empty() ? p.steps() : owner.size(); }
    point last(step_id s) const { return write_point.empty() ? +s : write_point[s]; }
    point first(step_id s) const
    {
        point const l = last(s);
        return l != 0 && owner_of(l - 1) == s ? l - 1 : l;
    }
    step_id owner_of(point x) const { return owner.empty() ? step_id{x} : owner[x]; }
};

SUBLET_DECL counterexample used_undefined(value_id v, step_id s)
{
    return {fault::used_undefined, counterexample::access{.value = v, .step = s}};
}

/// The defining step of each value, `no_step` for given values; or why not.
SUBLET_DECL std::optional<counterexample>
unique_defs(snapshot const& p, table<value_id, value_role> const& role, table<value_id, step_id>& def_of)
{
    def_of = table<value_id, step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines() || def_of[t.value] == s) continue;
            if (is_given(role[t.value]))
                return counterexample{fault::several_defs,
                                      counterexample::access{.value = t.value, .step = s, .is_given = true}};
            if (def_of[t.value] != no_step)
                return counterexample{fault::several_defs,
                                      counterexample::access{.value = t.value, .step = s}};
            def_of[t.value] = s;
        }
    auto is_available = [&](value_id v) { return def_of[v] != no_step || is_given(role[v]); };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (!t.defines() && (!is_available(t.value) || def_of[t.value] == s))
                return used_undefined(t.value, s);
    for (edge_use u : p.edge_uses())
        if (!is_available(u.value)) return used_undefined(u.value, p.steps_of(u.pred).last - 1);
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !is_available(v)) return used_undefined(v, no_step);
    return std::nullopt;
}

/// The steps that make the root of a view, by step that makes a view of no bytes and writes through it: bytes do
/// not order them. Without an entry where the root is made later in the list.
SUBLET_DECL std::vector<handoff> makers_of_empty_views(snapshot const& p, dependence_options const& options,
                                                       table<value_id, step_id> const& def_of,
                                                       table<value_id, value_id> const& root)
{
    std::vector<handoff> found;
    table<step_id, position_id> position;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            step_id const maker = t.kind == touch::access::write_view ? def_of[root[t.value]] : no_step;
            if (maker == no_step || maker == s || options.bytes[t.value] != 0) continue;
            if (position.empty()) {
                position.resize(p.steps());
                table<position_id, step_id> const listed = steps_in_order(p, options.listed);
                for (position_id at = 0; at != listed.size(); ++at) position[listed[at]] = at;
            }
            if (position[maker] < position[s]) found.push_back({maker, s});
        }
    return found;
}

/// The root of each value; or a view of a root that no step makes and the caller does not give.
SUBLET_DECL std::optional<counterexample> find_roots(snapshot const& p, dependence_options const& options,
                                                     table<value_id, step_id> const& def_of,
                                                     table<value_id, value_id>& root)
{
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    buffer_classes const classes = detail::classes_of(alias_of);
    for (buffer_id b : classes.buffer_of) root.push_back(classes.root[b]);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            value_id const of = root[t.value];
            if (t.views_what_is_there() && def_of[of] == no_step && !is_given(role[of]))
                return used_undefined(of, s);
        }
    return std::nullopt;
}

/// A step that changes a value and is listed before the step that makes it: either has to wait for the other.
SUBLET_DECL std::optional<counterexample> change_before_def(snapshot const& p,
                                                            dependence_options const& options,
                                                            table<value_id, step_id> const& def_of)
{
    table<position_id, step_id> const listed = steps_in_order(p, options.listed);
    table<step_id, position_id> position(p.steps());
    for (position_id at = 0; at != listed.size(); ++at) position[listed[at]] = at;
    for (step_id s : listed)
        for (touch t : p.touches(s)) {
            step_id const maker = def_of[t.value];
            if (t.kind == touch::access::write && maker != no_step && position[s] < position[maker])
                return counterexample{
                    fault::used_undefined,
                    counterexample::access{.value = t.value, .other = t.value, .step = s, .maker = maker}};
        }
    return std::nullopt;
}

SUBLET_DECL std::vector<handoff> order_of_writes(snapshot const& p, dependence_options const& options)
{
    ordered_bytes const ordered = find_ordered_bytes(p, {.role = options.role,
                                                         .alias_of = options.alias_of,
                                                         .view_offset = options.view_offset,
                                                         .bytes = options.bytes});
    return ordered.segments == 0 ? std::vector<handoff>{} : storage_order(p, ordered, options.listed);
}

} // namespace sublet::detail

namespace sublet::detail {

/// Requires: `options` has no callables, and what steps say of their views.
SUBLET_DECL dependence_graph dependences_of_asked(snapshot const& p, dependence_options const& options)
{
    dependence_graph g;
    table<value_id, step_id> def_of;
    if (!g.refute(unique_defs(p, options.role.tabulate(p.values(), "role"), def_of))) return g;
    table<value_id, value_id> root; // filled if some step makes a view
    if (p.has_views()) {
        if (!g.refute(find_roots(p, options, def_of, root))) return g;
    }
    std::vector<handoff> const storage =
        p.has_writes() ? order_of_writes(p, options) : std::vector<handoff>{};
    std::vector<handoff> const makers = p.has_writes() && p.has_views()
                                            ? makers_of_empty_views(p, options, def_of, root)
                                            : std::vector<handoff>{};
    for (handoff h : options.handoffs)
        SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(),
                       "sublet: a hand-off leads from step % to step %, but there are only % steps", h.from,
                       h.to, p.steps());

    using point = dependence_points::point;
    dependence_points const points(p);
    auto const after = csr_rows<point, point>::gathered(points.size(), [&](auto add) {
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const range = p.steps_of(n);
            for (step_id s = range.first; s != range.last; ++s) {
                point const begin = points.first(s), end = points.last(s);
                if (begin != end) add(begin, end);
                if (s != range.first) add(points.last(s - 1), begin);
                for (touch t : p.touches(s)) {
                    step_id const needed_from = t.views_what_is_there() ? def_of[root[t.value]]
                                                : t.defines()                 ? no_step
                                                                              : def_of[t.value];
                    if (needed_from != no_step && needed_from != s) add(points.last(needed_from), begin);
                }
            }
            for (node_id to : p.successors(n))
                add(points.last(range.last - 1), points.first(p.steps_of(to).first));
        }
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1, writer = def_of[u.value];
            if (writer != no_step && writer != reader) add(points.last(writer), points.last(reader));
        }
        for (auto const* list : {&storage, &makers, &options.handoffs})
            for (handoff h : *list) add(points.last(h.from), points.first(h.to));
    });
    std::vector<std::uint32_t> in_degree(points.size(), 0);
    for (point x = 0; x != points.size(); ++x)
        for (point y : after[x]) ++in_degree[y];
    table<position_id, point> const order = topological_points(after, in_degree, options.order);
    if (order.size() != points.size()) {
        if (!g.refute(change_before_def(p, options, def_of))) return g;
        std::vector<step_id> steps;
        for (point x : residual_cycle(after, in_degree)) {
            step_id const s = points.owner_of(x);
            if (steps.empty() || (steps.back() != s && steps.front() != s)) steps.push_back(s);
        }
        g.refute(cycle_of(std::move(steps)));
        return g;
    }

    std::vector<std::uint32_t>& position_of = in_degree; // by point
    for (position_id at = 0; at != order.size(); ++at) position_of[order[at]] = at;
    auto const before = csr_rows<position_id, position_id>::gathered(points.size(), [&](auto add) {
        for (position_id at = 0; at != order.size(); ++at)
            for (point y : after[order[at]]) add(position_of[y], at);
    });
    g.before.reserve(before.rows(), before.items());
    for (position_id at = 0; at != before.rows(); ++at) {
        position_id last = no_position;
        for (position_id x : before[at])
            if (x != last) g.before.append(last = x);
        g.before.close_row();
    }
    g.after = g.before.transposed(points.size());
    g.step_at.reserve(order.size());
    for (point x : order) g.step_at.push_back(points.owner_of(x));
    g.position_of.reserve(p.steps());
    for (step_id s = 0; s != p.steps(); ++s) g.position_of.push_back(position_of[points.last(s)]);
    return g;
}

SUBLET_DECL asked_options<dependence_options> asked_dependences(snapshot const& p,
                                                                dependence_options const& given)
{
    expect_steps_run_once(p);
    return with_said_views(p, asked_options(given, p.values(), &dependence_options::role,
                                            &dependence_options::alias_of, &dependence_options::view_offset,
                                            &dependence_options::bytes));
}

SUBLET_DECL dependence_graph dependences_of_any_list(snapshot const& p, dependence_options const& options)
{
    return dependences_of_asked(p, *asked_dependences(p, options));
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL dependence_graph dependences(snapshot const& p, dependence_options const& options)
{
    auto const asked = detail::asked_dependences(p, options);
    dependence_graph g = detail::dependences_of_asked(p, *asked);
    if (g && (p.is_list() || !asked->listed.empty()))
        g.refute(detail::late_def(p, asked->role.tabulate(p.values(), "role"),
                                  detail::roots_of_views(p, asked->alias_of), asked->listed));
    return g;
}

} // namespace sublet
