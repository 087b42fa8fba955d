// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>

#include <utility>

// --- spill candidates ------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::vector<sort_key> node_end_touches(snapshot const& p, table<position_id, step_id> const& steps)
{
    table<step_id, position_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (position_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    std::vector<sort_key> at_node_ends;
    for (edge_use u : p.edge_uses())
        at_node_ends.push_back({position_of[p.steps_of(u.pred).last - 1], at_node_ends.size(), u.value});
    sort_by_key(at_node_ends);
    return at_node_ends;
}

class spill_candidate_finder {
public:
    spill_candidate_finder(snapshot const& p, table<position_id, step_id> const& steps, buffer_table const& unjoined,
                           buffer_table const& joined, std::span<value_role const> role)
        : p_(p), steps_(steps), unjoined_(unjoined), joined_(joined), role_(role),
          history_(joined.buffers.size(), history{}), is_defined_(p.values(), 0),
          is_pinned_(unjoined.buffers.size(), 0)
    {
        for (buffer_id b = 0; b != unjoined.buffers.size(); ++b)
            is_pinned_[b] = unjoined.buffers[b].pinned != no_offset;
    }

    std::vector<spill_candidate> find()
    {
        auto const positions = static_cast<std::uint32_t>(steps_.size());
        for (value_id v = 0; v != role_.size(); ++v) {
            if (!is_given(role_[v])) continue;
            is_defined_[v] = 1;
            touch_buffer(v, 0); // live when the first step begins
        }
        std::vector<sort_key> const at_node_ends = node_end_touches(p_, steps_);
        std::size_t next_at_end = 0;
        for (position_id at = 0; at != positions; ++at) {
            for (touch t : p_.touches(steps_[at])) add_candidates(t.value, at);
            for (touch t : p_.touches(steps_[at])) {
                touch_buffer(t.value, at);
                if (!t.defines() && !t.writes()) continue;
                is_defined_[t.value] = 1;
                history& its = history_[joined_.buffer_of[t.value]];
                if (its.first_def == no_position) its.first_def = at;
                its.last_def = at;
            }
            for (; next_at_end != at_node_ends.size() && at_node_ends[next_at_end].key == at; ++next_at_end) {
                add_candidates(at_node_ends[next_at_end].id, at);
                touch_buffer(at_node_ends[next_at_end].id, at);
            }
        }
        for (value_id v = 0; v != role_.size(); ++v) // live when the last step ends
            if (has_role(role_[v], value_role::output) && positions != 0)
                add_candidates(v, positions - 1);
        return found_;
    }

private:
    struct history {
        position_id touched = no_position, first_def = no_position, last_def = no_position;
    };

    void touch_buffer(value_id v, position_id at) { history_[joined_.buffer_of[v]].touched = at; }

    /// Adds candidates for the buffer of v if it was idle for a position or more before the use at `at`.
    void add_candidates(value_id v, position_id at)
    {
        buffer_id const b = joined_.buffer_of[v], unjoined = unjoined_.buffer_of[v];
        history& its = history_[b];
        if (its.touched == no_position || its.touched >= at || at - its.touched < 2) return;
        position_id const after = its.touched;
        its.touched = at; // each interval is considered once
        buffer const& own = joined_.buffers[b];
        value_id const root = unjoined_.buffers[unjoined].root;
        if (!own.is_planned() || own.pinned != no_offset || is_pinned_[unjoined] || !is_defined_[root])
            return;
        found_.push_back({root, b, after, at, no_position});
        if (can_rematerialize(v, at)) found_.push_back({root, b, after, at, its.first_def});
    }

    bool can_rematerialize(value_id v, position_id at) const
    {
        buffer_id const b = joined_.buffer_of[v], unjoined = unjoined_.buffer_of[v];
        history const& its = history_[b];
        if (is_given(unjoined_.buffers[unjoined].role) || its.first_def == no_position ||
            its.first_def != its.last_def || !p_.may_recompute(steps_[its.first_def]))
            return false;
        for (touch t : p_.touches(steps_[its.first_def])) {
            buffer const& other = joined_.buffers[joined_.buffer_of[t.value]];
            history const& theirs = history_[joined_.buffer_of[t.value]];
            if (!t.defines()) {
                bool const is_unchanged = theirs.last_def == no_position || theirs.last_def < its.first_def;
                bool const is_alive = !other.is_planned() || other.life.last > at;
                if (!is_unchanged || !is_alive || other.is_unsized()) return false;
            } else if (unjoined_.buffer_of[t.value] != unjoined) { // its recomputed copy is not read
                buffer const& side_result = unjoined_.buffers[unjoined_.buffer_of[t.value]];
                bool const is_plain = side_result.root == t.value && side_result.pinned == no_offset &&
                                      (side_result.is_planned() || side_result.size == 0) &&
                                      side_result.eligible && !is_given(side_result.role);
                if (!is_plain) return false;
            }
        }
        return true;
    }

    snapshot const& p_;
    table<position_id, step_id> const& steps_;
    buffer_table const &unjoined_, &joined_;
    std::span<value_role const> role_;
    table<buffer_id, history> history_;         // of a joined buffer
    table<value_id, unsigned char> is_defined_; // given, or defined before
    table<buffer_id, unsigned char> is_pinned_; // of an unjoined buffer
    std::vector<spill_candidate> found_;
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::vector<spill_candidate>
find_spill_candidates(snapshot const& p, table<position_id, step_id> const& steps, buffer_table const& unjoined,
                      buffer_table const& joined, std::span<value_role const> role)
{
    return detail::spill_candidate_finder(p, steps, unjoined, joined, role).find();
}

} // namespace detail

// --- spilled program -------------------------------------------------------------------------------------

SUBLET_DECL plan_options spilled_program::options(plan_options const& asked) const
{
    std::size_t const before = final_version.size();
    plan_options result = detail::options_of_copies(asked, before, {origin, role, alias_of, view_offset});
    auto pinned = result.pinned.tabulate(origin.size(), "pinned");
    for (value_id h : homes) pinned[h] = no_offset;
    result.pinned = std::move(pinned);
    result.order.clear(); // steps are listed as they run
    return result;
}

} // namespace sublet

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
                    sink.add(touches_[i].kind == touch::access::allocate ? touch::access::def // the copy of a spill
                                                                         : touches_[i].kind,  // holds all bytes
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
    table<value_id, byte_count> offset_in_root_;
    csr_rows<buffer_id, value_id> members_; // of a class
    csr_rows<step_id, value_id> in_place_;  // operand, result, operand, result ...
    spilled_program result_;
    std::vector<touch> touches_;
    table<node_id, std::size_t> end_; // of a step of the result: into touches_
    std::vector<overwrite> overwrites_;
    std::vector<edge_use> edge_uses_; // `pred` is the step; the node is the next one
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL spilled_program insert_spills(snapshot const& p, table<position_id, step_id> const& steps,
                                          plan_options const& options,
                                          std::span<memory_plan::in_place_pair const> in_place,
                                          std::span<spill_candidate const> candidates)
{
    return detail::spill_inserter(p, steps, options, in_place).write(candidates);
}

} // namespace detail

} // namespace sublet

// --- lower bound -----------------------------------------------------------------------------------------

namespace sublet::detail {

/// Of each buffer: nothing that the options allow frees its storage before the end of its live range.
SUBLET_DECL table<buffer_id, unsigned char> staying_buffers(snapshot const& p, buffer_table const& table,
                                                            advice_options const& how)
{
    auto const remat_cost = how.remat_cost.tabulate(p.values(), "remat_cost");
    auto const movable = how.movable.tabulate(p.values(), "movable");
    sublet::table<buffer_id, unsigned char> stays(table.buffers.size(), !how.copies);
    for (step_id s = 0; how.remats && s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            buffer const& its = table.buffers[table.buffer_of[t.value]];
            if (t.writes() && p.may_recompute(s) && !is_given(its.role) && remat_cost[its.root] != no_size)
                stays[table.buffer_of[t.value]] = 0;
        }
    for (value_id v = 0; v != p.values(); ++v)
        if (!movable[v]) stays[table.buffer_of[v]] = 1;
    for (buffer_id b = 0; b != stays.size(); ++b) {
        buffer const& its = table.buffers[b];
        bool const may_leave = // before the first step writes, though its live range includes that
            is_given(its.role) && !has_role(its.role, value_role::output) && its.life.last == 1;
        stays[b] = its.is_planned() && !may_leave && (stays[b] != 0 || its.pinned != no_offset);
    }
    return stays;
}

/// Sums the bytes that must be there at once, whatever is copied and recomputed in between.
class least_load_finder {
public:
    /// `table` is without in-place pairs joined: any of them may come into use.
    least_load_finder(snapshot const& p, sublet::table<position_id, step_id> const& steps,
                      buffer_table const& table, sublet::table<buffer_id, unsigned char> const& stays)
        : p_(p), steps_(steps), table_(table), stays_(stays), counted_(table.buffers.size(), 0),
          shared_(table.buffers.size(), 0)
    {
        for (buffer const& b : table.buffers)
            if (b.is_planned()) loads_.resize(larger(loads_.size(), std::size_t{b.pool} + 1));
    }

    table<pool_id, lowest_load> find()
    {
        auto const positions = static_cast<std::uint32_t>(steps_.size());
        take_all_with(value_role::input, 0);
        take_all_with(value_role::output, positions - (positions != 0));
        auto const staying_from = staying([](buffer const& b) { return b.life.first; });
        auto const staying_until = staying([](buffer const& b) { return b.life.last; });
        for (position_id at = 0; at != positions; ++at) {
            for (buffer_id b : staying_until[at]) of(b).staying -= table_.buffers[b].size;
            for (touch t : p_.touches(steps_[at]))
                if (!t.defines()) add(table_.buffer_of[t.value], at, true);
            take(at);
            for (buffer_id b : staying_from[at])
                of(b).staying = checked_add(of(b).staying, table_.buffers[b].size);
            for (touch t : p_.touches(steps_[at]))
                if (t.kind != touch::access::use_early) add(table_.buffer_of[t.value], at, false);
            for (overwrite o : p_.overwrites(steps_[at]))
                share(table_.buffer_of[o.in], table_.buffer_of[o.out], at);
            for (overwrite o : p_.overwrites(steps_[at])) {
                buffer_id const out = table_.buffer_of[o.out];
                if (shared_[out] != 0) of(out).shared += std::exchange(shared_[out], 0);
            }
            take(at);
        }
        table<pool_id, lowest_load> least;
        for (load const& l : loads_) least.push_back(l.least);
        return least;
    }

private:
    struct load { // of a pool
        byte_count staying = 0, touched = 0, shared = 0;
        lowest_load least;
    };

    /// Requires: it is planned.
    load& of(buffer_id b) { return loads_[table_.buffers[b].pool]; }

    template <class Border>
    csr_rows<position_id, buffer_id> staying(Border border_of) const
    {
        return csr_rows<position_id, buffer_id>::gathered(steps_.size() + 1, [&](auto add) {
            for (buffer_id b = 0; b != stays_.size(); ++b)
                if (stays_[b] != 0 && border_of(table_.buffers[b]) <= steps_.size())
                    add(border_of(table_.buffers[b]), b);
        });
    }
    /// Adds a buffer that a step touches: before it writes, or while it does.
    void add(buffer_id b, position_id at, bool before)
    {
        buffer const& its = table_.buffers[b];
        std::uint64_t const time = 2 * std::uint64_t{at} + (before ? 1 : 2);
        bool const is_staying = stays_[b] != 0 && contains(its.life, at) && !(before && its.life.first == at);
        if (is_staying || !its.is_planned() || counted_[b] == time) return;
        counted_[b] = time;
        of(b).touched = checked_add(of(b).touched, its.size);
    }
    /// A result takes the bytes of at most one operand that is not needed later.
    void share(buffer_id in, buffer_id out, position_id at)
    {
        buffer const &from = table_.buffers[in], &to = table_.buffers[out];
        bool const is_needed = stays_[in] != 0 && from.life.last > at + 1;
        if (in == out || is_needed || !from.is_planned() || !to.is_planned() || from.pool != to.pool) return;
        shared_[out] = larger(shared_[out], smaller(from.size, to.size));
    }
    void take_all_with(value_role role, position_id at)
    {
        for (buffer_id b = 0; b != table_.buffers.size(); ++b) {
            buffer const& its = table_.buffers[b];
            if (its.is_planned() && has_role(its.role, role))
                of(b).touched = checked_add(of(b).touched, its.size);
        }
        take(at);
    }
    void take(position_id at)
    {
        for (load& l : loads_) {
            byte_count const all = checked_add(l.staying, l.touched);
            byte_count const bytes = all - smaller(all, l.shared);
            if (bytes > l.least.bytes) l.least = {bytes, at};
            l.touched = l.shared = 0;
        }
    }

    snapshot const& p_;
    table<position_id, step_id> const& steps_;
    buffer_table const& table_;
    table<buffer_id, unsigned char> const& stays_;
    table<pool_id, load> loads_;
    table<buffer_id, std::uint64_t> counted_; // the time at which it was counted last
    table<buffer_id, byte_count> shared_;     // of a result, during its step
};

} // namespace sublet::detail

// --- memory advisor --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL spaced_positions::spaced_positions(std::size_t positions,
                                               std::vector<spill_candidate> const& candidates)
{
    std::vector<sort_key> remats;
    for (std::uint32_t i = 0; i != candidates.size(); ++i)
        if (candidates[i].remat_at != no_position)
            remats.push_back({candidates[i].before, candidates[i].remat_at, i});
    sort_by_key(remats);
    reload_at.resize(candidates.size());
    std::size_t next = 0;
    position_id at = 0;
    for (std::size_t p = 0; p != positions; ++p) {
        ++at; // copies back
        for (; next != remats.size() && remats[next].key == p; ++next) reload_at[remats[next].id] = at++;
        of_step.push_back(at++);
    }
    for (std::size_t i = 0; i != candidates.size(); ++i)
        if (candidates[i].remat_at == no_position)
            reload_at[i] = of_step[candidates[i].before - 1] + 1; // before is at least 2
}

SUBLET_DECL live_range spaced_positions::life(buffer const& b, position_id last_touch) const
{
    if (is_empty(b.life)) return {};
    position_id first = of_step[b.life.first], last = of_step[b.life.last - 1] + 1;
    if (b.over != no_buffer) first = of_step[b.life.first - 1] + 1;
    if (last_touch == b.life.last) last = of_step[last_touch];
    return {first, last};
}

SUBLET_DECL spill_problem::spill_problem(snapshot const& p, plan_options const& options,
                                         advice_options const& how)
    : steps(steps_in_order(p, options.order))
{
    buffer_table const unjoined = gather_buffers(lifetimes(p, detail::lifetimes_of(options)), options);
    buffer_table const joined = options.in_place ? take_in_place(p, steps, unjoined) : unjoined;
    in_place = joined.in_place;
    auto const stays = staying_buffers(p, unjoined, how);
    least = least_load_finder(p, steps, unjoined, stays).find();
    auto const remat_cost = how.remat_cost.tabulate(p.values(), "remat_cost");
    auto const movable = how.movable.tabulate(p.values(), "movable");
    auto const roles = options.role.tabulate(p.values(), "role");
    table<buffer_id, unsigned char> is_resident(joined.buffers.size(), 0);
    for (value_id v = 0; v != p.values(); ++v)
        if (!movable[v]) is_resident[joined.buffer_of[v]] = 1;
    for (spill_candidate const& a : find_spill_candidates(p, steps, unjoined, joined, roles)) {
        bool const is_copied = a.remat_at == no_position;
        if (is_resident[a.buffer] || !(is_copied ? how.copies : how.remats)) continue;
        if (!is_copied && remat_cost[a.root] == no_size) continue;
        candidates.push_back(a);
    }
    spaced = spaced_positions(larger(steps.size(), std::size_t{1}), candidates); // inputs live without a step

    table<buffer_id, position_id> last_touch(joined.buffers.size(), 0);
    for (position_id at = 0; at != steps.size(); ++at)
        for (touch t : p.touches(steps[at])) last_touch[joined.buffer_of[t.value]] = at;
    problem.pools = options.pools;
    for (buffer_id b = 0; b != joined.buffers.size(); ++b) {
        buffer const& its = joined.buffers[b];
        bool const is_there = its.is_planned();
        problem.buffers.push_back({is_there ? spaced.life(its, last_touch[b]) : live_range{},
                                   is_there ? its.size : 0, 1, is_there ? its.pool : pool_id{0}});
    }
    std::vector<sort_key> const at_node_ends = node_end_touches(p, steps);
    auto const of_buffer = csr_rows<buffer_id, std::uint32_t>::gathered(joined.buffers.size(), [&](auto add) {
        for (std::uint32_t i = 0; i != candidates.size(); ++i) add(candidates[i].buffer, i);
    });
    for (std::uint32_t i = 0; i != candidates.size(); ++i) {
        spill_candidate const& a = candidates[i];
        buffer const& its = joined.buffers[a.buffer];
        idle_interval idle{a.buffer, {spaced.of_step[a.after] + 1, spaced.reload_at[i]}, 0};
        if (a.remat_at != no_position && is_freed_early(p, joined, at_node_ends, a)) --idle.when.first;
        if (a.remat_at == no_position) idle.cost = checked_multiply(how.copy_cost, its.size);
        else idle.cost = list_remat(p, unjoined, joined, of_buffer, i);
        if (a.remat_at != no_position && remat_cost[a.root] != 0) idle.cost = remat_cost[a.root];
        times.intervals.push_back(idle);
    }
}

SUBLET_DECL bool spill_problem::is_freed_early(snapshot const& p, buffer_table const& joined,
                                               std::vector<sort_key> const& at_node_ends,
                                               spill_candidate const& a) const
{
    for (touch t : p.touches(steps[a.after]))
        if (joined.buffer_of[t.value] == a.buffer && t.kind != touch::access::use_early) return false;
    for (std::size_t i = partition_point(at_node_ends.size(),
                                         [&](std::size_t k) { return at_node_ends[k].key >= a.after; });
         i != at_node_ends.size() && at_node_ends[i].key == a.after; ++i)
        if (joined.buffer_of[value_id{at_node_ends[i].id}] == a.buffer) return false;
    return true;
}

SUBLET_DECL byte_count spill_problem::list_remat(snapshot const& p, buffer_table const& unjoined,
                                                 buffer_table const& joined,
                                                 csr_rows<buffer_id, std::uint32_t> const& of_buffer,
                                                 std::uint32_t i)
{
    spill_candidate const& a = candidates[i];
    byte_count touched = 0;
    std::vector<buffer_id> side_result;
    for (touch t : p.touches(steps[a.remat_at])) {
        buffer_id const b = joined.buffer_of[t.value];
        buffer const& its = unjoined.buffers[unjoined.buffer_of[t.value]];
        if (its.size != no_size) touched = checked_add(touched, its.size);
        if (!t.defines()) {
            auto const others = of_buffer[b];
            for (std::size_t k = partition_point(
                     others.size(), [&](std::size_t j) { return candidates[others[j]].before > a.before; });
                 k != others.size() && candidates[others[k]].after < a.before; ++k)
                times.needs.push_back({i, others[k]});
        } else if (b != a.buffer && its.size != 0) {
            times.loads.push_back({i, spaced.reload_at[i], its.pool, its.size});
        }
    }
    for (std::uint32_t other : of_buffer[a.buffer])
        if (other != i && candidates[other].before == a.before) times.needs.push_back({i, other});
    return touched;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL memory_advice advise_memory(snapshot const& p, plan_options const& given,
                                        advice_options const& wanted)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::asked_options const asked_advice(wanted, p.values(), &advice_options::remat_cost,
                                             &advice_options::movable);
    advice_options const& how = *asked_advice;
    memory_advice advice{plan_memory(p, options), {}, {}, 0, {}, options};
    if (!advice && advice.error().what != fault::over_capacity) return advice;

    detail::spill_problem spill(p, options, how);
    auto const apply = [&](std::vector<detail::spill_candidate> const& chosen) {
        advice.spilled = insert_spills(p, spill.steps, options, spill.in_place, chosen);
        advice.options = advice.spilled.options(options);
        static_cast<planned_memory&>(advice) = plan_memory(advice.spilled.program, advice.options);
    };
    if (advice) apply({});
    for (int round = 0; round == 0 || (!advice && round != 8); ++round) {
        detail::spill_set const spills = advise(spill.problem, spill.times);
        advice.pools.clear();
        spill.least.resize(spills.pools.size());
        for (pool_id pool = 0; pool != spills.pools.size(); ++pool) {
            auto const [bytes, at] = spill.least[pool];
            bool const has_step = bytes != 0 && at < spill.steps.size();
            advice.pools.push_back({spills.pools[pool].peak_before, spills.pools[pool].peak_after, bytes,
                                    has_step ? spill.steps[at] : no_step});
        }
        if (advice) break; // the program fits without spills
        advice.suggestions.clear();
        advice.cost = spills.cost;
        std::vector<detail::spill_candidate> chosen;
        for (auto const& [i, saved] : spills.chosen) {
            detail::spill_candidate const& a = spill.candidates[i];
            chosen.push_back(a);
            advice.suggestions.push_back({a.root, spill.steps[a.after], spill.steps[a.before],
                                          a.remat_at == no_position ? no_step : spill.steps[a.remat_at],
                                          spill.problem.buffers[a.buffer].size, saved,
                                          spill.times.intervals[i].cost});
        }
        apply(chosen);
        if (advice || advice.error().what != fault::over_capacity || !spills.is_enough) break;
        for (pool_id pool = 0; pool != options.pools.size(); ++pool) {
            byte_count const capacity = options.pools[pool].capacity;
            byte_count const height =
                pool < advice.plan.arena_bytes.size() ? advice.plan.arena_bytes[pool] : 0;
            byte_count& room = spill.problem.pools[pool].capacity;
            if (height > capacity) room -= detail::smaller(room, height - capacity);
        }
    }
    advice.pools.resize(advice.plan.arena_bytes.size()); // some pools have unplanned values only
    return advice;
}

} // namespace sublet
