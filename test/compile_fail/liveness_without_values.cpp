// expect: has_nodes|p\.nodes\(\)
// SPDX-License-Identifier: BSL-1.0
// begins in the library

// A graph alone has no values: pass their number, uses and defs too.
#include <sublet/analysis/liveness.hpp>

int main() { return sublet::liveness(sublet::csr_graph()).is_live_in(0, 0); }
