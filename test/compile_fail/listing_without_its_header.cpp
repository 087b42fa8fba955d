// expect: sublet::listing<char>
// SPDX-License-Identifier: BSL-1.0

// A planner's header only declares the listing that it takes: the error names the type, as its header is
// named.
#include <sublet/plan_memory.hpp>

int main()
{
    sublet::listing<char> const list;
    return sublet::plan_memory(list) ? 0 : 1;
}
