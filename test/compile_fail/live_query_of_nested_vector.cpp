// expect: needs_as_graph|graph_problem<
// SPDX-License-Identifier: BSL-1.0

// Argument-dependent lookup finds no function for a nested vector: the message names as_graph.
#include <sublet/analysis/live_query.hpp>

#include <vector>

int main()
{
    std::vector<std::vector<int>> const g{{1}, {}};
    return sublet::live_query(g).is_live_in(1, 0, std::vector{1});
}
