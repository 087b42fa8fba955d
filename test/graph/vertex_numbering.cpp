// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/concepts.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Vertices as they are listed, and no edges.
template <class V>
struct dust {
    std::vector<V> listed;

    friend auto vertices(dust const& g) { return std::pair(g.listed.begin(), g.listed.end()); }
    friend std::pair<V const*, V const*> out_edges(V const&, dust const&) { return {}; }
    friend V target(V const& e, dust const&) { return e; }
};

template <class V>
void numbers_in_order(std::vector<V> const& listed, std::vector<V> const& absent)
{
    vertex_numbering const numbers(dust<V>{listed});
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

TEST_CASE("integral descriptors are no indices, small or large, signed or not")
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

TEST_CASE("the poorest descriptor has < and nothing else")
{
    vertex_numbering const numbers(archetype::graph({{}, {}, {}}));
    REQUIRE(numbers.size() == 3);
    for (node_id n = 0; n != 3; ++n) CHECK(numbers.number_of(archetype::vertex(-static_cast<int>(n))) == n);
    CHECK(numbers.number_of(archetype::vertex(1)) == no_node);
    CHECK(numbers.number_of(archetype::vertex(-3)) == no_node);
}

TEST_CASE("a vertex that is listed twice is refused")
{
    char const* const sentence = "sublet: a graph lists a vertex twice";
    CHECK_THROWS_WITH_AS(vertex_numbering(dust<unsigned>{{1, 2, 1}}), sentence, precondition_error);
    CHECK_THROWS_WITH_AS(vertex_numbering(dust<int>{{1, 2, 1}}), sentence, precondition_error);
    CHECK_THROWS_WITH_AS(vertex_numbering(dust<std::string>{{"a", "a"}}), sentence, precondition_error);
}

TEST_CASE("a default numbering numbers nothing, and a copy numbers the same")
{
    vertex_numbering<unsigned> numbers;
    CHECK(numbers.size() == 0);
    CHECK(numbers.number_of(0) == no_node);
    vertex_numbering const made(dust<unsigned>{{4, 2}});
    numbers = made;
    CHECK(numbers.number_of(2) == 1);
}

TEST_CASE("of any set of descriptors, each is found and no other")
{
    std::mt19937 random(1);
    for (int round = 0; round != 40; ++round) {
        std::uint64_t const range = std::uint64_t{1}
                                    << (random() % 12); // dense, where the table serves, and sparse
        std::vector<std::uint64_t> listed, absent;
        for (std::uint64_t v = 0; v != range; ++v) (random() % 8 == 0 ? listed : absent).push_back(v);
        for (std::size_t i = listed.size(); i > 1; --i) std::swap(listed[i - 1], listed[random() % i]);
        numbers_in_order(listed, absent);
        numbers_in_order(std::vector<long>(listed.begin(), listed.end()),
                         std::vector<long>(absent.begin(), absent.end()));
    }
}

} // namespace this_test
