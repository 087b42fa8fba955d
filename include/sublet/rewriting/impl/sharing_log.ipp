// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_IMPL_SHARING_LOG_IPP
#define SUBLET_REWRITING_IMPL_SHARING_LOG_IPP

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/rewriting/sharing_log.hpp>

#include <cstdint>

namespace sublet {

SUBLET_DECL sharing_log log_sharing(snapshot const& p, slot_plan const& plan, plan_options const& options,
                                    std::vector<node_id> const& order)
{
    SUBLET_EXPECTS(plan.slot_of.size() == p.values(), "sublet: a table has not one entry for each value");
    auto const bytes = options.bytes.tabulate(p.values());
    auto const alias_of = options.alias_of.tabulate(p.values());
    std::vector<step_id> const steps = steps_in_order(p, order);
    std::vector<step_id> made_at(p.values(), no_step);
    for (step_id at = 0; at != steps.size(); ++at)
        for (touch t : p.touches(steps[at]))
            if (t.kind == touch_kind::def && made_at[t.value] == no_step) made_at[t.value] = at;

    std::vector<keyed> tenants; // by when they move in
    for (value_id v = 0; v != p.values(); ++v)
        if (plan.slot_of[v] != no_slot && alias_of[v] == no_value)
            tenants.push_back({made_at[v] == no_step ? 0 : std::uint64_t{made_at[v]} + 1, 0, v});
    sort_keyed(tenants);

    sharing_log log;
    struct slot_state {
        value_id tenant = no_value;
        byte_count bytes = 0;
        bool is_shared = false;
    };
    std::vector<slot_state> slots(plan.slots);
    for (keyed const& k : tenants) {
        value_id const v = k.who;
        SUBLET_EXPECTS(plan.slot_of[v] < plan.slots, "sublet: a slot is out of range");
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: a value of unknown size is in a slot");
        slot_state& slot = slots[plan.slot_of[v]];
        sharing_entry e{.value = v, .from = slot.tenant, .slot = plan.slot_of[v], .bytes = bytes[v]};
        e.growth = larger(bytes[v], slot.bytes) - slot.bytes;
        if (e.from != no_value && k.key != 0)
            for (touch t : p.touches(steps[made_at[v]])) {
                bool const is_there = t.kind != touch_kind::def && plan.slot_of[t.value] == e.slot;
                if (is_there && (t.value == e.from || alias_of[t.value] != no_value)) e.is_in_place = true;
            }
        if (slot.tenant == no_value) ++log.slots;
        else if (!slot.is_shared) ++log.shared, slot.is_shared = true;
        slot.tenant = v;
        slot.bytes += e.growth;
        log.naive_bytes = checked_add(log.naive_bytes, e.bytes);
        log.slot_bytes = checked_add(log.slot_bytes, e.growth);
        log.entries.push_back(e);
    }
    return log;
}

SUBLET_DECL std::vector<sharing_entry> trace(sharing_log const& log, value_id v)
{
    std::vector<sharing_entry> about;
    for (sharing_entry const& e : log.entries)
        if (e.value == v || e.from == v) about.push_back(e);
    return about;
}

} // namespace sublet

#endif
