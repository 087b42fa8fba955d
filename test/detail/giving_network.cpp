// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/giving_network.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"
#include "../weighed_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using network = detail::giving_network;

/// By node: whether arcs lead there from this one.
std::vector<bool> reached_from(network const& net, node_id start)
{
    std::vector<bool> reached(net.arcs.rows());
    std::vector<node_id> open{start};
    while (!open.empty()) {
        node_id const at = open.back();
        open.pop_back();
        for (node_id next : net.arcs[at]) {
            if (!reached[next]) open.push_back(next);
            reached[next] = true;
        }
    }
    return reached;
}

} // namespace

TEST_CASE("arcs lead from one buffer to another if and only if it gives to it")
{
    std::size_t in_parts = 0, apart = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighed_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, later_conflicts(one.g, one.lives), one.weights, 1 << 20);
        REQUIRE(net.loose == 0);
        in_parts += net.takers.size();
        apart += net.first_taker - net.first_giver;
        byte_count begins = 0, rises = 0;
        for (node_id x = 0; x != net.arcs.rows(); ++x) begins += net.begins[x], rises += net.rises[x];
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            if (net.begin_of[u] != no_node) begins -= one.weights[u];
            if (net.end_of[u] == no_node) {
                for (buffer_id v = 0; v != one.weights.size(); ++v)
                    REQUIRE((one.weights[v] == 0 || !one.rule.gives(u, v)));
                continue;
            }
            rises -= one.weights[u];
            auto const reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v)
                if (v != u && one.weights[v] != 0)
                    REQUIRE((net.begin_of[v] != no_node && reached[net.begin_of[v]]) == one.rule.gives(u, v));
        }
        REQUIRE(begins == 0);
        REQUIRE(rises == 0);
    }
    CHECK(in_parts > rounds(100));
    CHECK(apart > rounds(500));
}

TEST_CASE("what is cut short may only allow more, and its weight is known")
{
    std::size_t loose = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighed_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, later_conflicts(one.g, one.lives), one.weights, 5);
        byte_count wrong = 0;
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            bool allows_more = false;
            std::vector<bool> reached(net.arcs.rows());
            if (net.end_of[u] != no_node) reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v) {
                if (v == u || one.weights[v] == 0 || net.begin_of[v] == no_node) continue;
                bool const is_allowed = reached[net.begin_of[v]];
                REQUIRE((is_allowed || !one.rule.gives(u, v)));
                if (is_allowed && !one.rule.gives(u, v) && one.lives.begins[v].size() == 1)
                    allows_more = true;
            }
            if (allows_more) wrong += one.weights[u];
        }
        REQUIRE(wrong <= net.loose);
        if (net.loose != 0) ++loose;
    }
    CHECK(loose > 20);
}

// --- frontiers ---------------------------------------------------------------------------------------------

namespace {

/// By position: what it leads to.
std::vector<std::vector<bool>> closure(dependence_graph const& g)
{
    std::vector<std::vector<bool>> leads(g.positions(), std::vector<bool>(g.positions()));
    for (std::size_t x = g.positions(); x-- != 0;)
        for (step_id y : g.after[x]) {
            leads[x][y] = true;
            for (std::size_t z = 0; z != g.positions(); ++z)
                if (leads[y][z]) leads[x][z] = true;
        }
    return leads;
}

frontier_rows frontiers_of(dependence_graph const& g, concurrent_lives const& lives,
                           std::vector<std::vector<bool>> const& leads, std::uint64_t most_visits)
{
    auto is_free = [&](buffer_id b, step_id x) {
        for (step_id end : lives.ends[b])
            if (!leads[end][x]) return false;
        return true;
    };
    return frontiers(
        g.before, g.after, lives, [](buffer_id) { return true; }, is_free, most_visits);
}

} // namespace

TEST_CASE("what comes after two branches begins where they meet")
{
    snapshot const p = sequence(5, 5, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s >= 3) sink.use(2);
        if (s == 3) sink.use(1);
        sink.def(s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = concurrent_lifetimes(p, g, 5, {0, 1, 2, 3, 4}, std::vector<value_role>(5));
    frontier_rows const found = frontiers_of(g, lives, closure(g), 100);
    CHECK(found.last_end[0] == no_step);
    CHECK(found.lowest[0].size() == 1);
    CHECK(found.lowest[0].front() == 3);
    CHECK(found.last_end[1] == 3);
    CHECK(found.lowest[1].empty());
    CHECK(found.lowest[2].empty()); // read by two that lead to nothing
}

TEST_CASE("frontiers say of every position whether it comes after all ends")
{
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(40),
                                                     .operands = 1 + roll.below(5),
                                                     .back = 4 * roll.below(3),
                                                     .early = 20,
                                                     .views = 30,
                                                     .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        auto const lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        auto const leads = closure(g);
        frontier_rows const found = frontiers_of(g, lives, leads, 1'000'000);
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            REQUIRE(found.is_cut[b] == 0);
            if (found.last_end[b] != no_step) REQUIRE(found.lowest[b].empty());
            for (step_id x = 0; x != g.positions(); ++x) {
                bool is_after = !lives.is_kept(b);
                for (step_id end : lives.ends[b]) is_after = is_after && leads[end][x];
                bool is_found = found.last_end[b] != no_step && leads[found.last_end[b]][x];
                for (step_id y : found.lowest[b]) is_found = is_found || y == x || leads[y][x];
                REQUIRE(is_found == is_after);
            }
            for (step_id x : found.lowest[b])
                for (step_id y : found.lowest[b]) REQUIRE(!leads[x][y]);
        }
    }
}

TEST_CASE("a buffer whose walks were cut is free behind its last end, or later")
{
    // 0 is read by 1 and 2; both lead to a long way of their own, and these meet at the end.
    snapshot const p = sequence(44, 44, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s > 2) sink.use(s - 2);
        if (s == 43) sink.use(s - 1);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    std::vector<buffer_id> all;
    for (buffer_id b = 0; b != 44; ++b) all.push_back(b);
    auto const lives = concurrent_lifetimes(p, g, 44, all, std::vector<value_role>(44));
    auto const leads = closure(g);
    frontier_rows const cut = frontiers_of(g, lives, leads, 5);
    CHECK(cut.is_cut[0] == 1);
    CHECK(cut.last_end[0] == lives.ends[0].back());
    CHECK(cut.lowest[0].empty());
    frontier_rows const whole = frontiers_of(g, lives, leads, 1000);
    CHECK(whole.is_cut[0] == 0);
    CHECK(whole.lowest[0].size() == 1);
    CHECK(whole.lowest[0].front() == 43);
    CHECK(whole.visits > cut.visits);
}

TEST_CASE("whichever end meets the others first is walked from, however far the others would lead")
{
    // 1 and 2 read 0; 1 leads through a thousand steps, 2 to the second of these at once.
    constexpr step_id n = 1000;
    snapshot const p = sequence(n, n, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s > 2) sink.use(s == 3 ? 1 : s - 1);
        if (s == n - 1) sink.use(2);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    std::vector<buffer_id> all;
    for (buffer_id b = 0; b != n; ++b) all.push_back(b);
    auto const lives = concurrent_lifetimes(p, g, n, all, std::vector<value_role>(n));
    auto is_free = [](buffer_id, step_id x) { return x == n - 1; };
    frontier_rows const found = frontiers(
        g.before, g.after, lives, [](buffer_id b) { return b == 0; }, is_free, n);
    CHECK(found.is_cut[0] == 0);
    CHECK(found.visits <= 40);
}

// --- resting flow ------------------------------------------------------------------------------------------

namespace {

using flow_along = detail::resting_flow;

csr_rows rows(std::vector<std::vector<node_id>> const& lists)
{
    csr_rows result;
    for (auto const& list : lists) {
        for (node_id item : list) result.append(item);
        result.close_row();
    }
    return result;
}

} // namespace

TEST_CASE("the last who follows takes along all, those before what they need")
{
    csr_rows const heads = rows({{1, 2}, {}, {}});
    flow_along flow(heads);
    flow.rest[0] = 10;
    flow.collect(1, 3);
    CHECK(flow.rest[1] == 3);
    flow.collect(2, 0);
    CHECK(flow.rest[2] == 7);
    CHECK(flow.rest[0] == 0);
}

TEST_CASE("what went elsewhere is taken back, and half of it comes along")
{
    csr_rows const heads = rows({{1, 2}, {3}, {}, {}});
    flow_along flow(heads);
    flow.rest[0] = 100;
    flow.collect(1, 0);
    flow.collect(2, 100);
    CHECK(flow.rest[2] == 100);
    flow.fetch(3, 10, 1000);
    CHECK(flow.rest[3] == 50);
    CHECK(flow.rest[2] == 50);
}

TEST_CASE("who searched in vain is dead, with all that could have led there")
{
    csr_rows const heads = rows({{1, 2}, {3}, {3}, {}, {}});
    flow_along flow(heads);
    flow.rest[2] = 1;
    flow.fetch(1, 1, 1000);
    CHECK(flow.is_dead(1));
    CHECK(flow.is_dead(0));
    CHECK(!flow.is_dead(2));
    flow.fetch(3, 5, 1000);
    CHECK(flow.rest[3] == 1);
    CHECK(flow.is_dead(3));
    CHECK(flow.is_dead(2));
    CHECK(!flow.is_dead(4));
}

TEST_CASE("a search that visits too much gives up, and nobody is dead")
{
    std::vector<std::vector<node_id>> chain;
    for (node_id x = 1; x != 1000; ++x) chain.push_back({x});
    chain.push_back({});
    csr_rows const heads = rows(chain);
    flow_along flow(heads);
    flow.rest[0] = 8;
    flow.fetch(999, 1, 1600);
    CHECK(flow.rest[999] == 0);
    CHECK(!flow.is_dead(999));
    CHECK(flow.visits <= 101);
    flow.fetch(999, 1, 160000);
    CHECK(flow.rest[999] == 4);
}

TEST_CASE("nothing is lost and nothing appears, and dead nodes are closed")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        node_id const n = 2 + roll.below(30);
        std::vector<std::vector<node_id>> lists(n);
        for (node_id x = 0; x != n; ++x)
            for (node_id y = x + 1; y != n; ++y)
                if (roll.below(5) == 0) lists[x].push_back(y);
        csr_rows const heads = rows(lists);
        flow_along flow(heads);
        byte_count total = 0, taken = 0;
        for (node_id x = 0; x != n; ++x) {
            byte_count const need = roll.below(20);
            flow.collect(x, need);
            flow.fetch(x, need, 100000);
            REQUIRE((flow.rest[x] >= need || flow.is_dead(x)));
            byte_count const served = smaller(flow.rest[x], need);
            flow.rest[x] -= served;
            taken += served;
            byte_count const more = roll.below(20);
            if (!flow.is_dead(x)) flow.rest[x] += more, total += more;
        }
        byte_count left = 0;
        for (node_id x = 0; x != n; ++x) {
            left += flow.rest[x];
            if (!flow.is_dead(x)) continue;
            REQUIRE(flow.rest[x] == 0);
            for (node_id t = 0; t != x; ++t)
                for (node_id y : lists[t])
                    if (y == x) REQUIRE(flow.is_dead(t));
        }
        REQUIRE(left + taken == total);
    }
}

} // namespace this_test
