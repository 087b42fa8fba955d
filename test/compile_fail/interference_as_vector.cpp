// expect: no_interference_result|interference_result
// SPDX-License-Identifier: BSL-1.0

// The result is an interference_graph or an interference_matrix.
#include <sublet/analysis/interference.hpp>

#include <vector>

int main() { return sublet::interference<std::vector<int>>(sublet::snapshot()).size() != 0; }
