// expect: a_list_holds_integers_or_ids_of<|is_convertible_v<.*::id<
// SPDX-License-Identifier: BSL-1.0

// A list of pointers is no list of ids.
#include <sublet/graph/snapshot.hpp>

#include <vector>

struct tensor {};

int main()
{
    auto defs = [](unsigned v) { return std::vector{v}; };
    auto uses = [](auto) { return std::vector<tensor*>{}; };
    return sublet::sequence(1, 1, uses, defs).nodes() != 1;
}
