// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution.hpp>

#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <memory_resource>
#include <optional>
#include <vector>

namespace this_test {

namespace {

/// What each executor says of a plan at every level of checks, without the proof.
template <class Program>
std::vector<std::optional<sublet::fault>>
refusals(Program const& program, sublet::plan_options const& options, sublet::memory_plan const& plan)
{
    std::vector<std::optional<sublet::fault>> all;
    auto note = [&all](auto make) {
        try {
            make();
            all.push_back(std::nullopt);
        } catch (sublet::unsound_plan const& e) {
            all.push_back(e.why().what);
        }
    };
    using sublet::arena;
    using checks = sublet::executor_options::checks;
    auto idle = [](auto const&) {};
    for (checks const level : {checks::off, checks::plan, checks::paint, checks::digest}) {
        sublet::executor_options const how{.check = level, .prove = false};
        note([&] { (void)sublet::cpu_executor{program, options, arena{plan}, idle, how}; });
        note([&] { (void)sublet::thread_executor{program, options, arena{plan}, idle, {}, how}; });
        note([&] {
            sublet::simulated_device device;
            (void)sublet::stream_executor{device, program, options, arena{plan}, idle, {}, how};
        });
    }
    return all;
}

} // namespace

TEST_CASE("a plan with an address outside of its arena is refused by every executor, proved or not")
{
    //  in ─► 0 ─► x ─► 1 ─► y, q     2: y, q ─► z
    sublet::snapshot const program = sublet::sequence(3, 5, [](sublet::step_id step, sublet::effect_sink& s) {
        if (step == 0) s.use(0), s.def(1);
        if (step == 1) s.use(1), s.def(2), s.def(3);
        if (step == 2) s.use(2), s.use(3), s.def(4);
    });
    std::vector<sublet::value_role> role(5, sublet::value_role::intermediate);
    role[0] = sublet::value_role::input;
    sublet::plan_options const options{.bytes = {64, 64, 64, 80, 8}, .role = role, .pool = {0, 0, 1, 1, 0}};
    sublet::memory_plan const good = sublet::plan_memory(program, options).plan;
    REQUIRE(good.arena_bytes == std::vector<sublet::byte_count>{128, 144});
    using answers = std::vector<std::optional<sublet::fault>>;
    CHECK(refusals(program, options, good) == answers(12));

    answers const outside(12, sublet::fault::outside_arena);
    sublet::memory_plan plan = good;
    plan.offset_in_root = {0, 0, 0, 148, 0}; // as a document may say it: it begins behind its buffer
    CHECK(refusals(program, options, plan) == outside);
    plan.offset_in_root = {0, 0, 0, sublet::no_offset - 7, 0}; // beyond 64 bits
    CHECK(refusals(program, options, plan) == outside);
    plan = good;
    plan.arena_bytes[1] = 143;
    CHECK(refusals(program, options, plan) == outside);
    plan = good;
    plan.valid_for = sublet::program_reading::concurrent;
    plan.buffers[4].offset = 121;
    CHECK(refusals(program, options, plan) == outside);
    plan = good;
    plan.buffers[2].pool = 2; // there is none
    CHECK(refusals(program, options, plan) == answers(12, sublet::fault::foreign_plan));
    sublet::plan_options aligned = options;
    aligned.alignment = 16;
    plan = good;
    plan.buffers[4].offset = 72;
    CHECK(refusals(program, aligned, plan) == answers(12, sublet::fault::misaligned));
}

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
