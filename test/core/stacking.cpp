// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/stacking.hpp>

#include "random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//   c on a and b, d on c; e alone in pool 1
stacking const five{.order = {{.buffer = 1, .first_below = 0},
                              {.buffer = 0, .first_below = 0},
                              {.buffer = 2, .first_below = 0, .alignment = 16},
                              {.buffer = 4, .first_below = 2, .pool = 1},
                              {.buffer = 3, .first_below = 2}},
                    .below = {0, 1, 2},
                    .pools = 2};

stacking::offsets placed(stacking const& all, std::vector<byte_count> const& sizes)
{
    stacking::offsets result;
    verdict const valid = all.place(sizes, result);
    REQUIRE(valid);
    return result;
}

} // namespace

TEST_CASE("a buffer lies on top of the highest buffer below it, whatever the sizes are")
{
    auto const low = placed(five, {64, 32, 8, 4, 100});
    CHECK(low.of == std::vector<byte_count>{0, 0, 64, 72, 0});
    CHECK(low.bytes == std::vector<byte_count>{76, 100});
    auto const high = placed(five, {10, 500, 8, 4, 0});
    CHECK(high.of == std::vector<byte_count>{0, 0, 512, 520, 0});
    CHECK(high.bytes == std::vector<byte_count>{524, 0});
}

TEST_CASE("the same offsets are used again for the next sizes")
{
    stacking::offsets result;
    CHECK(five.place(std::vector<byte_count>{64, 32, 8, 4, 100}, result));
    auto const* const at = result.of.data();
    CHECK(five.place(std::vector<byte_count>{1, 1, 1, 1, 1}, result));
    CHECK(result.of.data() == at);
    CHECK(result.of == std::vector<byte_count>{0, 0, 16, 17, 0});
    CHECK(result.bytes == std::vector<byte_count>{18, 1});
}

TEST_CASE("a pinned buffer lies at its pin, or the sizes below it are refused")
{
    stacking const pinned{.order = {{.buffer = 0, .first_below = 0},
                                    {.buffer = 1, .first_below = 0, .pinned = 100},
                                    {.buffer = 2, .first_below = 1}},
                          .below = {0, 1},
                          .pools = 1};
    CHECK(placed(pinned, {100, 8, 8}).of == std::vector<byte_count>{0, 100, 108});
    CHECK(placed(pinned, {7, 8, 8}).bytes == std::vector<byte_count>{116});
    stacking::offsets result;
    verdict const refused = pinned.place(std::vector<byte_count>{101, 8, 8}, result);
    REQUIRE(!refused);
    CHECK(refused.error() ==
          counterexample{fault::off_pin,
                         counterexample::buffers{.buffer = 1, .pool = 0, .begin = 101, .needed = 100}});
    // Without bytes it needs no place, and what lies above it still lies above what is below it.
    CHECK(placed(pinned, {101, 0, 8}).of[2] == 101);
}

TEST_CASE("a buffer that is written over another lies where that lies, and is no larger")
{
    stacking const over{.order = {{.buffer = 0, .first_below = 0},
                                  {.buffer = 1, .first_below = 0},
                                  {.buffer = 2, .first_below = 1, .over = 1},
                                  {.buffer = 3, .first_below = 1}},
                        .below = {0, 2},
                        .pools = 1};
    CHECK(placed(over, {10, 8, 4, 2}).of == std::vector<byte_count>{0, 10, 10, 14});
    stacking::offsets result;
    verdict const refused = over.place(std::vector<byte_count>{10, 8, 9, 2}, result);
    REQUIRE(!refused);
    CHECK(refused.error().what == fault::clash);
}

TEST_CASE("an empty stacking has no bytes, and a wrong number of sizes is refused")
{
    CHECK(placed(stacking{}, {}).bytes.empty());
    stacking::offsets result;
    CHECK_THROWS_AS((void)five.place(std::vector<byte_count>{1, 2}, result), precondition_error);
}

TEST_CASE("sizes that exceed 64 bits together are refused, and none of them wraps round")
{
    stacking::offsets result;
    byte_count const half = no_size / 2;
    CHECK_THROWS_AS((void)five.place(std::vector<byte_count>{half, 1, half, 1, 1}, result),
                    precondition_error);
    CHECK_THROWS_AS((void)five.place(std::vector<byte_count>{no_size, 1, 1, 1, 1}, result),
                    precondition_error);
    CHECK(five.place(std::vector<byte_count>{half, 1, half - 200, 1, 1}, result));
}

TEST_CASE("each offset is the largest of the tops below it, rounded up, and no smaller one is")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        stacking drawn{.pools = 3};
        std::size_t const n = 1 + pick.below(12);
        std::vector<buffer_id> const ids = pick.permutation<buffer_id>(n);
        for (std::size_t i = 0; i != n; ++i) {
            stacking::layer its{.buffer = ids[i],
                                .first_below = static_cast<std::uint32_t>(drawn.below.size()),
                                .pool = pick.below(3),
                                .alignment = 1 + pick.below(9)};
            for (std::size_t k = 0; k != i; ++k)
                if (pick.below(3) == 0 && drawn.order[k].pool == its.pool) drawn.below.push_back(ids[k]);
            drawn.order.push_back(its);
        }
        stacking::offsets result;
        for (unsigned round = 0; round != 3; ++round) {
            std::vector<byte_count> sizes;
            for (std::size_t i = 0; i != n; ++i) sizes.push_back(pick.below(50));
            REQUIRE(drawn.place(sizes, result));
            std::vector<byte_count> bytes(3, 0);
            for (std::size_t i = 0; i != n; ++i) {
                stacking::layer const& its = drawn.order[i];
                std::size_t const end = i + 1 == n ? drawn.below.size() : drawn.order[i + 1].first_below;
                byte_count most = 0;
                for (std::size_t k = its.first_below; k != end; ++k)
                    most = std::max(most, result.of[drawn.below[k]] + sizes[+drawn.below[k]]);
                byte_count const at = result.of[its.buffer];
                REQUIRE(at % its.alignment == 0);
                REQUIRE(at >= most);
                REQUIRE(at - most < its.alignment);
                if (sizes[+its.buffer] != 0)
                    bytes[its.pool] = std::max(bytes[its.pool], at + sizes[+its.buffer]);
            }
            REQUIRE(result.bytes == bytes);
        }
    }
}

} // namespace this_test
