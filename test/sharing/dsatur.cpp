// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/coloring.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using slots = std::vector<slot_id>;

namespace {

ids every(std::size_t values)
{
    ids all;
    for (value_id v = 0; v != values; ++v) all.push_back(v);
    return all;
}

slots colored(interferences const& all)
{
    return color_by_saturation(all.graph(), every(all.size()), slots(all.size(), no_slot));
}

// The same, looking at all vertices before each step.
slots colored_slowly(interferences const& all, ids const& vertices, slots slot_of)
{
    for (std::size_t round = 0; round != vertices.size(); ++round) {
        std::tuple<std::size_t, std::size_t, value_id> best{0, 0, 0};
        std::set<slot_id> taken_of_best;
        for (value_id v : vertices) {
            if (slot_of[v] != no_slot) continue;
            std::set<slot_id> taken;
            std::size_t waiting = 0;
            for (value_id w : all.neighbors(v)) {
                if (slot_of[w] <= all.neighbors(v).size()) taken.insert(slot_of[w]);
                waiting +=
                    slot_of[w] == no_slot && std::find(vertices.begin(), vertices.end(), w) != vertices.end();
            }
            std::tuple const mine{taken.size() + 1, waiting, ~v};
            if (mine <= best) continue;
            best = mine;
            taken_of_best = taken;
        }
        slot_id lowest = 0;
        while (taken_of_best.count(lowest) != 0) ++lowest;
        slot_of[~std::get<2>(best)] = lowest;
    }
    return slot_of;
}

} // namespace

TEST_CASE("who has the fewest slots left is next, so a path has two however it is numbered")
{
    interferences path(4); // 0 - 2 - 3 - 1: in the order of ids, 3 would be last and find two slots taken
    path.add(0, 2);
    path.add(2, 3);
    path.add(3, 1);
    CHECK(colored(path) == slots{1, 0, 0, 1});
}

TEST_CASE("nothing has no slots, and those without neighbours have the first")
{
    CHECK(color_by_saturation(csr_graph{}, {}, {}).empty());
    CHECK(colored(interferences(3)) == slots{0, 0, 0});
}

TEST_CASE("who has a slot keeps it, and who is not named stays without")
{
    interferences all(3);
    all.add(0, 1);
    all.add(1, 2);
    csr_graph const g = all.graph();
    CHECK(color_by_saturation(g, {0, 1}, {no_slot, no_slot, 0}) == slots{0, 1, 0});
    CHECK(color_by_saturation(g, {0, 1}, {no_slot, no_slot, 70}) == slots{0, 1, 70});
    CHECK(color_by_saturation(g, {0, 2}, {no_slot, no_slot, no_slot}) == slots{0, no_slot, 0});
}

TEST_CASE("more slots than a word has bits")
{
    interferences all(150);
    for (std::size_t v = 0; v != 150; ++v)
        for (std::size_t w = 0; w != v; ++w) all.add(v, w);
    CHECK(colored(all) == every(150));
}

TEST_CASE("a bipartite graph has two slots")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        std::size_t const values = 2 + roll.below(40);
        interferences all(values);
        for (auto n = roll.below(120); n != 0; --n) {
            auto const v = roll.below(static_cast<std::uint32_t>(values));
            auto const w = roll.below(static_cast<std::uint32_t>(values));
            if (v % 3 == 0 && w % 3 != 0) all.add(v, w);
        }
        slots const slot_of = colored(all);
        CHECK(all.allows(slot_of));
        for (slot_id s : slot_of) CHECK(s < 2);
    }
}

TEST_CASE("the tournament finds whom a look at all vertices would find")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = any_interferences(roll, roll.below(24), roll.below(101));
        ids vertices;
        slots slot_of(all.size(), no_slot);
        for (value_id v = 0; v != all.size(); ++v) {
            auto const fate = roll.below(8);
            if (fate == 0) slot_of[v] = roll.below(2) == 0 ? v : 100 + v; // so that fixed ones never clash
            else if (fate != 1) vertices.push_back(v);
        }
        slots const fast = color_by_saturation(all.graph(), vertices, slot_of);
        CHECK(fast == colored_slowly(all, vertices, slot_of));
        CHECK(all.allows(fast));
        for (value_id v : vertices) CHECK(fast[v] <= all.neighbors(v).size());
    }
}

} // namespace this_test
