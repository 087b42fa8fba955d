// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../random_source.hpp"
#include "random_orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The least peak of all feasible orders, each computed by the planner's own stages.
std::optional<byte_count> min_planned_peak(drawn_program const& drawn, order_graph const& g)
{
    std::vector<node_id> order(g.nodes());
    std::iota(order.begin(), order.end(), 0u);
    std::optional<byte_count> least;
    do {
        if (!is_order(g, order)) continue;
        auto const peak = planned_peak(drawn, order);
        REQUIRE(peak);
        least = std::min(*peak, least.value_or(*peak));
    } while (std::next_permutation(order.begin(), order.end()));
    return least;
}

} // namespace

TEST_CASE("of two branches the one that needs more runs first")
{
    // 0 is read by both branches; 1 needs 100 and leaves 10, 3 needs 50 and leaves 40.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}, {0}, {3}, {2, 4}};
    order_graph const g = order_graph_of(
        sequence(
            6, 6, [&](step_id s) { return uses[s]; }, [](step_id s) { return std::vector<value_id>{+s}; }),
        {.bytes = std::vector<byte_count>{5, 100, 10, 50, 40, 1}});
    exact_node_order const r = exact_order(g, {0, 3, 4, 1, 2, 5});
    CHECK(peak_of(g, {0, 3, 4, 1, 2, 5}) == 150);
    CHECK(r.order == std::vector<node_id>{0, 1, 2, 3, 4, 5});
    CHECK(r.peak == 115);
    CHECK(r.is_optimal());
    CHECK(r.found_by == node_order::method::exact);
}

TEST_CASE("the empty order is optimal")
{
    exact_node_order const r = exact_order(order_graph_of(snapshot(), {.bytes = 8}));
    CHECK(r.order.empty());
    CHECK(r.peak == 0);
    CHECK(r.is_optimal());
}

TEST_CASE("a program without a feasible order gives its error")
{
    order_graph const g = order_graph_of(sequence(
                                             1, 2, [](step_id) { return std::vector<value_id>{0}; },
                                             [](step_id) { return std::vector<value_id>{1}; }),
                                         {.bytes = 8});
    exact_node_order const r = exact_order(g);
    REQUIRE(!r);
    CHECK(r.error().value() == 0);
    CHECK(!r.is_optimal());
}

TEST_CASE("a start order must be an order of all nodes")
{
    order_graph const g = order_graph_of(sequence(
                                             2, 2, [](step_id) { return std::vector<value_id>{}; },
                                             [](step_id s) { return std::vector<value_id>{+s}; }),
                                         {.bytes = 8});
    CHECK_THROWS_AS((void)exact_order(g, {0}), precondition_error);
}

TEST_CASE("the exact order of small random programs has the least planned peak of all permutations")
{
    std::size_t programs = 0;
    for (unsigned seed = 0; programs != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 6, seed % 4 == 0) : draw_operations(pick, 6, 5);
        order_graph const g = drawn.graph();
        if (!g || g.nodes() > 6) continue;
        ++programs;
        exact_node_order const r = exact_order(g, random_order(g, pick));
        REQUIRE(r.is_optimal());
        REQUIRE(planned_peak(drawn, r.order) == r.peak);
        REQUIRE(min_planned_peak(drawn, g) == r.peak);
    }
}

TEST_CASE("the exact order of 1000 random programs agrees with a search over all down-sets")
{
    std::size_t better = 0, searched = 0, programs = 0;
    for (unsigned seed = 0; programs != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0
                                        ? draw_unordered(pick, 12, seed % 4 == 0)
                                        : draw_operations(pick, 8 + pick.below(5), 2 + pick.below(11));
        order_graph const g = drawn.graph();
        if (!g) continue;
        ++programs;
        std::vector<node_id> const start = random_order(g, pick);
        exact_node_order const r = exact_order(g, start);
        REQUIRE(is_order(g, r.order));
        REQUIRE(r.peak == peak_of(g, r.order));
        REQUIRE(r.peak == planned_peak(drawn, r.order));
        REQUIRE(r.peak == min_peak_exhaustive(g));
        REQUIRE(r.is_optimal());
        REQUIRE((r.found_by == node_order::method::exact) == (r.peak < peak_of(g, start)));
        better += r.found_by == node_order::method::exact;
        searched += r.report.searched;
    }
    CHECK(3 * better > programs);
    CHECK(searched != 0);
}

TEST_CASE("limits leave an order that is no worse and a valid lower bound")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 12, 11).graph();
        std::vector<node_id> const start = random_order(g, pick);
        exact_node_order const r = exact_order(g, start, {.work = pick.below(3000)});
        REQUIRE(is_order(g, r.order));
        REQUIRE(r.peak <= peak_of(g, start));
        REQUIRE(r.lower_bound <= min_peak_exhaustive(g));
    }
}

TEST_CASE("a chain of thousands of nodes is ordered segment by segment")
{
    // Cells of three branches each, in sequence, listed in a bad order.
    std::vector<std::vector<value_id>> uses{{}};
    std::vector<byte_count> sizes{8};
    value_id last = 0;
    for (int cell = 0; cell != 1000; ++cell) {
        auto const first = static_cast<value_id>(uses.size());
        for (int branch = 0; branch != 3; ++branch) uses.push_back({last}), sizes.push_back(64);
        for (value_id branch = 0; branch != 3; ++branch) uses.push_back({first + branch}), sizes.push_back(8);
        uses.push_back({first + 3, first + 4, first + 5}), sizes.push_back(8);
        last = first + 6;
    }
    order_graph const g = order_graph_of(sequence(
                                             uses.size(), uses.size(), [&](step_id s) { return uses[s]; },
                                             [](step_id s) { return std::vector<value_id>{+s}; }),
                                         {.bytes = sizes});
    exact_node_order const r = exact_order(g);
    CHECK(r.given_peak == 200); // all three branches at once
    CHECK(r.peak == 88);
    CHECK(r.is_optimal());
    CHECK(r.report.segments >= 1000);
}

} // namespace this_test
