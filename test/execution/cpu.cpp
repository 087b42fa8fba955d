// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cpu.hpp>

#include "../archetype.hpp"
#include "../checked_resource.hpp"
#include "../counted_heap.hpp"
#include "../dead_bytes.hpp"
#include "../operations.hpp"
#include "../printed.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using kernel = std::function<void(cpu_call const&)>; // type-erased, so that one executor is compiled
using executor = cpu_executor<kernel>;
using roles = std::vector<value_role>;
value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output,
                 external = value_role::external, state = value_role::state;
constexpr std::array levels{executor_options::checks::off, executor_options::checks::plan,
                            executor_options::checks::paint, executor_options::checks::digest};

//     a ─► b ─► c ─► d        a is an input, d is an output
snapshot const chain = op_list(4, {{0}, {1}, {2}}, {{1}, {2}, {3}});
plan_options const chain_options{.bytes = {64, 32, 16, 48}, .role = roles{input, none, none, output}};

/// Programs that together have pools, views, in-place pairs, scratch, early uses and dead results.
struct subject {
    snapshot program;
    plan_options options;
};

std::vector<subject> subjects()
{
    std::vector<subject> all{{chain, chain_options}};
    auto const in_place = sequence(4, 6, [](auto step, effect_sink& s) {
        s.use(+step), s.def(step + 1), s.may_overwrite(+step, step + 1);
        if (step == 2) s.allocate(5);
    });
    all.push_back({in_place, {.bytes = 40, .role = roles{input, none, none, none, output, none}}});
    auto const wide = sequence(4, 8, [](auto step, effect_sink& s) {
        if (step == 0) s.use(0), s.use(1), s.def(2), s.def(3);
        if (step == 1) s.use(2), s.view(4);
        if (step == 2) s.use(0), s.use(3), s.def(5), s.def(6);
        if (step == 3) s.use(4), s.use(5), s.def(7);
    });
    all.push_back({wide,
                   {.bytes = {8, 24, 40, 8, 16, 8, 100, 32},
                    .alignment = {8, 64, 1, 2, 4, 8, 16, 32},
                    .role = roles{input, input, none, output, none, none, none, output},
                    .alias_of = {-1, -1, -1, -1, 2, -1, -1, -1},
                    .pool = {0, 1, 0, 1, 0, 1, 1, 0}}});
    auto const early = sequence(3, 4, [](auto step, effect_sink& s) {
        step == 1 ? s.use_early(+step) : s.use(+step);
        s.def(step + 1);
    });
    all.push_back({early, chain_options});
    subject reordered{op_list(4, {{2}, {0}, {1}}, {{3}, {1}, {2}}), chain_options};
    reordered.options.order = {1, 2, 0};
    all.push_back(reordered);
    return all;
}

memory_plan planned(subject const& s)
{
    auto const result = plan_memory(s.program, s.options);
    REQUIRE(result);
    return result.plan;
}

void give(executor& run, subject const& s)
{
    for (value_id v = 0; v != s.program.values(); ++v)
        if (has_role(s.options.role[v], input)) fill_noise(run.input(v), v);
}

std::uint64_t results(executor const& run, subject const& s)
{
    std::uint64_t sum = 0;
    for (value_id v = 0; v != s.program.values(); ++v)
        if (has_role(s.options.role[v], output)) sum = fold_digest(sum, digest(run.output(v)));
    return sum;
}

/// Calls `try_mode(mode, level)` for all modes and levels.
template <class Try>
void each_mode(subject const& s, Try try_mode)
{
    for (executor_options::checks const level : levels) {
        CAPTURE(static_cast<int>(level));
        try_mode(no_plan{}, level);
        try_mode(recycle{}, level);
        try_mode(arena{planned(s)}, level);
    }
}

static_assert(!std::is_copy_constructible_v<executor>);
static_assert(std::is_nothrow_move_constructible_v<cpu_executor<synthetic_kernel>>);

} // namespace

TEST_CASE("the modes compute the same results, and the report has the memory of each")
{
    subject const s = subjects().front();
    std::optional<std::uint64_t> expected;
    auto check = [&](auto const& mode, run_report::memory_use const& use, byte_count reserved) {
        checked_resource source;
        executor run(s.program, s.options, mode, synthetic_kernel{}, {.upstream = &source});
        for (int repeat = 0; repeat != 2; ++repeat) {
            give(run, s);
            run_report const report = run.run();
            CHECK(report.run == use);
            CHECK(report.reserved == reserved);
            CHECK(report.plan_bytes == reserved);
            CHECK(report.lower_bound == 96);
            CHECK(report.steps == 3);
            CHECK(run.memory().bytes.live == std::max(reserved, byte_count{48})); // the arena, or the output
            if (!expected) expected = results(run, s);
            CHECK(results(run, s) == *expected);
        }
    };
    // The input is live at the begin of a run; the output stays allocated with the inputs of the next run.
    check(no_plan{}, {.bytes = {160, 160, 96}, .allocations = {4, 4, 3}}, 0);
    check(recycle{}, {.bytes = {48, 96, 96}, .allocations = {1, 2, 3}}, 0);
    check(arena{planned(s)}, {.bytes = {96, 96, 0}, .allocations = {1, 1, 0}}, 96);
}

TEST_CASE(
    "ids may be ints or enums, the kernel a reference, the program any type, and an executor may be moved")
{
    enum tensor { image, hidden };
    auto count = [calls = 0](cpu_call const& call) mutable {
        ++calls;
        for (std::byte& b : call.out(0)) b = static_cast<std::byte>(calls);
    };
    auto const p = op_list(2, {{0}}, {{1}});
    plan_options const options{.bytes = 4, .role = roles{input, output}};
    cpu_executor first{p, options, recycle{}, std::ref(count)};
    auto const given = first.input(image);
    auto second = std::move(first);
    CHECK(second.input(image).data() == given.data());
    second.run();
    CHECK(first.run().steps == 0);
    (void)second.input(0);
    second.run();
    CHECK(second.output(hidden)[3] == std::byte{2});
    CHECK(second.output(1L)[3] == std::byte{2});
    CHECK(second.memory().allocations.total == 4);

    executor foreign(archetype::program(5), {.bytes = 8}, no_plan{}, synthetic_kernel{});
    CHECK(foreign.run().steps == 5);
}

TEST_CASE("an input is supplied before each run; an output can be read after it and until the next input")
{
    checked_resource source;
    executor run(chain, chain_options, recycle{}, synthetic_kernel{}, {.upstream = &source});
    auto says = [](auto action) {
        try {
            action();
        } catch (unusable_value const& e) {
            return std::to_string(e.value()) + e.what();
        }
        return std::string();
    };
    auto const no_output =
        "3sublet: value 3 is an output, which can be read after a run and before the next input()";
    auto const no_input = "0sublet: value 0 is an input, and was not given since the last run";
    CHECK(says([&] { (void)run.output(3); }) == no_output);
    CHECK(says([&] { run.run(); }) == no_input);
    CHECK(source.requests.empty());

    fill_noise(run.input(0), 1);
    CHECK(run.input(0).data() == run.input(0).data());
    run.run();
    auto const left = digest(run.output(3));
    run_report::memory_use const before = run.memory();
    CHECK(says([&] { run.run(); }) == no_input);
    CHECK(run.memory() == before);
    CHECK(digest(run.output(3)) == left); // no run has changed it
    (void)run.input(0);
    CHECK(says([&] { (void)run.output(3); }) == no_output);

    auto refuses = [](auto action, char const* sentence) {
        CHECK_THROWS_WITH_AS(action(), sentence, precondition_error);
    };
    refuses([&] { (void)run.input(1); },
            "sublet: input() is called for value 1, which is no input, or give() before bind()");
    refuses([&] { (void)run.output(1); },
            "sublet: output() is called for value 1, which is no output, or take() before bind()");
    auto const absent = "sublet: an executor is called with value 4, but there are only 4 values";
    refuses([&] { (void)run.input(4); }, absent);
    refuses([&] { (void)run.output(4); }, absent);
    CHECK_THROWS_AS((void)run.input(-1), precondition_error);
    CHECK_THROWS_AS((void)run.output(-1), precondition_error);
}

TEST_CASE("the caller's storage is bound, large enough and aligned, and can be bound again")
{
    //   an external value, a state value, one of unknown size, one that is not eligible
    auto const p = op_list(5, {{0, 1}, {2}, {3}}, {{1, 2}, {3}, {4}});
    plan_options const options{.bytes = std::vector<byte_count>{16, 16, no_size, 16, 16},
                               .alignment = {8, 1, 1, 1, 1},
                               .role = roles{external, state, none, none, output},
                               .eligible = {true, true, true, false, true}};
    alignas(8) std::byte bytes[5][24]{};
    std::vector<std::byte> const untouched(24);
    auto sum_of = [](std::byte(&all)[24]) { return digest(std::span<std::byte>(all)); };
    for (executor_options::checks const level : levels) {
        executor run(p, options, recycle{}, synthetic_kernel{}, {.check = level});
        std::byte const* const weight = bytes[0];
        for (value_id missing : {0u, 1u, 2u, 3u}) {
            try {
                run.run();
                FAIL_CHECK("a value is not bound");
            } catch (unusable_value const& e) {
                CHECK(e.value() == missing);
                CHECK(e.what() == "sublet: value " + std::to_string(missing) +
                                      " needs storage of the caller's, and none is bound: see bind()");
            }
            if (missing == 0) run.bind(0, std::span(weight, 16));
            else run.bind(missing, std::span(bytes[missing]).first(16));
        }
        std::fill(bytes[1], bytes[1] + 16, std::byte{0});
        run.run();
        auto const first = digest(run.output(4)), kept = sum_of(bytes[1]);
        run.run();
        CHECK(digest(run.output(4)) != first); // the state has changed
        std::fill(bytes[1], bytes[1] + 24, std::byte{0});
        run.bind(1, bytes[4]);
        std::fill(bytes[4], bytes[4] + 24, std::byte{0});
        run.run();
        CHECK(digest(run.output(4)) == first);
        CHECK(sum_of(bytes[4]) == kept);
        CHECK(sum_of(bytes[1]) == digest(std::span(untouched)));
    }

    executor run(p, options, no_plan{}, synthetic_kernel{});
    auto refuses = [&](value_id v, std::span<std::byte> storage, char const* sentence) {
        CHECK_THROWS_WITH_AS(run.bind(v, storage), sentence, precondition_error);
    };
    std::span<std::byte> const all(bytes[0]);
    refuses(0, all.first(15), "sublet: value 0 is larger than the storage that is bound for it");
    refuses(0, all.subspan(4, 16), "sublet: value 0 is bound to storage that does not have its alignment");
    refuses(4, all, "sublet: storage is bound for value 4, which is planned");
    refuses(5, all, "sublet: an executor is called with value 5, but there are only 5 values");
    CHECK_THROWS_WITH_AS(run.bind(1, std::span<std::byte const>(all)),
                         "sublet: constant storage is bound for value 1, which a step writes",
                         precondition_error);
    executor const bound(op_list(1, {{0}}, {{}}), {.bytes = 8, .role = input | external}, no_plan{},
                         synthetic_kernel{});
    CHECK_THROWS_WITH_AS((void)const_cast<executor&>(bound).input(0),
                         "sublet: input 0 has no planned storage: bind() storage for it", precondition_error);
}

TEST_CASE("storage bound for a value of unknown size is as large as each of its views")
{
    executor run(with_views(op_list(2, {{}, {1}}, {{0, 1}, {}}), {no_value, 0}),
                 {.bytes = std::vector<byte_count>{no_size, 16}, .alias_of = {-1, 0}}, no_plan{},
                 synthetic_kernel{});
    std::byte bytes[24]{};
    CHECK_THROWS_WITH_AS(run.bind(0, std::span(bytes).first(15)),
                         "sublet: value 1 is larger than the storage that is bound for its root",
                         unusable_value);
    run.bind(0, std::span(bytes).first(16));
    run.bind(0, bytes);
    CHECK(run.run().steps == 2);
}

TEST_CASE("bound storage may be a span, an array or a vector, constant if no step writes it")
{
    auto const p = op_list(3, {{0, 1}}, {{1, 2}});
    executor run(p, {.bytes = 8, .role = roles{external, state, output}}, no_plan{}, synthetic_kernel{});
    std::vector<std::byte> kept(8);
    std::vector<std::byte> const weights(8);
    std::array<std::byte, 8> more{};
    std::byte plain[8]{};
    std::set<std::uint64_t> seen;
    auto ran = [&] {
        std::fill(kept.begin(), kept.end(), std::byte{0});
        std::fill(more.begin(), more.end(), std::byte{0});
        std::fill(plain, plain + 8, std::byte{0});
        run.run();
        seen.insert(digest(run.output(2)));
    };
    run.bind(0, weights), run.bind(1, kept), ran();
    run.bind(0, std::span(weights)), run.bind(1, more), ran();
    run.bind(0, std::span<std::byte const, 8>(weights)), run.bind(1, plain), ran();
    run.bind(0, std::as_const(more)), run.bind(1, std::span(plain)), ran();
    CHECK(seen.size() == 1);
    CHECK_THROWS_AS(run.bind(1, weights), precondition_error);
}

TEST_CASE("a kernel that uses its own executor is rejected, and the executor can be used again")
{
    executor* self = nullptr;
    std::vector<std::byte> live_blocks(8);
    int misuse_case = 0;
    executor run(op_list(3, {{0, 2}}, {{1}}), {.bytes = 8, .role = roles{input, output, external}}, recycle{},
                 [&](cpu_call const& call) {
                     if (misuse_case == 1) self->run();
                     if (misuse_case == 2) (void)self->input(0);
                     if (misuse_case == 3) self->bind(2, std::span(live_blocks));
                     if (misuse_case == 4) (void)self->output(1);
                     synthetic_kernel{}(call);
                 });
    self = &run;
    run.bind(2, std::span(live_blocks));
    for (misuse_case = 1; misuse_case != 6; ++misuse_case) {
        CAPTURE(misuse_case);
        fill_noise(run.input(0), 1);
        if (misuse_case == 5) {
            run.run();
            break;
        }
        try {
            run.run();
            FAIL_CHECK("a kernel ran its executor");
        } catch (run_error const& e) {
            CHECK(cause_of(e) == (misuse_case == 4
                                      ? "sublet: value 1 is an output, which can be read after a run and "
                                        "before the next input()"
                                      : "sublet: an executor is used by its own kernel, or by two threads"));
        }
    }
    CHECK(run.output(1).size() == 8);
}

TEST_CASE("in an arena nothing is allocated during a run")
{
    for (subject const& s : subjects())
        for (executor_options::checks const level :
             {executor_options::checks::off, executor_options::checks::plan}) {
            checked_resource source;
            cpu_executor run(s.program, s.options, arena{planned(s)}, synthetic_kernel{},
                             {.check = level, .upstream = &source});
            for (int repeat = 0; repeat != 2; ++repeat) {
                for (value_id v = 0; v != s.program.values(); ++v)
                    if (has_role(s.options.role[v], input)) fill_noise(run.input(v), v);
                std::size_t const heap_before = heap_allocations, allocations_before = source.requests.size();
                run_report const report = run.run();
                CHECK(heap_allocations == heap_before);
                CHECK(source.requests.size() == allocations_before);
                CHECK(report.run.allocations.total == 0);
            }
        }
}

TEST_CASE("a planner's result is run, and refused with its error if there is no plan")
{
    plan_options options = chain_options;
    executor run(chain, options, arena{plan_memory(chain, options)}, synthetic_kernel{});
    (void)run.input(0);
    CHECK(run.run().reserved == plan_memory(chain, options).bytes());
    options.pools = {{.capacity = 1}};
    planned_memory const full = plan_memory(chain, options);
    REQUIRE(!full);
    for (executor_options::checks const level :
         {executor_options::checks::off, executor_options::checks::plan})
        try {
            executor never(chain, options, arena{full}, synthetic_kernel{}, {.check = level});
            FAIL_CHECK("without a plan a program was run");
        } catch (unsound_plan const& e) {
            CHECK(e.why() == full.error());
        }
}

TEST_CASE("an unsound plan is rejected with its counterexample; without the proof it stays within its arena")
{
    memory_plan unsound = planned(subjects().front());
    unsound.buffers[0].offset = 0;
    unsound.buffers[1].offset = 8; // of 64 and 32 bytes
    auto made = [&](memory_plan const& plan, executor_options const& how) {
        executor run(chain, chain_options, arena{plan}, synthetic_kernel{}, how);
        (void)run.input(0);
        run.run();
    };
    for (executor_options::checks const level :
         {executor_options::checks::plan, executor_options::checks::paint,
          executor_options::checks::digest}) {
        try {
            made(unsound, {.check = level});
            FAIL_CHECK("an unsound plan was run");
        } catch (unsound_plan const& e) {
            CHECK(e.why() ==
                  counterexample{
                      fault::clash,
                      counterexample::overlap{.value = 0, .other = 1, .position = 0, .begin = 8, .end = 40}});
        }
    }
    made(unsound, {.check = executor_options::checks::off});
    made(unsound, {.check = executor_options::checks::paint, .prove = false});
    CHECK_THROWS_AS(made(unsound, {.check = executor_options::checks::digest, .prove = false}),
                    clobbered_value);

    memory_plan other_order = planned(subjects().front());
    other_order.order = {2, 1, 0};
    CHECK_THROWS_AS(made(other_order, {}), unsound_plan);
    memory_plan beyond = planned(subjects().front());
    beyond.buffers[2].offset = 4096;
    for (executor_options::checks const level : levels) {
        CHECK_THROWS_AS(made(beyond, {.check = level, .prove = false}), unsound_plan);
        CHECK_THROWS_AS(made({}, {.check = level, .prove = false}), unsound_plan);
    }
}

TEST_CASE("during a second run no results can be read, neither old nor new")
{
    executor* self = nullptr;
    executor run(op_list(1, {{}}, {{0}}), {.bytes = 8, .role = output}, recycle{}, [&](cpu_call const& call) {
        CHECK_THROWS_AS((void)self->output(0), unusable_value);
        synthetic_kernel{}(call);
    });
    self = &run;
    run.run();
    run.run();
    CHECK(run.output(0).size() == 8);
}

TEST_CASE("an order that breaks a dependence runs in no mode")
{
    plan_options wrong = chain_options;
    wrong.order = {1, 0, 2};
    each_mode(subjects().front(), [&](auto mode, executor_options::checks level) {
        auto made = [&](plan_options const& options) {
            (void)executor(chain, options, mode, synthetic_kernel{}, {.check = level, .prove = false});
        };
        if constexpr (std::same_as<decltype(mode), arena>) {
            CHECK_NOTHROW(made(wrong)); // in the order of the plan
            mode.plan.order = wrong.order;
            CHECK_THROWS_AS(made(chain_options), unsound_plan);
        } else {
            CHECK_THROWS_AS(made(wrong), unsound_plan);
        }
    });
}

TEST_CASE("a plan for any schedule runs step by step in an order that keeps its hand-offs")
{
    //  listed   0: -> a   1: a -> b   2: -> c   3: c -> d       c takes the bytes of a, if 3 ends before 0
    snapshot const program = op_list(4, {{}, {0}, {}, {2}}, {{0}, {1}, {2}, {3}});
    value_role const kept = value_role::output, freed = value_role::intermediate;
    plan_options const options{.bytes = 8, .role = std::vector{freed, kept, freed, kept}};
    memory_plan plan = plan_concurrent(program, options).plan;
    plan.handoffs = {{3, 0}};
    plan.arena_bytes = {24};
    for (buffer_id b = 0; b != 4; ++b) plan.buffers[b].offset = 8 * (b == 2 ? 0 : b == 3 ? 2 : +b);
    REQUIRE(check_concurrent_plan(program, plan, options));
    executor expected(program, options, no_plan{}, synthetic_kernel{});
    expected.run();
    for (bool const proves : {true, false})
        for (executor_options::checks const level : levels) {
            std::vector<step_id> order;
            auto kernel = [&](cpu_call const& call) {
                order.push_back(call.step);
                synthetic_kernel{}(call);
            };
            cpu_executor run(program, options, arena{plan}, kernel, {.check = level, .prove = proves});
            run.run();
            CHECK(order == std::vector<step_id>{2, 3, 0, 1});
            for (value_id v : {1u, 3u}) CHECK(digest(run.output(v)) == digest(expected.output(v)));
        }
    plan.handoffs.clear();
    CHECK_THROWS_AS((void)executor(program, options, arena{plan}, synthetic_kernel{}), unsound_plan);
}

TEST_CASE("an order with a backward edge runs in no mode, unless nothing is proved")
{
    using rows = std::vector<std::vector<node_id>>;
    rows const edge = {{1}, {}}, loop = {{1}, {0}};
    auto runs = [](rows const& after, std::vector<node_id> order, auto const& mode, bool prove) {
        auto const p =
            tasks(2, 0, [&](node_id n) -> auto& { return after[n]; }, [](node_id, effect_sink&) {});
        executor(p, {.bytes = 8, .order = std::move(order)}, mode, [](auto const&) {}, {.prove = prove})
            .run();
    };
    auto check = [&](auto const& mode) {
        CHECK_NOTHROW(runs(edge, {0, 1}, mode, true));
        CHECK_THROWS_AS(runs(edge, {1, 0}, mode, true), unsound_plan);
        CHECK_THROWS_AS(runs(loop, {0, 1}, mode, true), unsound_plan);
        CHECK_NOTHROW(runs(edge, {1, 0}, mode, false));
    };
    check(no_plan{});
    check(recycle{});
}

TEST_CASE("an input that cannot be allocated invalidates no result")
{
    executor run(
        op_list(4, {{0, 1}, {2}}, {{2}, {3}}),
        {.bytes = std::vector<byte_count>{64, 64, 8, 100}, .role = roles{input, input, none, output}},
        recycle{}, synthetic_kernel{}, {.limit = 150});
    fill_noise(run.input(0), 1);
    fill_noise(run.input(1), 2);
    run.run();
    auto const left = digest(run.output(3));
    CHECK_THROWS_AS((void)run.input(0), allocation_error);
    CHECK(digest(run.output(3)) == left);
    CHECK_THROWS_AS(run.run(), unusable_value);
}

TEST_CASE("a limit is enforced, and the error names step, bytes and cause")
{
    executor run(chain, chain_options, recycle{}, synthetic_kernel{}, {.limit = 95});
    fill_noise(run.input(0), 1);
    try {
        run.run();
        FAIL_CHECK("96 bytes within 95");
    } catch (allocation_error const& e) {
        CHECK(e.step() == 0);
        CHECK(e.bytes() == 32);
        CHECK(cause_of(e) ==
              "sublet: 32 bytes more than the 64 that are allocated would exceed the limit of 95");
    }
    CHECK(run.memory().bytes.live == 0);
    plan_options huge = chain_options;
    huge.bytes = byte_count{5} << 30;
    try {
        executor(chain, huge, arena{plan_memory(chain, huge).plan}, synthetic_kernel{}, {.limit = 1});
    } catch (allocation_error const& e) {
        CHECK(e.step() == no_step);
        CHECK(e.bytes() == byte_count{10} << 30);
    }
    executor enough(chain, chain_options, recycle{}, synthetic_kernel{}, {.limit = 96});
    fill_noise(enough.input(0), 1);
    CHECK(enough.run().run.bytes.peak == 96);
    CHECK_THROWS_AS(
        executor(chain, chain_options, arena{planned(subjects().front())}, synthetic_kernel{}, {.limit = 95}),
        allocation_error);
}

TEST_CASE("any allocation may fail: the error says so, nothing leaks, and the next run is right")
{
    std::size_t failures = 0;
    for (subject const& s : subjects()) {
        executor reference(s.program, s.options, no_plan{}, synthetic_kernel{});
        give(reference, s);
        reference.run();
        each_mode(s, [&](auto const& mode, executor_options::checks level) {
            for (std::size_t max_allocations = 0, failed = 1; failed == 1; ++max_allocations) {
                CAPTURE(max_allocations);
                checked_resource source{.max_allocations = max_allocations};
                step_id calls = 0;
                bool runs = false;
                std::optional<executor> run;
                try {
                    run.emplace(
                        s.program, s.options, mode,
                        [&](cpu_call const& call) {
                            ++calls;
                            synthetic_kernel{}(call);
                        },
                        executor_options{.check = level, .upstream = &source});
                    give(*run, s);
                    runs = true;
                    run->run();
                    failed = 0;
                } catch (allocation_error const& e) {
                    ++failures;
                    auto const& order = s.options.order;
                    CHECK(e.step() == (!runs ? no_step : order.empty() ? calls : step_id{+order[calls]}));
                    CHECK(e.bytes() == source.refused_bytes);
                    CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::bad_alloc);
                    if (runs) CHECK(source.live_blocks.empty());
                    if (runs) CHECK(run->memory().allocations.live == 0);
                }
                source.max_allocations = ~std::size_t{0};
                if (run) {
                    give(*run, s);
                    run->run();
                    CHECK(results(*run, s) == results(reference, s));
                }
                run.reset();
                CHECK(source.live_blocks.empty());
            }
        });
    }
    CHECK(failures > 100);
}

TEST_CASE(
    "any allocation of a run itself from the free store may fail: nothing leaks, and the next run is right")
{
    std::size_t failures = 0;
    for (subject const& s : subjects()) {
        std::optional<std::uint64_t> expected;
        each_mode(s, [&](auto const& mode, executor_options::checks level) {
            checked_resource source;
            std::optional<executor> run;
            run.emplace(s.program, s.options, mode, synthetic_kernel{},
                        executor_options{.check = level, .upstream = &source});
            byte_count const arenas = run->memory().bytes.live;
            for (std::size_t max_allocations = 0, failed = 1; failed == 1; ++max_allocations) {
                failed = 0;
                give(*run, s);
                heap_limit = heap_allocations + max_allocations;
                try {
                    run->run();
                } catch (std::exception const&) {
                    failed = 1;
                }
                heap_limit = ~std::size_t{0};
                failures += failed;
                if (failed) CHECK(run->memory().bytes.live == arenas);
                give(*run, s);
                run->run();
                if (!expected) expected = results(*run, s);
                CHECK(results(*run, s) == *expected);
            }
            run.reset();
            CHECK(source.live_blocks.empty());
        });
    }
#if !defined(HEAP_IS_NOT_COUNTED)
    CHECK(failures > 100);
#endif
}

TEST_CASE(
    "any kernel call may throw any exception: the error says so, nothing leaks, and the next run is right")
{
    for (subject const& s : subjects()) {
        executor reference(s.program, s.options, no_plan{}, synthetic_kernel{});
        give(reference, s);
        reference.run();
        each_mode(s, [&](auto const& mode, executor_options::checks level) {
            checked_resource source;
            std::optional<step_id> fails;
            bool throws_with_text = false, after = false;
            std::optional<executor> run;
            run.emplace(
                s.program, s.options, mode,
                [&](cpu_call const& call) {
                    auto fail = [&] {
                        if (throws_with_text) throw precondition_error("no such operation");
                        throw call.step;
                    };
                    if (fails == call.step && !after) fail();
                    synthetic_kernel{}(call);
                    if (fails == call.step) fail();
                },
                executor_options{.check = level, .upstream = &source});
            byte_count const arenas = run->memory().bytes.live;
            for (step_id at = 0; at != s.program.steps(); ++at)
                for (int misuse_case = 0; misuse_case != 4; ++misuse_case) {
                    fails = at;
                    throws_with_text = misuse_case % 2 != 0;
                    after = misuse_case / 2 != 0;
                    give(*run, s);
                    try {
                        run->run();
                        FAIL_CHECK("a kernel threw without an error");
                    } catch (run_error const& e) {
                        CHECK(e.step() == at);
                        if (throws_with_text) CHECK(cause_of(e) == "no such operation");
                        else CHECK_THROWS_AS(std::rethrow_exception(e.cause()), step_id);
                    }
                    CHECK(run->memory().bytes.live == arenas);
                    CHECK_THROWS_AS((void)results(*run, s), unusable_value);
                    CHECK_THROWS_AS(run->run(), unusable_value); // inputs have to be given again
                    fails.reset();
                    give(*run, s);
                    run->run();
                    CHECK(results(*run, s) == results(reference, s));
                }
            run.reset();
            CHECK(source.live_blocks.empty());
        });
    }
}

TEST_CASE("programs without steps, values or bytes can be run")
{
    auto const empty_plan = [](snapshot const& p, plan_options const& options) {
        return arena{plan_memory(p, options).plan};
    };
    auto const idle = sequence(3, 0, [](auto, effect_sink&) {});
    auto const no_bytes = op_list(2, {{0}}, {{1}});
    plan_options const nothing{.bytes = 0, .role = roles{input, output}};
    for (executor_options::checks const level : levels) {
        std::size_t calls = 0;
        kernel const count = [&calls](cpu_call const&) { ++calls; };
        auto runs = [&](snapshot const& p, plan_options const& options) {
            executor_options const how{.check = level};
            executor apart(p, options, no_plan{}, count, how), again(p, options, recycle{}, count, how),
                placed(p, options, empty_plan(p, options), count, how);
            for (executor* run : {&apart, &again, &placed}) CHECK(run->run().run == run_report::memory_use{});
            return calls;
        };
        CHECK(runs(snapshot{}, {.bytes = 8}) == 0);
        CHECK(runs(idle, {.bytes = 8}) == 9);
        CHECK(runs(no_bytes, nothing) == 12);
        executor run(no_bytes, nothing, recycle{}, count, {.check = level});
        CHECK(run.input(0).empty());
        run.run();
        CHECK(run.output(1).empty());
    }
}

// --- cpu call ----------------------------------------------------------------------------------------------

static_assert(cpu_kernel<void (*)(cpu_call const&)>);
static_assert(!cpu_kernel<void (*)(int)>);

TEST_CASE("bytes are viewed as objects of a type if they are aligned and a whole number of objects")
{
    alignas(8) std::byte bytes[16]{};
    std::span<std::byte> const all(bytes);
    as<float>(all)[3] = 1.5f;
    CHECK(as<float>(std::span<std::byte const>(all))[3] == 1.5f);
    static_assert(std::same_as<decltype(as<float>(all)), std::span<float>>);
    static_assert(std::same_as<decltype(as<float const>(all)), std::span<float const>>);
    static_assert(std::same_as<decltype(as<float>(std::span<std::byte const>(all))), std::span<float const>>);
    CHECK(as<double>(all).size() == 2);
    CHECK(as<double>(all.first(0)).empty());
    CHECK(as<double>(std::span<std::byte>()).empty());
    CHECK_THROWS_WITH_AS((void)as<double>(all.subspan(4, 8)),
                         "sublet: a value is not aligned as its type needs it; plan it with that alignment",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)as<double>(all.first(12)),
                         "sublet: the size of a value, 12 bytes, is not a multiple of the object size 8",
                         precondition_error);
}

TEST_CASE(
    "a kernel gets its operands in program order, and an error for operands that its step does not have")
{
    auto const p = sequence(2, 6, [](auto step, effect_sink& s) {
        if (step == 0) s.def(3), s.allocate(5), s.def(0);
        else s.use(3), s.use(no_value), s.use_early(0), s.use(3), s.def(4), s.view(1), s.allocate(2);
    });
    plan_options options{.bytes = {1, 2, 3, 4, 5, 6}, .alias_of = {-1, 3, -1, -1, -1, -1}, .order = {0, 1}};
    std::size_t refused = 0;
    auto const look = [&](cpu_call const& call) {
        CHECK(call.position == +call.step);
        if (call.step == 1) {
            CHECK(std::vector(call.uses().begin(), call.uses().end()) == std::vector<value_id>{3, 0, 3});
            CHECK(std::vector(call.defs().begin(), call.defs().end()) == std::vector<value_id>{4, 1});
            CHECK(call.in(0).size() == 4);
            CHECK(call.in(1).size() == 1);
            CHECK(call.in(2).data() == call.in(0).data());
            CHECK(call.out(0).size() == 5);
            CHECK(call.out(1).data() == call.in(0).data());
            CHECK(call.out(1).size() == 2);
            CHECK(!call.is_view(0));
            CHECK(call.is_view(1));
            CHECK(call.scratch_count() == 1);
            CHECK(call.scratch().size() == 3);
        } else {
            CHECK(call.uses().empty());
            CHECK(call.scratch_count() == 1);
            CHECK(call.scratch(0).size() == 6);
        }
        auto refuses = [&](auto ask) {
            CHECK_THROWS_WITH_AS(ask(), doctest::Contains(" accesses operand "), precondition_error);
            ++refused;
        };
        refuses([&] { (void)call.in(call.uses().size()); });
        refuses([&] { (void)call.out(call.defs().size()); });
        refuses([&] { (void)call.is_view(call.defs().size()); });
        refuses([&] { (void)call.scratch(1); });
    };
    lowered_program const lowered = lower_program(p, options);
    detail::value_storage values(lowered, no_plan{}, counted_memory{});
    cpu_call call(lowered, values);
    for (position_id at : {0u, 1u}) {
        values.before(lowered, at);
        call.position = at;
        call.step = +at;
        look(call);
    }
    CHECK(refused == 8);
}

} // namespace this_test
