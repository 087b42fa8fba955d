// expect: a_kernel_takes_its_call|deleted constructor of .sublet::cpu_executor<
// SPDX-License-Identifier: BSL-1.0

// A kernel is called with a step, which gives access to its operands.
#include <sublet/execution.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, [](float const*, float*) {}};
}
