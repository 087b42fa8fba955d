// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/concepts.hpp>

#include <sublet/graph/control_flow.hpp>
#include <sublet/graph/snapshot.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/adjacency_matrix.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/grid_graph.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The oracle: successors by number, in the order of the edges.
using lists = std::vector<std::vector<node_id>>;
using edge_list = std::vector<std::pair<std::size_t, std::size_t>>;

lists successors_of(std::size_t nodes, edge_list const& edges)
{
    lists result(nodes);
    for (auto [from, to] : edges) result[from].push_back(static_cast<node_id>(to));
    return result;
}

/// Self loops, parallel edges and unreachable parts come by themselves.
edge_list random_edges(std::mt19937& random, std::size_t nodes)
{
    edge_list edges;
    for (std::size_t e = nodes == 0 ? 0 : random() % (2 * nodes + 1); e != 0; --e)
        edges.push_back({random() % nodes, random() % nodes});
    return edges;
}

/// Each way into the library reads the same graph out of g.
template <graph G>
void reads_as(lists const& expected, G const& g)
{
    using vertex = vertex_of<G>;
    vertex_numbering const numbers(g);
    REQUIRE(numbers.size() == expected.size());
    for (node_id n = 0; n != numbers.size(); ++n) CHECK(numbers.number_of(numbers[n]) == n);

    auto const successors = [&](node_id n) -> auto& { return expected[n]; };
    csr_graph const flat = as_graph(expected.size(), successors);
    CHECK(as_graph(g, numbers) == flat);

    depth_first_forest const forest = depth_first(g), same = depth_first(flat);
    CHECK(forest.preorder == same.preorder);
    CHECK(forest.postorder == same.postorder);
    CHECK(forest.parent == same.parent);

    std::size_t const values = 2 * expected.size();
    auto uses = [](node_id n) { return std::array{2 * n, 2 * n + 1}; };
    auto defs = [](node_id n) { return std::vector{2 * n}; };
    snapshot const by_number = flow(expected.size(), values, successors, uses, defs);
    CHECK(from_graph(
              g, values, [&](vertex const& v) { return uses(numbers.number_of(v)); },
              [&](vertex const& v) { return defs(numbers.number_of(v)); }) == by_number);
    CHECK(from_graph(g, values, [&](auto v, effect_sink& sink) {
              for (value_id u : uses(numbers.number_of(v))) sink.use(u);
              sink.def(2 * numbers.number_of(v));
          }) == by_number);
    CHECK(from_graph(g, numbers, values, [&](auto const& v, auto& sink) {
              for (value_id u : uses(numbers.number_of(v))) sink.use(u);
              sink.def(2 * numbers.number_of(v));
          }) == by_number);
}

template <class G>
void add_edges(G& g, edge_list const& edges)
{
    std::vector const all(vertices(g).first, vertices(g).second);
    for (auto [from, to] : edges) add_edge(all[from], all[to], g);
}

struct no_graph {};

/// A user's own graph: rooms that have names and doors.
struct house {
    std::map<std::string, std::vector<std::string>> doors;
};
struct room_cursor {
    std::map<std::string, std::vector<std::string>>::const_iterator at;
    std::string const& operator*() const { return at->first; }
    room_cursor& operator++() { return ++at, *this; }
    bool operator==(room_cursor const& other) const { return at == other.at; }
};
std::pair<room_cursor, room_cursor> vertices(house const& h) { return {{h.doors.begin()}, {h.doors.end()}}; }
auto out_edges(std::string const& room, house const& h)
{
    auto const& doors = h.doors.at(room);
    return std::pair(doors.begin(), doors.end());
}
std::string const& target(std::string const& door, house const&) { return door; }

/// Another: nodes that know each other by address.
struct station {
    std::vector<station const*> next;
};
struct line {
    std::vector<station const*> stations;
};
auto vertices(line const& l) { return std::pair(l.stations.begin(), l.stations.end()); }
auto out_edges(station const* s, line const&) { return std::pair(s->next.begin(), s->next.end()); }
station const* target(station const* s, line const&) { return s; }

/// A nested list that is a graph all the same, because its owner says so.
struct self_made : std::vector<std::vector<unsigned>> {
    using vector::vector;
};
auto vertices(self_made const& g)
{
    return std::pair(csr_graph::vertex_cursor{0}, csr_graph::vertex_cursor{static_cast<node_id>(g.size())});
}
auto out_edges(node_id v, self_made const& g) { return std::pair(g[v].begin(), g[v].end()); }
unsigned target(unsigned e, self_made const&) { return e; }

} // namespace

namespace unfinished {

struct one_way {
    friend std::pair<int const*, int const*> vertices(one_way const&) { return {}; }
    friend std::pair<char const*, char const*> out_edges(int, one_way const&) { return {}; }
};

struct place {};
struct unordered {
    friend std::pair<place const*, place const*> vertices(unordered const&) { return {}; }
    friend std::pair<char const*, char const*> out_edges(place, unordered const&) { return {}; }
    friend place target(char, unordered const&) { return {}; }
};

} // namespace unfinished

static_assert(graph<archetype::graph> && graph<csr_graph> && graph<house> && graph<line> && graph<self_made>);
static_assert(!graph<int> && !graph<no_graph> && !graph<std::vector<int>> && !graph<std::string>);
static_assert(!graph<std::vector<std::vector<int>>> && needs_as_graph<std::vector<std::vector<int>>>);
static_assert(!needs_as_graph<self_made> && !needs_as_graph<int> && !needs_as_graph<std::vector<int>>);
static_assert(has_out_edges<unfinished::one_way> && !graph<unfinished::one_way>);
static_assert(!has_target<unfinished::one_way>);
static_assert(has_vertices<unfinished::unordered> && !graph<unfinished::unordered>);
static_assert(!has_order<vertex_of<unfinished::unordered>>);
static_assert(cursor<int const*> && cursor<archetype::cursor<archetype::id>> && !cursor<int> &&
              !cursor<void*>);
static_assert(cursor_pair<std::pair<int*, int*>> && !cursor_pair<std::pair<int, int>> && !cursor_pair<int>);

TEST_CASE("every adjacency_list is a graph as it comes")
{
    std::mt19937 random(1);
    for (std::size_t nodes : {0u, 1u, 2u, 5u, 5u, 30u}) {
        edge_list const edges = random_edges(random, nodes);
        lists const expected = successors_of(nodes, edges);
        boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> vector_directed(nodes);
        boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS> vector_both_ways(nodes);
        boost::adjacency_list<boost::vecS, boost::listS, boost::directedS> list_directed(nodes);
        boost::adjacency_list<boost::listS, boost::listS, boost::bidirectionalS> list_both_ways(nodes);
        add_edges(vector_directed, edges);
        add_edges(vector_both_ways, edges);
        add_edges(list_directed, edges);
        add_edges(list_both_ways, edges);
        reads_as(expected, vector_directed);
        reads_as(expected, vector_both_ways);
        reads_as(expected, list_directed);
        reads_as(expected, list_both_ways);
    }
}

TEST_CASE("a compressed_sparse_row_graph is a graph as it comes")
{
    std::mt19937 random(2);
    for (std::size_t nodes : {0u, 1u, 3u, 30u}) {
        edge_list edges = random_edges(random, nodes);
        std::sort(edges.begin(), edges.end());
        using csr = boost::compressed_sparse_row_graph<boost::directedS>;
        reads_as(successors_of(nodes, edges),
                 csr(boost::edges_are_sorted, edges.begin(), edges.end(), static_cast<unsigned>(nodes)));
    }
}

TEST_CASE("an adjacency_matrix is a graph as it comes")
{
    std::mt19937 random(3);
    for (std::size_t nodes : {1u, 3u, 12u}) {
        edge_list const drawn = random_edges(random, nodes);
        std::set<edge_list::value_type> const once(drawn.begin(),
                                                   drawn.end()); // a matrix has no parallel edges
        edge_list const edges(once.begin(), once.end());
        boost::adjacency_matrix<boost::directedS> g(nodes);
        add_edges(g, edges);
        reads_as(successors_of(nodes, edges), g);
    }
}

TEST_CASE("a grid_graph, whose vertices are arrays, is a graph as it comes")
{
    node_id const width = 3, height = 2;
    boost::grid_graph<2> const g(boost::array<std::size_t, 2>{{width, height}});
    lists expected(std::size_t{width} * height);
    for (node_id y = 0; y != height; ++y)
        for (node_id x = 0; x != width; ++x) {
            auto& here = expected[y * width + x];
            if (x != 0) here.push_back(y * width + x - 1);
            if (x + 1 != width) here.push_back(y * width + x + 1);
            if (y != 0) here.push_back((y - 1) * width + x);
            if (y + 1 != height) here.push_back((y + 1) * width + x);
        }
    reads_as(expected, g);
}

TEST_CASE("a temporary reverse_graph is read at once")
{
    std::mt19937 random(4);
    for (std::size_t nodes : {0u, 1u, 4u, 20u}) {
        edge_list const edges = random_edges(random, nodes);
        boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS> g(nodes);
        add_edges(g, edges);
        edge_list reversed;
        for (auto [from, to] : edges) reversed.push_back({to, from});
        reads_as(successors_of(nodes, reversed), boost::make_reverse_graph(g));
    }
}

TEST_CASE("a filtered_graph may hide vertex 0 and edges")
{
    std::mt19937 random(5);
    using whole = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
    for (std::size_t nodes : {1u, 2u, 4u, 20u}) {
        edge_list const edges = random_edges(random, nodes);
        whole g(nodes);
        add_edges(g, edges);
        edge_list rest;
        for (auto [from, to] : edges)
            if (from != 0 && to != 0) rest.push_back({from - 1, to - 1});
        struct not_first {
            bool operator()(std::size_t v) const { return v != 0; }
        };
        reads_as(successors_of(nodes - 1, rest),
                 boost::filtered_graph<whole, boost::keep_all, not_first>(g, {}, {}));

        std::size_t hidden = 0; // captured, so that the iterators cannot be assigned
        auto seen = [&hidden](std::size_t v) { return v != hidden; };
        using filtered = boost::filtered_graph<whole, boost::keep_all, decltype(seen)>;
        static_assert(graph<filtered>);
        reads_as(successors_of(nodes - 1, rest), filtered(g, {}, seen));
    }
}

TEST_CASE("a user's own graph joins by three functions")
{
    house const home{{{"attic", {}}, {"hall", {"kitchen", "attic", "hall"}}, {"kitchen", {"hall"}}}};
    reads_as({{}, {2, 0, 1}, {1}}, home);
    CHECK(vertex_numbering(home).number_of("cellar") == no_node);

    station end{}, middle{{&end, &end}}, start{{&middle}};
    reads_as({{1}, {2, 2}, {}}, line{{&start, &middle, &end}});

    reads_as({{1, 1}, {}}, self_made{{1, 1}, {}});
}

TEST_CASE("a nested vector joins through as_graph")
{
    std::mt19937 random(6);
    for (std::size_t nodes : {0u, 1u, 9u}) {
        lists const expected = successors_of(nodes, random_edges(random, nodes));
        reads_as(expected, as_graph(
                               nodes, [&](auto v) -> auto& { return expected[v]; }));
    }
}

TEST_CASE("the poorest graph is a graph")
{
    reads_as({}, archetype::graph({}));
    reads_as({{1, 2, 2}, {0}, {2}}, archetype::graph({{1, 2, 2}, {0}, {2}}));
}

} // namespace this_test
