// expect: invocable<.*recorded_call<
// SPDX-License-Identifier: BSL-1.0
// lines: 22

// A recorded function takes its call, which gives access to its operands.
#include <sublet/execution.hpp>

int main()
{
    sublet::recorder net;
    auto const x = net.input<float>(1), y = net.output<float>(1);
    net.record({x}, {y}, [](float const*, float*) {});
}
