// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/step_order.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using steps = std::vector<step_id>;

/// u and v, said to lie in the same bytes.
concurrent_witness schedule_of(snapshot const& p, value_id u, value_id v, plan_options const& options)
{
    plan_demands const asked = demands(p, options);
    step_order const order = order_of_steps(p, asked.role, {});
    memory_plan plan;
    plan.buffer_of.assign(p.values(), 0);
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    return clash_schedule(order, class_touches(p, asked, order), plan, true, u, v);
}

} // namespace

TEST_CASE("what the maker waits for comes first, then the maker, the writer's wait, the writer, the rest")
{
    // 2 makes value 2 of 0's; 5 makes value 5 of 4's; 3 reads value 2. In the list all of this is otherwise.
    snapshot const p = sequence(6, 6, [](step_id s, effect_sink& sink) {
        if (s == 2) sink.use(0);
        if (s == 3) sink.use(2);
        if (s == 5) sink.use(4);
        sink.def(s);
    });
    auto const w = schedule_of(p, 2, 5, {.bytes = 8});
    CHECK(w.value == 2);
    CHECK(w.other == 5);
    CHECK(w.needed_at == 3);
    CHECK(w.written_at == 5);
    CHECK(w.schedule == steps{0, 4, 2, 5, 1, 3});
    CHECK(w.position == 3);
}

TEST_CASE("if what is asked about first cannot be written over, it is what is written over the other")
{
    // Value 0 comes before value 1 in each schedule, and is read while that is made.
    snapshot const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(0);
        sink.def(s);
    });
    auto const w = schedule_of(p, 1, 0, {.bytes = 8});
    CHECK(w.value == 0);
    CHECK(w.other == 1);
    CHECK(w.written_at == 1);
    CHECK(w.needed_at == 1);
}

TEST_CASE("two inputs need no schedule")
{
    snapshot const p = sequence(1, 2, [](step_id, effect_sink&) {});
    auto const w = schedule_of(p, 0, 1, {.bytes = 8, .role = value_role::input});
    CHECK(w.value == 0);
    CHECK(w.other == 1);
    CHECK(w.written_at == no_step);
    CHECK(w.schedule.empty());
}

TEST_CASE("of any two that may not share there is a schedule, and it keeps the order")
{
    std::size_t tried = 0, side_by_side = 0;
    for (std::uint32_t seed = 0; seed != rounds(1'500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(9), .early = 20, .views = 25, .shuffled = seed % 2 == 0});
        if (seed % 3 == 0) mix_views(roll, tasks);
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        plan_options const options = tasks.options();
        plan_demands const asked = demands(p, options);
        for (value_id u = 0; u != tasks.values(); ++u)
            for (value_id v = 0; v != tasks.values(); ++v) {
                bool const are_roots = u != v && rule.root[u] == u && rule.root[v] == v;
                if (!are_roots || !asked.is_planned(u) || !asked.is_planned(v) || rule.may_share(u, v))
                    continue;
                auto const w = schedule_of(p, u, v, options);
                REQUIRE(((w.value == u && w.other == v) || (w.value == v && w.other == u)));
                if (rule.is_given[u] && rule.is_given[v]) continue;
                ++tried;
                REQUIRE(w.schedule.size() == tasks.tasks.size());
                std::vector<std::size_t> turn(w.schedule.size(), no_step);
                for (std::size_t i = 0; i != w.schedule.size(); ++i) turn[w.schedule[i]] = i;
                for (std::size_t a = 0; a != turn.size(); ++a) {
                    REQUIRE(turn[a] != no_step);
                    for (std::size_t b = 0; b != turn.size(); ++b)
                        if (rule.before[a][b]) CHECK(turn[a] < turn[b]);
                }
                CHECK(w.position == turn[w.written_at]);
                bool is_made = rule.is_given[w.value];
                for (std::size_t d : rule.defs[w.value]) is_made = is_made || turn[d] <= w.position;
                bool const is_needed =
                    w.needed_at == no_step ? rule.is_kept[w.value] : turn[w.needed_at] >= w.position;
                bool const is_beside = w.needed_at != no_step && turn[w.needed_at] + 1 == w.position &&
                                       !rule.before[w.needed_at][w.written_at];
                CHECK((is_beside || (is_made && is_needed)));
                side_by_side += is_beside && !is_needed;
            }
    }
    CHECK(tried > 5'000);
    CHECK(side_by_side > 50);
}

} // namespace this_test
