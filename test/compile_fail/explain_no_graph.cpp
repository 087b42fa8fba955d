// expect: sublet: a graph needs vertices\(g\)
// SPDX-License-Identifier: BSL-1.0

#include <sublet/graph/program.hpp>

int main() { return !sublet::explain_graph<int>(); }
