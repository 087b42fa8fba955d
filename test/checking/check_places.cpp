// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/places.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// Two values of 8 bytes, made one after the other, each with a buffer of its own.
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
    std::optional<witness> check() const
    {
        snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(s); });
        plan_options options{.bytes = bytes,
                             .alignment = alignment,
                             .alias_of = alias_of,
                             .pool = pool,
                             .pinned = pinned,
                             .eligible = eligible,
                             .pools = pools};
        return check_places(demands(p, options), plan, options);
    }
    fault what() const
    {
        auto const found = check();
        REQUIRE(found);
        return found->what;
    }
};

} // namespace

TEST_CASE("places are looked at one by one: who shares bytes with whom is not asked")
{
    two_values t;
    CHECK(!t.check());
    t.plan.buffers[1].offset = 4;
    CHECK(!t.check());
}

TEST_CASE("storage is neither forgotten nor given to what needs none")
{
    two_values t;
    t.plan.buffer_of[1] = no_buffer;
    CHECK(t.check() == witness{.what = fault::unplaced, .value = 1});
    t.eligible[1] = false;
    CHECK(!t.check());
    t.plan.buffer_of[1] = 1;
    CHECK(t.check() == witness{.what = fault::needless, .value = 1});
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
    CHECK(t.check() == witness{.what = fault::wrong_pool, .value = 1, .begin = 8, .pool = 1});
    t.plan.buffers[1].pool = 1;
    CHECK(t.what() == fault::foreign_plan); // there is no arena for it
    t.plan.arena_bytes = {8, 16};
    CHECK(!t.check());
    t.alignment[1] = 3;
    CHECK(t.check() == witness{.what = fault::misaligned, .value = 1, .begin = 8, .needed = 3, .pool = 1});
    t.alignment[1] = 4;
    t.pools = {{}, {.alignment = 16}};
    CHECK(t.check() == witness{.what = fault::misaligned, .value = 1, .begin = 8, .needed = 16, .pool = 1});
    t.pools.clear();
    t.pinned[1] = 4;
    CHECK(t.check() == witness{.what = fault::off_pin, .value = 1, .begin = 8, .needed = 4, .pool = 1});
    t.pinned[1] = 8;
    CHECK(!t.check());
    t.plan.arena_bytes[1] = 15;
    CHECK(t.check() ==
          witness{.what = fault::outside_arena, .value = 1, .begin = 8, .end = 16, .needed = 15, .pool = 1});
    t.bytes[1] = no_size - 8; // the end does not fit 64 bits
    CHECK(t.check()->end == no_offset);
}

TEST_CASE("a view lies where the value lies that it shows")
{
    two_values t;
    t.alias_of[1] = 0;
    CHECK(t.check() == witness{.what = fault::torn_alias, .value = 1, .other = 0, .begin = 8, .needed = 0});
    t.plan.buffers[1].offset = 0;
    CHECK(!t.check());
    t.plan.buffers[1].pool = 1;
    CHECK(t.what() == fault::torn_alias);
}

TEST_CASE("an arena is no larger than its memory")
{
    two_values t;
    t.pools = {{.capacity = 16}};
    CHECK(!t.check());
    t.pools = {{.capacity = 15}};
    CHECK(t.check() == witness{.what = fault::over_capacity, .end = 16, .needed = 15});
    t.plan.arena_bytes = {16, 5};
    t.pools = {{}, {.capacity = 4}};
    CHECK(t.check() == witness{.what = fault::over_capacity, .end = 5, .needed = 4, .pool = 1});
    t.pools = {{}, {}, {.capacity = 4}};
    CHECK(!t.check());
}

TEST_CASE("a plan is complete if each value has an entry and a buffer behind it")
{
    two_values t;
    CHECK(detail::is_complete(t.plan, 2));
    CHECK(!detail::is_complete(t.plan, 3));
    t.plan.buffer_of[0] = 2;
    CHECK(!detail::is_complete(t.plan, 2));
    t.plan.buffer_of[0] = no_buffer;
    CHECK(detail::is_complete(t.plan, 2));
}

TEST_CASE("two places have bytes in common only within one pool")
{
    two_values t;
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(s); });
    auto const asked = demands(p, plan_options{.bytes = t.bytes});
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

} // namespace this_test
