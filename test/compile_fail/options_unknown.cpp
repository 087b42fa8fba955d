// expect: (named|designator) .*aligment
// SPDX-License-Identifier: BSL-1.0

// A misspelled option.
#include <sublet/core/plan.hpp>

int main()
{
    sublet::plan_options o{.bytes = 64, .aligment = 64};
    return o.check ? 0 : 1;
}
