// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan_symbolic.hpp>

#include "affine_bytes.hpp"
#include "archetype.hpp"
#include "operations.hpp"
#include "printed.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/sampled_shapes.hpp>

#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using sublet::detail::larger;

namespace {

//     a ─► b ─► c ─► d        each read once, by the next
snapshot const chain = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});

} // namespace

TEST_CASE("a chain of images needs two adjacent values at a time, for any batch")
{
    auto const planned = plan_symbolic(
        chain, {.bytes = {affine_bytes{0, 64}, {0, 32}, {0, 16}, {0, 48}}, .dims = batches(32)});
    CHECK(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().buffers == 4);
    CHECK(planned.report().naive == affine_bytes{0, 160});
    CHECK(planned.report().arena == affine_bytes{0, 96});
    CHECK(planned.report().excess() == 0);
    std::vector<value_id> values;
    symbolic_plan::places now;
    planned.plan.place(7, now);
    for (auto [value, pool, offset] : planned) {
        values.push_back(value);
        CHECK(pool == 0);
        CHECK(offset.at(now) == planned.plan.at(7).offset_of(value));
        CHECK(offset.at(7) == offset.at(now));
    }
    CHECK(values == std::vector<value_id>{0, 1, 2, 3});
    CHECK(planned.bytes() == 96 * 32);
    CHECK(planned.plan.bytes(7) == 96 * 7);
    CHECK(planned.plan.bytes(7, 1) == 0);
    REQUIRE(planned.report().samples.size() == 3);
    CHECK(planned.report().samples[0].lower_bound_bytes == 96);
    CHECK(planned.report().samples[2].shape == shape{32});
    CHECK(planned.report().samples[2].own_bytes == 32 * 96);
    memory_plan const plan = planned.plan.at(7);
    CHECK(plan.arena_bytes == std::vector<byte_count>{7 * 96});
    CHECK(plan.offset_of(0) == plan.offset_of(3));
}

TEST_CASE("sizes are products, quotients and maxima of several dimensions")
{
    formula const batch = symbol(0), height = symbol(1);
    std::vector<dimension> const dims{{"batch", 1, 64}, {"height", 64, 1024, 32}};
    std::vector<formula> const sizes{12 * batch * height * height, ceil_divide(batch * height * height, 8),
                                     larger_of(4096, 4 * batch * height), 4 * batch};
    auto const planned = plan_symbolic(chain, {.bytes = sizes, .dims = dims});
    REQUIRE(planned);
    CHECK(planned.report().arena == 12 * batch * height * height + ceil_divide(batch * height * height, 8));
    CHECK(planned.plan.bytes({2, 96}) == 12 * 2 * 96 * 96 + 2 * 96 * 96 / 8);
    CHECK(planned.report().excess() == 0);
    std::ostringstream out;
    out << planned;
    CHECK(out.str().find("for batch from 1 to 64, height from 64 to 1024") != std::string::npos);
}

TEST_CASE("where one of two paths is the higher one depends on the shape, the arena is the larger of both")
{
    //   a ─► b ─► c ─► d     at a and b: 8 N + 8 M, at c and d: 4 N * M
    formula const n = symbol(0), m = symbol(1);
    auto const planned =
        plan_symbolic(chain, {.bytes = {8 * n, 8 * m, 0, 4 * n * m}, .dims = {{"N", 1, 100}, {"M", 1, 100}}});
    REQUIRE(planned);
    CHECK(planned.report().arena == larger_of(8 * n + 8 * m, 4 * n * m));
    for (byte_count size : {1u, 2u, 3u, 4u, 100u})
        CHECK(planned.plan.bytes({size, size}) == larger(16 * size, 4 * size * size));
}

TEST_CASE("an empty program has an empty plan, and ranges that are empty are refused")
{
    auto const planned = plan_symbolic(snapshot{}, {.bytes = affine_bytes{8, 8}});
    CHECK(planned);
    CHECK(planned.report().arena == formula{});
    CHECK(planned.plan.at(shape{}).arena_bytes.empty());
    auto refused = [](dimension its) {
        CHECK_THROWS_AS((void)plan_symbolic(chain, {.bytes = affine_bytes{8, 8}, .dims = {its}}),
                        precondition_error);
    };
    refused({"N", 1, 0});
    refused({"N", 3, 2});
    refused({"N", 1, 4, 0});
    CHECK_THROWS_AS((void)plan_symbolic(chain, {.bytes = 8 * symbol(1), .dims = batches(4)}),
                    precondition_error);
    CHECK_THROWS_AS((void)plan_symbolic(chain, {.bytes = 8, .dims = batches(4), .samples = {{{5}, 1}}}),
                    precondition_error);
    CHECK_THROWS_AS(
        (void)plan_symbolic(chain, {.bytes = 8, .dims = batches(4), .pools = {{.largest_block = 64}}}),
        precondition_error);
    CHECK_THROWS_AS((void)plan_symbolic(chain, {.bytes = formula::by_shape(), .dims = batches(4)}),
                    precondition_error);
}

TEST_CASE("without open dimensions it is a plan for the only shape")
{
    auto const planned = plan_symbolic(chain, {.bytes = {64, 32, 16, 48}, .pools = {{.capacity = 90}}});
    CHECK(failure_of(planned) == "the arena of pool 0 needs 96 bytes and its capacity is 90");
    auto const fits = plan_symbolic(chain, {.bytes = {64, 32, 16, 48}});
    REQUIRE(fits);
    CHECK(fits.plan.at(shape{}).arena_bytes == std::vector<byte_count>{96});
    std::ostringstream out;
    out << fits;
    CHECK(out.str() == "96 bytes instead of 160");
}

TEST_CASE("any program is accepted, not only a snapshot")
{
    auto const planned =
        plan_symbolic(archetype::program(5), {.bytes = affine_bytes{0, 8}, .dims = batches(3)});
    CHECK(planned);
    CHECK(planned.report().arena == affine_bytes{0, 16});
}

TEST_CASE("same input, same plan")
{
    symbolic_options const options{
        .bytes = {affine_bytes{9, 64}, {100, 32}, {7, 16}, {500, 48}}, .dims = batches(40), .alignment = 48};
    CHECK(plan_symbolic(chain, options).plan == plan_symbolic(chain, options).plan);
}

// SYSTEMS T3: shapes with an unknown first dimension (batch = -1) share storage. There they are compared
// among themselves only, here with fixed ones, too.
TEST_CASE("a buffer that grows shares bytes with a fixed one, whichever of them is larger")
{
    //   a: 64 N   b: 8   c: 640 bytes at the offset of a: larger for N up to 10
    std::vector<affine_bytes> const sizes{{0, 64}, {8, 0}, {640, 0}, {8, 0}};
    auto const planned = plan_symbolic(chain, {.bytes = sizes, .dims = batches(100)});
    CHECK(planned);
    CHECK(planned.report().arena == larger_of(648, 8 + 64 * symbol(0)));
    for (byte_count n : {1u, 10u, 11u, 100u}) {
        memory_plan const plan = planned.plan.at(n);
        CHECK(plan.arena_bytes[0] == 8 + larger(byte_count{640}, 64 * n));
        CHECK(plan.offset_of(0) == plan.offset_of(2));
    }
}

// REGRESSIONS, user thread 5 (only a lower bound known, planned as static) and 50 (upper bounds).
TEST_CASE("a size of which only a lower bound is known gets no storage; an upper bound is a size")
{
    auto const planned =
        plan_symbolic(chain, {.bytes = {affine_bytes{0, 64}, affine_bytes::unknown(), {0, 16}, {0, 48}},
                              .dims = batches(8)});
    CHECK(planned);
    CHECK(planned.plan.unsized == std::vector<value_id>{1});
    CHECK(planned.plan.offset_of(1, 5) == no_offset);
    CHECK(planned.plan.at(8).unsized == std::vector<value_id>{1});
    CHECK(planned.report().arena == affine_bytes{0, 64});

    auto const bounded = plan_symbolic(
        chain, {.bytes = {affine_bytes{0, 64}, {4096, 0}, {0, 16}, {0, 48}}, .dims = batches(8)});
    CHECK(bounded);
    CHECK(bounded.plan.unsized.empty());
    CHECK(bounded.report().arena == affine_bytes{4096, 64});
}

// REGRESSIONS, user thread 18: a plan not made again when shapes shrink.
TEST_CASE("a smaller batch gets another valid plan, and so does a larger one again")
{
    std::vector<affine_bytes> const sizes{{0, 64}, {100, 32}, {0, 16}, {0, 48}};
    symbolic_options const options{.bytes = sizes, .dims = batches(32)};
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
        chain, {.bytes = {affine_bytes{64, 64}, {32, 32}, {16, 16}, {48, 48}}, .dims = batches(1000)});
    CHECK(planned.plan.at(1).arena_bytes[0] == 192);
    CHECK(planned.plan.at(1000).arena_bytes[0] == 96 * 1001);
}

TEST_CASE("in-place pairs are used if sizes are proved to be equal for every shape, not only for one")
{
    auto const program = sequence(3, 3, [](auto step, effect_sink& s) {
        if (step != 0) s.use(step - 1);
        s.def(+step);
        if (step != 0) s.may_overwrite(step - 1, +step);
    });
    symbolic_options options{.bytes = {affine_bytes{0, 64}, {0, 64}, {64, 0}}, .dims = batches(4)};
    auto const planned = plan_symbolic(program, options);
    CHECK(planned);
    CHECK(planned.report().buffers == 2);
    CHECK(planned.plan.buffer_of[0] == planned.plan.buffer_of[1]);
    CHECK(planned.plan.buffer_of[1] != planned.plan.buffer_of[2]);
    options.in_place = false;
    CHECK(plan_symbolic(program, options).report().buffers == 3);

    options.in_place = true;
    formula const h = symbol(0);
    options.dims = {{"height", 64, 1024, 32}};
    options.bytes = {h * h, 1024 * ceil_divide(h, 32) * ceil_divide(h, 32), h * h};
    CHECK(plan_symbolic(program, options).report().buffers == 1); // equal in this range only
    options.dims = {{"height", 64, 1024, 16}};
    CHECK(plan_symbolic(program, options).report().buffers == 3);

    options.bytes = {h, formula::by_shape(), h};
    options.bytes_at = [](value_id, auto shape) { return shape[0]; };
    auto const by_shape = plan_symbolic(program, options); // equal, which is not proved
    REQUIRE(by_shape);
    CHECK(by_shape.report().buffers == 3);
    CHECK(by_shape.plan.at(96).arena_bytes[0] == 192);
    CHECK(by_shape.report().naive.is_by_shape());
    std::ostringstream out;
    out << by_shape;
    CHECK(out.str() == "128 to 2048 bytes instead of sizes by shape, for height from 64 to 1024");
}

TEST_CASE("pools have capacities for every shape, and the plan tells the largest size that fits")
{
    symbolic_options options{.bytes = affine_bytes{16, 64},
                             .dims = batches(9),
                             .pool = {0, 0, 1, 1},
                             .pools = {{.capacity = 1000}, {}, {.capacity = 1}}};
    auto const planned = plan_symbolic(chain, options);
    CHECK(failure_of(planned) ==
          "for the shape (9): the arena of pool 0 needs 1184 bytes and its capacity is 1000");
    CHECK(!planned.report().is_checked);
    options.dims = batches(7);
    CHECK(plan_symbolic(chain, options));
    auto const room = std::exchange(options.pools, {});
    options.dims = batches(9);
    CHECK(plan_symbolic(chain, options).plan.largest(0, 1, room) == 7);
}

TEST_CASE("a pin holds for every shape, or is refused by a shape")
{
    symbolic_options options{.bytes = {affine_bytes{0, 64}, {0, 32}, {0, 16}, {0, 48}},
                             .dims = batches(8),
                             .pinned = [](value_id v) { return v == 1 ? byte_count{512} : no_offset; }};
    auto const planned = plan_symbolic(chain, options);
    REQUIRE(planned);
    for (byte_count n = 1; n <= 8; ++n) {
        memory_plan const plan = planned.plan.at(n);
        CHECK(plan.offset_of(1) == 512);
        CHECK(check_plan(chain, plan, options.at(n)));
    }
    options.pinned = [](value_id v) { return v < 2 ? byte_count{v == 0 ? 0u : 500u} : no_offset; };
    CHECK(failure_of(plan_symbolic(chain, options)).find("for the shape (8): ") == 0);
    options.pinned = [](value_id v) { return v == 1 ? byte_count{64} : no_offset; };
    options.alias_of = {-1, 0, -1, -1};
    auto const views = sequence(3, 4, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        else if (step == 1) s.use(0), s.view(1);
        else s.use(1);
    });
    options.view_offset = {formula{}, 64, formula{}, formula{}};
    options.bytes = {affine_bytes{128, 64}, {0, 32}, {0, 16}, {0, 48}};
    CHECK(plan_symbolic(views, options).plan.at(3).offset_of(0) == 0);
    options.view_offset = {formula{}, 64 * symbol(0), formula{}, formula{}};
    CHECK_THROWS_AS((void)plan_symbolic(views, options), precondition_error);
}

TEST_CASE("a pin is a multiple of the alignment, also where the value has no bytes at both ends of a range")
{
    formula const n = symbol(0);
    symbolic_options options{.bytes = {n * (10 - n), 64, 64, 64},
                             .dims = {{"n", 0, 10}},
                             .alignment = 4,
                             .pinned = [](value_id v) { return v == 0 ? byte_count{13} : no_offset; }};
    for (bool const check : {true, false}) {
        options.check = check;
        CHECK(plan_symbolic(chain, options).error().what == fault::misaligned);
    }
    options.pinned = [](value_id v) { return v == 0 ? byte_count{12} : no_offset; };
    CHECK(plan_symbolic(chain, options));
    // Without bytes it needs no place below its pin.
    CHECK(plan_symbolic(op_list(2, {{}, {}, {0, 1}}, {{0}, {1}, {}}),
                        {.bytes = {n, 0}, .dims = {{"n", 1, 2000}}, .pinned = {0, 1000}}));
}

TEST_CASE("a size that may be high between the samples is not taken for one below a capacity")
{
    formula const n = symbol(0), high = byte_count{3} << 61; // for one size only
    formula const bytes = 64 + high * larger_of(0, 1 - larger_of(n - 777, 777 - n));
    symbolic_options options{.bytes = bytes, .dims = {{"n", 1, 1'000'000}}};
    snapshot const one = op_list(1, {{}}, {{0}});
    options.pools = {{.capacity = (byte_count{1} << 62) + 100}};
    CHECK(!plan_symbolic(one, options));
    options.pools = {};
    CHECK(plan_symbolic(one, options).plan.bytes(777) > byte_count{1} << 62);
}

TEST_CASE("a callable for sizes by shape is refused where no size is by shape")
{
    snapshot const p = op_list(1, {{}}, {{0}});
    symbolic_options options{.bytes = 8, .dims = batches(4), .bytes_at = [](value_id, auto) { return 16; }};
    CHECK_THROWS_WITH_AS((void)plan_symbolic(p, options),
                         "sublet: bytes_at is given, but the size of no value is by shape: say "
                         "formula::by_shape()",
                         precondition_error);
    options.bytes = formula::by_shape();
    CHECK(plan_symbolic(p, options).plan.bytes(3) == 16);
}

TEST_CASE("a result over an input that only the first step reads is in place, whichever has the lower number")
{
    for (value_id const input : {0u, 1u})
        for (formula const& bytes : {formula{0}, formula{8}, symbol(0), symbol(0) - 1}) {
            value_id const result = 1 - +input;
            snapshot const p = sequence(2, 3, [&](std::uint32_t step, effect_sink& s) {
                if (step == 0) return s.use(input), s.def(result), s.may_overwrite(input, result);
                s.use(result), s.def(2);
            });
            auto role = [input](value_id v) {
                return v == input ? value_role::input : value_role::intermediate;
            };
            auto const planned = plan_symbolic(p, {.bytes = bytes, .dims = batches(9), .role = role});
            CHECK(planned);
            CHECK(planned.plan.buffer_of[0] == planned.plan.buffer_of[1]);
        }
}

TEST_CASE("what is not proved is said without numbers of a shape")
{
    formula const n = symbol(0);
    auto error_of = [](symbolic_options const& options) {
        snapshot const p = sequence(2, 2, [](std::uint32_t step, effect_sink& s) {
            if (step == 0) s.def(0);
            else s.view(1);
        });
        auto const planned = plan_symbolic(p, options);
        return planned ? std::string() : printed(planned.error());
    };
    // 16 (n - m)^2 is never below 0, which no coefficients show.
    std::vector<value_id> const views{no_value, 0};
    std::vector<dimension> const dims{{"n", 0, byte_count{1} << 24}, {"m", 0, byte_count{1} << 24}};
    formula const m = symbol(1);
    CHECK(error_of({.bytes = {16 * n * n + 16 * m * m, 32 * n * m}, .dims = dims, .alias_of = views}) ==
          "it is not proved for every shape: value 1 is a view of value 0 that ends within it");
}

TEST_CASE("a report without a formula is no reason to refuse a program")
{
    std::vector<formula> sizes;
    std::vector<std::vector<int>> uses(1), defs(1);
    for (int i = 0; i != 2500; ++i) {
        sizes.push_back(4 * ceil_divide(symbol(0), static_cast<byte_count>(3 + i)));
        defs[0].push_back(i);
    }
    auto const planned = plan_symbolic(op_list(sizes.size(), uses, defs),
                                       {.bytes = sizes, .dims = batches(9), .effort = effort::fast});
    CHECK(planned);
    CHECK(planned.report().naive.is_by_shape());
}

TEST_CASE("views of views at open offsets with a constant sum keep the order of their writes")
{
    formula const n = symbol(0);
    auto const program = sequence(5, 4, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        else if (step == 1) s.use(0), s.view(1);
        else if (step == 4) s.use(0);
        else s.view(+step), s.write(+step);
    });
    auto is_planned = [&](byte_count other) {
        return bool(plan_symbolic(program, {.bytes = {20, 20 - n, 5, 5},
                                            .dims = {{"n", 0, 5}},
                                            .alias_of = {-1, 0, 1, 0},
                                            .view_offset = {formula{}, n, 5 - n, formula(other)},
                                            .order = {0, 1, 3, 2, 4},
                                            .check = false}));
    };
    CHECK(is_planned(0)); // bytes [5, 10) and [0, 5)
    CHECK(!is_planned(5));
}

TEST_CASE("the samples that are asked for decide where two shapes disagree")
{
    // Two orders of three buffers: one is lowest for a large N, the other for a large M.
    formula const n = symbol(0), m = symbol(1);
    snapshot const program = op_list(5, {{}, {0}, {1}, {2}, {0, 3}}, {{0, 1}, {2}, {3}, {4}, {}});
    symbolic_options options{.bytes = {8, n, m, n, 8 + m},
                             .dims = {{"N", 1, 1000}, {"M", 1, 1000}},
                             .goal = symbolic_options::goal_kind::mean};
    for (shape const& often : std::vector<shape>{{1000, 1}, {1, 1000}, {1000, 1000}, {3, 900}}) {
        options.samples = {{often, 1}};
        auto const planned = plan_symbolic(program, options);
        REQUIRE(planned);
        auto const own = plan_memory(program, options.at(often));
        CHECK(planned.plan.bytes(often) == own.bytes());
    }
}

TEST_CASE("a view of a view lies at the sum of both offsets, for every shape")
{
    auto const views = sequence(3, 3, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use(step - 1), s.view(+step);
    });
    formula const n = symbol(0);
    auto const planned = plan_symbolic(views, {.bytes = {16 + 64 * n, 8 + 32 * n, 16 * n},
                                               .dims = batches(3),
                                               .alias_of = {-1, 0, 1},
                                               .view_offset = {formula{}, 4 + 8 * n, 2 * n * n}});
    REQUIRE(planned);
    for (byte_count at : {1u, 2u, 3u}) {
        CHECK(planned.plan.offset_of(1, at) - planned.plan.offset_of(0, at) == 4 + 8 * at);
        CHECK(planned.plan.offset_of(2, at) - planned.plan.offset_of(0, at) == 4 + 8 * at + 2 * at * at);
    }
}

TEST_CASE("writes through views with open places keep their order, whatever the places are")
{
    //   0: def cache   1: write row a   2: write row b   3: use cache
    auto const rows = sequence(4, 3, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        else if (step == 3) s.use(0);
        else s.view(+step), s.write(+step);
    });
    symbolic_options options{.bytes = {64 + symbol(0), 8, 8},
                             .dims = batches(9),
                             .alias_of = {-1, 0, 0},
                             .view_offset = {formula{}, 8, 16}};
    options.order = {0, 2, 1, 3};
    CHECK(plan_symbolic(rows, options)); // they have no byte in common
    options.view_offset = {formula{}, 8, 15 + symbol(0)};
    CHECK(failure_of(plan_symbolic(rows, options)).find("write") != std::string::npos);
    options.order = {};
    CHECK(plan_symbolic(rows, options));
}

TEST_CASE("for every schedule, branches have bytes of their own, and hand-offs let them share")
{
    //   0: def a, 1: use a, 2: def b, 3: use b
    formula const n = symbol(0);
    snapshot const two = op_list(2, {{}, {0}, {}, {1}}, {{0}, {}, {1}, {}});
    symbolic_options options{.bytes = {8 * n, 12 * n}, .dims = batches(9)};
    CHECK(plan_symbolic(two, options).bytes() == 108);
    options.valid_for = program_reading::concurrent;
    auto const apart = plan_symbolic(two, options);
    REQUIRE(apart);
    CHECK(apart.bytes() == 180);
    CHECK(apart.report().is_checked);
    for (byte_count const one : {1u, 5u, 9u}) {
        memory_plan const plan = apart.plan.at(one);
        CHECK(plan.valid_for == program_reading::concurrent);
        CHECK(plan.arena_bytes == plan_concurrent(two, options.at(one)).plan.arena_bytes);
        CHECK(check_concurrent_plan(two, plan, options.at(one)));
    }
    options.handoffs = {{1, 2}};
    auto const handed = plan_symbolic(two, options);
    CHECK(handed.bytes() == 108);
    CHECK(handed.plan.at(3).handoffs == options.handoffs);
    CHECK(handed.plan == plan_symbolic(two, options).plan);
    CHECK(!(handed.plan == apart.plan));
}

TEST_CASE("long chains side by side are planned for every schedule, and too many buffers are refused")
{
    // Chains of which each begins with the same step; the last step reads all ends.
    int const chains = 3, length = 700;
    lists uses{{}}, defs{{0}};
    std::vector<int> ends;
    for (int v = 1; v != 1 + chains * length; ++v) {
        uses.push_back({v % length == 1 ? 0 : v - 1});
        defs.push_back({v});
        if (v % length == 0) ends.push_back(v);
    }
    uses.push_back(ends);
    defs.emplace_back();
    snapshot const p = op_list(1 + chains * length, uses, defs);
    symbolic_options const options{
        .bytes = 8 * symbol(0), .dims = batches(9), .valid_for = program_reading::concurrent};
    auto const planned = plan_symbolic(p, options);
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.bytes() == plan_concurrent(p, options.at(9)).bytes());
    lists many(8193);
    for (int v = 0; v != 8193; ++v) many[static_cast<std::size_t>(v)] = {v};
    CHECK_THROWS_WITH_AS(
        (void)plan_symbolic(op_list(8193, lists(8193), many), options),
        "sublet: a plan for every shape and every schedule has 8193 buffers, and may have 8192",
        precondition_error);
}

TEST_CASE("for every schedule, a wait that only some shapes have is none")
{
    //   0: def cache, def x   1: use x, write row a   2: use row b, def y   3: use cache, use y
    formula const n = symbol(0);
    auto const rows = sequence(4, 5, [](step_id step, effect_sink& s) {
        if (step == 0) return s.def(0), s.def(3);
        if (step == 3) return s.use(0), s.use(4);
        s.view(+step);
        if (step == 1) s.use(3), s.write(1);
        else s.use(2), s.def(4);
    });
    symbolic_options options{.bytes = {72, 8, 8, 8, 8},
                             .dims = batches(9),
                             .alias_of = {-1, 0, 0, -1, -1},
                             .view_offset = {formula{}, 8, 8, formula{}, formula{}},
                             .valid_for = program_reading::concurrent};
    auto const always = plan_symbolic(rows, options);
    CHECK(always.bytes() == 80);                                           // y over x: 2 waits for 1
    options.view_offset = {formula{}, 8, 8 * n - 8, formula{}, formula{}}; // for 2 only
    auto const planned = plan_symbolic(rows, options);
    CHECK(planned.bytes() == 88);
    for (byte_count one = 1; one != 10; ++one)
        CHECK(check_concurrent_plan(rows, planned.plan.at(one), options.at(one)));
    // Not for 3 to 7: no plan for the least and the largest shape shows it.
    options.view_offset = {formula{}, 8, 8 + (n - 1) * (9 - n), formula{}, formula{}};
    symbolic_plan wrong = always.plan;
    wrong.offset_in_root = {formula{}, 8, 8 + (n - 1) * (9 - n), formula{}, formula{}};
    for (byte_count const end : {1u, 9u}) CHECK(check_concurrent_plan(rows, wrong.at(end), options.at(end)));
    CHECK(check_plan(rows, wrong, options).error().what == fault::overwritten);
    // Not for 5, where row b has no bytes.
    options.view_offset = {formula{}, 8, 8, formula{}, formula{}};
    options.bytes = {72, 8, 8 * larger_of(n - 5, 5 - n), 8, 8};
    for (byte_count const end : {1u, 9u})
        CHECK(check_concurrent_plan(rows, always.plan.at(end), options.at(end)));
    CHECK(check_plan(rows, always.plan, options).error().what == fault::overwritten);
    CHECK(plan_symbolic(rows, options).bytes() == 88);
}

TEST_CASE("for every schedule, waits that views with open places may have go with all others")
{
    //   0 and 1 write views of one storage, in this order where they share bytes; an edge leads from 1 to 0
    formula const n = symbol(0);
    auto const pieces = tasks(
        3, 4, [](node_id v) { return v == 1 ? std::vector<node_id>{0} : std::vector<node_id>{}; },
        [](node_id v, effect_sink& s) {
            if (v == 2) return s.use(1), s.use(2), s.def(3);
            s.view(v + 1);
            s.write(v + 1);
        });
    symbolic_options options{.bytes = {2 * n, n, n, 8},
                             .dims = {{"n", 1, 4}},
                             .alias_of = {-1, 0, 0, -1},
                             .view_offset = {formula{}, formula{}, n, formula{}},
                             .valid_for = program_reading::concurrent};
    CHECK(failure_of(plan_symbolic(pieces, options)) ==
          "it is not proved for every shape: step 1 waits for itself: the order has a cycle: step 0 before 1 "
          "before 0");
    options.bytes = {8, 4, 4, 8};
    options.view_offset = {formula{}, formula{}, 4, formula{}};
    CHECK(plan_symbolic(pieces, options));
}

TEST_CASE("for every schedule, what a plan cannot keep is refused by a sentence")
{
    symbolic_options options{.bytes = affine_bytes{0, 8}, .dims = batches(2)};
    options.valid_for = program_reading::control_flow;
    CHECK_THROWS_WITH_AS((void)plan_symbolic(chain, options),
                         "sublet: plan_flow() plans for control flow, and for one shape", precondition_error);
    options.valid_for = program_reading::sequential;
    options.handoffs = {{0, 1}};
    CHECK_THROWS_WITH_AS((void)plan_symbolic(chain, options),
                         "sublet: hand-offs are given, and steps in one order have none: say valid_for = "
                         "program_reading::concurrent",
                         precondition_error);
    options.valid_for = program_reading::concurrent;
    options.handoffs = {{1, 0}};
    CHECK(failure_of(plan_symbolic(chain, options)).find("cycle") != std::string::npos);
    options.handoffs = {{1, 9}};
    CHECK_THROWS_AS((void)plan_symbolic(chain, options), precondition_error);
    options.handoffs = {};
    CHECK(plan_symbolic(snapshot{}, {.bytes = formula{}, .valid_for = program_reading::concurrent}));
}

TEST_CASE("a program that uses a value before its definition has no plan for any shape")
{
    symbolic_options const options{.bytes = affine_bytes{0, 8}, .dims = batches(2), .order = {1, 0, 2, 3}};
    auto const planned = plan_symbolic(chain, options);
    CHECK(failure_of(planned) == "value 0 is used at position 0, listed before step 0, "
                                 "which makes it: order() finds "
                                 "an order that can run");
    CHECK(planned.plan.at(2).buffer_of == std::vector<buffer_id>(4, no_buffer));
}

TEST_CASE("programs with back edges have no plan for any shape, checked or not")
{
    auto const loop = tasks(
        2, 2, [](node_id n) { return std::vector<node_id>{1 - n}; },
        [](node_id n, effect_sink& s) { n == 0 ? s.def(0) : (s.use(0), s.def(1)); });
    for (bool const check : {true, false}) {
        auto const planned =
            plan_symbolic(loop, {.bytes = affine_bytes{0, 8}, .dims = batches(2), .check = check});
        REQUIRE(!planned);
        CHECK(planned.error() == counterexample{.what = fault::leads_back,
                                                .of = counterexample::waiting{.position = 1},
                                                .schedule = {1, 0}});
        CHECK(planned.plan.buffer_of == std::vector<buffer_id>(2, no_buffer));
    }
}

TEST_CASE("alignments hold for every shape: an odd slope costs padding, a multiple none")
{
    auto const odd =
        plan_symbolic(chain, {.bytes = affine_bytes{0, 100}, .dims = batches(50), .alignment = 64});
    CHECK(odd);
    for (byte_count n = 1; n <= 50; ++n) {
        memory_plan const plan = odd.plan.at(n);
        CHECK(plan.offset_of(0) % 64 == 0);
        CHECK(plan.offset_of(1) % 64 == 0);
        CHECK(plan.arena_bytes[0] == align_up(100 * n, 64) + 100 * n);
    }
    CHECK(odd.report().arena == round_up(100 * symbol(0), 64) + 100 * symbol(0));
    auto const even =
        plan_symbolic(chain, {.bytes = affine_bytes{0, 128}, .dims = batches(50), .alignment = 64});
    CHECK(even.report().arena == affine_bytes{0, 256});
}

TEST_CASE("sizes near 2^40 and a batch of a million are planned; sizes beyond 63 bits are refused")
{
    symbolic_options options{.bytes = affine_bytes{1, (byte_count{1} << 40) - 1}, .dims = batches(1'000'000)};
    auto const planned = plan_symbolic(chain, options);
    CHECK(planned);
    CHECK(planned.plan.at(1'000'000).arena_bytes[0] == 2 * (1 + 1'000'000 * ((byte_count{1} << 40) - 1)));
    options.dims = batches(byte_count{1} << 30);
    CHECK_THROWS_AS(static_cast<void>(plan_symbolic(chain, options)), precondition_error);
}

TEST_CASE("a size that is negative for some shape is refused")
{
    CHECK_THROWS_WITH_AS((void)plan_symbolic(chain, {.bytes = 8 * symbol(0) - 9, .dims = batches(4)}),
                         "sublet: the size of value 0 is not proved to be at least 0 for every shape",
                         precondition_error);
    CHECK(plan_symbolic(chain, {.bytes = 8 * symbol(0) - 8, .dims = batches(4)}));
    formula const n = symbol(0); // -1 for one shape of many
    CHECK_THROWS_AS((void)plan_symbolic(chain, {.bytes = (n - 701) * (n - 703), .dims = {{"n", 0, 100'000}}}),
                    precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_symbolic(chain, {.bytes = symbol(2), .dims = batches(4)}),
                         "sublet: the size of value 0 is in dimension 2, but `dims` has only 1",
                         precondition_error);
}

TEST_CASE("the plan of a training step is low between the lengths that are sampled, too")
{
    //     x ─► scores ─► y ─► wide ─►     kept for the way back, on which gradients of fixed sizes are kept
    //     to the end
    constexpr unsigned layers = 8;
    formula const length = symbol(0);
    std::vector<formula> bytes;
    lists uses, defs;
    auto make = [&bytes](formula const& size) {
        bytes.push_back(size);
        return static_cast<int>(bytes.size() - 1);
    };
    auto step = [&uses, &defs](std::vector<int> reads, std::vector<int> makes) {
        uses.push_back(std::move(reads));
        defs.push_back(std::move(makes));
    };
    std::vector<int> kept, gradients;
    int x = make(64 * length);
    step({}, {x});
    for (unsigned layer = 0; layer != layers; ++layer) {
        int const scores = make(8 * length * length), y = make(64 * length), wide = make(256 * length);
        step({x}, {scores});
        step({scores, x}, {y});
        step({y}, {wide});
        kept.insert(kept.end(), {x, wide});
        x = y;
    }
    int back = make(64 * length);
    step({x}, {back});
    for (unsigned layer = layers; layer-- != 0;) {
        int const wide = make(256 * length), one = make(20'000), next = make(64 * length), other = make(5000);
        step({back, kept[2 * layer + 1]}, {wide, one});
        step({wide, kept[2 * layer]}, {next, other});
        gradients.insert(gradients.end(), {one, other});
        back = next;
    }
    for (int g : gradients) step({g}, {});
    auto const planned =
        plan_symbolic(op_list(bytes.size(), uses, defs), {.bytes = bytes, .dims = {{"length", 1, 2048}}});
    CHECK(planned);
    CHECK(planned.report().samples.size() > 3); // some between the least, the middle and the largest
    unsigned far = 0;
    symbolic_plan::places now;
    for (byte_count n = 1; n <= 2048; ++n) {
        planned.plan.place(n, now);
        std::vector<byte_count> change(uses.size() + 1, 0); // sums wrap around
        for (buffer_id b = 0; b != planned.plan.buffers.size(); ++b) {
            live_range const life = planned.plan.buffers[b].life;
            change[life.first] += now.size[+b];
            change[life.last] -= now.size[+b];
        }
        byte_count live = 0, most = 0;
        for (byte_count more : change) most = larger(most, live += more);
        far += now.at.bytes[0] > most + most / 100; // corners and the middle alone: 6 % at 78
    }
    CHECK(far == 0);
}

TEST_CASE("shapes that are tried are in the ranges, have their strides, and are spread over them")
{
    std::vector<dimension> const dims{{"batch", 1, 16},  {"height", 64, 1024, 32},
                                      {"past", 0, 2047}, {"fixed", 7, 7},
                                      {"none", 0, 0},    {"huge", 3, byte_count{1} << 62, 5}};
    std::vector<unsigned> low(dims.size(), 0), high(dims.size(), 0);
    for (std::uint32_t i = 1; i <= 64; ++i) {
        shape const one = detail::spread_shape(dims, i);
        CHECK(one.size() == dims.size());
        for (std::size_t d = 0; d != dims.size(); ++d) {
            CHECK(one[d] >= dims[d].least);
            CHECK(one[d] <= dims[d].most);
            CHECK((one[d] - dims[d].least) % dims[d].stride == 0);
            low[d] += one[d] < larger(dims[d].least, byte_count{1}) * 4;
            high[d] += one[d] >= dims[d].most / 4;
        }
    }
    for (std::size_t d : {0u, 1u}) {
        CHECK(low[d] >= 24); // of 4 doublings the first two
        CHECK(high[d] >= 24);
    }
    CHECK(low[2] >= 6); // of 11
    CHECK(high[2] >= 6);
}

TEST_CASE("the report is one line")
{
    std::ostringstream out;
    out << plan_symbolic(chain,
                         {.bytes = {affine_bytes{0, 64}, {0, 32}, {10, 0}, {0, 48}}, .dims = batches(32)});
    CHECK(out.str() == "96*N bytes instead of 10 + 144*N, for N from 1 to 32");
    std::ostringstream nothing;
    nothing << planned_symbolic::summary{};
    CHECK(nothing.str() == "nothing to place");
}

} // namespace this_test
