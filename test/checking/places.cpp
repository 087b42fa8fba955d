// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/internal/places.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Two values of 8 bytes, defined one after the other, each with a buffer of its own.
struct two_values {
    std::vector<value_id> alias_of{no_value, no_value};
    std::vector<byte_count> bytes{8, 8}, alignment{1, 1}, pinned{no_offset, no_offset};
    std::vector<pool_id> pool{0, 0};
    std::vector<bool> eligible{true, true};
    std::vector<pool_limits> pools;
    memory_plan plan;

    two_values()
    {
        plan.buffer_of = {0, 1};
        plan.buffers.resize(2);
        plan.buffers[0].offset = 0;
        plan.buffers[1].offset = 8;
        plan.arena_bytes = {16};
    }
    std::optional<counterexample> check() const
    {
        snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(+s); });
        plan_options options{.bytes = bytes,
                             .alignment = alignment,
                             .alias_of = alias_of,
                             .pool = pool,
                             .pinned = pinned,
                             .eligible = eligible,
                             .pools = pools};
        return check_places(derive_requirements(p, options), plan, options);
    }
    fault what() const
    {
        auto const found = check();
        REQUIRE(found);
        return found->what;
    }
};

} // namespace

TEST_CASE("places are checked one by one, not for overlap")
{
    two_values t;
    CHECK(!t.check());
    t.plan.buffers[1].offset = 4;
    CHECK(!t.check());
}

TEST_CASE("missing and needless storage are refused")
{
    two_values t;
    t.plan.buffer_of[1] = no_buffer;
    CHECK(t.check() == counterexample{fault::unplaced, counterexample::place{.value = 1}});
    t.eligible[1] = false;
    CHECK(!t.check());
    t.plan.buffer_of[1] = 1;
    CHECK(t.check() == counterexample{fault::needless, counterexample::place{.value = 1}});
    t = {};
    t.plan.buffers[0].offset = no_offset;
    CHECK(t.what() == fault::unplaced);
    t.bytes[0] = 0;
    CHECK(t.what() == fault::needless);
    t.bytes[0] = no_size;
    CHECK(t.what() == fault::needless);
}

TEST_CASE("a place is in the right pool, aligned, at its pin and within its arena")
{
    two_values t;
    t.pool[1] = 1;
    CHECK(t.check() ==
          counterexample{fault::wrong_pool, counterexample::place{.value = 1, .pool = 1, .begin = 8}});
    t.plan.buffers[1].pool = 1;
    CHECK(t.what() == fault::foreign_plan); // it has no arena
    t.plan.arena_bytes = {8, 16};
    CHECK(!t.check());
    t.alignment[1] = 3;
    CHECK(t.check() == counterexample{fault::misaligned,
                                      counterexample::place{.value = 1, .pool = 1, .begin = 8, .needed = 3}});
    t.alignment[1] = 4;
    t.pools = {{}, {.alignment = 16}};
    CHECK(t.check() ==
          counterexample{fault::misaligned,
                         counterexample::place{.value = 1, .pool = 1, .begin = 8, .needed = 16}});
    t.pools.clear();
    t.pinned[1] = 4;
    CHECK(t.check() == counterexample{fault::off_pin,
                                      counterexample::place{.value = 1, .pool = 1, .begin = 8, .needed = 4}});
    t.pinned[1] = 8;
    CHECK(!t.check());
    t.plan.arena_bytes[1] = 15;
    CHECK(t.check() ==
          counterexample{fault::outside_arena,
                         counterexample::place{.value = 1, .pool = 1, .begin = 8, .end = 16, .needed = 15}});
    t.bytes[1] = no_size - 8; // the end does not fit 64 bits
    REQUIRE(t.what() == fault::outside_arena);
    CHECK(t.check()->as<counterexample::place>()->end == no_offset);
}

TEST_CASE("a view lies at the place of its root")
{
    two_values t;
    t.alias_of[1] = 0;
    CHECK(t.check() == counterexample{fault::misplaced_view,
                                      counterexample::view{.value = 1, .other = 0, .begin = 8, .needed = 0}});
    t.plan.buffers[1].offset = 0;
    CHECK(!t.check());
    t.plan.buffers[1].pool = 1;
    CHECK(t.what() == fault::misplaced_view);
}

TEST_CASE("an arena is no larger than the capacity of its pool")
{
    two_values t;
    t.pools = {{.capacity = 16}};
    CHECK(!t.check());
    t.pools = {{.capacity = 15}};
    CHECK(t.check() == counterexample{fault::over_capacity, counterexample::place{.end = 16, .needed = 15}});
    t.plan.arena_bytes = {16, 5};
    t.pools = {{}, {.capacity = 4}};
    CHECK(t.check() ==
          counterexample{fault::over_capacity, counterexample::place{.pool = 1, .end = 5, .needed = 4}});
    t.pools = {{}, {}, {.capacity = 4}};
    CHECK(!t.check());
}

TEST_CASE("a plan is complete if each value has an entry with a valid buffer or none")
{
    two_values t;
    CHECK(detail::is_complete(t.plan, 2));
    CHECK(!detail::is_complete(t.plan, 3));
    t.plan.buffer_of[0] = 2;
    CHECK(!detail::is_complete(t.plan, 2));
    t.plan.buffer_of[0] = no_buffer;
    CHECK(detail::is_complete(t.plan, 2));
}

TEST_CASE("two places overlap only within one pool")
{
    two_values t;
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(+s); });
    auto const asked = derive_requirements(p, plan_options{.bytes = t.bytes});
    t.plan.buffers[1].offset = 6;
    auto const both = detail::overlap(asked, t.plan, 0, 1);
    CHECK(both.begin == 6);
    CHECK(both.end == 8);
    t.plan.buffers[1].offset = 8;
    auto const none = detail::overlap(asked, t.plan, 0, 1);
    CHECK(none.begin >= none.end);
    t.plan.buffers[1] = t.plan.buffers[0];
    t.plan.buffers[1].pool = 1;
    auto const apart = detail::overlap(asked, t.plan, 0, 1);
    CHECK(apart.begin >= apart.end);
}

// --- rank set ----------------------------------------------------------------------------------------------

using numbers = sublet::detail::rank_set;

TEST_CASE("a member's neighbours are the next members below and above, never itself")
{
    numbers set(200);
    for (auto r : {3u, 64u, 130u}) set.insert(r);
    CHECK(set.below(64) == 3);
    CHECK(set.above(64) == 130);
    CHECK(set.below(3) == numbers::none);
    CHECK(set.above(130) == numbers::none);
    CHECK(set.above(0) == 3);
    CHECK(set.below(199) == 130);
}

TEST_CASE("an empty set of any capacity has no neighbours")
{
    for (std::size_t n : {0u, 1u, 63u, 64u, 65u, 4096u, 300000u}) {
        numbers set(n);
        CHECK(set.below(n == 0 ? 0 : static_cast<std::uint32_t>(n - 1)) == numbers::none);
        CHECK(set.above(0) == numbers::none);
        CHECK(!set.contains(0));
    }
}

TEST_CASE("the last of 300,000 members is found from the first until it is erased")
{
    numbers set(300000);
    set.insert(299999);
    CHECK(set.above(0) == 299999);
    set.erase(299999);
    CHECK(set.above(0) == numbers::none);
}

TEST_CASE("erasing a member keeps the others, also those in the same word")
{
    numbers set(10000);
    for (auto r : {5000u, 5001u, 9000u}) set.insert(r);
    set.erase(5001);
    CHECK(set.contains(5000));
    CHECK(!set.contains(5001));
    CHECK(set.above(0) == 5000);
    set.erase(5000);
    CHECK(set.above(0) == 9000);
}

TEST_CASE("random insertions and erasures give the neighbours that std::set has")
{
    for (unsigned seed = 0; seed != 30; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::uint32_t const n = seed % 3 == 0 ? 50 : seed % 3 == 1 ? 5000 : 300000;
        numbers set(n);
        std::set<std::uint32_t> oracle;
        for (int i = 0; i != 2000; ++i) {
            auto const r = static_cast<std::uint32_t>(pick() % n);
            if (pick() % 3 != 0) {
                set.insert(r);
                oracle.insert(r);
            } else if (oracle.erase(r) != 0) {
                set.erase(r);
            }
            auto const q = static_cast<std::uint32_t>(pick() % n);
            auto const at = oracle.lower_bound(q), after = oracle.upper_bound(q);
            CHECK(set.contains(q) == (oracle.count(q) == 1));
            CHECK(set.below(q) == (at == oracle.begin() ? numbers::none : *std::prev(at)));
            CHECK(set.above(q) == (after == oracle.end() ? numbers::none : *after));
        }
    }
}

} // namespace this_test
