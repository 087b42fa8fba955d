// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/list_schedule.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: what is defined last is defined first")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}}, defs{{0}, {1}, {}};
    std::vector<byte_count> const bytes{64, 32};
    snapshot const p = sequence(
        3, 2, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    order_graph const m = mirrored(g);
    CHECK(m.listed == std::vector<node_id>{2, 1, 0});
    CHECK(m.after == g.before);
    peak_walk walk(m);
    CHECK(walk.run(2) == 32);
    CHECK(walk.run(1) == 96);
    CHECK(walk.live() == 64);
}

TEST_CASE("the mirror image of nothing is nothing, and of what has no order has none")
{
    CHECK(mirrored(order_graph{}).nodes() == 0);
    order_graph g;
    g.violation = dependence_violation{};
    CHECK(mirrored(g).violation.has_value());
}

TEST_CASE(
    "an order backwards needs as much in the mirror, without early reads, rival results and untouched inputs")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 8) : draw_operations(pick, 12, 5);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        order_graph const m = mirrored(g);
        auto const order = random_order(g, pick);
        std::vector<node_id> const backwards(order.rbegin(), order.rend());
        CHECK(is_order(m, backwards));
        bool is_exact = g.early.items() == 0;
        for (buffer_id b = 0; b != g.buffers(); ++b) is_exact = is_exact && g.touching[b] != 0;
        for (step_id s = 0; s + 1 < g.first_pair.size(); ++s)
            for (overwrite_pair const& a : g.pairs_of(s))
                for (overwrite_pair const& b : g.pairs_of(s)) is_exact = is_exact && (a.in != b.in || a == b);
        if (!is_exact) continue;
        CHECK(peak_of(m, backwards) == peak_of(g, order));
        ++compared;
    }
    CHECK(compared > rounds(1000));
}

} // namespace this_test
