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

namespace {

// How many of the first `before` of the order are neighbours of v.
std::size_t neighbors_among(interferences const& all, ids const& order, std::size_t before, value_id v)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i != before; ++i) count += all(order[i], v);
    return count;
}

// The smallest degree in each part of the graph; the largest of these.
std::size_t degeneracy_by_parts(interferences const& all)
{
    std::size_t result = 0;
    for (unsigned part = 1; part != 1u << all.size(); ++part) {
        std::size_t smallest = all.size();
        for (std::size_t v = 0; v != all.size(); ++v) {
            if ((part >> v & 1) == 0) continue;
            std::size_t degree = 0;
            for (std::size_t w = 0; w != all.size(); ++w) degree += (part >> w & 1) != 0 && all(v, w);
            smallest = std::min(smallest, degree);
        }
        result = std::max(result, smallest);
    }
    return result;
}

} // namespace

TEST_CASE("who has the fewest neighbours comes last, and then who has the fewest without it")
{
    // 3 hangs on 2, which lies on a triangle with 0 and 1. Without 3 all have two, and 2 has lost one last.
    interferences all(4);
    all.add(0, 1);
    all.add(1, 2);
    all.add(2, 3);
    all.add(0, 2);
    auto const last = smallest_last(all.graph());
    CHECK(last.order == ids{0, 1, 2, 3});
    CHECK(last.degeneracy == 2);
    CHECK(largest_cardinality_first(all.graph()) == ids{0, 2, 1, 3});
}

TEST_CASE("without vertices there is nothing to order, and without edges nothing decides but the id")
{
    CHECK(smallest_last(csr_graph{}).order.empty());
    CHECK(largest_cardinality_first(csr_graph{}).empty());
    csr_graph const apart = interferences(3).graph();
    CHECK(smallest_last(apart).order == ids{2, 1, 0});
    CHECK(smallest_last(apart).degeneracy == 0);
    CHECK(largest_cardinality_first(apart) == ids{0, 1, 2});
}

TEST_CASE("in both orders each comes when its turn is, and no order has a lower degeneracy")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const values = roll.below(10);
        auto const all = any_interferences(roll, values, roll.below(101));
        ids every;
        for (value_id v = 0; v != values; ++v) every.push_back(v);

        auto const last = smallest_last(all.graph());
        REQUIRE(std::is_permutation(last.order.begin(), last.order.end(), every.begin(), every.end()));
        std::size_t most = 0;
        for (std::size_t i = values; i-- != 0;) {
            std::size_t const mine = neighbors_among(all, last.order, i, last.order[i]);
            for (std::size_t j = 0; j != i; ++j)
                CHECK(mine <= neighbors_among(all, last.order, i + 1, last.order[j]));
            most = std::max(most, mine);
        }
        CHECK(last.degeneracy == most);
        CHECK(last.degeneracy == degeneracy_by_parts(all));

        ids const first = largest_cardinality_first(all.graph());
        REQUIRE(std::is_permutation(first.begin(), first.end(), every.begin(), every.end()));
        for (std::size_t i = 0; i != values; ++i)
            for (std::size_t j = i + 1; j < values; ++j)
                CHECK(neighbors_among(all, first, i, first[i]) >= neighbors_among(all, first, i, first[j]));
    }
}

TEST_CASE("in a chordal graph the neighbours that come before one are neighbours of each other")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = chordal_interferences(roll, roll.below(30));
        ids const order = largest_cardinality_first(all.graph());
        for (std::size_t i = 0; i != order.size(); ++i) {
            ids before;
            for (std::size_t j = 0; j != i; ++j)
                if (all(order[i], order[j])) before.push_back(order[j]);
            CHECK(all.is_clique(before));
        }
    }
}

TEST_CASE("a path of a million vertices is no matter of depth")
{
    std::uint32_t const length = 1'000'000;
    auto const path = as_graph(length, [](auto v) {
        ids next;
        if (v != 0) next.push_back(v - 1);
        if (v + 1 != length) next.push_back(v + 1);
        return next;
    });
    CHECK(smallest_last(path).degeneracy == 1);
    CHECK(largest_cardinality_first(path).back() == length - 1);
}

} // namespace this_test
