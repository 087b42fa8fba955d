// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/sharing/detail/chains.hpp>

#include "../concurrent_lives.hpp"
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/internal/buffer_slots.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "archetype.hpp"
#include "network.hpp"
#include "random_source.hpp"
#include "random_tasks.hpp"
#include "task_families.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using slots = std::vector<slot_id>;

namespace {

/// Step i reads `operands[i]` and defines value i.
snapshot program_of(std::vector<std::vector<int>> const& operands)
{
    return sequence(
        operands.size(), operands.size(), [&](auto s) -> auto& { return operands[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
}

} // namespace

TEST_CASE("one call plans a program, and edges without data count")
{
    std::vector<std::vector<int>> const operands{{}, {0}, {}, {2}}, none(4), edge{{}, {2}, {}, {}};
    auto defs = [](std::uint32_t n) { return std::vector{n}; };
    auto uses = [&](auto n) -> auto& { return operands[n]; };
    auto const apart = tasks(4, 4, [&](auto n) -> auto& { return none[n]; }, uses, defs);
    auto const one_behind_the_other = tasks(4, 4, [&](auto n) -> auto& { return edge[n]; }, uses, defs);
    CHECK(share_slots(apart, {.bytes = 8}).slots == 4);
    CHECK(share_slots(one_behind_the_other, {.bytes = 8}).slot_of == slots{0, 1, 0, 1});
    CHECK(
        share_slots(tasks(as_graph(4, [&](auto n) -> auto& { return edge[n]; }), 4, uses, defs), {.bytes = 8})
            .slots == 2);
}

TEST_CASE("a minimal program type is accepted")
{
    archetype::program const p(3);
    CHECK(share_slots(p, {.bytes = 8}));
}

TEST_CASE("views have their buffer's slot; external, unsized and 0-byte values have none")
{
    auto const p = program_of({{}, {0}, {1}, {2}, {3}});
    auto const plan = share_slots(
        p, {.bytes = std::vector<byte_count>{8, 8, 8, 0, no_size}, .alias_of = {-1, 0, -1, -1, -1}});
    CHECK(plan.slot_of == slots{0, 0, 1, no_slot, no_slot});
    CHECK(!share_slots(p, {.bytes = 8, .role = [](auto v) {
                               return v == 1 ? value_role::state : value_role::output;
                           }})); // a written state is a second version
    CHECK(share_slots(p, {.bytes = 8, .eligible = [](auto v) { return v != 1; }}).slot_of ==
          slots{0, no_slot, 0, 1, 0});
}

TEST_CASE("in-place pairs are taken unless in_place is off")
{
    auto const p = sequence(3, 3, [](std::uint32_t s, effect_sink& sink) {
        if (s != 0) {
            sink.use(s - 1);
            sink.may_overwrite(s - 1, s);
        }
        sink.def(s);
    });
    CHECK(share_slots(p, {.bytes = 8}).slots == 1);
    CHECK(share_slots(p, {.bytes = 8, .in_place = false}).slots == 2);
}

TEST_CASE("buffers touched by a step that takes no part keep slots of their own")
{
    auto const p = program_of({{}, {0}, {1}, {2}, {3}, {4}});
    auto const plan = share_slots(p, {.bytes = 8}, {.takes_part = [](auto s) { return s != 3; }});
    // 3 reads value 2 and defines value 3: the others share
    CHECK(plan.slot_of == slots{0, 1, 2, 3, 0, 1});
}

TEST_CASE("an operand of a phi is touched by the last step of the predecessor")
{
    std::vector<std::vector<int>> const next{{1}, {}};
    auto const p = tasks(
        2, 3, [&](auto n) -> auto& { return next[n]; },
        [](auto n, effect_sink& sink) {
            if (n == 0) {
                sink.def(0);
                sink.next_step();
                sink.def(1);
            } else {
                sink.use_at_end_of(0, 0);
                sink.def(2);
            }
        });
    CHECK(share_slots(p, {.bytes = 8}).slot_of == slots{0, 1, 0});
    CHECK(share_slots(p, {.bytes = 8}, {.takes_part = [](auto s) { return s != 1; }}).slots == 3);
}

TEST_CASE("the slot choice and the range limit are passed on, and an input needs no touch")
{
    auto const p = program_of({{}, {0}, {1}});
    auto const sizes = std::vector<byte_count>{8, 8, 16};
    CHECK(share_slots(p, {.bytes = sizes}).slots == 2);
    CHECK(share_slots(p, {.bytes = sizes}, {.choice = slot_choice::smallest_sufficient}).slots == 3);
    CHECK(share_slots(draw_family("nested", 300).program(), {.bytes = 8}, {.most_ranges = 1}).undecided != 0);
    auto const idle = sequence(1, 2, [](step_id, effect_sink& sink) { sink.def(0); });
    CHECK(share_slots(idle, {.bytes = 8}).slot_of == slots{0, no_slot});
    CHECK(
        share_slots(idle, {.bytes = 8, .role = std::vector{value_role::output, value_role::input}}).slot_of ==
        slots{0, 1});
}

TEST_CASE("a program with a second def has an error instead of a plan")
{
    auto const p = sequence(2, 1, [](step_id, effect_sink& s) { s.def(0); });
    auto const plan = share_slots(p, {.bytes = 8});
    REQUIRE(!plan);
    CHECK(plan.error().what == fault::several_defs);
    CHECK(plan.slots == 0);
}

TEST_CASE("hand-offs add to the order")
{
    auto const p = program_of({{}, {}});
    CHECK(share_slots(p, {.bytes = 8}).slots == 2);
    CHECK(share_slots(p, {.bytes = 8}, {.handoffs = {{0, 1}}}).slots == 1);
}

TEST_CASE("ResNet-50 needs five slots without in-place pairs")
{
    auto net = network::resnet50();
    plan_options values = net.options();
    values.in_place = false;
    values.role = value_role::intermediate;
    for (auto how : {slot_choice::most_shared, slot_choice::grow_largest})
        CHECK(share_slots(net.program(), values, {.choice = how}).slots == 5);
}

TEST_CASE("random programs: values in one slot may share by the rule or are one buffer")
{
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(20),
                                             .given = 3,
                                             .views = 20,
                                             .pools = 2,
                                             .alignments = 3,
                                             .shuffled = pick.below(2) == 0});
        sharing_rule const rule(tasks);
        auto const plan = share_slots(tasks.program(), tasks.options());
        REQUIRE(plan);
        for (value_id v = 0; v != tasks.values(); ++v) {
            if (plan.slot_of[v] == no_slot) continue;
            CHECK(plan.slot_bytes[plan.slot_of[v]] >= tasks.bytes[rule.root[v]]);
            CHECK(plan.slot_pool[plan.slot_of[v]] == tasks.pool[rule.root[v]]);
            for (value_id u = 0; u != v; ++u)
                if (plan.slot_of[u] == plan.slot_of[v])
                    REQUIRE((rule.root[u] == rule.root[v] || rule.may_share(u, v)));
        }
        auto const fewest =
            share_slots(tasks.program(), tasks.options(), {.strategy = slot_options::strategy_kind::fewest});
        CHECK(fewest.is_optimal());
        for (value_id v : fewest.antichain) {
            REQUIRE(v < tasks.values());
            CHECK(rule.root[v] == v);
            CHECK(fewest.slot_of[v] != no_slot);
            for (value_id u : fewest.antichain)
                if (u != v) CHECK(fewest.slot_of[u] != fewest.slot_of[v]);
        }
    }
}

TEST_CASE("each strategy returns the result of its algorithm, with the bytes and pools of every slot")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(20), .given = 3, .pools = 2, .shuffled = pick.below(2) == 0});
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        auto const lives = lives_of_each(tasks.program(), g, tasks.role);
        auto const conflicts = find_conflict_ranges(g, lives);
        auto with = [&](slot_strategy how) {
            return share_slots(g, lives, tasks.bytes, {.strategy = how, .pool = tasks.pool});
        };
        auto const tokens = with(slot_strategy::tokens);
        auto const chains = with(slot_strategy::chains);
        auto const fewest = with(slot_strategy::fewest);
        CHECK(tokens.slot_of ==
              share_by_tokens(g, lives, [&](buffer_id b) { return tasks.bytes[b]; }, {.pool = tasks.pool})
                  .slot_of);
        CHECK(chains.slot_of == share_in_chains(lives, conflicts, [&](buffer_id b) { return tasks.bytes[b]; },
                                                {.pool = tasks.pool})
                                    .slot_of);
        CHECK(fewest.slot_of ==
              fewest_slots(lives, conflicts, {.bytes = tasks.bytes, .pool = tasks.pool}).plan.slot_of);
        CHECK(fewest.is_optimal());
        for (auto const& plan : {tokens, chains, fewest}) {
            CHECK(fewest.slots <= plan.slots);
            std::vector<byte_count> largest(plan.slots);
            byte_count sum = 0;
            for (buffer_id v = 0; v != tasks.values(); ++v)
                if (plan.slot_of[v] != no_slot) {
                    CHECK(plan.slot_pool[plan.slot_of[v]] == tasks.pool[v]);
                    largest[plan.slot_of[v]] = larger(largest[plan.slot_of[v]], tasks.bytes[v]);
                }
            for (byte_count b : largest) sum += b;
            CHECK(plan.slot_bytes == largest);
            CHECK(plan.total_bytes == sum);
        }
        CHECK_THROWS_AS((void)share_slots(lives, conflicts, tasks.bytes, {}), precondition_error);
    }
}

} // namespace this_test
