// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_window.hpp>

#include "../dice.hpp"
#include "drawn_orders.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

order_window whole(order_graph const& g, std::vector<node_id> const& order)
{
    return window_of(g, peak_walk(g), std::span<node_id const>(order));
}

using rows = std::vector<std::vector<value_id>>;

order_graph graph_of(rows const& uses, rows const& defs, plan_options const& options)
{
    std::size_t values = 0;
    for (auto const& row : defs) values += row.size();
    return order_graph_of(
        sequence(
            defs.size(), values, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
        options);
}

} // namespace

TEST_CASE("a constant runs when somebody wants it")
{
    order_graph const g = graph_of({{}, {}, {1}, {0, 2}}, {{0}, {1}, {2}, {3}}, {.bytes = 8});
    demand_graph const d = nodes_on_demand(whole(g, {0, 1, 2, 3}));
    CHECK(d.on_demand == std::vector<unsigned char>{1, 1, 0, 0});
    REQUIRE(d.demanded[3].size() == 1);
    CHECK(d.demanded[3][0] == 0);
    CHECK(d.demanded[2][0] == 1);
    CHECK(d.before[2].empty());
    CHECK(d.before[3][0] == 2);
    CHECK(d.after[2][0] == 3);
}

TEST_CASE("who gives something back has a place of its own, and so has an end")
{
    order_graph const g = graph_of({{}, {0}, {1}}, {{0}, {1}, {2}}, {.bytes = 8});
    demand_graph const d = nodes_on_demand(whole(g, {0, 1, 2}));
    CHECK(d.on_demand == std::vector<unsigned char>{1, 0, 0}); // 1 frees what 0 made
}

TEST_CASE("what is on demand through others is demanded with them, and what they wait for is waited for")
{
    // 0 is read by all: 1 and 2 only add, and 3 wants both. 4 frees.
    order_graph const g = graph_of({{}, {0}, {0, 1}, {0, 1, 2}}, {{0}, {1}, {2}, {3}},
                                   {.bytes = 8, .role = std::vector<value_role>(4, value_role::output)});
    demand_graph const d = nodes_on_demand(whole(g, {0, 1, 2, 3}));
    CHECK(d.on_demand == std::vector<unsigned char>{1, 1, 1, 0});
    CHECK(std::vector<node_id>(d.demanded[3].begin(), d.demanded[3].end()) == std::vector<node_id>{0, 1, 2});
    CHECK(d.before[3].empty());
}

TEST_CASE("every order of a random program may run its nodes on demand as they are demanded")
{
    std::size_t late = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 12) : draw_operations(pick, 14, 9);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation || g.nodes() == 0) continue;
        std::vector<node_id> const order = random_order(g, pick);
        order_window const w = whole(g, order);
        demand_graph const d = nodes_on_demand(w);
        std::vector<node_id> other;
        std::vector<bool> has_run(order.size());
        for (node_id n = 0; n != order.size(); ++n) {
            if (d.on_demand[n]) {
                ++late;
                continue;
            }
            for (node_id demanded : d.demanded[n])
                if (!has_run[demanded]) has_run[demanded] = true, other.push_back(order[demanded]);
            other.push_back(order[n]);
        }
        REQUIRE(is_order(g, other));
        REQUIRE(peak_of(g, other) <= peak_of(g, order));
        REQUIRE(planned_peak(drawn, other) <= planned_peak(drawn, order));
    }
    CHECK(late > 1000);
}

} // namespace this_test
