// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_COLOR_CHORDAL_IPP
#define SUBLET_SHARING_IMPL_COLOR_CHORDAL_IPP

#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/dominators.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/color_chordal.hpp>
#include <sublet/sharing/slot_set.hpp>

#include <span>
#include <vector>

namespace sublet::detail {

/// The slots of values fixed to one, by each value that occupies a step where such a one is defined; or two
/// fixed values that meet so.  O(values + touches + for each such step, what is alive and the rest of its
/// node)
SUBLET_DECL csr_rows slots_to_avoid(snapshot const& p, live_sets const& live,
                                    std::vector<slot_id> const& fixed, std::optional<fixed_clash>& clash)
{
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch_kind::def) def_of[t.value] = s;

    std::vector<value_id> avoids; // each the slot of the same index
    std::vector<slot_id> avoided;
    std::vector<value_id> newcomers, occupants;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            newcomers.clear();
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def && fixed[t.value] != no_slot) newcomers.push_back(t.value);
            if (newcomers.empty()) continue;

            occupants.clear();
            auto meet = [&](value_id v) { // unless it is defined later in this node
                if (def_of[v] <= s || def_of[v] >= p.steps_of(n).last) occupants.push_back(v);
            };
            for (touch t : p.touches(s))
                if (t.kind != touch_kind::use_early) meet(t.value);
            for (touch t : p.touches({s + 1, p.steps_of(n).last}))
                if (t.kind != touch_kind::def) meet(t.value);
            live.for_each_live_out(n, meet);

            for (value_id mine : newcomers)
                for (value_id v : occupants) {
                    if (v == mine) continue;
                    if (fixed[v] == no_slot) {
                        avoids.push_back(v);
                        avoided.push_back(fixed[mine]);
                    } else if (fixed[v] == fixed[mine] && !clash) {
                        clash = fixed_clash{mine, v, fixed[v], s};
                    }
                }
        }
    return csr_rows::gathered(p.values(), [&](auto add) {
        for (std::size_t i = 0; i != avoids.size(); ++i) add(avoids[i], avoided[i]);
    });
}

/// For each touch of a node, when its value leaves the storage for good.
enum class departure : unsigned char { none, before_writes, after_step };

class departures {
public:
    explicit departures(std::size_t values) : touched_in_(values, no_node), held_in_(values, no_step) {}

    /// By index of the touch in the node; good until the next call. Each node is asked for once.
    std::vector<departure> const& of(snapshot const& p, live_sets const& live, node_id n)
    {
        std::span<touch const> const all = p.touches(p.steps_of(n));
        when_.assign(all.size(), departure::none);
        bool early = false, held = false;
        for (std::size_t i = all.size(); i-- != 0;) {
            touch const t = all[i];
            early |= t.kind == touch_kind::use_early;
            held |= t.kind == touch_kind::use;
            if (touched_in_[t.value] == n) continue;
            touched_in_[t.value] = n;
            if (live.is_live_out(t.value, n)) continue;
            when_[i] = t.kind == touch_kind::use_early ? departure::before_writes : departure::after_step;
        }
        if (early && held) hold(p, n);
        return when_;
    }

private:
    /// A value that its step reads in both ways does not leave before the writes.
    void hold(snapshot const& p, node_id n)
    {
        std::size_t i = 0;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::use) held_in_[t.value] = s;
            for (touch t : p.touches(s)) {
                if (when_[i] == departure::before_writes && held_in_[t.value] == s)
                    when_[i] = departure::after_step;
                ++i;
            }
        }
    }

    std::vector<node_id> touched_in_; // by value: the last node that was asked for
    std::vector<step_id> held_in_;    // by value: the last step that holds it
    std::vector<departure> when_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL chordal_coloring color_chordal(snapshot const& p, live_sets const& live,
                                           chordal_options const& options)
{
    detail::expect_sets_of(p, live);
    chordal_coloring result;
    dominator_tree const tree = dominators(p.graph(), p.predecessors(), depth_first(p.graph()));
    result.violation = find_ssa_violation(p, tree);
    if (result.violation) return result;

    std::vector<slot_id> const fixed = options.fixed.tabulate(p.values());
    csr_rows avoided;
    bool has_fixed = false;
    for (slot_id s : fixed) has_fixed = has_fixed || s != no_slot;
    if (has_fixed) avoided = detail::slots_to_avoid(p, live, fixed, result.clash);
    if (result.clash) return result;

    csr_rows const partners = csr_rows::gathered(p.values(), [&p](auto add) {
        for (overwrite o : p.overwrites()) {
            add(o.in, o.out);
            add(o.out, o.in);
        }
    });
    std::vector<slot_id>& slot_of = result.plan.slot_of;
    slot_of.assign(p.values(), no_slot);
    detail::slot_set taken;
    auto may_take = [&](value_id v, slot_id slot) {
        if (slot == no_slot || taken.contains(slot)) return false;
        if (avoided.rows() == 0) return true;
        for (slot_id s : avoided[v])
            if (s == slot) return false;
        return true;
    };
    auto slot_for = [&](value_id v) {
        if (fixed[v] != no_slot) return fixed[v];
        for (value_id w : partners[v])
            if (may_take(v, slot_of[w])) return slot_of[w];
        slot_id slot = taken.lowest_free();
        while (!may_take(v, slot)) slot = taken.lowest_free(slot + 1);
        return slot;
    };

    detail::departures departures(p.values());
    for (node_id n : tree.preorder) {
        taken.clear();
        slot_id alive = 0;
        live.for_each_live_in(n, [&](value_id v) {
            if (taken.contains(slot_of[v])) return; // of an earlier tree, whose nodes n leads to
            taken.insert(slot_of[v]);
            ++alive;
        });
        auto leave = [&](value_id v) {
            taken.erase(slot_of[v]);
            --alive;
        };
        detail::departure const* leaves = departures.of(p, live, n).data();
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            std::span<touch const> const touches = p.touches(s);
            bool some_leave_after = false;
            for (std::size_t i = 0; i != touches.size(); ++i) {
                value_id const v = touches[i].value;
                if (touches[i].kind == touch_kind::def) {
                    slot_of[v] = slot_for(v);
                    taken.insert(slot_of[v]);
                    ++alive;
                    if (result.plan.slots <= slot_of[v]) result.plan.slots = slot_of[v] + 1;
                }
                if (leaves[i] == detail::departure::before_writes) leave(v);
                some_leave_after |= leaves[i] == detail::departure::after_step;
            }
            if (alive > result.max_live) {
                result.max_live = alive;
                result.max_live_step = s;
            }
            for (std::size_t i = 0; some_leave_after && i != touches.size(); ++i)
                if (leaves[i] == detail::departure::after_step) leave(touches[i].value);
            leaves += touches.size();
        }
    }
    for (overwrite o : p.overwrites())
        result.affinities_kept += slot_of[o.in] != no_slot && slot_of[o.in] == slot_of[o.out];
    return result;
}

SUBLET_DECL chordal_coloring color_chordal(snapshot const& p, chordal_options const& options)
{
    return color_chordal(p, liveness(p), options);
}

} // namespace sublet

#endif
