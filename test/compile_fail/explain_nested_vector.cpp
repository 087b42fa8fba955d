// expect: sublet: a nested list is no graph by itself; wrap it: as_graph\(g
// SPDX-License-Identifier: BSL-1.0

#include <sublet/graph/program.hpp>

#include <vector>

int main() { return !sublet::explain_graph<std::vector<std::vector<int>>>(); }
