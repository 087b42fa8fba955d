// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/giving_network.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

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

} // namespace this_test
