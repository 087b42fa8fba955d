// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/control_flow.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"
#include "../rows_of.hpp"
#include "../transitive.hpp"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<node_id>;
using lists = std::vector<ids>;

namespace {

ids parents(lists const& successors) { return dominators(graph_of(successors)).parent; }

} // namespace

TEST_CASE("where two branches join, neither dominates")
{
    dominator_tree const tree = dominators(graph_of({{1, 2}, {3}, {3}, {}}));
    CHECK(tree.parent == ids{no_node, 0, 0, 0});
    CHECK(tree.dominates(0, 3));
    CHECK(tree.dominates(3, 3));
    CHECK_FALSE(tree.strictly_dominates(3, 3));
    CHECK(tree.strictly_dominates(0, 3));
    CHECK_FALSE(tree.dominates(1, 3));
    CHECK_FALSE(tree.strictly_dominates(1, 3));
}

TEST_CASE("siblings are in reverse postorder of the search, parents before them")
{
    // The search leaves 1 second to last, so that 1 precedes 2 and both precede 3.
    CHECK(dominators(graph_of({{2, 1}, {3}, {3}, {}})).preorder == ids{0, 1, 2, 3});
    CHECK(dominators(graph_of({{1, 2}, {3}, {3}, {}})).preorder == ids{0, 2, 1, 3});
    dominator_tree const deep = dominators(graph_of({{1, 4}, {2, 3}, {}, {}, {}}));
    CHECK(deep.preorder == ids{0, 4, 1, 3, 2});
    CHECK(deep.preorder_index == std::vector<std::uint32_t>{0, 2, 4, 3, 1});
    CHECK(deep.end == std::vector<std::uint32_t>{5, 5, 5, 4, 2});
}

TEST_CASE("back edges, self loops and parallel edges do not change the dominators")
{
    CHECK(parents({{1, 1}, {1, 2}, {0, 1, 3}, {2}}) == ids{no_node, 0, 1, 2});
}

TEST_CASE("the entries of a loop with two entries are children of the node before them")
{
    CHECK(parents({{1, 2}, {2}, {1}}) == ids{no_node, 0, 0});
    // A ladder entered on both sides: the result of the first pass is corrected rung by rung.
    CHECK(parents({{1, 2}, {3}, {4}, {4, 5}, {3, 6}, {6}, {5}}) == ids{no_node, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a graph without nodes has an empty tree, and a single node dominates itself")
{
    CHECK(dominators(csr_graph{}).preorder.empty());
    dominator_tree const one = dominators(graph_of({{0}}));
    CHECK(one.parent == ids{no_node});
    CHECK(one.dominates(0, 0));
}

TEST_CASE("unreachable nodes form trees of their own, and their edges into other trees are ignored")
{
    // 3 -> 2 is no second path to 2; 4, a root as well, leads to 3, which is in an earlier tree.
    dominator_tree const tree = dominators(graph_of({{1}, {2}, {}, {2, 5}, {3}, {3, 1}}));
    CHECK(tree.parent == ids{no_node, 0, 1, no_node, no_node, 3});
    CHECK(tree.preorder == ids{0, 1, 2, 3, 5, 4});
    CHECK_FALSE(tree.dominates(0, 3));
    CHECK_FALSE(tree.dominates(4, 3));
    CHECK(tree.dominates(3, 5));
}

TEST_CASE("the minimal graph has dominators, over the numbers of its vertices")
{
    CHECK(dominators(archetype::graph({{2}, {}, {1}})).parent == ids{no_node, 2, 0});
}

TEST_CASE("predecessors and search may be given")
{
    csr_graph const g = graph_of({{1, 2}, {3}, {3, 2}, {1}, {3}});
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

TEST_CASE("if the entry reaches all nodes, the tree is that of Lengauer and Tarjan")
{
    using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
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

TEST_CASE("otherwise a node dominates those that its removal disconnects, in each tree of the search")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 15}).program().graph();
        truth_table const truth = dominance(g);
        depth_first_forest const search = depth_first(g);
        dominator_tree const tree = dominators(g);
        for (node_id a = 0; a != g.rows(); ++a)
            for (node_id b = 0; b != g.rows(); ++b) {
                REQUIRE(tree.dominates(a, b) == truth[a][b]);
                if (tree.parent[a] == tree.parent[b] && search.is_reachable(a) && search.is_reachable(b))
                    REQUIRE((tree.preorder_index[a] < tree.preorder_index[b]) ==
                            (search.postorder_index[a] > search.postorder_index[b]));
            }
    }
}

// --- loops -------------------------------------------------------------------------------------------------

using enum loop_forest::loop_kind;

namespace {

loop_forest loops_of(lists const& successors) { return loops(graph_of(successors)); }

/// T1 and T2: removes self loops and merges each node with one predecessor into it, to the fixed point.
bool shrinks_to_one_node(csr_graph const& g)
{
    std::vector<std::set<node_id>> from(g.rows());
    for (node_id n = 0; n != g.rows(); ++n)
        for (node_id to : g[n])
            if (to != n) from[to].insert(n);
    std::set<node_id> left;
    for (node_id n = 1; n < g.rows(); ++n) left.insert(n);
    for (bool moved = true; moved;) {
        moved = false;
        for (node_id n : left) {
            if (from[n].size() != 1) continue;
            node_id const into = *from[n].begin();
            for (node_id m = 0; m != g.rows(); ++m)
                if (from[m].erase(n) != 0 && m != into) from[m].insert(into);
            left.erase(n);
            moved = true;
            break;
        }
    }
    return left.empty();
}

/// By header and node: on a path from the header to the source of one of its back edges that does not contain
/// the header again.
truth_table natural_loops(csr_graph const& g)
{
    truth_table const dominates = dominance(g);
    csr_rows const from = g.transposed(g.rows());
    truth_table body = all_false(g.rows(), g.rows());
    for (node_id header = 0; header != g.rows(); ++header) {
        ids open;
        for (node_id n : from[header])
            if (dominates[header][n]) open.push_back(n);
        if (!open.empty()) body[header][header] = true;
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            if (body[header][n]) continue;
            body[header][n] = true;
            for (node_id m : from[n]) open.push_back(m);
        }
    }
    return body;
}

} // namespace

TEST_CASE("an inner loop is nested in an outer one, and each is contiguous and begins with its header")
{
    loop_forest const forest = loops_of({{1}, {2}, {3}, {2, 4}, {1, 5}, {}});
    CHECK(forest.parent == ids{no_node, no_node, 1, 2, 1, no_node});
    CHECK(forest.kind == std::vector{none, reducible, reducible, none, none, none});
    CHECK(forest.preorder == ids{0, 1, 2, 3, 4, 5});
    CHECK(forest.loops == 2);
    CHECK(forest.irreducible_loops == 0);
    CHECK(forest.is_reducible());
    CHECK(forest.is_header(2));
    CHECK_FALSE(forest.is_header(3));
    CHECK(forest.contains(1, 3));
    CHECK(forest.contains(2, 2));
    CHECK_FALSE(forest.contains(2, 4));
    ids innermost, without_4, without_5;
    for (node_id n = 0; n != 6; ++n) {
        innermost.push_back(forest.innermost(n));
        without_4.push_back(forest.outermost_excluding(n, 4));
        without_5.push_back(forest.outermost_excluding(n, 5));
    }
    CHECK(innermost == ids{no_node, 1, 2, 2, 1, no_node});
    CHECK(without_4 == ids{0, 1, 2, 2, 4, 5});
    CHECK(without_5 == ids{0, 1, 1, 1, 1, 5});
}

TEST_CASE("a node on no cycle is in no loop")
{
    loop_forest const forest = loops_of({{1, 2, 2}, {3}, {3}, {}});
    CHECK(forest.loops == 0);
    CHECK(forest.parent == ids(4, no_node));
    CHECK(forest.preorder == ids{0, 2, 1, 3});
    CHECK(loops(csr_graph{}).preorder.empty());
}

TEST_CASE("a node that leads to itself is a loop of one node")
{
    loop_forest const forest = loops_of({{1}, {1, 1}});
    CHECK(forest.loops == 1);
    CHECK(forest.kind[1] == reducible);
    CHECK(forest.parent == ids{no_node, no_node});
    CHECK(forest.end[1] - forest.preorder_index[1] == 1);
}

TEST_CASE("several back edges to one header form one loop")
{
    loop_forest const forest = loops_of({{1}, {2, 3}, {1}, {1, 1}});
    CHECK(forest.loops == 1);
    CHECK(forest.parent == ids{no_node, no_node, 1, 1});
}

TEST_CASE("the header of a loop entered at two nodes is the one that the search enters first")
{
    loop_forest const forest = loops_of({{2, 1}, {2}, {1}});
    CHECK(forest.kind == std::vector{none, none, irreducible});
    CHECK(forest.parent == ids{no_node, 2, no_node});
    CHECK(forest.irreducible_loops == 1);
    CHECK_FALSE(forest.is_reducible());
}

TEST_CASE("an edge from an outer loop into the middle of an inner one leaves the outer loop reducible")
{
    // The loop of 1 is entered at 1 only; the inner loop of 2 is entered at 3, too.
    loop_forest const forest = loops_of({{1}, {2, 3}, {3}, {2, 4}, {1}});
    CHECK(forest.kind == std::vector{none, reducible, irreducible, none, none});
    CHECK(forest.parent == ids{no_node, no_node, 1, 2, 1});
    // From outside both are entered in the middle.
    loop_forest const deeper = loops_of({{1, 3}, {2}, {3}, {2, 4}, {1}});
    CHECK(deeper.kind == std::vector{none, irreducible, irreducible, none, none});
    CHECK(deeper.irreducible_loops == 2);
    CHECK(deeper.loops == 2);
}

TEST_CASE("unreachable nodes have loops, and their edges enter no loop of reachable ones")
{
    loop_forest const forest = loops_of({{1}, {2}, {1}, {4, 2}, {3}});
    CHECK(forest.kind == std::vector{none, reducible, none, reducible, none});
    CHECK(forest.parent == ids{no_node, no_node, 1, no_node, 3});
    CHECK(forest.preorder == ids{0, 1, 2, 3, 4});
}

TEST_CASE("the minimal graph has loops, over the numbers of its vertices")
{
    CHECK(loops(archetype::graph({{2}, {2}, {1}})).parent == ids{no_node, 2, no_node});
}

TEST_CASE("predecessors and search may be given")
{
    csr_graph const g = graph_of({{1, 2}, {2}, {1}});
    loop_forest const given = loops(g, g.transposed(g.rows()), depth_first(g));
    CHECK(given.kind == loops(g).kind);
    CHECK(given.parent == loops(g).parent);
}

TEST_CASE("a node of a loop is visited once, however many paths contain it")
{
    node_id const diamonds = 60, last = 3 * diamonds; // 2^60 paths
    csr_graph const g = as_graph(last + 1, [&](node_id v) {
        return v == last ? ids{0} : v % 3 == 0 ? ids{v + 1, v + 2} : ids{v - v % 3 + 3};
    });
    loop_forest const forest = loops(g);
    CHECK(forest.loops == 1);
    CHECK(forest.end[0] == last + 1);
}

TEST_CASE("neither a loop of a million nodes nor ten thousand nested loops overflow the stack")
{
    std::size_t const nodes = 1000000;
    loop_forest const long_one =
        loops(as_graph(nodes, [&](node_id v) { return v + 1 == nodes ? ids{0} : ids{v + 1}; }));
    CHECK(long_one.loops == 1);
    CHECK(long_one.contains(0, nodes - 1));

    node_id const deep = 10000; // each of the first half is a header, its back edge is in the second
    loop_forest const nested = loops(as_graph(deep, [&](node_id v) {
        ids next;
        if (v + 1 != deep) next.push_back(v + 1);
        if (v >= deep / 2) next.push_back(deep - 1 - v);
        return next;
    }));
    CHECK(nested.loops == deep / 2);
    CHECK(nested.innermost(deep / 2) == deep / 2 - 1);
    CHECK(nested.outermost_excluding(deep / 2, deep - 1) == 1);
}

TEST_CASE("a graph is reducible if and only if merging nodes into their only predecessors leaves one node")
{
    unsigned reducible_graphs = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 14, .is_reached = true}).program().graph();
        bool const expected = shrinks_to_one_node(g);
        REQUIRE(loops(g).is_reducible() == expected);
        reducible_graphs += expected;
    }
    CHECK(reducible_graphs > 100);
    CHECK(reducible_graphs < rounds(500));
}

TEST_CASE("the loops of a reducible graph are the natural loops, and only back edges lead backwards")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 20, .is_reducible = true}).program().graph();
        loop_forest const forest = loops(g);
        depth_first_forest const search = depth_first(g);
        truth_table const body = natural_loops(g);
        for (node_id h = 0; h != g.rows(); ++h) {
            REQUIRE(forest.is_header(h) == body[h][h]);
            REQUIRE(forest.preorder[forest.preorder_index[h]] == h);
            for (node_id n = 0; n != g.rows(); ++n)
                if (h != n && forest.contains(h, n) != body[h][n]) FAIL("in the loop of ", h, "? ", n);
            for (node_id to : g[h])
                REQUIRE((forest.preorder_index[h] < forest.preorder_index[to]) != search.is_back_edge(h, to));
        }
    }
}

// --- preorder forest ---------------------------------------------------------------------------------------

namespace {

bool is_ancestor(ids const& parent, node_id a, node_id b)
{
    while (b != a && b != no_node) b = parent[b];
    return b == a;
}

} // namespace

TEST_CASE("each subtree is contiguous")
{
    preorder_forest const tree = number_preorder(ids{no_node, 0, 0, 1, 1}, ids{0, 1, 2, 3, 4});
    CHECK(tree.preorder == ids{0, 1, 3, 4, 2});
    CHECK(tree.preorder_index == std::vector<std::uint32_t>{0, 1, 4, 2, 3});
    CHECK(tree.end == std::vector<std::uint32_t>{5, 4, 5, 3, 4});
    CHECK(tree.is_ancestor(1, 1));
    CHECK(tree.is_ancestor(1, 4));
    CHECK_FALSE(tree.is_ancestor(4, 1));
    CHECK_FALSE(tree.is_ancestor(1, 2));
}

TEST_CASE("siblings and roots keep the given order")
{
    ids const parent{no_node, no_node, 0, 0, 1};
    CHECK(number_preorder(parent, ids{0, 2, 3, 1, 4}).preorder == ids{0, 2, 3, 1, 4});
    CHECK(number_preorder(parent, ids{1, 0, 3, 4, 2}).preorder == ids{1, 4, 0, 3, 2});
}

TEST_CASE("without nodes there is no tree")
{
    preorder_forest const tree = number_preorder(ids{}, ids{});
    CHECK(tree.preorder.empty());
    CHECK(tree.preorder_index.empty());
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
    preorder_forest const tree = number_preorder(parent, order);
    CHECK(tree.preorder == order);
    CHECK(tree.is_ancestor(nodes - 1, 0));
    CHECK_FALSE(tree.is_ancestor(0, 1));
}

TEST_CASE("in random forests, subtree ranges agree with following parent links, and the order is kept")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
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
        preorder_forest const tree = number_preorder(parent, order);
        for (node_id a = 0; a != nodes; ++a) {
            REQUIRE(tree.preorder[tree.preorder_index[a]] == a);
            node_id below = 0;
            for (node_id b = 0; b != nodes; ++b) {
                REQUIRE(tree.is_ancestor(a, b) == is_ancestor(parent, a, b));
                below += is_ancestor(parent, a, b);
                if (parent[a] == parent[b])
                    REQUIRE((tree.preorder_index[a] < tree.preorder_index[b]) == (place[a] < place[b]));
            }
            REQUIRE(tree.end[a] - tree.preorder_index[a] == below);
        }
    }
}

// --- traversal ---------------------------------------------------------------------------------------------

namespace {

lists random_lists(std::mt19937& random)
{
    lists successors(random() % 12);
    std::size_t const edges = successors.empty() ? 0 : random() % (3 * successors.size());
    for (std::size_t e = 0; e != edges; ++e)
        successors[random() % successors.size()].push_back(
            static_cast<node_id>(random() % successors.size()));
    return successors;
}

/// By definition: the next node is the first unseen successor of the deepest node on the path that has one; a
/// node without one is left, and the lowest unseen node is the root of another tree.
struct oracle {
    ids preorder, postorder, parent;

    explicit oracle(lists const& successors) : parent(successors.size(), no_node)
    {
        ids path;
        auto seen = [&](node_id n) {
            return std::find(preorder.begin(), preorder.end(), n) != preorder.end();
        };
        for (node_id root = 0; preorder.size() != successors.size();) {
            if (path.empty()) {
                while (seen(root)) ++root;
                preorder.push_back(root);
                path.push_back(root);
            }
            auto const& out = successors[path.back()];
            auto const next = std::find_if_not(out.begin(), out.end(), seen);
            if (next == out.end()) {
                postorder.push_back(path.back());
                path.pop_back();
            } else {
                parent[*next] = path.back();
                preorder.push_back(*next);
                path.push_back(*next);
            }
        }
        postorder.insert(postorder.end(), path.rbegin(), path.rend());
    }

    bool is_ancestor(node_id a, node_id b) const { return this_test::is_ancestor(parent, a, b); }
};

/// The nodes that a path of any length, including 0, leads to.
std::vector<std::vector<bool>> reach(lists const& successors)
{
    std::size_t const nodes = successors.size();
    std::vector<std::vector<bool>> to(nodes, std::vector<bool>(nodes));
    for (std::size_t u = 0; u != nodes; ++u) {
        to[u][u] = true;
        for (node_id v : successors[u]) to[u][v] = true;
    }
    make_transitive(to);
    return to;
}

} // namespace

TEST_CASE("a diamond is entered at its first node and left from its last one")
{
    depth_first_forest const forest = depth_first(graph_of({{1, 2}, {3}, {3}, {}}));
    CHECK(forest.preorder == ids{0, 1, 3, 2});
    CHECK(forest.postorder == ids{3, 1, 2, 0});
    CHECK(forest.parent == ids{no_node, 0, 0, 1});
    CHECK(forest.reachable == 4);
    CHECK(forest.is_ancestor(0, 3));
    CHECK_FALSE(forest.is_ancestor(2, 3));
    CHECK_FALSE(forest.is_back_edge(2, 3));
}

TEST_CASE("a loop has one back edge, which may be a self loop")
{
    depth_first_forest const forest = depth_first(graph_of({{1}, {2, 1}, {1}}));
    CHECK(forest.is_back_edge(2, 1));
    CHECK(forest.is_back_edge(1, 1));
    CHECK_FALSE(forest.is_back_edge(1, 2));
    CHECK_FALSE(forest.is_back_edge(0, 1));
}

TEST_CASE("without nodes the forest is empty")
{
    depth_first_forest const forest = depth_first(csr_graph());
    CHECK(forest.preorder.empty());
    CHECK(forest.reachable == 0);
}

TEST_CASE("unreachable nodes follow in trees of their own")
{
    depth_first_forest const forest = depth_first(graph_of({{2}, {2, 3}, {}, {0}}));
    CHECK(forest.preorder == ids{0, 2, 1, 3});
    CHECK(forest.parent == ids{no_node, no_node, 0, 1});
    CHECK(forest.reachable == 2);
    CHECK(forest.is_reachable(2));
    CHECK_FALSE(forest.is_reachable(3));
}

TEST_CASE("the minimal graph is searched by the numbers of its vertices")
{
    depth_first_forest const forest = depth_first(archetype::graph({{2, 1}, {}, {0}}));
    CHECK(forest.preorder == ids{0, 2, 1});
    CHECK(forest.is_back_edge(2, 0));
}

TEST_CASE("a chain of a million nodes does not overflow the stack")
{
    std::size_t const nodes = 1000000;
    depth_first_forest const forest =
        depth_first(as_graph(nodes, [&](node_id v) { return v + 1 == nodes ? ids{0} : ids{v + 1}; }));
    CHECK(forest.reachable == nodes);
    CHECK(forest.preorder.back() == nodes - 1);
    CHECK(forest.postorder.front() == nodes - 1);
    CHECK(forest.is_ancestor(0, nodes - 1));
    CHECK(forest.is_back_edge(nodes - 1, 0));
}

TEST_CASE("in random graphs the forest is that of the definition")
{
    std::mt19937 random(1);
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        lists const successors = random_lists(random);
        auto const nodes = static_cast<node_id>(successors.size());
        depth_first_forest const forest = depth_first(graph_of(successors));
        oracle const expected(successors);
        REQUIRE(forest.preorder == expected.preorder);
        REQUIRE(forest.postorder == expected.postorder);
        CHECK(forest.parent == expected.parent);

        auto const to = reach(successors);
        int wrong = 0;
        std::size_t reachable = 0;
        for (node_id u = 0; u != nodes; ++u) {
            wrong += forest.preorder[forest.preorder_index[u]] != u ||
                     forest.postorder[forest.postorder_index[u]] != u;
            wrong += forest.is_reachable(u) != to[0][u];
            reachable += to[0][u];
            for (node_id v = 0; v != nodes; ++v)
                wrong += forest.is_ancestor(u, v) != expected.is_ancestor(u, v);
        }
        CHECK(wrong == 0);
        CHECK(forest.reachable == reachable);
    }
}

TEST_CASE("back edges close cycles, and every cycle contains one")
{
    std::mt19937 random(2);
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        lists const successors = random_lists(random);
        depth_first_forest const forest = depth_first(graph_of(successors));
        auto const to = reach(successors);
        lists forward(successors.size());
        for (node_id u = 0; u != successors.size(); ++u)
            for (node_id v : successors[u]) {
                if (forest.is_back_edge(u, v)) CHECK(to[v][u]);
                else forward[u].push_back(v);
            }
        auto const left_over = reach(forward);
        for (node_id u = 0; u != successors.size(); ++u)
            for (node_id v : forward[u]) CHECK_FALSE(left_over[v][u]);
    }
}

} // namespace this_test
