// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_window.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<value_id>>;

/// a is read by all later steps, b by the last.
order_graph picture()
{
    rows const uses{{}, {0}, {0}, {0, 1}}, defs{{0}, {1}, {2}, {3}};
    return order_graph_of(sequence(
                              4, 4, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
                          {.bytes = std::vector<byte_count>{64, 32, 16, 8}});
}

order_window window(order_graph const& g, std::vector<node_id> const& order, std::size_t first,
                    std::size_t last)
{
    peak_walk walk(g);
    for (std::size_t i = 0; i != first; ++i) walk.run(order[i]);
    return window_of(g, walk, std::span<node_id const>(order.data() + first, order.data() + last));
}

} // namespace

TEST_CASE("buffers of earlier nodes are given, buffers needed later are kept, and others are live through")
{
    order_graph const g = picture();
    order_window const w = window(g, {0, 1, 2, 3}, 2, 3);
    CHECK(w.nodes == std::vector<node_id>{2});
    CHECK(w.live_through == 32); // b, written by 1 and read by 3
    REQUIRE(w.graph.buffers() == 2);
    CHECK(w.graph.size == std::vector<byte_count>{64, 16}); // a and c
    CHECK(w.graph.is_given == std::vector<unsigned char>{1, 0});
    CHECK(w.graph.is_kept == std::vector<unsigned char>{1, 0});
    CHECK(!w.is_at_start);
}

TEST_CASE("nodes are numbered in window order, with the predecessors in the window only")
{
    order_graph const g = picture();
    order_window const w = window(g, {0, 2, 1, 3}, 1, 4);
    CHECK(w.nodes == std::vector<node_id>{2, 1, 3});
    REQUIRE(w.graph.before.rows() == 3);
    CHECK(w.graph.before[0].empty());
    CHECK(w.graph.before[1].empty());
    REQUIRE(w.graph.before[2].size() == 1);
    CHECK(w.graph.before[2][0] == 1);
}

TEST_CASE("a window of no nodes is empty")
{
    order_graph const g = picture();
    order_window const w = window(g, {0, 1, 2, 3}, 1, 1);
    CHECK(w.graph.nodes() == 0);
    CHECK(w.live_through == 64);
}

TEST_CASE("an input that no step touches ends with the first step of the program")
{
    order_graph const g =
        order_graph_of(sequence(
                           1, 2, [](step_id) { return std::vector<value_id>{}; },
                           [](step_id) { return std::vector<value_id>{1}; }),
                       {.bytes = std::vector<byte_count>{64, 32},
                        .role = std::vector<value_role>{value_role::input, value_role::intermediate}});
    order_window const w = window(g, {0}, 0, 1);
    CHECK(w.untouched_input_bytes == 64);
    CHECK(w.live_through == 0);
    CHECK(w.is_at_start);
}

TEST_CASE("a window in an infeasible order is refused")
{
    order_graph const g = picture();
    peak_walk walk(g);
    walk.run(0);
    std::vector<node_id> const turned{3, 1}, twice{1, 1};
    CHECK_THROWS_AS((void)window_of(g, walk, std::span<node_id const>(turned)), precondition_error);
    CHECK_THROWS_AS((void)window_of(g, walk, std::span<node_id const>(twice)), precondition_error);
}


} // namespace this_test
