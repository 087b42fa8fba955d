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

// --- down set walk -----------------------------------------------------------------------------------------

TEST_CASE("a walk over an empty window has the bytes that are live through")
{
    order_window w;
    w.live_through = 7;
    down_set_walk walk(w);
    CHECK(walk.live() == 7);
    CHECK(walk.ran() == 0);
}

TEST_CASE("in a window of a random program each node needs what it needs in the whole, also after jumps")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 8) : draw_operations(pick, 12, 6)).graph();
        if (!g || g.nodes() == 0) continue;
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::vector<node_id> const order = random_order(g, pick);
        std::size_t const first = pick.below(nodes), last = first + pick.below(nodes - pick.below(nodes)) + 1;
        if (last > nodes) continue;

        peak_walk whole(g);
        for (std::size_t i = 0; i != first; ++i) whole.run(order[i]);
        order_window const w =
            window_of(g, whole, std::span<node_id const>(order.data() + first, order.data() + last));
        down_set_walk walk(w);
        struct stamp {
            std::vector<std::uint64_t> set;
            byte_count live;
        };
        std::vector<stamp> moments;
        std::vector<node_effect> effects;
        for (node_id n = 0; n != w.nodes.size(); ++n) {
            REQUIRE(walk.live() == whole.live());
            moments.push_back({walk.done(), walk.live()});
            byte_count const most = whole.run(w.nodes[n]);
            effects.push_back(walk.run(n));
            REQUIRE(effects.back().most == most);
            REQUIRE(effects.back().live_after == whole.live());
            REQUIRE(walk.has_run(n));
        }
        moments.push_back({walk.done(), walk.live()});

        for (int jump = 0; jump != 6; ++jump) { // between any two positions of the order
            node_id const n = pick.below(static_cast<std::uint32_t>(w.nodes.size()));
            std::size_t changed = 0;
            std::size_t const ran = walk.ran();
            walk.move_to(
                moments[n].set.data(), moments[n].live, [&](node_id) { ++changed; },
                [&](node_id) { ++changed; });
            REQUIRE(changed == (ran > n ? ran - n : n - ran));
            REQUIRE(walk.ran() == n);
            node_effect const e = walk.run(n);
            REQUIRE(e.most == effects[n].most);
            REQUIRE(e.live_after == effects[n].live_after);
            walk.step_back(n, moments[n].live);
            REQUIRE(walk.done() == moments[n].set);
        }
    }
}

// --- deferred nodes ----------------------------------------------------------------------------------------

namespace {

order_window whole(order_graph const& g, std::vector<node_id> const& order)
{
    return window_of(g, peak_walk(g), std::span<node_id const>(order));
}

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

TEST_CASE("a constant is deferred to its first reader")
{
    order_graph const g = graph_of({{}, {}, {1}, {0, 2}}, {{0}, {1}, {2}, {3}}, {.bytes = 8});
    deferral_graph const d = deferred_nodes(whole(g, {0, 1, 2, 3}));
    CHECK(d.is_deferred == std::vector<unsigned char>{1, 1, 0, 0});
    REQUIRE(d.deferred[3].size() == 1);
    CHECK(d.deferred[3][0] == 0);
    CHECK(d.deferred[2][0] == 1);
    CHECK(d.before[2].empty());
    CHECK(d.before[3][0] == 2);
    CHECK(d.after[2][0] == 3);
}

TEST_CASE("a node that frees bytes is not deferred, nor is a sink")
{
    order_graph const g = graph_of({{}, {0}, {1}}, {{0}, {1}, {2}}, {.bytes = 8});
    deferral_graph const d = deferred_nodes(whole(g, {0, 1, 2}));
    CHECK(d.is_deferred == std::vector<unsigned char>{1, 0, 0}); // 1 frees the result of 0
}

TEST_CASE("deferred nodes include those needed by deferred nodes, and edges pass through them")
{
    // Each node reads all results before it. All are outputs, so every node only adds bytes; 3 is the sink.
    order_graph const g = graph_of({{}, {0}, {0, 1}, {0, 1, 2}}, {{0}, {1}, {2}, {3}},
                                   {.bytes = 8, .role = std::vector<value_role>(4, value_role::output)});
    deferral_graph const d = deferred_nodes(whole(g, {0, 1, 2, 3}));
    CHECK(d.is_deferred == std::vector<unsigned char>{1, 1, 1, 0});
    CHECK(std::vector<node_id>(d.deferred[3].begin(), d.deferred[3].end()) == std::vector<node_id>{0, 1, 2});
    CHECK(d.before[3].empty());
}

TEST_CASE("deferring nodes in any order of a random program does not raise its peak")
{
    std::size_t late = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 12) : draw_operations(pick, 14, 9);
        order_graph const g = drawn.graph();
        if (!g || g.nodes() == 0) continue;
        std::vector<node_id> const order = random_order(g, pick);
        order_window const w = whole(g, order);
        deferral_graph const d = deferred_nodes(w);
        std::vector<node_id> other;
        std::vector<bool> has_run(order.size());
        for (node_id n = 0; n != order.size(); ++n) {
            if (d.is_deferred[n]) {
                ++late;
                continue;
            }
            for (node_id deferred : d.deferred[n])
                if (!has_run[deferred]) has_run[deferred] = true, other.push_back(order[deferred]);
            other.push_back(order[n]);
        }
        REQUIRE(is_order(g, other));
        REQUIRE(peak_of(g, other) <= peak_of(g, order));
        REQUIRE(planned_peak(drawn, other) <= planned_peak(drawn, order));
    }
    CHECK(late > 1000);
}

} // namespace this_test
