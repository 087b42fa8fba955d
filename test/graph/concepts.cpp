// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/concepts.hpp>

#include "../archetype.hpp"

#include <sublet/analysis/control_flow.hpp>
#include <sublet/graph/snapshot.hpp>

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
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
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

/// Self loops, parallel edges and unreachable parts occur by chance.
edge_list random_edges(std::mt19937& random, std::size_t nodes)
{
    edge_list edges;
    for (std::size_t e = nodes == 0 ? 0 : random() % (2 * nodes + 1); e != 0; --e)
        edges.push_back({random() % nodes, random() % nodes});
    return edges;
}

/// Reads g in every way and expects the same graph.
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
    snapshot const by_number = tasks(expected.size(), values, successors, uses, defs);
    CHECK(tasks(
              g, values, [&](vertex const& v) { return uses(numbers.number_of(v)); },
              [&](vertex const& v) { return defs(numbers.number_of(v)); }) == by_number);
    CHECK(tasks(g, values, [&](auto v, effect_sink& sink) {
              for (value_id u : uses(numbers.number_of(v))) sink.use(u);
              sink.def(2 * numbers.number_of(v));
          }) == by_number);
    CHECK(tasks(g, numbers, values, [&](auto const& v, auto& sink) {
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

/// A user's own graph with strings as vertices.
struct named_graph {
    std::map<std::string, std::vector<std::string>> adjacency;
};

struct name_iterator {
    std::map<std::string, std::vector<std::string>>::const_iterator at;
    std::string const& operator*() const { return at->first; }
    name_iterator& operator++() { return ++at, *this; }
    bool operator==(name_iterator const& other) const { return at == other.at; }
};

std::pair<name_iterator, name_iterator> vertices(named_graph const& h)
{
    return {{h.adjacency.begin()}, {h.adjacency.end()}};
}
auto out_edges(std::string const& room, named_graph const& h)
{
    auto const& adjacency = h.adjacency.at(room);
    return std::pair(adjacency.begin(), adjacency.end());
}

std::string const& target(std::string const& door, named_graph const&) { return door; }

/// Another one: vertices that refer to each other by address.
struct station {
    std::vector<station const*> next;
};

struct line {
    std::vector<station const*> stations;
};

auto vertices(line const& l) { return std::pair(l.stations.begin(), l.stations.end()); }
auto out_edges(station const* s, line const&) { return std::pair(s->next.begin(), s->next.end()); }
station const* target(station const* s, line const&) { return s; }

/// A nested list that is a graph, because it has the functions of the protocol.
struct nested_list_graph : std::vector<std::vector<unsigned>> {
    using vector::vector;
};

auto vertices(nested_list_graph const& g)
{
    return std::pair(csr_graph::vertex_cursor{0}, csr_graph::vertex_cursor{static_cast<node_id>(g.size())});
}

auto out_edges(node_id v, nested_list_graph const& g) { return std::pair(g[v].begin(), g[v].end()); }
unsigned target(unsigned e, nested_list_graph const&) { return e; }

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

static_assert(graph<archetype::graph> && graph<csr_graph> && graph<named_graph> && graph<line> &&
              graph<nested_list_graph>);
static_assert(!graph<int> && !graph<no_graph> && !graph<std::vector<int>> && !graph<std::string>);
static_assert(!graph<std::vector<std::vector<int>>> && needs_as_graph<std::vector<std::vector<int>>>);
static_assert(!needs_as_graph<nested_list_graph> && !needs_as_graph<int> &&
              !needs_as_graph<std::vector<int>>);
static_assert(has_out_edges<unfinished::one_way> && !graph<unfinished::one_way>);
static_assert(!has_target<unfinished::one_way>);
static_assert(has_vertices<unfinished::unordered> && !graph<unfinished::unordered>);
static_assert(!has_order<vertex_of<unfinished::unordered>>);
static_assert(cursor<int const*> && cursor<archetype::cursor<archetype::id>> && !cursor<int> &&
              !cursor<void*>);
static_assert(cursor_pair<std::pair<int*, int*>> && !cursor_pair<std::pair<int, int>> && !cursor_pair<int>);

TEST_CASE("every adjacency_list is a graph")
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

TEST_CASE("a compressed_sparse_row_graph is a graph")
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

TEST_CASE("an adjacency_matrix is a graph")
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

TEST_CASE("a grid_graph with arrays as vertices is a graph")
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

TEST_CASE("a temporary reverse_graph is copied immediately")
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

TEST_CASE("a user's own type is a graph with three functions")
{
    named_graph const home{{{"attic", {}}, {"hall", {"kitchen", "attic", "hall"}}, {"kitchen", {"hall"}}}};
    reads_as({{}, {2, 0, 1}, {1}}, home);
    CHECK(vertex_numbering(home).number_of("cellar") == no_node);

    station end{}, middle{{&end, &end}}, start{{&middle}};
    reads_as({{1}, {2, 2}, {}}, line{{&start, &middle, &end}});

    reads_as({{1, 1}, {}}, nested_list_graph{{1, 1}, {}});
}

TEST_CASE("a nested vector becomes a graph with as_graph")
{
    std::mt19937 random(6);
    for (std::size_t nodes : {0u, 1u, 9u}) {
        lists const expected = successors_of(nodes, random_edges(random, nodes));
        reads_as(expected, as_graph(
                               nodes, [&](auto v) -> auto& { return expected[v]; }));
    }
}

TEST_CASE("the minimal graph is a graph")
{
    reads_as({}, archetype::graph({}));
    reads_as({{1, 2, 2}, {0}, {2}}, archetype::graph({{1, 2, 2}, {0}, {2}}));
}

// --- csr graph ---------------------------------------------------------------------------------------------

namespace {

using ids = std::vector<node_id>;

using node_rows = csr_rows<node_id, node_id>;

ids row(node_rows const& rows, std::size_t r) { return ids(rows[r].begin(), rows[r].end()); }

enum open_enum { third = 2 };
enum class closed_enum { third = 2 };

struct wide_id {
    std::int64_t number;
    operator std::int64_t() const { return number; }
};

template <class R>
using returning = R (*)(node_id);

} // namespace

static_assert(id_number<int> && id_number<std::size_t> && id_number<open_enum> && id_number<archetype::id>);
static_assert(!id_number<bool> && !id_number<char> && !id_number<double> && !id_number<closed_enum> &&
              !id_number<int*>);
static_assert(!id_number<std::string> && !id_number<std::vector<bool>::reference>);
static_assert(id_range<std::vector<int>&, node_id> && id_range<std::set<long> const&, node_id> &&
              id_range<std::span<short>, node_id>);
static_assert(id_range<int const (&)[3], node_id> && id_range<archetype::id_list, node_id>);
static_assert(id_range<ids const&, node_id> && !id_range<ids const&, value_id>);
static_assert(!id_range<void, node_id> && !id_range<int, node_id> && !id_range<std::string, node_id> &&
              !id_range<std::vector<std::string>, node_id>);
static_assert(!id_range<std::initializer_list<int>, node_id> && !id_range<std::vector<double>, node_id> &&
              !id_range<char const*, node_id>);
static_assert(!id_range<std::vector<bool>, node_id> && !id_range<std::vector<bool> const&, node_id> &&
              !id_range<std::vector<bool*>, node_id>);
static_assert(id_list_function<returning<std::vector<int>>, node_id, value_id>);
static_assert(id_list_function<returning<ids>, node_id, node_id> &&
              !id_list_function<returning<ids>, node_id, value_id>);
static_assert(!id_list_function<returning<void>, node_id, value_id> &&
              !id_list_function<returning<int>, node_id, value_id>);
static_assert(!id_list_function<returning<std::vector<int>>, std::string, value_id> &&
              !id_list_function<returning<std::vector<int>>, step_id, value_id> &&
              !id_list_function<int, node_id, value_id>);

TEST_CASE("rows are stored one after the other")
{
    node_rows rows;
    CHECK(rows.rows() == 0);
    rows.append(1);
    rows.append(2);
    rows.close_row();
    rows.append(2);
    rows.close_row();
    rows.close_row();
    CHECK(rows.rows() == 3);
    CHECK(rows.items() == 3);
    CHECK(row(rows, 0) == ids{1, 2});
    CHECK(row(rows, 1) == ids{2});
    CHECK(row(rows, 2).empty());
    CHECK(row(rows.transposed(3), 2) == ids{0, 1});
}

TEST_CASE("pairs keep their listed order within a row, duplicates included")
{
    node_rows const rows = node_rows::gathered(4, [](auto add) {
        add(2, 9);
        add(0, 5);
        add(2, 3);
        add(2, 9);
    });
    CHECK(rows.rows() == 4);
    CHECK(row(rows, 0) == ids{5});
    CHECK(row(rows, 1).empty());
    CHECK(row(rows, 2) == ids{9, 3, 9});
    CHECK(row(rows, 3).empty());
}

TEST_CASE("lists without rows are equal, however they were made")
{
    CHECK(node_rows::gathered(0, [](auto) {}) == node_rows{});
    CHECK(node_rows({0}, {}) == node_rows{});
    CHECK(node_rows{}.transposed(0) == node_rows{});
    CHECK(node_rows({0, 1, 1}, {7}) == node_rows::gathered(2, [](auto add) { add(0, 7); }));
}

TEST_CASE("a transposed row is ascending, and transposing twice sorts the rows")
{
    std::mt19937 random(1);
    for (int round = 0; round != 50; ++round) {
        std::size_t const height = random() % 8, width = 1 + random() % 8;
        node_rows rows;
        std::vector<ids> expected(width);
        for (node_id r = 0; r != height; ++r) {
            for (std::size_t k = random() % 5; k != 0; --k) {
                auto const item = static_cast<node_id>(random() % width);
                rows.append(item);
                expected[item].push_back(r);
            }
            rows.close_row();
        }
        node_rows const across = rows.transposed(width);
        REQUIRE(across.rows() == width);
        for (std::size_t i = 0; i != width; ++i) CHECK(row(across, i) == expected[i]);
        CHECK(across.transposed(height).transposed(width) == across);
    }
}

TEST_CASE("a list of successors may be returned in any form that outlives the call")
{
    std::vector<std::vector<int>> const nested{{1, 2}, {2, 2}, {}};
    csr_graph const expected = as_graph(
        3, [&](std::size_t v) -> auto& { return nested[v]; });
    CHECK(row(expected, 0) == ids{1, 2});
    CHECK(row(expected, 1) == ids{2, 2});
    CHECK(row(expected, 2).empty());
    CHECK(expected.items() == 4);

    struct view {
        int const* from;
        int const* to;
        int const* begin() const { return from; }
        int const* end() const { return to; }
    };
    CHECK(as_graph(3, [&](auto v) { return nested[v]; }) == expected);
    CHECK(as_graph(3, [&](auto v) { return std::span(nested[v]); }) == expected);
    CHECK(as_graph(3, [&](int v) {
              auto const& list = nested[static_cast<std::size_t>(v)];
              return view{list.data(), list.data() + list.size()};
          }) == expected);
    CHECK(as_graph(3, [&](auto v) { return std::list<std::uint64_t>(nested[v].begin(), nested[v].end()); }) ==
          expected);
    CHECK(as_graph(3, [&](auto v) { return std::deque<short>(nested[v].begin(), nested[v].end()); }) ==
          expected);
    CHECK(as_graph(3, [&](auto v) { return archetype::id_list(nested[v]); }) == expected);
    CHECK(as_graph(3, [&, only = std::make_unique<int>(0)](auto v) { return nested[v]; }) == expected);

    open_enum const plain[1] = {third};
    CHECK(row(as_graph(
                  3, [&](auto) -> auto& { return plain; }),
              0) == ids{2});
    CHECK(row(as_graph(3, [](auto) { return std::array{wide_id{2}}; }), 1) == ids{2});
    CHECK(as_graph(0, [](auto) { return ids{}; }) == csr_graph());
}

TEST_CASE("the callable is called once for each node, ascending")
{
    ids asked;
    (void)as_graph(4, [&](node_id v) {
        asked.push_back(v);
        return ids{};
    });
    CHECK(asked == ids{0, 1, 2, 3});
}

TEST_CASE("a successor that is not a node is rejected")
{
    auto leads_to = [](auto number) { return as_graph(3, [=](auto) { return std::vector{number}; }); };
    CHECK_NOTHROW((void)leads_to(2));
    CHECK_THROWS_WITH_AS((void)leads_to(3), "sublet: node 0 leads to node 3, but there are only 3 nodes",
                         precondition_error);
    doctest::Contains const none("leads to node 4294967295, but");
    CHECK_THROWS_WITH_AS((void)leads_to(-1), none, precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(no_node), none, precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(-2), "sublet: id -2 is negative (only -1 has a meaning: none)",
                         precondition_error);
    std::int64_t const beyond = std::int64_t{1} << 32; // its low half is 0, which is a node
    CHECK_THROWS_WITH_AS((void)leads_to(beyond), "sublet: id 4294967296 does not fit 32 bits",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(wide_id{beyond}), "sublet: id 4294967296 does not fit 32 bits",
                         precondition_error);
}

TEST_CASE("more nodes than ids are rejected before any call")
{
    auto never = [](auto) -> ids { throw 1; };
    CHECK_THROWS_WITH_AS((void)as_graph(no_node, never), "sublet: more nodes than 32-bit ids",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)as_graph(std::size_t(-1), never), "sublet: more nodes than 32-bit ids",
                         precondition_error);
}

namespace {

/// Two vertices, 0 and 1, and an edge to a given vertex.
struct dangling_edge_graph {
    node_id to;
};

std::pair<csr_graph::vertex_cursor, csr_graph::vertex_cursor> vertices(dangling_edge_graph const&)
{
    return {{0}, {2}};
}

std::pair<node_id const*, node_id const*> out_edges(node_id, dangling_edge_graph const& g)
{
    return {&g.to, &g.to + 1};
}

node_id target(node_id e, dangling_edge_graph const&) { return e; }

} // namespace

TEST_CASE("an edge that leads out of the graph is rejected")
{
    auto flatten = [](dangling_edge_graph const& g) { return as_graph(g, vertex_numbering(g)); };
    CHECK(row(flatten({1}), 0) == ids{1});
    CHECK_THROWS_WITH_AS((void)flatten({2}),
                         "sublet: an edge of node 0 leads to a vertex that is not in the graph",
                         precondition_error);
}

TEST_CASE("a csr_graph models the graph concept")
{
    csr_graph const g = as_graph(3, [](node_id v) { return v == 0 ? ids{1, 2} : ids{}; });
    CHECK(num_vertices(g) == 3);
    CHECK(out_degree(0, g) == 2);
    node_id expected = 0;
    for (auto [v, end] = vertices(g); !(v == end); ++v) CHECK(*v == expected++);
    CHECK(expected == 3);
    auto const [first, last] = out_edges(0, g);
    CHECK(source(*first, g) == 0);
    CHECK(target(*first, g) == 1);
    CHECK(*first < csr_graph::edge{0, 2});
    CHECK_FALSE(first == last);
    CHECK(as_graph(g, vertex_numbering(g)) == g);
    CHECK(as_graph(g) == g);
}

// --- vertex numbering --------------------------------------------------------------------------------------

namespace {

/// Vertices as they are listed, and no edges.
template <class V>
struct edgeless_graph {
    std::vector<V> listed;

    friend auto vertices(edgeless_graph const& g) { return std::pair(g.listed.begin(), g.listed.end()); }
    friend std::pair<V const*, V const*> out_edges(V const&, edgeless_graph const&) { return {}; }
    friend V target(V const& e, edgeless_graph const&) { return e; }
};

template <class V>
void numbers_in_order(std::vector<V> const& listed, std::vector<V> const& absent)
{
    vertex_numbering const numbers(edgeless_graph<V>{listed});
    REQUIRE(numbers.size() == listed.size());
    for (std::size_t n = 0; n != listed.size(); ++n) {
        CHECK(numbers[static_cast<node_id>(n)] == listed[n]);
        CHECK(numbers.number_of(listed[n]) == n);
    }
    for (V const& v : absent) CHECK(numbers.number_of(v) == no_node);
}

} // namespace

TEST_CASE("vertices are numbered in the order in which the graph lists them")
{
    numbers_in_order<std::string>({"b", "e", "a"}, {"", "c", "z"});
    numbers_in_order<char>({'b', 'e', 'a'}, {'c', 'A'});
}

TEST_CASE("integral descriptors are not used as indices, small or large, signed or not")
{
    std::uint64_t const far = std::uint64_t{1} << 40;
    numbers_in_order<unsigned>({3, 1, 2}, {0, 4, no_node});
    numbers_in_order<unsigned char>({255, 0}, {1, 254});
    numbers_in_order<std::uint64_t>({far + 1, 7, far}, {0, 8, far + 2, std::uint64_t(-1)});
    numbers_in_order<int>({-5, 7, 0}, {-6, -1, 1, 8});
    numbers_in_order<unsigned>({}, {0, no_node});
    numbers_in_order<int>({}, {0});
}

TEST_CASE("descriptors may be addresses or arrays")
{
    std::array<int, 4> const items{};
    numbers_in_order<int const*>({&items[2], &items[0], &items[1]}, {&items[3]});
    numbers_in_order<std::array<int, 2>>({{1, 0}, {0, 1}}, {{0, 0}});
}

TEST_CASE("the minimal descriptor has < and nothing else")
{
    vertex_numbering const numbers(archetype::graph({{}, {}, {}}));
    REQUIRE(numbers.size() == 3);
    for (node_id n = 0; n != 3; ++n) CHECK(numbers.number_of(archetype::vertex(-static_cast<int>(n))) == n);
    CHECK(numbers.number_of(archetype::vertex(1)) == no_node);
    CHECK(numbers.number_of(archetype::vertex(-3)) == no_node);
}

TEST_CASE("a vertex that is listed twice is rejected")
{
    char const* const sentence = "sublet: a graph lists a vertex twice, as numbers 0 and 2";
    CHECK_THROWS_WITH_AS(vertex_numbering(edgeless_graph<unsigned>{{1, 2, 1}}), sentence, precondition_error);
    CHECK_THROWS_WITH_AS(vertex_numbering(edgeless_graph<int>{{1, 2, 1}}), sentence, precondition_error);
    CHECK_THROWS_WITH_AS(vertex_numbering(edgeless_graph<std::string>{{"a", "a"}}),
                         "sublet: a graph lists a vertex twice, as numbers 0 and 1", precondition_error);
}

TEST_CASE("a default numbering is empty, and a copy numbers the same")
{
    vertex_numbering<unsigned> numbers;
    CHECK(numbers.size() == 0);
    CHECK(numbers.number_of(0) == no_node);
    vertex_numbering const made(edgeless_graph<unsigned>{{4, 2}});
    numbers = made;
    CHECK(numbers.number_of(2) == 1);
}

TEST_CASE("in any set of descriptors each is found and no other")
{
    std::mt19937 random(1);
    for (int round = 0; round != 40; ++round) {
        std::uint64_t const range = std::uint64_t{1} << (random() % 12); // dense, with a table, and sparse
        std::vector<std::uint64_t> listed, absent;
        for (std::uint64_t v = 0; v != range; ++v) (random() % 8 == 0 ? listed : absent).push_back(v);
        for (std::size_t i = listed.size(); i > 1; --i) std::swap(listed[i - 1], listed[random() % i]);
        numbers_in_order(listed, absent);
        numbers_in_order(std::vector<long>(listed.begin(), listed.end()),
                         std::vector<long>(absent.begin(), absent.end()));
    }
}

} // namespace this_test
