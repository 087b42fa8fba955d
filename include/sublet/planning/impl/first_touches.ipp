// SPDX-License-Identifier: BSL-1.0

/// One pass finds the first and the last step that touches each value, a second one writes the record again.

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/first_touches.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL effect_record with_first_touches(effect_record const& recorded,
                                                  std::vector<value_id> const& begun, std::size_t values,
                                                  std::vector<node_id> const& order, bool chooses_first)
{
    std::size_t const steps = recorded.step_begin.size();
    table<value_id, unsigned char> begins(values, 0);
    for (value_id v : begun) begins[v] = 1;
    table<step_id, std::size_t> place(steps, 0); // in the order
    for (std::size_t i = 0; i != order.size(); ++i)
        if (order[i] < steps) place[step_id::of(+order[i])] = i;
    auto each = [&](auto see) {
        for (step_id s = 0; s != steps; ++s) {
            std::size_t const end = s + 1 == steps ? recorded.touches.size() : recorded.step_begin[s + 1];
            for (std::size_t i = recorded.step_begin[s]; i != end; ++i) see(s, recorded.touches[i]);
        }
    };
    table<value_id, step_id> first(values, no_step), last(values, no_step); // that touch it
    std::vector<std::pair<step_id, value_id>> writes;                       // of these values, by step
    each([&](step_id s, touch t) {
        if (begins[t.value] == 0) return;
        if (t.kind == touch::access::write) writes.push_back({s, t.value});
        step_id &least = first[t.value], &most = last[t.value];
        if (least == no_step || place[s] < place[least]) least = s;
        if (most == no_step || place[s] >= place[most]) most = s;
    });
    effect_record record;
    record.edge_uses = recorded.edge_uses;
    record.said_views = recorded.said_views;
    record.said = recorded.said;
    record.commuting = begun;
    std::size_t next = 0;
    for (overwrite o : recorded.overwrites) {
        while (next != writes.size() && writes[next].first < o.step) ++next;
        bool keeps =
            begins[o.in] == 0 || (first[o.in] != last[o.in] && !(chooses_first && first[o.in] == o.step));
        for (std::size_t i = next; i != writes.size() && writes[i].first == o.step; ++i)
            keeps = keeps && writes[i].second != o.in;
        if (keeps) record.overwrites.push_back(o);
    }
    table<value_id, step_id> made(values, no_step);
    each([&](step_id s, touch t) {
        while (record.step_begin.size() <= +s) record.next_step();
        bool const makes = begins[t.value] != 0 && chooses_first && first[t.value] == s;
        if (makes && std::exchange(made[t.value], s) == s) return; // once
        if (makes) t.kind = touch::access::def;
        else if (begins[t.value] != 0 && !chooses_first && t.kind == touch::access::write)
            t.kind = touch::access::use;
        record.add(t, s + 1 != steps); // all but the last step are joined already
    });
    while (record.step_begin.size() != steps) record.next_step();
    return record;
}

} // namespace sublet::detail
