// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_TREE_VALUES_IPP
#define SUBLET_ANALYSIS_IMPL_TREE_VALUES_IPP

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/tree_values.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

SUBLET_DECL tree_values number_values(program_tree const& tree)
{
    tree_values numbered;
    for (std::size_t i = 0; i != tree.size(); ++i) {
        auto const number = static_cast<program_id>(i);
        std::vector<value_id> of(tree.program_of(number).values(), no_value);
        if (i != 0) { // the parent has been numbered
            auto const& outer = numbered.flat_of[tree.body(number).parent];
            for (body_capture c : tree.body(number).captures) of[c.inner] = outer[c.outer];
        }
        for (std::size_t v = 0; v != of.size(); ++v) {
            if (of[v] != no_value) continue;
            of[v] = static_cast<value_id>(numbered.value_of.size());
            numbered.value_of.push_back({number, static_cast<value_id>(v)});
            SUBLET_EXPECTS(numbered.value_of.size() < no_value, "sublet: more values than 32-bit ids");
        }
        numbered.flat_of.push_back(std::move(of));
    }
    return numbered;
}

SUBLET_DECL std::vector<value_id> view_roots(tree_values const& values,
                                             std::vector<std::vector<value_id>> const& alias_of)
{
    SUBLET_EXPECTS(alias_of.empty() || alias_of.size() == values.flat_of.size(),
                   "sublet: views are not given for each program of a tree");
    auto flat_alias = [&](value_id v) {
        auto const [program, value] = values.value_of[v];
        if (alias_of.empty()) return no_value;
        value_id const to = alias_of[program][value];
        SUBLET_EXPECTS(to == no_value || to < values.flat_of[program].size(),
                       "sublet: alias_of names a value that does not exist");
        return to == no_value ? no_value : values.flat_of[program][to];
    };
    buffer_classes const classes = aliases(values.value_of.size(), flat_alias);
    std::vector<value_id> root_of;
    for (buffer_id b : classes.buffer_of) root_of.push_back(classes.root[b]);
    return root_of;
}

} // namespace sublet

#endif
