// SPDX-License-Identifier: BSL-1.0

/// Two tables, of what each value is carried into and from; a group is walked from the value that is carried
/// no further.

#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL carried_fault fault_of_pair(plan_options const& options, plan_options::carry c)
{
    for (value_id v : {c.from, c.to}) {
        if (options.alias_of[v] != no_value)
            return {"value % is carried into the next round, and is a view: carry its root", {v}};
        if (has_role(options.role[v], value_role::external) || !options.eligible[v])
            return {"value % is carried into the next round, and has storage of its own", {v}};
        if (options.bytes[v] == no_size)
            return {"value % is carried into the next round, and its size is unknown", {v}};
    }
    auto differ = [&](char const* sentence, std::uint64_t from, std::uint64_t to) {
        return from == to ? carried_fault{} : carried_fault{sentence, {c.from, c.to}, {from, to}};
    };
    carried_fault found = differ("value % has # bytes, and is carried into value %, which has #",
                                 options.bytes[c.from], options.bytes[c.to]);
    if (found.sentence == nullptr)
        found = differ("value % is in pool #, and is carried into value %, which is in pool #",
                       options.pool[c.from], options.pool[c.to]);
    if (found.sentence == nullptr)
        found = differ("value % is of kind #, and is carried into value %, which is of kind #",
                       options.kind[c.from], options.kind[c.to]);
    return found;
}

SUBLET_COLD_DECL carried_fault find_carried(plan_options const& options, std::size_t values,
                                            std::vector<std::vector<value_id>>& groups)
{
    table<value_id, value_id> from(values, no_value), into(values, no_value);
    for (plan_options::carry const& c : options.carried) {
        if (c.from >= values || c.to >= values)
            return {"value % is carried into value %, but there are only # values", {c.from, c.to}, {values}};
        if (into[c.from] != no_value)
            return {"value % is carried into value % and into value %", {c.from, into[c.from], c.to}};
        if (from[c.to] != no_value)
            return {"value % is carried from value % and from value %", {c.to, from[c.to], c.from}};
        if (carried_fault const found = fault_of_pair(options, c); found.sentence != nullptr) return found;
        into[c.from] = c.to;
        from[c.to] = c.from;
    }
    for (plan_options::pool_choice const& c : options.pool_choices)
        if (c.value < values && (from[c.value] != no_value || into[c.value] != no_value))
            return {"value % is carried into the next round, and may choose its pool", {c.value}};
    for (value_id v = 0; v != values; ++v) {
        bool const is_kept = into[v] == v;
        if (from[v] == no_value || (into[v] != no_value && !is_kept)) continue;
        std::vector<value_id> group{v};
        for (value_id next = from[v]; next != no_value && !is_kept; next = from[next]) group.push_back(next);
        for (value_id member : group) from[member] = no_value; // what is left is in a cycle
        groups.push_back(std::move(group));
    }
    for (value_id v = 0; v != values; ++v)
        if (from[v] != no_value)
            return {"values are carried in a cycle, as value % is: one of them is made anew in each round",
                    {v}};
    return {};
}

SUBLET_COLD_DECL carried_fault fault_of_carried(plan_options const& options, std::size_t values)
{
    std::vector<std::vector<value_id>> groups;
    return options.carried.empty() ? carried_fault{} : find_carried(options, values, groups);
}

SUBLET_COLD_DECL std::vector<std::vector<value_id>> carried_groups(plan_options const& options,
                                                                   std::size_t values)
{
    std::vector<std::vector<value_id>> groups;
    if (options.carried.empty()) return groups;
    carried_fault const found = find_carried(options, values, groups);
    if (found.sentence == nullptr) return groups;
    std::vector<char> why;
    appended_text to{why};
    plain_text<appended_text> text{to};
    text << "sublet: ";
    auto write = [&text](auto one) { text << one; };
    found.write(write, write);
    text << '\0';
    broken_precondition(why.data());
}

SUBLET_COLD_DECL per_value<value_role> carried_roles(plan_options const& options)
{
    if (options.carried.empty()) return options.role;
    std::vector<sort_key> more; // {value, 0, role}
    for (plan_options::carry const& c : options.carried) {
        more.push_back({c.from, 0, static_cast<std::uint32_t>(value_role::output)});
        more.push_back({c.to, 0, static_cast<std::uint32_t>(value_role::input)});
    }
    sort_by_key(more);
    return [said = options.role, more](value_id v) {
        value_role role = said[v];
        std::size_t i = partition_point(more.size(), [&](std::size_t k) { return more[k].key >= v; });
        for (; i != more.size() && more[i].key == v; ++i) role = role | static_cast<value_role>(more[i].id);
        return role;
    };
}

SUBLET_DECL table<value_id, value_role> carried_roles(plan_options const& options, std::size_t values)
{
    if (options.carried.empty()) return options.role.tabulate(values, "role");
    return carried_roles(options).tabulate(values, "role");
}

SUBLET_COLD_DECL void expect_no_carried(plan_options const& options, char const* call)
{
    SUBLET_EXPECTS(options.carried.empty(), "sublet: % does not carry value % into the next round", call,
                   options.carried.front().from);
}

SUBLET_COLD_DECL void expect_one_program(plan_options const& options, char const* call)
{
    expect_no_carried(options, call);
    expect_no_apart(options, call);
    SUBLET_EXPECTS(options.optional.empty(), "sublet: % does not leave out step %: it may not be optional",
                   call, options.optional.front());
}

SUBLET_COLD_DECL void expect_no_apart(plan_options const& options, char const* call)
{
    SUBLET_EXPECTS(options.apart.empty(), "sublet: % does not keep values % and % apart in banks", call,
                   options.apart.front().first, options.apart.front().second);
}

} // namespace sublet::detail
