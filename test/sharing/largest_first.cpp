// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/sharing/detail/largest_first.hpp>

#include "../concurrent_lives.hpp"
#include "../random_sharing.hpp"
#include "../random_source.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
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

/// A naive version: each buffer is tested against every occupant, and relinking starts from scratch.
sized_slot_plan share_by_definition(drawn_sharing const& d, bool relinks, std::size_t& relinked)
{
    auto begin_of = [&](buffer_id b) { return reuse_ranges::begin_key(d.lives, b); };
    buffers by_size = d.wanted;
    std::sort(by_size.begin(), by_size.end(), [&](buffer_id a, buffer_id b) {
        return std::tuple(d.tasks.pool[a], d.bytes[b], begin_of(a), a) <
               std::tuple(d.tasks.pool[b], d.bytes[a], begin_of(b), b);
    });
    std::vector<buffers> slots;
    std::size_t first = 0; // of the pool
    std::vector<pool_id> pools;
    for (buffer_id b : by_size) {
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
        if (!relink_chains(reuse_ranges(d.lives, d.conflicts, members), d.bytes, chains, visits)) continue;
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

TEST_CASE("random programs: the slots are those of the naive algorithm")
{
    std::size_t relinked = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_sharing d = seed % 5 == 0 ? draw_chain(seed) : draw_sharing(seed, 16);
        if (seed % 3 == 0)
            for (byte_count& b : d.bytes)
                if (pick.below(3) == 0) b *= 1000;
        for (bool relinks : {true, false}) {
            sized_slot_plan const plan = shared(d, relinks ? 4'000'000 : 0);
            sized_slot_plan const expected = share_by_definition(d, relinks, relinked);
            REQUIRE(plan.slot_of == expected.slot_of);
            REQUIRE(plan.slot_bytes == expected.slot_bytes);
            REQUIRE(plan.slot_pool == expected.slot_pool);
            REQUIRE(plan.total_bytes == expected.total_bytes);
            REQUIRE(plan.slots == expected.slots);
        }
    }
    CHECK(relinked > 50);
}

TEST_CASE("with a small work budget the plan lies between those with and without relinking")
{
    std::size_t between = 0;
    for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_chain(seed);
        byte_count const with = shared(d, 4'000'000).total_bytes, without = shared(d, 0).total_bytes;
        sized_slot_plan const some = shared(d, 3 * d.wanted.size());
        char const* const fault = d.fault_of(some.slot_of, some.slots);
        REQUIRE_MESSAGE(!fault, fault);
        between += with < without && some.total_bytes > with;
    }
    CHECK(between > 0);
}

TEST_CASE("sizes must be known, one for each buffer")
{
    drawn_sharing d = draw_sharing(1, 9);
    REQUIRE(!d.wanted.empty());
    d.bytes.back() = no_size;
    CHECK_THROWS_WITH_AS((void)shared(d, 0), "sublet: buffer 5, of unknown size, cannot share a slot",
                         precondition_error);
    d.bytes.pop_back();
    CHECK_THROWS_WITH_AS((void)shared(d, 0), "sublet: the table of sizes has 5 entries for 6 buffers",
                         precondition_error);
}

// --- relink chains -----------------------------------------------------------------------------------------

using slots = std::vector<slot_id>;
using bytes = std::vector<byte_count>;

namespace {

byte_count total(bytes const& b)
{
    byte_count sum = 0;
    for (byte_count one : b) sum += one;
    return sum;
}

/// Bytes of the slots, from their members.
bytes cost_of(reuse_ranges const& members, bytes const& sizes, slots const& slot_of)
{
    bytes cost;
    for (std::size_t i = 0; i != members.size(); ++i) {
        if (cost.size() <= slot_of[i]) cost.resize(slot_of[i] + 1);
        cost[slot_of[i]] = std::max(cost[slot_of[i]], sizes[members[i]]);
    }
    return cost;
}

/// A naive version: a search from the end of the last slot, then of the first ones, that visits no buffer
/// twice and takes the first path that lowers the total cost.
bool relinked(drawn_sharing const& d, reuse_ranges const& members, sized_chains& chains)
{
    std::size_t const n = members.size(), none = n;
    std::vector<std::size_t> next(n, none), before(n, none), tail(chains.slot_bytes.size(), none),
        found_by(n);
    std::vector<bool> seen(n);
    for (std::size_t i = 0; i != n; ++i) {
        std::size_t& end = tail[chains.slot_of[i]];
        if (end != none) next[end] = i, before[i] = end;
        end = i;
    }
    std::rotate(tail.begin(), tail.end() - (tail.empty() ? 0 : 1), tail.end());
    for (std::size_t end : tail) {
        std::vector<std::size_t> reached{end};
        for (std::size_t k = 0; k != reached.size(); ++k)
            for (std::size_t c = 0; c != n; ++c) {
                if (seen[c] || !d.reusable_by(members[reached[k]], members[c])) continue;
                seen[c] = true;
                found_by[c] = reached[k];
                if (before[c] != none) {
                    reached.push_back(before[c]);
                    continue;
                }
                auto new_before = before;
                for (std::size_t at = c; at != none;) {
                    new_before[at] = found_by[at];
                    at = next[found_by[at]];
                }
                slots slot_of;
                slot_id count = 0;
                for (std::size_t i = 0; i != n; ++i)
                    slot_of.push_back(new_before[i] == none ? count++ : slot_of[new_before[i]]);
                bytes const cost = cost_of(members, d.bytes, slot_of);
                if (total(cost) >= total(chains.slot_bytes)) continue;
                slots by_cost(count), number(count);
                std::iota(by_cost.begin(), by_cost.end(), slot_id{0});
                sort_by(by_cost, [&](slot_id a, slot_id b) { return cost[a] > cost[b]; });
                for (slot_id s = 0; s != count; ++s) {
                    number[by_cost[s]] = s;
                    chains.slot_bytes[s] = cost[by_cost[s]];
                }
                chains.slot_bytes.resize(count);
                for (std::size_t i = 0; i != n; ++i) chains.slot_of[i] = number[slot_of[i]];
                return true;
            }
    }
    return false;
}

} // namespace

TEST_CASE("relinking exchanges the ends of chains and saves a slot")
{
    // a 0 ─► b 3, c 1 alone, d 2 alone: b and d may reuse a, only b may reuse c.
    snapshot const p = sequence(6, 6, [](std::uint32_t s, effect_sink& sink) {
        std::vector<std::vector<value_id>> const uses{{}, {}, {0}, {1}, {2, 3}, {2}};
        for (auto v : uses[s]) sink.use(v);
        sink.def(s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = lives_of_each(p, g);
    auto const conflicts = find_conflict_ranges(g, lives);
    reuse_ranges const members(lives, conflicts, {0, 1, 4, 5});
    sized_chains chains{{0, 1, 0, 2}, {8, 8, 4}};
    std::uint64_t visits = 0;
    CHECK(relink_chains(members, {8, 8, 0, 0, 2, 4}, chains, visits));
    CHECK(chains.slot_of == slots{0, 1, 1, 0});
    CHECK(chains.slot_bytes == bytes{8, 8});
    CHECK(visits >= 4);
    CHECK(!relink_chains(members, {8, 8, 0, 0, 2, 4}, chains, visits));
    CHECK(chains.slot_of == slots{0, 1, 1, 0});

    sized_chains costly_chains{{0, 1, 0, 2}, {8, 4, 4}}; // two slots of 8 bytes are no better
    CHECK(!relink_chains(members, {8, 4, 0, 0, 8, 4}, costly_chains, visits));
    CHECK(costly_chains.slot_of == slots{0, 1, 0, 2});
}

TEST_CASE("empty and single chains are not relinked")
{
    snapshot const p = sequence(0, 0, [](step_id, effect_sink&) {});
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 0, {}, {});
    auto const conflicts = find_conflict_ranges(g, lives);
    sized_chains chains;
    std::uint64_t visits = 0;
    CHECK(!relink_chains(reuse_ranges(lives, conflicts, {}), {}, chains, visits));
}

TEST_CASE("random chains are relinked as by the naive search, until nothing is saved")
{
    std::size_t improved = 0, refused = 0;
    for (std::uint32_t seed = 0; seed != rounds(2500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = seed % 4 == 0 ? draw_chain(seed) : draw_sharing(seed, 20);
        auto in_order = d.wanted;
        sort_by(in_order, [&](buffer_id a, buffer_id b) {
            return reuse_ranges::begin_key(d.lives, a) < reuse_ranges::begin_key(d.lives, b);
        });
        reuse_ranges const members(d.lives, d.conflicts, in_order);
        random_source pick{std::mt19937(seed)};
        sized_chains chains;
        std::vector<buffer_id> occupant; // the last of each slot
        for (buffer_id b : in_order) {   // into the last slot in which it fits, or sometimes into a new one
            std::size_t s = occupant.size();
            while (s != 0 && !d.reusable_by(occupant[s - 1], b)) --s;
            if (s == 0 || pick.below(3) == 0) {
                occupant.push_back(b);
                s = occupant.size();
            }
            occupant[s - 1] = b;
            chains.slot_of.push_back(static_cast<slot_id>(s - 1));
        }
        chains.slot_bytes = cost_of(members, d.bytes, chains.slot_of);
        for (;;) {
            sized_chains const before = chains;
            sized_chains expected = chains;
            std::uint64_t visits = 0;
            bool const is_better = relink_chains(members, d.bytes, chains, visits);
            REQUIRE(is_better == relinked(d, members, expected));
            REQUIRE(chains.slot_of == expected.slot_of);
            REQUIRE(chains.slot_bytes == expected.slot_bytes);
            REQUIRE(chains.slot_bytes == cost_of(members, d.bytes, chains.slot_of));
            if (!is_better) {
                REQUIRE(chains.slot_of == before.slot_of);
                if (chains.slot_bytes.size() > 2) ++refused;
                break;
            }
            ++improved;
            REQUIRE(total(chains.slot_bytes) < total(before.slot_bytes));
            REQUIRE(std::is_sorted(chains.slot_bytes.rbegin(), chains.slot_bytes.rend()));
            for (std::size_t i = 0; i != members.size(); ++i)
                for (std::size_t k = 0; k != i; ++k)
                    if (chains.slot_of[i] == chains.slot_of[k])
                        REQUIRE(d.reusable_by(members[k], members[i]));
        }
    }
    CHECK(improved > 200);
    CHECK(refused > 100);
}

// --- slot fit index ----------------------------------------------------------------------------------------

TEST_CASE("first fit finds the first slot with no conflicting occupant, in any order of insertion")
{
    std::size_t shared = 0;
    for (std::uint32_t seed = 0; seed != rounds(2500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, seed % 20 == 0 ? 150 : 20);
        random_source pick{std::mt19937(seed)};
        auto by_size = d.wanted;
        pick.shuffle(by_size);
        slot_fit_index room(d.lives, d.conflicts);
        std::vector<std::vector<buffer_id>> held;
        for (buffer_id b : by_size) {
            slot_id expected = 0;
            for (; expected != held.size(); ++expected) {
                bool has_room = true;
                for (buffer_id u : held[expected]) has_room = has_room && d.rule.may_share(+u, +b);
                if (has_room) break;
            }
            slot_id const found = room.find(b);
            REQUIRE((found == no_slot ? held.size() : std::size_t{found}) == expected);
            if (found == no_slot) held.emplace_back();
            else ++shared;
            held[expected].push_back(b);
            room.insert(b, expected);
        }
    }
    CHECK(shared > rounds(1000));
}

TEST_CASE("with too little memory for all slots, the buffer still fits into the slot found")
{
    for (auto name : {"ladder64", "nested", "local", "training"}) {
        CAPTURE(name);
        task_family const family = draw_family(name, 1500);
        snapshot const p = family.program();
        dependence_graph const g = dependences(p);
        auto const lives = lives_of_each(p, g);
        auto const conflicts = find_conflict_ranges(g, lives);
        slot_fit_index room(lives, conflicts, 0);
        random_source pick{std::mt19937(7)};
        std::vector<std::vector<buffer_id>> held;
        for (buffer_id b : pick.permutation<buffer_id>(family.tasks())) {
            slot_id found = room.find(b);
            if (found == no_slot) {
                found = static_cast<slot_id>(held.size());
                held.emplace_back();
            }
            for (buffer_id u : held[found])
                REQUIRE((reusable_by(conflicts, lives, u, b) || reusable_by(conflicts, lives, b, u)));
            held[found].push_back(b);
            room.insert(b, found);
        }
        CHECK(held.size() > 64);
        CHECK(held.size() < family.tasks());
    }
}

TEST_CASE("slots are evicted in turn, and one with a recent occupant only in the next round")
{
    task_family const family = draw_family("chain", 400); // a buffer conflicts with its two neighbours
    snapshot const p = family.program();
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    auto const conflicts = find_conflict_ranges(g, lives);
    slot_fit_index room(lives, conflicts, 0); // 64 places
    for (slot_id s = 0; s != 64; ++s) room.insert(4 * s, s);
    CHECK(room.find(300) == 0);
    room.insert(300, slot_id{0});
    CHECK(room.find(301) == 1);
    room.insert(320, slot_id{64}); // slot 0 is recent, so slot 1 is evicted
    CHECK(room.find(5) == 0);      // slot 0 is still there, with all its occupants
    CHECK(room.find(300) == 64);   // slot 64 has the place of slot 1
    room.insert(302, slot_id{1});  // does not restore slot 1
    CHECK(room.find(300) == 64);
    CHECK(room.find(320) == 0);
    for (slot_id s = 65; s != 127; ++s) room.insert(320, s); // in the places of slots 2 to 63
    CHECK(room.find(319) == 0);
    room.insert(320, slot_id{127}); // in that of slot 0, which is no longer recent
    CHECK(room.find(319) == no_slot);
    for (buffer_id b : {1u, 299u, 300u, 301u}) CHECK(room.find(b) == 127); // none of its occupants is left
}

} // namespace this_test
