// SPDX-License-Identifier: BSL-1.0

/// One walk along the events with the current version of each value: the touches of a step name current
/// versions, and what is restored becomes a new version of its root and of each view that is needed later.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/insert_spills.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

class spill_inserter {
public:
    spill_inserter(snapshot const& p, spill_model const& m, plan_options const& options)
        : p_(p), m_(m), at_node_ends_(node_end_touches(p, m.steps)), needed_until_(p.values(), 0)
    {
        result_.alias_of = options.alias_of.tabulate(p.values(), "alias_of");
        result_.view_offset = options.view_offset.tabulate(p.values(), "view_offset");
        offset_in_root_ = offsets_in_roots(result_.alias_of, result_.view_offset);
        result_.role = options.role.tabulate(p.values(), "role");
        for (value_id v = 0; v != p.values(); ++v) {
            result_.origin.push_back(v);
            is_defined_.push_back(is_given(result_.role[v]));
        }
        result_.final_version = result_.origin; // during the rewrite: the current version
        std::size_t const buffers = m.of.size();
        home_.assign(buffers, no_value);
        if (p.has_allocations()) toucher_.assign(buffers, no_step);
        for (step_id s = 0; !toucher_.empty() && s != p.steps(); ++s)
            for (touch t : p.touches(s)) {
                step_id& sole = toucher_[m.buffers.buffer_of[t.value]];
                sole = sole == no_step || sole == s ? s : several;
            }
        members_ = csr_rows<buffer_id, value_id>::gathered(buffers, [&](auto add) {
            for (value_id v = 0; v != p.values(); ++v) add(m.buffers.buffer_of[v], v);
        });
    }

    spilled_program write(spill_run const& run)
    {
        find_last_needs(run);
        auto next_at_node_end = at_node_ends_.begin();
        auto next_restored = run.restored.begin();
        for (now_ = 0; now_ != run.events.size(); ++now_) {
            spill_event const& e = run.events[now_];
            if (e.kind == spilled_program::kind::copied_out) copy_out(e.buffer);
            if (e.kind == spilled_program::kind::copied_back) copy_back(e.buffer);
            if (e.kind == spilled_program::kind::rematerialize) {
                auto const first = next_restored;
                while (*next_restored != no_buffer) ++next_restored;
                run_again(e.at, {&*first, static_cast<std::size_t>(next_restored - first)});
                ++next_restored;
            }
            if (e.kind == spilled_program::kind::original) {
                for (touch t : p_.touches(m_.steps[e.at])) {
                    touches_.push_back({current(t.value), t.kind});
                    if (t.defines()) is_defined_[t.value] = 1;
                }
                for (; next_at_node_end != at_node_ends_.end() && next_at_node_end->key == e.at;
                     ++next_at_node_end)
                    edge_uses_.push_back(
                        {no_node, node_id::of(result_.steps.size()), current(next_at_node_end->id)});
            }
            bool const is_copy = e.kind == spilled_program::kind::copied_out ||
                                 e.kind == spilled_program::kind::copied_back;
            if (!is_copy)
                for (overwrite o : p_.overwrites(m_.steps[e.at])) {
                    value_id const out = listed_version(o.out);
                    overwrites_.push_back({step_id::of(result_.steps.size()), current(o.in),
                                           out != no_value ? out : current(o.out)});
                }
            made_.clear();
            result_.steps.push_back({e.kind, m_.steps[smaller(e.at, position_id::of(m_.steps.size() - 1))]});
            end_.push_back(touches_.size());
        }
        result_.program = list();
        return std::move(result_);
    }

private:
    [[nodiscard]] value_id current(value_id v) const { return result_.final_version[v]; }
    void need(value_id v, std::size_t event) { needed_until_[v] = event + 1; }

    /// Of each value, the last event that touches it.
    void find_last_needs(spill_run const& run)
    {
        std::size_t const n = run.events.size();
        auto next_at_node_end = at_node_ends_.begin();
        for (std::size_t i = 0; i != n; ++i) {
            spill_event const& e = run.events[i];
            bool const is_original = e.kind == spilled_program::kind::original;
            if (!is_original && e.kind != spilled_program::kind::rematerialize) continue;
            for (touch t : p_.touches(m_.steps[e.at]))
                if (is_original || !t.defines()) need(t.value, i);
            for (; is_original && next_at_node_end != at_node_ends_.end() && next_at_node_end->key == e.at;
                 ++next_at_node_end)
                need(next_at_node_end->id, i);
        }
        for (value_id v = 0; v != p_.values(); ++v)
            if (has_role(result_.role[v], value_role::output)) need(v, n);
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

    void copy_out(buffer_id b)
    {
        value_id const root = m_.buffers.buffers[b].root;
        home_[b] = add_value(root, value_role::intermediate, no_value);
        result_.homes.push_back(home_[b]);
        touches_.push_back({current(root), touch::access::use});
        touches_.push_back({home_[b], touch::access::def});
    }

    /// Replaces a root, and its views that are needed later, by new values.
    void replace(buffer_id b)
    {
        value_id const root = m_.buffers.buffers[b].root;
        replaced_.clear();
        auto take = [&](value_id v) {
            value_id const old = current(v);
            bool const is_output = has_role(result_.role[old], value_role::output);
            bool const is_input = has_role(result_.role[old], value_role::input);
            result_.role[old] = is_input ? value_role::input : value_role::intermediate;
            result_.final_version[v] =
                add_value(v, is_output ? value_role::output : value_role::intermediate,
                          v == root ? no_value : current(root));
            replaced_.push_back(v);
        };
        take(root);
        for (value_id v : members_[b])
            if (v != root && needed_until_[v] > now_ + 1) take(v);
    }

    void copy_back(buffer_id b)
    {
        value_id const root = m_.buffers.buffers[b].root;
        touches_.push_back({home_[b], touch::access::use});
        replace(b);
        for (value_id v : replaced_)
            if (is_defined_[v])
                touches_.push_back({current(v), v == root ? touch::access::def : touch::access::view});
    }

    void run_again(position_id at, std::span<buffer_id const> restored)
    {
        std::vector<value_id> others; // views that other steps made
        for (buffer_id b : restored) {
            value_id const root = m_.buffers.buffers[b].root;
            replace(b);
            for (value_id v : replaced_) {
                made_.push_back({v, current(v)});
                if (is_defined_[v] && v != root) others.push_back(v);
            }
        }
        for (touch t : p_.touches(m_.steps[at])) {
            if (m_.is_left_out(at, m_.buffers.buffer_of[t.value])) continue;
            touches_.push_back({t.defines() ? version_made(t) : current(t.value), t.kind});
            for (value_id& v : others)
                if (v == t.value) v = no_value;
        }
        for (value_id v : others)
            if (v != no_value) touches_.push_back({current(v), touch::access::view});
    }
    /// Of a step that runs again: the result, or a new value that nothing reads.
    value_id version_made(touch t)
    {
        value_id const v = t.value;
        if (value_id const known = listed_version(v); known != no_value) return known;
        value_id const root = m_.buffers.buffers[m_.buffers.buffer_of[v]].root;
        value_id alias = no_value;
        if (v != root) {
            alias = listed_version(root);
            if (alias == no_value && t.views_what_is_there()) alias = current(root);
            if (alias == no_value) {
                alias = add_value(root, value_role::intermediate, no_value);
                made_.push_back({root, alias});
            }
        }
        made_.push_back({v, add_value(v, value_role::intermediate, alias)});
        return made_.back().second;
    }
    [[nodiscard]] value_id listed_version(value_id v) const
    {
        for (auto const& [of, version] : made_)
            if (of == v) return version;
        return no_value;
    }

    /// The copy of a spill holds all bytes. Scratch, which one step touches, is never spilled.
    [[nodiscard]] bool is_spilled_allocation(touch t) const
    {
        return t.kind == touch::access::allocate &&
               toucher_[m_.buffers.buffer_of[result_.origin[t.value]]] == several;
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
    spill_model const& m_;
    std::vector<sort_key> at_node_ends_;
    // Of the values, steps and buffers of the program:
    table<value_id, std::size_t> needed_until_; // after the last event that touches it
    table<value_id, unsigned char> is_defined_; // given, or defined before
    static constexpr step_id several = step_id::of(no_step - 1); // more than any step
    table<buffer_id, step_id> toucher_; // of a buffer, if steps allocate: the only one that touches it
    table<buffer_id, value_id> home_;
    table<value_id, byte_count> offset_in_root_;
    csr_rows<buffer_id, value_id> members_;
    spilled_program result_;
    std::size_t now_ = 0;             // the event
    std::vector<value_id> replaced_;
    std::vector<std::pair<value_id, value_id>> made_; // by a step that runs again: a value and its version
    std::vector<touch> touches_;
    table<node_id, std::size_t> end_; // of a step of the result: into touches_
    std::vector<overwrite> overwrites_;
    std::vector<edge_use> edge_uses_; // `pred` is the step; the node is the next one
};

SUBLET_DECL spilled_program insert_spills(snapshot const& p, spill_model const& m, plan_options const& options,
                                          spill_run const& run)
{
    return spill_inserter(p, m, options).write(run);
}

} // namespace sublet::detail
