// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEPENDENCES_HPP
#define SUBLET_ANALYSIS_DEPENDENCES_HPP

/// What has to wait for what, if steps run as soon as they may: the concurrent reading of a program.
///
///     step 0: def a              0 ──► 1 ──► 3        data: who reads waits for who writes
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program: who follows waits
///     step 2: use a, def c                            steps of a node: one after the other
///     step 3: use b, use c                            1 and 2 wait for each other in no way
///
/// Happens-before is the transitive closure of these edges, and nothing else may be relied on. The graph is
/// given over positions: numbers such that every edge leads from a lower to a higher one. A step that reads
/// early has two of them, one to read and one to write, so that "before it writes" is a position like
/// others and no algorithm behind this line needs to know of early reads.
///
/// Source: flow dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs and compiler
/// optimizations", POPL 1981. Of anti and output dependences there are none: a value is written once
/// (analysis/versions.hpp sees to it, and says which order storage needs that holds several versions, or of
/// which a part is written through a view).

#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

enum class dependence_fault : std::uint8_t {
    several_defs,  ///< `value` is defined at `steps[1]` though it was there already: given, or defined at
                   ///< `steps[0]`
    never_defined, ///< `value` is used at `steps[0]` (no step: it is an output) and nothing defines it
    cycle          ///< each of `steps` waits for the one before it, and the first for the last
};

/// Why a program has no concurrent reading.
struct dependence_violation {
    dependence_fault what = dependence_fault::cycle;
    value_id value = no_value;
    std::vector<step_id> steps;
    friend bool operator==(dependence_violation const&, dependence_violation const&) = default;
};

/// How positions are numbered. All numberings are valid; those that follow a thread of work to its end keep
/// the lists of analysis/later_conflicts.hpp short.
enum class position_order : std::uint8_t {
    depth_first,   ///< all steps that wait for nothing, then always what has become ready last
    breadth_first, ///< what has become ready first
    as_listed      ///< as the program lists them, wherever that is possible
};

struct dependence_options {
    per_value<value_role> role = value_role::intermediate;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps
    position_order order = position_order::depth_first;
};

struct dependence_graph {
    csr_rows after;  ///< by position: those that wait for it directly, ascending, each once, all higher
    csr_rows before; ///< by position: those that it waits for directly, ascending, each once, all lower
    std::vector<step_id> step_at;     ///< by position
    std::vector<step_id> position_of; ///< by step: where it writes, and reads what it does not read early
    std::optional<dependence_violation> violation; ///< then all else is of no use

    [[nodiscard]] std::size_t positions() const { return step_at.size(); }
    [[nodiscard]] std::size_t edges() const { return after.items(); }
    /// Where the step reads early: where it begins.
    [[nodiscard]] step_id start_of(step_id s) const
    {
        for (step_id p : before[position_of[s]])
            if (step_at[p] == s) return p;
        return position_of[s];
    }
};

namespace detail {

/// Steps that read early are two points, others one; points are numbered by steps.
struct dependence_points {
    snapshot const& p;
    std::vector<step_id> late;  // by step; empty if point and step are the same
    std::vector<step_id> owner; // by point; empty likewise

    explicit dependence_points(snapshot const& program) : p(program)
    {
        auto const steps = static_cast<step_id>(p.steps());
        auto reads_early = [this](step_id s) {
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::use_early) return true;
            return false;
        };
        step_id s = 0;
        while (s != steps && !reads_early(s)) ++s;
        if (s == steps) return;
        for (s = 0; s != steps; ++s) {
            if (reads_early(s)) owner.push_back(s);
            late.push_back(static_cast<step_id>(owner.size()));
            owner.push_back(s);
        }
    }
    std::size_t size() const { return owner.empty() ? p.steps() : owner.size(); }
    step_id last(step_id s) const { return late.empty() ? s : late[s]; }
    step_id first(step_id s) const
    {
        step_id const l = last(s);
        return l != 0 && owner_of(l - 1) == s ? l - 1 : l;
    }
    step_id owner_of(step_id point) const { return owner.empty() ? point : owner[point]; }
};

/// The one step that defines each value, `no_step` for what is given; or why there is not one.
inline std::optional<dependence_violation> only_defs(snapshot const& p, std::vector<value_role> const& role,
                                                     std::vector<step_id>& def_of)
{
    def_of = std::vector<step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.kind != touch_kind::def || def_of[t.value] == s) continue;
            if (is_given(role[t.value]))
                return dependence_violation{dependence_fault::several_defs, t.value, {no_step, s}};
            if (def_of[t.value] != no_step)
                return dependence_violation{dependence_fault::several_defs, t.value, {def_of[t.value], s}};
            def_of[t.value] = s;
        }
    auto is_there = [&](value_id v) { return def_of[v] != no_step || is_given(role[v]); };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind != touch_kind::def && (!is_there(t.value) || def_of[t.value] == s))
                return dependence_violation{dependence_fault::never_defined, t.value, {s}};
    for (edge_use u : p.edge_uses())
        if (!is_there(u.value))
            return dependence_violation{
                dependence_fault::never_defined, u.value, {p.steps_of(u.pred).last - 1}};
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !is_there(v))
            return dependence_violation{dependence_fault::never_defined, v, {}};
    return std::nullopt;
}

/// A cycle among those that the topological order has not reached, as their owners.
inline std::vector<step_id> cycle_among(csr_rows const& after, std::vector<step_id> const& waits)
{
    std::vector<step_id> from(after.rows(), no_step);
    step_id at = no_step;
    for (step_id x = 0; x != after.rows(); ++x)
        if (waits[x] != 0) {
            at = x;
            for (step_id y : after[x])
                if (waits[y] != 0) from[y] = x;
        }
    std::vector<unsigned char> seen(after.rows());
    for (; !seen[at]; at = from[at]) seen[at] = 1;
    std::vector<step_id> backwards{at}, cycle;
    for (step_id x = from[at]; x != at; x = from[x]) backwards.push_back(x);
    while (!backwards.empty()) {
        cycle.push_back(backwards.back());
        backwards.pop_back();
    }
    return cycle;
}

/// Kahn's algorithm. `waits` counts predecessors; what is left above 0 in the end lies on or behind a cycle.
inline std::vector<step_id> topological_points(csr_rows const& after, std::vector<step_id>& waits,
                                               position_order how)
{
    std::size_t const points = after.rows();
    std::vector<step_id> order, ready;
    order.reserve(points);
    if (how == position_order::as_listed) {
        bool ascends = true;
        for (step_id x = 0; x != points && ascends; ++x)
            for (step_id y : after[x]) ascends &= x < y;
        if (ascends) {
            for (step_id x = 0; x != points; ++x) order.push_back(x);
            waits.assign(points, 0);
            return order;
        }
    }
    auto finish = [&](step_id x, auto found) {
        for (step_id y : after[x])
            if (--waits[y] == 0) found(y);
    };
    for (step_id x = 0; x != points; ++x)
        if (waits[x] == 0) order.push_back(x);
    if (how != position_order::depth_first) {
        for (std::size_t i = 0; i != order.size(); ++i)
            finish(order[i], [&](step_id y) { order.push_back(y); });
        return order;
    }
    auto turn_last = [&](std::size_t first) { // the first of those pushed together comes off first
        for (std::size_t i = first, j = ready.size(); i + 1 < j; ++i) std::swap(ready[i], ready[--j]);
    };
    for (std::size_t i = 0, roots = order.size(); i != roots; ++i)
        finish(order[i], [&](step_id y) { ready.push_back(y); });
    turn_last(0);
    while (!ready.empty()) {
        step_id const x = ready.back();
        ready.pop_back();
        order.push_back(x);
        std::size_t const first = ready.size();
        finish(x, [&](step_id y) { ready.push_back(y); });
        turn_last(first);
    }
    return order;
}

} // namespace detail

/// Who waits for whom in `p`.
///
/// Ensures:    where there is no violation, every step has a position, every edge of the result leads from a
///             lower position to a higher one, and one position comes before another in every execution if
///             and only if edges lead from it there. Steps read where they begin what they read early;
///             what is read at the end of a node is read by its last step.
/// Complexity: O(V + E + steps + touches) time and memory.
/// Throws:     precondition_error for a hand-off between steps that do not exist.
[[nodiscard]] inline dependence_graph dependences(snapshot const& p, dependence_options const& options = {})
{
    dependence_graph g;
    std::vector<step_id> def_of;
    g.violation = detail::only_defs(p, options.role.tabulate(p.values()), def_of);
    if (g.violation) return g;
    for (handoff h : options.handoffs)
        SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(), "sublet: a hand-off names no step");

    detail::dependence_points const points(p);
    csr_rows const after = csr_rows::gathered(points.size(), [&](auto add) {
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const mine = p.steps_of(n);
            for (step_id s = mine.first; s != mine.last; ++s) {
                step_id const begin = points.first(s), end = points.last(s);
                if (begin != end) add(begin, end);
                if (s != mine.first) add(points.last(s - 1), begin);
                for (touch t : p.touches(s))
                    if (t.kind != touch_kind::def && def_of[t.value] != no_step)
                        add(points.last(def_of[t.value]), begin);
            }
            for (node_id to : p.successors(n))
                add(points.last(mine.last - 1), points.first(p.steps_of(to).first));
        }
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1, writer = def_of[u.value];
            if (writer != no_step && writer != reader) add(points.last(writer), points.last(reader));
        }
        for (handoff h : options.handoffs) add(points.last(h.from), points.first(h.to));
    });
    std::vector<step_id> waits(points.size(), 0);
    for (step_id x = 0; x != points.size(); ++x)
        for (step_id y : after[x]) ++waits[y];
    std::vector<step_id> const order = detail::topological_points(after, waits, options.order);
    if (order.size() != points.size()) {
        g.violation = dependence_violation{dependence_fault::cycle, no_value, {}};
        for (step_id x : detail::cycle_among(after, waits)) {
            auto& steps = g.violation->steps;
            step_id const s = points.owner_of(x);
            if (steps.empty() || (steps.back() != s && steps.front() != s)) steps.push_back(s);
        }
        return g;
    }

    std::vector<step_id>& place = waits; // by point: its position
    for (step_id at = 0; at != order.size(); ++at) place[order[at]] = at;
    csr_rows const before = csr_rows::gathered(points.size(), [&](auto add) {
        for (step_id at = 0; at != order.size(); ++at)
            for (step_id y : after[order[at]]) add(place[y], at);
    });
    g.before.reserve(before.rows(), before.items());
    for (std::size_t at = 0; at != before.rows(); ++at) {
        step_id last = no_step;
        for (step_id x : before[at])
            if (x != last) g.before.append(last = x);
        g.before.close_row();
    }
    g.after = g.before.transposed(points.size());
    g.step_at.reserve(order.size());
    for (step_id x : order) g.step_at.push_back(points.owner_of(x));
    g.position_of.reserve(p.steps());
    for (step_id s = 0; s != p.steps(); ++s) g.position_of.push_back(place[points.last(s)]);
    return g;
}

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] dependence_graph dependences(P const& p, dependence_options const& options = {})
{
    return dependences(as_snapshot(p), options);
}

} // namespace sublet

#endif
