// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/staircases.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;

namespace {

bit_rows rows_of(interferences const& all)
{
    bit_rows rows(all.size(), all.size());
    for (std::size_t v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v)) rows.set(v, w);
    return rows;
}

/// The largest clique among the first `count`, with `chosen` in it, of those from `next` on.
std::size_t largest(interferences const& all, std::size_t count, ids& chosen, value_id next)
{
    std::size_t best = chosen.size();
    for (; next < count; ++next) {
        chosen.push_back(next);
        if (all.is_clique(chosen)) best = std::max(best, largest(all, count, chosen, next + 1));
        chosen.pop_back();
    }
    return best;
}

} // namespace

TEST_CASE("the picture: one, then two, then three that interfere")
{
    interferences all(5);
    all.add(1, 2);
    all.add(1, 4);
    all.add(2, 4);
    auto const found = find_prefix_cliques(rows_of(all), 5, 100);
    CHECK(found.size == std::vector<std::uint32_t>{1, 1, 2, 2, 3});
    REQUIRE(found.cliques.rows() == 3);
    CHECK(ids(found.cliques[2].begin(), found.cliques[2].end()) == ids{2, 1, 4});
    CHECK(found.is_exact);
    CHECK(find_prefix_cliques(bit_rows(), 0, 1).cliques.rows() == 0);
}

TEST_CASE("of any graph, every prefix has its largest clique, and the last member closes it")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const values = roll.below(14);
        auto const all = any_interferences(roll, values, roll.below(101));
        auto const found = find_prefix_cliques(rows_of(all), values, 1000);
        CHECK(found.is_exact);
        REQUIRE(found.size.size() == values);
        for (std::size_t v = 0; v != values; ++v) {
            ids chosen;
            CHECK(found.size[v] == largest(all, v + 1, chosen, 0));
        }
        for (std::size_t i = 0; i != found.cliques.rows(); ++i) {
            auto const row = found.cliques[i];
            CHECK(row.size() == i + 1);
            CHECK(all.is_clique(ids(row.begin(), row.end())));
            CHECK(std::max_element(row.begin(), row.end()) == row.end() - 1);
            CHECK(found.size[row.back()] == i + 1);
            if (row.back() != 0) CHECK(found.size[row.back() - 1] == i);
        }
    }
}

TEST_CASE("rows of several words, and a clique as large as the graph")
{
    for (std::size_t values : {63u, 64u, 65u, 130u}) {
        interferences all(values);
        for (std::size_t v = 0; v != values; ++v)
            for (std::size_t w = 0; w != v; ++w)
                if (v != w + 1 || w % 2 == 1) all.add(v, w); // 0 and 1 do not, 2 and 3 ...
        auto const found = find_prefix_cliques(rows_of(all), values, 1000);
        CHECK(found.cliques.rows() == (values + 1) / 2);
        CHECK(found.is_exact);
        CHECK(found.nodes < 10 * values * values);
    }
}

TEST_CASE("without patience cliques are smaller, but are cliques, and it says so")
{
    dice roll{std::mt19937{1}};
    auto const all = any_interferences(roll, 100, 70);
    auto const in_full = find_prefix_cliques(rows_of(all), 100, 1'000'000);
    auto const hasty = find_prefix_cliques(rows_of(all), 100, 8);
    CHECK(in_full.is_exact);
    CHECK_FALSE(hasty.is_exact);
    CHECK(hasty.nodes <= 800);
    CHECK(hasty.cliques.rows() <= in_full.cliques.rows());
    CHECK(hasty.cliques.rows() >= 5);
    for (std::size_t i = 0; i != hasty.cliques.rows(); ++i)
        CHECK(all.is_clique(ids(hasty.cliques[i].begin(), hasty.cliques[i].end())));
}

} // namespace this_test
