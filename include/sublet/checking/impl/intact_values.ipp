// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/intact_values.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- intact values ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL placed_classes::placed_classes(plan_requirements const& asked, memory_plan const& plan)
    : asked_(&asked), plan_(&plan)
{
    std::size_t const values = plan.buffer_of.size();
    std::vector<sort_key> by_place;
    for (value_id r = 0; r != values; ++r)
        if (asked.root[r] == r && is_placed(r))
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

SUBLET_DECL void intact_values::add(value_id v)
{
    if (has_[v]) return;
    has_[v] = 1;
    listed_.push_back(v);
    if (count_[all_->rank_of(v)]++ == 0) classes_.insert(all_->rank_of(v));
}

SUBLET_DECL void intact_values::write(value_id v)
{
    all_->each_hit(classes_, v, [this](std::uint32_t hit) {
        for (value_id other : all_->values_at(hit)) has_[other] = 0;
        count_[hit] = 0;
        classes_.erase(hit);
    });
    add(v);
}

SUBLET_DECL std::vector<value_id> intact_values::taken()
{
    std::vector<value_id> values, late; // late: those from the first that is out of order
    for (value_id v : listed_) {
        if (!has_[v]) continue; // gone, or listed twice
        bool const ascends = late.empty() && (values.empty() || values.back() < v);
        (ascends ? values : late).push_back(v);
        has_[v] = 0;
        if (--count_[all_->rank_of(v)] == 0) classes_.erase(all_->rank_of(v));
    }
    listed_.clear();
    if (late.empty()) return values;
    std::sort(late.begin(), late.end());
    std::vector<value_id> all;
    all.reserve(values.size() + late.size());
    for (std::size_t i = 0, j = 0; i != values.size() || j != late.size();) {
        bool const is_early = j == late.size() || (i != values.size() && values[i] < late[j]);
        all.push_back(is_early ? values[i++] : late[j++]);
    }
    return all;
}

// --- intact arrivals -------------------------------------------------------------------------------------

SUBLET_DECL intact_arrivals::intact_arrivals(snapshot const& p, placed_classes const& classes,
                                             std::vector<value_id> const& given, intact_values& scratch)
    : p_(p), arrivals_(p.nodes()), is_reached_(p.nodes(), 0), is_walked_(p.nodes(), 0)
{
    std::vector<node_id> written_in(p.values(), no_node);
    arrive(0, given);
    while (!open_.empty()) {
        node_id const n = open_.back();
        open_.pop_back();
        walk(n, classes, written_in, scratch);
        while (!losses_.empty()) {
            auto const [from, v] = losses_.back();
            losses_.pop_back();
            for (node_id s : p_.successors(from)) lose_value(s, v);
        }
    }
}

SUBLET_DECL void intact_arrivals::enter(node_id n, intact_values& now) const
{
    arrival const& known = arrivals_[n];
    for (std::size_t i = 0; i != known.values.size(); ++i)
        if (known.is_there[i]) now.add(known.values[i]);
}

SUBLET_DECL void intact_arrivals::arrive(node_id n, std::vector<value_id> const& values)
{
    arrival& known = arrivals_[n];
    if (!std::exchange(is_reached_[n], 1)) {
        known = {values, std::vector<unsigned char>(values.size(), 1),
                 std::vector<unsigned char>(values.size(), 0)};
        open_.push_back(n);
        return;
    }
    for (std::size_t i = 0, j = 0; i != known.values.size(); ++i) {
        while (j != values.size() && values[j] < known.values[i]) ++j;
        if (j == values.size() || values[j] != known.values[i]) lose(n, i);
    }
}

SUBLET_DECL void intact_arrivals::walk(node_id n, placed_classes const& classes,
                                       std::vector<node_id>& written_in, intact_values& now)
{
    is_walked_[n] = 1;
    enter(n, now);
    for (touch t : p_.touches(p_.steps_of(n)))
        if (t.kind == touch::access::def && classes.is_placed(t.value)) {
            now.write(t.value);
            written_in[t.value] = n;
        }
    arrival& known = arrivals_[n];
    for (std::size_t i = 0; i != known.values.size(); ++i)
        known.passes[i] = now.has(known.values[i]) && written_in[known.values[i]] != n;
    std::vector<value_id> const leaving = now.taken();
    for (node_id s : p_.successors(n)) arrive(s, leaving);
}

SUBLET_DECL void intact_arrivals::lose(node_id n, std::size_t i)
{
    arrival& known = arrivals_[n];
    if (std::exchange(known.is_there[i], 0) && is_walked_[n] && known.passes[i])
        losses_.push_back({n, known.values[i]});
}

SUBLET_DECL void intact_arrivals::lose_value(node_id n, value_id v)
{
    std::vector<value_id> const& values = arrivals_[n].values;
    std::size_t const i = partition_point(values.size(), [&](std::size_t at) { return values[at] >= v; });
    if (i != values.size() && values[i] == v) lose(n, i);
}

// --- spoiling path ---------------------------------------------------------------------------------------

SUBLET_DECL std::optional<witness> find_spoiling_path(flow_paths const& paths, value_id v, node_id n,
                                                      step_id before)
{
    struct place {
        node_id node;
        step_id before;
        value_id spoiler; // `no_value`: still to be met
        step_id step;
    };
    snapshot const& p = paths.program;
    placed_classes const& classes = paths.classes;
    auto spoils = [&](value_id other) {
        return classes.is_placed(other) && classes.rank_of(other) != classes.rank_of(v) &&
               classes.meet(other, v);
    };
    std::vector<unsigned char> is_seen(p.nodes(), 0), is_seen_spoilt = is_seen;
    std::vector<place> open{{n, before, no_value, no_step}};
    while (!open.empty()) {
        place at = open.back();
        open.pop_back();
        bool is_written = false;
        for (step_id s = at.before; s != p.steps_of(at.node).first && !is_written;) {
            --s;
            for (touch t : p.touches(s))
                is_written = is_written || (t.kind == touch::access::def && t.value == v);
            if (is_written || at.spoiler != no_value) continue;
            for (touch t : p.touches(s))
                if (t.kind == touch::access::def && spoils(t.value)) {
                    at.spoiler = t.value;
                    at.step = s;
                }
        }
        bool const is_there = is_written || (at.node == 0 && is_given(paths.asked.role[v]));
        if (is_there && at.spoiler != no_value)
            return classes.clash(v, at.spoiler, paths.asked.position[at.step]);
        if (is_written) continue;
        if (value_id const other = paths.beside_entry[classes.rank_of(v)]; is_there && other != no_value)
            return classes.clash(v, other, paths.asked.position[p.steps_of(0).first]);
        for (node_id from : p.predecessors(at.node)) {
            std::vector<unsigned char>& seen = at.spoiler == no_value ? is_seen : is_seen_spoilt;
            if (!paths.is_reached[from] || std::exchange(seen[from], 1)) continue;
            open.push_back({from, p.steps_of(from).last, at.spoiler, at.step});
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
