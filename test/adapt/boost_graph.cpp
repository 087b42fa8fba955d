// SPDX-License-Identifier: BSL-1.0
#include <sublet/adapt/boost_graph.hpp>

#include "../rows_of.hpp"

#include "random_source.hpp"

#include <boost/concept/assert.hpp>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/bellman_ford_shortest_paths.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/sequential_vertex_coloring.hpp>
#include <boost/graph/smallest_last_ordering.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/range/iterator_range.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace this_test {

using namespace sublet;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<csr_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<csr_graph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<csr_graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<csr_graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<csr_graph, node_id, boost::vertex_index_t>));

using traits = boost::graph_traits<csr_graph>;
static_assert(std::forward_iterator<traits::vertex_iterator>);
static_assert(std::forward_iterator<traits::out_edge_iterator>);
static_assert(std::forward_iterator<traits::edge_iterator>);
static_assert(graph<csr_graph>, "it stays a graph of this library");

using lists = std::vector<std::vector<node_id>>;

static lists draw(random_source& pick, bool is_symmetric)
{
    lists successors(1 + pick.below(9));
    auto const nodes = static_cast<std::uint32_t>(successors.size());
    for (std::uint32_t i = 0, n = pick.below(3 * nodes); i != n; ++i) {
        node_id const u = pick.below(nodes);
        node_id const v = pick.below(nodes);
        if (!is_symmetric) successors[u].push_back(v);
        else if (u != v && std::find(successors[u].begin(), successors[u].end(), v) == successors[u].end()) {
            successors[u].push_back(v);
            successors[v].push_back(u);
        }
    }
    return successors;
}

/// The same as a graph of Boost, for comparison.
using directed_list = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
static directed_list same(lists const& successors)
{
    directed_list g(successors.size());
    for (node_id u = 0; u != successors.size(); ++u)
        for (node_id v : successors[u]) add_edge(u, v, g);
    return g;
}

TEST_CASE("edges are listed row by row, whichever rows are empty")
{
    csr_graph const g = graph_of({{}, {2, 2}, {}, {0, 1}, {}});
    std::vector<csr_graph::edge> listed;
    for (auto [e, end] = edges(g); e != end; e++) listed.push_back(*e);
    CHECK(listed == std::vector<csr_graph::edge>{{1, 2}, {1, 2}, {3, 0}, {3, 1}});
    CHECK(num_edges(g) == 4);
    for (csr_graph const& none : {csr_graph{}, graph_of({{}, {}})}) {
        CHECK(edges(none).first == edges(none).second);
        CHECK(num_edges(none) == 0);
    }
}

TEST_CASE("ranges of Boost and algorithms of the standard library accept the iterators")
{
    csr_graph const g = graph_of({{1, 2}, {2}, {}});
    node_id sum = 0;
    for (node_id v : boost::make_iterator_range(vertices(g)))
        for (node_id w : boost::make_iterator_range(adjacent_vertices(v, g))) sum += w;
    CHECK(sum == 5);
    auto const [first, last] = out_edges(0, g);
    CHECK(std::distance(first, last) == 2);
    CHECK(std::count_if(edges(g).first, edges(g).second, [](auto e) { return e.to == 2; }) == 2);
    auto [v, v_end] = vertices(g);
    CHECK(*v++ == 0);
    CHECK(*v == 1);
    auto e = first;
    CHECK(target(*e++, g) == 1);
    CHECK(target(*e, g) == 2);
    CHECK(get(boost::vertex_index, g, 2) == get(get(boost::vertex_index, g), 2u));
}

TEST_CASE("a symmetric graph is directed, and each of its edges counts twice")
{
    csr_graph const g = graph_of({{1}, {0, 2}, {1}});
    CHECK(boost::is_directed(g));
    CHECK(num_edges(g) == 4);
    CHECK(out_degree(1, g) == 2);
}

TEST_CASE("colouring in smallest-last order: neighbours differ, and an odd cycle needs three colours")
{
    auto colors_of = [](csr_graph const& g) {
        std::vector<node_id> order(g.rows()), color(g.rows());
        auto const order_map = boost::make_iterator_property_map(order.begin(), get(boost::vertex_index, g));
        auto const color_map = boost::make_iterator_property_map(color.begin(), get(boost::vertex_index, g));
        boost::smallest_last_vertex_ordering(g, order_map);
        auto const colors = boost::sequential_vertex_coloring(g, order_map, color_map);
        for (auto e : boost::make_iterator_range(edges(g))) CHECK(color[e.from] != color[e.to]);
        return colors;
    };
    CHECK(colors_of(graph_of({{1, 4}, {0, 2}, {1, 3}, {2, 4}, {3, 0}})) == 3);
    CHECK(colors_of(graph_of({{1, 3}, {0, 2}, {1, 3}, {2, 0}})) == 2);
    CHECK(colors_of(graph_of({{}, {}})) == 1);
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        lists const symmetric = draw(pick, true);
        std::size_t most = 0;
        for (auto const& row : symmetric) most = std::max(most, row.size());
        CHECK(colors_of(graph_of(symmetric)) <= most + 1);
    }
}

namespace {

struct listing : boost::default_bfs_visitor {
    std::vector<node_id>* order;
    template <class Vertex, class Graph>
    void discover_vertex(Vertex v, Graph const&) const
    {
        order->push_back(v);
    }
};
struct leaving : boost::default_dfs_visitor {
    std::vector<node_id>* order;
    template <class Vertex, class Graph>
    void finish_vertex(Vertex v, Graph const&) const
    {
        order->push_back(v);
    }
};

template <class G>
auto lengths(G const& g)
{
    using edge = typename boost::graph_traits<G>::edge_descriptor;
    return boost::make_function_property_map<edge>(
        [&g](edge e) { return static_cast<int>(1 + (3 * source(e, g) + target(e, g)) % 5); });
}

template <class G>
struct answers {
    std::vector<node_id> found, left;
    std::vector<int> component, distance;
    int components = 0;

    explicit answers(G const& g) : component(num_vertices(g)), distance(component)
    {
        auto const index = get(boost::vertex_index, g);
        auto into = [&](auto& list) { return boost::make_iterator_property_map(list.begin(), index); };
        listing breadth;
        breadth.order = &found;
        breadth_first_search(g, vertex(0), boost::visitor(breadth));
        leaving depth;
        depth.order = &left;
        depth_first_search(g, boost::visitor(depth));
        components = strong_components(g, into(component));
        dijkstra_shortest_paths(g, vertex(0), boost::weight_map(lengths(g)).distance_map(into(distance)));
    }
    static auto vertex(int v) { return static_cast<typename boost::graph_traits<G>::vertex_descriptor>(v); }
    template <class H>
    bool operator==(answers<H> const& other) const
    {
        return found == other.found && left == other.left && component == other.component &&
               components == other.components && distance == other.distance;
    }
};

} // namespace

TEST_CASE("random graphs: searches, components and distances are those of Boost's own graphs")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        lists const successors = draw(pick, seed % 2 == 0);
        CHECK((answers(graph_of(successors)) == answers(same(successors))));
    }
}

TEST_CASE("random graphs: distances over the list of all edges are those over the edges of each vertex")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        csr_graph const g = graph_of(draw(pick, false));
        std::vector<int> relaxed(g.rows());
        auto const into = boost::make_iterator_property_map(relaxed.begin(), get(boost::vertex_index, g));
        auto const start = boost::root_vertex(0u).weight_map(lengths(g)).distance_map(into);
        CHECK(bellman_ford_shortest_paths(g, start));
        CHECK(relaxed == answers(g).distance);
    }
}

TEST_CASE("a topological order leads from sources to targets")
{
    csr_graph const g = graph_of({{2}, {0}, {}});
    std::vector<node_id> order;
    boost::topological_sort(g, std::back_inserter(order)); // last first
    CHECK(order == std::vector<node_id>{2, 0, 1});
}

} // namespace this_test
