// SPDX-License-Identifier: BSL-1.0
#include <sublet/structures/internal/transitive_reduction.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using edges = std::vector<csr_graph::edge>;
using rows = csr_rows<node_id, node_id>;

static rows rows_of(std::size_t nodes, edges const& all)
{
    return rows::gathered(nodes, [&](auto add) {
        for (auto [from, to] : all) add(to, from);
    });
}

static std::vector<unsigned char> implied_edges(rows const& before, edges const& pairs)
{
    return has_indirect_path(before, pairs.size(), [&](std::uint32_t i) { return pairs[i]; });
}

TEST_CASE("an edge is implied if a longer path connects its ends")
{
    rows const before = rows_of(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
    CHECK(implied_edges(before, {{0, 3}, {0, 1}, {2, 3}, {1, 3}, {0, 2}}) ==
          std::vector<unsigned char>{1, 0, 0, 1, 1});
}

TEST_CASE("an edge implies neither itself nor a parallel one")
{
    CHECK(implied_edges(rows_of(2, {{0, 1}, {0, 1}}), {{0, 1}}) == std::vector<unsigned char>{0});
    CHECK(implied_edges({}, {}).empty());
}

TEST_CASE("a pair that does not lead upwards is refused")
{
    CHECK_THROWS_AS((void)implied_edges(rows_of(2, {}), {{1, 0}}), precondition_error);
    CHECK_THROWS_AS((void)implied_edges(rows_of(2, {}), {{1, 1}}), precondition_error);
    CHECK_THROWS_AS((void)implied_edges(rows_of(2, {}), {{1, 2}}), precondition_error);
}

TEST_CASE("one query may have more nodes than a sweep follows")
{
    std::uint32_t const n = 3000; // two chains, of the even and the odd
    edges all, asked;
    for (node_id i = 2; i != n; ++i) all.push_back({i - 2, i});
    for (std::uint32_t length : {2u, 4u, 700u, 701u})
        for (node_id i = 0; i + length < n; ++i) asked.push_back({i, i + length});
    auto const found = implied_edges(rows_of(n, all), asked);
    for (std::size_t i = 0; i != asked.size(); ++i) {
        std::uint32_t const length = asked[i].to - asked[i].from;
        REQUIRE(static_cast<bool>(found[i]) == (length == 4 || length == 700));
    }
}

TEST_CASE("implied edges are those of the definition, short and long, for more nodes than a sweep follows")
{
    for (std::uint32_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::size_t const n = 2 + pick.below(seed % 20 == 0 ? 1500 : 60);
        edges all, asked;
        auto any = [&] {
            node_id const a = pick.below(static_cast<std::uint32_t>(n));
            node_id const b = pick.below(static_cast<std::uint32_t>(n));
            return a < b ? csr_graph::edge{a, b} : csr_graph::edge{b, a};
        };
        for (std::size_t i = pick.below(static_cast<std::uint32_t>(2 * n)); i != 0; --i)
            if (auto e = any(); e.from != e.to) all.push_back(e);
        rows const before = rows_of(n, all);
        std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n)), far = reaches;
        for (std::size_t to = 0; to != n; ++to)
            for (node_id mid : before[to]) {
                reaches[mid][to] = true;
                for (std::size_t from = 0; from != mid; ++from)
                    if (reaches[from][mid]) reaches[from][to] = far[from][to] = true;
            }
        for (std::size_t i = 0; i != 4 * n; ++i)
            if (auto e = any(); e.from != e.to) asked.push_back(e);
        auto const found = implied_edges(before, asked);
        for (std::size_t i = 0; i != asked.size(); ++i)
            REQUIRE(static_cast<bool>(found[i]) == far[asked[i].from][asked[i].to]);
    }
}

} // namespace this_test
