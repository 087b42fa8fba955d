// expect: has_vertices|vertices\(g\)
// SPDX-License-Identifier: BSL-1.0

// An interference_graph may be over its budget: its member graph() refuses to be asked then.
#include <sublet/analysis/interference_graph.hpp>
#include <sublet/sharing/color_graph.hpp>

int main() { return sublet::color_graph(sublet::interference_graph()).is_optimal(); }
