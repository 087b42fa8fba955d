// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: bytes come with the first touch and go with the last")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 32};
    snapshot const p = sequence(
        4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    peak_walk walk(g);
    CHECK(walk.run(0) == 64);
    CHECK(walk.live() == 64);
    CHECK(walk.run(1) == 96);
    CHECK(walk.live() == 96);
    CHECK(walk.peak_of(2) == 128);
    CHECK(walk.ran() == 2);
    CHECK(walk.run(2) == 128);
    CHECK(walk.live() == 64);
    CHECK(walk.remaining(0) == 0);
    CHECK(walk.run(3) == 64);
    CHECK(walk.live() == 0);
    CHECK(walk.peak() == 128);
    CHECK(peak_of(g, {0, 2, 1, 3}) == 128);
}

TEST_CASE("a result written over an operand takes nothing, if nobody reads the operand afterwards")
{
    snapshot const p = sequence(3, 3, [](auto n, effect_sink& s) {
        if (n == 0) s.def(0);
        if (n == 1) s.use(0), s.def(1), s.may_overwrite(0, 1);
        if (n == 2) s.use(0), s.def(2);
    });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    CHECK(peak_of(g, {0, 1, 2}) == 16);
    peak_walk walk(g);
    walk.run(0);
    CHECK(walk.peak_of(1) == 16);
    walk.run(2);
    CHECK(walk.peak_of(1) == 8);
    CHECK(peak_of(order_graph_of(p, {.bytes = 8, .in_place = false}), {0, 2, 1}) == 16);
}

TEST_CASE("nothing to run, and nothing to keep")
{
    CHECK(peak_of(order_graph{}, {}) == 0);
    order_graph const g = order_graph_of(sequence(1, 0, [](auto, effect_sink&) {}), {.bytes = 1});
    CHECK(peak_of(g, {0}) == 0);
    CHECK_THROWS_AS((void)peak_of(g, {}), precondition_error);
}

TEST_CASE("more bytes than 64 bits can count are refused")
{
    order_graph g;
    g.size = {no_size - 1, 1};
    g.touching = {0, 0};
    g.is_given = g.is_kept = {0, 0};
    CHECK_THROWS_AS((void)peak_walk(g), precondition_error);
}

TEST_CASE("in any order the peak is that of lifetimes, buffers and the in-place pairs then taken")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 7, seed % 3 != 0);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        auto const order = random_order(g, pick);
        auto const planned = planned_peak(drawn, order);
        REQUIRE(planned.has_value());
        CHECK(peak_of(g, order) == *planned);
        ++compared;
    }
    CHECK(compared > rounds(1500));
}

TEST_CASE("a step back undoes a run, however many there were")
{
    for (unsigned seed = 1; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 8);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        auto const order = random_order(g, pick), other = random_order(g, pick);
        peak_walk walk(g);
        for (node_id n : other) walk.run(n);
        for (std::uint32_t i = pick.below(static_cast<std::uint32_t>(other.size()) + 1); i != 0; --i)
            walk.step_back();
        peak_walk afresh(g);
        for (std::size_t i = 0; i != walk.ran(); ++i) afresh.run(other[i]);
        CHECK(walk.live() == afresh.live());
        CHECK(walk.peak() == afresh.peak());
        while (walk.ran() != 0) walk.step_back();
        CHECK(walk.peak() == 0);
        for (node_id n : order) {
            byte_count const said = walk.peak_of(n);
            CHECK(walk.run(n) == said);
        }
        CHECK(walk.peak() == peak_of(g, order));
    }
}

} // namespace this_test
