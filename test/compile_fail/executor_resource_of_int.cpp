// expect: sublet: storage comes from a pointer to a std::pmr::memory_resource
// SPDX-License-Identifier: BSL-1.0
// begins in the library

// A pointer to a type that does not allocate.
#include <sublet/execution.hpp>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    int pool = 0;
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, kernel, {.upstream = &pool}};
    executor.run();
}
