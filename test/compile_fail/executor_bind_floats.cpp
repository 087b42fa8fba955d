// expect: bytes_are_bound_by_a_span<
// SPDX-License-Identifier: BSL-1.0

// Bind bytes: std::as_bytes(std::span(weights)).
#include <sublet/execution.hpp>

#include <vector>

int main()
{
    auto const program = sublet::sequence(1, 1, [](auto, auto& step) { step.def(0); });
    auto kernel = [](sublet::cpu_call const&) {};
    std::vector<float> const weights(16);
    sublet::cpu_executor executor{program, {.bytes = 64}, sublet::recycle{}, kernel};
    executor.bind(0, weights);
}
