// expect: a_list_holds_integer_ids<|does not satisfy .id_like
// SPDX-License-Identifier: BSL-1.0

// Text is a range of characters, not of ids.
#include <sublet/graph/snapshot.hpp>

#include <string>
#include <vector>

int main()
{
    auto defs = [](auto v) { return std::vector{v}; };
    return sublet::sequence(
               1, 1, [](auto) { return std::string("ab"); }, defs)
               .nodes() != 1;
}
