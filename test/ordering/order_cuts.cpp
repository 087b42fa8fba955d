// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/exact_window.hpp>

#include "../dice.hpp"
#include "drawn_orders.hpp"
#include "window_oracle.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

order_cuts cuts_of(order_graph const& g, std::vector<node_id> const& order)
{
    order_window const w = window_of(g, peak_walk(g), std::span<node_id const>(order));
    return cut_order(w, nodes_on_demand(w));
}

order_graph graph_of(std::vector<std::vector<value_id>> const& uses)
{
    return order_graph_of(sequence(
                              uses.size(), uses.size(), [&](step_id s) { return uses[s]; },
                              [](step_id s) { return std::vector<value_id>{s}; }),
                          {.bytes = 8});
}

} // namespace

TEST_CASE("an order is cut behind nodes that every order has in that place")
{
    // 0 splits, 3 joins, 4 and 5 are two branches again.
    order_cuts const c = cuts_of(graph_of({{}, {0}, {0}, {1, 2}, {3}, {3}, {4, 5}}), {0, 1, 2, 3, 4, 5, 6});
    // 0 is on demand of both its readers, so the first stretch has it too.
    CHECK(c.order == std::vector<node_id>{0, 1, 2, 3, 4, 5, 6});
    CHECK(c.first == std::vector<std::size_t>{0, 4, 7});
}

TEST_CASE("branches that never meet are one stretch, and nothing is none")
{
    CHECK(cuts_of(graph_of({{}, {0}, {}, {2}}), {0, 2, 1, 3}).first == std::vector<std::size_t>{0, 4});
    CHECK(cuts_of(graph_of({}), {}).first == std::vector<std::size_t>{0});
}

TEST_CASE("constants are in nobody's way")
{
    // 0 1 2 are a chain that reads the constants 3, 4, 5.
    order_cuts const c =
        cuts_of(graph_of({{3}, {0, 4}, {1, 5}, {}, {}, {}}), {5, 4, 3, 0, 1, 2}); // by number: 0 1 2 | 3 4 5
    CHECK(c.order == std::vector<node_id>{2, 3, 1, 4, 0, 5});
    CHECK(c.first == std::vector<std::size_t>{0, 2, 4, 6});
}

TEST_CASE("stretch by stretch the best orders of random programs are as good as the best of all")
{
    std::size_t stretches = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 10, 1 + seed / 2 % 3);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation || g.nodes() == 0) continue;
        std::vector<node_id> const start = random_order(g, pick);
        order_cuts const cuts = cuts_of(g, start);
        std::vector<node_id> order;
        for (node_id n : cuts.order) order.push_back(start[n]);
        REQUIRE(is_order(g, order));
        REQUIRE(peak_of(g, order) <= peak_of(g, start));

        peak_walk walk(g);
        byte_count peak = 0;
        for (std::size_t i = 0; i + 1 != cuts.first.size(); ++i, ++stretches) {
            REQUIRE(cuts.first[i] < cuts.first[i + 1]);
            std::span<node_id const> const nodes(order.data() + cuts.first[i],
                                                 order.data() + cuts.first[i + 1]);
            peak = std::max(peak, least_from(window_of(g, walk, nodes))[0]);
            for (node_id n : nodes) walk.run(n);
        }
        REQUIRE(peak == least_of_all(g));
    }
    CHECK(stretches > rounds(1500));
}

} // namespace this_test
