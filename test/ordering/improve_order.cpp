// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("two values swapped in one place of a long order are found there")
{
    // A chain of a thousand nodes; in its middle one branch makes 64 bytes of 1 and another 1 byte of 64.
    node_id const n = 1000, middle = 500;
    snapshot const p = sequence(n, n, [&](auto at, effect_sink& s) {
        if (at == middle) s.use(middle - 1);          // 64 bytes, made early
        else if (at == middle + 1) s.use(middle - 1); // 64 bytes
        else if (at == middle + 2) s.use(middle + 1); // of those 1 byte
        else if (at == middle + 3) s.use(middle), s.use(middle + 2);
        else if (at != 0) s.use(at - 1);
        s.def(at);
    });
    order_graph const g =
        order_graph_of(p, {.bytes = [&](auto v) { return v == middle || v == middle + 1 ? 64 : 1; }});
    CHECK(peak_of(g, g.listed) == 129);
    node_order const found = improve_order(g, g.listed, {.schedules = {.schedules = 0}});
    CHECK(found.peak == 67 - 1);
    CHECK(found.found_by == node_order::method::improved);
    CHECK(is_order(g, found.order));
}

TEST_CASE("nothing to improve, and nothing that can be")
{
    CHECK(improve_order(order_graph{}, {}).order.empty());
    order_graph g;
    g.violation = dependence_violation{};
    CHECK(improve_order(g, {}).violation.has_value());
}

TEST_CASE("from any order: never worse, never below the best, mostly the best, always the same")
{
    unsigned graphs = 0, best = 0, before = 0;
    for (unsigned seed = 1; seed != rounds(150); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 3 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 9, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        ++graphs;
        auto const start = random_order(g, pick);
        node_order const found = improve_order(g, start);
        REQUIRE(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.peak <= peak_of(g, start));
        CHECK(found.peak <= found.given_peak);
        byte_count const least = least_of_all(g);
        CHECK(found.peak >= least);
        best += found.peak == least;
        before += peak_of(g, start) == least;
        CHECK(improve_order(g, start).order == found.order);
    }
    MESSAGE("of " << graphs << " graphs: drawn order best in " << before << ", improved order in " << best);
    CHECK(best * 100 > graphs * 95);
}

TEST_CASE("large graphs: never worse, and states run out without harm")
{
    for (unsigned seed = 1; seed != 6; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_operations(pick, 300, 20 * seed);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        auto const start = random_order(g, pick);
        node_order const found = improve_order(g, start, {.states = 300 * seed, .window_states = 50});
        CHECK(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.peak <= peak_of(g, start));
    }
}

} // namespace this_test
