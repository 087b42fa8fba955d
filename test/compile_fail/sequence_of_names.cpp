// expect: a_list_holds_integers_or_ids_of<|is_convertible_v<.*::id<
// SPDX-License-Identifier: BSL-1.0

// Values have numbers; you look up their names.
#include <sublet/graph/snapshot.hpp>

#include <string>
#include <vector>

int main()
{
    auto defs = [](unsigned v) { return std::vector{v}; };
    return sublet::sequence(
               1, 1, [](auto) { return std::vector<std::string>{"a"}; }, defs)
               .nodes() != 1;
}
