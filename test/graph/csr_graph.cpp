// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/concepts.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <list>
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

using ids = std::vector<node_id>;

ids row(csr_rows const& rows, std::size_t r) { return ids(rows[r].begin(), rows[r].end()); }

enum open_enum { third = 2 };
enum class closed_enum { third = 2 };

struct wide_id {
    std::int64_t number;
    operator std::int64_t() const { return number; }
};

template <class R>
using returning = R (*)(node_id);

} // namespace

static_assert(id_like<int> && id_like<std::size_t> && id_like<open_enum> && id_like<archetype::id>);
static_assert(!id_like<bool> && !id_like<char> && !id_like<double> && !id_like<closed_enum> &&
              !id_like<int*>);
static_assert(!id_like<std::string> && !id_like<std::vector<bool>::reference>);
static_assert(id_range<std::vector<int>&> && id_range<std::set<long> const&> && id_range<std::span<short>>);
static_assert(id_range<int const (&)[3]> && id_range<archetype::id_list>);
static_assert(!id_range<void> && !id_range<int> && !id_range<std::string> &&
              !id_range<std::vector<std::string>>);
static_assert(!id_range<std::initializer_list<int>> && !id_range<std::vector<double>> &&
              !id_range<char const*>);
static_assert(!id_range<std::vector<bool>> && !id_range<std::vector<bool> const&> &&
              !id_range<std::vector<bool*>>);
static_assert(id_list_function<returning<std::vector<int>>, node_id>);
static_assert(!id_list_function<returning<void>, node_id> && !id_list_function<returning<int>, node_id>);
static_assert(!id_list_function<returning<std::vector<int>>, std::string> && !id_list_function<int, node_id>);

TEST_CASE("rows lie one after the other")
{
    csr_rows rows;
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

TEST_CASE("pairs come into their rows in the order in which they are listed, twice if they are listed twice")
{
    csr_rows const rows = csr_rows::gathered(4, [](auto add) {
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

TEST_CASE("lists without rows are the same, however they came about")
{
    CHECK(csr_rows::gathered(0, [](auto) {}) == csr_rows{});
    CHECK(csr_rows({0}, {}) == csr_rows{});
    CHECK(csr_rows{}.transposed(0) == csr_rows{});
    CHECK(csr_rows({0, 1, 1}, {7}) == csr_rows::gathered(2, [](auto add) { add(0, 7); }));
}

TEST_CASE("transposed, a row lists ascending where it stood, and twice so all is as before but sorted")
{
    std::mt19937 random(1);
    for (int round = 0; round != 50; ++round) {
        std::size_t const height = random() % 8, width = 1 + random() % 8;
        csr_rows rows;
        std::vector<ids> expected(width);
        for (node_id r = 0; r != height; ++r) {
            for (std::size_t k = random() % 5; k != 0; --k) {
                auto const item = static_cast<node_id>(random() % width);
                rows.append(item);
                expected[item].push_back(r);
            }
            rows.close_row();
        }
        csr_rows const across = rows.transposed(width);
        REQUIRE(across.rows() == width);
        for (std::size_t i = 0; i != width; ++i) CHECK(row(across, i) == expected[i]);
        CHECK(across.transposed(height).transposed(width) == across);
    }
}

TEST_CASE("a list of successors may come back in any way that outlives its call")
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

TEST_CASE("the callable is asked once for each node, ascending")
{
    ids asked;
    (void)as_graph(4, [&](node_id v) {
        asked.push_back(v);
        return ids{};
    });
    CHECK(asked == ids{0, 1, 2, 3});
}

TEST_CASE("a successor that is no node is refused")
{
    auto leads_to = [](auto number) { return as_graph(3, [=](auto) { return std::vector{number}; }); };
    char const* const no_node_sentence = "sublet: a successor is not a node of the graph";
    CHECK_NOTHROW((void)leads_to(2));
    CHECK_THROWS_WITH_AS((void)leads_to(3), no_node_sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(-1), no_node_sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(no_node), no_node_sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(-2), "sublet: an id is negative (only -1 has a meaning: none)",
                         precondition_error);
    std::int64_t const beyond = std::int64_t{1} << 32; // its low half is 0, which is a node
    CHECK_THROWS_WITH_AS((void)leads_to(beyond), "sublet: an id does not fit 32 bits", precondition_error);
    CHECK_THROWS_WITH_AS((void)leads_to(wide_id{beyond}), "sublet: an id does not fit 32 bits",
                         precondition_error);
}

TEST_CASE("more nodes than ids are refused before anything is asked")
{
    auto never = [](auto) -> ids { throw 1; };
    CHECK_THROWS_WITH_AS((void)as_graph(no_node, never), "sublet: more nodes than 32-bit ids",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)as_graph(std::size_t(-1), never), "sublet: more nodes than 32-bit ids",
                         precondition_error);
}

namespace {

/// Two vertices, 0 and 1, and an edge to wherever one likes.
struct loose_end {
    node_id to;
};
std::pair<csr_graph::vertex_cursor, csr_graph::vertex_cursor> vertices(loose_end const&)
{
    return {{0}, {2}};
}
std::pair<node_id const*, node_id const*> out_edges(node_id, loose_end const& g)
{
    return {&g.to, &g.to + 1};
}
node_id target(node_id e, loose_end const&) { return e; }

} // namespace

TEST_CASE("an edge that leads out of the graph is refused")
{
    auto flatten = [](loose_end const& g) { return as_graph(g, vertex_numbering(g)); };
    CHECK(row(flatten({1}), 0) == ids{1});
    CHECK_THROWS_WITH_AS((void)flatten({2}), "sublet: an edge leads to a vertex that is not in the graph",
                         precondition_error);
}

TEST_CASE("a csr_graph answers by the graph protocol")
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

} // namespace this_test
