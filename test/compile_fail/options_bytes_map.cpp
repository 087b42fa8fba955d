// expect: sublet: a property of values is a constant, a table with .. and size\(\), or a callable
// SPDX-License-Identifier: BSL-1.0

// A map has no operator[] const.
#include <sublet/core/plan.hpp>

#include <map>

int main()
{
    sublet::plan_options o{.bytes = std::map<int, int>{{0, 64}}};
    return o.check ? 0 : 1;
}
