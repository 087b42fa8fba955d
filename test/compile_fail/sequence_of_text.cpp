// expect: a_list_holds_integers_or_ids_of<|is_convertible_v<.*::id<
// SPDX-License-Identifier: BSL-1.0

// Text is a range of characters, not of ids.
#include <sublet/graph/snapshot.hpp>

#include <string>
#include <vector>

int main()
{
    auto defs = [](unsigned v) { return std::vector{v}; };
    return sublet::sequence(
               1, 1, [](auto) { return std::string("ab"); }, defs)
               .nodes() != 1;
}
