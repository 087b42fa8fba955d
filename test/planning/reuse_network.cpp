// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/planning/detail/reuse_network.hpp>

#include "../concurrent_lives.hpp"
#include "../position_closure.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../rows_of.hpp"
#include "../task_families.hpp"
#include "../weighted_tasks.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using network = detail::reuse_network;

/// By node: whether it is reachable from `start`.
std::vector<bool> reached_from(network const& net, flow_node start)
{
    std::vector<bool> reached(net.arcs.rows());
    std::vector<flow_node> open{start};
    while (!open.empty()) {
        flow_node const at = open.back();
        open.pop_back();
        for (flow_node next : net.arcs[at]) {
            if (!reached[next]) open.push_back(next);
            reached[next] = true;
        }
    }
    return reached;
}

} // namespace

TEST_CASE("arcs lead from one buffer to another if and only if the other may reuse it")
{
    std::size_t in_parts = 0, apart = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighted_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, find_conflict_ranges(one.g, one.lives), one.weights, 1 << 20);
        REQUIRE(net.relaxed == 0);
        in_parts += net.multi_begin.size();
        apart += net.first_multi_begin - net.first_multi_end;
        byte_count demand = 0, supply = 0;
        for (flow_node x = 0; x != net.arcs.rows(); ++x) demand += net.demand[x], supply += net.supply[x];
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            if (net.begin_of[u] != no_flow_node) demand -= one.weights[u];
            if (net.end_of[u] == no_flow_node) {
                for (buffer_id v = 0; v != one.weights.size(); ++v)
                    REQUIRE((one.weights[v] == 0 || !one.reusable_by(u, v)));
                continue;
            }
            supply -= one.weights[u];
            auto const reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v)
                if (v != u && one.weights[v] != 0)
                    REQUIRE((net.begin_of[v] != no_flow_node && reached[net.begin_of[v]]) ==
                            one.reusable_by(u, v));
        }
        REQUIRE(demand == 0);
        REQUIRE(supply == 0);
    }
    CHECK(in_parts > rounds(100));
    CHECK(apart > rounds(500));
}

TEST_CASE("a search cut short only adds arcs, and their weight is reported")
{
    std::size_t relaxed = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighted_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, find_conflict_ranges(one.g, one.lives), one.weights, 5);
        byte_count wrong = 0;
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            bool allows_more = false;
            std::vector<bool> reached(net.arcs.rows());
            if (net.end_of[u] != no_flow_node) reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v) {
                if (v == u || one.weights[v] == 0 || net.begin_of[v] == no_flow_node) continue;
                bool const is_allowed = reached[net.begin_of[v]];
                REQUIRE((is_allowed || !one.reusable_by(u, v)));
                if (is_allowed && !one.reusable_by(u, v) && one.lives.begins[v].size() == 1)
                    allows_more = true;
            }
            if (allows_more) wrong += one.weights[u];
        }
        REQUIRE(wrong <= net.relaxed);
        if (net.relaxed != 0) ++relaxed;
    }
    CHECK(relaxed > 20);
}

TEST_CASE("steps that change bytes in place do not hide the free points before them")
{
    // Each layer: two steps read h, and their sum is added to x in place, so no buffer begins at the sum.
    constexpr std::uint32_t layers = 100;
    constexpr std::uint32_t h = 0, a = 1, b = 2, x = 3;
    snapshot const p = sequence(4 * layers, 4 * layers + 1, [](step_id s, effect_sink& sink) {
        value_id const layer = s / 4 * 4, before = layer == 0 ? 4 * layers : layer - 4 + x;
        if (s % 4 == h) sink.use(before);
        else if (s % 4 != x) sink.use(layer + h);
        else sink.use(layer + a), sink.use(layer + b), sink.use(before);
        sink.def(+s);
    });
    std::vector<value_role> role(4 * layers + 1);
    role[4 * layers] = value_role::input;
    dependence_graph const g = dependences(p, {.role = role});
    table<value_id, buffer_id> buffer_of;
    for (value_id v = 0; v != 4 * layers; ++v) buffer_of.push_back(v % 4 == x ? 0 : 1 + v / 4 * 3 + v % 4);
    buffer_of.push_back(0);
    auto const lives = concurrent_lifetimes(p, g, 3 * layers + 1, buffer_of, role);
    REQUIRE(lives.ends[1].size() == 2);
    network const net(g, lives, find_conflict_ranges(g, lives), std::vector<byte_count>(3 * layers + 1, 1),
                      1 << 20);
    CHECK(net.relaxed == 0);
    CHECK(net.visits <= 20 * layers);
    CHECK(net.arcs.items() <= 20 * layers);
}

// --- reduced network ---------------------------------------------------------------------------------------

TEST_CASE("the reduced network has the same flow and the same cut")
{
    std::size_t removed = 0, left = 0;
    auto compare = [&](dependence_graph const& g, concurrent_live_ranges const& lives,
                       std::vector<byte_count> const& weights) {
        network const net(g, lives, find_conflict_ranges(g, lives), weights, 1 << 20);
        auto route = [](antichain_flow& flow, flow_node x, byte_count demand, byte_count supply) {
            flow.pull_adjacent(x, demand);
            flow.augment(x, demand, 1 << 20);
            byte_count const taken = smaller(flow.excess[x], demand);
            flow.excess[x] += supply - taken;
            return taken;
        };
        auto const nodes = static_cast<flow_node>(net.arcs.rows());
        antichain_flow whole(net.arcs);
        byte_count expected = 0, routed = 0;
        for (flow_node i = 0; i != nodes; ++i) { // multi_end buffers have no predecessors
            flow_node const multi_ends = net.first_multi_begin - net.first_multi_end;
            flow_node const x = i < multi_ends              ? net.first_multi_end + i
                                : i < net.first_multi_begin ? i - multi_ends
                                                            : i;
            expected += route(whole, x, net.demand[x], net.supply[x]);
        }
        reduced_network const small(net);
        antichain_flow flow(small.arcs);
        routed = small.routed;
        std::vector<unsigned char> cut;
        for (flow_node x = 0; x != small.demand.size(); ++x) {
            REQUIRE((small.demand[x] == 0 || small.supply[x] == 0));
            for (flow_node y : small.arcs[x]) REQUIRE(x < y);
            routed += route(flow, x, small.demand[x], small.supply[x]);
        }
        for (flow_node x = 0; x != small.demand.size(); ++x) cut.push_back(flow.is_in_cut(x));
        REQUIRE(routed == expected);
        cut = small.whole_cut(cut);
        for (flow_node x = 0; x != nodes; ++x) REQUIRE((cut[x] != 0) == whole.is_in_cut(x));
        removed += nodes - small.demand.size();
        left += small.demand.size();
    };
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        weighted_tasks one(draw_small_tasks(seed, 40));
        unsigned const sizes = 1 + pick.below(4); // many ties
        for (byte_count& weight : one.weights)
            if (weight != 0 && seed % 2 == 0) weight = pick.below(1 + sizes);
        compare(one.g, one.lives, one.weights);
    }
    CHECK(removed > left);
    for (std::uint32_t seed = 0; seed != rounds(40); ++seed)
        for (std::string_view name : family_names) {
            CAPTURE(name);
            CAPTURE(seed);
            task_family drawn = draw_family(name, 200, seed);
            random_source pick{std::mt19937(seed)};
            for (byte_count& weight : drawn.bytes)
                if (seed % 2 == 0) weight = pick.below(1 + seed);
            dependence_graph const g = dependences(drawn.program());
            table<value_id, buffer_id> all;
            for (buffer_id b = 0; b != drawn.tasks(); ++b) all.push_back(b);
            auto const lives = concurrent_lifetimes(drawn.program(), g, all.size(), all,
                                                    std::vector<value_role>(all.size()));
            compare(g, lives, drawn.bytes);
        }
    CHECK(left > rounds(40) * 200);
}

// --- earliest free points ----------------------------------------------------------------------------------

namespace {

free_point_rows frontiers_of(dependence_graph const& g, concurrent_live_ranges const& lives,
                             std::vector<std::vector<bool>> const& leads, std::uint64_t most_visits)
{
    auto is_free = [&](buffer_id b, position_id x) {
        for (position_id end : lives.ends[b])
            if (!leads[end][x]) return false;
        return true;
    };
    return earliest_free_points(
        g.before, g.after, lives, [](buffer_id) { return true; }, is_free, most_visits);
}

} // namespace

TEST_CASE("the free points after two branches are where they join")
{
    snapshot const p = sequence(5, 5, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s >= 3) sink.use(2);
        if (s == 3) sink.use(1);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = lives_of_each(p, g);
    free_point_rows const found = frontiers_of(g, lives, position_closure(g).reaches, 100);
    CHECK(found.last_end[0] == no_position);
    CHECK(found.lowest[0].size() == 1);
    CHECK(found.lowest[0].front() == 3);
    CHECK(found.last_end[1] == 3);
    CHECK(found.lowest[1].empty());
    CHECK(found.lowest[2].empty()); // read by two positions without successors
}

TEST_CASE("free points decide for every position whether it comes after all ends")
{
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(40),
                                                     .operands = 1 + pick.below(5),
                                                     .back = 4 * pick.below(3),
                                                     .early = 20,
                                                     .views = 30,
                                                     .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const lives = lives_of_classes(p, g, tasks);
        auto const leads = position_closure(g).reaches;
        free_point_rows const found = frontiers_of(g, lives, leads, 1'000'000);
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            REQUIRE(found.is_cut_short[b] == 0);
            if (found.last_end[b] != no_position) REQUIRE(found.lowest[b].empty());
            for (position_id x = 0; x != g.positions(); ++x) {
                bool is_after = !lives.is_kept(b);
                for (position_id end : lives.ends[b]) is_after = is_after && leads[end][x];
                bool is_found = found.last_end[b] != no_position && leads[found.last_end[b]][x];
                for (position_id y : found.lowest[b]) is_found = is_found || y == x || leads[y][x];
                REQUIRE(is_found == is_after);
            }
            for (position_id x : found.lowest[b])
                for (position_id y : found.lowest[b]) REQUIRE(!leads[x][y]);
        }
    }
}

TEST_CASE("if its searches were cut short, a buffer is free after its last end, or later")
{
    // 0 is read by 1 and 2; both lead to a long path, and the paths join at the end.
    snapshot const p = sequence(44, 44, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s > 2) sink.use(s - 2);
        if (s == 43) sink.use(s - 1);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    auto const leads = position_closure(g).reaches;
    free_point_rows const cut = frontiers_of(g, lives, leads, 5);
    CHECK(cut.is_cut_short[0] == 1);
    CHECK(cut.last_end[0] == lives.ends[0].back());
    CHECK(cut.lowest[0].empty());
    free_point_rows const whole = frontiers_of(g, lives, leads, 1000);
    CHECK(whole.is_cut_short[0] == 0);
    CHECK(whole.lowest[0].size() == 1);
    CHECK(whole.lowest[0].front() == 43);
    CHECK(whole.visits > cut.visits);
}

TEST_CASE("the search that ends first is used, however long the others are")
{
    // 1 and 2 read 0; 1 leads through a thousand steps, 2 to the second of these at once.
    constexpr std::uint32_t n = 1000;
    snapshot const p = sequence(n, n, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s > 2) sink.use(s == 3 ? 1 : s - 1);
        if (s == n - 1) sink.use(2);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    auto is_free = [](buffer_id, position_id x) { return x == n - 1; };
    free_point_rows const found = earliest_free_points(
        g.before, g.after, lives, [](buffer_id b) { return b == 0; }, is_free, n);
    CHECK(found.is_cut_short[0] == 0);
    CHECK(found.visits <= 40);
}

// --- antichain flow ----------------------------------------------------------------------------------------

namespace {

using flow_along = detail::antichain_flow;

flow_arcs rows(std::vector<std::vector<flow_node>> const& lists)
{
    return rows_of<flow_node, flow_node>(lists);
}

} // namespace

TEST_CASE("the last successor gets all excess, earlier ones what they need")
{
    flow_arcs const heads = rows({{1, 2}, {}, {}});
    flow_along flow(heads);
    flow.excess[0] = 10;
    flow.pull_adjacent(1, 3);
    CHECK(flow.excess[1] == 3);
    flow.pull_adjacent(2, 0);
    CHECK(flow.excess[2] == 7);
    CHECK(flow.excess[0] == 0);
}

TEST_CASE("flow that went elsewhere is taken back, and half of it is moved")
{
    flow_arcs const heads = rows({{1, 2}, {3}, {}, {}});
    flow_along flow(heads);
    flow.excess[0] = 100;
    flow.pull_adjacent(1, 0);
    flow.pull_adjacent(2, 100);
    CHECK(flow.excess[2] == 100);
    flow.augment(3, 10, 1000);
    CHECK(flow.excess[3] == 50);
    CHECK(flow.excess[2] == 50);
}

TEST_CASE("a failed search puts its node into the cut, with all nodes that reach it")
{
    flow_arcs const heads = rows({{1, 2}, {3}, {3}, {}, {}});
    flow_along flow(heads);
    flow.excess[2] = 1;
    flow.augment(1, 1, 1000);
    CHECK(flow.is_in_cut(1));
    CHECK(flow.is_in_cut(0));
    CHECK(!flow.is_in_cut(2));
    flow.augment(3, 5, 1000);
    CHECK(flow.excess[3] == 1);
    CHECK(flow.is_in_cut(3));
    CHECK(flow.is_in_cut(2));
    CHECK(!flow.is_in_cut(4));
}

TEST_CASE("a search beyond its visits gives up, and the cut stays empty")
{
    std::vector<std::vector<flow_node>> chain;
    for (flow_node x = 1; x != 1000; ++x) chain.push_back({x});
    chain.push_back({});
    flow_arcs const heads = rows(chain);
    flow_along flow(heads);
    flow.excess[0] = 8;
    flow.augment(999, 1, 1600);
    CHECK(flow.excess[999] == 0);
    CHECK(!flow.is_in_cut(999));
    CHECK(flow.visits <= 101);
    flow.augment(999, 1, 160000);
    CHECK(flow.excess[999] == 4);
}

TEST_CASE("flow is conserved, and the cut is closed")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_node const n = 2 + pick.below(30);
        std::vector<std::vector<flow_node>> lists(n);
        for (flow_node x = 0; x != n; ++x)
            for (flow_node y = x + 1; y != n; ++y)
                if (pick.below(5) == 0) lists[x].push_back(y);
        flow_arcs const heads = rows(lists);
        flow_along flow(heads);
        byte_count total = 0, taken = 0;
        for (flow_node x = 0; x != n; ++x) {
            byte_count const need = pick.below(20);
            flow.pull_adjacent(x, need);
            flow.augment(x, need, 100000);
            REQUIRE((flow.excess[x] >= need || flow.is_in_cut(x)));
            byte_count const served = smaller(flow.excess[x], need);
            flow.excess[x] -= served;
            taken += served;
            byte_count const more = pick.below(20);
            if (!flow.is_in_cut(x)) flow.excess[x] += more, total += more;
        }
        byte_count left = 0;
        for (flow_node x = 0; x != n; ++x) {
            left += flow.excess[x];
            if (!flow.is_in_cut(x)) continue;
            REQUIRE(flow.excess[x] == 0);
            for (flow_node t = 0; t != x; ++t)
                for (flow_node y : lists[t])
                    if (y == x) REQUIRE(flow.is_in_cut(t));
        }
        REQUIRE(left + taken == total);
    }
}

} // namespace this_test
