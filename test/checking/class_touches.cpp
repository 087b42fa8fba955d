// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/step_order.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using steps = std::vector<step_id>;

steps listed(std::span<step_id const> row) { return {row.begin(), row.end()}; }

/// The touches of a program with sizes of 8, all that they refer to beside them.
struct scene {
    snapshot p;
    plan_options options;
    plan_demands asked;
    step_order order;
    class_touches touches;

    scene(snapshot program, plan_options wanted)
        : p(std::move(program)), options(std::move(wanted)), asked(demands(p, options)),
          order(order_of_steps(p, asked.role, {})), touches(p, asked, order)
    {
    }
    scene(scene const&) = delete;
};

} // namespace

TEST_CASE("a class is written first where nothing of it is read, and touched last where nothing follows")
{
    // 0 and its view 1; 2 is read by nobody; 3 is external.
    scene const s(sequence(4, 4,
                           [](step_id at, effect_sink& sink) {
                               if (at == 0) sink.def(0);
                               if (at == 1) sink.use(0), sink.def(1), sink.def(2);
                               if (at == 2) sink.use(1), sink.use(3);
                               if (at == 3) sink.use(0), sink.use_early(0);
                           }),
                  {.bytes = 8,
                   .role = std::vector{value_role::output, value_role::intermediate, value_role::input,
                                       value_role::external},
                   .alias_of = std::vector<value_id>{no_value, 0, no_value, no_value}});
    CHECK(s.order.fault); // 2 is given and written; the touches are what they are
    CHECK(listed(s.touches.begins()[0]) == steps{0});
    CHECK(listed(s.touches.ends()[0]) == steps{2, 3});
    CHECK(listed(s.touches.begins()[2]) == steps{1});
    CHECK(listed(s.touches.ends()[2]) == steps{1});
    CHECK(s.touches.ends()[1].empty()); // its root speaks for it
    CHECK(s.touches.ends()[3].empty());
    CHECK(s.touches.is_kept(0));
    CHECK(!s.touches.is_given(0));
    CHECK(s.touches.is_given(2));
}

TEST_CASE("what is left out comes after a first step, or before a last one")
{
    std::size_t left_out = 0;
    for (std::uint32_t seed = 0; seed != rounds(1'000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(
            roll, {.tasks = 1 + roll.below(12), .early = 30, .views = 40, .shuffled = seed % 2 == 0});
        if (seed % 3 == 0) mix_views(roll, tasks);
        sharing_rule const rule(tasks);
        scene const s(tasks.program(), tasks.options());
        REQUIRE(!s.order.fault);
        for (value_id r = 0; r != tasks.values(); ++r) {
            if (rule.root[r] != r || !s.asked.is_planned(r)) continue;
            auto const begins = listed(s.touches.begins()[r]), ends = listed(s.touches.ends()[r]);
            auto covered = [&](steps const& some, std::size_t at, bool above) {
                return std::any_of(some.begin(), some.end(), [&](step_id e) {
                    return e == at || (above ? rule.before[at][e] : rule.before[e][at]);
                });
            };
            std::vector<std::size_t> all = rule.late[r];
            all.insert(all.end(), rule.early[r].begin(), rule.early[r].end());
            if (!rule.is_given[r])
                for (std::size_t d : rule.defs[r]) CHECK(covered(begins, d, false));
            for (std::size_t t : all) CHECK(covered(ends, t, true));
            for (step_id e : ends) CHECK(std::find(all.begin(), all.end(), e) != all.end());
            for (step_id d : begins)
                CHECK(std::find(rule.defs[r].begin(), rule.defs[r].end(), d) != rule.defs[r].end());
            for (auto const& row : {begins, ends})
                CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
            left_out += all.size() - ends.size();
        }
    }
    CHECK(left_out > 500);
}

TEST_CASE("a step is done with what it reads early, or with the operand that it offers")
{
    memory_plan plan;
    plan.buffer_of = {0, 0, 0, 0};
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    auto scene_of = [](bool early, bool offers, std::vector<value_id> const& alias_of, byte_count first = 8) {
        return scene(sequence(2, 4,
                              [=](step_id at, effect_sink& sink) {
                                  if (at == 0) return sink.def(0), sink.def(1);
                                  if (early) sink.use_early(0);
                                  else sink.use(0);
                                  sink.def(2);
                                  sink.def(3);
                                  if (offers) sink.may_overwrite(0, 2);
                              }),
                     {.bytes = std::vector<byte_count>{first, 8, 8, 8}, .alias_of = alias_of});
    };
    std::vector<value_id> const none(4, no_value);
    auto over = [&](scene const& s, value_id u, value_id v) {
        return s.touches.hands_over(1, u, v, plan, true);
    };
    CHECK(over(scene_of(true, false, none), 0, 2));
    CHECK(!over(scene_of(false, false, none), 0, 2));
    CHECK(over(scene_of(false, true, none), 0, 2));
    CHECK(!over(scene_of(false, true, none), 0, 3));
    CHECK(over(scene_of(false, true, {no_value, no_value, 3, no_value}), 0, 3)); // what is offered shows 3
    CHECK(!over(scene_of(false, true, none), 2, 3));                             // it writes both
    CHECK(over(scene_of(false, true, none), 1, 2));                              // of which it reads nothing
    CHECK(!over(scene_of(false, true, none, 7), 0, 2));
    CHECK(over(scene_of(false, true, none, 9), 0, 2));
    CHECK(!scene_of(false, true, none).touches.hands_over(1, 0, 2, plan, false));
    plan.buffers.resize(2);
    plan.buffers[1].offset = 8;
    plan.buffer_of[2] = 1;
    CHECK(!over(scene_of(false, true, none), 0, 2));
}

TEST_CASE("what a step reads early counts among its operands of a class, if it reads another one late")
{
    // 1 is a view of 0; step 1 reads one early, one late or both, and offers 0 to 2.
    memory_plan plan;
    plan.buffer_of = {0, 0, 0};
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    auto over = [&](value_id early, value_id late) {
        scene const s(sequence(2, 3,
                               [=](step_id at, effect_sink& sink) {
                                   if (at == 0) return sink.use(0), sink.def(1);
                                   if (early != no_value) sink.use_early(early);
                                   if (late != no_value) sink.use(late);
                                   sink.def(2);
                                   sink.may_overwrite(0, 2);
                               }),
                      {.bytes = 8,
                       .role = {value_role::input, value_role::intermediate, value_role::output},
                       .alias_of = {-1, 0, -1}});
        return s.touches.hands_over(1, 0, 2, plan, true);
    };
    CHECK(!over(1, 0));
    CHECK(!over(0, 1));
    CHECK(!over(no_value, 1));
    CHECK(over(0, 0));
    CHECK(over(no_value, 0));
    CHECK(over(1, no_value));
}

} // namespace this_test
