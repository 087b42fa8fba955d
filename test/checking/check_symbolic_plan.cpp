// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/core/internal/affine.hpp>

#include "../printed.hpp"
#include "operations.hpp"
#include "random_batches.hpp"

#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//     a, b ─► c        a and b are alive together
snapshot const join = op_list(3, {{}, {}, {0, 1}}, {{0}, {1}, {2}});

/// a below b; c at the given start.
symbolic_plan plan_of(affine_bytes a, affine_bytes b, affine_bytes c, affine_bytes start_b,
                      affine_bytes start_c, byte_count most)
{
    symbolic_plan plan{
        .max_batch = most,
        .buffers = {{0, {0, 3}, a}, {1, {1, 3}, b, 1, 0, start_b}, {2, {2, 3}, c, 1, 0, start_c}},
        .buffer_of = {0, 1, 2},
        .arena = {{}}};
    for (auto const& buffer : plan.buffers) plan.arena[0] = least_above(plan.arena[0], buffer.top(), most);
    return plan;
}

} // namespace

TEST_CASE("two buffers that keep their order and are disjoint at both ends are disjoint between them")
{
    auto const plan = plan_of({0, 8}, {16, 0}, {4, 4}, {0, 8}, {16, 8}, 9);
    symbolic_options const options{.bytes = {affine_bytes{0, 8}, {16, 0}, {4, 4}}, .max_batch = 9};
    CHECK(printed(check_plan(join, plan, options)) == "");
}

TEST_CASE("two buffers that swap their order between the ends overlap between them")
{
    //   a: 10 bytes at 10 N          at N = 1 below b, [10, 20) and [50, 60), at N = 9 above it
    //   b: 10 bytes at 50
    auto plan = plan_of({10, 0}, {10, 0}, {10, 0}, {50, 0}, {200, 0}, 9);
    plan.buffers[0].start = {0, 10};
    symbolic_options const options{.bytes = affine_bytes{10, 0}, .max_batch = 9};
    CHECK(check_plan(join, plan.at(1), options.at(1)));
    CHECK(check_plan(join, plan.at(9), options.at(9)));
    CHECK(printed(check_plan(join, plan, options)) ==
          "for a batch of 5: values 0 and 1 are both alive at position 1 and share bytes [50, 60) of pool 0");
}

TEST_CASE("a plan in which a buffer jumps over another between two batches is valid, but not proved")
{
    auto plan = plan_of({10, 0}, {10, 0}, {10, 0}, {50, 0}, {500, 0}, 2);
    plan.buffers[0].start = {0, 35};
    symbolic_options const options{.bytes = affine_bytes{10, 0}, .max_batch = 2};
    auto const found = check_plan(join, plan, options);
    REQUIRE(!found);
    CHECK(found.error().batch == 0);
    CHECK(printed(found).substr(0, 37) == "it is not proved for all batches: val");
}

TEST_CASE("a fault at one end is found by the ordinary checker, and the batch is reported")
{
    symbolic_options options{.bytes = affine_bytes{0, 8}, .max_batch = 3};
    auto const low = plan_of({0, 8}, {0, 8}, {0, 8}, {0, 7}, {0, 16}, 3);
    CHECK(printed(check_plan(join, low, options)) ==
          "for a batch of 1: values 0 and 1 are both alive at position 1 and share bytes [7, 8) of pool 0");
    auto const fixed = plan_of({0, 8}, {0, 8}, {0, 8}, {8, 0}, {16, 16}, 3);
    CHECK(printed(check_plan(join, fixed, options)) ==
          "for a batch of 3: values 0 and 1 are both alive at position 1 and share bytes [8, 24) of pool 0");
    options.pools = {{.capacity = 60}};
    auto const good = plan_of({0, 8}, {0, 8}, {0, 8}, {0, 8}, {0, 16}, 3);
    CHECK(printed(check_plan(join, good, options)) ==
          "for a batch of 3: the arena of pool 0 needs 72 bytes and its capacity is 60");
}

TEST_CASE("a plan of another program, or for other batches, is refused")
{
    symbolic_options const options{.bytes = affine_bytes{0, 8}, .max_batch = 3};
    auto const good = plan_of({0, 8}, {0, 8}, {0, 8}, {0, 8}, {0, 16}, 3);
    CHECK(check_plan(join, good, options));
    auto plan = good;
    plan.max_batch = 4;
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    plan = good;
    plan.buffer_of.pop_back();
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    plan = good;
    plan.buffer_of[0] = 3;
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    plan = good;
    plan.buffers[1].pool = 1;
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    plan = good;
    plan.buffers[1].alignment = 0;
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    plan = good;
    plan.buffers[1].size = affine_bytes::unknown();
    CHECK(check_plan(join, plan, options).error().what == fault::foreign_plan);
    CHECK(check_plan(snapshot{}, symbolic_plan{}, {.bytes = affine_bytes{}}));
}

TEST_CASE("the plan's own sizes and arenas are checked")
{
    symbolic_options const options{.bytes = affine_bytes{0, 8}, .max_batch = 3};
    auto plan = plan_of({0, 8}, {0, 8}, {0, 8}, {0, 8}, {0, 16}, 3);
    plan.buffers[0].size = {0, 7};
    CHECK(check_plan(join, plan, options).error().what == fault::outside_arena);
    plan.buffers[0].size = {0, 8};
    plan.arena[0] = {0, 23};
    auto const found = check_plan(join, plan, options);
    CHECK(found.error().what == fault::outside_arena);
    REQUIRE(found.error().as<counterexample::place>() != nullptr);
    CHECK(found.error().as<counterexample::place>()->needed == 69);
}

TEST_CASE("an alignment holds for every batch, not only at the ends")
{
    //   b begins at 0, 2, 4 for N = 1, 2, 3
    symbolic_options const options{.bytes = affine_bytes{2, 0}, .max_batch = 3, .alignment = {1, 4, 1}};
    auto plan = plan_of({2, 0}, {2, 0}, {2, 0}, {2, 2}, {20, 0}, 3);
    CHECK(printed(check_plan(join, plan, options)) ==
          "for a batch of 2: value 1 lies at offset 6 of pool 0, which is not a multiple of its alignment 4");
    plan.buffers[1].alignment = 4;
    plan.arena[0] = {24, 0};
    CHECK(printed(check_plan(join, plan, options)) == "");
    plan.buffers[1].alignment = 1;
    plan.buffers[1].start = {4, 8}; // without rounding
    plan.buffers[2].start = {40, 0};
    plan.arena[0] = {50, 0};
    CHECK(printed(check_plan(join, plan, options)) == "");
}

TEST_CASE("every plan that the ordinary checker refuses for some batch is refused, and each error is true")
{
    unsigned refused = 0, unproved = 0, accepted = 0, only_between = 0;
    for (unsigned seed = 0; seed != 600; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_batches const all = draw_batches(pick, 6);
        snapshot const program = all.program();
        auto const planned = plan_symbolic(program, all.options);
        REQUIRE(planned);
        if (planned.plan.buffers.empty()) continue;
        symbolic_plan plan = planned.plan;
        for (unsigned i = 0, n = 1 + pick.below(3); i != n; ++i) {
            symbolic_plan::buffer& b = pick.one_of(plan.buffers);
            switch (pick.below(8)) {
            case 0: b.start = {b.start.fixed + 1 + pick.below(8), b.start.per_batch}; break;
            case 1: b.start.fixed -= smaller(b.start.fixed, byte_count{1 + pick.below(8)}); break;
            case 2: b.start.per_batch += 1 + pick.below(8); break;
            case 3: b.start.per_batch -= smaller(b.start.per_batch, byte_count{1 + pick.below(8)}); break;
            case 4: b.start = {pick.below(99), pick.below(9)}; break;
            case 5: b.alignment = 1 + pick.below(8); break;
            case 6: b.start = {b.start.per_batch, b.start.fixed}; break;
            case 7: b.size.per_batch += 1; break;
            }
            plan.arena[b.pool] = least_above(plan.arena[b.pool], b.top(), plan.max_batch);
        }
        byte_count wrong = 0;
        for (byte_count n = plan.max_batch; n != 0; --n)
            if (!check_plan(program, plan.at(n), all.options.at(n))) wrong = n;
        bool const is_right_at_ends =
            check_plan(program, plan.at(1), all.options.at(1)) &&
            check_plan(program, plan.at(plan.max_batch), all.options.at(plan.max_batch));
        verdict const valid = check_plan(program, plan, all.options);
        if (wrong != 0) REQUIRE(!valid);
        only_between += wrong != 0 && is_right_at_ends;
        if (valid) ++accepted;
        else if (valid.error().batch == 0) ++unproved;
        else {
            ++refused;
            CAPTURE(printed(valid));
            byte_count const batch = *valid.error().batch;
            REQUIRE(!check_plan(program, plan.at(batch), all.options.at(batch)));
        }
    }
    CHECK(refused > 200);
    CHECK(accepted > 40);
    CHECK(only_between > 2);
    CHECK(unproved < 80);
    MESSAGE(refused << " refused, " << only_between << " of them right at both ends, " << unproved
                    << " not proved, " << accepted << " accepted");
}

} // namespace this_test
