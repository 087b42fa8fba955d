// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/listing.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>

#include "affine_bytes.hpp"
#include "concurrent_oracle.hpp"
#include "operations.hpp"
#include "printed.hpp"
#include "random_source.hpp"
#include "random_tasks.hpp"
#include "rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

// Rules between neighbours, in plans: guards, reserved ranges, pages; and the alignment of a base.

namespace this_test {

using namespace sublet;

namespace {

/// Whether two buffers that live together, and share no storage in place, are closer than the guard.
bool is_too_close(memory_plan const& plan, byte_count guard)
{
    auto host = [&](buffer_id b) {
        while (plan.buffers[b].over != no_buffer) b = plan.buffers[b].over;
        return b;
    };
    for (buffer_id a = 0; a != plan.buffers.size(); ++a)
        for (buffer_id b = 0; b != a; ++b) {
            memory_plan::placed_buffer const &x = plan.buffers[a], &y = plan.buffers[b];
            bool const meet = x.life.first < y.life.last && y.life.first < x.life.last;
            if (x.pool != y.pool || !meet || host(a) == host(b)) continue;
            if (x.offset < y.offset + y.size + guard && y.offset < x.offset + x.size + guard) return true;
        }
    return false;
}

/// Whether some order of the tasks corrupts values that are larger by the guard.
bool is_corrupted(random_tasks tasks, memory_plan plan, byte_count guard)
{
    for (value_id v = 0; v != tasks.values(); ++v) tasks.bytes[v] += tasks.bytes[v] != 0 ? guard : 0;
    for (byte_count& bytes : plan.arena_bytes) bytes += guard;
    return concurrent_oracle(tasks, plan).has_corruption();
}

random_tasks draw(random_source& pick, unsigned most)
{
    return draw_tasks(pick, {.tasks = 1 + pick.below(most),
                             .early = pick.below(2) * 20,
                             .views = pick.below(2) * 20,
                             .pools = 1 + pick.below(2),
                             .alignments = 1 + 7 * pick.below(2),
                             .in_place = pick.below(2) * 50});
}

} // namespace

TEST_CASE("plans for one order keep a guard, also when they are planned again, and bounds stay bounds")
{
    std::size_t above = 0, moved = 0, near = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks const tasks = draw(pick, 14);
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        options.pools.resize(2);
        auto const closer = plan_memory(p, options);
        REQUIRE(closer);
        byte_count const guard = 1 + pick.below(24);
        for (pool_limits& pool : options.pools) pool.guard = guard;
        auto const planned = plan_memory(p, options);
        REQUIRE(planned);
        CHECK(!is_too_close(planned.plan, guard));
        CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        CHECK(planned.report().lower_bound_bytes >= closer.report().lower_bound_bytes);
        above += planned.report().arena_bytes > closer.report().arena_bytes;
        verdict const of_closer = check_plan(p, closer.plan, options);
        CHECK(bool{of_closer} == !is_too_close(closer.plan, guard));

        options.previous = closer.plan; // its places are too close: what moves names that
        options.keep_within = 0.5;
        auto const again = plan_memory(p, options);
        REQUIRE(again);
        CHECK(!is_too_close(again.plan, guard));
        moved += again.report().moved.size();
        for (counterexample const& why : again.report().moved) near += why.what == fault::too_close;
        options.previous = planned.plan;
        options.keep_within = 0;
        CHECK(plan_memory(p, options).plan.buffers == planned.plan.buffers);
    }
    CHECK(above > rounds(1500) / 3);
    CHECK(moved > rounds(1500) / 3);
    CHECK(near > rounds(1500) / 20);
}

TEST_CASE("plans for every schedule keep a guard, and so do plans with hand-offs")
{
    std::size_t above = 0, waiting = 0, near = 0, split = 0;
    for (std::uint32_t seed = 0; seed != rounds(800); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks const tasks = draw(pick, 8);
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        options.pools.resize(2);
        auto const closer = plan_concurrent(p, options);
        REQUIRE(closer);
        byte_count const guard = 8 + 8 * pick.below(3);
        for (pool_limits& pool : options.pools) pool.guard = guard;
        auto check = [&](planned_memory const& planned) {
            REQUIRE(planned);
            CHECK(!is_corrupted(tasks, planned.plan, guard));
            CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        };
        auto const planned = plan_concurrent(p, options);
        check(planned);
        above += planned.report().arena_bytes > closer.report().arena_bytes;
        check(plan_concurrent(p, options, {.strategy = concurrent_options::strategy_kind::slots}));
        auto const waits = plan_with_handoffs(p, options, {.minimum_gain = 0});
        check(waits);
        waiting += !waits.plan.handoffs.empty();
        check(plan_with_handoffs(p, options, {.workers = 1}));
        options.previous = closer.plan;
        auto const again = plan_concurrent(p, options);
        check(again);
        for (counterexample const& why : again.report().moved) near += why.what == fault::too_close;
        options.previous = {};
        for (pool_limits& pool : options.pools) pool.largest_block = 64 + 8 * pick.below(4);
        auto const blocks = plan_concurrent(p, options);
        check(blocks);
        split += blocks.plan.blocks.size() > 2;
    }
    CHECK(above > rounds(800) / 3);
    CHECK(waiting > rounds(800) / 20);
    CHECK(near > rounds(800) / 40);
    CHECK(split > rounds(800) / 20);
}

TEST_CASE("a listing says the guard of a pool, and the sentence says how close two values are")
{
    listing<std::string> list;
    list.step("load").make("a", {.bytes = 64});
    list.step("blur").read("a").make("b", {.bytes = 64});
    list.step("mix").read("a").read("b").make("c", {.bytes = 64, .role = value_role::output});
    auto const closer = plan_memory(list);
    CHECK(closer.bytes() == 192);
    list.pools = {{.guard = 32}};
    auto const planned = plan_memory(list);
    CHECK(planned.bytes() == 256);
    CHECK(planned.report().lower_bound_bytes == 256);
    CHECK(plan_concurrent(list).bytes() == 256);
    CHECK(plan_concurrent(list).report().lower_bound_bytes == 256);
    CHECK(plan_with_handoffs(list).bytes() == 256);
    verdict const valid = check_plan(list.program(), closer.plan, list.options());
    REQUIRE(!valid);
    CHECK(printed(valid.error()) ==
          "values 0 and 1 are both alive at position 1, and only 0 bytes of pool 0 lie "
          "between them, fewer than its guard");
    list.pools[0].capacity = 255;
    CHECK(failure_of(plan_memory(list)) == "the arena of pool 0 needs 256 bytes and its capacity is 255");
}

TEST_CASE("nested programs keep the guard of the root, and plans for every shape refuse one by name")
{
    snapshot const p = op_list(3, {{}, {0}, {0, 1}}, {{0}, {1}, {2}});
    plan_options const guarded{.bytes = 64, .pools = {{.guard = 32}}};
    CHECK(plan_flow(p, guarded).bytes() == 256);
    CHECK(plan_nested(program_tree(p), {guarded}).bytes() == 256);
    auto refused = [](auto call) { return thrown_by<precondition_error>(call, "not refused"); };
    symbolic_options const by_shape{
        .bytes = affine_bytes{64, 8}, .dims = {{"N", 1, 4}}, .pools = {{.guard = 1}}};
    char const* const sentence = "sublet: pool 0 has a guard, and a plan for every shape keeps none";
    CHECK(refused([&] { (void)plan_symbolic(p, by_shape); }) == sentence);
    symbolic_options without = by_shape;
    without.pools.clear();
    auto const planned = plan_symbolic(p, without);
    REQUIRE(planned);
    CHECK(refused([&] { (void)check_plan(p, planned.plan, by_shape); }) == sentence);
}

// --- reserved --------------------------------------------------------------------------------------------

namespace {

bool is_in_reserved(memory_plan const& plan, table<pool_id, pool_limits> const& pools)
{
    for (memory_plan::placed_buffer const& b : plan.buffers)
        for (auto range : pools[b.pool].reserved)
            if (b.offset < range.second + pools[b.pool].guard &&
                range.first < b.offset + b.size + pools[b.pool].guard && range.first < range.second)
                return true;
    return false;
}

} // namespace

TEST_CASE("plans for one order and for control flow keep out of reserved ranges, also when planned again")
{
    std::size_t above = 0, found = 0, moved = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks tasks = draw(pick, 14);
        for (random_tasks::task& task : tasks.tasks) task.next.clear();
        for (node_id n = 1; n < tasks.tasks.size(); ++n) tasks.tasks[n - 1].next = {n};
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        options.pools.resize(2);
        auto const before = plan_memory(p, options);
        REQUIRE(before);
        for (pool_limits& pool : options.pools) {
            pool.guard = pick.below(3) == 0 ? pick.below(16) : 0;
            for (unsigned n = pick.below(4); n != 0; --n) {
                byte_count const begin = pick.below(200);
                pool.reserved.push_back({begin, begin + pick.below(60)});
            }
        }
        auto check = [&](planned_memory const& planned) {
            REQUIRE(planned);
            CHECK(!is_in_reserved(planned.plan, options.pools));
            CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
            table<pool_id, byte_count> top(planned.plan.arena_bytes.size(), 0);
            for (memory_plan::placed_buffer const& b : planned.plan.buffers)
                top[b.pool] = std::max(top[b.pool], b.offset + b.size);
            CHECK(planned.plan.arena_bytes == top);
        };
        auto const planned = plan_memory(p, options);
        check(planned);
        above += planned.report().arena_bytes > before.report().arena_bytes;
        check(plan_flow(p, options));
        verdict const of_before = check_plan(p, before.plan, options);
        if (is_in_reserved(before.plan, options.pools)) {
            REQUIRE(!of_before);
            ++found;
            CHECK(of_before.error().what == fault::in_reserved);
        }
        options.previous = before.plan;
        options.keep_within = 0.5;
        auto const again = plan_memory(p, options);
        check(again);
        for (counterexample const& why : again.report().moved) moved += why.what == fault::in_reserved;
        options.previous = planned.plan;
        options.keep_within = 0;
        CHECK(plan_memory(p, options).plan.buffers == planned.plan.buffers);
    }
    CHECK(above > rounds(1500) / 4);
    CHECK(found > rounds(1500) / 4);
    CHECK(moved > rounds(1500) / 10);
}

TEST_CASE(
    "a value in a reserved range is named with pool and range, and other planners refuse ranges by name")
{
    listing<std::string> list;
    list.step("load").make("a", {.bytes = 64});
    list.step("blur").read("a").make("b", {.bytes = 64, .role = value_role::output});
    auto const before = plan_memory(list);
    list.pools = {{.reserved = {{32, 96}}}};
    CHECK(plan_memory(list).bytes() == 224);
    CHECK(plan_flow(list).bytes() == 224);
    CHECK(printed(check_plan(list.program(), before.plan, list.options()).error()) ==
          "value 0 lies at offset 0 of pool 0, in or too close to bytes [32, 96), which are reserved");
    CHECK(advise_memory(list).pools[0].least != 0);
    auto refused = [](auto call) { return thrown_by<precondition_error>(call, "not refused"); };
    CHECK(refused([&] { (void)plan_concurrent(list); }) ==
          "sublet: pool 0 has reserved bytes, and plan_concurrent() does not keep them free");
    CHECK(refused([&] { (void)plan_with_handoffs(list); }) ==
          "sublet: pool 0 has reserved bytes, and plan_with_handoffs() does not keep them free");
    CHECK(refused([&] {
              (void)plan_symbolic(
                  list.program(),
                  {.bytes = affine_bytes{8, 8}, .dims = {{"N", 1, 2}}, .pools = {{.reserved = {{0, 1}}}}});
          }) == "sublet: pool 0 has reserved bytes, and plan_symbolic() does not keep them free");
    list.pools[0].capacity = 223;
    CHECK(failure_of(plan_memory(list)) == "the arena of pool 0 needs 224 bytes and its capacity is 223");
}

// --- pages -----------------------------------------------------------------------------------------------

namespace {

bool shares_page(memory_plan const& plan, std::vector<std::uint32_t> const& kind,
                 table<pool_id, pool_limits> const& pools)
{
    for (memory_plan::placed_buffer const& x : plan.buffers)
        for (memory_plan::placed_buffer const& y : plan.buffers) {
            byte_count const page = pools[x.pool].page;
            bool const meet = x.life.first < y.life.last && y.life.first < x.life.last;
            if (x.pool == y.pool && meet && kind[x.root] != kind[y.root] &&
                x.offset / page <= (y.offset + y.size - 1) / page &&
                y.offset / page <= (x.offset + x.size - 1) / page)
                return true;
        }
    return false;
}

} // namespace

TEST_CASE("plans for one order keep kinds in pages of their own, and the checker agrees with all pairs")
{
    std::size_t higher = 0, wrong = 0, in_place = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks const tasks = draw(pick, 14);
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        std::vector<std::uint32_t> kind(tasks.values());
        for (value_id v = 0; v != tasks.values(); ++v)
            kind[v] = tasks.alias_of[v] == no_value ? pick.below(2) : kind[tasks.alias_of[v]];
        options.kind = kind;
        options.pools.resize(2);
        auto const closer = plan_memory(p, options); // kinds do not matter without pages
        REQUIRE(closer);
        options.kind = std::uint32_t{0};
        CHECK(plan_memory(p, options).plan == closer.plan);
        options.kind = kind;
        for (pool_limits& pool : options.pools) {
            pool.page = 8 + 8 * pick.below(8);
            if (pick.below(4) == 0) pool.guard = pick.below(12);
        }
        auto const planned = plan_memory(p, options);
        REQUIRE(planned);
        CHECK(!shares_page(planned.plan, kind, options.pools));
        CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        higher += planned.report().arena_bytes > closer.report().arena_bytes;
        for (memory_plan::in_place_gain const& gain : planned.in_place)
            in_place += kind[gain.in] == kind[gain.out];
        for (pool_limits& pool : options.pools) pool.guard = 0;
        verdict const valid = check_plan(p, closer.plan, options);
        bool const is_shared = shares_page(closer.plan, kind, options.pools);
        if (closer.in_place.empty()) CHECK(bool{valid} == !is_shared);
        if (!valid) CHECK(valid.error().what == fault::shared_page);
        wrong += !valid;
    }
    CHECK(higher > rounds(2000) / 4);
    CHECK(wrong > rounds(2000) / 4);
    CHECK(in_place > rounds(2000) / 20);
}

TEST_CASE(
    "a listing says kinds, views have that of their root, and planners without pages refuse them by name")
{
    listing<std::string> list;
    list.step("draw").make("image", {.bytes = 1000, .kind = 1});
    list.step("copy").read("image").make("buffer", {.bytes = 500});
    list.step("mix").read("image").read("buffer").make("out", {.bytes = 100, .role = value_role::output});
    CHECK(plan_memory(list).bytes() == 1600);
    list.pools = {{.page = 1024}};
    auto const planned = plan_memory(list);
    REQUIRE(planned);
    CHECK(planned.bytes() == 1624); // the image has a page of its own
    CHECK(planned.report().lower_bound_bytes == 1600);
    memory_plan wrong = planned.plan;
    for (memory_plan::placed_buffer& b : wrong.buffers)
        if (b.size == 500) b.offset = 1010;
    CHECK(!check_plan(list.program(), wrong, list.options()));
    auto at = [&](byte_count image, byte_count buffer, byte_count out) {
        memory_plan moved = planned.plan;
        for (memory_plan::placed_buffer& b : moved.buffers)
            b.offset = b.size == 1000 ? image : b.size == 500 ? buffer : out;
        return printed(check_plan(list.program(), moved, list.options()));
    };
    CHECK(at(0, 1024, 1524) == "");
    CHECK(at(600, 100, 0) == "values 0 and 1 are both alive at position 1, and are of different kinds, with "
                             "bytes in one page, bytes [0, 1024) of pool 0");
    auto refused = [](auto call) { return thrown_by<precondition_error>(call, "not refused"); };
    CHECK(refused([&] { (void)plan_concurrent(list); }) ==
          "sublet: pool 0 has pages, and plan_concurrent() keeps none");
    CHECK(refused([&] { (void)plan_with_handoffs(list); }) ==
          "sublet: pool 0 has pages, and plan_with_handoffs() keeps none");
    CHECK(refused([&] { (void)plan_flow(list); }) == "sublet: pool 0 has pages, and plan_flow() keeps none");
    CHECK(refused([&] { (void)plan_nested(program_tree(list.program()), {list.options()}); }) ==
          "sublet: pool 0 has pages, and plan_nested() keeps none");
    CHECK(refused([&] {
              (void)plan_symbolic(list.program(), {.bytes = formula(8), .pools = {{.page = 2}}});
          }) == "sublet: pool 0 has pages, and plan_symbolic() keeps none");
    CHECK(refused([&] { (void)check_concurrent_plan(list.program(), planned.plan, list.options()); }) ==
          "sublet: pool 0 has pages, and check_concurrent_plan() checks none");
    CHECK(refused([&] { (void)check_flow_plan(list.program(), planned.plan, list.options()); }) ==
          "sublet: pool 0 has pages, and check_flow_plan() checks none");
    list.previous = planned;
    CHECK(refused([&] { (void)plan_memory(list); }) ==
          "sublet: pool 0 has pages, and plan_memory() with a previous plan keeps none");
    snapshot const viewed = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        else sink.use(0), sink.view(1);
    });
    plan_options const unlike{.bytes = 8,
                              .alias_of = std::vector<value_id>{no_value, 0},
                              .kind = std::vector<std::uint32_t>{1, 2},
                              .check = false};
    CHECK(failure_of(plan_memory(viewed, unlike)) ==
          "value 1 is a view of value 0 of kind 2, but that is of kind 1");
    plan_options said = unlike;
    said.kind = std::vector<std::uint32_t>{1, 0};
    auto const with_view = plan_memory(viewed, said);
    CHECK(with_view);
    CHECK(printed(check_plan(viewed, with_view.plan, unlike)) ==
          "value 1 is a view of value 0 of kind 2, but that is of kind 1");
}

// --- base alignment --------------------------------------------------------------------------------------

TEST_CASE("the base of a pool has the alignments of all of its buffers and its own, in plans of every kind")
{
    listing<std::string> list;
    list.pools = {{.alignment = 64}, {.alignment = 6}, {}};
    list.step("load").make("a", {.bytes = 64, .alignment = 48}).make("b", {.bytes = 8, .pool = 1});
    list.step("mix").read("a").read("b").make("c", {.bytes = 64, .role = value_role::output, .pool = 2});
    auto check = [](memory_plan const& plan) {
        CHECK(plan.base_alignment(0) == 192);
        CHECK(plan.base_alignment(1) == 6);
        CHECK(plan.base_alignment(2) == 1);
        CHECK(plan.base_alignment(3) == 1); // no buffer is there
    };
    check(plan_memory(list).plan);
    check(plan_concurrent(list).plan);
    check(plan_with_handoffs(list).plan);
    check(plan_flow(list).plan);
    check(plan_nested(program_tree(list.program()), {list.options()}).plan);
    check(fits(plan_memory(list).plan, list.program(), list.options()).plan);
    symbolic_options const by_shape{.bytes = {formula(64), formula(8), formula(64)},
                                    .alignment = list.options().alignment,
                                    .pool = list.options().pool,
                                    .pools = list.pools};
    auto const any = plan_symbolic(list.program(), by_shape);
    REQUIRE(any);
    check(any.plan.at({}));
    // A base in one memory is one for all of its buffers.
    auto const bases = place(plan_memory(list).plan, {byte_count{192}, no_offset, no_offset});
    REQUIRE(bases);
    CHECK(bases.offset[1] % 6 == 0);
    CHECK(!place(plan_memory(list).plan, {byte_count{64}, no_offset, no_offset}));
}

TEST_CASE(
    "random plans: base and offset of each value are multiples of its alignment and of that of its pool")
{
    std::size_t larger_than_own = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed + first_seed())};
        random_tasks const tasks = draw(pick, 12);
        snapshot const p = tasks.program();
        plan_options options = tasks.options();
        options.pools = {{.alignment = 1 + pick.below(12)}, {.alignment = 1 + pick.below(12)}};
        for (bool in_order : {false, true}) {
            memory_plan const plan =
                in_order ? plan_memory(p, options).plan : plan_concurrent(p, options).plan;
            for (memory_plan::placed_buffer const& b : plan.buffers) {
                byte_count const base = plan.base_alignment(b.pool);
                for (byte_count alignment : {tasks.alignment[b.root], options.pools[b.pool].alignment}) {
                    CHECK(base % alignment == 0);
                    CHECK((base + b.offset) % alignment == 0);
                }
                larger_than_own += base > tasks.alignment[b.root];
            }
        }
    }
    CHECK(larger_than_own > rounds(300));
}

} // namespace this_test
