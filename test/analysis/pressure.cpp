// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>

#include "../dice.hpp"
#include "archetype.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static memory_pressure load(std::vector<live_range> const& lives, std::vector<byte_count> const& sizes,
                            step_id positions)
{
    return pressure(
        lives.size(), [&](auto b) { return lives[b]; }, [&](auto b) { return sizes[b]; }, positions);
}

TEST_CASE("live bytes add up at each position, and the first of the highest is the peak")
{
    auto p = load({{0, 2}, {1, 3}, {2, 4}}, {64, 32, 16}, 5);
    CHECK(p.live_bytes == std::vector<byte_count>{64, 96, 48, 16, 0});
    CHECK(p.peak == 96);
    CHECK(p.peak_position == 1);
    CHECK(load({{0, 2}}, {8}, 2).peak_position == 0);
}

TEST_CASE("the poorest lives and sizes will do, and so will sizes that are ints")
{
    CHECK(pressure(3, archetype::lives{}, archetype::sizes{}, 3).live_bytes ==
          std::vector<byte_count>{8, 8, 8});
    auto size_of = [](int b) { return 10 * b; };
    CHECK(pressure(3, archetype::lives{}, size_of, 3).live_bytes == std::vector<byte_count>{0, 10, 20});
    CHECK_THROWS_AS((void)pressure(
                        1, archetype::lives{}, [](int) { return -1; }, 1),
                    precondition_error);
}

TEST_CASE("nothing alive is a peak of nothing")
{
    CHECK(load({}, {}, 0).peak == 0);
    CHECK(load({{1, 1}}, {8}, 3).peak == 0);
}

TEST_CASE(
    "up to 64 bits of bytes may be alive, one more is refused; what is not alive together does not add up")
{
    byte_count const most = no_size - 1;
    CHECK(load({{0, 1}, {1, 2}}, {most, most}, 2).peak == most);
    CHECK(load({{0, 1}, {0, 1}}, {most - 1, 1}, 1).peak == most);
    CHECK_THROWS_AS((void)load({{0, 2}, {1, 2}}, {most, 1}, 2), precondition_error);
}

TEST_CASE("a range beyond the last position is refused")
{
    CHECK_THROWS_AS((void)load({{0, 3}}, {1}, 2), precondition_error);
}

TEST_CASE("random lives: the same as counting at every position")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::vector<live_range> lives(pick() % 12);
        std::vector<byte_count> sizes(lives.size());
        for (auto& l : lives) l = {static_cast<step_id>(pick() % 8), static_cast<step_id>(pick() % 11)};
        for (auto& s : sizes) s = pick() % 50;
        auto p = load(lives, sizes, 10);
        byte_count peak = 0;
        for (step_id x = 0; x != 10; ++x) {
            byte_count live = 0;
            for (std::size_t b = 0; b != lives.size(); ++b)
                if (lives[b].first <= x && x < lives[b].last) live += sizes[b];
            CHECK(p.live_bytes[x] == live);
            peak = std::max(peak, live);
        }
        CHECK(p.peak == peak);
        CHECK(p.live_bytes[p.peak_position] == peak);
    }
}

} // namespace this_test
