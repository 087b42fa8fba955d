// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/exact_window.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// 0 writes 8 bytes, of which 1 and 2 make 64 each; 3 reads the result of 1, and 4 that of 2.
order_graph picture(byte_count end = 0)
{
    using rows = std::vector<std::vector<value_id>>;
    rows const uses{{}, {0}, {0}, {1}, {2}}, defs{{0}, {1}, {2}, {3}, {4}};
    return order_graph_of(
        sequence(
            5, 5, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
        {.bytes = std::vector<byte_count>{8, 64, 64, end, end},
         .role = std::vector<value_role>{value_role::intermediate, value_role::intermediate,
                                         value_role::intermediate, value_role::output, value_role::output}});
}

} // namespace

TEST_CASE("a window of an order is ordered optimally, and no other node moves")
{
    order_graph const g = picture();
    std::vector<node_id> const order{0, 1, 2, 3, 4};
    window_order const w = exact_window(g, order, 1, 5);
    CHECK(peak_of(g, order) == 136);
    CHECK(w.order == std::vector<node_id>{1, 3, 2, 4});
    CHECK(w.peak == 72);
    CHECK(w.is_optimal());
}

TEST_CASE("an empty window has no peak, and one beyond the order is refused")
{
    order_graph const g = picture();
    window_order const w = exact_window(g, {0, 1, 2, 3, 4}, 3, 3);
    CHECK(w.order.empty());
    CHECK(w.peak == 0);
    CHECK(w.is_optimal());
    CHECK_THROWS_AS((void)exact_window(g, {0, 1, 2, 3, 4}, 3, 6), precondition_error);
    CHECK_THROWS_AS((void)exact_window(g, {0, 1}, 0, 1), precondition_error);
}

TEST_CASE("a limit reached at once leaves the window as it was")
{
    order_graph const g = picture(8); // results at the sinks are kept: no branch returns to its start level
    window_order const w = exact_window(g, {0, 1, 2, 3, 4}, 1, 5, {.work = 0});
    CHECK(w.order == std::vector<node_id>{1, 2, 3, 4});
    CHECK(!w.is_searched);
    CHECK(!w.is_optimal());
    CHECK(exact_window(g, {0, 1, 2, 3, 4}, 1, 5).peak == 80);
    CHECK(w.lower_bound <= 80);
}

TEST_CASE("windows of random programs get their best order")
{
    std::size_t better = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 12) : draw_operations(pick, 16, 9)).graph();
        if (!g || g.nodes() == 0) continue;
        std::vector<node_id> order = random_order(g, pick);
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::size_t const first = pick.below(nodes),
                          last = std::min<std::size_t>(nodes, first + 1 + pick.below(10));
        peak_walk before(g);
        for (std::size_t i = 0; i != first; ++i) before.run(order[i]);
        std::span<node_id const> const window(order.data() + first, order.data() + last);
        byte_count const least = min_peak_of(window_of(g, before, window));

        window_order const w = exact_window(g, before, window);
        REQUIRE(w.peak == least);
        REQUIRE(w.lower_bound == least);
        REQUIRE(w.is_optimal());
        REQUIRE(w.is_searched);
        byte_count const was = peak_of(g, order);
        order_search_limits little{.work = pick.below(3000)};
        if (pick.below(3) == 0) little.floor = least + pick.below(10);
        window_order const stopped = exact_window(g, before, window, little);
        REQUIRE(stopped.lower_bound <= least);
        REQUIRE(stopped.peak >= least);
        REQUIRE(stopped.peak <= exact_window(g, before, window, {.work = 0}).peak);
        if (stopped.is_searched) REQUIRE(stopped.peak <= std::max(least, little.floor));
        for (std::size_t i = first; i != last; ++i) order[i] = w.order[i - first];
        REQUIRE(is_order(g, order));
        // The best order is never replaced by a worse one.
        for (std::uint64_t work = 100; work < 2000; work *= 2)
            REQUIRE(exact_window(g, before, window, {.work = work}).peak == least);
        REQUIRE(peak_of(g, order) <= was);
        better += peak_of(g, order) < was;
    }
    CHECK(better > rounds(100));
}

// --- order cuts --------------------------------------------------------------------------------------------

namespace {

order_cuts cuts_of(order_graph const& g, std::vector<node_id> const& order)
{
    order_window const w = window_of(g, peak_walk(g), std::span<node_id const>(order));
    return cut_order(moves_of(w, search_side::start));
}

order_graph graph_of(std::vector<std::vector<value_id>> const& uses)
{
    return order_graph_of(sequence(
                              uses.size(), uses.size(), [&](step_id s) { return uses[s]; },
                              [](step_id s) { return std::vector<value_id>{+s}; }),
                          {.bytes = 8});
}

} // namespace

TEST_CASE("an order is cut after nodes that have the same position in every order")
{
    // 0 splits, 3 joins, 4 and 5 are two branches again.
    order_cuts const c = cuts_of(graph_of({{}, {0}, {0}, {1, 2}, {3}, {3}, {4, 5}}), {0, 1, 2, 3, 4, 5, 6});
    // 0 is deferred for both its readers, so it is in the first segment.
    CHECK(c.order == std::vector<node_id>{0, 1, 2, 3, 4, 5, 6});
    CHECK(c.first == std::vector<std::size_t>{0, 4, 7});
}

TEST_CASE("branches that never meet are one segment, and an empty window has none")
{
    CHECK(cuts_of(graph_of({{}, {0}, {}, {2}}), {0, 2, 1, 3}).first == std::vector<std::size_t>{0, 4});
    CHECK(cuts_of(graph_of({}), {}).first == std::vector<std::size_t>{0});
}

TEST_CASE("constants do not prevent a cut")
{
    // 0 1 2 are a chain that reads the constants 3, 4, 5.
    order_cuts const c =
        cuts_of(graph_of({{3}, {0, 4}, {1, 5}, {}, {}, {}}), {5, 4, 3, 0, 1, 2}); // by number: 0 1 2 | 3 4 5
    CHECK(c.order == std::vector<node_id>{2, 3, 1, 4, 0, 5});
    CHECK(c.first == std::vector<std::size_t>{0, 2, 4, 6});
}

TEST_CASE("the best orders of all segments give the best order of a random program")
{
    std::size_t segments = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 10, 1 + seed / 2 % 3)).graph();
        if (!g || g.nodes() == 0) continue;
        std::vector<node_id> const start = random_order(g, pick);
        order_cuts const cuts = cuts_of(g, start);
        std::vector<node_id> order;
        for (node_id n : cuts.order) order.push_back(start[n]);
        REQUIRE(is_order(g, order));
        REQUIRE(peak_of(g, order) <= peak_of(g, start));

        peak_walk walk(g);
        byte_count peak = 0;
        for (std::size_t i = 0; i + 1 != cuts.first.size(); ++i, ++segments) {
            REQUIRE(cuts.first[i] < cuts.first[i + 1]);
            std::span<node_id const> const nodes(order.data() + cuts.first[i],
                                                 order.data() + cuts.first[i + 1]);
            peak = std::max(peak, min_peak_of(window_of(g, walk, nodes)));
            for (node_id n : nodes) walk.run(n);
        }
        REQUIRE(peak == min_peak_exhaustive(g));
    }
    CHECK(segments > rounds(1500));
}

} // namespace this_test
