// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: whoever is listed first of those that need not wait")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1}}, defs{{0}, {1}, {2}, {3}};
    snapshot const p = sequence(
        4, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph g = order_graph_of(p, {.bytes = 8});
    g.listed = {3, 0, 1, 2};
    CHECK(topological(g) == std::vector<node_id>{0, 1, 3, 2});
    CHECK(order_by_rank(g, {0, 9, 5, 1}) == std::vector<node_id>{0, 2, 1, 3});
    CHECK(order_by_rank(g, {0, 5, 5, 5}) == std::vector<node_id>{0, 1, 3, 2});
    CHECK_THROWS_AS((void)order_by_rank(g, {}), precondition_error);
}

TEST_CASE("of nothing there is an order, of a circle there is none")
{
    CHECK(topological(order_graph{}).empty());
    order_graph g;
    g.violation = dependence_violation{};
    CHECK_THROWS_AS((void)order_by_rank(g, {}), precondition_error);
}

TEST_CASE("a listed order that can run is kept, and every rank gives an order that can")
{
    for (unsigned seed = 1; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program drawn = draw_unordered(pick, 8);
        order_graph g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        CHECK(topological(g) == g.listed);
        auto const order = random_order(g, pick);
        std::vector<std::uint64_t> rank(g.nodes());
        for (std::size_t at = 0; at != order.size(); ++at) rank[order[at]] = at;
        CHECK(order_by_rank(g, rank) == order);
        for (auto& r : rank) r = pick.below(4);
        CHECK(is_order(g, order_by_rank(g, rank)));
        std::shuffle(g.listed.begin(), g.listed.end(), pick.random);
        CHECK(is_order(g, topological(g)));
    }
}

} // namespace this_test
