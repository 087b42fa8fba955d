// expect: a_list_holds_integer_ids<|does not satisfy .id_like
// SPDX-License-Identifier: BSL-1.0

// A list of pointers is no list of ids.
#include <sublet/graph/snapshot.hpp>

#include <vector>

struct tensor {};

int main()
{
    auto defs = [](auto v) { return std::vector{v}; };
    auto uses = [](auto) { return std::vector<tensor*>{}; };
    return sublet::sequence(1, 1, uses, defs).nodes() != 1;
}
