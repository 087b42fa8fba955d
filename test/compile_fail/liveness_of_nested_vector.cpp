// expect: needs_as_graph
// SPDX-License-Identifier: BSL-1.0

// Argument-dependent lookup finds no function for a nested vector: the message names as_graph.
#include <sublet/analysis/liveness.hpp>

#include <vector>

int main()
{
    std::vector<std::vector<int>> const g{{1}, {}};
    auto const ids = [](auto) { return std::vector{0}; };
    return sublet::liveness(g, 1, ids, ids).is_live_in(0, 1);
}
