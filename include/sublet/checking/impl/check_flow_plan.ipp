// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_FLOW_PLAN_IPP
#define SUBLET_CHECKING_IMPL_CHECK_FLOW_PLAN_IPP

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_places.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/intact_arrivals.hpp>
#include <sublet/checking/intact_values.hpp>
#include <sublet/checking/node_ends.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/spoiling_path.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Requires: check_places has passed the plan, whose order that of `asked` is; the program has a node.
class flow_opponent {
public:
    flow_opponent(snapshot const& program, memory_plan const& plan, plan_demands const& asked,
                  node_ends const& ends, bool in_place)
        : program_(program), plan_(plan), asked_(asked), ends_(ends), in_place_(in_place),
          classes_(asked, plan), now_(classes_, program.values()), held_(classes_.size()),
          written_(classes_.size()), paths_{program, asked, classes_, {}, {}}
    {
    }

    std::optional<witness> first_fault()
    {
        paths_.beside_entry.assign(classes_.size(), no_value);
        intact_arrivals const arriving(program_, classes_, given(), now_);
        paths_.is_reached = arriving.reached();
        for (std::size_t i = 0; i != program_.nodes(); ++i) {
            node_id const n = node_at(i);
            if (!arriving.is_reached(n)) continue;
            arriving.enter(n, now_);
            step_range const mine = program_.steps_of(n);
            for (step_id s = mine.first; s != mine.last; ++s)
                if (auto fact = fault_at(s, n)) return fact;
            for (value_id v : ends_.read_by_edges[n])
                if (auto fact = lost(v, n, mine.last)) return fact;
            if (program_.successors(n).empty() || ends_.is_endless[n])
                for (value_id v : ends_.outputs)
                    if (auto fact = lost(v, n, mine.last)) return fact;
            static_cast<void>(now_.taken());
        }
        return std::nullopt;
    }

private:
    node_id node_at(std::size_t i) const
    {
        return plan_.order.empty() ? static_cast<node_id>(i) : plan_.order[i];
    }

    /// What the program is given. Who lies upon another of them cannot be there.
    std::vector<value_id> given()
    {
        std::size_t const values = program_.values();
        std::vector<value_id> by_place(classes_.size(), no_value), whole;
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(asked_.role[v])) by_place[classes_.rank_of(v)] = v;
        auto end_of = [this](value_id v) { return place_of(plan_, v).offset + asked_.bytes[asked_.root[v]]; };
        value_id furthest = no_value;
        for (value_id v : by_place) {
            if (v == no_value) continue;
            if (furthest != no_value && classes_.meet(furthest, v)) {
                paths_.beside_entry[classes_.rank_of(v)] = furthest;
                paths_.beside_entry[classes_.rank_of(furthest)] = v;
            }
            if (furthest == no_value || place_of(plan_, furthest).pool != place_of(plan_, v).pool ||
                end_of(furthest) < end_of(v))
                furthest = v;
        }
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(asked_.role[v]) &&
                paths_.beside_entry[classes_.rank_of(v)] == no_value)
                whole.push_back(v);
        return whole;
    }

    std::optional<witness> lost(value_id v, node_id n, step_id before) const
    {
        if (!classes_.is_placed(v) || now_.has(v)) return std::nullopt;
        return find_spoiling_path(paths_, v, n, before);
    }

    /// Reads, then writes; what it holds and writes lies apart, but for what it may write over.
    std::optional<witness> fault_at(step_id s, node_id n)
    {
        std::vector<value_id> loose; // held, and on some path not written at all: these may overlap others
        for (touch t : program_.touches(s)) {
            if (t.kind == touch_kind::def || !classes_.is_placed(t.value)) continue;
            if (auto fact = lost(t.value, n, s)) return fact;
            if (t.kind != touch_kind::use) continue;
            if (now_.has(t.value)) held_.insert(classes_.rank_of(t.value));
            else loose.push_back(t.value);
        }
        std::optional<witness> fact;
        for (touch t : program_.touches(s)) {
            if (t.kind != touch_kind::def || !classes_.is_placed(t.value)) continue;
            auto hit = [&](value_id other) {
                if (!fact) fact = classes_.clash(other, t.value, asked_.position[s]);
            };
            classes_.each_hit(written_, t.value, [&](std::uint32_t other) { hit(classes_.root_at(other)); });
            classes_.each_hit(held_, t.value, [&](std::uint32_t other) {
                if (!takes_over(s, classes_.root_at(other), t.value)) hit(classes_.root_at(other));
            });
            for (value_id other : loose)
                if (classes_.rank_of(other) != classes_.rank_of(t.value) && classes_.meet(other, t.value) &&
                    !takes_over(s, other, t.value))
                    hit(other);
            written_.insert(classes_.rank_of(t.value));
        }
        for (touch t : program_.touches(s)) {
            if (!classes_.is_placed(t.value)) continue;
            bool const writes = t.kind == touch_kind::def;
            (writes ? written_ : held_).erase(classes_.rank_of(t.value));
            if (writes) now_.write(t.value);
        }
        return fact;
    }
    /// All that the step holds of the class of `in` may be overwritten by `out`, which lies within it.
    bool takes_over(step_id s, value_id in, value_id out) const
    {
        if (!in_place_ || place_of(plan_, in) != place_of(plan_, out)) return false;
        if (asked_.bytes[asked_.root[out]] > asked_.bytes[asked_.root[in]]) return false;
        for (touch t : program_.touches(s)) {
            if (t.kind != touch_kind::use || asked_.root[t.value] != asked_.root[in]) continue;
            bool is_declared = false;
            for (overwrite o : program_.overwrites(s))
                is_declared = is_declared || (o.in == t.value && o.out == out);
            if (!is_declared) return false;
        }
        return true;
    }

    snapshot const& program_;
    memory_plan const& plan_;
    plan_demands const& asked_;
    node_ends const& ends_;
    bool const in_place_;
    placed_classes const classes_;
    intact_values now_;       // where the walk is
    rank_set held_, written_; // by the step that is looked at
    flow_paths paths_;
};

/// Whether the plan is of such a program, and its order is one.
SUBLET_DECL bool is_flow_plan_of(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    if (plan.valid_for != program_reading::control_flow || !is_complete(plan, p.values())) return false;
    if (!options.order.empty() && options.order != plan.order) return false;
    if (plan.order.empty()) return true;
    std::vector<unsigned char> is_named(p.nodes(), 0);
    for (node_id n : plan.order)
        if (n >= p.nodes() || std::exchange(is_named[n], 1)) return false;
    return plan.order.size() == p.nodes();
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<witness> check_flow_plan(snapshot const& p, memory_plan const& plan,
                                                   plan_options const& options, flow_options const& flow)
{
    if (!detail::is_flow_plan_of(p, plan, options)) return witness{.what = fault::foreign_plan};
    plan_options in_order = options;
    in_order.order = plan.order;
    plan_demands const asked = demands(p, in_order);
    node_ends const ends = ends_of_nodes(p, asked);
    if (auto fact = find_unwritten_read(p, asked, ends, flow)) return fact;
    if (auto fact = check_places(asked, plan, in_order)) return fact;
    if (p.nodes() == 0) return std::nullopt;
    return detail::flow_opponent(p, plan, asked, ends, options.in_place).first_fault();
}

} // namespace sublet

#endif
