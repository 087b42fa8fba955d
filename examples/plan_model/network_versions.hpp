// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_VERSIONS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_VERSIONS_HPP

/// Versions of the values of a network that may run in any order: each version is written once.
///
///     sgd(w, dw)  writes w        w is read ... sgd(w, dw) makes w'      w and w' are the same bytes, so all
///                                                                        steps that read w come first
///
/// A node may write a value again: a trained weight or an intermediate. Plans for every schedule assign
/// storage to versions. A run of them computes what a run in file order computes.

#include "network.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <string>
#include <vector>

namespace plan_model {

/// By value: it has a view or is one, and a node writes some of their bytes again. All of them see that
/// write, so its versions stay in one place.
inline std::vector<bool> written_with_views(network const& net)
{
    std::vector<sublet::value_id> root;
    std::vector<bool> is_written(net.values.size()), has_views(net.values.size());
    for (sublet::value_id v = 0; v != net.values.size(); ++v) { // a view comes after its base
        sublet::value_id const of = net.values[v].alias_of;
        root.push_back(of == sublet::no_value ? v : root[of]);
        if (of != sublet::no_value) has_views[root[v]] = true;
    }
    for (operation const& op : net.operations)
        for (sublet::value_id v : op.mutated) is_written[root[v]] = true;
    std::vector<bool> found;
    for (sublet::value_id r : root) found.push_back(is_written[r] && has_views[r]);
    return found;
}

/// The options refer to the network.
struct network_versions {
    sublet::versioned_program versioned;
    sublet::plan_options options;

    explicit network_versions(network const& net, plan_settings const& settings = {})
        : versioned(sublet::versions(as_program(net), as_options(net, settings), written_with_views(net))),
          options(sublet::with_versions(as_options(net, settings), versioned))
    {
        if (versioned.violation)
            throw input_error("its nodes are not listed in an order in which they can run");
    }

    /// h, and h@1, h@2 ... for the later versions of h.
    std::string name_of(network const& net, sublet::value_id version) const
    {
        std::string const& name = net.values[versioned.value_of[version]].name;
        return versioned.number[version] == 0 ? name : name + '@' + std::to_string(versioned.number[version]);
    }
};

} // namespace plan_model

#endif
