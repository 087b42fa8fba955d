// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions -fno-rtti

// A broken precondition prints its sentence and ends the program; except execution/ nothing needs exceptions
// or type information to compile.
#include <sublet/placement/place.hpp>
#include <sublet/sublet.hpp>

int main()
{
    auto const p = sublet::sequence(1, 1, [](auto, auto& sink) { sink.def(0); });
    sublet::plan_options const o{.bytes = 64};
    auto const planned = sublet::plan_memory(p, o);
    auto const placed = sublet::place({});
    return planned && placed.offset.empty() ? 0 : 1;
}
