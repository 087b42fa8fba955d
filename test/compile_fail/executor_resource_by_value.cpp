// expect: sublet: storage comes from a pointer to a std::pmr::memory_resource
// SPDX-License-Identifier: BSL-1.0
// begins in the library

// A memory resource is passed by pointer.
#include <sublet/execution.hpp>

#include <memory_resource>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    std::pmr::monotonic_buffer_resource pool;
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, kernel, {.upstream = pool}};
    executor.run();
}
