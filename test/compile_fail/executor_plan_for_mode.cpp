// expect: the_memory_mode_is_arena_recycle_or_no_plan|deleted constructor of .sublet::cpu_executor<
// SPDX-License-Identifier: BSL-1.0

// A plan is no memory mode; sublet::arena{plan} is one.
#include <sublet/execution.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    sublet::memory_plan const plan;
    sublet::cpu_executor executor{program, {.bytes = 64}, plan, kernel};
    executor.run();
}
