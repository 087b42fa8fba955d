// expect: property without default \(bytes\) is missing
// SPDX-License-Identifier: BSL-1.0

// Sizes have no default.
#include <sublet/core/plan.hpp>

int main()
{
    sublet::plan_options o{.alignment = 64};
    return o.check ? 0 : 1;
}
