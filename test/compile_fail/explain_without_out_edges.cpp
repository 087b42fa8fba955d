// expect: sublet: a graph needs out_edges\(v, g\)
// SPDX-License-Identifier: BSL-1.0

#include <sublet/graph/program.hpp>

#include <utility>

struct dust {};
std::pair<int const*, int const*> vertices(dust const&) { return {}; }

int main() { return !sublet::explain_graph<dust>(); }
