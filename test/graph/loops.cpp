// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/control_flow.hpp>

#include "../dice.hpp"
#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using ids = std::vector<node_id>;
using lists = std::vector<ids>;
using enum loop_forest::loop_kind;

namespace {

csr_graph flat(lists const& successors)
{
    return as_graph(
        successors.size(), [&](auto v) -> auto& { return successors[v]; });
}

loop_forest loops_of(lists const& successors) { return loops(flat(successors)); }

/// Drop self loops, and merge into its predecessor each node that has only one, until nothing is left to do.
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

/// By header, by node: on a way from the header to the beginning of one of its edges back that does not pass
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

TEST_CASE("an inner loop lies in an outer one, and each is a stretch that begins with its header")
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

TEST_CASE("what does not go round is in no loop")
{
    loop_forest const forest = loops_of({{1, 2, 2}, {3}, {3}, {}});
    CHECK(forest.loops == 0);
    CHECK(forest.parent == ids(4, no_node));
    CHECK(forest.preorder == ids{0, 2, 1, 3});
    CHECK(loops(csr_graph{}).preorder.empty());
}

TEST_CASE("a node that leads to itself is a loop of one")
{
    loop_forest const forest = loops_of({{1}, {1, 1}});
    CHECK(forest.loops == 1);
    CHECK(forest.kind[1] == reducible);
    CHECK(forest.parent == ids{no_node, no_node});
    CHECK(forest.end[1] - forest.entered[1] == 1);
}

TEST_CASE("several edges back to one header close one loop")
{
    loop_forest const forest = loops_of({{1}, {2, 3}, {1}, {1, 1}});
    CHECK(forest.loops == 1);
    CHECK(forest.parent == ids{no_node, no_node, 1, 1});
}

TEST_CASE("a loop entered at two nodes belongs to the one that the search enters first")
{
    loop_forest const forest = loops_of({{2, 1}, {2}, {1}});
    CHECK(forest.kind == std::vector{none, none, irreducible});
    CHECK(forest.parent == ids{no_node, 2, no_node});
    CHECK(forest.irreducible_loops == 1);
    CHECK_FALSE(forest.is_reducible());
}

TEST_CASE("an edge into the middle of a loop, from the loop around it, leaves that one reducible")
{
    // The loop of 1 is entered at 1 only; in it that of 2 is entered at 3, too.
    loop_forest const forest = loops_of({{1}, {2, 3}, {3}, {2, 4}, {1}});
    CHECK(forest.kind == std::vector{none, reducible, irreducible, none, none});
    CHECK(forest.parent == ids{no_node, no_node, 1, 2, 1});
    // From outside both are entered in the middle.
    loop_forest const deeper = loops_of({{1, 3}, {2}, {3}, {2, 4}, {1}});
    CHECK(deeper.kind == std::vector{none, irreducible, irreducible, none, none});
    CHECK(deeper.irreducible_loops == 2);
    CHECK(deeper.loops == 2);
}

TEST_CASE("what the entry does not reach has loops, and enters none of what it does")
{
    loop_forest const forest = loops_of({{1}, {2}, {1}, {4, 2}, {3}});
    CHECK(forest.kind == std::vector{none, reducible, none, reducible, none});
    CHECK(forest.parent == ids{no_node, no_node, 1, no_node, 3});
    CHECK(forest.preorder == ids{0, 1, 2, 3, 4});
}

TEST_CASE("the poorest graph has loops, over the numbers of its vertices")
{
    CHECK(loops(archetype::graph({{2}, {2}, {1}})).parent == ids{no_node, 2, no_node});
}

TEST_CASE("predecessors and search may be given")
{
    csr_graph const g = flat({{1, 2}, {2}, {1}});
    loop_forest const given = loops(g, g.transposed(g.rows()), depth_first(g));
    CHECK(given.kind == loops(g).kind);
    CHECK(given.parent == loops(g).parent);
}

TEST_CASE("a node of a loop is met once, however many ways lead through it")
{
    node_id const diamonds = 60, last = 3 * diamonds; // 2^60 ways round
    csr_graph const g = as_graph(last + 1, [&](node_id v) {
        return v == last ? ids{0} : v % 3 == 0 ? ids{v + 1, v + 2} : ids{v - v % 3 + 3};
    });
    loop_forest const forest = loops(g);
    CHECK(forest.loops == 1);
    CHECK(forest.end[0] == last + 1);
}

TEST_CASE("neither a loop of a million nodes nor ten thousand loops in each other overflow the stack")
{
    std::size_t const nodes = 1000000;
    loop_forest const long_one =
        loops(as_graph(nodes, [&](node_id v) { return v + 1 == nodes ? ids{0} : ids{v + 1}; }));
    CHECK(long_one.loops == 1);
    CHECK(long_one.contains(0, nodes - 1));

    node_id const deep = 10000; // each of the first half is a header, its edge back is in the second
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

TEST_CASE("a graph is reducible iff merging nodes into their only predecessors leaves one")
{
    unsigned reducible_graphs = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 14, .is_reached = true}).program().graph();
        bool const expected = shrinks_to_one_node(g);
        REQUIRE(loops(g).is_reducible() == expected);
        reducible_graphs += expected;
    }
    CHECK(reducible_graphs > 100);
    CHECK(reducible_graphs < rounds(500));
}

TEST_CASE("the loops of a reducible graph are the natural ones, and its edges but those back lead onwards")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        csr_graph const g = draw_graph(pick, {.nodes = 20, .is_reducible = true}).program().graph();
        loop_forest const forest = loops(g);
        depth_first_forest const search = depth_first(g);
        truth_table const body = natural_loops(g);
        for (node_id h = 0; h != g.rows(); ++h) {
            REQUIRE(forest.is_header(h) == body[h][h]);
            REQUIRE(forest.preorder[forest.entered[h]] == h);
            for (node_id n = 0; n != g.rows(); ++n)
                if (h != n && forest.contains(h, n) != body[h][n]) FAIL("in the loop of ", h, "? ", n);
            for (node_id to : g[h])
                REQUIRE((forest.entered[h] < forest.entered[to]) != search.is_back_edge(h, to));
        }
    }
}

} // namespace this_test
