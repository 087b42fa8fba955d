// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_intervals.hpp>

#include "../archetype.hpp"
#include "../dice.hpp"

#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace this_test {

using sublet::color_intervals;
using sublet::live_range;
using ranges = std::vector<live_range>;
using slots = std::vector<sublet::slot_id>;

static auto table(ranges const& r)
{
    return [&r](auto i) { return r[i]; };
}

TEST_CASE("a buffer born where another dies takes its slot")
{
    ranges r{{0, 2}, {1, 3}, {2, 4}};
    auto plan = color_intervals(r.size(), table(r));
    CHECK(plan.slots == 2);
    CHECK(plan.slot_of == slots{0, 1, 0});
}

TEST_CASE("nothing to place needs no slots, and an empty life needs none either")
{
    CHECK(color_intervals(0, table({})).slots == 0);
    ranges r{{3, 3}, {0, 1}};
    CHECK(color_intervals(2, table(r)).slot_of == slots{sublet::no_slot, 0});
}

TEST_CASE("the poorest callable will do") { CHECK(color_intervals(3, archetype::lives{}).slots == 1); }

TEST_CASE("what fell free first is taken first, then the lower slot; equal births go to the lower index")
{
    ranges together{{0, 2}, {0, 2}, {2, 3}};
    CHECK(color_intervals(3, table(together)).slot_of == slots{0, 1, 0});
    ranges apart{{0, 3}, {0, 2}, {3, 4}};
    CHECK(color_intervals(3, table(apart)).slot_of == slots{0, 1, 1});
}

TEST_CASE("no overlap shares a slot, and no plan has fewer")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        ranges r(pick() % 20);
        for (auto& x : r) {
            x.first = static_cast<sublet::step_id>(pick() % 12);
            x.last = static_cast<sublet::step_id>(x.first + pick() % 6);
        }
        auto plan = color_intervals(r.size(), table(r));

        std::size_t busiest = 0;
        for (sublet::step_id t = 0; t != 20; ++t) {
            std::size_t alive = 0;
            for (auto x : r) alive += x.first <= t && t < x.last;
            busiest = busiest < alive ? alive : busiest;
        }
        CHECK(plan.slots == busiest);
        for (std::size_t i = 0; i != r.size(); ++i)
            for (std::size_t j = 0; j != i; ++j)
                if (overlaps(r[i], r[j])) CHECK(plan.slot_of[i] != plan.slot_of[j]);
    }
}

} // namespace this_test
