// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>

#include "../dice.hpp"
#include "../position_closure.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using ranges = std::vector<live_range>;

TEST_CASE("what is taken away lies behind, and what touches joins")
{
    ranges now{{0, 4}, {6, 9}, {11, 12}}, scratch;
    ranges const others{{3, 7}, {8, 12}};
    detail::intersect_behind(now, 2, others, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}, {11, 12}});
    detail::intersect_behind(now, 8, ranges{{8, 9}}, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}});
    detail::intersect_behind(now, 9, {}, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}});
    detail::intersect_behind(now, 0, {}, scratch);
    CHECK(now.empty());
}

TEST_CASE("a position does not reach those after it that edges do not lead to")
{
    int forgotten = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(40), .back = seed % 9});
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        auto const n = static_cast<step_id>(g.positions());
        position_closure const closure(g);
        std::vector<step_id> next; // of interest are some of them
        for (step_id p = n + 1; p-- != 0;) next.push_back(p == n || roll.below(3) == 0 ? p : next.back());
        for (std::size_t i = 0; i != next.size() / 2; ++i) std::swap(next[i], next[n - i]);
        bool const keep_all = seed % 2 == 1;
        bool const is_tight = seed % 4 >= 2;
        detail::range_sets sets(n, is_tight ? 20 + roll.below(60) : 1'000'000);
        step_id expected = n, stop = seed % 5 == 0 ? roll.below(n) : 0;
        detail::find_unreached(g, next, sets, keep_all, [&](step_id t, ranges const& now, step_id known) {
            REQUIRE(t == --expected);
            CHECK((known == no_step || is_tight));
            forgotten += known != no_step;
            for (live_range r : now) REQUIRE((next[r.first] == r.first && next[r.last] == r.last));
            for (std::size_t i = 1; i < now.size(); ++i) REQUIRE(now[i - 1].last < now[i].first);
            for (step_id p = t + 1; p != n; ++p) {
                bool is_in = false;
                for (live_range r : now) is_in = is_in || contains(r, p);
                if (next[p] == p && p < known) REQUIRE(is_in == !closure.before(t, p));
                if (next[p] == p) REQUIRE((is_in || closure.before(t, p)));
            }
            return t != stop;
        });
        CHECK(expected == stop);
        if (keep_all && stop == 0 && n > 1) CHECK(sets[n - 1].size() == 0);
    }
    CHECK(forgotten > rounds(100));
}

} // namespace this_test
