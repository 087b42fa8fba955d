// expect: the_array_of_an_initializer_list_is_gone|!.?is_initializer_list<
// SPDX-License-Identifier: BSL-1.0
// lines: 21

// Its array is destroyed when the lambda returns.
#include <sublet/graph/snapshot.hpp>

#include <initializer_list>
#include <vector>

int main()
{
    auto defs = [](unsigned v) { return std::vector{v}; };
    auto uses = [](unsigned v) { return std::initializer_list<unsigned>{v}; };
    return sublet::sequence(1, 1, uses, defs).nodes() != 1;
}
