// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan_symbolic.hpp>

#include "archetype.hpp"
#include "operations.hpp"
#include "printed.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

//     a ─► b ─► c ─► d        each read once, by the next
snapshot const chain = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});

} // namespace

TEST_CASE("a chain of images needs two adjacent values at a time, for any batch")
{
    auto const planned =
        plan_symbolic(chain, {.bytes = {affine_bytes{0, 64}, {0, 32}, {0, 16}, {0, 48}}, .max_batch = 32});
    CHECK(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().buffers == 4);
    CHECK(planned.report().naive == affine_bytes{0, 160});
    CHECK(planned.report().arena == affine_bytes{0, 96});
    CHECK(planned.report().excess() == 0);
    CHECK(planned.report().fits_up_to == 32);
    std::vector<value_id> values;
    for (auto [value, pool, offset] : planned) {
        values.push_back(value);
        CHECK(pool == 0);
        CHECK(offset.at(7) == planned.plan.at(7).offset_of(value));
    }
    CHECK(values == std::vector<value_id>{0, 1, 2, 3});
    CHECK(planned.bytes() == 96 * 32);
    CHECK(planned.bytes(0, 7) == 96 * 7);
    CHECK(planned.bytes(1, 7) == 0);
    REQUIRE(planned.report().batches.size() == 3);
    CHECK(planned.report().batches[0].lower_bound_bytes == 96);
    CHECK(planned.report().batches[2].batch == 32);
    CHECK(planned.report().batches[2].own_bytes == 32 * 96);
    memory_plan const plan = planned.plan.at(7);
    CHECK(plan.arena_bytes == std::vector<byte_count>{7 * 96});
    CHECK(plan.offset_of(0) == plan.offset_of(3));
}

TEST_CASE("an empty program has an empty plan, and the smallest batch is 1")
{
    auto const planned = plan_symbolic(snapshot{}, {.bytes = affine_bytes{8, 8}});
    CHECK(planned);
    CHECK(planned.report().arena == affine_bytes{});
    CHECK(planned.plan.at(1).arena_bytes.empty());
    CHECK_THROWS_AS(static_cast<void>(plan_symbolic(chain, {.bytes = affine_bytes{8, 8}, .max_batch = 0})),
                    precondition_error);
}

TEST_CASE("any program is accepted, not only a snapshot")
{
    auto const planned = plan_symbolic(archetype::program(5), {.bytes = affine_bytes{0, 8}, .max_batch = 3});
    CHECK(planned);
    CHECK(planned.report().arena == affine_bytes{0, 16});
}

TEST_CASE("same input, same plan")
{
    symbolic_options const options{
        .bytes = {affine_bytes{9, 64}, {100, 32}, {7, 16}, {500, 48}}, .max_batch = 40, .alignment = 48};
    CHECK(plan_symbolic(chain, options).plan == plan_symbolic(chain, options).plan);
}

// SYSTEMS T3: shapes with an unknown first dimension (batch = -1) are compared among themselves only.
TEST_CASE("kept apart, buffers that grow with the batch never share with buffers that do not")
{
    std::vector<affine_bytes> const sizes{{0, 64}, {640, 0}, {0, 64}, {640, 0}};
    auto const apart = plan_symbolic(
        chain, {.bytes = sizes, .max_batch = 10, .mixing = symbolic_options::mixing_rule::apart});
    CHECK(apart);
    CHECK(apart.report().arena == affine_bytes{640, 64}); // a and c share, b and d share
    for (byte_count n = 1; n != 11; ++n) {
        memory_plan const plan = apart.plan.at(n);
        CHECK(plan.offset_of(1) == 0);
        CHECK(plan.offset_of(3) == 0);
        CHECK(plan.offset_of(0) == 640);
        CHECK(plan.offset_of(2) == 640);
    }
}

// SYSTEMS T3, and here: an unknown batch has a maximum.
TEST_CASE("a buffer that grows reuses a fixed one if it is proved to fit")
{
    //   a: 64 N   b: 8   c: 640 bytes at the offset of a: fits for N up to 10
    std::vector<affine_bytes> const sizes{{0, 64}, {8, 0}, {640, 0}, {8, 0}};
    auto const planned = plan_symbolic(chain, {.bytes = sizes, .max_batch = 10});
    CHECK(planned);
    CHECK(planned.report().arena == affine_bytes{648, 0});
    CHECK(planned.plan.at(10).offset_of(0) == planned.plan.at(10).offset_of(2));
}

// REGRESSIONS, user thread 5 (only a lower bound known, planned as static) and 50 (upper bounds).
TEST_CASE("a size of which only a lower bound is known gets no storage; an upper bound is a size")
{
    auto const planned = plan_symbolic(
        chain, {.bytes = {affine_bytes{0, 64}, affine_bytes::unknown(), {0, 16}, {0, 48}}, .max_batch = 8});
    CHECK(planned);
    CHECK(planned.plan.unsized == std::vector<value_id>{1});
    CHECK(planned.plan.offset_of(1, 5) == no_offset);
    CHECK(planned.plan.at(8).unsized == std::vector<value_id>{1});
    CHECK(planned.report().arena == affine_bytes{0, 64});

    auto const bounded =
        plan_symbolic(chain, {.bytes = {affine_bytes{0, 64}, {4096, 0}, {0, 16}, {0, 48}}, .max_batch = 8});
    CHECK(bounded);
    CHECK(bounded.plan.unsized.empty());
    CHECK(bounded.report().arena == affine_bytes{4096, 64});
}

// REGRESSIONS, user thread 18: a plan not made again when shapes shrink.
TEST_CASE("a smaller batch gets another valid plan, and so does a larger one again")
{
    std::vector<affine_bytes> const sizes{{0, 64}, {100, 32}, {0, 16}, {0, 48}};
    symbolic_options const options{.bytes = sizes, .max_batch = 32};
    auto const planned = plan_symbolic(chain, options);
    for (byte_count n : {32u, 3u, 1u, 17u, 32u}) {
        CAPTURE(n);
        memory_plan const plan = planned.plan.at(n);
        CHECK(check_plan(chain, plan, options.at(n)));
        CHECK(plan.buffers[1].size == 100 + 32 * n);
    }
    CHECK(!check_plan(chain, planned.plan.at(3), options.at(32))); // a stale plan is refuted
}

// REGRESSIONS, user thread 51: an upper bound for all shapes takes the memory of the largest for each.
TEST_CASE("a small batch takes as few bytes as a plan for this batch only")
{
    auto const planned = plan_symbolic(
        chain, {.bytes = {affine_bytes{64, 64}, {32, 32}, {16, 16}, {48, 48}}, .max_batch = 1000});
    CHECK(planned.plan.at(1).arena_bytes[0] == 192);
    CHECK(planned.plan.at(1000).arena_bytes[0] == 96 * 1001);
}

TEST_CASE("in-place pairs are used if sizes are equal for every batch, not only for one")
{
    auto const program = sequence(3, 3, [](auto step, effect_sink& s) {
        if (step != 0) s.use(step - 1);
        s.def(+step);
        if (step != 0) s.may_overwrite(step - 1, +step);
    });
    symbolic_options options{.bytes = {affine_bytes{0, 64}, {0, 64}, {64, 0}}, .max_batch = 4};
    auto const planned = plan_symbolic(program, options);
    CHECK(planned);
    CHECK(planned.report().buffers == 2);
    CHECK(planned.plan.buffer_of[0] == planned.plan.buffer_of[1]);
    CHECK(planned.plan.buffer_of[1] != planned.plan.buffer_of[2]);
    options.in_place = false;
    CHECK(plan_symbolic(program, options).report().buffers == 3);
}

TEST_CASE("pools have capacities for the largest batch, and the report gives the largest batch that fits")
{
    symbolic_options options{.bytes = affine_bytes{16, 64},
                             .max_batch = 9,
                             .pool = {0, 0, 1, 1},
                             .pools = {{.capacity = 1000}, {}, {.capacity = 1}}};
    auto const planned = plan_symbolic(chain, options);
    CHECK(failure_of(planned) ==
          "for a batch of 9: the arena of pool 0 needs 1184 bytes and its capacity is 1000");
    CHECK(planned.report().fits_up_to == 7);
    CHECK(!planned.report().is_checked);
    options.max_batch = 7;
    auto const fits = plan_symbolic(chain, options);
    CHECK(fits);
    CHECK(fits.report().fits_up_to == 7);
    options.pools[0].capacity = 10;
    CHECK(plan_symbolic(chain, options).report().fits_up_to == 0);
}

TEST_CASE("for every capacity the largest batch that fits is that of a search from below")
{
    symbolic_options options{
        .bytes = {affine_bytes{5, 3}, {0, 7}, {40, 0}, {1, 1}}, .max_batch = 13, .alignment = 4};
    symbolic_plan const plan = plan_symbolic(chain, options).plan;
    for (byte_count capacity = 0; capacity != plan.at(13).arena_bytes[0] + 2; ++capacity) {
        CAPTURE(capacity);
        byte_count most = 0;
        while (most != 13 && plan.at(most + 1).arena_bytes[0] <= capacity) ++most;
        options.pools = {{.capacity = capacity}};
        CHECK(plan_symbolic(chain, options).report().fits_up_to == most);
    }
}

TEST_CASE("a view of a view lies at the sum of both offsets, for every batch")
{
    auto const views = sequence(3, 3, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use(step - 1), s.view(+step);
    });
    auto const planned = plan_symbolic(views, {.bytes = {affine_bytes{16, 64}, {8, 32}, {0, 16}},
                                               .max_batch = 3,
                                               .alias_of = {-1, 0, 1},
                                               .view_offset = {affine_bytes{}, {4, 8}, {0, 2}}});
    REQUIRE(planned);
    for (byte_count n : {1u, 2u, 3u}) {
        CHECK(planned.plan.offset_of(1, n) - planned.plan.offset_of(0, n) == 4 + 8 * n);
        CHECK(planned.plan.offset_of(2, n) - planned.plan.offset_of(0, n) == 4 + 10 * n);
    }
}

TEST_CASE("a program that uses a value before its definition has no plan for any batch")
{
    symbolic_options const options{.bytes = affine_bytes{0, 8}, .max_batch = 2, .order = {1, 0, 2, 3}};
    auto const planned = plan_symbolic(chain, options);
    CHECK(failure_of(planned) == "for a batch of 1: value 0 is used at position 0, listed before step 0, "
                                 "which makes it: order() finds "
                                 "an order that can run");
    CHECK(planned.plan.at(2).buffer_of == std::vector<buffer_id>(4, no_buffer));
}

TEST_CASE("programs with back edges have no plan for any batch, checked or not")
{
    auto const loop = tasks(
        2, 2, [](node_id n) { return std::vector<node_id>{1 - n}; },
        [](node_id n, effect_sink& s) { n == 0 ? s.def(0) : (s.use(0), s.def(1)); });
    for (bool const check : {true, false}) {
        auto const planned =
            plan_symbolic(loop, {.bytes = affine_bytes{0, 8}, .max_batch = 2, .check = check});
        REQUIRE(!planned);
        CHECK(planned.error() == counterexample{.what = fault::leads_back,
                                                .of = counterexample::waiting{.position = 1},
                                                .batch = 1});
        CHECK(planned.plan.buffer_of == std::vector<buffer_id>(2, no_buffer));
    }
}

TEST_CASE("alignments hold for every batch: an odd slope costs padding, a multiple none")
{
    auto const odd = plan_symbolic(chain, {.bytes = affine_bytes{0, 100}, .max_batch = 50, .alignment = 64});
    CHECK(odd);
    for (byte_count n = 1; n <= 50; ++n) {
        memory_plan const plan = odd.plan.at(n);
        CHECK(plan.offset_of(0) % 64 == 0);
        CHECK(plan.offset_of(1) % 64 == 0);
        CHECK(plan.arena_bytes[0] == align_up(100 * n, 64) + 100 * n);
    }
    auto const even = plan_symbolic(chain, {.bytes = affine_bytes{0, 128}, .max_batch = 50, .alignment = 64});
    CHECK(even.report().arena == affine_bytes{0, 256});
}

TEST_CASE("sizes near 2^40 and a batch of a million are planned; sizes beyond 64 bits are refused")
{
    symbolic_options options{.bytes = affine_bytes{1, (byte_count{1} << 40) - 1}, .max_batch = 1'000'000};
    auto const planned = plan_symbolic(chain, options);
    CHECK(planned);
    CHECK(planned.plan.at(1'000'000).arena_bytes[0] == 2 * (1 + 1'000'000 * ((byte_count{1} << 40) - 1)));
    options.max_batch = byte_count{1} << 30;
    CHECK_THROWS_AS(static_cast<void>(plan_symbolic(chain, options)), precondition_error);
}

TEST_CASE("the report is one line")
{
    std::ostringstream out;
    out << plan_symbolic(chain, {.bytes = {affine_bytes{0, 64}, {0, 32}, {10, 0}, {0, 48}}, .max_batch = 32});
    CHECK(out.str() == "96*N bytes instead of 10 + 144*N, for N up to 32");
    std::ostringstream nothing;
    nothing << planned_symbolic::summary{};
    CHECK(nothing.str() == "nothing to place");
}

} // namespace this_test
