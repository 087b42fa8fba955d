// SPDX-License-Identifier: BSL-1.0

/// Parents are numbered before their bodies, so a captured value finds the number of the outer one, and every
/// other value gets the next.

#include <sublet/analysis/internal/tree_values.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/impl/config.hpp>

#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL tree_values number_values(program_tree const& tree)
{
    tree_values numbered;
    for (program_id i = 0; i != tree.size(); ++i) {
        table<value_id, value_id> of(tree.program_of(i).values(), no_value);
        if (i != 0) { // the parent has been numbered
            auto const& outer = numbered.flat_of[tree.body(i).parent];
            for (program_body::capture c : tree.body(i).captures) of[c.inner] = outer[c.outer];
        }
        for (value_id v = 0; v != of.size(); ++v) {
            if (of[v] != no_value) continue;
            of[v] = value_id::of(numbered.value_of.size());
            numbered.value_of.push_back({i, v});
            SUBLET_EXPECTS(numbered.value_of.size() < no_value, "sublet: more values than 32-bit ids");
        }
        numbered.flat_of.push_back(std::move(of));
    }
    return numbered;
}

SUBLET_DECL table<value_id, value_id> view_roots(tree_values const& values,
                                                 table<program_id, std::vector<value_id>> const& alias_of)
{
    SUBLET_EXPECTS(alias_of.empty() || alias_of.size() == values.flat_of.size(),
                   "sublet: alias_of has % entries for a tree of % programs", alias_of.size(),
                   values.flat_of.size());
    auto flat_alias = [&](value_id v) {
        auto const [program, value] = values.value_of[v];
        if (alias_of.empty()) return no_value;
        value_id const to = alias_of[program][value];
        SUBLET_EXPECTS(to == no_value || to < values.flat_of[program].size(),
                       "sublet: a view of program % names value %, but it has only % values", program, to,
                       values.flat_of[program].size());
        return to == no_value ? no_value : values.flat_of[program][to];
    };
    buffer_classes const classes = group_views(values.value_of.size(), flat_alias);
    table<value_id, value_id> root_of;
    for (buffer_id b : classes.buffer_of) root_of.push_back(classes.root[b]);
    return root_of;
}

} // namespace sublet::detail
