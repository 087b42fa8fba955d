// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/coloring.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using bytes = std::vector<byte_count>;

namespace {

// By trying all sets: the size of the largest clique, and what all cliques together show, slot by slot.
struct all_cliques {
    std::size_t largest = 0;
    byte_count shown = 0;

    all_cliques(interferences const& all, bytes const& sizes)
    {
        bytes at_least(all.size(), 0);
        for (unsigned set = 1; set != 1u << all.size(); ++set) {
            ids members;
            bytes mine;
            for (value_id v = 0; v != all.size(); ++v) {
                if ((set >> v & 1) == 0) continue;
                members.push_back(v);
                mine.push_back(sizes[v]);
            }
            if (!all.is_clique(members)) continue;
            largest = std::max(largest, members.size());
            std::sort(mine.rbegin(), mine.rend());
            for (std::size_t i = 0; i != mine.size(); ++i) at_least[i] = std::max(at_least[i], mine[i]);
        }
        for (byte_count b : at_least) shown += b;
    }
};

} // namespace

TEST_CASE("several cliques show more bytes than each of them")
{
    interferences all(5);
    all.add(0, 1);
    all.add(1, 2);
    all.add(0, 2);
    all.add(3, 4);
    auto const bound = find_cliques(all.graph(), {40, 8, 8, 16, 16});
    CHECK(bound.clique == ids{0, 1, 2});
    CHECK(bound.bytes == 40 + 16 + 8);
    CHECK(fewest(all, {40, 8, 8, 16, 16}).bytes == 40 + 16 + 8);
}

TEST_CASE("nothing shows nothing, one shows itself, and 0 bytes need no slot")
{
    CHECK(find_cliques(csr_graph{}, {}).clique.empty());
    CHECK(find_cliques(interferences(2).graph(), {0, 0}).clique.empty());
    CHECK(find_cliques(interferences(2).graph(), {0, 0}).bytes == 0);
    CHECK(find_cliques(interferences(2).graph(), {0, 7}).clique == ids{1});
    CHECK(find_cliques(interferences(2).graph(), {9, 7}).bytes == 9);
}

TEST_CASE("a bound that exceeds 64 bits is refused")
{
    interferences pair(2);
    pair.add(0, 1);
    CHECK_THROWS_WITH_AS((void)find_cliques(pair.graph(), {no_size - 1, 1}),
                         "sublet: a sum of sizes exceeds 64 bits", precondition_error);
}

TEST_CASE("what is found is a clique, and no plan has fewer slots or bytes than it shows")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = any_interferences(roll, 1 + roll.below(8), roll.below(101));
        bytes sizes(all.size());
        for (auto& s : sizes) s = 1 + roll.below(9);
        auto const bound = find_cliques(all.graph(), sizes);
        CHECK(std::is_sorted(bound.clique.begin(), bound.clique.end()));
        CHECK(all.is_clique(bound.clique));
        fewest const best(all, sizes);
        CHECK(bound.clique.size() <= best.slots);
        CHECK(bound.bytes <= best.bytes);
        CHECK(bound.bytes <= all_cliques(all, sizes).shown);
        byte_count of_clique = 0;
        for (value_id v : bound.clique) of_clique += sizes[v];
        CHECK(bound.bytes >= of_clique);
    }
}

TEST_CASE("in a chordal graph no clique is larger, and all cliques together show no more")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = chordal_interferences(roll, 1 + roll.below(11));
        bytes sizes(all.size());
        for (auto& s : sizes) s = 1 + roll.below(9);
        auto const bound = find_cliques(all.graph(), sizes);
        all_cliques const truth(all, sizes);
        CHECK(bound.clique.size() == truth.largest);
        CHECK(bound.bytes == truth.shown);
    }
}

} // namespace this_test
