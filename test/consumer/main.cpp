// SPDX-License-Identifier: BSL-1.0
// A program may have names of its own that the library calls by the same name inside.
namespace pack {
}
namespace advise {
}
struct hull;
struct contains;
extern int length, overlaps;
#include <sublet/plan_memory.hpp>
#ifdef RUNS_ITS_PLAN
#include <sublet/execution.hpp>
#endif

int main()
{
    auto touched = [](auto step, auto& sink) { sink.def(+step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    sublet::plan_options const options{.bytes = 8};
    sublet::memory_plan const plan = sublet::plan_memory(program, options).plan;
#ifdef RUNS_ITS_PLAN
    sublet::arena const planned{plan};
    sublet::cpu_executor run{program, options, planned, sublet::synthetic_kernel{}};
    if (run.run().steps != 3) return 1;
#endif
    return plan.arena_bytes.front() == 8 ? 0 : 1;
}
