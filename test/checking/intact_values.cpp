// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/intact_values.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<value_id>;

/// Classes of values at places, without a program.
struct places {
    plan_demands asked;
    memory_plan plan;

    void add(byte_count offset, byte_count size, pool_id pool = 0)
    {
        auto const v = static_cast<value_id>(asked.root.size());
        asked.root.push_back(v);
        asked.bytes.push_back(size);
        plan.buffer_of.push_back(static_cast<buffer_id>(plan.buffers.size()));
        plan.buffers.push_back({.root = v, .size = size, .pool = pool, .offset = offset});
    }
    void add_view(value_id of)
    {
        asked.root.push_back(of);
        asked.bytes.push_back(1);
        plan.buffer_of.push_back(plan.buffer_of[of]);
    }
    void add_unplaced()
    {
        asked.root.push_back(static_cast<value_id>(asked.root.size()));
        asked.bytes.push_back(8);
        plan.buffer_of.push_back(no_buffer);
    }
};

} // namespace

TEST_CASE("a write takes away all that it overlaps")
{
    places at;
    at.add(0, 64);
    at.add(32, 64);
    at.add(64, 64);
    at.add(128, 64);
    placed_classes const classes(at.asked, at.plan);
    intact_values now(classes, 4);
    now.write(0);
    now.write(2);
    now.write(3);
    CHECK(now.has(0));
    now.write(1);
    CHECK_FALSE(now.has(0));
    CHECK_FALSE(now.has(2));
    CHECK(now.taken() == ids{1, 3});
    CHECK(now.taken().empty());
    CHECK_FALSE(now.has(3));
}

TEST_CASE("values of one class are intact together, and lost together")
{
    places at;
    at.add(0, 64);
    at.add_view(0);
    at.add(32, 64);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.size() == 2);
    CHECK(classes.rank_of(1) == classes.rank_of(0));
    CHECK(classes.values_at(0).size() == 2);
    intact_values now(classes, 3);
    now.write(0);
    now.write(1);
    CHECK(now.has(0));
    now.write(2);
    CHECK(now.taken() == ids{2});
}

TEST_CASE("pools do not meet, and what has no place is in no class")
{
    places at;
    at.add(0, 64, 1);
    at.add_unplaced();
    at.add(0, 64, 0);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.size() == 2);
    CHECK_FALSE(classes.is_placed(1));
    CHECK_FALSE(classes.meet(0, 2));
    CHECK(classes.root_at(0) == 2); // by pool
    CHECK(placed_classes(places{}.asked, places{}.plan).size() == 0);
}

TEST_CASE("a clash is told with the bytes that both have")
{
    places at;
    at.add(0, 64);
    at.add(32, 64);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.clash(1, 0, 7) ==
          witness{.what = fault::clash, .value = 1, .other = 0, .position = 7, .begin = 32, .end = 64});
}

TEST_CASE("it is what remains if every pair is looked at")
{
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        places at;
        auto const values = 1 + pick.below(12);
        for (value_id v = 0; v != values; ++v)
            if (pick.below(4) == 0 && v != 0) at.add_view(at.asked.root[pick.below(v)]);
            else at.add(pick.below(40), 1 + pick.below(12), pick.below(2));
        placed_classes const classes(at.asked, at.plan);
        intact_values now(classes, values);
        std::set<value_id> slow;
        for (int i = 0; i != 60; ++i) {
            value_id const v = pick.below(values);
            now.write(v);
            memory_plan::placed_buffer const& x = at.plan.buffers[at.plan.buffer_of[v]];
            for (value_id w = 0; w != values; ++w) {
                memory_plan::placed_buffer const& y = at.plan.buffers[at.plan.buffer_of[w]];
                if (at.plan.buffer_of[w] != at.plan.buffer_of[v] && x.pool == y.pool &&
                    x.offset < y.offset + y.size && y.offset < x.offset + x.size)
                    slow.erase(w);
            }
            slow.insert(v);
            for (value_id w = 0; w != values; ++w) REQUIRE(now.has(w) == (slow.count(w) != 0));
            if (pick.below(20) != 0) continue;
            REQUIRE(now.taken() == ids(slow.begin(), slow.end()));
            slow.clear();
        }
    }
}

} // namespace this_test
