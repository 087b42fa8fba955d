// expect: (cannot convert|no viable conversion from) .const char ?.6.+ to .(sublet::)?value_id
// SPDX-License-Identifier: BSL-1.0

// Values have numbers; you look up their names.
#include <sublet/execution.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, kernel};
    return executor.input("image").empty();
}
