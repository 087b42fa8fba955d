// expect: a_list_holds_integer_ids<|does not satisfy .id_like
// SPDX-License-Identifier: BSL-1.0

// Values have numbers; you look up their names.
#include <sublet/graph/snapshot.hpp>

#include <string>
#include <vector>

int main()
{
    auto defs = [](auto v) { return std::vector{v}; };
    return sublet::sequence(
               1, 1, [](auto) { return std::vector<std::string>{"a"}; }, defs)
               .nodes() != 1;
}
