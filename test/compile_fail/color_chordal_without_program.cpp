// expect: has_nodes|p\.nodes\(\)
// SPDX-License-Identifier: BSL-1.0
// begins in the library

// A control-flow graph alone has no uses and defs. (color_graph takes an interference graph.)
#include <sublet/sharing/color_graph.hpp>

int main() { return sublet::color_chordal(sublet::csr_graph()).is_optimal(); }
