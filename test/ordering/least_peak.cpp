// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture of a list that begins every branch before it finishes one")
{
    // Four branches: 64 bytes each, made 1 byte each; all four bytes are read in the end.
    std::size_t const branches = 4;
    snapshot const p = sequence(2 * branches + 1, 2 * branches + 1, [&](auto n, effect_sink& s) {
        if (n >= branches && n != 2 * branches) s.use(n - branches);
        if (n == 2 * branches)
            for (value_id v = branches; v != 2 * branches; ++v) s.use(v);
        s.def(n);
    });
    order_graph const g = order_graph_of(p, {.bytes = [&](auto v) { return v < branches ? 64 : 1; }});
    node_order const found = least_peak(g);
    CHECK(found.given_peak == 257);
    CHECK(found.peak == 68);
    CHECK(peak_of(g, found.order) == 68);
    CHECK(found.found_by == node_order::method::on_demand);
    CHECK(least_peak(g, {.floor = 68}).is_optimal());
}

TEST_CASE("nothing to order, and nothing that can be")
{
    CHECK(least_peak(order_graph{}).order.empty());
    order_graph g;
    g.violation = dependence_violation{};
    CHECK(least_peak(g).violation.has_value());
}

TEST_CASE(
    "an order is never worse than the listed one, never below the best, often the best, always the same")
{
    unsigned graphs = 0, best = 0, kept = 0;
    for (unsigned seed = 1; seed != rounds(250); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 3 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 9, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        ++graphs;
        node_order const found = least_peak(g);
        REQUIRE(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.given_peak == peak_of(g, topological(g)));
        CHECK(found.peak <= found.given_peak);
        byte_count const least = least_of_all(g);
        CHECK(found.peak >= least);
        CHECK(found.given_peak >= least);
        best += found.peak == least;
        kept += found.given_peak == least;
        node_order const again = least_peak(g);
        CHECK(again.order == found.order);
        CHECK(least_peak(g, {.schedules = 0}).peak <= found.given_peak);
    }
    MESSAGE("of " << graphs << " graphs: listed order best in " << kept << ", order found best in " << best);
    CHECK(best * 10 > graphs * 8);
}

TEST_CASE("the planner accepts every order found, and its bound is the peak")
{
    for (unsigned seed = 1; seed != rounds(250); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 10);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        node_order const found = least_peak(g);
        plan_options options = drawn.options;
        options.order = found.order;
        planned_memory const planned = plan_memory(drawn.program, options);
        CHECK(planned.is_sound());
        CHECK(planned_peak(drawn, found.order) == found.peak);
    }
}

} // namespace this_test
