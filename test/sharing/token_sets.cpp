// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/token_sets.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using table = std::vector<std::vector<bool>>;

/// Precedence by definition.
table closure_of(dependence_graph const& g)
{
    table before(g.positions(), std::vector<bool>(g.positions()));
    for (std::size_t y = 0; y != g.positions(); ++y)
        for (position_id x : g.before[y]) {
            before[x][y] = true;
            for (std::size_t a = 0; a != x; ++a)
                if (before[a][x]) before[a][y] = true;
        }
    return before;
}

using ranges = std::vector<token_range>;

std::vector<ranges> all_tokens(dependence_graph const& g)
{
    token_sets sets(g);
    std::vector<ranges> all;
    for (position_id y = 0; y != g.positions(); ++y) {
        sets.advance_to(y);
        all.emplace_back(sets.tokens().begin(), sets.tokens().end());
    }
    return all;
}

bool is_subset(ranges const& some, ranges const& of)
{
    return std::all_of(some.begin(), some.end(), [&](token_range s) {
        return std::any_of(of.begin(), of.end(),
                           [&](token_range r) { return r.first <= s.first && s.last <= r.last; });
    });
}

/// tokens(x) is a subset of tokens(y) if and only if x is y or comes before y.
void check_theorem(dependence_graph const& g)
{
    auto const all = all_tokens(g);
    auto const before = closure_of(g);
    for (std::size_t y = 0; y != all.size(); ++y) {
        REQUIRE(!all[y].empty());
        for (std::size_t i = 0; i != all[y].size(); ++i) {
            REQUIRE(all[y][i].first < all[y][i].last);
            if (i != 0) REQUIRE(all[y][i - 1].last < all[y][i].first);
        }
        for (std::size_t x = 0; x != all.size(); ++x)
            REQUIRE(is_subset(all[x], all[y]) == (x == y || before[x][y]));
    }
}

dependence_graph draw_dependences(random_source& pick, unsigned most)
{
    random_tasks_shape const shape{.tasks = 1 + pick.below(most),
                                   .operands = 1 + pick.below(5),
                                   .back = pick.below(3) == 0 ? 1 + pick.below(6) : 0,
                                   .edges = pick.below(60),
                                   .shuffled = pick.below(2) == 0};
    random_tasks const tasks = draw_tasks(pick, shape);
    constexpr dependence_options::position_order orders[] = {
        dependence_options::position_order::depth_first, dependence_options::position_order::breadth_first,
        dependence_options::position_order::as_listed};
    return dependences(tasks.program(), {.role = tasks.role, .order = orders[pick.below(3)]});
}

} // namespace

TEST_CASE("branches have tokens of their own, and a join has those of all branches")
{
    std::vector<std::vector<int>> const operands{{}, {0}, {1}, {0}, {3}, {2, 4}};
    auto const g = dependences(sequence(
        6, 6, [&](auto s) -> auto& { return operands[s]; }, [](std::uint32_t s) { return std::vector{s}; }));
    auto const all = all_tokens(g);
    std::vector<std::uint32_t> counts;
    for (auto const& set : all) {
        std::uint32_t count = 0;
        for (token_range r : set) count += r.last - r.first;
        counts.push_back(count);
    }
    CHECK(counts == std::vector<std::uint32_t>{1, 2, 3, 2, 3, 6});
    CHECK(all[5] == ranges{{0, 6}});
    CHECK(!is_subset(all[1], all[4]));
    CHECK(is_subset(all[3], all[5]));
}

TEST_CASE("the theorem holds on random graphs with edges without data and early reads, in any order")
{
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        check_theorem(draw_dependences(pick, seed % 50 == 0 ? 150 : 25));
    }
}

TEST_CASE("the theorem holds on every family of task graphs")
{
    for (auto name : family_names)
        for (auto order : {dependence_options::position_order::depth_first,
                           dependence_options::position_order::breadth_first}) {
            CAPTURE(name);
            check_theorem(dependences(draw_family(name, 300).program(), {.order = order}));
        }
}

TEST_CASE("before() decides precedence for ascending positions, with or without gaps")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const g = draw_dependences(pick, 40);
        auto const before = closure_of(g);
        token_sets sets(g);
        for (position_id y = 0; y != g.positions(); ++y) {
            if (pick.below(3) == 0) continue;
            for (position_id x = 0; x != y; ++x) REQUIRE(sets.before(x, y) == before[x][y]);
        }
        CHECK(sets.dropped_ranges() == 0);
    }
}

TEST_CASE("where branches join, their ranges become one")
{
    for (auto name : {"chain", "residual", "inception"}) {
        auto const g = dependences(draw_family(name, 400).program());
        std::size_t joins = 0;
        auto const all = all_tokens(g);
        for (std::size_t y = 0; y != all.size(); ++y) {
            CHECK(all[y].size() <= 2);
            if (g.before[y].size() < 2) continue;
            CHECK(all[y].size() == 1);
            ++joins;
        }
        CAPTURE(name);
        CHECK((joins == 0) == (name == std::string_view("chain")));
    }
}

TEST_CASE("with few ranges some are dropped, and before() is never true by mistake")
{
    std::uint64_t missed = 0, exact = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const g = draw_dependences(pick, 60);
        auto const before = closure_of(g);
        std::size_t const most = 1 + pick.below(6);
        token_sets sets(g, most);
        bool is_exact = true;
        for (position_id y = 0; y != g.positions(); ++y) {
            for (position_id x = 0; x != y; ++x) {
                bool const said = sets.before(x, y);
                REQUIRE((!said || before[x][y]));
                if (said != before[x][y]) is_exact = false, ++missed;
            }
            sets.advance_to(y);
            CHECK(sets.tokens().size() <= most);
            std::uint32_t const own = sets.token_of(y);
            CHECK(std::count_if(sets.tokens().begin(), sets.tokens().end(),
                                [&](token_range r) { return r.first <= own && own < r.last; }) == 1);
        }
        if (sets.dropped_ranges() == 0) REQUIRE(is_exact);
        exact += sets.dropped_ranges() == 0;
    }
    CHECK(missed != 0);
    CHECK(exact != 0);
}

TEST_CASE("the oldest ranges are dropped")
{
    // 0, 1 and 2 each begin a chain of their own; 3 has read all three.
    std::vector<std::vector<int>> const operands{{}, {}, {}, {0, 1, 2}, {}, {0}, {1}, {2}, {5}, {6}, {7}};
    auto const g = dependences(sequence(
                                   11, 11, [&](auto s) -> auto& { return operands[s]; },
                                   [](std::uint32_t s) { return std::vector{s}; }),
                               {.order = dependence_options::position_order::as_listed});
    token_sets exact(g);
    CHECK(exact.before(0, 3));
    CHECK(exact.tokens().size() == 4);
    token_sets sets(g, 2);
    CHECK(!sets.before(0, 3));
    CHECK(!sets.before(1, 3));
    CHECK(sets.before(2, 3));
    CHECK(sets.dropped_ranges() == 2);
    CHECK(sets.before(0, 5));
}

TEST_CASE("descending queries and graphs with an error are rejected")
{
    auto const g = dependences(draw_family("chain", 5).program());
    token_sets sets(g);
    CHECK(sets.before(1, 3));
    CHECK(sets.before(0, 3));
    CHECK_THROWS_WITH_AS((void)sets.before(0, 2), "sublet: positions must not descend between calls",
                         precondition_error);
    CHECK_THROWS_AS((void)sets.before(0, 5), precondition_error);
    CHECK_THROWS_AS(token_sets(g, 0), precondition_error);
    std::vector<std::vector<int>> const circle{{1}, {0}};
    auto const wrong = dependences(sequence(
        2, 2, [&](auto s) -> auto& { return circle[s]; }, [](std::uint32_t s) { return std::vector{s}; }));
    REQUIRE(!wrong);
    CHECK_THROWS_AS((void)token_sets(wrong), precondition_error);
}

TEST_CASE("a chain of a million steps, and a join of a million")
{
    auto const chain = dependences(draw_family("chain", 1'000'000).program());
    token_sets sets(chain);
    CHECK(sets.before(0, 999'999));
    CHECK(sets.tokens().size() == 1);

    constexpr std::uint32_t n = 300'000;
    auto const star = dependences(sequence(
        n + 2, n + 2,
        [](std::uint32_t s) {
            std::vector<value_id> all;
            for (value_id v = 0; s >= n && v != s; ++v) all.push_back(v);
            return all;
        },
        [](std::uint32_t s) { return std::vector{s}; }));
    token_sets into(star);
    CHECK(into.before(0, n + 1));
    CHECK(into.tokens().size() == 1);
}

// --- longest path forest -----------------------------------------------------------------------------------

namespace {

dependence_graph graph_of(std::vector<std::vector<int>> const& operands)
{
    auto const p = sequence(
        operands.size(), operands.size(), [&](auto s) -> auto& { return operands[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
    return dependences(p, {.order = dependence_options::position_order::as_listed});
}

} // namespace

TEST_CASE("the example of the header: of branches of equal length the first has the parent")
{
    CHECK(longest_path_forest(graph_of({{}, {0}, {1}, {0}, {3}, {2, 4}})) ==
          std::vector<token_range>{{5, 6}, {4, 6}, {3, 6}, {2, 3}, {1, 3}, {0, 6}});
}

TEST_CASE("the parent is the successor with the longest path")
{
    // 0 leads to 1, which has no successor, and to 2, which leads to 3
    CHECK(longest_path_forest(graph_of({{}, {0}, {0}, {2}})) ==
          std::vector<token_range>{{2, 3}, {3, 4}, {1, 3}, {0, 3}});
}

TEST_CASE("an empty graph and a single position")
{
    CHECK(longest_path_forest(graph_of({})).empty());
    CHECK(longest_path_forest(graph_of({{}})) == std::vector<token_range>{{0, 1}});
}

TEST_CASE("random graphs: the subtree of a position is all that reaches it by parents")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(40), .back = pick.below(10)});
        auto const g = dependences(tasks.program(), {.role = tasks.role});
        std::size_t const n = g.positions();
        sublet::table<position_id, position_id> parent(n, no_position);
        sublet::table<position_id, std::uint32_t> left(n, 0);
        for (std::size_t x = n; x-- != 0;)
            for (position_id y : g.after[x])
                if (parent[x] == no_position || left[y] > left[parent[x]]) {
                    parent[x] = y;
                    left[x] = left[y] + 1;
                }
        auto const forest = longest_path_forest(g);
        std::vector<bool> given(n);
        for (std::size_t x = 0; x != n; ++x) {
            REQUIRE(forest[x].first < n);
            REQUIRE(!given[forest[x].first]);
            given[forest[x].first] = true;
        }
        for (std::size_t y = 0; y != n; ++y)
            for (position_id x = 0; x != n; ++x) {
                position_id at = x;
                while (at != y && parent[at] != no_position) at = parent[at];
                bool const is_in = forest[y].first <= forest[x].first && forest[x].first < forest[y].last;
                REQUIRE(is_in == (at == y));
            }
    }
}

// --- token waitlist ----------------------------------------------------------------------------------------

TEST_CASE("buffers that wait for a token in the range are unblocked once")
{
    detail::token_waitlist waitlist(200, 4);
    waitlist.block(0, 3);
    waitlist.block(1, 199);
    waitlist.block(2, 3);
    std::vector<buffer_id> unblocked;
    auto up = [&](buffer_id b) { unblocked.push_back(b); };
    waitlist.unblock(4, 199, up);
    CHECK(unblocked.empty());
    waitlist.unblock(0, 4, up);
    CHECK(unblocked == std::vector<buffer_id>{2, 0});
    waitlist.unblock(0, 200, up);
    CHECK(unblocked == std::vector<buffer_id>{2, 0, 1});
    waitlist.block(0, 64);
    waitlist.unblock(64, 65, up);
    CHECK(unblocked.size() == 4);
}

TEST_CASE("random waiters, for one token and for many thousands")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const tokens = 1 + pick.below(seed % 3 == 0 ? 3 : seed % 3 == 1 ? 300 : 20'000);
        std::size_t const buffers = 1 + pick.below(50);
        detail::token_waitlist waitlist(tokens, buffers);
        std::vector<std::uint32_t> token_of(buffers, no_node);
        for (unsigned i = 0; i != 200; ++i) {
            auto const b = pick.below(static_cast<unsigned>(buffers));
            if (token_of[b] == no_node) waitlist.block(b, token_of[b] = pick.below(tokens));
            std::uint32_t const first = pick.below(tokens);
            std::uint32_t const last = first + pick.below(pick.below(2) ? 3 : tokens - first + 1);
            std::vector<buffer_id> unblocked, expected;
            waitlist.unblock(first, last, [&](buffer_id u) { unblocked.push_back(u); });
            for (buffer_id u = 0; u != buffers; ++u)
                if (first <= token_of[u] && token_of[u] < last) {
                    expected.push_back(u);
                    token_of[u] = no_node;
                }
            std::sort(unblocked.begin(), unblocked.end());
            REQUIRE(unblocked == expected);
        }
    }
}

// --- token set store ---------------------------------------------------------------------------------------

TEST_CASE("random sets stay unchanged until their last reader")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        constexpr std::uint32_t n = 60;
        csr_rows<position_id, position_id> after;
        for (position_id x = 0; x != n; ++x) {
            for (unsigned i = pick.below(4); i != 0; --i) after.append(n - 1);
            after.close_row();
        }
        detail::token_set_store deposits(after);
        std::vector<std::vector<token_range>> left(n);
        std::vector<std::size_t> readers_left(n);
        auto check = [&] {
            for (position_id x = 0; x != n; ++x)
                if (readers_left[x] != 0)
                    REQUIRE(std::vector<token_range>(deposits[x].begin(), deposits[x].end()) == left[x]);
        };
        for (position_id x = 0; x != n; ++x) {
            CHECK(deposits[x].empty());
            if (pick.below(3) != 0) {
                for (unsigned i = 1 + pick.below(20); i != 0; --i)
                    left[x].push_back({pick.below(100), pick.below(100)});
                deposits.store(x, left[x]);
            }
            readers_left[x] = after[x].size();
            check();
            for (position_id from = 0; from <= x; ++from)
                if (readers_left[from] != 0 && pick.below(4) == 0) {
                    --readers_left[from];
                    deposits.drop_reader(from);
                }
            check();
        }
    }
}

} // namespace this_test
