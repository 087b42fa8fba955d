// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_intervals.hpp>

#include "../archetype.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using sublet::color;
using sublet::live_range;
using ranges = std::vector<live_range>;
using slots = std::vector<sublet::slot_id>;

static auto table(ranges const& r)
{
    return [&r](auto i) { return r[i]; };
}

TEST_CASE("a buffer that begins where another ends takes its slot")
{
    ranges r{{0, 2}, {1, 3}, {2, 4}};
    auto plan = color(r.size(), table(r));
    CHECK(plan.slots == 2);
    CHECK(plan.slot_of == slots{0, 1, 0});
}

TEST_CASE("no buffers and empty live ranges need no slots")
{
    CHECK(color(0, table({})).slots == 0);
    ranges r{{3, 3}, {0, 1}};
    CHECK(color(2, table(r)).slot_of == slots{sublet::no_slot, 0});
}

TEST_CASE("a minimal callable type is accepted") { CHECK(color(3, archetype::lives{}).slots == 1); }

TEST_CASE(
    "the slot free longest is taken first, then the lower slot; of equal begins the lower index comes first")
{
    ranges together{{0, 2}, {0, 2}, {2, 3}};
    CHECK(color(3, table(together)).slot_of == slots{0, 1, 0});
    ranges apart{{0, 3}, {0, 2}, {3, 4}};
    CHECK(color(3, table(apart)).slot_of == slots{0, 1, 1});
}

TEST_CASE("overlapping buffers never share, and no plan has fewer slots")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        ranges r(pick() % 20);
        for (auto& x : r) {
            x.first = pick() % 12;
            x.last = x.first + pick() % 6;
        }
        auto plan = color(r.size(), table(r));

        std::size_t busiest = 0;
        for (sublet::position_id t = 0; t != 20; ++t) {
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

// --- linear ------------------------------------------------------------------------------------------------

using slots = std::vector<slot_id>;
using bytes = std::vector<byte_count>;
using ranges = std::vector<live_range>;

static sized_slot_plan recycled(ranges const& lives, bytes const& sizes, linear_options const& options)
{
    return share_linearly(
        lives.size(), [&](auto b) { return lives[b]; }, [&](auto b) { return sizes[b]; }, options);
}

// Slots of 64 and 32 bytes are free when the third buffer begins.
static sized_slot_plan third_of(byte_count size, linear_options::fit_kind fit)
{
    return recycled({{0, 1}, {0, 1}, {1, 2}}, {64, 32, size}, {.fit = fit});
}

TEST_CASE("minimal types for live ranges and sizes are accepted, and sizes of type int")
{
    CHECK(share_linearly(3, archetype::lives{}, archetype::sizes{}).slot_bytes == bytes{8});
    CHECK(share_linearly(3, archetype::lives{}, [](int b) { return 10 * b; }).slot_bytes == bytes{10, 20});
    CHECK_THROWS_AS((void)share_linearly(1, archetype::lives{}, [](int) { return -1; }), precondition_error);
}

TEST_CASE("equal takes a free slot of exactly its size")
{
    CHECK(third_of(32, linear_options::fit_kind::equal).slot_of == slots{0, 1, 1});
    CHECK(third_of(31, linear_options::fit_kind::equal).slot_of == slots{0, 1, 2});
}

TEST_CASE("at_least takes the lowest free slot that is large enough")
{
    CHECK(third_of(16, linear_options::fit_kind::at_least).slot_of == slots{0, 1, 0});
    CHECK(third_of(65, linear_options::fit_kind::at_least).slot_of == slots{0, 1, 2});
}

TEST_CASE("best_fit takes the smallest free slot that is large enough")
{
    CHECK(third_of(16, linear_options::fit_kind::best_fit).slot_of == slots{0, 1, 1});
    CHECK(third_of(33, linear_options::fit_kind::best_fit).slot_of == slots{0, 1, 0});
    CHECK(third_of(65, linear_options::fit_kind::best_fit).slot_of == slots{0, 1, 2});
}

TEST_CASE("grow enlarges the largest free slot where none is large enough")
{
    CHECK(third_of(16, linear_options::fit_kind::grow).slot_of == slots{0, 1, 1});
    auto grown = third_of(100, linear_options::fit_kind::grow);
    CHECK(grown.slot_of == slots{0, 1, 0});
    CHECK(grown.slot_bytes == bytes{100, 32});
    CHECK(grown.total_bytes == 132);
}

TEST_CASE("of equally large free slots the lowest grows")
{
    CHECK(
        recycled({{0, 1}, {0, 1}, {1, 2}}, {64, 64, 100}, {.fit = linear_options::fit_kind::grow}).slot_of ==
        slots{0, 1, 0});
}

TEST_CASE("no slot of another pool grows, with a lower or a higher pool id")
{
    auto plan = recycled({{0, 1}, {0, 1}, {1, 2}}, {8, 64, 16},
                         {.fit = linear_options::fit_kind::grow, .pool = {0, 2, 1}});
    CHECK(plan.slot_of == slots{0, 1, 2});
}

TEST_CASE("the free slot that is taken does not depend on the order in which slots were freed")
{
    // The recycler that this replaces took 100 for 8 bytes from the free list [100, 10], and 10 from [10,
    // 100].
    CHECK(recycled({{0, 1}, {0, 2}, {2, 3}}, {100, 10, 8}, {}).slot_of == slots{0, 1, 1});
    CHECK(recycled({{0, 2}, {0, 1}, {2, 3}}, {100, 10, 8}, {}).slot_of == slots{0, 1, 1});
    CHECK(recycled({{0, 1}, {1, 2}}, {4, 8}, {}).slot_of == slots{0, 1}); // 4 is never enough for 8
}

TEST_CASE("only buffers of one pool share, and an ineligible one keeps a slot of its own")
{
    ranges lives{{0, 1}, {1, 2}, {2, 3}};
    CHECK(recycled(lives, {8, 8, 8}, {.pool = {0, 1, 0}}).slot_of == slots{0, 1, 0});
    CHECK(recycled(lives, {8, 8, 8}, {.pool = {0, 1, 0}}).slot_pool == std::vector<pool_id>{0, 1});
    CHECK(recycled(lives, {8, 8, 8}, {.eligible = std::vector<bool>{true, false, true}}).slot_of ==
          slots{0, 1, 0});
    CHECK(recycled(lives, {8, 8, 8}, {.eligible = std::vector<bool>{false, true, true}}).slot_of ==
          slots{0, 1, 1});
}

TEST_CASE("0 bytes and empty live ranges have no slot; an unknown size is rejected")
{
    CHECK(recycled({}, {}, {}).slots == 0);
    CHECK(recycled({{0, 1}, {1, 1}}, {0, 8}, {}).slot_of == slots{no_slot, no_slot});
    CHECK_THROWS_WITH_AS((void)recycled({{0, 1}}, {no_size}, {}),
                         "sublet: buffer 0, of unknown size, cannot share a slot", precondition_error);
    CHECK_THROWS_WITH_AS((void)recycled({{0, 1}}, {8}, {.pool = -1}),
                         "sublet: buffer 0 names pool 4294967295, which is out of range", precondition_error);
    CHECK_THROWS_AS((void)recycled({{0, 1}, {0, 1}}, {no_size - 1, 1}, {}), precondition_error);
}

TEST_CASE(
    "random live ranges: no sharing while alive, slots large enough, and the fewest slots for equal sizes")
{
    for (unsigned seed = 0; seed != rounds(800); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        ranges lives(pick() % 16);
        bytes sizes(lives.size());
        std::vector<pool_id> pool(lives.size());
        for (auto& l : lives) {
            l.first = pick() % 10;
            l.last = l.first + pick() % 5;
        }
        bool const equal = pick() % 3 == 0;
        for (auto& s : sizes) s = equal ? 8 : 1 + pick() % 6;
        for (auto& p : pool) p = equal ? 0 : pick() % 2;
        for (auto fit : {linear_options::fit_kind::equal, linear_options::fit_kind::at_least,
                         linear_options::fit_kind::best_fit, linear_options::fit_kind::grow}) {
            auto plan = recycled(lives, sizes, {.fit = fit, .pool = pool});
            byte_count total = 0;
            for (auto b : plan.slot_bytes) total += b;
            CHECK(plan.total_bytes == total);
            for (std::size_t i = 0; i != lives.size(); ++i) {
                if (is_empty(lives[i])) {
                    CHECK(plan.slot_of[i] == no_slot);
                    continue;
                }
                CHECK(plan.slot_bytes[plan.slot_of[i]] >= sizes[i]);
                CHECK(plan.slot_pool[plan.slot_of[i]] == pool[i]);
                if (fit == linear_options::fit_kind::equal)
                    CHECK(plan.slot_bytes[plan.slot_of[i]] == sizes[i]);
                for (std::size_t j = 0; j != i; ++j)
                    if (overlaps(lives[i], lives[j])) CHECK(plan.slot_of[i] != plan.slot_of[j]);
            }
            if (equal) CHECK(plan.slots == color(lives.size(), [&](auto b) { return lives[b]; }).slots);
        }
    }
}

} // namespace this_test
