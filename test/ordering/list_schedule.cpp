// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/ordering/detail/list_schedule.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The order by definition: each turn runs and undoes every ready node.
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
            claim const own{std::max(reached, most), left, rank[n], n};
            if (!best || own < *best) best = own;
        }
        order.push_back(best->node);
        has_run[best->node] = 1;
        walk.run(best->node);
        for (node_id next : g.after[best->node]) --waits[next];
    }
    return order;
}

} // namespace

TEST_CASE("a node that frees memory runs as soon as it is ready, others run by rank")
{
    // 1 makes 64 bytes of 8, 3 makes 1 byte of 32; 4 reads both results.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {}, {2}, {1, 3}};
    std::vector<byte_count> const bytes{8, 64, 32, 1, 1};
    snapshot const p = sequence(
        5, 5, [&](auto s) -> auto& { return uses[s]; }, [](auto s) { return std::vector<value_id>{+s}; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    CHECK(peak_of(g, g.listed) == 97);
    auto const order = list_schedule(g, g.listed, {71, false});
    CHECK(order == std::vector<node_id>{0, 2, 3, 1, 4});
    CHECK(peak_of(g, order) == 73);
    CHECK(list_schedule(g, g.listed, {97, false}) == std::vector<node_id>{0, 1, 2, 3, 4});
    CHECK(list_schedule(g, g.listed) == std::vector<node_id>{0, 2, 3, 1, 4});
}

TEST_CASE("an empty graph has an empty schedule, and a cycle has none")
{
    CHECK(list_schedule(order_graph{}, {}).empty());
    order_graph g;
    CHECK_THROWS_AS((void)list_schedule(g, {0}), precondition_error);
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK_THROWS_AS((void)list_schedule(g, {}), precondition_error);
}

TEST_CASE("the schedule agrees with its definition if each node announces its needs")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(1200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 9, false) : draw_operations(pick, 14, 6)).graph();
        if (!g) continue;
        bool is_announced = g.early.items() == 0 && g.pairs.empty();
        for (step_range s : g.steps) is_announced = is_announced && s.last - s.first == 1;
        auto const preferred = random_order(g, pick);
        schedule_rule const rule{pick.below(3) == 0 ? 0 : pick.below(200), pick.below(2) == 0};
        auto const order = list_schedule(g, preferred, rule);
        REQUIRE(is_order(g, order));
        CHECK(order == list_schedule(g, preferred, rule));
        if (!is_announced) continue;
        for (buffer_id b = 0; b != g.buffers(); ++b)
            is_announced = is_announced && (!g.is_given[b] || g.touch_count[b] != 0);
        if (!is_announced) continue; // the first node also needs the untouched inputs
        CHECK(order == slow_schedule(g, preferred, rule));
        ++compared;
    }
    CHECK(compared > rounds(200));
}

// --- mirrored graph ----------------------------------------------------------------------------------------

TEST_CASE("the example: mirroring exchanges first and last touches")
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

TEST_CASE("the mirror of an empty graph is empty, and that of a graph without orders has none")
{
    CHECK(mirrored(order_graph{}).nodes() == 0);
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK(!mirrored(g));
}

TEST_CASE("a reversed order has the peak of the mirror without early reads, rivals or untouched inputs")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 8) : draw_operations(pick, 12, 5)).graph();
        if (!g) continue;
        order_graph const m = mirrored(g);
        auto const order = random_order(g, pick);
        std::vector<node_id> const backwards(order.rbegin(), order.rend());
        CHECK(is_order(m, backwards));
        bool is_exact = g.early.items() == 0;
        for (buffer_id b = 0; b != g.buffers(); ++b) is_exact = is_exact && g.touch_count[b] != 0;
        for (step_id s = 0; s + 1 < g.first_pair.size(); ++s)
            for (overwrite_pair const& a : g.pairs_of(s))
                for (overwrite_pair const& b : g.pairs_of(s)) is_exact = is_exact && (a.in != b.in || a == b);
        if (!is_exact) continue;
        CHECK(peak_of(m, backwards) == peak_of(g, order));
        ++compared;
    }
    CHECK(compared > rounds(1000));
}

// --- pressure tracker --------------------------------------------------------------------------------------

TEST_CASE("the example: the last reader is credited with the whole buffer")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 16};
    snapshot const p = sequence(
        4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    pressure_tracker pressure(g);
    std::vector<node_id> changed;
    auto note = [&](node_id n) { changed.push_back(n); };
    pressure.run(0, note);
    CHECK(pressure.need(1) == 32);
    CHECK(pressure.growth(1) == 32);
    pressure.run(2, note);
    CHECK(pressure.need(1) == 32);
    CHECK(pressure.growth(1) == byte_count{0} - 32);
    CHECK(std::count(changed.begin(), changed.end(), node_id{1}) == 2); // a began, and 1 is its last reader
    CHECK(pressure.live() == 80);
    CHECK(pressure.peak() == 80);
}

TEST_CASE("the need and growth of each ready node are those of its run, and changes are reported")
{
    for (unsigned seed = 1; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 8, seed % 4 == 0) : draw_operations(pick, 12, 5)).graph();
        if (!g) continue;
        pressure_tracker pressure(g);
        peak_walk walk(g);
        std::vector<byte_count> possible_needs(g.nodes());
        for (sort_key const& a : pressure.possible_needs())
            possible_needs[a.id] = larger(possible_needs[a.id], a.key);
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
                CHECK(pressure.need(n) == (most > before ? most - before : 0));
                // Untouched inputs end with the first step, whichever that is.
                if (!is_first) CHECK(pressure.growth(n) == behind - before);
                CHECK(pressure.need(n) <= possible_needs[n]);
                if (is_known[n] && !is_first) CHECK(pressure.need(n) == need[n]);
                if (is_known[n]) CHECK(pressure.growth(n) == growth[n]);
                need[n] = pressure.need(n);
                growth[n] = pressure.growth(n);
                is_known[n] = !is_first;
            }
            pressure.run(next, [&](node_id n) { is_known[n] = 0; });
            walk.run(next);
            has_run[next] = 1;
            is_first = false;
        }
        CHECK(pressure.peak() == walk.peak());
    }
}

// --- ready nodes -------------------------------------------------------------------------------------------

TEST_CASE("the example: of the nodes that fit the one with the least growth is best")
{
    std::vector<sort_key> const needs{{64, 0, 0}, {16, 0, 1}, {8, 0, 2}, {40, 0, 3}, {16, 0, 4}};
    std::uint64_t const zero = 1000;
    std::uint64_t const left[] = {zero + 8, zero - 16, zero + 8, zero - 40, zero};
    ready_nodes ready(5, needs);
    CHECK(ready.empty());
    for (sort_key const& n : needs) ready.put(n.id, n.key, left[n.id], n.id);
    CHECK(ready.best(20) == 1);
    CHECK(ready.best(8) == 2);
    CHECK(ready.best(40) == 3);
    ready.take(2);
    CHECK(ready.best(8) == 1); // none fits: 1 and 4 need least
    CHECK_FALSE(ready.holds(2));
    for (node_id n : {1u, 4u, 3u, 0u}) ready.take(n);
    CHECK(ready.empty());
}

TEST_CASE("a queue of no nodes is empty") { CHECK(ready_nodes(0, std::vector<sort_key>{}).empty()); }

TEST_CASE("equal growth goes by rank, and a node inserted again moves to its new place")
{
    ready_nodes ready(2, std::vector<sort_key>{{8, 0, 0}, {8, 0, 1}, {2, 0, 1}});
    ready.put(0, 8, 5, 0);
    ready.put(1, 8, 5, 1);
    CHECK(ready.best(8) == 0);
    ready.put(1, 2, 5, 1);
    CHECK(ready.best(7) == 1);
    CHECK(ready.best(8) == 0);
    ready.put(1, 3, 4, 1); // between two announced needs it takes the higher
    CHECK(ready.best(7) == 1);
    CHECK(ready.best(8) == 1);
    ready.put(0, 8, 3, 0);
    CHECK(ready.best(8) == 0);
}

TEST_CASE("after any insertions and removals the best node is that of a linear scan")
{
    for (unsigned seed = 1; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const nodes = 1 + pick.below(20);
        std::vector<sort_key> possible_needs;
        std::vector<std::vector<byte_count>> of(nodes);
        for (node_id n = 0; n != nodes; ++n)
            for (std::uint32_t i = 1 + pick.below(3); i != 0; --i) {
                of[n].push_back(pick.below(12));
                possible_needs.push_back({of[n].back(), 0, n});
            }
        ready_nodes ready(nodes, possible_needs);
        std::map<node_id, std::tuple<byte_count, std::uint64_t>> there;
        for (unsigned turn = 0; turn != 60; ++turn) {
            node_id const n = pick.below(nodes);
            if (there.count(n) != 0 && pick.below(2) == 0) {
                ready.take(n);
                there.erase(n);
            } else {
                byte_count const need = of[n][pick.below(static_cast<std::uint32_t>(of[n].size()))];
                std::uint64_t const left = pick.below(5);
                ready.put(n, need, left, n);
                there[n] = {need, left};
            }
            CHECK(ready.empty() == there.empty());
            if (there.empty()) continue;
            byte_count room = pick.below(12), least = no_size;
            for (auto const& [node, its] : there) least = smaller(least, std::get<0>(its));
            room = larger(room, least);
            node_id best = no_node;
            for (auto const& [node, its] : there)
                if (std::get<0>(its) <= room &&
                    (best == no_node || std::get<1>(its) < std::get<1>(there[best])))
                    best = node;
            CHECK(ready.best(room) == best);
        }
    }
}

} // namespace this_test
