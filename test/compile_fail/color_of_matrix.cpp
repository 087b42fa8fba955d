// expect: has_vertices|vertices\(g\)
// SPDX-License-Identifier: BSL-1.0

// Colouring reads neighbour lists: `interference` has to return a graph, not a matrix.
#include <sublet/analysis/interference.hpp>
#include <sublet/sharing/color_graph.hpp>

int main() { return sublet::color(sublet::interference_matrix()).is_optimal(); }
