// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/largest_first.hpp>

#include "../dice.hpp"
#include "../drawn_sharing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using slots = std::vector<slot_id>;
using bytes = std::vector<byte_count>;

namespace {

byte_count total(bytes const& b)
{
    byte_count sum = 0;
    for (byte_count one : b) sum += one;
    return sum;
}

/// What the slots cost, by their members.
bytes cost_of(takers const& members, bytes const& sizes, slots const& slot_of)
{
    bytes cost;
    for (std::size_t i = 0; i != members.size(); ++i) {
        if (cost.size() <= slot_of[i]) cost.resize(slot_of[i] + 1);
        cost[slot_of[i]] = std::max(cost[slot_of[i]], sizes[members[i]]);
    }
    return cost;
}

/// The same as it is told: a search from the end of the last slot, then from those of the first ones, which
/// looks at nobody twice, and takes the first path after which all chains cost less.
bool relinked(drawn_sharing const& d, takers const& members, sized_chains& chains)
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
                if (seen[c] || !d.rule.gives(members[reached[k]], members[c])) continue;
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

TEST_CASE("chains exchange their ends and one slot is saved")
{
    // a 0 ─► b 3, c 1 alone, d 2 alone: a gives to b and d, c to b only.
    snapshot const p = sequence(6, 6, [](step_id s, effect_sink& sink) {
        std::vector<std::vector<value_id>> const uses{{}, {}, {0}, {1}, {2, 3}, {2}};
        for (auto v : uses[s]) sink.use(v);
        sink.def(s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = concurrent_lifetimes(p, g, 6, {0, 1, 2, 3, 4, 5}, std::vector<value_role>(6));
    auto const conflicts = later_conflicts(g, lives);
    takers const members(lives, conflicts, {0, 1, 4, 5});
    sized_chains chains{{0, 1, 0, 2}, {8, 8, 4}};
    std::uint64_t visits = 0;
    CHECK(relink_chains(members, {8, 8, 0, 0, 2, 4}, chains, visits));
    CHECK(chains.slot_of == slots{0, 1, 1, 0});
    CHECK(chains.slot_bytes == bytes{8, 8});
    CHECK(visits >= 4);
    CHECK(!relink_chains(members, {8, 8, 0, 0, 2, 4}, chains, visits));
    CHECK(chains.slot_of == slots{0, 1, 1, 0});

    sized_chains dear{{0, 1, 0, 2}, {8, 4, 4}}; // two slots of 8 would be no better
    CHECK(!relink_chains(members, {8, 4, 0, 0, 8, 4}, dear, visits));
    CHECK(dear.slot_of == slots{0, 1, 0, 2});
}

TEST_CASE("nothing has nothing to exchange")
{
    snapshot const p = sequence(0, 0, [](step_id, effect_sink&) {});
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 0, {}, {});
    auto const conflicts = later_conflicts(g, lives);
    sized_chains chains;
    std::uint64_t visits = 0;
    CHECK(!relink_chains(takers(lives, conflicts, {}), {}, chains, visits));
}

TEST_CASE("random chains, linked anew as it is told until that saves no more")
{
    std::size_t improved = 0, refused = 0;
    for (std::uint32_t seed = 0; seed != rounds(2500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = seed % 4 == 0 ? draw_thread(seed) : draw_sharing(seed, 20);
        auto in_order = d.wanted;
        sort_by(in_order, [&](buffer_id a, buffer_id b) {
            return takers::begin_key(d.lives, a) < takers::begin_key(d.lives, b);
        });
        takers const members(d.lives, d.conflicts, in_order);
        dice roll{std::mt19937(seed)};
        sized_chains chains;
        std::vector<buffer_id> tenant; // the last of each slot
        for (buffer_id b : in_order) { // into the last slot that takes it, or sometimes into none
            std::size_t s = tenant.size();
            while (s != 0 && !d.rule.gives(tenant[s - 1], b)) --s;
            if (s == 0 || roll.below(3) == 0) {
                tenant.push_back(b);
                s = tenant.size();
            }
            tenant[s - 1] = b;
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
                    if (chains.slot_of[i] == chains.slot_of[k]) REQUIRE(d.rule.gives(members[k], members[i]));
        }
    }
    CHECK(improved > 200);
    CHECK(refused > 100);
}

} // namespace this_test
