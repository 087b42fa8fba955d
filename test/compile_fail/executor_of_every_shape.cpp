// expect: an_executor_for_every_shape|deleted constructor of .sublet::(cpu|thread)_executor<
// cases: 3
// SPDX-License-Identifier: BSL-1.0

// An executor for every shape takes the arena of a shape.
#include <sublet/execution.hpp>
#include <sublet/plan_symbolic.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    sublet::symbolic_options const any_shape{.bytes = 64 * sublet::symbol(0), .dims = {{"n", 1, 8}}};
    sublet::growing_arena memory(sublet::plan_symbolic(program, any_shape));
#if CASE == 1
    sublet::cpu_executor executor{program, any_shape, sublet::no_plan{}, kernel};
#elif CASE == 2
    sublet::cpu_executor executor{program, any_shape, memory, kernel};
#elif CASE == 3
    sublet::thread_executor executor{program, any_shape, sublet::recycle{}, kernel};
#else
    sublet::cpu_executor executor{program, any_shape, memory.at(1), kernel};
#endif
    executor.run();
}
