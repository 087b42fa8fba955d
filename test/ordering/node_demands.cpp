// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/list_schedule.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: the last reader is credited with the whole buffer")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 16};
    snapshot const p = sequence(
        4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    node_demands demands(g);
    std::vector<node_id> changed;
    auto note = [&](node_id n) { changed.push_back(n); };
    demands.run(0, note);
    CHECK(demands.need(1) == 32);
    CHECK(demands.growth(1) == 32);
    demands.run(2, note);
    CHECK(demands.need(1) == 32);
    CHECK(demands.growth(1) == byte_count{0} - 32);
    CHECK(std::count(changed.begin(), changed.end(), node_id{1}) == 2); // a began, and 1 is its last
    CHECK(demands.live() == 80);
    CHECK(demands.peak() == 80);
}

TEST_CASE(
    "at every turn each ready node needs and leaves what it does when it runs, and says if that changes")
{
    for (unsigned seed = 1; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 8, seed % 4 == 0) : draw_operations(pick, 12, 5);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        node_demands demands(g);
        peak_walk walk(g);
        std::vector<byte_count> announced(g.nodes());
        for (keyed const& a : demands.announced()) announced[a.who] = larger(announced[a.who], a.key);
        std::vector<unsigned char> has_run(g.nodes());
        bool is_first = true;
        std::vector<byte_count> need(g.nodes()), growth(g.nodes());
        std::vector<unsigned char> is_known(g.nodes());
        for (node_id next : random_order(g, pick)) {
            for (node_id n = 0; n != g.nodes(); ++n) {
                bool is_ready = !has_run[n];
                for (node_id b : g.before[n]) is_ready = is_ready && has_run[b];
                if (!is_ready) continue;
                byte_count const before = walk.live(), most = walk.run(n), behind = walk.live();
                walk.step_back();
                CHECK(demands.need(n) == (most > before ? most - before : 0));
                // What is given and never touched goes with the first step, whichever that is.
                if (!is_first) CHECK(demands.growth(n) == behind - before);
                CHECK(demands.need(n) <= announced[n]);
                if (is_known[n] && !is_first) CHECK(demands.need(n) == need[n]);
                if (is_known[n]) CHECK(demands.growth(n) == growth[n]);
                need[n] = demands.need(n);
                growth[n] = demands.growth(n);
                is_known[n] = !is_first;
            }
            demands.run(next, [&](node_id n) { is_known[n] = 0; });
            walk.run(next);
            has_run[next] = 1;
            is_first = false;
        }
        CHECK(demands.peak() == walk.peak());
    }
}

} // namespace this_test
