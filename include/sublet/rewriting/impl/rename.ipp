// SPDX-License-Identifier: BSL-1.0
/// A slot gets a name if its occupants are of several values or not all versions of one; one pass over the
/// versions finds these slots, another gives the names. Unused numbers are what is left between the sorted
/// numbers of the names in use. The log walks over the definitions in order, with the last occupant of
/// each slot.

#include <sublet/analysis/internal/listed_steps.hpp>

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/rewriting/detail/numbered_names.hpp>
#include <sublet/rewriting/rename.hpp>

// --- rename ----------------------------------------------------------------------------------------------

namespace sublet::detail {

/// Of each slot: whether its occupants get a name, since they are several values or not all versions of one.
SUBLET_DECL table<slot_id, unsigned char>
slots_to_name(versioned_program const& versioned, sized_slot_plan const& plan,
              table<value_id, unsigned char> const& keeps_storage_name)
{
    table<slot_id, value_id> occupant(plan.slots, no_value);
    table<slot_id, unsigned char> is_named(plan.slots);
    for (value_id v = 0; v != keeps_storage_name.size(); ++v) {
        slot_id const slot = plan.slot_of[v];
        if (keeps_storage_name[v] || slot == no_slot) continue;
        value_id const origin = versioned.value_of[v];
        if (occupant[slot] != no_value && occupant[slot] != origin) is_named[slot] = 1;
        occupant[slot] = origin;
    }
    table<value_id, slot_id> first_slot(versioned.last.size(), no_slot); // of the first version of each value
    table<value_id, unsigned char> is_split(versioned.last.size());
    for (value_id v = 0; v != keeps_storage_name.size(); ++v) {
        if (versioned.alias_of[v] != no_value) continue;
        value_id const origin = versioned.value_of[v];
        if (v == origin) first_slot[origin] = plan.slot_of[v];
        else if (first_slot[origin] != plan.slot_of[v]) is_split[origin] = 1;
    }
    for (slot_id s = 0; s != plan.slots; ++s)
        if (occupant[s] != no_value && is_split[occupant[s]]) is_named[s] = 1;
    return is_named;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL slot_renaming name_slots(versioned_program const& versioned, sized_slot_plan const& plan,
                                     plan_options const& options, rename_options const& naming)
{
    std::size_t const versions = versioned.value_of.size(), values = versioned.last.size();
    SUBLET_EXPECTS(versioned, "sublet: a program without versions cannot be renamed");
    SUBLET_EXPECTS(plan.slot_of.size() == versions, "sublet: a slot plan has % entries for % versions",
                   plan.slot_of.size(), versions);
    auto const bytes = options.bytes.tabulate(versions, "bytes");
    auto const pool = options.pool.tabulate(versions, "pool");
    auto const is_slot = naming.is_slot.tabulate(values, "is_slot"),
               keeps_name = naming.keeps_name.tabulate(values, "keeps_name");
    for (slot_id s : plan.slot_of)
        SUBLET_EXPECTS(s == no_slot || s < plan.slots,
                       "sublet: a plan names slot %, but there are only % slots", s, plan.slots);

    slot_renaming names;
    names.values = values;
    names.name_of = names.storage_of = versioned.value_of;
    // A version in the storage of the first version has its name.
    auto shares_first_storage = [&versioned](value_id v) {
        return versioned.alias_of[v] != no_value &&
               versioned.value_of[versioned.alias_of[v]] == versioned.value_of[v];
    };
    table<value_id, unsigned char> is_visible(versions),
        keeps_storage_name(versions); // known to the caller by name
    for (value_id v = 0; v != versions; ++v) {
        value_id const origin = versioned.value_of[v];
        is_visible[v] = keeps_name[origin] || detail::is_given(versioned.role[v]) ||
                        has_role(versioned.role[v], value_role::output);
        if (is_visible[v] && shares_first_storage(v)) is_visible[origin] = 1;
    }
    for (value_id v = 0; v != versions; ++v)
        keeps_storage_name[v] = is_visible[v] || versioned.alias_of[v] != no_value;
    for (value_id v = 0; v != values && names.planned_already == no_value; ++v)
        if (is_slot[v]) names.planned_already = v;

    if (names.planned_already == no_value) {
        auto const is_named = detail::slots_to_name(versioned, plan, keeps_storage_name);
        constexpr std::uint32_t none = ~std::uint32_t{0};
        table<slot_id, std::uint32_t> number(plan.slots, none); // of the new name
        for (slot_id s = 0; s != plan.slots; ++s) {
            if (!is_named[s]) continue;
            number[s] = static_cast<std::uint32_t>(names.new_names.size());
            names.new_names.push_back({.slot = s});
        }
        SUBLET_EXPECTS(values + names.new_names.size() < no_value, "sublet: more names than 32-bit ids");
        for (value_id v = 0; v != versions; ++v) {
            if (keeps_storage_name[v] || plan.slot_of[v] == no_slot || number[plan.slot_of[v]] == none)
                continue;
            slot_renaming::name& name = names.new_names[number[plan.slot_of[v]]];
            names.name_of[v] = value_id::of(values) + number[plan.slot_of[v]];
            ++name.occupants;
            if (name.largest != no_value && bytes[v] <= name.bytes) continue;
            name.bytes = bytes[v];
            name.pool = pool[v];
            name.largest = versioned.value_of[v];
        }
    }
    buffer_classes const classes = detail::classes_of(versioned.alias_of);
    for (value_id v = 0; v != versions; ++v) {
        names.storage_of[v] = names.name_of[classes.root[classes.buffer_of[v]]];
        bool const by_storage = naming.renames_views && !is_visible[v] && names.storage_of[v] >= values;
        if (by_storage) names.name_of[v] = names.storage_of[v];
        if (shares_first_storage(v)) names.name_of[v] = names.name_of[versioned.alias_of[v]];
    }
    return names;
}

SUBLET_DECL snapshot renamed_program(versioned_program const& versioned, slot_renaming const& names)
{
    snapshot const& p = versioned.program;
    table<value_id, value_id> const& name = names.storage_of;
    SUBLET_EXPECTS(name.size() == p.values(), "sublet: the names belong to another program");
    return detail::with_effects(p, names.values + names.new_names.size(),
        [&](node_id n, effect_sink& sink) {
            step_range const node_steps = p.steps_of(n);
            for (step_id s = node_steps.first; s != node_steps.last; ++s) {
                if (s != node_steps.first) sink.next_step();
                for (touch t : p.touches(s)) sink.add(t.kind, name[t.value]);
                for (overwrite o : p.overwrites(s)) sink.may_overwrite(name[o.in], name[o.out]);
                detail::copy_step_facts(p, s, sink);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, name[u.value]);
        });
}

// --- rename tree -----------------------------------------------------------------------------------------

SUBLET_DECL versioned_program values_as_versions(snapshot const& p, plan_options const& options)
{
    versioned_program versioned;
    versioned.program = p;
    for (value_id v = 0; v != p.values(); ++v) versioned.value_of.push_back(v);
    versioned.last = versioned.value_of;
    versioned.number.assign(p.values(), 0);
    versioned.role = options.role.tabulate(p.values(), "role");
    versioned.alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    return versioned;
}

// --- sharing log -----------------------------------------------------------------------------------------

SUBLET_DECL sharing_log log_sharing(snapshot const& p, slot_plan const& plan, plan_options const& options,
                                    std::vector<node_id> const& order)
{
    SUBLET_EXPECTS(plan.slot_of.size() == p.values(), "sublet: a slot plan has % entries for % values",
                   plan.slot_of.size(), p.values());
    auto const bytes = options.bytes.tabulate(p.values(), "bytes");
    auto const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<position_id, step_id> const steps = detail::steps_in_order(p, order);
    table<value_id, position_id> defined_at(p.values(), no_position);
    for (position_id at = 0; at != steps.size(); ++at)
        for (touch t : p.touches(steps[at]))
            if (t.defines() && defined_at[t.value] == no_position) defined_at[t.value] = at;

    std::vector<detail::sort_key> occupants; // by the time of their definition
    for (value_id v = 0; v != p.values(); ++v)
        if (plan.slot_of[v] != no_slot && alias_of[v] == no_value)
            occupants.push_back({defined_at[v] == no_position ? 0 : std::uint64_t{defined_at[v]} + 1, 0, v});
    detail::sort_by_key(occupants);

    sharing_log log;
    struct slot_state {
        value_id occupant = no_value;
        byte_count bytes = 0;
        bool is_shared = false;
    };
    table<slot_id, slot_state> slots(plan.slots);
    for (detail::sort_key const& k : occupants) {
        value_id const v = k.id;
        SUBLET_EXPECTS(plan.slot_of[v] < plan.slots,
                       "sublet: value % is in slot %, but there are only % slots", v, plan.slot_of[v],
                       plan.slots);
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: value %, of unknown size, is in a slot", v);
        slot_state& slot = slots[plan.slot_of[v]];
        sharing_log::entry e{.value = v, .from = slot.occupant, .slot = plan.slot_of[v], .bytes = bytes[v]};
        e.growth = detail::larger(bytes[v], slot.bytes) - slot.bytes;
        if (e.from != no_value && k.key != 0)
            for (touch t : p.touches(steps[defined_at[v]])) {
                bool const is_there = !t.defines() && plan.slot_of[t.value] == e.slot;
                if (is_there && (t.value == e.from || alias_of[t.value] != no_value)) e.is_in_place = true;
            }
        if (slot.occupant == no_value) ++log.slots;
        else if (!slot.is_shared) ++log.shared, slot.is_shared = true;
        slot.occupant = v;
        slot.bytes += e.growth;
        log.naive_bytes = checked_add(log.naive_bytes, e.bytes);
        log.slot_bytes = checked_add(log.slot_bytes, e.growth);
        log.entries.push_back(e);
    }
    return log;
}

SUBLET_DECL std::vector<std::uint64_t> unused_names(std::string_view prefix, std::size_t count,
                                                    std::size_t names, names_of<value_id> const& name_of)
{
    std::vector<std::uint64_t> taken;
    std::vector<char> text;
    for (value_id v = 0; v != names; ++v) {
        name_of.read(text, v);
        if (auto const number = detail::parse_numbered(prefix, std::string_view(text.data(), text.size())))
            taken.push_back(*number);
    }
    detail::sort_ascending(taken);
    std::vector<std::uint64_t> unused;
    std::size_t next = 0;
    for (std::uint64_t number = 0; unused.size() != count; ++number) {
        while (next != taken.size() && taken[next] < number) ++next;
        if (next == taken.size() || taken[next] != number) unused.push_back(number);
    }
    return unused;
}

namespace detail {

SUBLET_DECL std::vector<sharing_log::entry> trace(sharing_log const& log, value_id v)
{
    std::vector<sharing_log::entry> about;
    for (sharing_log::entry const& e : log.entries)
        if (e.value == v || e.from == v) about.push_back(e);
    return about;
}

} // namespace detail

} // namespace sublet
