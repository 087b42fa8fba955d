// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/list_schedule.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The order by the definition: at each turn a look at all that is ready, each run and undone.
std::vector<node_id> slow_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                   schedule_rule const& rule)
{
    std::vector<std::size_t> rank(g.nodes()), waits;
    for (std::size_t at = 0; at != preferred.size(); ++at) rank[preferred[at]] = at;
    for (node_id n = 0; n != g.nodes(); ++n) waits.push_back(g.before[n].size());
    peak_walk walk(g);
    std::vector<unsigned char> has_run(g.nodes());
    std::vector<node_id> order;
    while (order.size() != g.nodes()) {
        struct claim {
            byte_count above;
            std::int64_t left;
            std::size_t rank;
            node_id node;
            bool operator<(claim const& o) const
            {
                return above != o.above ? above < o.above : left != o.left ? left < o.left : rank < o.rank;
            }
        };
        std::optional<claim> best;
        byte_count const reached = std::max({rule.goal, walk.peak(), walk.live()});
        for (node_id n = 0; n != g.nodes(); ++n) {
            if (has_run[n] || waits[n] != 0) continue;
            byte_count const before = walk.live(), most = walk.run(n);
            std::int64_t left = static_cast<std::int64_t>(walk.live()) - static_cast<std::int64_t>(before);
            walk.step_back();
            if (!rule.growing_by_size) left = std::min<std::int64_t>(left, 1);
            claim const mine{std::max(reached, most), left, rank[n], n};
            if (!best || mine < *best) best = mine;
        }
        order.push_back(best->node);
        has_run[best->node] = 1;
        walk.run(best->node);
        for (node_id next : g.after[best->node]) --waits[next];
    }
    return order;
}

} // namespace

TEST_CASE("what gives memory back runs as soon as it may, all else as the rank says")
{
    // 1 makes 64 bytes of 8, 3 makes 1 byte of 32; 4 reads both results.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {}, {2}, {1, 3}};
    std::vector<byte_count> const bytes{8, 64, 32, 1, 1};
    snapshot const p = sequence(
        5, 5, [&](auto s) -> auto& { return uses[s]; }, [](auto s) { return std::vector<value_id>{s}; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    CHECK(peak_of(g, g.listed) == 97);
    auto const order = list_schedule(g, g.listed, {71, false});
    CHECK(order == std::vector<node_id>{0, 2, 3, 1, 4});
    CHECK(peak_of(g, order) == 73);
    CHECK(list_schedule(g, g.listed, {97, false}) == std::vector<node_id>{0, 1, 2, 3, 4});
    CHECK(list_schedule(g, g.listed) == std::vector<node_id>{0, 2, 3, 1, 4});
}

TEST_CASE("of nothing there is a schedule, of a circle there is none")
{
    CHECK(list_schedule(order_graph{}, {}).empty());
    order_graph g;
    g.violation = dependence_violation{};
    CHECK_THROWS_AS((void)list_schedule(g, {}), precondition_error);
    g.violation.reset();
    CHECK_THROWS_AS((void)list_schedule(g, {0}), precondition_error);
}

TEST_CASE("the schedule is that of the definition, where each node announces what it needs")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(1200); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 9, false) : draw_operations(pick, 14, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        bool is_announced = g.early.items() == 0 && g.pairs.empty();
        for (step_range s : g.steps) is_announced = is_announced && s.last - s.first == 1;
        auto const preferred = random_order(g, pick);
        schedule_rule const rule{pick.below(3) == 0 ? 0 : pick.below(200), pick.below(2) == 0};
        auto const order = list_schedule(g, preferred, rule);
        REQUIRE(is_order(g, order));
        CHECK(order == list_schedule(g, preferred, rule));
        if (!is_announced) continue;
        for (buffer_id b = 0; b != g.buffers(); ++b)
            is_announced = is_announced && (!g.is_given[b] || g.touching[b] != 0);
        if (!is_announced) continue; // what is given and never touched goes with whatever runs first
        CHECK(order == slow_schedule(g, preferred, rule));
        ++compared;
    }
    CHECK(compared > rounds(200));
}

} // namespace this_test
