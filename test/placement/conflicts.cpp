// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/concurrent.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

concurrent_lives lives_of(std::vector<std::vector<step_id>> const& begins, step_id positions)
{
    concurrent_lives lives;
    lives.positions = positions;
    for (auto const& row : begins) {
        for (step_id at : row) lives.begins.append(at);
        lives.begins.close_row();
        lives.ends.append(positions);
        lives.ends.close_row();
    }
    return lives;
}

using members = std::vector<buffer_id>;

} // namespace

TEST_CASE("two conflict if one begins in a range of the other, and positions without a begin are left out")
{
    // a begins at 0 and forbids [0, 1) and [3, 4), b begins at 1 and forbids [1, 4), c begins at 3
    auto const lives = lives_of({{0}, {1}, {3}}, 6);
    live_range_lists const lists{
        live_range_lists::source::from_liveness, 6, {0, 2, 3, 4}, {{0, 1}, {3, 4}, {1, 4}, {3, 5}}};
    auto const all = conflicts_among(members{0, 1, 2}, lives, lists);
    CHECK(all.positions() == 3);
    CHECK(!all.conflict(0, 1));
    CHECK(all.conflict(0, 2));
    CHECK(all.conflict(2, 0));
    CHECK(all.conflict(1, 2));
    auto const without_b = conflicts_among(members{0, 2}, lives, lists);
    CHECK(without_b.ranges[0].size() == 1); // the hole is gone with who began in it
    CHECK(without_b.conflict(0, 1));
}

TEST_CASE("who is given begins before all others and so conflicts with all others that are given")
{
    auto const lives = lives_of({{}, {}, {0}, {2}}, 3);
    live_range_lists const lists{
        live_range_lists::source::from_liveness, 3, {0, 1, 2, 3, 4}, {{0, 1}, {0, 3}, {0, 3}, {2, 3}}};
    auto const all = conflicts_among(members{0, 1, 2, 3}, lives, lists);
    CHECK(all.conflict(0, 1));
    CHECK(all.conflict(0, 2));
    CHECK(!all.conflict(0, 3));
    CHECK(all.conflict(1, 3));
    CHECK(all.ranges[1].size() == 1);
}

TEST_CASE("conflicts are the rule's for random programs and some of their buffers, with several begins, too")
{
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const tasks = draw_tasks(roll, {.tasks = 2 + roll.below(20), .views = 20 * roll.below(3)});
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        sharing_rule const rule(tasks);
        std::vector<buffer_id> buffer_of(tasks.values());
        std::vector<value_id> root;
        for (value_id v = 0; v != tasks.values(); ++v)
            if (rule.root[v] == v) root.push_back(v);
        for (value_id v = 0; v != tasks.values(); ++v)
            for (buffer_id b = 0; b != root.size(); ++b)
                if (root[b] == rule.root[v]) buffer_of[v] = b;
        auto const lives = concurrent_lifetimes(p, g, root.size(), buffer_of, tasks.role);
        members some;
        for (buffer_id b = 0; b != root.size(); ++b)
            if (roll.below(4) != 0) some.push_back(b);
        auto const among = conflicts_among(some, lives, later_conflicts(g, lives).of);
        REQUIRE(among.buffers() == some.size());
        REQUIRE(among.positions() <= some.size() + g.positions());
        for (buffer_id i = 0; i != some.size(); ++i)
            for (buffer_id j = 0; j != i; ++j)
                REQUIRE(among.conflict(i, j) != rule.may_share(root[some[i]], root[some[j]]));
    }
}

} // namespace this_test
