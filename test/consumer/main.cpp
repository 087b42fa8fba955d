// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

int main()
{
    auto touched = [](auto step, auto& sink) { sink.def(step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    sublet::plan_options const options{.bytes = 8};
    sublet::arena const planned{sublet::plan_memory(program, options).plan};
    sublet::cpu_executor run{program, options, planned, sublet::synthetic_kernel{}};
    return run.run().steps == 3 ? 0 : 1;
}
