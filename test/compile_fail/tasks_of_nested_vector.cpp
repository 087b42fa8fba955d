// expect: needs_as_graph
// SPDX-License-Identifier: BSL-1.0

// Argument-dependent lookup finds no function for a nested vector: the message names as_graph.
#include <sublet/graph/snapshot.hpp>

#include <vector>

int main()
{
    std::vector<std::vector<int>> const g{{1}, {}};
    return sublet::tasks(g, 1, [](auto, auto&) {}).nodes() != 2;
}
