// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/stacking_of.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "operations.hpp"
#include "printed.hpp"
#include "random_source.hpp"
#include "random_tasks.hpp"
#include "rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Pairs of values that are kept apart, in different banks, in plans.

namespace this_test {

using namespace sublet;

namespace {

value_id root_of(random_tasks const& tasks, value_id v)
{
    while (tasks.alias_of[v] != no_value) v = tasks.alias_of[v];
    return v;
}

/// By root: the steps at which its storage is live, in the listed order, as the touches say.
std::vector<std::set<std::size_t>> live_steps(random_tasks const& tasks)
{
    std::size_t const n = tasks.values(), steps = std::max(tasks.tasks.size(), std::size_t{1});
    std::vector<std::size_t> first(n, steps), end(n, 0); // [first, end)
    std::vector<bool> is_input(n, false), is_output(n, false);
    for (value_id v = 0; v != n; ++v) {
        is_input[+root_of(tasks, v)] =
            is_input[+root_of(tasks, v)] || has_role(tasks.role[v], value_role::input);
        is_output[+root_of(tasks, v)] =
            is_output[+root_of(tasks, v)] || has_role(tasks.role[v], value_role::output);
    }
    for (std::size_t t = 0; t != tasks.tasks.size(); ++t) {
        auto touch = [&](value_id v, std::size_t to) {
            end[+root_of(tasks, v)] = std::max(end[+root_of(tasks, v)], to);
        };
        for (value_id v : tasks.tasks[t].uses) touch(v, t + 1);
        for (value_id v : tasks.tasks[t].early) touch(v, t);
        for (value_id v : tasks.tasks[t].defs) {
            touch(v, t + 1);
            first[+root_of(tasks, v)] = std::min(first[+root_of(tasks, v)], t);
        }
    }
    std::vector<std::set<std::size_t>> live(n);
    for (std::size_t r = 0; r != n; ++r) {
        if (is_input[r]) first[r] = 0, end[r] = std::max(end[r], std::size_t{1});
        if (is_output[r]) end[r] = steps;
        for (std::size_t t = first[r]; t < end[r]; ++t) live[r].insert(t);
    }
    return live;
}

std::set<byte_count> banks_of(byte_count offset, byte_count bytes, byte_count bank)
{
    std::set<byte_count> banks;
    for (byte_count at = offset; at != offset + bytes; ++at) banks.insert(at / bank);
    return banks;
}

/// The pairs with a step at which both are live, and a bank with bytes of both.
std::size_t broken_pairs(random_tasks const& tasks, memory_plan const& plan, plan_options const& options)
{
    auto const live = live_steps(tasks);
    std::size_t broken = 0;
    for (auto const& pair : options.apart) {
        value_id const a = root_of(tasks, pair.first), b = root_of(tasks, pair.second);
        if (plan.buffer_of[a] == no_buffer || plan.buffer_of[b] == no_buffer) continue;
        if (plan.pool_of(a) != plan.pool_of(b)) continue;
        byte_count const bank = options.pools[plan.pool_of(a)].bank;
        bool meet = false, share = false;
        for (std::size_t t : live[+a]) meet = meet || live[+b].count(t) != 0;
        auto const of_a = banks_of(plan.offset_of(a), tasks.bytes[a], bank);
        for (byte_count k : banks_of(plan.offset_of(b), tasks.bytes[b], bank))
            share = share || of_a.count(k) != 0;
        broken += meet && share;
    }
    return broken;
}

random_tasks draw(random_source& pick)
{
    return draw_tasks(pick, {.tasks = 1 + pick.below(14),
                             .early = pick.below(2) * 20,
                             .views = pick.below(2) * 20,
                             .pools = 1 + pick.below(2),
                             .alignments = 1 + 7 * pick.below(2),
                             .in_place = pick.below(2) * 60});
}

/// Pairs of what a step touches, and some others.
void draw_pairs(random_source& pick, random_tasks const& tasks, plan_options& options)
{
    auto add = [&](value_id v, value_id w) {
        value_id const a = root_of(tasks, v), b = root_of(tasks, w);
        bool const are_planned =
            !has_role(tasks.role[a], value_role::external) && !has_role(tasks.role[b], value_role::external);
        if (a != b && tasks.pool[a] == tasks.pool[b] && are_planned) options.apart.push_back({v, w});
    };
    for (random_tasks::task const& task : tasks.tasks) {
        std::vector<value_id> all = task.uses;
        all.insert(all.end(), task.defs.begin(), task.defs.end());
        auto const n = static_cast<unsigned>(all.size());
        if (n > 1 && pick.below(2) == 0) add(all[pick.below(n)], all[pick.below(n)]);
        if (!task.pairs.empty() && pick.below(3) == 0) add(task.pairs[0].first, task.pairs[0].second);
    }
    auto const values = static_cast<unsigned>(tasks.values());
    if (values != 0)
        for (unsigned left = pick.below(4); left != 0; --left) add(pick.below(values), pick.below(values));
}

} // namespace

TEST_CASE("plans for one order keep pairs in different banks, step by step, and the checker agrees")
{
    std::size_t higher = 0, wrong = 0, in_place = 0, kept_out = 0, pairs = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks const tasks = draw(pick);
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        options.pools.resize(2);
        auto const closer = plan_memory(p, options);
        REQUIRE(closer);
        for (pool_limits& pool : options.pools) pool.bank = 1 + 8 * pick.below(9);
        CHECK(plan_memory(p, options).plan == closer.plan); // banks do not matter without pairs
        draw_pairs(pick, tasks, options);
        pairs += options.apart.size();
        for (pool_limits& pool : options.pools)
            if (pick.below(4) == 0) pool.guard = pick.below(12);
        auto const planned = plan_memory(p, options);
        REQUIRE(planned);
        CHECK(broken_pairs(tasks, planned.plan, options) == 0);
        CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        higher += planned.report().arena_bytes > closer.report().arena_bytes;
        in_place += planned.in_place.size();
        for (memory_plan::in_place_gain const& gain : planned.in_place)
            for (auto const& pair : options.apart) {
                value_id const a = root_of(tasks, pair.first), b = root_of(tasks, pair.second);
                value_id const in = root_of(tasks, gain.in), out = root_of(tasks, gain.out);
                CHECK(!((a == in && b == out) || (a == out && b == in)));
            }
        kept_out += planned.in_place.size() < closer.in_place.size();
        for (pool_limits& pool : options.pools) pool.guard = 0;
        verdict const valid = check_plan(p, closer.plan, options);
        std::size_t const broken = broken_pairs(tasks, closer.plan, options);
        CHECK(bool{valid} == (broken == 0));
        if (!valid) CHECK(valid.error().what == fault::shared_bank);
        wrong += !valid;
        // One buffer elsewhere.
        memory_plan moved = planned.plan;
        if (moved.buffers.empty()) continue;
        buffer_id const b = pick.below(static_cast<unsigned>(moved.buffers.size()));
        if (moved.buffers[b].over != no_buffer) continue;
        moved.buffers[b].offset =
            pick.below(static_cast<unsigned>(moved.arena_bytes[moved.buffers[b].pool]) + 1);
        verdict const found = check_plan(p, moved, options);
        if (found) CHECK(broken_pairs(tasks, moved, options) == 0);
        else if (found.error().what == fault::shared_bank) CHECK(broken_pairs(tasks, moved, options) != 0);
    }
    CHECK(pairs > rounds(3000));
    CHECK(higher > rounds(3000) / 5);
    CHECK(wrong > rounds(3000) / 5);
    CHECK(in_place > rounds(3000) / 20);
    CHECK(kept_out > rounds(3000) / 40);
    MESSAGE(pairs << " pairs, " << higher << " higher, " << wrong << " broken without, " << kept_out
                  << " fewer in place");
}

namespace {

/// c = a + b, and out = c * a, in place where that is allowed.
listing<std::string> filter()
{
    listing<std::string> list;
    list.pools = {{.bank = 256}};
    list.step("load").make("a", {.bytes = 100}).make("b", {.bytes = 60});
    list.step("add").read("a").read("b").make("c", {.bytes = 60}).may_overwrite("b", "c");
    list.step("scale")
        .read("a")
        .read("c")
        .make("out", {.bytes = 60, .role = value_role::output})
        .may_overwrite("c", "out");
    return list;
}

} // namespace

TEST_CASE("a listing keeps operands apart, and a result is not written over what it is kept apart from")
{
    listing<std::string> list = filter();
    auto const closer = plan_memory(list);
    CHECK(closer.bytes() == 160);
    CHECK(closer.in_place.size() == 2);
    list.apart("a", "b");
    list.apart("c", "a");
    auto const planned = plan_memory(list);
    REQUIRE(planned);
    CHECK(planned.bytes() == 316); // a or what is joined of b, c and out is in a bank of its own
    CHECK(planned.in_place.size() == 2);
    CHECK(planned.report().lower_bound_bytes == 160);
    CHECK(printed(check_plan(list.program(), closer.plan, list.options())) ==
          "values 0 and 1 are both alive at position 0, and are to be kept apart, with bytes in one bank, "
          "bytes "
          "[0, 256) of pool 0");
    list.apart("c", "b"); // both live while c is written
    auto const written = plan_memory(list);
    REQUIRE(written);
    CHECK(written.in_place.size() == 1);
    CHECK(written.in_place[0].in == list.id("c"));
    CHECK(!(written.offset_of("c") / 256 == written.offset_of("b") / 256));
    list.in_place = false;
    CHECK(plan_memory(list).in_place.empty());
    list.in_place = true;
    CHECK(order(list).order.size() == 3);
    CHECK(fits(written.plan, list.program(), list.options()));
    CHECK(printed(fits(closer.plan, list.program(), list.options()).error()).find("one bank") !=
          std::string::npos);
    list.pools[0].capacity = 256;
    CHECK(failure_of(plan_memory(list)).find("and its capacity is 256") != std::string::npos);
}

TEST_CASE("the stage that joins buffers in place keeps pairs apart, and that for every path refuses them")
{
    listing<std::string> list = filter();
    auto const p = list.program();
    plan_options options = list.options();
    auto joined = [&] { return take_in_place(p, {0, 1, 2}, gather_buffers(lifetimes(p), options)); };
    CHECK(joined().in_place.size() == 2);
    options.apart = {{1, 2}};
    CHECK(joined().in_place.size() == 1);
    auto refusal = [](auto call) { return thrown_by<precondition_error>(call, "accepted"); };
    CHECK(refusal([&] {
              static_cast<void>(take_in_place(p, live_range_lists{}, table<step_id, position_id>{},
                                              gather_buffers(lifetimes(p), options)));
          }) == "sublet: take_in_place() of every path keeps no values apart in banks");
    options.apart = {{1, 4}};
    CHECK(refusal([&] { static_cast<void>(joined()); }) ==
          "sublet: values 1 and 4 are kept apart, but there are only 4 values");
}

TEST_CASE("a view stands for its root, and values in two pools of their choice are apart")
{
    listing<std::string> list = filter();
    list.step("cut")
        .read("out")
        .view("part", "out", 8, {.bytes = 8})
        .make("end", {.bytes = 8})
        .only_views(false);
    list.apart("part", "end");
    auto const planned = plan_memory(list);
    REQUIRE(planned);
    CHECK(planned.offset_of("end") / 256 != planned.offset_of("out") / 256);

    listing<std::string> two = filter();
    two.pools = {{.capacity = 160, .bank = 256}, {.bank = 256}};
    two.may_lie_in("b", 0);
    two.may_lie_in("b", 1, 5);
    two.apart("a", "b");
    auto options = two.options();
    options.pool_choices = {{two.id("b"), 1, 5}};
    auto const chosen = plan_memory(two.program(), options);
    REQUIRE(chosen);
    CHECK(chosen.plan.pool_of(two.id("b")) == 1);
}

TEST_CASE("pairs that cannot be kept apart are refused with their numbers, and so is a call that keeps none")
{
    auto planned = [](auto change) {
        auto list = filter();
        change(list);
        return thrown_by<precondition_error>([&] { static_cast<void>(plan_memory(list)); }, "accepted");
    };
    CHECK(planned([](auto& list) { list.apart("a", "b"); }) == "accepted");
    CHECK(planned([](auto& list) { list.apart("a", "a"); }) == "sublet: value 0 is kept apart from itself");
    CHECK(planned([](auto& list) {
              list.facts("far", {.bytes = 8, .pool = 1});
              list.pools.push_back({});
              list.apart("a", "far");
          }) == "sublet: value 0 is in pool 0, and is kept apart from value 4, which is in pool 1");
    CHECK(planned([](auto& list) {
              list.facts("screen", {.bytes = 8, .role = value_role::external});
              list.apart("a", "screen");
          }) == "sublet: value 4 is kept apart from value 0, and has storage of its own");
    CHECK(planned([](auto& list) {
              list.step().read("a").make("unknown", {.bytes = no_size});
              list.apart("unknown", "a");
          }) == "sublet: value 4 is kept apart from value 0, and its size is unknown");
    CHECK(planned([](auto& list) {
              list.step().view("part", "out", 0, {.bytes = 8});
              list.step().view("other", "out", 8, {.bytes = 8});
              list.apart("part", "other");
          }) == "sublet: values 4 and 5 are kept apart, and are parts of the storage of value 3");
    CHECK(planned([](auto& list) {
              list.facts("before", {.bytes = 60});
              list.carries("out", "before");
              list.apart("a", "before");
          }) == "sublet: value 4 is kept apart from value 0, and is carried into the next round");
    CHECK(planned([](auto& list) {
              list.pools[0].bank = 0;
              list.apart("a", "b");
          }) == "sublet: the banks of pool 0 have 0 bytes");
    CHECK(planned([](auto& list) {
              list.pools[0].bank = (byte_count{1} << 62) - 99;
              list.apart("a", "b");
          }) ==
          "sublet: value 0 has 100 bytes, and whole banks of 4611686018427387805 bytes hold it only beyond "
          "62 bits");
    CHECK(planned([](auto& list) {
              list.facts("a", {.pinned = 0});
              list.facts("b", {.pinned = 128});
              list.apart("a", "b");
          }) == "sublet: values 0 and 1 are kept apart, and are pinned at 0 and 128, into one bank");
    CHECK(planned([](auto& list) {
              list.facts("a", {.pinned = 0});
              list.facts("b", {.pinned = 256});
              list.apart("a", "b");
          }) == "accepted");
    CHECK(planned([](auto& list) {
              list.pools[0].page = 16;
              list.apart("a", "b");
          }) == "sublet: pool 0 has pages and banks: one of these, please");

    auto list = filter();
    auto const closer = plan_memory(list);
    memory_plan const plan = closer.plan;
    list.apart("b", "a");
    auto const p = list.program();
    auto const all = list.options();
    auto refusal = [](auto call) { return thrown_by<precondition_error>(call, "accepted"); };
    plan_options few = all;
    few.apart = {{0, 4}};
    for (auto call :
         {+[](snapshot const& its, plan_options const& of) { static_cast<void>(plan_memory(its, of)); },
          +[](snapshot const& its, plan_options const& of) {
              static_cast<void>(check_plan(its, memory_plan{.buffer_of = {0}}, of));
          }})
        CHECK(refusal([&] { call(p, few); }) ==
              "sublet: values 0 and 4 are kept apart, but there are only 4 values");
    few.apart = {{0, 0}};
    CHECK(refusal([&] { static_cast<void>(check_plan(p, plan, few)); }) ==
          "sublet: values 0 and 0 are kept apart, and are parts of one storage");
    few.apart = {{0, 1}};
    few.carried = {{0, 0}};
    CHECK(refusal([&] {
              static_cast<void>(check_plan(p,
                                           plan_memory(p,
                                                       [&] {
                                                           plan_options one = few;
                                                           one.apart.clear();
                                                           return one;
                                                       }())
                                               .plan,
                                           few));
          }) == "sublet: value 0 is kept apart from another, and carried into the next round");
    few.carried.clear();
    few.role = std::vector<value_role>{value_role::external, {}, {}, value_role::output};
    few.apart.clear();
    memory_plan const without = plan_memory(p, few).plan;
    few.apart = {{1, 0}};
    CHECK(refusal([&] { static_cast<void>(check_plan(p, without, few)); }) ==
          "sublet: value 0 is kept apart from another, and no plan has storage for it");

    CHECK(refusal([&] { static_cast<void>(plan_concurrent(list)); }) ==
          "sublet: plan_concurrent does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(plan_with_handoffs(list)); }) ==
          "sublet: plan_with_handoffs does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(plan_flow(p, all)); }) ==
          "sublet: plan_flow does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(advise_memory(list)); }) ==
          "sublet: advise_memory does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(share_slots(list)); }) ==
          "sublet: share_slots does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(schedules(list)); }) ==
          "sublet: schedules does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(versions(p, all)); }) ==
          "sublet: versions does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(stacking_of(p, plan, all)); }) ==
          "sublet: stacking_of does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(check_flow_plan(p, plan, all)); }) ==
          "sublet: check_flow_plan does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(check_concurrent_plan(p, plan, all)); }) ==
          "sublet: check_concurrent_plan does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(check_schedule(p, {}, all, {})); }) ==
          "sublet: check_schedule does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(plan_nested(program_tree(p), {all})); }) ==
          "sublet: a tree of programs does not keep values 1 and 0 apart in banks");
    CHECK(refusal([&] { static_cast<void>(plan_symbolic(list, {.bytes = 64, .dims = {{"n", 1, 4}}})); }) ==
          "sublet: a plan for every shape keeps no values apart in banks");
    list.previous = closer;
    CHECK(refusal([&] { static_cast<void>(plan_memory(list)); }) ==
          "sublet: plan_memory with a previous plan does not keep values 1 and 0 apart in banks");
}

} // namespace this_test
