// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP
#define SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP

/// The opponent of every plan for steps that run in any order: looks for an order in which it goes wrong.
///
///     offset 64 |  [== a ==|== c ==|= e =)      each byte is handed on: from a to c, from c to e. Is c first
///            32 |  [== a ==|= d =|== e ==)      written after all touches of a? If so for each hand-over,
///               +-------------------------      e need not be compared with a.
///
/// u may give its bytes to v if and only if every touch of u comes before every def of v. That is transitive,
/// so whoever shares a byte forms a chain or there is a fault between two neighbours. Let the classes of
/// values move in by the position of their first def: whoever is to receive anything moves in after the
/// giver, and what has to be asked about is, byte by byte, only who lies there last.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. Nothing is taken from any planner, the order of the steps included.

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/clash_schedule.hpp>
#include <sublet/checking/class_touches.hpp>
#include <sublet/checking/concurrent_witness.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

namespace detail {

/// Number the places at which classes begin or end, through all pools: by root, the number of its begin and
/// that of its end. Between one and the next nothing changes.
inline std::uint32_t number_bounds(plan_demands const& asked, memory_plan const& plan,
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

/// A plan of another program or reading.
inline bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values)
{
    if (plan.valid_for != program_reading::concurrent || !is_complete(plan, values)) return true;
    for (handoff h : plan.handoffs)
        if (h.from >= steps || h.to >= steps) return true;
    return false;
}

} // namespace detail

/// Look for a reason why `plan` is not a plan of this program for steps that run in any order. None: it is
/// proved that in every execution that waits for data, for edges of the program, for the row of steps of a
/// node and for the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is there before
/// all steps and needed until its last touch, an output until after them all. A step may write over what it
/// reads early, and over an operand in place, as declared, if all other touches come before. A value and its
/// views are one and the same to it, and are not compared.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles;
///             `options.order`, which says nothing here, empty or every node once.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that clash, though a value that nobody reads might as well be
///             destroyed. Classes move in by the position of their first def, those of one step as it lists
///             them, and meet those that lie there by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and what order_questions
///             takes for about as many questions as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] inline std::optional<concurrent_witness>
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

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] std::optional<concurrent_witness> check_concurrent_plan(P const& p, memory_plan const& plan,
                                                                      plan_options const& options)
{
    return check_concurrent_plan(as_snapshot(p), plan, options);
}

} // namespace sublet

#endif
