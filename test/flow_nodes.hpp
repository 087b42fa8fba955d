// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FLOW_NODES_HPP
#define SUBLET_TEST_FLOW_NODES_HPP

#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <vector>

/// A control-flow program with one step per node, given as lists.
namespace flow_nodes {

using ids = std::vector<sublet::value_id>;

struct node {
    std::vector<sublet::node_id> successors;
    ids uses, defs;
    std::vector<sublet::overwrite> pairs = {};
};

inline sublet::snapshot program_of(std::size_t values, std::vector<node> const& nodes)
{
    return sublet::flow(
        nodes.size(), values, [&](sublet::node_id n) -> auto& { return nodes[n].successors; },
        [&](sublet::node_id n, sublet::effect_sink& s) {
            for (sublet::value_id v : nodes[n].uses) s.use(v);
            for (sublet::value_id v : nodes[n].defs) s.def(v);
            for (sublet::overwrite o : nodes[n].pairs) s.may_overwrite(o.in, o.out);
        });
}

} // namespace flow_nodes

#endif
