// expect: needs_as_graph
// SPDX-License-Identifier: BSL-1.0

// A nested vector has no function that could be found by its arguments: the message names as_graph.
#include <sublet/analysis/live_query.hpp>

#include <vector>

int main()
{
    std::vector<std::vector<int>> const g{{1}, {}};
    return sublet::live_query(g).is_live_in(1, 0, std::vector{1});
}
