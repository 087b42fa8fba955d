// expect: sublet: a program needs effects\(node_id, effect_sink&\)
// SPDX-License-Identifier: BSL-1.0

#include <sublet/graph/program.hpp>

#include <cstddef>
#include <vector>

struct silent {
    std::size_t nodes() const { return 0; }
    std::size_t values() const { return 0; }
    std::vector<int> successors(sublet::node_id) const { return {}; }
};

int main() { return !sublet::explain_program<silent>(); }
