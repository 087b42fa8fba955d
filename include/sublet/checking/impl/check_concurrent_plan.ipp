// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_CONCURRENT_PLAN_IPP
#define SUBLET_CHECKING_IMPL_CHECK_CONCURRENT_PLAN_IPP

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_places.hpp>
#include <sublet/checking/clash_schedule.hpp>
#include <sublet/checking/class_touches.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Number the places at which classes begin or end, through all pools: by root, the number of its begin and
/// that of its end. Between one and the next nothing changes.
SUBLET_DECL std::uint32_t number_bounds(plan_demands const& asked, memory_plan const& plan,
                                        std::vector<std::uint32_t>& begin, std::vector<std::uint32_t>& end)
{
    std::vector<keyed> bounds; // {pool, offset, who begins or ends there}
    for (value_id r = 0; r != asked.root.size(); ++r) {
        if (asked.root[r] != r || !asked.is_planned(r)) continue;
        auto const [pool, offset] = place_of(plan, r);
        bounds.push_back({pool, offset, r});
        bounds.push_back({pool, offset + asked.bytes[r], r});
    }
    sort_keyed(bounds);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != bounds.size(); ++i) {
        keyed const& b = bounds[i];
        if (i != 0 && (bounds[i - 1].key != b.key || bounds[i - 1].tie != b.tie)) ++number;
        (place_of(plan, b.who).offset == b.tie ? begin : end)[b.who] = number;
    }
    return number + 1;
}

class concurrent_opponent {
public:
    /// Requires: the plan is complete, and the order has no fault.
    concurrent_opponent(snapshot const& program, memory_plan const& plan, bool in_place,
                        plan_demands const& asked, step_order const& order)
        : p_(program), plan_(plan), in_place_(in_place), asked_(asked), order_(order),
          touches_(program, asked, order), asked_by_(program.values(), no_value)
    {
    }

    /// Let the classes move in one after the other, and ask of each whether it may follow those that it
    /// finds.
    std::optional<concurrent_witness> clash()
    {
        std::vector<std::uint32_t> begin(p_.values()), end(p_.values());
        std::vector<value_id> tenant(number_bounds(asked_, plan_, begin, end), no_value);
        rank_set stretches(tenant.size()); // where one begins that has one tenant, or none
        stretches.insert(0);
        auto cut = [&](std::uint32_t at) {
            if (stretches.contains(at)) return;
            tenant[at] = tenant[stretches.below(at)];
            stretches.insert(at);
        };
        bool goes_on = true;
        auto move_in = [&](value_id v) {
            cut(begin[v]);
            cut(end[v]);
            for (std::uint32_t at = begin[v]; at != end[v] && goes_on; at = stretches.above(at)) {
                goes_on = may_follow(tenant[at], v);
                if (at != begin[v]) stretches.erase(at);
            }
            tenant[begin[v]] = v;
        };
        std::vector<unsigned char> is_there(p_.values());
        for (value_id r = 0; r != p_.values() && goes_on; ++r) {
            if (asked_.root[r] != r || !asked_.is_planned(r) || !touches_.is_given(r)) continue;
            is_there[r] = 1;
            move_in(r);
        }
        for (std::size_t at = 0; at != p_.steps(); ++at)
            for (touch t : p_.touches(order_.step_at[at])) {
                value_id const r = asked_.root[t.value];
                if (t.kind != touch_kind::def || is_there[r] || !asked_.is_planned(r) || !goes_on) continue;
                is_there[r] = 1;
                move_in(r);
            }

        std::uint64_t const answer = questions_.first_no();
        if (goes_on && answer == questions_.none) return std::nullopt;
        std::size_t const pair = answer != questions_.none ? answer : pairs_.size() - 2;
        value_id const u = pairs_[pair], v = pairs_[pair + 1];
        concurrent_witness w = clash_schedule(order_, touches_, plan_, in_place_, u, v);
        auto const common = overlap(asked_, plan_, u, v);
        w.begin = common.begin;
        w.end = common.end;
        w.pool = asked_.pool[u];
        return w;
    }

private:
    /// May v move in where u lies? Says no if that is clear, else asks.
    bool may_follow(value_id u, value_id v)
    {
        if (u == no_value || asked_by_[u] == v) return true;
        asked_by_[u] = v;
        std::uint64_t const name = pairs_.size();
        pairs_.push_back(u);
        pairs_.push_back(v);
        if (touches_.is_kept(u) || touches_.is_given(v)) return false;
        for (step_id d : touches_.begins()[v]) {
            for (step_id t : touches_.ends()[u]) {
                bool const is_past = t == d ? touches_.hands_over(d, u, v, plan_, in_place_)
                                            : order_.position[t] < order_.position[d];
                if (!is_past) return false;
            }
            questions_.ask(u, d, name);
        }
        return true;
    }

    snapshot const& p_;
    memory_plan const& plan_;
    bool in_place_;
    plan_demands const& asked_;
    step_order const& order_;
    class_touches touches_;
    std::vector<value_id> asked_by_; // by root: who was last to move in where it lies
    std::vector<value_id> pairs_;    // that were asked about, one after the other
    order_questions questions_{order_, touches_.ends()};
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

SUBLET_DECL std::optional<concurrent_witness>
check_concurrent_plan(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    concurrent_witness found;
    plan_demands const asked = demands(p, options);
    if (detail::is_foreign(plan, p.steps(), p.values())) {
        found.what = fault::foreign_plan;
        return found;
    }
    step_order const order = order_of_steps(p, asked.role, plan.handoffs);
    std::optional<witness> fact = order.fault;
    if (!fact) fact = check_places(asked, plan, options);
    if (!fact) return detail::concurrent_opponent(p, plan, options.in_place, asked, order).clash();
    static_cast<witness&>(found) = *fact;
    found.schedule = order.cycle;
    return found;
}

} // namespace sublet

#endif
