// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/down_set_search.hpp>

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

using rows = std::vector<std::vector<value_id>>;

order_graph graph_of(rows const& uses, rows const& defs, std::vector<byte_count> const& sizes)
{
    return order_graph_of(sequence(
                              defs.size(), sizes.size(), [&](step_id s) { return uses[s]; },
                              [&](step_id s) { return defs[s]; }),
                          {.bytes = sizes});
}
order_window whole(order_graph const& g)
{
    return window_of(g, peak_walk(g), std::span<node_id const>(g.listed));
}

} // namespace

TEST_CASE("who leaves no more behind runs at once, who leaves more waits")
{
    // 0 writes 64 bytes, 1 replaces them by 32 others, 2 would add 16.
    order_graph const g = graph_of({{}, {0}, {1}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    demand_graph const d = nodes_on_demand(w);
    free_moves moves(w, d);
    moves.run_free(200);
    // In the end nothing is alive, as in the beginning: all of it is one chain.
    CHECK(moves.trail() == std::vector<node_id>{0, 1, 2, 3});
    moves.return_to(0);
    moves.run_free(95); // 0 and 1 together need 96
    CHECK(moves.trail().empty());
    CHECK(moves.walk().live() == 0);
}

TEST_CASE("a way back leads to where the walk was")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    demand_graph const d = nodes_on_demand(w);
    free_moves moves(w, d);
    auto const nothing = moves.walk().done();
    std::vector<node_id> ready;
    moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
    CHECK(!ready.empty());
    for (node_id n : ready) {
        moves.run(n);
        moves.return_to(0);
        CHECK(moves.walk().done() == nothing);
        CHECK(moves.walk().live() == 0);
    }
}

TEST_CASE("what is tried counts as its touches and edges, again each time")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    demand_graph const d = nodes_on_demand(w);
    free_moves moves(w, d);
    CHECK(moves.work() == 0);
    moves.run(0); // one touch, itself; nobody waits for what is run on demand
    CHECK(moves.work() == 2);
    moves.run(1); // two touches, one edge, itself
    CHECK(moves.work() == 6);
    moves.return_to(1);
    moves.run(1);
    CHECK(moves.work() == 10);
}

TEST_CASE("nothing is lost by what runs at once, in random windows from any set of nodes")
{
    std::size_t ran = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 9, 7);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation || g.nodes() == 0 || g.nodes() > 10) continue;
        std::vector<node_id> const order = random_order(g, pick);
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::size_t const first = pick.below(3) == 0 ? pick.below(nodes) : 0;
        std::size_t const last =
            pick.below(3) == 0 ? nodes - pick.below(nodes - static_cast<std::uint32_t>(first)) : nodes;
        peak_walk before(g);
        for (std::size_t i = 0; i != first; ++i) before.run(order[i]);
        order_window const w =
            window_of(g, before, std::span<node_id const>(order.data() + first, order.data() + last));
        std::vector<byte_count> const least = least_from(w);

        // A drawn beginning, and bytes that are about what it needs.
        demand_graph const d = nodes_on_demand(w);
        free_moves moves(w, d);
        for (std::uint32_t k = pick.below(static_cast<std::uint32_t>(w.nodes.size()) + 1); k != 0; --k) {
            std::vector<node_id> ready;
            moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
            if (ready.empty()) break;
            moves.run(ready[pick.below(static_cast<std::uint32_t>(ready.size()))]);
        }
        if (moves.walk().ran() == w.nodes.size()) continue;
        std::size_t const here = moves.walk().done()[0], length = moves.trail().size();
        byte_count const allowed =
            least[here] + pick.below(40) - std::min<byte_count>(least[here], pick.below(40));
        moves.run_free(allowed);
        ran += moves.trail().size() - length;
        REQUIRE(std::max(allowed, least[moves.walk().done()[0]]) <= std::max(allowed, least[here]));

        // And none of it needed more.
        std::vector<node_id> const trail = moves.trail();
        down_set_walk walk(w);
        for (std::size_t i = 0; i != trail.size(); ++i) {
            byte_count const most = walk.run(trail[i]).most;
            if (i >= length) REQUIRE(most <= allowed);
        }
        REQUIRE(walk.live() == moves.walk().live());
    }
    CHECK(ran > rounds(500));
}

} // namespace this_test
