// SPDX-License-Identifier: BSL-1.0

/// Each function goes through the table of facts: it copies or tabulates whichever members the table names.
/// Choices of pools, which are a list, are found for each copy by a search among the copies, sorted by their
/// origin.

#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL asked_options<plan_options> tabulated_options(plan_options const& given, std::size_t values)
{
    asked_options<plan_options> asked(given);
    each_value_fact([&](auto const& fact) { asked.ask(fact.member, values); });
    if (!given.previous.buffer_of.empty()) asked.ask(&plan_options::previous_value, values);
    if (!given.carried.empty()) asked.own().role = carried_roles(given, values);
    return asked;
}

SUBLET_DECL asked_options<symbolic_options> tabulated_options(symbolic_options const& given,
                                                              std::size_t values)
{
    asked_options<symbolic_options> asked(given);
    each_value_fact([&](auto const& fact) {
        if (fact.symbolic != nullptr) asked.ask(fact.symbolic, values);
    });
    return asked;
}

SUBLET_DECL plan_options options_of_copies(plan_options const& asked, std::size_t before,
                                           own_facts const& own)
{
    std::size_t const values = own.origin.size();
    expect_no_carried(asked, "a program that is made from another one");
    expect_no_apart(asked, "a program that is made from another one");
    plan_options made = asked;
    if (!asked.previous_value.is_constant(no_value)) {
        auto was = asked.previous_value.tabulate(before, "previous_value");
        was.resize(values, no_value); // a copy is new
        made.previous_value = std::move(was);
    }
    each_value_fact([&](auto const& fact) {
        if (fact.copied == copied_fact::own) return;
        auto const of = (asked.*fact.member).tabulate(before, fact.name);
        auto copies = of;
        copies.resize(values);
        for (value_id v = 0; v != values; ++v) copies[v] = of[own.origin[v]];
        made.*fact.member = std::move(copies);
    });
    made.role = own.role;
    made.alias_of = own.alias_of;
    made.view_offset = own.view_offset;
    if (asked.pool_choices.empty()) return made;
    std::vector<sort_key> copies; // {value before, value}, ascending
    for (auto v = value_id::of(before); v < values; ++v)
        if (own.alias_of[v] == no_value && !has_role(own.role[v], value_role::external))
            copies.push_back({own.origin[v], 0, v});
    sort_by_key(copies);
    for (plan_options::pool_choice const& choice : asked.pool_choices) {
        std::size_t i =
            partition_point(copies.size(), [&](std::size_t k) { return copies[k].key >= choice.value; });
        for (; i != copies.size() && copies[i].key == choice.value; ++i)
            made.pool_choices.push_back({value_id{copies[i].id}, choice.pool, choice.cost});
    }
    return made;
}

} // namespace sublet::detail
