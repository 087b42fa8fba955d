// SPDX-License-Identifier: BSL-1.0

/// For a step that waits for an optional one, a search backward over the steps that run whenever it does;
/// what comes before the optional step has to be found. Joins of the order run always. Two steps that access
/// the same bytes are ordered by these, where `order` has only the way by the step between them: such pairs
/// are added first, from the last optional step to the first.

#include <sublet/checking/internal/left_out_order.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// By step: it may be left out.
SUBLET_COLD_DECL table<step_id, unsigned char> optional_steps(snapshot const& p, plan_options const& options)
{
    table<step_id, unsigned char> is_optional(p.steps(), 0);
    for (step_id s : options.optional) {
        SUBLET_EXPECTS(s < p.steps(), "sublet: step % may be left out, but there are only % steps", s,
                       p.steps());
        is_optional[s] = 1;
    }
    return is_optional;
}

/// Calls visit(step, value, optional step) where the first touches a value that the last one makes, or makes
/// a view of it.
template <class Visit>
void each_need(snapshot const& p, plan_requirements const& required,
               table<step_id, unsigned char> const& is_optional, Visit visit)
{
    std::vector<std::pair<value_id, step_id>> made;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (is_optional[s] != 0 && t.defines()) made.push_back({t.value, s});
    if (made.empty()) return;
    std::vector<std::vector<step_id>> by_value(p.values());
    for (auto const& [v, s] : made) by_value[v].push_back(s);
    auto touched = [&](step_id s, value_id v) {
        for (step_id by : by_value[v])
            if (by != s) visit(s, v, by);
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            touched(s, t.value);
            if (value_id const r = required.root[t.value]; t.makes_view() && r != t.value) touched(s, r);
        }
    for (edge_use u : p.edge_uses()) touched(p.steps_of(u.pred).last - 1, u.value);
}

SUBLET_DECL std::optional<counterexample> needs_left_out(snapshot const& p, plan_options const& options,
                                                         plan_requirements const& required)
{
    std::optional<counterexample> first;
    if (options.optional.empty()) return first;
    auto const is_optional = optional_steps(p, options);
    each_need(p, required, is_optional, [&](step_id s, value_id v, step_id by) {
        if (is_optional[s] == 0 && (!first || s < first->step()))
            first = counterexample{fault::needs_left_out,
                                   counterexample::access{.value = v, .step = s, .maker = by}};
    });
    return first;
}

/// Both access a byte, and one writes it.
SUBLET_COLD_DECL bool is_ordered_by_bytes(snapshot const& p, plan_requirements const& required, step_id a,
                                          step_id b)
{
    for (touch t : p.touches(a))
        for (touch u : p.touches(b)) {
            if (required.root[t.value] != required.root[u.value] || (!t.writes() && !u.writes())) continue;
            if (t.kind == touch::access::view || u.kind == touch::access::view) continue;
            if (required.offset_in_root[t.value] < required.end_in_root(u.value) &&
                required.offset_in_root[u.value] < required.end_in_root(t.value))
                return true;
        }
    return false;
}

SUBLET_DECL std::optional<counterexample> lost_with_left_out(snapshot const& p, plan_options const& options,
                                                             plan_requirements const& required,
                                                             step_order const& order)
{
    using point = step_order::point;
    if (options.optional.empty()) return std::nullopt;
    auto const is_optional = optional_steps(p, options);
    std::vector<std::vector<step_id>> needs(p.steps()), needed_in(p.steps());
    each_need(p, required, is_optional, [&](step_id s, value_id, step_id by) {
        needs[to_size(+s)].push_back(by);
        needed_in[to_size(+by)].push_back(s);
    });
    std::size_t const points = order.after.rows();
    std::vector<std::vector<point>> before(points), after(points);
    for (point from = 0; from != points; ++from)
        for (point to : order.after[from]) {
            before[to].push_back(from);
            after[from].push_back(to);
        }

    auto is_join = [&](point x) { return x >= p.steps(); };
    std::vector<std::uint32_t> seen(points, 0); // by point: the last search that found it
    std::uint32_t searches = 0;
    // All that `from` leads to in one direction, with what is behind joins in place of these.
    auto steps_next_to = [&](point x, std::vector<std::vector<point>> const& next) {
        std::vector<point> found, open{x};
        ++searches;
        while (!open.empty()) {
            point const at = open.back();
            open.pop_back();
            for (point to : next[at]) {
                if (std::exchange(seen[to], searches) == searches) continue;
                (is_join(to) ? open : found).push_back(to);
            }
        }
        return found;
    };
    for (std::size_t i = order.step_at.size(); i-- != 0;) {
        point const between = order.step_at[position_id::of(i)];
        if (is_join(between) || is_optional[step_id{between}] == 0) continue;
        std::vector<point> const later = steps_next_to(between, after);
        for (point from : steps_next_to(between, before))
            for (point to : later)
                if (is_ordered_by_bytes(p, required, step_id{from}, step_id{to})) {
                    before[to].push_back(from);
                    after[from].push_back(to);
                }
    }
    std::vector<std::uint32_t> takes_of(points, 0); // by point: 1 + the last step that it takes data of
    for (point left_out = 0; left_out != p.steps(); ++left_out) {
        if (is_optional[step_id{left_out}] == 0) continue;
        for (step_id s : needed_in[left_out]) takes_of[+s] = left_out + 1;
        std::vector<point> const earlier = steps_next_to(left_out, before);
        if (earlier.empty()) continue;
        for (point later : steps_next_to(left_out, after)) {
            if (takes_of[later] == left_out + 1) continue;
            std::vector<unsigned char> runs(points, 0), is_before(points, 0); // whenever `later` runs
            std::vector<point> open{later};
            runs[later] = 1;
            while (!open.empty()) {
                point const at = open.back();
                open.pop_back();
                for (step_id by : needs[at])
                    if (std::exchange(runs[+by], 1) == 0) open.push_back(+by);
            }
            if (runs[left_out] != 0) continue;
            open.push_back(later);
            while (!open.empty()) {
                point const at = open.back();
                open.pop_back();
                if (!is_join(at) && is_optional[step_id{at}] != 0 && runs[at] == 0) continue;
                for (point from : before[at])
                    if (std::exchange(is_before[from], 1) == 0) open.push_back(from);
            }
            for (point from : earlier) {
                if (is_before[from] != 0) continue;
                counterexample why{fault::order_left_out, counterexample::waiting{.step = step_id{left_out}}};
                why.schedule = {step_id{from}, step_id{left_out}, step_id{later}};
                return why;
            }
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
