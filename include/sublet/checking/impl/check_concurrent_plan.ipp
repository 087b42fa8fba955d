// SPDX-License-Identifier: BSL-1.0

/// Classes in the order of their first defs; each byte remembers its last occupant, and a class that takes
/// it over is compared with that one by the order of steps.

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/detail/class_touches.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/left_out_order.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

/// Numbers the offsets where classes begin or end, by pool; `begin`, `end`: by root. Returns the count.
SUBLET_DECL std::uint32_t number_bounds(plan_requirements const& required, memory_plan const& plan,
                                        table<value_id, std::uint32_t>& begin,
                                        table<value_id, std::uint32_t>& end)
{
    std::vector<sort_key> bounds; // {pool, offset, class that begins or ends}
    for (value_id r = 0; r != required.root.size(); ++r) {
        if (required.root[r] != r || !required.is_planned(r)) continue;
        auto const [pool, offset] = place_of(plan, r);
        bounds.push_back({pool, offset, r});
        bounds.push_back({pool, offset + required.bytes[r], r});
    }
    sort_by_key(bounds);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != bounds.size(); ++i) {
        sort_key const& b = bounds[i];
        if (i != 0 && (bounds[i - 1].key != b.key || bounds[i - 1].tie != b.tie)) ++number;
        (place_of(plan, b.id).offset == b.tie ? begin : end)[b.id] = number;
    }
    return number + 1;
}

class concurrent_checker {
public:
    /// Requires: the plan is complete, and the order has no fault.
    concurrent_checker(snapshot const& program, memory_plan const& plan, bool in_place,
                       plan_requirements const& required, step_order const& order)
        : p_(program), plan_(plan), in_place_(in_place), required_(required), order_(order),
          touches_(program, required, order), last_reuser_(program.values(), no_value)
    {
    }

    /// Inserts the classes by first def and checks that each may reuse the bytes of those it replaces.
    std::optional<counterexample> clash()
    {
        table<value_id, std::uint32_t> begin(p_.values()), end(p_.values());
        std::vector<value_id> occupant(number_bounds(required_, plan_, begin, end), no_value);
        rank_set segments(occupant.size()); // starts of byte ranges with one occupant, or none
        segments.insert(0);
        auto split_at = [&](std::uint32_t at) {
            if (segments.contains(at)) return;
            occupant[at] = occupant[segments.below(at)];
            segments.insert(at);
        };
        bool no_clash = true;
        auto occupy = [&](value_id v) {
            split_at(begin[v]);
            split_at(end[v]);
            for (std::uint32_t at = begin[v]; at != end[v] && no_clash; at = segments.above(at)) {
                no_clash = may_reuse(occupant[at], v);
                if (at != begin[v]) segments.erase(at);
            }
            occupant[begin[v]] = v;
        };
        table<value_id, unsigned char> is_there(p_.values());
        for (value_id r = 0; r != p_.values() && no_clash; ++r) {
            if (required_.root[r] != r || !required_.is_planned(r) || !touches_.is_given(r)) continue;
            is_there[r] = 1;
            occupy(r);
        }
        for (step_id s : order_.step_at) {
            if (s >= p_.steps()) continue; // a join
            for (touch t : p_.touches(s)) {
                value_id const r = required_.root[t.value];
                if (!t.defines() || is_there[r] || !required_.is_planned(r) || !no_clash) continue;
                is_there[r] = 1;
                occupy(r);
            }
        }

        std::uint64_t const answer = queries_.first_failed();
        if (no_clash && answer == queries_.none) return std::nullopt;
        std::size_t const pair = answer != queries_.none ? to_size(answer) : pairs_.size() - 2;
        value_id const u = pairs_[pair], v = pairs_[pair + 1];
        auto const common = overlap(required_, plan_, u, v);
        return clash_schedule(order_, touches_, plan_, in_place_,
                              {.value = u,
                               .other = v,
                               .pool = place_of(plan_, u).pool,
                               .begin = common.begin,
                               .end = common.end});
    }

private:
    /// Whether v may reuse bytes of u: no if that is clear, else adds a query and assumes yes.
    bool may_reuse(value_id u, value_id v)
    {
        if (u == no_value || last_reuser_[u] == v) return true;
        last_reuser_[u] = v;
        std::uint64_t const name = pairs_.size();
        pairs_.push_back(u);
        pairs_.push_back(v);
        if (touches_.is_kept(u) || touches_.is_given(v)) return false;
        for (step_id d : touches_.begins()[v]) {
            for (step_id t : touches_.ends()[u]) {
                bool const is_past = t == d ? touches_.can_overwrite(d, u, v, plan_, in_place_)
                                            : order_.position[t] < order_.position[d];
                if (!is_past) return false;
            }
            queries_.add(u, d, name);
        }
        return true;
    }

    snapshot const& p_;
    memory_plan const& plan_;
    bool in_place_;
    plan_requirements const& required_;
    step_order const& order_;
    class_touches touches_;
    table<value_id, value_id> last_reuser_; // by root: the class that reused its bytes last
    std::vector<value_id> pairs_;           // checked pairs, flattened
    reachability_queries queries_{order_, touches_.ends()};
};

SUBLET_DECL bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values)
{
    if (plan.valid_for != program_reading::concurrent || !is_complete(plan, values)) return true;
    for (handoff h : plan.handoffs)
        if (h.from >= steps || h.to >= steps) return true;
    return false;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_concurrent_plan(snapshot const& p, memory_plan const& plan,
                                          plan_options const& given)
{
    auto const asked = detail::with_said_views(p, detail::asked_options(given, p.values()));
    plan_options const& options = *asked;
    detail::expect_steps_run_once(p);
    detail::expect_pages(options, "check_concurrent_plan");
    detail::expect_no_apart(options, "check_concurrent_plan");
    detail::plan_requirements required = detail::derive_requirements(p, options);
    if (detail::is_foreign(plan, p.steps(), p.values())) return counterexample{fault::foreign_plan};
    if (auto const unclear = detail::misnamed_view(p, required)) return unclear;
    detail::step_order const order = detail::order_of_steps(p, required, plan.handoffs);
    std::optional<counterexample> fact = order.fault;
    if (fact) fact->schedule = order.cycle;
    if (!fact) fact = detail::needs_left_out(p, options, required);
    if (!fact) fact = detail::lost_with_left_out(p, options, required, order);
    if (!fact) fact = detail::check_places(required, plan, options);
    auto const positions = position_id::of(detail::larger(p.steps(), std::size_t{1}));
    if (!fact) fact = detail::hold_carried(required, plan, options, positions);
    auto clash = [&](detail::plan_requirements const& its) {
        return detail::concurrent_checker(p, plan, options.in_place, its, order).clash();
    };
    if (!fact) fact = clash(required);
    if (!fact) fact = detail::check_guards(required, plan, options, clash);
    return fact;
}

} // namespace sublet
