// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/largest_first.hpp>

#include "../dice.hpp"
#include "../drawn_sharing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<buffer_id>;

namespace {

sized_slot_plan shared(drawn_sharing const& d, std::uint64_t visits)
{
    return share_largest_first(d.lives, d.conflicts, d.bytes,
                               {.pool = d.tasks.pool, .eligible = d.eligible, .visits = visits});
}

/// The same as it is told: who is there asks everybody in a slot, and chains are linked anew from scratch.
sized_slot_plan told(drawn_sharing const& d, bool relinks, std::size_t& relinked)
{
    auto begin_of = [&](buffer_id b) { return takers::begin_key(d.lives, b); };
    buffers coming = d.wanted;
    std::sort(coming.begin(), coming.end(), [&](buffer_id a, buffer_id b) {
        return std::tuple(d.tasks.pool[a], d.bytes[b], begin_of(a), a) <
               std::tuple(d.tasks.pool[b], d.bytes[a], begin_of(b), b);
    });
    std::vector<buffers> slots;
    std::size_t first = 0; // of the pool
    std::vector<pool_id> pools;
    for (buffer_id b : coming) {
        if (!d.eligible[b]) continue;
        if (!pools.empty() && pools.back() != d.tasks.pool[b]) first = slots.size();
        std::size_t s = first;
        for (; s != slots.size(); ++s)
            if (std::all_of(slots[s].begin(), slots[s].end(), [&](buffer_id u) { return d.may_share(u, b); }))
                break;
        if (s != slots.size()) {
            slots[s].push_back(b);
            continue;
        }
        slots.push_back({b});
        pools.push_back(d.tasks.pool[b]);
        sized_chains chains;
        buffers members;
        byte_count all = 0;
        for (std::size_t k = first; k != slots.size(); ++k) {
            byte_count largest = 0;
            for (buffer_id u : slots[k]) {
                members.push_back(u);
                largest = std::max(largest, d.bytes[u]);
            }
            chains.slot_bytes.push_back(largest);
            all += largest;
        }
        if (!relinks || d.bytes[b] < all / 1024) continue;
        std::sort(members.begin(), members.end(), [&](buffer_id u, buffer_id v) {
            return std::tuple(begin_of(u), u) < std::tuple(begin_of(v), v);
        });
        for (buffer_id u : members)
            for (std::size_t k = first; k != slots.size(); ++k)
                if (std::count(slots[k].begin(), slots[k].end(), u) != 0)
                    chains.slot_of.push_back(static_cast<slot_id>(k - first));
        std::uint64_t visits = 0;
        if (!relink_chains(takers(d.lives, d.conflicts, members), d.bytes, chains, visits)) continue;
        ++relinked;
        slots.resize(first);
        slots.resize(first + chains.slot_bytes.size());
        pools.resize(slots.size(), pools.back());
        for (std::size_t i = 0; i != members.size(); ++i)
            slots[first + chains.slot_of[i]].push_back(members[i]);
    }
    sized_slot_plan plan;
    plan.slot_of.assign(d.bytes.size(), no_slot);
    for (buffer_id b : d.wanted)
        if (!d.eligible[b]) {
            slots.push_back({b});
            pools.push_back(d.tasks.pool[b]);
        }
    plan.slots = static_cast<slot_id>(slots.size());
    plan.slot_pool = pools;
    for (slot_id s = 0; s != plan.slots; ++s) {
        plan.slot_bytes.push_back(0);
        for (buffer_id b : slots[s]) {
            plan.slot_of[b] = s;
            plan.slot_bytes[s] = std::max(plan.slot_bytes[s], d.bytes[b]);
        }
        plan.total_bytes += plan.slot_bytes[s];
    }
    return plan;
}

} // namespace

TEST_CASE("random programs: the slots are those of the algorithm as it is told")
{
    std::size_t relinked = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        drawn_sharing d = seed % 5 == 0 ? draw_thread(seed) : draw_sharing(seed, 16);
        if (seed % 3 == 0)
            for (byte_count& b : d.bytes)
                if (roll.below(3) == 0) b *= 1000;
        for (bool relinks : {true, false}) {
            sized_slot_plan const plan = shared(d, relinks ? 4'000'000 : 0);
            sized_slot_plan const expected = told(d, relinks, relinked);
            REQUIRE(plan.slot_of == expected.slot_of);
            REQUIRE(plan.slot_bytes == expected.slot_bytes);
            REQUIRE(plan.slot_pool == expected.slot_pool);
            REQUIRE(plan.total_bytes == expected.total_bytes);
            REQUIRE(plan.slots == expected.slots);
        }
    }
    CHECK(relinked > 50);
}

TEST_CASE("a small budget links some chains anew, and the plan stands between those with and without")
{
    std::size_t between = 0;
    for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_thread(seed);
        byte_count const with = shared(d, 4'000'000).total_bytes, without = shared(d, 0).total_bytes;
        sized_slot_plan const some = shared(d, 3 * d.wanted.size());
        char const* const fault = d.fault_of(some.slot_of, some.slots);
        REQUIRE_MESSAGE(!fault, fault);
        between += with < without && some.total_bytes > with;
    }
    CHECK(between > 0);
}

TEST_CASE("sizes have to be known, one for each buffer")
{
    drawn_sharing d = draw_sharing(1, 9);
    REQUIRE(!d.wanted.empty());
    d.bytes.back() = no_size;
    CHECK_THROWS_WITH_AS((void)shared(d, 0), "sublet: a buffer of unknown size cannot share a slot",
                         precondition_error);
    d.bytes.pop_back();
    CHECK_THROWS_WITH_AS((void)shared(d, 0), "sublet: a table has not one entry for each buffer",
                         precondition_error);
}

} // namespace this_test
