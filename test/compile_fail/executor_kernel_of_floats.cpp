// expect: does not satisfy .cpu_kernel|satisfaction of .cpu_kernel<
// SPDX-License-Identifier: BSL-1.0

// A kernel is called with a step, which gives access to its operands.
#include <sublet/execution.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, [](float const*, float*) {}};
}
