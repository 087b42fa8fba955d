// expect: a_callable_returns_its_list|does not satisfy .returned_list|is_void_v
// SPDX-License-Identifier: BSL-1.0

// A lambda that does not return its list.
#include <sublet/graph/snapshot.hpp>

#include <vector>

int main()
{
    auto defs = [](unsigned v) { return std::vector{v}; };
    return sublet::sequence(
               1, 1, [](auto) {}, defs)
               .nodes() != 1;
}
