// SPDX-License-Identifier: BSL-1.0
// Five operations on an image; each makes one value. Prints what the plan saves, and the offset of each
// value: d reuses bytes of b after the last use of b, and e reuses bytes of a.

#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include <iostream>

int main()
{
    sublet::listing<char> list; // or listing<tensor*>: any handle with a hash or an order
    list.step("load").make('a', {.bytes = 64});
    list.step("blur").read('a').make('b', {.bytes = 96});
    list.step("edges").read('b').make('c', {.bytes = 32});
    list.step("sharpen").read('a').read('c').make('d', {.bytes = 96});
    list.step("shrink").read('d').make('e', {.bytes = 64});

    auto const planned = sublet::plan_memory(list);
    std::cout << planned << '\n'; // or, if there is no plan, why
    for (auto [value, pool, offset] : planned) std::cout << value << " at " << offset << '\n';
}
