// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan_memory.hpp>

#include <sublet/checking/check_plan.hpp>

#include "archetype.hpp"
#include "counted_heap.hpp"
#include "operations.hpp"
#include "printed.hpp"

#include <doctest/doctest.h>
#include <sstream>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

//     a ─► b ─► c ─► d        each read once, by the next
snapshot const chain = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});

} // namespace

TEST_CASE("a chain needs two adjacent values at a time")
{
    auto planned = plan_memory(chain, {.bytes = {64, 32, 16, 48}});
    CHECK(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().buffers == 4);
    CHECK(planned.report().naive_bytes == 160);
    CHECK(planned.report().lower_bound_bytes == 96);
    CHECK(planned.report().arena_bytes == 96);
    CHECK(planned.report().peak_position == 1);
    CHECK(planned.report().gap() == 0);
    CHECK(planned.report().largest == std::vector<value_id>{0, 3, 1, 2});
    CHECK(planned.plan.offset_of(0) == planned.plan.offset_of(3));
}

TEST_CASE("the five largest buffers are listed by size, and equal ones by their roots")
{
    snapshot const seven = op_list(7, {{}, {}, {}, {}, {}, {}, {}}, {{0}, {1}, {2}, {3}, {4}, {5}, {6}});
    auto planned = plan_memory(seven, {.bytes = {16, 32, 64, 32, 16, 128, 32}});
    CHECK(planned.report().largest == std::vector<value_id>{5, 2, 1, 3, 6});
}

#if !defined(HEAP_IS_NOT_COUNTED)
TEST_CASE("planning a few steps takes few allocations")
{
    std::size_t const before = heap_allocations;
    bool const is_planned = bool{plan_memory(chain, {.bytes = 64})};
    std::size_t const after = heap_allocations;
    CHECK(is_planned);
    CHECK(after - before <= 20);
}
#endif

TEST_CASE("an empty program has an empty plan")
{
    auto planned = plan_memory(snapshot{}, {.bytes = 8});
    CHECK(planned);
    CHECK(planned.report().arena_bytes == 0);
    CHECK(planned.report().gap() == 0);
    CHECK(planned.plan.arena_bytes.empty());
}

TEST_CASE("any program is accepted, not only a snapshot")
{
    auto planned = plan_memory(archetype::program(5), {.bytes = 8});
    CHECK(planned);
    CHECK(planned.report().arena_bytes == 16);
}

TEST_CASE("same input, same plan")
{
    plan_options const options{.bytes = {64, 32, 16, 48}, .alignment = 4};
    CHECK(plan_memory(chain, options).plan == plan_memory(chain, options).plan);
}

TEST_CASE("a declared in-place pair saves its bytes, and can be switched off")
{
    auto p = sequence(3, 3, [](auto step, effect_sink& s) {
        if (step > 0) s.use(step - 1), s.may_overwrite(step - 1, +step);
        s.def(+step);
    });
    CHECK(plan_memory(p, {.bytes = 64}).report().arena_bytes == 64);
    CHECK(plan_memory(p, {.bytes = 64}).report().buffers == 1);
    CHECK(plan_memory(p, {.bytes = 64, .in_place = false}).report().arena_bytes == 128);
}

TEST_CASE("views lie in their root, and external, unsized and ineligible values have no offset")
{
    std::vector<value_id> const alias_of{no_value, 0, no_value, no_value, no_value, no_value};
    auto p = with_views(op_list(6, {{5}, {0}, {1}, {}, {}}, {{0}, {1}, {2}, {3}, {4}}), alias_of);
    std::vector<byte_count> bytes{64, 1, no_size, 0, 8, 1000};
    std::vector<value_role> role(6, value_role::intermediate);
    role[5] = value_role::external;
    std::vector<bool> eligible(6, true);
    eligible[4] = false;
    auto planned = plan_memory(p, {.bytes = bytes, .role = role, .alias_of = alias_of, .eligible = eligible});
    REQUIRE(planned);
    CHECK(planned.report().buffers == 1);
    CHECK(planned.report().naive_bytes == 64);
    CHECK(planned.plan.offset_of(1) == planned.plan.offset_of(0));
    for (value_id v : {2u, 4u, 5u}) CHECK(planned.plan.offset_of(v) == no_offset);
    CHECK(planned.plan.offset_of(3) == 0);
    CHECK(planned.plan.unsized == std::vector<value_id>{2});
}

TEST_CASE("another order has another peak, and is recorded in the plan")
{
    // Two producers of 8 bytes that are each reduced to 1: depth first needs less than breadth first.
    auto p = op_list(4, {{}, {}, {0}, {1}}, {{0}, {1}, {2}, {3}});
    plan_options options{.bytes = {8, 8, 1, 1},
                         .role = std::vector<value_role>{{}, {}, value_role::output, value_role::output}};
    CHECK(plan_memory(p, options).report().arena_bytes == 17);
    options.order = {0, 2, 1, 3};
    auto planned = plan_memory(p, options);
    CHECK(planned.report().arena_bytes == 10);
    CHECK(planned.plan.order == options.order);
}

TEST_CASE("an order that breaks a dependence is refused with a counterexample and plans nothing")
{
    auto planned = plan_memory(chain, {.bytes = 8, .order = {1, 0, 2, 3}});
    CHECK(!planned);
    CHECK(failure_of(planned) ==
          "value 0 is used at position 0, listed before step 0, which makes it: order() finds an order "
          "that can run");
    CHECK(planned.plan.buffers.empty());
    CHECK(planned.plan.offset_of(0) == no_offset);
    CHECK(failure_of(plan_memory(op_list(1, {{0}}, {{}}), {.bytes = 8})) ==
          "value 0 is used at position 0 and never defined, and is neither input nor external");
}

TEST_CASE("an order that moves a write past a read of the previous version is refused, as by the checker")
{
    auto p = op_list(2, {{}, {0}, {}, {0}}, {{0}, {1}, {0}, {}});
    plan_options options{.bytes = 8, .order = {0, 2, 1, 3}};
    auto const planned = plan_memory(p, options);
    CHECK(failure_of(planned) ==
          "value 0 is written at position 1, but the program orders this write and another access of the "
          "value the other way");
    CHECK(check_plan(p, memory_plan{.order = options.order, .buffer_of = {no_buffer, no_buffer}}, options) ==
          planned.error());
    options.order = {0, 1, 2, 3};
    CHECK(plan_memory(p, options));
}

TEST_CASE("each pool has its own arena and limits")
{
    auto planned =
        plan_memory(chain, {.bytes = 30, .pool = {0, 1, 1, 0}, .pools = {{no_limit, 1}, {no_limit, 64}}});
    REQUIRE(planned);
    CHECK(planned.plan.arena_bytes == std::vector<byte_count>{30, 94});
    CHECK(planned.report().arena_bytes == 124);
    CHECK(planned.report().lower_bound_bytes == 124); // 60 bytes live in pool 1, but none begins at 30
    CHECK(planned.report().pools[1].naive_bytes == 60);
}

TEST_CASE("a capacity that is too small is reported with the bytes needed")
{
    auto planned = plan_memory(chain, {.bytes = 30, .pools = {{59, 1}}});
    CHECK(!planned);
    CHECK(failure_of(planned) == "the arena of pool 0 needs 60 bytes and its capacity is 59");
    CHECK(plan_memory(chain, {.bytes = 30, .pools = {{60, 1}}}));
    auto second = plan_memory(chain, {.bytes = 30, .pool = 1, .pools = {{7, 1}, {59, 1}}});
    CHECK(failure_of(second) == "the arena of pool 1 needs 60 bytes and its capacity is 59");
}

TEST_CASE("a pool with a largest block is several allocations, and a value above it is refused by name")
{
    // Step 3 reads what the others define: 64 + 48 + 40 bytes are live.
    snapshot const join = op_list(4, {{}, {}, {}, {0, 1, 2}}, {{0}, {1}, {2}, {3}});
    plan_options options{.bytes = {64, 48, 40, 8}, .pools = {{.largest_block = 100}}};
    auto const planned = plan_memory(join, options);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == 160);
    REQUIRE(planned.plan.blocks.size() == 2);
    CHECK(planned.plan.blocks[0].size + planned.plan.blocks[1].size == 160);
    for (value_id v = 0; v != 4; ++v) {
        auto const [block, offset] = planned.plan.block_of(v);
        REQUIRE(block < 2);
        CHECK(planned.plan.blocks[block].begin + offset == planned.plan.offset_of(v));
        CHECK(offset + options.bytes[v] <= planned.plan.blocks[block].size);
    }
    auto says = [&](memory_plan const& plan) { return printed(check_plan(join, plan, options)); };
    memory_plan wrong = planned.plan;
    wrong.blocks.clear();
    CHECK(says(wrong) == "a block of pool 0 needs 160 bytes, and the blocks of pool 0 have at most 100");
    wrong.blocks = {{0, 0, 60}, {0, 60, 100}};
    CHECK(says(wrong).ends_with(" of pool 0, which are not in one of its blocks"));
    wrong.blocks = {{0, 0, 100}, {0, 60, 100}};
    CHECK(says(wrong) == "the plan is not one of this program in this order and reading");

    options.pools[0].largest_block = 63;
    CHECK(failure_of(plan_memory(join, options)) ==
          "value 0 needs 64 bytes, and the blocks of pool 0 have at most 63");
    options.pools[0].largest_block = 160;
    CHECK(plan_memory(join, options).plan.blocks == std::vector<memory_plan::block>{{0, 0, 160}});
    options.pools.clear();
    CHECK(plan_memory(join, options).plan.blocks.empty());
    CHECK(plan_memory(join, options).plan.block_of(0).offset == no_offset);
}

TEST_CASE("values that may be in several pools are in the cheapest that have room")
{
    // 0, 1 and 2 are live together; fast memory has room for two of them, and 1 costs least elsewhere.
    snapshot const join = op_list(4, {{}, {}, {}, {0, 1, 2}}, {{0}, {1}, {2}, {3}});
    plan_options options{.bytes = 32, .pools = {{.capacity = 64}, {}}};
    for (value_id v = 0; v != 3; ++v) {
        options.pool_choices.push_back({v, 0, 0});
        options.pool_choices.push_back({v, 1, v == 1 ? byte_count{2} : byte_count{9}});
    }
    options.pool_choices.push_back({3, 1, 0});
    auto const planned = plan_memory(join, options);
    REQUIRE(planned);
    CHECK(planned.plan.arena_bytes == std::vector<byte_count>{64, 64});
    for (value_id v = 0; v != 4; ++v)
        CHECK(planned.plan.buffers[planned.plan.buffer_of[v]].pool == (v == 0 || v == 2 ? 0 : 1));
    memory_plan wrong = planned.plan;
    wrong.buffers[wrong.buffer_of[3]].pool = 0;
    auto fault_of = [&](memory_plan const& plan) {
        auto const valid = check_plan(join, plan, options);
        return valid ? fault::clash : valid.error().what;
    };
    CHECK(fault_of(wrong) == fault::wrong_pool);
    options.pool_choices.pop_back(); // 3 is in its own pool now
    CHECK(fault_of(planned.plan) == fault::wrong_pool);
    CHECK(plan_memory(join, options));
    options.pool_choices.push_back({4, 1, 0});
    CHECK_THROWS_AS((void)plan_memory(join, options), precondition_error);
}

TEST_CASE("pins are kept; pins that overlap, differ or are misaligned are reported")
{
    std::vector<byte_count> pinned{64, no_offset, no_offset, no_offset};
    auto kept = plan_memory(chain, {.bytes = 32, .pinned = pinned});
    REQUIRE(kept);
    CHECK(kept.plan.offset_of(0) == 64);
    pinned[1] = 80;
    CHECK(failure_of(plan_memory(chain, {.bytes = 32, .pinned = pinned})) ==
          "values 0 and 1 are both alive at position 1 and share bytes [80, 96) of pool 0");
    CHECK(failure_of(plan_memory(chain, {.bytes = 32, .alignment = 24, .pinned = pinned})) ==
          "value 0 lies at offset 64 of pool 0, which is not a multiple of its alignment 24");
    CHECK(failure_of(
              plan_memory(chain, {.bytes = 32, .pinned = {64, 100, 64, 100}, .pools = {{no_limit, 8}}})) ==
          "value 1 lies at offset 100 of pool 0, which is not a multiple of its alignment 8");
    std::vector<value_id> const alias_of{no_value, 0, no_value, no_value};
    auto two =
        plan_memory(with_views(chain, alias_of), {.bytes = 32, .alias_of = alias_of, .pinned = pinned});
    CHECK(failure_of(two) == "value 0 lies at offset 64 of pool 0 and is pinned to 80");
}

TEST_CASE("an alignment may be any integer")
{
    auto planned = plan_memory(chain, {.bytes = 10, .alignment = {1, 3, 7, 100}});
    CHECK(planned);
    CHECK(planned.plan.offset_of(3) % 100 == 0);
}

TEST_CASE("a plan of more than 4 GiB, and one of buffers as large as they may be")
{
    byte_count const gib = byte_count{1} << 30;
    auto large = plan_memory(chain, {.bytes = {5 * gib, 3 * gib, 7 * gib, gib}});
    REQUIRE(large);
    CHECK(large.report().arena_bytes == 10 * gib);
    CHECK(large.report().naive_bytes == 16 * gib);

    byte_count const most = (byte_count{1} << 62) - 1;
    auto huge = plan_memory(chain, {.bytes = {most, most, most, most}});
    REQUIRE(huge);
    CHECK(huge.report().arena_bytes == 2 * most);
    CHECK(huge.report().naive_bytes == 4 * most);
    CHECK_THROWS_AS((void)plan_memory(chain, {.bytes = most + 1}), precondition_error);
}

TEST_CASE("invalid options are refused with a sentence")
{
    CHECK_THROWS_WITH_AS((void)plan_memory(chain, {.bytes = {1, 2}}),
                         "sublet: the table of bytes has 2 entries for 4 values", precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_memory(chain, {.bytes = 8, .alignment = 0}),
                         "sublet: the alignment of value 0 is 0, but has to be at least 1",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_memory(chain, {.bytes = -8}),
                         "sublet: a property of a value is negative: -8", precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_memory(chain, {.bytes = 8, .alias_of = 0}),
                         "sublet: value 0 is a view of itself", precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_memory(chain, {.bytes = 8, .order = {0, 1}}),
                         "sublet: an order does not name node 2", precondition_error);
    CHECK_THROWS_WITH_AS(
        (void)plan_memory(chain, {.bytes = 8, .pool = -1}),
        "sublet: buffer 0 names pool 4294967295, which is out of range (pools are numbered from 0)",
        precondition_error);
}

TEST_CASE("a plan gives the root, live range and alignment of each buffer")
{
    auto planned = plan_memory(chain, {.bytes = {64, 32, 16, 48}, .alignment = {1, 2, 4, 8}});
    auto const& b = planned.plan.buffers;
    CHECK(b == std::vector<memory_plan::placed_buffer>{{0, {0, 2}, 64, 1, 0, b[0].offset},
                                                       {1, {1, 3}, 32, 2, 0, b[1].offset},
                                                       {2, {2, 4}, 16, 4, 0, b[2].offset},
                                                       {3, {3, 4}, 48, 8, 0, b[3].offset}});
}

TEST_CASE("the five largest buffers are named by their roots, of equal ones the lower first")
{
    auto p = op_list(7, {{}}, {{0, 1, 2, 3, 4, 5, 6}});
    auto planned = plan_memory(p, {.bytes = {1, 8, 8, 2, 9, 3, 7}});
    CHECK(planned.report().largest == std::vector<value_id>{4, 1, 2, 6, 5});
}

TEST_CASE("in-place pairs are taken in the requested order")
{
    // Both want to overwrite 0: in the order of the list the second may, in the other order the first.
    auto p = sequence(3, 3, [](auto step, effect_sink& s) {
        s.def(+step);
        if (step > 0) s.use(0), s.may_overwrite(0, +step);
    });
    auto joins = [](planned_memory const& m, value_id a, value_id b) {
        return m.plan.buffer_of[a] == m.plan.buffer_of[b];
    };
    auto listed = plan_memory(p, {.bytes = 8}), turned = plan_memory(p, {.bytes = 8, .order = {0, 2, 1}});
    REQUIRE(listed);
    REQUIRE(turned);
    CHECK(joins(listed, 0, 2));
    CHECK(!joins(listed, 0, 1));
    CHECK(joins(turned, 0, 1));
    CHECK(!joins(turned, 0, 2));
}

TEST_CASE("a report counts steps and values, and measures its gap to the bound")
{
    auto p = tasks(
        1, 3, [](auto) { return std::vector<int>{}; },
        [](auto, effect_sink& s) { s.def(0), s.next_step(), s.use(0), s.def(1); });
    auto planned = plan_memory(p, {.bytes = 3, .alignment = 4});
    CHECK(planned.report().steps == 2);
    CHECK(planned.report().values == 3);
    CHECK(planned.report().lower_bound_bytes == 7); // 6 live, but aligned to 4
    CHECK(planned.report().arena_bytes == 7);
    CHECK(planned.report().gap() == 0);
    std::vector<value_id> values;
    for (auto [value, pool, offset] : planned) values.push_back(value);
    CHECK(values == std::vector<value_id>{0, 1}); // nothing touches 2
    std::ostringstream out;
    out << planned.report();
    CHECK(out.str() == "7 B instead of 6 B; no plan in this order goes below 7 B");
    planned.figures.lower_bound_bytes = 6;
    CHECK(planned.report().gap() == doctest::Approx(1.0 / 6));
}

TEST_CASE("programs with back edges are refused")
{
    auto loop = [](bool leads_back) {
        return tasks(
            2, 2,
            [=](auto n) {
                return n == 0 ? std::vector{1} : leads_back ? std::vector{0} : std::vector<int>();
            },
            [](auto n, effect_sink& s) { n == 0 ? s.def(0) : (s.use(0), s.def(1)); });
    };
    CHECK(plan_memory(loop(false), {.bytes = 8}));
    CHECK(failure_of(plan_memory(loop(true), {.bytes = 8})) ==
          "an edge or a hand-off from position 1 to step 0 goes backward in the order: choose another order, "
          "as order() does; a program with loops is made with flow() and planned by plan_flow()");
}

TEST_CASE("in place, the bound counts whole alignment units for all buffers but the highest")
{
    auto p = sequence(3, 4, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0), s.def(1);
        if (step == 1) return s.use(0), s.def(2), s.may_overwrite(0, 2);
        s.use(1), s.use(2), s.def(3);
    });
    auto planned = plan_memory(p, {.bytes = {3, 5, 3, 2}, .alignment = 4});
    CHECK(planned.report().lower_bound_bytes == 4 + 4 + 5); // 10 bytes live: 3, 2 and 5
    CHECK(planned.report().arena_bytes == 13);
    byte_count const large = byte_count{1} << 60;
    auto huge = plan_memory(p, {.bytes = {3, 0, 3, 2}, .alignment = large});
    CHECK(huge.report().arena_bytes == large + 2);
    CHECK(huge.report().lower_bound_bytes == large + 2);
}

TEST_CASE("a plan gives the gain of each in-place pair")
{
    auto p = sequence(3, 3, [](auto step, effect_sink& s) {
        s.def(+step);
        if (step > 0) s.use(step - 1), s.may_overwrite(step - 1, +step);
    });
    auto planned = plan_memory(p, {.bytes = {64, 32, 32}});
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == 64);
    CHECK(planned.in_place ==
          std::vector<memory_plan::in_place_gain>{{{1, 0, 1, 32}, 32, 32}, {{2, 1, 2, 32}, 0, 0}});
    CHECK(plan_memory(p, {.bytes = {64, 32, 32}, .in_place = false}).in_place.empty());
}

TEST_CASE("options that were stored and copied give the same plan")
{
    auto made_elsewhere = [] {
        std::vector<int> sizes{64, 32, 16, 48};
        plan_options options{.bytes = [sizes](auto v) { return sizes[v]; }};
        plan_options copy = options;
        options.bytes = 1;
        return copy;
    };
    std::vector<plan_options> stored(3, made_elsewhere());
    CHECK(plan_memory(chain, stored[2]).report().naive_bytes == 160);
}

TEST_CASE("without the check the plan is the same and does not claim to be proved")
{
    auto quick = plan_memory(chain, {.bytes = 8, .check = false});
    CHECK(quick);
    CHECK(!quick.report().is_checked);
    CHECK(quick.plan == plan_memory(chain, {.bytes = 8}).plan);
}

} // namespace this_test
