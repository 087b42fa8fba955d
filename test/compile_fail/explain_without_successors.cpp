// expect: sublet: a program needs successors\(node_id\)
// SPDX-License-Identifier: BSL-1.0

// A program without successors.
#include <sublet/graph/program.hpp>

#include <cstddef>

struct no_successors_program {
    std::size_t nodes() const { return 0; }
    std::size_t values() const { return 0; }
    void effects(sublet::node_id, sublet::effect_sink&) const {}
};

int main() { return !sublet::explain_program<no_successors_program>(); }
