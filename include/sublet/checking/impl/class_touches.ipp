// SPDX-License-Identifier: BSL-1.0

/// Steps are listed by class: as begins those that write it and read none of it, as ends those that touch
/// it, but for the writers of a value that is read later. A schedule puts first all that the producer waits
/// for, then the producer, the same for the writer, then the rest.

#include <sublet/checking/detail/class_touches.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/impl/config.hpp>

// --- class touches ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL class_touches::class_touches(snapshot const& program, plan_requirements const& required,
                                         step_order const& order)
    : p_(program), required_(required), order_(order), begins_(boundary_steps(true)),
      ends_(boundary_steps(false))
{
    for (step_id s = 0; s != p_.steps(); ++s)
        if (auto const touches = p_.touches(s); touches.size() > few)
            for (std::size_t i = 0; i != touches.size(); ++i)
                by_root_.push_back({std::uint64_t{s} << 32 | required_.root[touches[i].value], i, 0});
    for (edge_use e : p_.edge_uses())
        read_at_end_.push_back({required_.root[e.value], p_.steps_of(e.pred).last - 1, 0});
    for (overwrite o : p_.overwrites()) pairs_.push_back({o.step, std::uint64_t{o.in} << 32 | o.out, 0});
    for (auto* list : {&by_root_, &read_at_end_, &pairs_}) sort_by_key(*list);
}

SUBLET_DECL bool class_touches::can_overwrite(step_id s, value_id u, value_id v, memory_plan const& plan,
                                              bool in_place) const
{
    value_id operand = no_value, written = no_value; // the one value of u's, and of v's class
    bool is_late = false, changes_u = false, are_several = false, are_several_written = false;
    each_touch_of(s, u, [&](touch t) {
        changes_u = changes_u || t.defines() || t.writes();
        is_late = is_late || t.kind == touch::access::use;
        are_several = are_several || (operand != no_value && operand != t.value);
        operand = t.value;
    });
    if (changes_u || is_listed(read_at_end_, sort_key{u, s, 0})) return false; // read after the writes
    if (!is_late) return true;
    if (are_several) return false;
    if (!in_place || required_.bytes[u] < required_.bytes[v] || required_.pinned[u] != no_offset)
        return false;
    if (place_of(plan, u) != place_of(plan, v)) return false;
    each_touch_of(s, v, [&](touch t) {
        if (!t.writes()) return;
        are_several_written = are_several_written || (written != no_value && written != t.value);
        written = t.value;
    });
    return written != no_value && !are_several_written && order_.def_of[written] == s &&
           required_.offset_in_root[operand] == required_.offset_in_root[written] &&
           is_listed(pairs_, sort_key{s, std::uint64_t{operand} << 32 | written, 0});
}

SUBLET_DECL csr_rows<value_id, step_id> class_touches::boundary_steps(bool only_defs) const
{
    table<value_id, unsigned char> is_read(p_.values());
    for (touch t : p_.touches({0, step_id::of(p_.steps())}))
        if (!t.defines()) is_read[t.value] = 1;
    return csr_rows<value_id, step_id>::gathered(p_.values(), [&](auto add) {
        table<value_id, step_id> skipped_at(p_.values(), no_step); // by root: the last step left out
        for (step_id s = 0; s != p_.steps(); ++s) {
            for (touch t : p_.touches(s)) {
                bool const is_def = t.defines();
                bool const is_inner = only_defs ? !is_def : is_def && is_read[t.value];
                if (is_inner) skipped_at[required_.root[t.value]] = s;
            }
            for (touch t : p_.touches(s)) {
                value_id const r = required_.root[t.value];
                if (only_defs && !t.defines()) continue;
                if (required_.is_planned(r) && skipped_at[r] != s) add(r, skipped_at[r] = s);
            }
        }
        for (edge_use u : p_.edge_uses())
            if (!only_defs && required_.is_planned(required_.root[u.value]))
                add(required_.root[u.value], p_.steps_of(u.pred).last - 1);
    });
}

// --- clash schedule --------------------------------------------------------------------------------------

SUBLET_DECL std::vector<unsigned char> all_before(step_id s, step_order const& order)
{
    std::vector<unsigned char> is_before(order.step_at.size());
    for (position_id at = s == no_step ? position_id{0} : order.position[s]; at-- != 0;)
        for (step_order::point next : order.after[order.step_at[at]])
            if (next == s || is_before[next]) is_before[order.step_at[at]] = 1;
    return is_before;
}

SUBLET_DECL bool find_overwrite(step_order const& order, class_touches const& touches,
                                memory_plan const& plan, bool in_place, step_id producer, bool both_written,
                                counterexample::overlap& its, std::vector<step_id>& schedule)
{
    value_id const u = its.value, v = its.other;
    auto const earlier = all_before(producer, order);
    for (step_id writer : touches.begins()[v]) {
        if (earlier[writer]) continue;
        auto const first = all_before(writer, order);
        bool is_needed = touches.is_kept(u);
        its.needed_at = no_step;
        for (step_id t : touches.ends()[u]) {
            if (is_needed) break;
            if (t == writer ? touches.can_overwrite(t, u, v, plan, in_place) : first[t] || earlier[t])
                continue;
            is_needed = t != producer || both_written;
            its.needed_at = t;
        }
        if (!is_needed) continue;
        its.step = writer;
        bool const is_unordered = producer == no_step || !first[producer];
        auto phase_of = [&](step_order::point s) {
            if (s == writer) return 3;
            if (s == producer) return 1;
            if (earlier[s] || (is_unordered && first[s])) return 0;
            return first[s] ? 2 : 4;
        };
        for (int phase = 0; phase != 5; ++phase)
            for (step_order::point s : order.step_at) {
                if (s >= order.steps || phase_of(s) != phase) continue;
                if (s == writer) its.position = position_id::of(schedule.size());
                schedule.push_back(s);
            }
        return true;
    }
    return false;
}

SUBLET_DECL counterexample clash_schedule(step_order const& order, class_touches const& touches,
                                          memory_plan const& plan, bool in_place,
                                          counterexample::overlap const& both)
{
    if (touches.is_given(both.value) && touches.is_given(both.other)) return {fault::clash, both};
    counterexample::overlap its{.pool = both.pool, .begin = both.begin, .end = both.end};
    std::vector<step_id> schedule;
    for (int attempt = 0; attempt != 4; ++attempt) {
        its.value = attempt % 2 == 0 ? both.value : both.other;
        its.other = attempt % 2 == 0 ? both.other : both.value;
        bool const both_written = attempt >= 2;
        auto finds = [&](step_id producer) {
            return find_overwrite(order, touches, plan, in_place, producer, both_written, its, schedule);
        };
        if (touches.is_given(its.other)) continue;
        bool is_found = touches.is_given(its.value) && finds(no_step);
        for (step_id producer : touches.begins()[its.value])
            is_found = is_found || (!touches.is_given(its.value) && finds(producer));
        if (is_found) return {fault::overwritten, its, std::move(schedule)};
    }
    return {fault::clash, both};
}

} // namespace sublet::detail
