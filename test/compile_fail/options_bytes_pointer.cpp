// expect: sublet: a property of values is a constant, a table with .. and size\(\), or a callable
// SPDX-License-Identifier: BSL-1.0

// The table behind a pointer has no known length.
#include <sublet/core/plan.hpp>

int main()
{
    int const size = 64;
    sublet::plan_options o{.bytes = &size};
    return o.check ? 0 : 1;
}
