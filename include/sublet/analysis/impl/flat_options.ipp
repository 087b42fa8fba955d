// SPDX-License-Identifier: BSL-1.0

/// flat_options(): each fact of the table of facts is lifted from the program that has the value; what spares
/// and views need is said after that.

#include <sublet/analysis/internal/flat_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL plan_options flat_options(flat_tree const& flat, table<program_id, plan_options> const& options)
{
    std::size_t const programs = flat.flat_of.size();
    SUBLET_EXPECTS(options.size() == programs, "sublet: a tree of % programs has options for % of them",
                   programs, options.size());
    for (plan_options const& o : options)
        SUBLET_EXPECTS(o.order.empty(),
                       "sublet: nested programs are planned in listed order, without options.order");
    // By flat value; a spare has the size, alignment and pool of the value that it holds.
    auto lift = [&](auto property, char const* name) {
        auto const all = (options[0].*property).tabulate(flat.flat_of[0].size(), name);
        auto lifted = all;
        lifted.resize(flat.value_of.size());
        for (program_id i = 1; i != programs; ++i) {
            auto const own = (options[i].*property).tabulate(flat.flat_of[i].size(), name);
            for (value_id v = 0; v != own.size(); ++v) {
                value_id const to = flat.flat_of[i][v];
                if (flat.value_of[to] == tree_value{i, v}) lifted[to] = own[v];
            }
        }
        for (value_id s = flat.first_spare; s != flat.value_of.size(); ++s) {
            auto const [program, value] = flat.value_of[s];
            lifted[s] = lifted[flat.flat_of[program][value]];
        }
        return lifted;
    };
    auto same_pools = [](table<pool_id, pool_limits> const& a, table<pool_id, pool_limits> const& b) {
        bool same = a.size() == b.size();
        for (pool_id i = 0; same && i != a.size(); ++i)
            same = a[i].capacity == b[i].capacity && a[i].alignment == b[i].alignment &&
                   a[i].largest_block == b[i].largest_block && a[i].guard == b[i].guard &&
                   a[i].reserved == b[i].reserved && a[i].page == b[i].page && a[i].bank == b[i].bank;
        return same;
    };
    for (program_id i = 1; i != programs; ++i) {
        SUBLET_EXPECTS(options[i].pools.empty() || same_pools(options[i].pools, options[0].pools),
                       "sublet: body % has pools that are not those of the root: say all pools there", i);
        SUBLET_EXPECTS(options[i].in_place || !options[0].in_place,
                       "sublet: body % forbids in-place pairs and the root does not: say it there", i);
    }
    plan_options all = options[0];
    detail::each_value_fact([&](auto const& fact) { all.*fact.member = lift(fact.member, fact.name); });
    all.pool_choices.clear();
    for (program_id i = 0; i != programs; ++i)
        for (plan_options::pool_choice choice : options[i].pool_choices) {
            SUBLET_EXPECTS(choice.value < flat.flat_of[i].size(),
                           "sublet: a choice names value %, but there are only % values", choice.value,
                           flat.flat_of[i].size());
            value_id const to = flat.flat_of[i][choice.value];
            SUBLET_EXPECTS(
                (flat.value_of[to] == tree_value{i, choice.value}),
                "sublet: body % chooses pools for value %, which it captures: say it of value % of "
                "program %",
                i, choice.value, flat.value_of[to].value, flat.value_of[to].program);
            choice.value = to;
            all.pool_choices.push_back(choice);
        }
    std::size_t const values = flat.value_of.size();
    auto eligible = all.eligible.tabulate(values);
    auto role = all.role.tabulate(values);
    auto alias_of = all.alias_of.tabulate(values);
    auto view_offset = all.view_offset.tabulate(values);
    auto pinned = all.pinned.tabulate(values);
    for (value_id v = 0; v != flat.value_of.size(); ++v) {
        auto const [program, value] = flat.value_of[v];
        if (v >= flat.first_spare) {
            eligible[v] = true;
            role[v] = value_role::intermediate;
            alias_of[v] = no_value;
            view_offset[v] = 0;
            pinned[v] = no_offset;
            continue;
        }
        if (alias_of[v] != no_value) {
            SUBLET_EXPECTS(alias_of[v] < flat.flat_of[program].size(),
                           "sublet: view % of program % names value %, but it has only % values", v, program,
                           alias_of[v], flat.flat_of[program].size());
            alias_of[v] = flat.flat_of[program][alias_of[v]];
        }
        bool const is_boundary =
            has_role(role[v], value_role::input) || has_role(role[v], value_role::output);
        SUBLET_EXPECTS(program == 0 || !is_boundary,
                       "sublet: value % of body % is an input or an output: bind it, or capture one", v,
                       program);
    }
    all.eligible = std::move(eligible);
    all.role = std::move(role);
    all.alias_of = std::move(alias_of);
    all.view_offset = std::move(view_offset);
    all.pinned = std::move(pinned);
    return all;
}

SUBLET_DECL flat_tree_with_options flatten_with_options(program_tree const& tree,
                                                        table<program_id, plan_options> const& given)
{
    SUBLET_EXPECTS(given.size() == tree.size(), "sublet: a tree of % programs has options for % of them",
                   tree.size(), given.size());
    table<program_id, plan_options> own;
    table<program_id, std::vector<value_id>> alias_of;
    for (program_id i = 0; i != tree.size(); ++i) {
        expect_one_program(given[i], "a tree of programs");
        snapshot const& p = tree.program_of(i);
        std::size_t const values = p.values();
        own.push_back(*with_said_views(p, tabulated_options(given[i], values)));
        alias_of.push_back(own[i].alias_of.tabulate(values, "alias_of"));
    }
    flat_tree flat = flatten(tree, alias_of);
    plan_options all = flat_options(flat, own);
    return {std::move(flat), std::move(all), std::move(own)};
}

SUBLET_DECL void expect_program_of(program_tree const& tree, program_id i, snapshot const& p)
{
    snapshot const& of_tree = tree.program_of(i);
    SUBLET_EXPECTS(
        of_tree.steps() == p.steps(),
        "sublet: list % has % steps, but program % of the tree has %: give the lists in the order of the "
        "tree",
        i, p.steps(), i, of_tree.steps());
    SUBLET_EXPECTS(
        of_tree == p,
        "sublet: program % of the tree was not made of list %: give the lists in the order of the tree", i,
        i);
}

} // namespace sublet::detail
