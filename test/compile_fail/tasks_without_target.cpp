// expect: has_target|target\(e, g\)
// SPDX-License-Identifier: BSL-1.0

// Everything except the target of an edge.
#include <sublet/graph/snapshot.hpp>

#include <utility>

struct one_way {};
std::pair<int const*, int const*> vertices(one_way const&) { return {}; }
std::pair<char const*, char const*> out_edges(int, one_way const&) { return {}; }

int main()
{
    return sublet::tasks(one_way{}, 1, [](auto, auto&) {}).nodes() != 0;
}
