// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/symbolic_plan.hpp>

#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//   a: 100 N bytes      b: 32 M bytes on top of it, at a multiple of 64      v: a view of b, from byte N on
symbolic_plan two()
{
    formula const n = symbol(0), m = symbol(1);
    return {.dims = {{"N", 1, 8}, {"M", 0, 64, 16}},
            .order = {0, 1},
            .buffers = {{0, {0, 2}, 0, 64, 0}, {1, {1, 2}, 1, 64, 0}},
            .buffer_of = {0, 1, no_buffer, 1},
            .sizes = {100 * n, 32 * m},
            .stack = {.order = {{.buffer = 0, .first_below = 0, .alignment = 64},
                                {.buffer = 1, .first_below = 0, .alignment = 64}},
                      .below = {0},
                      .pools = 1},
            .most_bytes = {832 + 2048},
            .unsized = {2},
            .offset_in_root = {0, 0, 0, n}};
}

} // namespace

TEST_CASE("a shape gives each buffer its size, and an offset on top of what lies below")
{
    symbolic_plan const plan = two();
    symbolic_plan::places now;
    plan.place({3, 16}, now);
    CHECK(now.shape == shape{3, 16});
    CHECK(now.size == std::vector<byte_count>{300, 512});
    CHECK(now.at.of == std::vector<byte_count>{0, 320});
    CHECK(now.at.bytes == std::vector<byte_count>{832});
    CHECK(plan.offset_of(1, now) == 320);
    CHECK(plan.offset_of(3, now) == 323);
    CHECK(plan.offset_of(2, now) == no_offset);
    CHECK(plan.offset_of(3, {8, 64}) == 840);
    plan.place({1, 0}, now);
    CHECK(now.at.of == std::vector<byte_count>{0, 128});
    CHECK(now.at.bytes == std::vector<byte_count>{100});
    CHECK(plan.bytes({8, 64}) == plan.most_bytes[0]);
    CHECK(plan.bytes({8, 64}, 1) == 0);
}

TEST_CASE("for one shape it is an ordinary plan, in which a buffer without bytes has no number")
{
    memory_plan const plan = two().at({3, 16});
    CHECK(plan.valid_for == program_reading::sequential);
    CHECK(plan.order == std::vector<node_id>{0, 1});
    REQUIRE(plan.buffers.size() == 2);
    CHECK(plan.buffers[0] == memory_plan::placed_buffer{0, {0, 2}, 300, 64, 0, 0});
    CHECK(plan.buffers[1] == memory_plan::placed_buffer{1, {1, 2}, 512, 64, 0, 320});
    CHECK(plan.arena_bytes == std::vector<byte_count>{832});
    CHECK(plan.buffer_of == two().buffer_of);
    CHECK(plan.offset_in_root == std::vector<byte_count>{0, 0, 0, 3});
    CHECK(plan.unsized == std::vector<value_id>{2});

    memory_plan const small = two().at({1, 0});
    REQUIRE(small.buffers.size() == 1);
    CHECK(small.buffer_of == std::vector<buffer_id>{0, no_buffer, no_buffer, no_buffer});
    REQUIRE(small.empty.size() == 2);
    CHECK(small.empty[0].value == 1);
    CHECK(small.empty[1].value == 3);
    CHECK(small.offset_of(3) == 0);
}

TEST_CASE("a plan holds for the shapes in its ranges, and refuses others")
{
    symbolic_plan const plan = two();
    for (shape const& wrong : std::vector<shape>{{0, 16}, {9, 16}, {1, 8}, {1, 80}, {1}, {1, 16, 1}, {}}) {
        CAPTURE(wrong.size());
        CHECK_THROWS_AS((void)plan.at(wrong), precondition_error);
    }
    CHECK_THROWS_AS((void)symbolic_plan{.dims = batches(3)}.at(-1), precondition_error);
    CHECK(symbolic_plan{.dims = batches(3)}.at(2) == memory_plan{});
    CHECK(symbolic_plan{}.at(shape{}) == memory_plan{});
}

TEST_CASE("whether a shape fits, the largest size that does, and the bytes of a mixture")
{
    symbolic_plan const plan = two();
    table<pool_id, pool_limits> const room = {{.capacity = 1500}};
    CHECK(plan.fits({3, 16}, room));
    CHECK(!plan.fits({8, 64}, room));
    CHECK(plan.fits({8, 64}, {}));
    for (byte_count capacity = 0; capacity < 3000; capacity += 17) {
        CAPTURE(capacity);
        for (byte_count m : {0u, 16u, 64u}) {
            byte_count most = 0;
            for (byte_count n = 1; n <= 8; ++n)
                if (plan.fits({n, m}, {{.capacity = capacity}})) most = n;
            CHECK(plan.largest(0, {1, m}, {{.capacity = capacity}}).value_or(0) == most);
        }
    }
    CHECK(plan.largest(1, {3, 0}, room) == 32);
    CHECK(plan.largest(1, {3, 0}, {}) == 64);
    CHECK(plan.largest(1, {3, 0}, {{.capacity = 300}}) == 0); // a size of 0 fits
    CHECK(!plan.largest(1, {3, 0}, {{.capacity = 299}}));
    CHECK_THROWS_AS((void)plan.largest(2, {3, 0}, room), precondition_error);
    CHECK_THROWS_AS((void)plan.largest(1, 3, room), precondition_error); // too few sizes for dimension 1
    CHECK_THROWS_AS((void)plan.largest(0, {3, 0, 0}, room), precondition_error);
    std::vector<symbolic_options::sample> const mixture{{{3, 16}, 2}, {{1, 0}, 1}, {{8, 64}, 0}};
    CHECK(plan.mean_bytes(mixture) == 588); // (2 * 832 + 100) / 3
    CHECK_THROWS_AS((void)plan.mean_bytes({}), precondition_error);
}

TEST_CASE("the largest size of a range with as many sizes as 64 bits count is found")
{
    symbolic_plan plan{.dims = {{"N", 0, no_size}}};
    CHECK(plan.largest(0, 0, {}) == no_size); // it has no buffers
}

TEST_CASE("places keep their shape where another one is refused")
{
    symbolic_plan plan = two();
    plan.sizes[0] = 100 * (3 - symbol(0)) * (5 - symbol(0)); // below 0 for 4
    symbolic_plan::places now;
    plan.place({1, 16}, now);
    byte_count const at = plan.offset_of(3, now);
    CHECK_THROWS_AS(plan.place({4, 16}, now), precondition_error);
    CHECK(now.shape == shape{1, 16});
    CHECK(plan.offset_of(3, now) == at);
}

TEST_CASE("of a size that does not rise with a dimension the largest that fits is still found")
{
    symbolic_plan plan = two();
    plan.sizes[0] = 100 * (8 - symbol(0)); // falls to 0
    for (byte_count capacity = 0; capacity < 1000; capacity += 13) {
        byte_count most = 0;
        for (byte_count n = 1; n <= 8; ++n)
            if (plan.fits({n, 0}, {{.capacity = capacity}})) most = n;
        CHECK(plan.largest(0, {1, 0}, {{.capacity = capacity}}).value_or(0) == most);
    }
}

TEST_CASE("a size that is no formula is asked for each shape")
{
    symbolic_plan plan = two();
    plan.sizes[1] = formula::by_shape();
    plan.bytes_at = [](value_id v, std::span<byte_count const> sizes) {
        return +v + sizes[0] * sizes[1] % 7;
    };
    CHECK(plan.at({3, 16}).buffers[1].size == 1 + 48 % 7);
    CHECK(plan.at({3, 32}).buffers[1].size == 1 + 96 % 7);
    symbolic_plan const copy = plan;
    plan = two();
    CHECK(copy.at({3, 16}).buffers[1].size == 1 + 48 % 7);
    CHECK(!(copy == plan));
}

// --- symbolic options --------------------------------------------------------------------------------------

TEST_CASE("for one shape the options are those of an ordinary plan")
{
    std::vector<formula> const sizes{64 * symbol(0), 32, formula::unknown(), formula::by_shape()};
    symbolic_options const options{
        .bytes = sizes,
        .dims = batches(8),
        .bytes_at = [](value_id v, auto shape) { return 10 * +v + shape[0]; },
        .alignment = 16,
        .role = {value_role::input, value_role::output, value_role::external, value_role::intermediate},
        .view_offset = 8 * symbol(0),
        .pinned = 48,
        .pools = {{.capacity = 4096}},
        .order = {0},
        .in_place = false};
    plan_options const one = options.at(3);
    CHECK(one.bytes.tabulate(4) == std::vector<byte_count>{192, 32, no_size, 33});
    CHECK(one.alignment[0] == 16);
    CHECK(one.role[1] == value_role::output);
    CHECK(one.alias_of[0] == no_value);
    CHECK(one.view_offset[1] == 24);
    CHECK(one.pinned[1] == 48);
    CHECK(one.pools[0].capacity == 4096);
    CHECK(one.order == std::vector<node_id>{0});
    CHECK(!one.in_place);
    CHECK(one.check);
}

TEST_CASE("sizes are a constant, a table or a callable, of formulas or of numbers")
{
    CHECK(symbolic_options{.bytes = 4 + 8 * symbol(0), .dims = batches(3)}.at(2).bytes[9] == 20);
    CHECK(symbolic_options{.bytes = 4}.at(shape{}).bytes[9] == 4);
    symbolic_options const called{.bytes = [](auto v) { return +v * symbol(0); }, .dims = batches(2)};
    CHECK(called.at(2).bytes[21] == 42);
    symbolic_options const none{.bytes = formula::by_shape(), .dims = batches(2)};
    CHECK_THROWS_AS((void)none.at(2).bytes[0], precondition_error);
}

TEST_CASE("options of a shape that is in none of the ranges are refused")
{
    symbolic_options const options{.bytes = affine_bytes{4, 8}, .dims = {{"N", 2, 5, 3}}};
    for (byte_count wrong : {0u, 1u, 3u, 6u, 8u})
        CHECK_THROWS_AS((void)options.at(wrong), precondition_error);
    CHECK(options.at(5).bytes[0] == 44);
    CHECK(options.at(2).bytes[0] == 20);
}

} // namespace this_test
