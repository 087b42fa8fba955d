// SPDX-License-Identifier: BSL-1.0

/// One walk along the steps with the current version of each value: touches of a step name current versions;
/// copies out follow the step, copies back and recomputed steps come before the next, sorted by position.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/insert_spills.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

class spill_inserter {
public:
    spill_inserter(snapshot const& p, table<position_id, step_id> const& steps, plan_options const& options,
                   std::span<memory_plan::in_place_pair const> in_place)
        : p_(p), steps_(steps), at_node_ends_(node_end_touches(p, steps)), needed_until_(p.values(), 0)
    {
        in_place_ = csr_rows<step_id, value_id>::gathered(p.steps(), [&](auto add) {
            for (memory_plan::in_place_pair const& pair : in_place) {
                add(pair.step, pair.in);
                add(pair.step, pair.out);
            }
        });
        result_.alias_of = options.alias_of.tabulate(p.values(), "alias_of");
        result_.view_offset = options.view_offset.tabulate(p.values(), "view_offset");
        offset_in_root_ = offsets_in_roots(result_.alias_of, result_.view_offset);
        result_.role = options.role.tabulate(p.values(), "role");
        classes_ = classes_of(result_.alias_of);
        for (value_id v = 0; v != p.values(); ++v) {
            result_.origin.push_back(v);
            is_defined_.push_back(is_given(result_.role[v]));
            if (has_role(result_.role[v], value_role::output)) needed_until_[v] = positions();
        }
        result_.final_version = result_.origin; // during the rewrite: the current version
        for (position_id at = 0; at != positions(); ++at)
            for (touch t : p.touches(steps[at])) need(t.value, at);
        for (sort_key const& k : at_node_ends_) need(k.id, position_id::of(k.key));
        if (p.has_allocations()) toucher_.assign(classes_.root.size(), no_step);
        for (step_id s = 0; !toucher_.empty() && s != p.steps(); ++s)
            for (touch t : p.touches(s)) {
                step_id& sole = toucher_[classes_.buffer_of[t.value]];
                sole = sole == no_step || sole == s ? s : several;
            }
        members_ = csr_rows<buffer_id, value_id>::gathered(classes_.root.size(), [&](auto add) {
            for (value_id v = 0; v != classes_.buffer_of.size(); ++v) add(classes_.buffer_of[v], v);
        });
    }

    spilled_program write(std::span<spill_candidate const> candidates)
    {
        std::vector<sort_key> out, back; // {position, order at it, candidate}
        for (std::uint32_t i = 0; i != candidates.size(); ++i) {
            spill_candidate const& a = candidates[i];
            bool const is_copied = a.remat_at == no_position;
            if (is_copied) out.push_back({a.after, 0, i});
            back.push_back({a.before, is_copied ? 0 : std::uint64_t{a.remat_at} + 1, i});
            if (is_copied) continue;
            for (touch t : p_.touches(steps_[a.remat_at])) // also a view with no other later use
                if (!t.defines()) need(t.value, a.before);
        }
        sort_by_key(out);
        sort_by_key(back);
        std::vector<value_id> home(candidates.size(), no_value);
        auto next_out = out.begin();
        auto next_back = back.begin();
        auto next_at_node_end = at_node_ends_.begin();
        for (position_id at = 0; at != positions(); ++at) {
            for (; next_back != back.end() && next_back->key == at; ++next_back) {
                spill_candidate const& a = candidates[next_back->id];
                if (a.remat_at == no_position) copy_back(a, home[next_back->id]);
                else rematerialize(a);
            }
            for (touch t : p_.touches(steps_[at])) {
                touches_.push_back({current(t.value), t.kind});
                if (t.defines()) is_defined_[t.value] = 1;
            }
            auto const pairs = in_place_[steps_[at]];
            for (std::size_t i = 0; i != pairs.size(); i += 2)
                overwrites_.push_back(
                    {step_id::of(result_.steps.size()), current(pairs[i]), current(pairs[i + 1])});
            for (; next_at_node_end != at_node_ends_.end() && next_at_node_end->key == at; ++next_at_node_end)
                edge_uses_.push_back(
                    {no_node, node_id::of(result_.steps.size()), current(next_at_node_end->id)});
            end_step({spilled_program::kind::original, steps_[at]});
            for (; next_out != out.end() && next_out->key == at; ++next_out)
                home[next_out->id] = copy_out(candidates[next_out->id]);
        }
        result_.program = list();
        return std::move(result_);
    }

private:
    [[nodiscard]] std::uint32_t positions() const { return static_cast<std::uint32_t>(steps_.size()); }
    [[nodiscard]] value_id current(value_id v) const { return result_.final_version[v]; }
    void need(value_id v, position_id at) { needed_until_[v] = larger(needed_until_[v], at); }
    void end_step(spilled_program::step step)
    {
        result_.steps.push_back(step);
        end_.push_back(touches_.size());
    }
    /// `alias`: the root that the value is a view of, if it is one.
    value_id add_value(value_id origin, value_role role, value_id alias)
    {
        result_.view_offset.push_back(alias == no_value ? 0 : offset_in_root_[origin]);
        result_.origin.push_back(origin);
        result_.role.push_back(role);
        result_.alias_of.push_back(alias);
        return value_id::of(result_.origin.size() - 1);
    }

    value_id copy_out(spill_candidate const& a)
    {
        value_id const home = add_value(a.root, value_role::state, no_value);
        result_.homes.push_back(home);
        touches_.push_back({current(a.root), touch::access::use});
        touches_.push_back({home, touch::access::def});
        end_step({spilled_program::kind::copied_out, steps_[a.after]});
        return home;
    }

    /// Replaces a value and its views with later uses by new values. Returns the replaced ones.
    std::vector<value_id> replace(spill_candidate const& a)
    {
        std::vector<value_id> replaced;
        value_role const kept = value_role::input;
        value_id root = no_value;
        auto take = [&](value_id v) {
            value_id const old = current(v);
            bool const is_output = has_role(result_.role[old], value_role::output);
            result_.role[old] = has_role(result_.role[old], kept) ? kept : value_role::intermediate;
            result_.final_version[v] =
                add_value(v, is_output ? value_role::output : value_role::intermediate, root);
            replaced.push_back(v);
        };
        take(a.root);
        root = current(a.root);
        for (value_id v : members_[classes_.buffer_of[a.root]])
            if (v != a.root && needed_until_[v] >= a.before) take(v);
        return replaced;
    }

    void copy_back(spill_candidate const& a, value_id home)
    {
        touches_.push_back({home, touch::access::use});
        for (value_id v : replace(a))
            if (is_defined_[v])
                touches_.push_back({current(v), v == a.root ? touch::access::def : touch::access::view});
        end_step({spilled_program::kind::copied_back, steps_[a.before]});
    }

    void rematerialize(spill_candidate const& a)
    {
        step_id const step = steps_[a.remat_at];
        replace(a);
        for (touch t : p_.touches(step)) {
            value_id v = current(t.value);
            if (t.defines()) {
                bool const is_side_result = classes_.buffer_of[t.value] != classes_.buffer_of[a.root];
                bool const is_replaced = t.value == a.root || needed_until_[t.value] >= a.before;
                if (is_side_result) v = add_value(t.value, value_role::intermediate, no_value);
                else if (!is_replaced) v = add_value(t.value, value_role::intermediate, current(a.root));
            }
            touches_.push_back({v, t.kind});
        }
        end_step({spilled_program::kind::rematerialize, step});
    }

    /// The copy of a spill holds all bytes. Scratch, which one step touches, is never spilled.
    [[nodiscard]] bool is_spilled_allocation(touch t) const
    {
        return t.kind == touch::access::allocate &&
               toucher_[classes_.buffer_of[result_.origin[t.value]]] == several;
    }

    /// One node per step, in a chain.
    snapshot list() const
    {
        std::size_t const nodes = end_.size();
        table<node_id, node_id> next;
        for (node_id n = 0; n != nodes; ++n) next.push_back(n + 1 == nodes ? +n : n + 1);
        bool const has_back_edge = !edge_uses_.empty() && edge_uses_.back().pred + 1 == nodes;
        return tasks(
            nodes, result_.origin.size(),
            [&](node_id n) {
                bool const is_end = n + 1 == nodes && !has_back_edge;
                return std::span<node_id const>(next.data() + n, is_end ? 0 : 1);
            },
            [&, pair = std::size_t{0}, use = std::size_t{0}](node_id n, effect_sink& sink) mutable {
                for (std::size_t i = n == 0 ? 0 : end_[n - 1]; i != end_[n]; ++i)
                    sink.add(is_spilled_allocation(touches_[i]) ? touch::access::def : touches_[i].kind,
                             touches_[i].value);
                auto const [kind, of] = result_.steps[step_id::of(+n)];
                bool const is_copy =
                    kind == spilled_program::kind::copied_out || kind == spilled_program::kind::copied_back;
                if (!is_copy) copy_step_facts(p_, of, sink);
                else each_step_fact([&](step_fact const& fact) { (sink.*fact.say)(fact.of_copy); });
                for (; pair != overwrites_.size() && overwrites_[pair].step == +n; ++pair)
                    sink.may_overwrite(overwrites_[pair].in, overwrites_[pair].out);
                for (; use != edge_uses_.size() && next[edge_uses_[use].pred] == n; ++use)
                    sink.use_at_end_of(edge_uses_[use].pred, edge_uses_[use].value);
            });
    }

    snapshot const& p_;
    table<position_id, step_id> const& steps_;
    std::vector<sort_key> at_node_ends_;
    // Of the values and steps of the program:
    table<value_id, position_id> needed_until_; // the last use
    table<value_id, unsigned char> is_defined_; // given, or defined before
    buffer_classes classes_;
    static constexpr step_id several = step_id::of(no_step - 1); // more than any step
    table<buffer_id, step_id> toucher_; // of a class, if steps allocate: the only one that touches it
    table<value_id, byte_count> offset_in_root_;
    csr_rows<buffer_id, value_id> members_; // of a class
    csr_rows<step_id, value_id> in_place_;  // operand, result, operand, result ...
    spilled_program result_;
    std::vector<touch> touches_;
    table<node_id, std::size_t> end_; // of a step of the result: into touches_
    std::vector<overwrite> overwrites_;
    std::vector<edge_use> edge_uses_; // `pred` is the step; the node is the next one
};

SUBLET_DECL spilled_program insert_spills(snapshot const& p, table<position_id, step_id> const& steps,
                                          plan_options const& options,
                                          std::span<memory_plan::in_place_pair const> in_place,
                                          std::span<spill_candidate const> candidates)
{
    return detail::spill_inserter(p, steps, options, in_place).write(candidates);
}

} // namespace sublet::detail
