// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/control_flow.hpp>

#include "../dice.hpp"
#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "random_flow.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using ids = std::vector<node_id>;
using lists = std::vector<ids>;

namespace {

csr_graph flat(lists const& successors)
{
    return as_graph(
        successors.size(), [&](auto v) -> auto& { return successors[v]; });
}

ids parents(lists const& successors) { return dominators(flat(successors)).parent; }

} // namespace

TEST_CASE("where both branches meet, neither dominates")
{
    dominator_tree const tree = dominators(flat({{1, 2}, {3}, {3}, {}}));
    CHECK(tree.parent == ids{no_node, 0, 0, 0});
    CHECK(tree.dominates(0, 3));
    CHECK(tree.dominates(3, 3));
    CHECK_FALSE(tree.strictly_dominates(3, 3));
    CHECK(tree.strictly_dominates(0, 3));
    CHECK_FALSE(tree.dominates(1, 3));
    CHECK_FALSE(tree.strictly_dominates(1, 3));
}

TEST_CASE("siblings stand in reverse postorder of the search, parents before them")
{
    // The search leaves 1 last but one, so that it stands before 2 and both before 3.
    CHECK(dominators(flat({{2, 1}, {3}, {3}, {}})).preorder == ids{0, 1, 2, 3});
    CHECK(dominators(flat({{1, 2}, {3}, {3}, {}})).preorder == ids{0, 2, 1, 3});
    dominator_tree const deep = dominators(flat({{1, 4}, {2, 3}, {}, {}, {}}));
    CHECK(deep.preorder == ids{0, 4, 1, 3, 2});
    CHECK(deep.entered == ids{0, 2, 4, 3, 1});
    CHECK(deep.end == ids{5, 5, 5, 4, 2});
}

TEST_CASE("edges back, to itself and twice to the same node say nothing new")
{
    CHECK(parents({{1, 1}, {1, 2}, {0, 1, 3}, {2}}) == ids{no_node, 0, 1, 2});
}

TEST_CASE("a loop that is entered twice has its entries under the node before them")
{
    CHECK(parents({{1, 2}, {2}, {1}}) == ids{no_node, 0, 0});
    // A ladder entered on both sides: what the first pass believes has to be taken back rung by rung.
    CHECK(parents({{1, 2}, {3}, {4}, {4, 5}, {3, 6}, {6}, {5}}) == ids{no_node, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("no node is dominated by none, one by itself")
{
    CHECK(dominators(csr_graph{}).preorder.empty());
    dominator_tree const one = dominators(flat({{0}}));
    CHECK(one.parent == ids{no_node});
    CHECK(one.dominates(0, 0));
}

TEST_CASE("what the entry does not reach hangs in trees of its own, and leads into no other")
{
    // 3 -> 2 does not give 2 a second way; 4, a root as well, leads to 3, which is older.
    dominator_tree const tree = dominators(flat({{1}, {2}, {}, {2, 5}, {3}, {3, 1}}));
    CHECK(tree.parent == ids{no_node, 0, 1, no_node, no_node, 3});
    CHECK(tree.preorder == ids{0, 1, 2, 3, 5, 4});
    CHECK_FALSE(tree.dominates(0, 3));
    CHECK_FALSE(tree.dominates(4, 3));
    CHECK(tree.dominates(3, 5));
}

TEST_CASE("the poorest graph has dominators, over the numbers of its vertices")
{
    CHECK(dominators(archetype::graph({{2}, {}, {1}})).parent == ids{no_node, 2, 0});
}

TEST_CASE("predecessors and search may be given")
{
    csr_graph const g = flat({{1, 2}, {3}, {3, 2}, {1}, {3}});
    dominator_tree const given = dominators(g, g.transposed(g.rows()), depth_first(g)), made = dominators(g);
    CHECK(given.parent == made.parent);
    CHECK(given.preorder == made.preorder);
}

TEST_CASE("a chain of a million nodes does not overflow the stack")
{
    std::size_t const nodes = 1000000;
    dominator_tree const tree = dominators(as_graph(nodes, [&](node_id v) {
        return v + 1 == nodes ? ids{0} : ids{v + 1}; // and back to the entry
    }));
    CHECK(tree.parent[nodes - 1] == nodes - 2);
    CHECK(tree.dominates(0, nodes - 1));
    CHECK_FALSE(tree.dominates(nodes - 1, 0));
}

TEST_CASE("where the entry reaches everything, the tree is that of Lengauer and Tarjan")
{
    using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p = draw_graph(pick, {.nodes = 40, .is_reached = true}).program();
        boost_graph g(p.nodes());
        for (node_id n = 0; n != p.nodes(); ++n)
            for (node_id to : p.successors(n)) add_edge(n, to, g);
        std::vector<boost_graph::vertex_descriptor> closest(p.nodes(), boost_graph::null_vertex());
        boost::lengauer_tarjan_dominator_tree(
            g, 0, boost::make_iterator_property_map(closest.begin(), get(boost::vertex_index, g)));
        dominator_tree const tree = dominators(g);
        for (node_id n = 0; n != p.nodes(); ++n)
            REQUIRE(tree.parent[n] ==
                    (closest[n] == boost_graph::null_vertex() ? no_node : static_cast<node_id>(closest[n])));
    }
}

TEST_CASE("otherwise it is what is cut off, each tree of the search for itself")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 15}).program().graph();
        truth_table const truth = dominance(g);
        depth_first_forest const search = depth_first(g);
        dominator_tree const tree = dominators(g);
        for (node_id a = 0; a != g.rows(); ++a)
            for (node_id b = 0; b != g.rows(); ++b) {
                REQUIRE(tree.dominates(a, b) == truth[a][b]);
                if (tree.parent[a] == tree.parent[b] && search.is_reachable(a) && search.is_reachable(b))
                    REQUIRE((tree.entered[a] < tree.entered[b]) == (search.left[a] > search.left[b]));
            }
    }
}

} // namespace this_test
