// expect: sublet: a property of values is kept by value and copied
// SPDX-License-Identifier: BSL-1.0

// Options are copied with their members.
#include <sublet/core/plan.hpp>

#include <memory>

int main()
{
    sublet::plan_options o{.bytes = [p = std::make_unique<int>(64)](auto) { return *p; }};
    return o.check ? 0 : 1;
}
