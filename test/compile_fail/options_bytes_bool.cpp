// expect: sublet: a property of values is a constant, a table with .. and size\(\), or a callable
// SPDX-License-Identifier: BSL-1.0

// A bool is no size.
#include <sublet/core/plan.hpp>

int main()
{
    sublet::plan_options o{.bytes = true};
    return o.check ? 0 : 1;
}
