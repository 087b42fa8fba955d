// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/control_flow.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<node_id>;

namespace {

bool is_above(ids const& parent, node_id a, node_id b)
{
    while (b != a && b != no_node) b = parent[b];
    return b == a;
}

} // namespace

TEST_CASE("each subtree is a stretch")
{
    nesting const tree = nest(ids{no_node, 0, 0, 1, 1}, ids{0, 1, 2, 3, 4});
    CHECK(tree.preorder == ids{0, 1, 3, 4, 2});
    CHECK(tree.entered == ids{0, 1, 4, 2, 3});
    CHECK(tree.end == ids{5, 4, 5, 3, 4});
    CHECK(tree.is_above(1, 1));
    CHECK(tree.is_above(1, 4));
    CHECK_FALSE(tree.is_above(4, 1));
    CHECK_FALSE(tree.is_above(1, 2));
}

TEST_CASE("siblings and roots follow each other as in the order")
{
    ids const parent{no_node, no_node, 0, 0, 1};
    CHECK(nest(parent, ids{0, 2, 3, 1, 4}).preorder == ids{0, 2, 3, 1, 4});
    CHECK(nest(parent, ids{1, 0, 3, 4, 2}).preorder == ids{1, 4, 0, 3, 2});
}

TEST_CASE("no node, no tree")
{
    nesting const tree = nest(ids{}, ids{});
    CHECK(tree.preorder.empty());
    CHECK(tree.entered.empty());
    CHECK(tree.end.empty());
}

TEST_CASE("a tree a million nodes high does not overflow the stack")
{
    std::size_t const nodes = 1000000;
    ids parent(nodes), order(nodes);
    for (std::size_t i = 0; i != nodes; ++i) { // the highest id is the root
        parent[i] = i + 1 == nodes ? no_node : static_cast<node_id>(i + 1);
        order[i] = static_cast<node_id>(nodes - 1 - i);
    }
    nesting const tree = nest(parent, order);
    CHECK(tree.preorder == order);
    CHECK(tree.is_above(nodes - 1, 0));
    CHECK_FALSE(tree.is_above(0, 1));
}

TEST_CASE("on any forest the stretches are what climbing finds, and nothing else moves")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        auto const nodes = 1 + pick.below(20);
        ids order(nodes), parent(nodes, no_node), place(nodes);
        for (node_id i = 0; i != nodes; ++i) {
            order[i] = i;
            std::swap(order[i], order[pick.below(i + 1)]);
        }
        for (node_id i = 0; i != nodes; ++i) {
            place[order[i]] = i;
            if (node_id const above = pick.below(i + 1); above != i) parent[order[i]] = order[above];
        }
        nesting const tree = nest(parent, order);
        for (node_id a = 0; a != nodes; ++a) {
            REQUIRE(tree.preorder[tree.entered[a]] == a);
            node_id below = 0;
            for (node_id b = 0; b != nodes; ++b) {
                REQUIRE(tree.is_above(a, b) == is_above(parent, a, b));
                below += is_above(parent, a, b);
                if (parent[a] == parent[b])
                    REQUIRE((tree.entered[a] < tree.entered[b]) == (place[a] < place[b]));
            }
            REQUIRE(tree.end[a] - tree.entered[a] == below);
        }
    }
}

} // namespace this_test
