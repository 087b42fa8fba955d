// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_concurrent_plan.hpp>

#include "../concurrent_oracle.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

/// Compares the checker with an oracle that runs the tasks in all orders and compares what every read finds.

namespace {

using namespace sublet;

/// Offsets of a plausible but unreliable planner: views at their roots, results often over operands, and
/// about every second class where the listed order allows it.
memory_plan arbitrary_plan(random_source& pick, random_tasks const& tasks, byte_count arena,
                           sharing_rule const& rule, std::vector<handoff> handoffs)
{
    memory_plan plan;
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = std::move(handoffs);
    plan.arena_bytes = std::vector<byte_count>(2, arena + 64);
    plan.buffer_of.assign(tasks.values(), no_buffer);
    std::vector<bool> is_planned(tasks.values(), true);
    std::vector<byte_count> where(tasks.values());
    for (value_id v = 0; v != tasks.values(); ++v) {
        bool const is_outside = has_role(tasks.role[v], value_role::external);
        if (is_outside || tasks.bytes[rule.root[v]] == 0) is_planned[rule.root[v]] = false;
    }
    for (value_id v = 0; v != tasks.values(); ++v) {
        auto const r = value_id::of(rule.root[v]);
        bool is_external = false;
        for (value_id u = 0; u != tasks.values(); ++u)
            is_external = is_external || (rule.root[u] == r && has_role(tasks.role[u], value_role::external));
        bool const is_there = !rule.defs[r].empty() || has_role(tasks.role[r], value_role::input);
        if (tasks.bytes[r] == 0 && !is_external && is_there) plan.empty.push_back({v, tasks.pool[r]});
    }
    unsigned const cells = static_cast<unsigned>(arena / 8);
    for (value_id v = 0; v != tasks.values(); ++v) {
        if (rule.root[v] != v || !is_planned[v]) continue;
        auto clashes = [&](byte_count at) {
            for (value_id u = 0; u != v; ++u)
                if (rule.root[u] == u && is_planned[u] && tasks.pool[u] == tasks.pool[v] &&
                    !rule.may_share(u, v) && at < where[u] + tasks.bytes[u] && where[u] < at + tasks.bytes[v])
                    return true;
            return false;
        };
        where[v] = 8 * pick.below(cells);
        if (pick.below(10) < 8)
            for (unsigned tries = 0; tries != 30 && clashes(where[v]); ++tries)
                where[v] = 8 * pick.below(cells);
        for (auto const& task : tasks.tasks)
            for (auto [in, out] : task.pairs)
                if (out == v && is_planned[rule.root[in]] && pick.below(10) < 6)
                    where[v] = where[rule.root[in]];
    }
    for (value_id v = 0; v != tasks.values(); ++v) {
        auto const r = value_id::of(rule.root[v]);
        if (!is_planned[r]) continue;
        plan.buffer_of[v] = buffer_id::of(plan.buffers.size());
        memory_plan::placed_buffer b;
        b.pool = tasks.pool[r];
        b.offset = where[r];
        plan.buffers.push_back(b);
    }
    return plan;
}

/// Some edges, without a cycle.
std::vector<handoff> draw_handoffs(random_source& pick, random_tasks const& tasks, unsigned most)
{
    std::vector<handoff> drawn;
    auto const n = static_cast<std::uint32_t>(tasks.tasks.size());
    for (unsigned i = pick.below(most + 1); i != 0; --i) {
        handoff h;
        h.from = pick.below(n);
        h.to = pick.below(n);
        if (h.from != h.to && !sharing_rule(tasks, drawn).before[h.to][h.from]) drawn.push_back(h);
    }
    return drawn;
}

random_tasks_shape small_shape(random_source& pick)
{
    random_tasks_shape shape;
    shape.tasks = 1 + pick.below(8);
    shape.back = pick.below(3) == 0 ? 3 : 0;
    shape.edges = pick.below(2) * 30;
    shape.early = pick.below(3) * 15;
    shape.views = pick.below(3) * 12;
    shape.pools = 1 + pick.below(2);
    shape.sizes = 3;
    shape.in_place = pick.below(3) * 25;
    shape.shuffled = pick.below(2) == 0;
    return shape;
}

} // namespace

TEST_CASE("the checker refuses what some order corrupts, and sharing by two inputs or two dead results")
{
    std::size_t sound = 0, wrong = 0, harmless = 0, taken_over = 0, handed_on = 0;
    for (std::uint32_t seed = 0; seed != rounds(20'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, small_shape(pick));
        auto const handoffs = draw_handoffs(pick, tasks, 2);
        sharing_rule const rule(tasks, handoffs);
        memory_plan const plan = arbitrary_plan(pick, tasks, 8 * (4 + pick.below(9)), rule, handoffs);
        concurrent_oracle const oracle(tasks, plan);

        // No read shows these faults.
        bool is_forbidden_anyway = false;
        for (value_id v = 0; v != tasks.values(); ++v)
            for (value_id u = 0; u != v; ++u)
                if (oracle.root(u) != oracle.root(v) && oracle.share_bytes(u, v) && !rule.may_share(u, v)) {
                    bool const both_dead =
                        oracle.is_only_written(oracle.root(u)) && oracle.is_only_written(oracle.root(v));
                    bool const both_given = rule.is_given[rule.root[u]] && rule.is_given[rule.root[v]];
                    is_forbidden_anyway = is_forbidden_anyway || both_dead || both_given;
                }
        bool const is_corrupted = oracle.has_corruption();
        verdict const valid = check_concurrent_plan(tasks.program(), plan, tasks.options());
        CHECK(bool{valid} == !(is_corrupted || is_forbidden_anyway));
        harmless += is_forbidden_anyway && !is_corrupted;
        if (!valid) {
            counterexample const why = valid.error();
            CAPTURE(why);
            CHECK(why.what == (rule.is_given[rule.root[why.value()]] && rule.is_given[rule.root[why.other()]]
                                   ? fault::clash
                                   : fault::overwritten));
            CHECK(oracle.confirms(why));
            ++wrong;
            continue;
        }
        ++sound;
        plan_options strict = tasks.options();
        strict.in_place = false;
        bool const is_refused = !check_concurrent_plan(tasks.program(), plan, strict);
        CHECK(concurrent_oracle(tasks, plan, false).has_corruption() == is_refused);
        taken_over += is_refused;
        memory_plan unordered = plan;
        unordered.handoffs.clear();
        handed_on += !check_concurrent_plan(tasks.program(), unordered, tasks.options());
    }
    // Each of these cases has to occur among the random plans.
    CHECK(sound > rounds(3'000));
    CHECK(wrong > rounds(3'000));
    CHECK(harmless > rounds(20));
    CHECK(taken_over > rounds(200));
    CHECK(handed_on > rounds(100));
}

TEST_CASE("on larger programs the checker refuses what the pairwise rule forbids")
{
    std::size_t sound = 0, wrong = 0;
    for (std::uint32_t seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks_shape shape = small_shape(pick);
        shape.tasks = 20 + pick.below(60);
        shape.sizes = 8;
        shape.in_place = 0;
        random_tasks tasks = draw_tasks(pick, shape);
        bool const has_mixed_views = seed % 4 == 0;
        if (has_mixed_views) mix_views(pick, tasks);
        auto const handoffs = draw_handoffs(pick, tasks, 1);
        sharing_rule const rule(tasks, handoffs);
        memory_plan const plan = arbitrary_plan(pick, tasks, 8 * (200 + pick.below(4000)), rule, handoffs);
        concurrent_oracle const oracle(tasks, plan);
        bool is_forbidden = false;
        for (value_id v = 0; v != tasks.values(); ++v)
            for (value_id u = 0; u != v; ++u)
                is_forbidden = is_forbidden || (oracle.root(u) != oracle.root(v) &&
                                                oracle.share_bytes(u, v) && !rule.may_share(u, v));
        verdict const valid = check_concurrent_plan(tasks.program(), plan, tasks.options());
        CHECK(bool{valid} == !is_forbidden);
        if (!valid && !has_mixed_views) CHECK(oracle.confirms(valid.error())); // one producer a class
        ++(valid ? sound : wrong);
    }
    CHECK(sound > 50);
    CHECK(wrong > 50);
}

TEST_CASE("with a guard a concurrent plan is sound if it is with larger values, else two are too close")
{
    std::size_t sound = 0, too_close = 0;
    for (std::uint32_t seed = 0; seed != rounds(12'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, small_shape(pick));
        auto const handoffs = draw_handoffs(pick, tasks, 2);
        sharing_rule const rule(tasks, handoffs);
        memory_plan const plan = arbitrary_plan(pick, tasks, 8 * (8 + pick.below(9)), rule, handoffs);
        if (!check_concurrent_plan(tasks.program(), plan, tasks.options())) continue;
        byte_count const guards[] = {8 + 8 * pick.below(2), 8 * pick.below(2)};
        plan_options options = tasks.options();
        options.pools = {{.guard = guards[0]}, {.guard = guards[1]}};
        random_tasks larger = tasks;
        for (value_id v = 0; v != tasks.values(); ++v)
            if (tasks.bytes[v] != 0) larger.bytes[v] += guards[tasks.pool[rule.root[v]]];
        memory_plan roomier = plan;
        for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool)
            roomier.arena_bytes[pool] += guards[pool];
        concurrent_oracle const oracle(larger, roomier);
        bool is_wrong = oracle.has_corruption();
        for (value_id v = 0; v != tasks.values(); ++v)
            for (value_id u = 0; u != v; ++u)
                if (oracle.root(u) != oracle.root(v) && oracle.share_bytes(u, v) && !rule.may_share(u, v))
                    is_wrong =
                        is_wrong ||
                        (oracle.is_only_written(oracle.root(u)) && oracle.is_only_written(oracle.root(v))) ||
                        (rule.is_given[rule.root[u]] && rule.is_given[rule.root[v]]);
        verdict const valid = check_concurrent_plan(tasks.program(), plan, options);
        CHECK(bool{valid} == !is_wrong);
        ++(valid ? sound : too_close);
        if (valid) continue;
        CHECK(valid.error().what == fault::too_close);
        auto const its = *valid.error().as<counterexample::overlap>();
        CHECK(its.end - its.begin < guards[its.pool]);
    }
    CHECK(sound > rounds(12'000) / 20);
    CHECK(too_close > rounds(12'000) / 20);
}

} // namespace this_test
