// expect: a_list_holds_integers_or_ids_of<|is_convertible_v<.*::id<
// SPDX-License-Identifier: BSL-1.0

// Values have numbers; you look up their names.
#include <sublet/analysis/liveness.hpp>

#include <vector>

int main()
{
    sublet::csr_graph const g;
    auto const uses = [](auto) { return std::vector{"a"}; };
    auto const defs = [](auto) { return std::vector{0}; };
    return sublet::liveness(g, 1, uses, defs).is_live_in(0, 0);
}
