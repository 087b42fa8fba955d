// expect: bytes_are_bound_by_a_span<
// SPDX-License-Identifier: BSL-1.0

// A bound range is used after the call; a temporary would dangle.
#include <sublet/execution.hpp>

#include <vector>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, kernel};
    executor.bind(0, std::vector<std::byte>(64));
}
