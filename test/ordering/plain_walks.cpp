// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

order_graph graph_of(std::vector<std::vector<value_id>> const& uses)
{
    return order_graph_of(sequence(
                              uses.size(), uses.size(), [&](auto s) -> auto& { return uses[s]; },
                              [](auto s) { return std::vector<value_id>{s}; }),
                          {.bytes = 8});
}

} // namespace

TEST_CASE("the picture: side by side, one after the other, or what the ends ask for")
{
    order_graph const g = graph_of({{}, {}, {0}, {1}, {2}});
    CHECK(breadth_first(g) == std::vector<node_id>{0, 1, 2, 3, 4});
    CHECK(depth_first(g) == std::vector<node_id>{0, 2, 4, 1, 3});
    CHECK(on_demand(g) == std::vector<node_id>{1, 3, 0, 2, 4});
}

TEST_CASE("branches that meet again")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1}, {2}, {}, {3, 4, 5}});
    CHECK(breadth_first(g) == std::vector<node_id>{0, 5, 1, 2, 3, 4, 6});
    CHECK(depth_first(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5, 6});
    CHECK(on_demand(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5, 6});
}

TEST_CASE("of nothing there is an order, and a long chain is no deep recursion")
{
    for (auto const& order :
         {breadth_first(order_graph{}), depth_first(order_graph{}), on_demand(order_graph{})})
        CHECK(order.empty());
    std::vector<std::vector<value_id>> uses(100'000);
    for (value_id v = 1; v != uses.size(); ++v) uses[v] = {v - 1};
    order_graph const g = graph_of(uses);
    CHECK(breadth_first(g) == g.listed);
    CHECK(depth_first(g) == g.listed);
    CHECK(on_demand(g) == g.listed);
}

TEST_CASE("each walk is an order that the program can run in")
{
    for (unsigned seed = 1; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 20, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        CHECK(is_order(g, breadth_first(g)));
        CHECK(is_order(g, depth_first(g)));
        CHECK(is_order(g, on_demand(g)));
    }
}

} // namespace this_test
