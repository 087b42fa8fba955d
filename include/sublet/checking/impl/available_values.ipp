// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/available_values.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- available sets --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL placed_classes::placed_classes(plan_requirements const& required, memory_plan const& plan)
    : required_(&required), plan_(&plan)
{
    std::size_t const values = plan.buffer_of.size();
    std::vector<sort_key> by_place;
    for (value_id r = 0; r != values; ++r)
        if (required.root[r] == r && is_placed(r))
            by_place.push_back({place_of(plan, r).pool, place_of(plan, r).offset, r});
    sort_by_key(by_place);
    rank_ = std::vector<std::uint32_t>(values, rank_set::none);
    for (sort_key const& k : by_place) {
        rank_[k.id] = static_cast<std::uint32_t>(root_.size());
        root_.push_back(k.id);
    }
    values_of_ = csr_rows::gathered(root_.size(), [this, values](auto add) {
        for (value_id v = 0; v != values; ++v)
            if (is_placed(v)) add(rank_of(v), v);
    });
}

SUBLET_DECL witness placed_classes::clash(value_id value, value_id other, step_id position) const
{
    auto const [begin, end] = overlap(value, other);
    return {.what = fault::clash,
            .value = value,
            .other = other,
            .position = position,
            .begin = begin,
            .end = end,
            .pool = place_of(*plan_, value).pool};
}

SUBLET_DECL void available_set::add(value_id v)
{
    if (has_[v]) return;
    has_[v] = 1;
    listed_.push_back(v);
    if (count_[all_->rank_of(v)]++ == 0) classes_.insert(all_->rank_of(v));
}

SUBLET_DECL void available_set::write(value_id v)
{
    all_->for_each_overlap(classes_, v, [this](std::uint32_t hit) {
        for (value_id other : all_->values_at(hit)) has_[other] = 0;
        count_[hit] = 0;
        classes_.erase(hit);
    });
    add(v);
}

SUBLET_DECL std::vector<value_id> available_set::drain()
{
    std::vector<value_id> values, unsorted; // unsorted: from the first value out of order
    for (value_id v : listed_) {
        if (!has_[v]) continue; // removed, or listed twice
        bool const ascends = unsorted.empty() && (values.empty() || values.back() < v);
        (ascends ? values : unsorted).push_back(v);
        has_[v] = 0;
        if (--count_[all_->rank_of(v)] == 0) classes_.erase(all_->rank_of(v));
    }
    listed_.clear();
    if (unsorted.empty()) return values;
    std::sort(unsorted.begin(), unsorted.end());
    std::vector<value_id> all;
    all.reserve(values.size() + unsorted.size());
    for (std::size_t i = 0, j = 0; i != values.size() || j != unsorted.size();) {
        bool const is_from_sorted = j == unsorted.size() || (i != values.size() && values[i] < unsorted[j]);
        all.push_back(is_from_sorted ? values[i++] : unsorted[j++]);
    }
    return all;
}

// --- available values ------------------------------------------------------------------------------------

SUBLET_DECL available_values::available_values(snapshot const& p, placed_classes const& classes,
                                               std::vector<value_id> const& given, available_set& scratch)
    : p_(p), entry_states_(p.nodes()), is_reached_(p.nodes(), 0), is_walked_(p.nodes(), 0)
{
    std::vector<node_id> written_in(p.values(), no_node);
    apply_meet(0, given);
    while (!open_.empty()) {
        node_id const n = open_.back();
        open_.pop_back();
        walk(n, classes, written_in, scratch);
        while (!killed_.empty()) {
            auto const [from, v] = killed_.back();
            killed_.pop_back();
            for (node_id s : p_.successors(from)) kill_value(s, v);
        }
    }
}

SUBLET_DECL void available_values::add_at_entry(node_id n, available_set& available) const
{
    entry_state const& state = entry_states_[n];
    for (std::size_t i = 0; i != state.values.size(); ++i)
        if (state.is_available[i]) available.add(state.values[i]);
}

SUBLET_DECL void available_values::apply_meet(node_id n, std::vector<value_id> const& values)
{
    entry_state& state = entry_states_[n];
    if (!std::exchange(is_reached_[n], 1)) {
        state = {values, std::vector<unsigned char>(values.size(), 1),
                 std::vector<unsigned char>(values.size(), 0)};
        open_.push_back(n);
        return;
    }
    for (std::size_t i = 0, j = 0; i != state.values.size(); ++i) {
        while (j != values.size() && values[j] < state.values[i]) ++j;
        if (j == values.size() || values[j] != state.values[i]) kill(n, i);
    }
}

SUBLET_DECL void available_values::walk(node_id n, placed_classes const& classes,
                                        std::vector<node_id>& written_in, available_set& available)
{
    is_walked_[n] = 1;
    add_at_entry(n, available);
    for (touch t : p_.touches(p_.steps_of(n)))
        if (t.defines() && classes.is_placed(t.value)) {
            available.write(t.value);
            written_in[t.value] = n;
        }
    entry_state& state = entry_states_[n];
    for (std::size_t i = 0; i != state.values.size(); ++i)
        state.is_preserved[i] = available.has(state.values[i]) && written_in[state.values[i]] != n;
    std::vector<value_id> const available_out = available.drain();
    for (node_id s : p_.successors(n)) apply_meet(s, available_out);
}

SUBLET_DECL void available_values::kill(node_id n, std::size_t i)
{
    entry_state& state = entry_states_[n];
    if (std::exchange(state.is_available[i], 0) && is_walked_[n] && state.is_preserved[i])
        killed_.push_back({n, state.values[i]});
}

SUBLET_DECL void available_values::kill_value(node_id n, value_id v)
{
    std::vector<value_id> const& values = entry_states_[n].values;
    std::size_t const i = partition_point(values.size(), [&](std::size_t at) { return values[at] >= v; });
    if (i != values.size() && values[i] == v) kill(n, i);
}

// --- clobber path ----------------------------------------------------------------------------------------

SUBLET_DECL std::optional<witness> find_clobber_path(clobber_query const& query, value_id v, node_id n,
                                                     step_id before)
{
    struct path_state {
        node_id node;
        step_id before;
        value_id clobber; // `no_value`: not found yet
        step_id step;
    };
    snapshot const& p = query.program;
    placed_classes const& classes = query.classes;
    auto clobbers = [&](value_id other) {
        return classes.is_placed(other) && classes.rank_of(other) != classes.rank_of(v) &&
               classes.overlaps(other, v);
    };
    std::vector<unsigned char> is_seen(p.nodes(), 0), is_seen_clobbered = is_seen;
    std::vector<path_state> open{{n, before, no_value, no_step}};
    while (!open.empty()) {
        path_state at = open.back();
        open.pop_back();
        bool is_written = false;
        for (step_id s = at.before; s != p.steps_of(at.node).first && !is_written;) {
            --s;
            for (touch t : p.touches(s)) is_written = is_written || (t.defines() && t.value == v);
            if (is_written || at.clobber != no_value) continue;
            for (touch t : p.touches(s))
                if (t.defines() && clobbers(t.value)) {
                    at.clobber = t.value;
                    at.step = s;
                }
        }
        bool const is_available = is_written || (at.node == 0 && is_given(query.required.role[v]));
        if (is_available && at.clobber != no_value)
            return classes.clash(v, at.clobber, query.required.position[at.step]);
        if (is_written) continue;
        if (value_id const other = query.entry_overlap[classes.rank_of(v)]; is_available && other != no_value)
            return classes.clash(v, other, query.required.position[p.steps_of(0).first]);
        for (node_id from : p.predecessors(at.node)) {
            std::vector<unsigned char>& seen = at.clobber == no_value ? is_seen : is_seen_clobbered;
            if (!query.is_reached[from] || std::exchange(seen[from], 1)) continue;
            open.push_back({from, p.steps_of(from).last, at.clobber, at.step});
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
