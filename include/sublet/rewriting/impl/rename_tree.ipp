// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_IMPL_RENAME_TREE_IPP
#define SUBLET_REWRITING_IMPL_RENAME_TREE_IPP

#include <sublet/impl/config.hpp>
#include <sublet/rewriting/rename_tree.hpp>

#include <optional>

namespace sublet {

SUBLET_DECL versioned_program values_as_versions(snapshot const& p, plan_options const& options)
{
    versioned_program made{.program = p, .violation = std::nullopt};
    for (value_id v = 0; v != p.values(); ++v) made.value_of.push_back(v);
    made.last = made.value_of;
    made.number.assign(p.values(), 0);
    made.role = options.role.tabulate(p.values());
    made.alias_of = options.alias_of.tabulate(p.values());
    return made;
}

} // namespace sublet

#endif
