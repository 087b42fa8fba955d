// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution.hpp>

#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <memory_resource>
#include <vector>

namespace this_test {

TEST_CASE("one include runs a planned program on floats in the bytes of the plan")
{
    //   x ─► square ─► add 1 ─► double
    auto program = sublet::sequence(
        3, 4, [](auto step) { return std::vector<int>{static_cast<int>(step)}; },
        [](auto step) { return std::vector<int>{static_cast<int>(step) + 1}; });
    std::vector<sublet::value_role> role(4, sublet::value_role::intermediate);
    role[0] = sublet::value_role::input;
    role[3] = sublet::value_role::output;
    sublet::plan_options const options{.bytes = 4 * 100, .alignment = 64, .role = role};
    auto const planned = sublet::plan_memory(program, options);
    REQUIRE(planned);

    auto kernel = [](sublet::cpu_call const& call) {
        auto const x = sublet::as<float>(call.in(0));
        auto const y = sublet::as<float>(call.out(0));
        for (std::size_t i = 0; i != x.size(); ++i)
            y[i] = call.step == 0 ? x[i] * x[i] : call.step == 1 ? x[i] + 1 : 2 * x[i];
    };
    std::pmr::monotonic_buffer_resource upstream;
    sublet::cpu_executor run{program, options, sublet::arena{planned}, kernel, {.upstream = &upstream}};
    for (float const first : {1.f, 3.f}) {
        for (float& f : sublet::as<float>(run.input(0))) f = first;
        sublet::run_report const report = run.run();
        for (float f : sublet::as<float>(run.output(3))) CHECK(f == 2 * (first * first + 1));
        CHECK(report.steps == 3);
        CHECK(report.reserved == planned.report().arena_bytes);
        CHECK(report.plan_bytes == 2 * 448 - 48);
        CHECK(report.lower_bound == 800);
        CHECK(report.run.allocations.total == 0);
    }
}

} // namespace this_test
