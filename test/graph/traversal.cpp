// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/control_flow.hpp>

#include "../dice.hpp"
#include "archetype.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using ids = std::vector<node_id>;
using lists = std::vector<ids>;

csr_graph graph_of(lists const& successors)
{
    return as_graph(
        successors.size(), [&](auto v) -> auto& { return successors[v]; });
}

lists random_lists(std::mt19937& random)
{
    lists successors(random() % 12);
    std::size_t const edges = successors.empty() ? 0 : random() % (3 * successors.size());
    for (std::size_t e = 0; e != edges; ++e)
        successors[random() % successors.size()].push_back(
            static_cast<node_id>(random() % successors.size()));
    return successors;
}

/// The definition, and nothing else: the next node is the first unseen successor of the deepest node on the
/// path that has one; where none has, the path is left, and the lowest unseen node begins another.
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

    bool is_ancestor(node_id a, node_id b) const
    {
        while (b != a && b != no_node) b = parent[b];
        return b == a;
    }
};

/// Which nodes a walk of no edge or more leads to.
std::vector<std::vector<bool>> reach(lists const& successors)
{
    std::size_t const nodes = successors.size();
    std::vector<std::vector<bool>> to(nodes, std::vector<bool>(nodes));
    for (std::size_t u = 0; u != nodes; ++u) {
        to[u][u] = true;
        for (node_id v : successors[u]) to[u][v] = true;
    }
    for (std::size_t k = 0; k != nodes; ++k)
        for (std::size_t u = 0; u != nodes; ++u)
            for (std::size_t v = 0; v != nodes; ++v)
                if (to[u][k] && to[k][v]) to[u][v] = true;
    return to;
}

} // namespace

TEST_CASE("a diamond is entered from the left and left from the end")
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

TEST_CASE("a loop has one edge back, to itself if need be")
{
    depth_first_forest const forest = depth_first(graph_of({{1}, {2, 1}, {1}}));
    CHECK(forest.is_back_edge(2, 1));
    CHECK(forest.is_back_edge(1, 1));
    CHECK_FALSE(forest.is_back_edge(1, 2));
    CHECK_FALSE(forest.is_back_edge(0, 1));
}

TEST_CASE("no node, no forest")
{
    depth_first_forest const forest = depth_first(csr_graph());
    CHECK(forest.preorder.empty());
    CHECK(forest.reachable == 0);
}

TEST_CASE("what the entry does not reach follows in trees of its own")
{
    depth_first_forest const forest = depth_first(graph_of({{2}, {2, 3}, {}, {0}}));
    CHECK(forest.preorder == ids{0, 2, 1, 3});
    CHECK(forest.parent == ids{no_node, no_node, 0, 1});
    CHECK(forest.reachable == 2);
    CHECK(forest.is_reachable(2));
    CHECK_FALSE(forest.is_reachable(3));
}

TEST_CASE("the poorest graph is walked by the numbers of its vertices")
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

TEST_CASE("on any graph the forest is that of the definition")
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
            wrong += forest.preorder[forest.entered[u]] != u || forest.postorder[forest.left[u]] != u;
            wrong += forest.is_reachable(u) != to[0][u];
            reachable += to[0][u];
            for (node_id v = 0; v != nodes; ++v)
                wrong += forest.is_ancestor(u, v) != expected.is_ancestor(u, v);
        }
        CHECK(wrong == 0);
        CHECK(forest.reachable == reachable);
    }
}

TEST_CASE("back edges close cycles, and no cycle does without")
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
