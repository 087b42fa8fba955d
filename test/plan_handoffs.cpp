// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan_handoffs.hpp>

#include <sublet/analysis/dependences.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include "random_source.hpp"
#include "random_tasks.hpp"
#include "task_families.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// A long branch and a short one. The temporary value 5 of the short branch is as large as value 3, which the
/// long branch defines later; both are live together only if the short branch is late.
///
///     0 ──► 1 ──► 2 ──► 3 ──► 4 ──► 7
///     └───► 5 ──► 6 ────────────────┘
struct branches {
    std::vector<std::vector<value_id>> uses{{}, {0}, {1}, {2}, {3}, {0}, {5}, {4, 6}};
    std::vector<byte_count> bytes{1, 1, 1, 1000, 1, 1000, 1, 1};

    snapshot program() const
    {
        return sequence(8, 8, [this](step_id s, effect_sink& sink) {
            for (value_id v : uses[s]) sink.use(v);
            sink.def(+s);
        });
    }
};

} // namespace

TEST_CASE("a step waits where that saves memory and costs no time")
{
    branches const program;
    auto const planned = plan_with_handoffs(program.program(), {.bytes = program.bytes});
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().is_scheduled);
    CHECK(planned.plan.valid_for == program_reading::concurrent);
    // Value 3 reuses the bytes of value 5, so its step waits for the only reader of value 5.
    CHECK(planned.plan.handoffs == std::vector<handoff>{{6, 3}});
    CHECK(planned.handoff_bytes == std::vector<byte_count>{1000});
    CHECK(planned.bytes_without > 2000);
    CHECK(planned.report().arena_bytes < 1100);
    CHECK(planned.makespan == 6);
    CHECK(planned.critical_path == 6);
    CHECK(planned.critical_path_with == 6);
}

TEST_CASE("no step waits where the duration of a step forbids it")
{
    // Reading value 5 takes as long as the rest of the other branch.
    branches const program;
    auto const planned = plan_with_handoffs(program.program(), {.bytes = program.bytes},
                                            {.duration = {1, 1, 1, 1, 1, 1, 9, 1}});
    REQUIRE(planned);
    CHECK(planned.plan.handoffs.empty());
    CHECK(planned.report().arena_bytes == planned.bytes_without);
    CHECK(!planned.report().is_scheduled);
    // One worker takes longer, and that is accepted.
    auto const alone = plan_with_handoffs(program.program(), {.bytes = program.bytes},
                                          {.duration = {1, 1, 1, 1, 1, 1, 9, 1}, .workers = 1});
    REQUIRE(alone);
    CHECK(alone.report().arena_bytes < 1100);
    CHECK(alone.makespan == 16);
    CHECK(alone.critical_path == 12);
    CHECK(alone.critical_path_with > 12);
}

TEST_CASE("no step waits for less than the minimum gain")
{
    branches program;
    program.bytes[3] = program.bytes[5] = 2;
    auto const without =
        plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.minimum_gain = 1000});
    REQUIRE(without);
    CHECK(without.plan.handoffs.empty());
    CHECK(without.plan == plan_concurrent(program.program(), {.bytes = program.bytes}).plan);
    auto const with = plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.minimum_gain = 0});
    REQUIRE(with);
    CHECK(!with.plan.handoffs.empty());
    CHECK(with.report().arena_bytes < without.report().arena_bytes);
}

TEST_CASE("a plan that does not fit under every schedule may fit with hand-offs")
{
    branches const program;
    plan_options options{.bytes = program.bytes, .pools = {{.capacity = 1200}}};
    CHECK(plan_concurrent(program.program(), options).error().what == fault::over_capacity);
    auto const planned = plan_with_handoffs(program.program(), options);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes <= 1200);
    options.pools[0].capacity = 900;
    CHECK(plan_with_handoffs(program.program(), options).error().what == fault::over_capacity);
}

TEST_CASE("two buffers pinned to the same bytes get a hand-off")
{
    branches const program;
    std::vector<byte_count> pinned(8, no_offset);
    pinned[3] = pinned[5] = 64;
    plan_options const options{.bytes = program.bytes, .pinned = pinned};
    CHECK(plan_concurrent(program.program(), options).error().what == fault::clash);
    auto const planned = plan_with_handoffs(program.program(), options);
    REQUIRE(planned);
    CHECK(!planned.plan.handoffs.empty());
    CHECK(planned.plan.offset_of(3) == 64);
    CHECK(planned.plan.offset_of(5) == 64);
    pinned[0] = pinned[1] = 2000; // the step that defines 1 reads 0: no hand-off helps
    CHECK(plan_with_handoffs(program.program(), {.bytes = program.bytes, .pinned = pinned}).error().what ==
          fault::clash);
}

TEST_CASE("pools are independent")
{
    // The large ones lie in pool 1; in pool 0 nothing can be saved.
    branches const program;
    std::vector<pool_id> const pool{0, 0, 0, 1, 0, 1, 0, 0};
    plan_options const options{.bytes = program.bytes, .pool = pool};
    auto const without = plan_concurrent(program.program(), options);
    auto const planned = plan_with_handoffs(program.program(), options, {.minimum_gain = 500});
    REQUIRE(planned);
    CHECK(planned.plan.handoffs == std::vector<handoff>{{6, 3}});
    REQUIRE(planned.plan.arena_bytes.size() == 2);
    CHECK(planned.plan.arena_bytes[1] == 1000);
    CHECK(planned.report().pools[1].naive_bytes == 2000);
    CHECK(planned.report().pools[1].lower_bound_bytes == 1000);
    for (value_id v : {0u, 1u, 2u, 4u, 6u, 7u}) CHECK(planned.plan.offset_of(v) == without.plan.offset_of(v));
}

TEST_CASE("given hand-offs are kept, and may suffice")
{
    branches const program;
    auto const planned =
        plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.handoffs = {{6, 3}}});
    REQUIRE(planned);
    CHECK(planned.plan.handoffs == std::vector<handoff>{{6, 3}});
    CHECK(!planned.report().is_scheduled);
    CHECK(planned.report().arena_bytes < 1100);
    auto const more = plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.handoffs = {{5, 2}}});
    REQUIRE(more);
    CHECK(more.plan.handoffs == std::vector<handoff>{{5, 2}, {6, 3}});
    CHECK(more.handoff_bytes == std::vector<byte_count>{0, 1000});
    CHECK(plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.handoffs = {{3, 2}}})
              .error()
              .what == fault::cycle);
}

TEST_CASE("a step of duration 0 is refused")
{
    branches const program;
    CHECK_THROWS_AS(
        (void)plan_with_handoffs(program.program(), {.bytes = program.bytes}, {.duration = std::uint64_t{0}}),
        precondition_error);
}

TEST_CASE("the empty program has the empty plan")
{
    auto const planned = plan_with_handoffs(snapshot{}, {.bytes = 8});
    CHECK(planned);
    CHECK(planned.plan.handoffs.empty());
    CHECK(planned.report().arena_bytes == 0);
}

TEST_CASE("every plan is safe, within the accepted makespan, and no hand-off is redundant")
{
    std::size_t with_handoffs = 0, fewer = 0, longer = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(20),
                                                     .back = seed % 2 == 0 ? 0u : 4u,
                                                     .edges = 10,
                                                     .early = seed % 3 == 0 ? 30u : 0u,
                                                     .views = seed % 5 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .alignments = 1 + pick.below(8),
                                                     .in_place = seed % 4 == 0 ? 50u : 0u,
                                                     .shuffled = seed % 7 == 0});
        snapshot const p = tasks.program();
        plan_options const options = tasks.options();
        auto const takes = draw_durations(pick, tasks, 1 + seed % 5);
        handoff_options wanted{.duration = takes, .workers = pick.below(4), .minimum_gain = 0};
        auto const planned = plan_with_handoffs(p, options, wanted);
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        REQUIRE(planned.critical_path_with <= planned.makespan);
        REQUIRE(planned.report().arena_bytes <= planned.bytes_without);
        REQUIRE(planned.report().arena_bytes >= planned.report().lower_bound_bytes);
        REQUIRE(planned.handoff_bytes.size() == planned.plan.handoffs.size());
        REQUIRE(planned.report().is_scheduled == (planned.report().arena_bytes < planned.bytes_without));
        if (seed % 4 != 0) {
            REQUIRE(is_safe(tasks, planned.plan, planned.plan.handoffs));
            for (std::size_t i = 0; i != planned.plan.handoffs.size(); ++i) {
                auto without = planned.plan.handoffs;
                without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
                REQUIRE(!is_safe(tasks, planned.plan, without));
            }
        }
        wanted.few_waits = false;
        auto const in_schedule = plan_with_handoffs(p, options, wanted);
        REQUIRE(in_schedule);
        REQUIRE(planned.report().arena_bytes <= in_schedule.report().arena_bytes);
        with_handoffs += !planned.plan.handoffs.empty();
        fewer += planned.plan.handoffs.size() < in_schedule.plan.handoffs.size();
        longer += planned.critical_path_with > planned.critical_path;
    }
    CHECK(with_handoffs > rounds(100));
    CHECK(fewer > rounds(30));
    CHECK(longer > rounds(30));
}

TEST_CASE("one worker needs no more bytes than a plan in the same order, and runs pairs one after the other")
{
    // Three times: make 100 bytes; use them, make 1.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {}, {2}, {}, {4}, {1, 3, 5}};
    auto const pairs = sequence(7, 7, [&](step_id s, effect_sink& sink) {
        for (value_id v : uses[s]) sink.use(v);
        sink.def(+s);
    });
    std::vector<byte_count> const bytes{100, 1, 100, 1, 100, 1, 1};
    CHECK(
        plan_with_handoffs(pairs, {.bytes = bytes}, {.workers = 1, .minimum_gain = 0}).report().arena_bytes ==
        103);
    CHECK(plan_with_handoffs(pairs, {.bytes = bytes, .order = {0, 2, 4, 1, 3, 5, 6}}, {.workers = 1})
              .report()
              .arena_bytes <= 303);
    // A given order is the only reference: what does not fit in it is refused.
    handoff_options const low{.workers = 1, .most_bytes = 150};
    CHECK(plan_with_handoffs(pairs, {.bytes = bytes}, low).report().arena_bytes <= 150);
    CHECK(plan_with_handoffs(pairs, {.bytes = bytes, .order = {0, 2, 4, 1, 3, 5, 6}}, low).error().what ==
          fault::over_budget);
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(20),
                                                     .back = 4,
                                                     .early = seed % 3 == 0 ? 30u : 0u,
                                                     .views = seed % 5 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .in_place = seed % 2 == 0 ? 50u : 0u});
        auto const alone = plan_memory(tasks.program(), tasks.options());
        REQUIRE(alone);
        auto const planned =
            plan_with_handoffs(tasks.program(), tasks.options(), {.workers = 1, .minimum_gain = 0});
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        CHECK(planned.report().arena_bytes <= alone.report().arena_bytes);
        if (seed % 2 != 0) CHECK(is_safe(tasks, planned.plan, planned.plan.handoffs));
    }
}

TEST_CASE("more workers need no more bytes within the time of fewer, and the schedule is one")
{
    for (std::uint32_t seed = 0; seed != rounds(150); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks =
            draw_tasks(pick, {.tasks = 1 + pick.below(20), .back = seed % 2 == 0 ? 0u : 4u});
        snapshot const p = tasks.program();
        auto const takes = draw_durations(pick, tasks, 1 + seed % 5);
        handoff_options wanted{.duration = takes, .few_waits = false, .minimum_gain = 0};
        std::uint64_t all = 0;
        for (auto t : takes) all += t;
        byte_count fewer = no_limit;
        for (std::size_t workers = 1; workers != 5; ++workers) {
            wanted.workers = workers;
            wanted.longest = all;
            auto const planned = plan_with_handoffs(p, tasks.options(), wanted);
            REQUIRE(planned);
            CHECK(planned.makespan <= all);
            CHECK(planned.report().arena_bytes <= fewer);
            CHECK(planned.least_bytes <= planned.report().arena_bytes);
            CHECK(planned.least_makespan <= planned.makespan);
            fewer = planned.report().arena_bytes;
            dependence_graph const g =
                dependences(p, detail::dependences_of(tasks.options(), planned.plan.handoffs));
            for (step_id s = 0; s != p.steps(); ++s) {
                step_time const at = planned.schedule[s];
                CHECK(at.worker < workers);
                CHECK(at.start + takes[s] <= planned.makespan);
                for (step_id other = 0; other != s; ++other) {
                    step_time const it = planned.schedule[other];
                    if (it.worker == at.worker)
                        CHECK((it.start + takes[other] <= at.start || at.start + takes[s] <= it.start));
                }
                for (position_id before : g.before[g.position_of[s]])
                    if (g.step_at[before] != s)
                        CHECK(planned.schedule[g.step_at[before]].start + takes[g.step_at[before]] <=
                              at.start);
            }
        }
    }
}

TEST_CASE("the shortest schedule within bytes, and the fewest bytes within a time, or a refusal with both")
{
    branches const program; // one worker needs 1001 bytes at 8, in any order of the branches
    plan_options const options{.bytes = program.bytes};
    auto const within = plan_with_handoffs(program.program(), options, {.workers = 2, .most_bytes = 1003});
    REQUIRE(within);
    CHECK(within.report().arena_bytes <= 1003);
    CHECK(within.makespan == 6);
    auto const every = plan_with_handoffs(program.program(), options, {.workers = 2, .most_bytes = 5000});
    REQUIRE(every);
    CHECK(every.plan.handoffs.empty());
    auto const none = plan_with_handoffs(program.program(), options, {.workers = 2, .most_bytes = 1000});
    CHECK(none.error().what == fault::over_budget);
    CHECK(none.least_bytes > 1000);
    auto const late = plan_with_handoffs(program.program(), options, {.workers = 2, .longest = 5});
    REQUIRE(late.error().what == fault::over_time);
    CHECK(late.error() == counterexample{fault::over_time, counterexample::place{.end = 6, .needed = 5}});
    auto const slow =
        plan_with_handoffs(program.program(), options, {.workers = 2, .longest = 8, .most_bytes = 1003});
    CHECK(slow);
}

TEST_CASE("the bytes that a plan takes without a limit are enough, and more bytes mostly are")
{
    std::size_t asked = 0, refused = 0, over_capacity = 0;
    for (std::uint32_t seed = 0; seed != rounds(120); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 5 + pick.below(25),
                                                     .outputs = 3,
                                                     .back = seed % 2 == 0 ? 0u : 3u,
                                                     .early = seed % 4 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .in_place = seed % 3 == 0 ? 50u : 0u});
        snapshot const p = tasks.program();
        handoff_options wanted{.duration = draw_durations(pick, tasks, 1 + seed % 5),
                               .workers = pick.below(4),
                               .few_waits = pick.below(2) == 0,
                               .minimum_gain = 0,
                               .keeps_workers = seed % 5 == 0};
        auto const planned = plan_with_handoffs(p, tasks.options(), wanted);
        REQUIRE(planned);
        byte_count const lowest = planned.report().arena_bytes, spare = planned.bytes_without - lowest;
        plan_options narrow = tasks.options(); // capacities likewise
        narrow.pools.resize(planned.plan.arena_bytes.size());
        for (pool_id pool = 0; pool != narrow.pools.size(); ++pool)
            narrow.pools[pool].capacity = planned.plan.arena_bytes[pool];
        over_capacity += !plan_with_handoffs(p, narrow, wanted);
        for (byte_count part = 0; part != 4; ++part) {
            wanted.most_bytes = lowest + spare / 8 * part;
            auto const within = plan_with_handoffs(p, tasks.options(), wanted);
            CAPTURE(wanted.most_bytes);
            if (part == 0) REQUIRE(within);
            if (within) REQUIRE(within.report().arena_bytes <= wanted.most_bytes);
            refused += !within;
            ++asked;
        }
    }
    CHECK(200 * refused < asked);
    CHECK(over_capacity == 0);
}

TEST_CASE("within a capacity, or bytes for all pools, no step waits for bytes that are to spare")
{
    branches const program; // 2003 bytes do without a wait
    plan_options options{.bytes = program.bytes, .pools = {{.capacity = 2003}}};
    auto const roomy = plan_with_handoffs(program.program(), options);
    REQUIRE(roomy);
    CHECK(roomy.plan.handoffs.empty());
    CHECK(roomy.bytes_without <= 2003);
    options.pools[0].capacity = 2000;
    auto const narrow = plan_with_handoffs(program.program(), options);
    REQUIRE(narrow);
    CHECK(narrow.plan.handoffs == std::vector<handoff>{{6, 3}});

    // The same twice, in pools 0 and 1: where there are bytes for one pool more, one hand-off is left.
    auto const both = sequence(16, 16, [&](step_id s, effect_sink& sink) {
        for (value_id v : program.uses[s % 8]) sink.use(value_id::of(+v + s / 8 * 8));
        sink.def(+s);
    });
    std::vector<byte_count> bytes = program.bytes;
    bytes.insert(bytes.end(), program.bytes.begin(), program.bytes.end());
    bytes[8 + 3] = bytes[8 + 5] = 500;
    std::vector<pool_id> pool(16, 0);
    for (std::size_t v = 8; v != 16; ++v) pool[v] = 1;
    auto handoffs_within = [&](byte_count most) {
        auto const planned =
            plan_with_handoffs(both, {.bytes = bytes, .pool = pool}, {.workers = 4, .most_bytes = most});
        REQUIRE(planned);
        CHECK(planned.report().arena_bytes <= most);
        return planned.plan.handoffs;
    };
    CHECK(handoffs_within(1520).size() > 1);
    CHECK(handoffs_within(2010) == std::vector<handoff>{{6, 3}});
    CHECK(handoffs_within(3010).empty());
}

TEST_CASE("of a small program as few steps wait as any set of waits in the schedule allows, mostly")
{
    // Sets of waits that agree with the schedule, smallest first: does a plan fit that keeps them?
    std::size_t checked = 0, fewest = 0, at_once = 0, with_room = 0;
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 4 + pick.below(5), .back = 3});
        snapshot const p = tasks.program();
        plan_options const options = tasks.options();
        auto const least = plan_with_handoffs(p, options, {.few_waits = false, .minimum_gain = 0});
        REQUIRE(least);
        if (least.plan.handoffs.size() < 2) continue;
        byte_count const lowest = least.report().arena_bytes, spare = least.bytes_without - lowest;
        handoff_options wanted{.most_bytes = lowest + pick.below(static_cast<unsigned>(spare)),
                               .schedule = least.schedule};
        auto const planned = plan_with_handoffs(p, options, wanted);
        REQUIRE(planned);
        REQUIRE(planned.report().arena_bytes <= wanted.most_bytes);
        at_once += least.plan.handoffs.size();
        with_room += planned.plan.handoffs.size();
        std::vector<handoff> pairs;
        for (step_id from = 0; from != p.steps(); ++from)
            for (step_id to = 0; to != p.steps(); ++to)
                if (least.schedule[from].start < least.schedule[to].start) pairs.push_back({from, to});
        auto fits = [&](std::vector<handoff> const& waits) {
            auto const found = plan_concurrent(p, options, {.handoffs = waits});
            return found && found.report().arena_bytes <= wanted.most_bytes;
        };
        std::size_t const has = planned.plan.handoffs.size();
        bool fewer_fit = has != 0 && fits({});
        for (std::size_t i = 0; has > 1 && !fewer_fit && i != pairs.size(); ++i) fewer_fit = fits({pairs[i]});
        for (std::size_t i = 0; has > 2 && has < 4 && !fewer_fit && i != pairs.size(); ++i)
            for (std::size_t k = 0; !fewer_fit && k != i; ++k) fewer_fit = fits({pairs[i], pairs[k]});
        if (has > 3) continue;
        ++checked;
        fewest += !fewer_fit;
    }
    MESSAGE(checked, " programs, ", fewest, " with the fewest waits; ", at_once,
            " waits at the least bytes, ", with_room, " with some to spare");
    CHECK(10 * fewest >= 9 * checked);
    CHECK(3 * with_room < 2 * at_once);
}

TEST_CASE("with its workers a plan keeps their order, and only what another worker has left is waited for")
{
    std::size_t for_bytes = 0, without = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(20),
                                                     .back = seed % 2 == 0 ? 0u : 4u,
                                                     .edges = 10,
                                                     .early = seed % 3 == 0 ? 30u : 0u,
                                                     .views = seed % 5 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .shuffled = seed % 7 == 0});
        snapshot const p = tasks.program();
        auto const takes = draw_durations(pick, tasks, 3);
        handoff_options wanted{.duration = takes, .workers = 1 + pick.below(4), .minimum_gain = 0};
        auto const any = plan_with_handoffs(p, tasks.options(), wanted);
        wanted.keeps_workers = true;
        if (pick.below(3) == 0) wanted.schedule = any.schedule;
        auto const planned = plan_with_handoffs(p, tasks.options(), wanted);
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        REQUIRE(planned.critical_path_with <= planned.makespan);
        REQUIRE(is_safe(tasks, planned.plan, planned.plan.handoffs));
        REQUIRE(planned.schedule.size() == p.steps());
        if (!wanted.schedule.empty()) REQUIRE(planned.schedule == any.schedule);
        sharing_rule const rule(tasks, planned.plan.handoffs);
        for (step_id a = 0; a != p.steps(); ++a)
            for (step_id b = 0; b != p.steps(); ++b)
                if (planned.schedule[a].worker == planned.schedule[b].worker &&
                    planned.schedule[a].start < planned.schedule[b].start)
                    REQUIRE(rule.before[a][b]);
        for (std::size_t i = 0; i != planned.plan.handoffs.size(); ++i) {
            handoff const h = planned.plan.handoffs[i];
            if (planned.handoff_bytes[i] == 0) continue;
            REQUIRE(planned.schedule[h.from].worker != planned.schedule[h.to].worker);
            ++for_bytes;
        }
        without += any.plan.handoffs.size();
    }
    CHECK(2 * for_bytes < without);
    CHECK(for_bytes > rounds(20));
}

TEST_CASE("thousands of steps are planned as well as tens")
{
    for (auto name : {"chain", "inception", "training", "ladder8"}) {
        CAPTURE(name);
        task_family const drawn = draw_family(name, 5'000);
        auto const planned = plan_with_handoffs(drawn.program(), {.bytes = drawn.bytes, .effort = 1'000'000});
        CHECK(planned);
        CHECK(planned.critical_path_with == planned.critical_path);
        CHECK(planned.report().arena_bytes <= planned.bytes_without);
    }
}

} // namespace this_test
