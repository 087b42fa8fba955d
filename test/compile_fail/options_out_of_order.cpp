// expect: designator order for field .sublet::plan_options::bytes. does not match|designators to be specified in declaration order
// SPDX-License-Identifier: BSL-1.0
// flags: -Werror

// Designated initialisers keep the order of declaration: bytes, alignment, role, alias_of, pool ...
#include <sublet/core/plan.hpp>

#include <vector>

int main()
{
    std::vector<int> const bytes{64};
    sublet::plan_options const o{.alignment = 64, .bytes = bytes};
    return o.check ? 0 : 1;
}
