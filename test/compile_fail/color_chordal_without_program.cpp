// expect: has_nodes|p\.nodes\(\)
// SPDX-License-Identifier: BSL-1.0

// A control-flow graph alone touches no values. (An interference graph is for color_graph.)
#include <sublet/sharing/color_graph.hpp>

int main() { return sublet::color_chordal(sublet::csr_graph()).is_optimal(); }
