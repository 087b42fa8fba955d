// expect: has_vertices|vertices\(g\)
// SPDX-License-Identifier: BSL-1.0

// A type that does not model graph.
#include <sublet/graph/snapshot.hpp>

struct no_graph {};

int main()
{
    return sublet::tasks(no_graph{}, 1, [](auto, auto&) {}).nodes() != 0;
}
