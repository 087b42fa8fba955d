// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_window.hpp>

#include "../dice.hpp"
#include "drawn_orders.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a walk over nothing has all that stands around")
{
    order_window w;
    w.around = 7;
    down_set_walk walk(w);
    CHECK(walk.live() == 7);
    CHECK(walk.ran() == 0);
}

TEST_CASE(
    "in a window of a random program each node needs what it needs in the whole, and jumps forget nothing")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 8) : draw_operations(pick, 12, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation || g.nodes() == 0) continue;
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::vector<node_id> const order = random_order(g, pick);
        std::size_t const first = pick.below(nodes), last = first + pick.below(nodes - pick.below(nodes)) + 1;
        if (last > nodes) continue;

        peak_walk whole(g);
        for (std::size_t i = 0; i != first; ++i) whole.run(order[i]);
        order_window const w =
            window_of(g, whole, std::span<node_id const>(order.data() + first, order.data() + last));
        down_set_walk walk(w);
        struct moment {
            std::vector<std::uint64_t> set;
            byte_count live;
        };
        std::vector<moment> moments;
        std::vector<node_effect> effects;
        for (node_id n = 0; n != w.nodes.size(); ++n) {
            REQUIRE(walk.live() == whole.live());
            moments.push_back({walk.done(), walk.live()});
            byte_count const most = whole.run(w.nodes[n]);
            effects.push_back(walk.run(n));
            REQUIRE(effects.back().most == most);
            REQUIRE(effects.back().behind == whole.live());
            REQUIRE(walk.has_run(n));
        }
        moments.push_back({walk.done(), walk.live()});

        for (int jump = 0; jump != 6; ++jump) { // any two places of the order
            auto const n = static_cast<node_id>(pick.below(static_cast<std::uint32_t>(w.nodes.size())));
            std::size_t changed = 0;
            std::size_t const ran = walk.ran();
            walk.move_to(
                moments[n].set.data(), moments[n].live, [&](node_id) { ++changed; },
                [&](node_id) { ++changed; });
            REQUIRE(changed == (ran > n ? ran - n : n - ran));
            REQUIRE(walk.ran() == n);
            node_effect const e = walk.run(n);
            REQUIRE(e.most == effects[n].most);
            REQUIRE(e.behind == effects[n].behind);
            walk.take_back(n, moments[n].live);
            REQUIRE(walk.done() == moments[n].set);
        }
    }
}

} // namespace this_test
