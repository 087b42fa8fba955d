// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/detail/svg_map.hpp>

#include "../dice.hpp"
#include "svg_reading.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

namespace {

using sublet::byte_count;
using sublet::step_id;

std::vector<sublet::memory_plan::placed_buffer const*>
pointers(std::vector<sublet::memory_plan::placed_buffer> const& buffers)
{
    std::vector<sublet::memory_plan::placed_buffer const*> result;
    for (auto const& b : buffers) result.push_back(&b);
    return result;
}

std::vector<sublet::memory_plan::placed_buffer> random_buffers(dice& draw, std::uint32_t n,
                                                               std::uint32_t positions)
{
    std::vector<sublet::memory_plan::placed_buffer> buffers;
    for (std::uint32_t i = 0; i != n; ++i) {
        step_id const first = draw.below(positions);
        step_id const last = first + draw.below(std::min(positions - first, 9u) + 1);
        byte_count const size = draw.below(5);
        buffers.push_back(reading::placed(first, last, size, 0));
    }
    return buffers;
}

/// What is alive at each position, position by position.
std::vector<byte_count> live_bytes(std::vector<sublet::memory_plan::placed_buffer> const& buffers,
                                   step_id positions)
{
    std::vector<byte_count> alive(positions, 0);
    for (step_id p = 0; p != positions; ++p)
        for (auto const& b : buffers)
            if (contains(b.life, p)) alive[p] += b.size;
    return alive;
}

/// A list of levels, written out.
std::vector<byte_count> spread(std::vector<sublet::detail::live_level> const& levels, step_id positions)
{
    std::vector<byte_count> result(positions, 0);
    for (auto const& level : levels)
        for (step_id p = level.position; p < positions; ++p) result[p] = level.bytes;
    return result;
}

std::string drawn(std::vector<sublet::detail::live_level> const& levels, step_id positions,
                  byte_count ceiling)
{
    std::ostringstream out;
    sublet::detail::svg_canvas<std::ostringstream> canvas{{out}, 10000, positions};
    sublet::detail::draw_profile(canvas, {.top = 0, .height = 1000, .ceiling = ceiling}, levels);
    return out.str();
}

} // namespace

TEST_CASE("a level is noted where it changes")
{
    using reading::placed;
    std::vector<sublet::memory_plan::placed_buffer> const buffers{placed(1, 3, 64, 0), placed(2, 4, 32, 64),
                                                                  placed(4, 6, 32, 0), placed(7, 8, 8, 0)};
    auto const profile = sublet::detail::profile_of(pointers(buffers));
    std::vector<sublet::detail::live_level> const expected{{1, 64}, {2, 96}, {3, 32}, {6, 0}, {7, 8}, {8, 0}};
    CHECK(profile.levels == expected); // at 4 one of 32 bytes follows another: no change
    CHECK(profile.peak == 96);
    CHECK(profile.peak_position == 2);
}

TEST_CASE("no buffer, no bytes and no life make no level")
{
    using reading::placed;
    CHECK(sublet::detail::profile_of(pointers({})).levels.empty());
    std::vector<sublet::memory_plan::placed_buffer> const buffers{placed(3, 3, 64, 0), placed(5, 2, 64, 0),
                                                                  placed(1, 9, 0, 0)};
    auto const profile = sublet::detail::profile_of(pointers(buffers));
    CHECK(profile.levels.empty());
    CHECK(profile.peak == 0);
    CHECK(sublet::detail::highest_by_column(profile.levels, 7, 100).empty());
    CHECK(drawn(profile.levels, 10, 1).empty());
}

TEST_CASE("more than 64 bits of bytes alive at once are refused, one after the other they are not")
{
    using reading::placed;
    byte_count const most = sublet::no_size - 1;
    std::vector<sublet::memory_plan::placed_buffer> buffers{placed(0, 2, most, 0), placed(2, 4, most, 0)};
    CHECK(sublet::detail::profile_of(pointers(buffers)).peak == most);
    buffers[1].life.first = 1;
    CHECK_THROWS_AS(static_cast<void>(sublet::detail::profile_of(pointers(buffers))),
                    sublet::precondition_error);
}

TEST_CASE("the levels are the sums at each position, and no two neighbours are equal")
{
    dice draw{std::mt19937(31)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        CAPTURE(round);
        std::uint32_t const positions = 1 + draw.below(20), n = draw.below(14);
        auto const buffers = random_buffers(draw, n, positions);
        auto const alive = live_bytes(buffers, positions + 1);
        auto const profile = sublet::detail::profile_of(pointers(buffers));
        CHECK(spread(profile.levels, positions + 1) == alive);
        byte_count before = 0;
        for (auto const& level : profile.levels) {
            CHECK(level.bytes != before);
            before = level.bytes;
        }
        CHECK(before == 0);
        auto const top = std::max_element(alive.begin(), alive.end());
        CHECK(profile.peak == *top);
        CHECK(profile.peak_position == (*top == 0 ? 0 : top - alive.begin()));
    }
}

TEST_CASE("a column shows the most of the positions that begin in it, so that no peak is lost")
{
    dice draw{std::mt19937(32)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        CAPTURE(round);
        std::uint32_t const positions = 1 + draw.below(60), n = draw.below(30);
        std::uint32_t const columns = 1 + draw.below(70);
        auto const buffers = random_buffers(draw, n, positions);
        auto const alive = live_bytes(buffers, positions);
        auto const profile = sublet::detail::profile_of(pointers(buffers));
        std::vector<byte_count> expected(columns + 1, 0);
        for (std::uint32_t p = 0; p != positions; ++p) {
            byte_count& highest = expected[std::size_t{p} * columns / positions];
            highest = std::max(highest, alive[p]);
        }
        auto const merged = sublet::detail::highest_by_column(profile.levels, columns, positions);
        if (columns <= positions) CHECK(spread(merged, columns + 1) == expected);
        CHECK(merged.size() <= columns + 1);
        byte_count top = 0;
        for (auto const& column : merged) top = std::max(top, column.bytes);
        CHECK(top == profile.peak);
    }
}

TEST_CASE("the curve goes along the levels and returns to the ground")
{
    CHECK(drawn({{1, 8}, {2, 4}, {3, 0}, {7, 16}, {10, 0}}, 10, 16) ==
          "<path class=\"live\" d=\"M82 10V5H92V7.5H102V10M142 10V0H172V10\"/>\n");
}

TEST_CASE("a curve of more levels than pixels is drawn a column a pixel, its peak too")
{
    std::vector<sublet::detail::live_level> levels;
    for (step_id p = 0; p != 100'000; ++p) levels.push_back({p, p == 54'321 ? 1000u : 100 + p % 7});
    levels.push_back({100'000, 0});
    std::string const text = drawn(levels, 100'000, 1000);
    CHECK(text.size() < 2000);
    CHECK(text.find("H126V0H127V") != text.npos); // 72 + 54, up to the top
    CHECK(text.ends_with("H172V10\"/>\n"));
}

} // namespace this_test
