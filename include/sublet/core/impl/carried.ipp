// SPDX-License-Identifier: BSL-1.0

/// Two tables, of what each value is carried into and from; a group is walked from the value that is carried
/// no further.

#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL void expect_carried(plan_options const& options, value_id v)
{
    SUBLET_EXPECTS(options.alias_of[v] == no_value,
                   "sublet: value % is carried into the next round, and is a view: carry its root", v);
    SUBLET_EXPECTS(!has_role(options.role[v], value_role::external) && options.eligible[v],
                   "sublet: value % is carried into the next round, and has storage of its own", v);
    SUBLET_EXPECTS(options.bytes[v] != no_size,
                   "sublet: value % is carried into the next round, and its size is unknown", v);
}

SUBLET_COLD_DECL std::vector<std::vector<value_id>> carried_groups(plan_options const& options,
                                                                   std::size_t values)
{
    std::vector<std::vector<value_id>> groups;
    if (options.carried.empty()) return groups;
    table<value_id, value_id> from(values, no_value), into(values, no_value);
    for (plan_options::carry const& c : options.carried) {
        SUBLET_EXPECTS(c.from < values && c.to < values,
                       "sublet: value % is carried into value %, but there are only % values", c.from, c.to,
                       values);
        SUBLET_EXPECTS(into[c.from] == no_value, "sublet: value % is carried into value % and into value %",
                       c.from, into[c.from], c.to);
        SUBLET_EXPECTS(from[c.to] == no_value, "sublet: value % is carried from value % and from value %",
                       c.to, from[c.to], c.from);
        for (value_id v : {c.from, c.to}) expect_carried(options, v);
        SUBLET_EXPECTS(options.bytes[c.from] == options.bytes[c.to],
                       "sublet: value % has % bytes, and is carried into value %, which has %", c.from,
                       options.bytes[c.from], c.to, options.bytes[c.to]);
        SUBLET_EXPECTS(options.pool[c.from] == options.pool[c.to],
                       "sublet: value % is in pool %, and is carried into value %, which is in pool %",
                       c.from, options.pool[c.from], c.to, options.pool[c.to]);
        SUBLET_EXPECTS(options.kind[c.from] == options.kind[c.to],
                       "sublet: value % is of kind %, and is carried into value %, which is of kind %",
                       c.from, options.kind[c.from], c.to, options.kind[c.to]);
        into[c.from] = c.to;
        from[c.to] = c.from;
    }
    for (plan_options::pool_choice const& c : options.pool_choices)
        SUBLET_EXPECTS(c.value >= values || (from[c.value] == no_value && into[c.value] == no_value),
                       "sublet: value % is carried into the next round, and may choose its pool", c.value);
    std::size_t walked = 0;
    for (value_id v = 0; v != values; ++v) {
        bool const is_kept = into[v] == v;
        if (from[v] == no_value || (into[v] != no_value && !is_kept)) continue;
        std::vector<value_id> group{v};
        for (value_id next = from[v]; next != no_value && !is_kept; next = from[next]) group.push_back(next);
        walked += is_kept ? 1 : group.size() - 1;
        groups.push_back(std::move(group));
    }
    SUBLET_EXPECTS(walked == options.carried.size(),
                   "sublet: values are carried in a cycle: one of them is made anew in each round");
    return groups;
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
    SUBLET_EXPECTS(options.optional.empty(), "sublet: % does not leave out step %: it may not be optional",
                   call, options.optional.front());
}

} // namespace sublet::detail
