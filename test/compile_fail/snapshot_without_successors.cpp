// expect: has_successors|p\.successors\(n\)
// SPDX-License-Identifier: BSL-1.0

// A program without successors.
#include <sublet/graph/snapshot.hpp>

#include <cstddef>

struct no_successors_program {
    std::size_t nodes() const { return 0; }
    std::size_t values() const { return 0; }
    void effects(sublet::node_id, sublet::effect_sink&) const {}
};

int main() { return sublet::snapshot(no_successors_program{}).nodes() != 0; }
