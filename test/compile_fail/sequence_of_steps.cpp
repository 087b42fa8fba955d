// expect: a_list_holds_integers_or_ids_of<.*::value>, .*::step|is_convertible_v<.*::step.*::value
// SPDX-License-Identifier: BSL-1.0

// A step is no value; step i makes value i if you say so: std::vector<sublet::value_id>{+s}.
#include <sublet/graph/snapshot.hpp>

#include <vector>

int main()
{
    auto uses = [](auto) { return std::vector<int>{}; };
    auto defs = [](auto s) { return std::vector{s}; };
    return sublet::sequence(1, 1, uses, defs).nodes() != 1;
}
