// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/affine.hpp>
#include <sublet/core/symbolic_plan.hpp>

#include "random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//   a: 100 N bytes at 0      b: 32 bytes above it, at a multiple of 64
symbolic_plan const two{
    .max_batch = 8,
    .order = {0, 1},
    .buffers = {{0, {0, 2}, {0, 100}, 64, 0, {0, 0}}, {1, {1, 2}, {32, 0}, 64, 0, {0, 100}}},
    .buffer_of = {0, 1, no_buffer},
    .arena = {{92, 100}},
    .unsized = {2}};

} // namespace

TEST_CASE("a start is rounded up to the alignment, for each batch separately")
{
    CHECK(two.offset_of(1, 1) == 128);
    CHECK(two.offset_of(1, 3) == 320);
    CHECK(two.offset_of(0, 3) == 0);
    CHECK(two.offset_of(2, 3) == no_offset);
}

TEST_CASE("a top includes the largest padding")
{
    CHECK(two.buffers[1].top() == affine_bytes{92, 100}); // 32 and 60: 100 N leaves 4, 8 ... of 64
    CHECK(two.buffers[0].top() == affine_bytes{0, 100});
    for (byte_count n = 1; n != 9; ++n) CHECK(two.offset_of(1, n) + 32 <= two.buffers[1].top().at(n));
}

TEST_CASE("for one batch it is an ordinary plan")
{
    memory_plan const plan = two.at(3);
    CHECK(plan.valid_for == program_reading::sequential);
    CHECK(plan.order == std::vector<node_id>{0, 1});
    CHECK(plan.buffers[0] == memory_plan::placed_buffer{0, {0, 2}, 300, 64, 0, 0});
    CHECK(plan.buffers[1] == memory_plan::placed_buffer{1, {1, 2}, 32, 64, 0, 320});
    CHECK(plan.arena_bytes == std::vector<byte_count>{352});
    CHECK(plan.buffer_of == two.buffer_of);
    CHECK(plan.unsized == std::vector<value_id>{2});
    CHECK(two.arena[0].at(3) >= 352);
}

TEST_CASE("a plan holds from a batch of 1 to the largest, and refuses others")
{
    CHECK_THROWS_AS(static_cast<void>(two.at(0)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(two.at(9)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(two.at(-1)), precondition_error);
    CHECK(two.at(8).arena_bytes[0] == 864);
}

TEST_CASE("an empty plan is empty for every batch") { CHECK(symbolic_plan{}.at(1) == memory_plan{}); }

// --- affine bytes ------------------------------------------------------------------------------------------

TEST_CASE("a size is fixed bytes plus bytes per unit of the batch")
{
    affine_bytes constexpr image{100, 64};
    static_assert(image.at(1) == 164 && image.at(3) == 292);
    CHECK(image.is_known());
    CHECK(image.is_scaled());
    CHECK(!affine_bytes{100, 0}.is_scaled());
    CHECK(checked_add(image, {4, 8}) == affine_bytes{104, 72});
}

TEST_CASE("an unknown size is unknown for every batch, and differs from every known size")
{
    CHECK(affine_bytes::unknown().at(7) == no_size);
    CHECK(!affine_bytes::unknown().is_known());
    CHECK(!affine_bytes::unknown().is_scaled());
    CHECK_THROWS_AS(static_cast<void>(affine_bytes{1, no_size - 1}.at(1)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(affine_bytes{0, byte_count{1} << 44}.at(byte_count{1} << 20)),
                    precondition_error);
    CHECK(affine_bytes{0, byte_count{1} << 40}.at(1'000'000) == 1'000'000 * (byte_count{1} << 40));
}

TEST_CASE("of two sizes that cross neither is above the other, and the line over both ends is above both")
{
    affine_bytes constexpr high{1000, 0}, steep{0, 100};
    CHECK(!never_above(high, steep, 32));
    CHECK(!never_above(steep, high, 32));
    CHECK(never_above(steep, high, 10));
    affine_bytes const line = least_above(high, steep, 32);
    CHECK(line == affine_bytes{929, 71});
    CHECK(line.at(1) == 1000);
    CHECK(line.at(32) == 3201); // 70.97 is rounded up
    CHECK(least_above(high, steep, 10) == high);
}

TEST_CASE("for a single batch one of two sizes is always the larger")
{
    CHECK(least_above({10, 0}, {0, 10}, 1) == affine_bytes{0, 10});
    CHECK(line_over(10, 10, 1) == affine_bytes{10, 0});
}

TEST_CASE("a line that leaves 64 bits is refused")
{
    CHECK_THROWS_AS(static_cast<void>(line_over(no_size - 2, no_size - 1, 3)), precondition_error);
    CHECK(line_over(no_size - 2, no_size - 2, 1'000'000) == affine_bytes{no_size - 2, 0});
}

TEST_CASE("comparing both ends gives the same as comparing every batch, and no line is lower")
{
    random_source pick{std::mt19937(7)};
    auto number = [&] { return affine_bytes{pick.below(60), pick.below(12)}; };
    for (unsigned round = 0; round != rounds(20'000); ++round) {
        affine_bytes const a = number(), b = number();
        byte_count const most = 1 + pick.below(12);
        bool is_below = true;
        for (byte_count n = 1; n <= most; ++n) is_below = is_below && a.at(n) <= b.at(n);
        REQUIRE(never_above(a, b, most) == is_below);

        affine_bytes const line = least_above(a, b, most);
        for (byte_count n = 1; n <= most; ++n) REQUIRE(line.at(n) >= std::max(a.at(n), b.at(n)));
        REQUIRE(line.at(1) == std::max(a.at(1), b.at(1)));
        REQUIRE(line.at(most) < std::max(a.at(most), b.at(most)) + most);
        // One byte less of either part, and one size is above it at an end.
        if (line != a && line != b && line.fixed != 0)
            REQUIRE(!(never_above(a, {line.fixed - 1, line.per_batch}, most) &&
                      never_above(b, {line.fixed - 1, line.per_batch}, most)));
        if (line != a && line != b)
            REQUIRE(!(never_above(a, {line.fixed, line.per_batch - 1}, most) &&
                      never_above(b, {line.fixed, line.per_batch - 1}, most)));

        // Of several: the line over the maxima at each end is above all of them.
        affine_bytes const c = number();
        byte_count const low = std::max(line.at(1), c.at(1)), high = std::max(line.at(most), c.at(most));
        affine_bytes const over = line_over(low, high, most);
        for (byte_count n = 1; n <= most; ++n) REQUIRE(over.at(n) >= std::max(line.at(n), c.at(n)));
    }
}

TEST_CASE("rounding up adds at most max_padding bytes, and exactly that for some batch")
{
    for (byte_count alignment = 1; alignment != 25; ++alignment)
        for (byte_count fixed = 0; fixed != 25; ++fixed)
            for (byte_count slope = 0; slope != 25; ++slope) {
                affine_bytes const a{fixed, slope};
                byte_count most = 0;
                for (byte_count n = 1; n <= alignment; ++n)
                    most = std::max(most, align_up(a.at(n), alignment) - a.at(n));
                REQUIRE(max_padding(a, alignment) == most);
                byte_count const divisor = common_divisor(slope, alignment);
                REQUIRE(alignment % divisor == 0);
                REQUIRE(slope % divisor == 0);
            }
}

// --- symbolic options --------------------------------------------------------------------------------------

TEST_CASE("for one batch the options are those of an ordinary plan")
{
    std::vector<affine_bytes> const sizes{{0, 64}, {32, 0}, affine_bytes::unknown()};
    symbolic_options const options{.bytes = sizes,
                                   .max_batch = 8,
                                   .alignment = 16,
                                   .role = {value_role::input, value_role::output, value_role::external},
                                   .pools = {{.capacity = 4096}},
                                   .order = {0},
                                   .in_place = false};
    plan_options const one = options.at(3);
    CHECK(one.bytes.tabulate(3) == std::vector<byte_count>{192, 32, no_size});
    CHECK(one.alignment[0] == 16);
    CHECK(one.role[1] == value_role::output);
    CHECK(one.alias_of[0] == no_value);
    CHECK(one.pools[0].capacity == 4096);
    CHECK(one.order == std::vector<node_id>{0});
    CHECK(!one.in_place);
    CHECK(one.check);
}

TEST_CASE("sizes are a constant, a table or a callable")
{
    CHECK(symbolic_options{.bytes = affine_bytes{4, 8}}.bytes[9].at(2) == 20);
    symbolic_options const called{.bytes = [](auto v) { return affine_bytes{0, v}; }, .max_batch = 2};
    CHECK(called.at(2).bytes[21] == 42);
}

TEST_CASE("a batch of 0 and one beyond the largest are refused")
{
    symbolic_options const options{.bytes = affine_bytes{4, 8}, .max_batch = 5};
    CHECK_THROWS_AS(static_cast<void>(options.at(0)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(options.at(6)), precondition_error);
    CHECK(options.at(5).bytes[0] == 44);
}

} // namespace this_test
