// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/interference.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

using ids = std::vector<std::uint32_t>;
using ranges = std::vector<live_range>;

/// Compares all queries for each pair with `expected`.
template <class Result>
static void is_like(Result const& found, truth_table const& expected)
{
    REQUIRE(found);
    REQUIRE(found.values() == expected.size());
    for (value_id u = 0; u != expected.size(); ++u) {
        CAPTURE(u);
        std::vector<bool> asked(expected.size()), listed(expected.size());
        for (value_id v = 0; v != expected.size(); ++v) asked[v] = found.are_adjacent(u, v);
        for (value_id v : found.neighbors(u)) listed[v] = true;
        CHECK(asked == expected[u]);
        CHECK(listed == expected[u]);
        CHECK(found.degree(u) == static_cast<std::size_t>(std::count(listed.begin(), listed.end(), true)));
    }
}

static std::uint64_t edges_in(truth_table const& expected)
{
    std::uint64_t sum = 0;
    for (auto const& row : expected)
        sum += static_cast<std::uint64_t>(std::count(row.begin(), row.end(), true));
    return sum / 2;
}

/// As a graph and as a matrix, with exactly the budget that it needs, and with one byte less.
template <class... Source>
static void finds(truth_table const& expected, Source const&... source)
{
    auto const graph = interference(source...);
    is_like(graph, expected);
    CHECK(graph.edges() == edges_in(expected));
    CHECK(graph.bytes() == 4 * (expected.size() + 1) + 8 * graph.edges());
    CHECK(interference(source..., {.budget = graph.bytes()}) == graph);
    auto const refused = interference(source..., {.budget = graph.bytes() - 1});
    REQUIRE(!refused);
    CHECK(refused.error() ==
          counterexample{fault::over_budget,
                         counterexample::place{.end = graph.bytes(), .needed = graph.bytes() - 1}});
    CHECK(refused.edges() == graph.edges());
    CHECK(refused.bytes() == graph.bytes());

    auto const matrix = interference<interference_matrix>(source...);
    is_like(matrix, expected);
    CHECK(matrix.bytes() == 8 * expected.size() * ((expected.size() + 63) / 64));
    CHECK(interference<interference_matrix>(source..., {.budget = matrix.bytes()}));
    if (matrix.bytes() == 0) return;
    auto const none = interference<interference_matrix>(source..., {.budget = matrix.bytes() - 1});
    CHECK(!none);
    CHECK(none.bytes() == matrix.bytes());
}

static snapshot line(std::vector<std::pair<ids, ids>> const& steps, std::size_t values)
{
    return flow(
        steps.size(), values, [&](auto s) { return s + 1 == steps.size() ? ids{} : ids{s + 1}; },
        [&](auto s) -> auto& { return steps[s].first; }, [&](auto s) -> auto& { return steps[s].second; });
}

static constexpr auto no_successors = [](node_id) { return ids{}; };

TEST_CASE("an output interferes with the inputs of its step, which it must not overwrite")
{
    enum { a, b, c };
    auto const graph = interference(line({{{}, {a}}, {{}, {b}}, {{a, b}, {c}}, {{b, c}, {}}}, 3));
    CHECK(graph.edges() == 3);
    CHECK(graph.are_adjacent(a, c));

    auto early = [](auto step, auto& sink) {
        if (step != 0) sink.use_early(step - 1);
        sink.def(+step);
    };
    auto next = [](auto s) { return s == 2 ? ids{} : ids{s + 1}; };
    CHECK(interference(flow(3, 3, next, early)).edges() == 0);
}

TEST_CASE("values live where the program begins interfere, although they are read early immediately")
{
    auto reads = [](auto, auto& sink) {
        for (value_id v : {0u, 1u}) sink.use_early(v);
        for (value_id v : {2u, 3u}) sink.use(v);
        sink.next_step();
        sink.def(4u);
    };
    CHECK(interference(flow(1, 5, no_successors, reads)).edges() == 6);
}

TEST_CASE("values that are live in different branches only do not interfere")
{
    //     0: def a, b      1: use a, def c      2: use b, def d      3: use phi e(c, d)
    enum { a, b, c, d, e };
    auto const diamond = flow(
        4, 5,
        [](node_id n) {
            return n == 0 ? ids{1, 2} : n == 3 ? ids{} : ids{3};
        },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(a), s.next_step(), s.def(b);
            if (n == 1) s.use(a), s.def(c);
            if (n == 2) s.use(b), s.def(d);
            if (n == 3) {
                s.use_at_end_of(1, c);
                s.use_at_end_of(2, d);
                s.def(e);
                s.next_step();
                s.use(e);
            }
        });
    auto const graph = interference(diamond);
    CHECK(graph.neighbors(a).size() == 2); // b, and c, which is computed from it
    CHECK(graph.are_adjacent(a, b));
    CHECK(graph.are_adjacent(a, c));
    CHECK(graph.are_adjacent(b, d));
    CHECK(graph.edges() == 3);
    CHECK(interference(diamond, liveness(diamond)) == graph);
}

TEST_CASE(
    "an unused result interferes with values live after its step, and results of one step with each other")
{
    enum { lives_on, dead, other };
    auto const graph = interference(line({{{}, {lives_on}}, {{}, {dead, other}}, {{lives_on}, {}}}, 3));
    CHECK(graph.edges() == 3);
}

TEST_CASE("values live where the program begins interfere, although they have no def")
{
    CHECK(interference(line({{{0, 1}, {}}, {{1, 2}, {}}}, 3)).edges() == 3);
    CHECK(interference(line({{{0, 1}, {}}, {{1}, {2}}, {{2}, {}}}, 3)).edges() == 2);
}

TEST_CASE("the minimal program is accepted")
{
    archetype::program const chain(5);
    auto const graph = interference(chain); // each step uses the result of the one before
    CHECK(graph.edges() == 4);
    CHECK(interference<interference_matrix>(chain).degree(2) == 2);
}

TEST_CASE("without values there is no interference")
{
    finds({}, snapshot{});
    finds({}, 0u, [](auto) { return live_range{}; });
    finds(all_false(2, 2), 2u, [](auto, auto) { return false; });
    CHECK(interference_graph{}.edges() == 0);
    CHECK(interference_matrix{});
}

TEST_CASE("a result that exceeds the budget reports its size, and throws if its edges are queried")
{
    auto const graph = interference(100'000, [](auto) { return live_range{0, 1}; });
    CHECK(!graph);
    CHECK(graph.edges() == 4'999'950'000);
    CHECK(graph.bytes() == 39'999'600'000 + 400'004);
    CHECK_THROWS_AS((void)graph.graph(), precondition_error);
    CHECK_THROWS_AS((void)graph.degree(0), precondition_error);
    CHECK_THROWS_AS((void)graph.neighbors(0), precondition_error);
    CHECK_THROWS_AS((void)graph.are_adjacent(0, 1), precondition_error);
    CHECK(!interference(100'000, [](auto) { return live_range{0, 1}; }, {.budget = no_size}));

    auto const matrix = interference<interference_matrix>(100'000, [](auto) { return live_range{0, 1}; });
    CHECK(!matrix);
    CHECK(matrix.bytes() == 100'000 * 1563 * byte_count{8});
    CHECK_THROWS_AS((void)matrix.degree(0), precondition_error);
    CHECK_THROWS_AS((void)matrix.are_adjacent(0, 1), precondition_error);
}

TEST_CASE("the edges of a straight line are counted without being listed, with any inputs")
{
    // 40000 inputs that are used at the end, and 40000 values in between: 3.2e9 pairs.
    std::size_t const half = 40'000;
    auto const p = flow(1, 2 * half, no_successors, [&](node_id, effect_sink& sink) {
        for (std::size_t s = 0; s != half; sink.next_step()) sink.def(half + s++);
        for (std::size_t v = 0; v != 2 * half; ++v) sink.use(v);
    });
    CHECK(interference(p).edges() == std::uint64_t{2 * half} * (2 * half - 1) / 2);
}

TEST_CASE("live sets of another program are rejected")
{
    auto const p = line({{{}, {0}}}, 1);
    CHECK_THROWS_AS((void)interference(p, liveness(line({{{}, {0}}}, 2))), precondition_error);
    CHECK_THROWS_AS((void)interference(p, liveness(line({{{}, {0}}, {{}, {}}}, 1))), precondition_error);
    CHECK_THROWS_AS((void)interference(p, live_sets{}), precondition_error);
}

TEST_CASE("random control flow: two values interfere if and only if they occupy one step")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        flow_limits const limits{.nodes = 9, .values = 9};
        auto const p = (seed % 3 == 0 ? draw_ssa(pick, limits) : draw_flow(pick, limits)).program();
        finds(flow_oracle(p).interference(), p);
    }
}

TEST_CASE("more values that are written again than fit one stripe of bits")
{
    for (unsigned seed = 0; seed != 6; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const values = 150;
        auto const p = flow(1, values, no_successors, [&](node_id, effect_sink& s) {
            for (int step = 0; step != 200; ++step, s.next_step()) {
                for (int k = 0; k != 3; ++k) s.def(pick.below(values));
                for (int k = 0; k != 2; ++k) s.use(pick.below(values));
            }
        });
        auto const expected = flow_oracle(p).interference();
        finds(expected, p);                              // many values per stripe
        auto const few = interference(p, {.budget = 1}); // few
        CHECK(few.edges() == edges_in(expected));
    }
}

TEST_CASE("live ranges that overlap interfere; those that touch, and empty ones, do not")
{
    ranges const lives = {{0, 2}, {2, 4}, {1, 3}, {3, 3}, {1, 1}};
    auto const graph = interference(lives.size(), [&](auto v) { return lives[v]; });
    CHECK(graph.edges() == 2);
    CHECK(graph.are_adjacent(0, 2));
    CHECK(graph.are_adjacent(1, 2));
    CHECK(interference(3, archetype::lives{}).edges() == 0);
}

TEST_CASE("random live ranges, with holes or without, and the relation itself: the same as testing all pairs")
{
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::vector<ranges> lives(pick.below(seed % 10 == 0 ? 90 : 12));
        for (ranges& all : lives)
            for (std::uint32_t at = pick.below(12), k = pick.below(seed % 2 == 0 ? 2 : 5); k != 0; --k) {
                position_id const last = at + pick.below(6);
                all.push_back({at, last});
                at += pick.below(8); // may overlap, touch, or leave a hole
            }
        auto overlap = [&](value_id u, value_id v) {
            for (live_range a : lives[u])
                for (live_range b : lives[v])
                    if (overlaps(a, b)) return true;
            return false;
        };
        truth_table expected = all_false(lives.size(), lives.size());
        for (value_id u = 0; u != lives.size(); ++u)
            for (value_id v = 0; v != lives.size(); ++v) expected[u][v] = u != v && overlap(u, v);
        finds(
            expected, lives.size(), [&](auto v) -> auto& { return lives[v]; });
        finds(expected, lives.size(), overlap);
        if (seed % 2 == 0)
            finds(expected, lives.size(),
                  [&](auto v) { return lives[v].empty() ? live_range{} : lives[v][0]; });
    }
}

TEST_CASE("live ranges of a value that do not ascend are rejected")
{
    std::vector<ranges> const lives = {{{0, 9}}, {{4, 6}, {1, 2}}};
    auto of = [&](auto v) { return std::span<live_range const>(lives[v]); };
    CHECK_THROWS_WITH_AS((void)interference(2, of), "sublet: the live ranges of a value do not ascend",
                         precondition_error);
}

TEST_CASE("a relation is called once per pair, the lower index first, even if the edges exceed the budget")
{
    for (byte_count budget : {byte_count{0}, byte_count{40}, byte_count{1000}}) {
        std::vector<std::pair<int, int>> asked;
        auto const graph =
            interference(4, [&](int u, int v) { return asked.emplace_back(u, v), true; }, {.budget = budget});
        CHECK(bool{graph} == (budget == 1000));
        CHECK(graph.edges() == 6);
        CHECK(asked == std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
    }
}

// --- interference graph ------------------------------------------------------------------------------------

using pairs = std::set<std::pair<value_id, value_id>>;

namespace {

struct meeting {
    std::vector<value_id> starting, active;
};

struct meetings {
    std::vector<meeting> all;
    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        for (meeting const& m : all)
            add_conflicts({m.starting.data(), m.starting.size()}, {m.active.data(), m.active.size()});
    }
    pairs met() const
    {
        pairs result;
        for (meeting const& m : all)
            for (value_id u : m.starting)
                for (std::vector<value_id> const* others : {&m.starting, &m.active})
                    for (value_id v : *others)
                        if (u != v) result.insert(std::minmax(u, v));
        return result;
    }
};

/// Values that start and end; on average one in `again` starts again, none if that is 0.
meetings draw_walk(random_source& pick, std::uint32_t values, std::uint32_t max_active, std::uint32_t again)
{
    meetings result;
    std::vector<value_id> active, ended;
    for (value_id next = 0; next < values;) {
        meeting m;
        for (std::uint32_t k = 1 + pick.below(2); k != 0 && next < values; --k) m.starting.push_back(next++);
        if (again != 0 && !ended.empty() && pick.below(again) == 0) {
            std::swap(pick.one_of(ended), ended.back());
            m.starting.push_back(ended.back());
            ended.pop_back();
        }
        m.active = active;
        active.insert(active.end(), m.starting.begin(), m.starting.end());
        while (active.size() > max_active) {
            std::swap(pick.one_of(active), active.back());
            ended.push_back(active.back());
            active.pop_back();
        }
        result.all.push_back(m);
    }
    return result;
}

template <class Result>
pairs listed(Result const& result)
{
    pairs all;
    bool is_ascending = true, queries_agree = true;
    for (value_id u = 0; u != result.values(); ++u) {
        value_id least = 0;
        for (value_id v : result.neighbors(u)) {
            is_ascending = is_ascending && v >= least;
            least = v + 1;
            queries_agree = queries_agree && result.are_adjacent(u, v) && result.are_adjacent(v, u);
            all.insert(std::minmax(u, v));
        }
    }
    CHECK(is_ascending);
    CHECK(queries_agree);
    return all;
}

} // namespace

TEST_CASE("a graph answers queries for neighbours, degrees and pairs")
{
    interference_graph const g(as_graph(3, [](auto v) { return v == 1 ? ids{0, 2} : ids{1}; }));
    CHECK(g);
    CHECK(g.values() == 3);
    CHECK(g.edges() == 2);
    CHECK(g.bytes() == 32);
    CHECK(g.degree(1) == 2);
    CHECK(g.are_adjacent(0, 1));
    CHECK_FALSE(g.are_adjacent(0, 2));
    CHECK_FALSE(g.are_adjacent(1, 1));
    CHECK(listed(g) == pairs{{0, 1}, {1, 2}});
}

TEST_CASE("a matrix answers queries for neighbours, degrees and pairs, in the first and last word of a row")
{
    interference_matrix m(130, 1 << 20);
    CHECK(m.bytes() == 130 * 3 * 8);
    pairs const expected{{0, 63}, {0, 64}, {5, 129}, {127, 128}, {64, 129}};
    for (auto [u, v] : expected) m.connect(u, v);
    CHECK(listed(m) == expected);
    CHECK(m.degree(0) == 2);
    CHECK(m.degree(129) == 2);
    CHECK(m.degree(1) == 0);
    CHECK_FALSE(m.are_adjacent(0, 129));
}

TEST_CASE("bytes are counted up to 64 bits, and no graph has more edges than its rows can count")
{
    CHECK(interference_graph::bytes_of(0, 0) == 4);
    CHECK(interference_graph::bytes_of(9, 5) == 80);
    CHECK(interference_graph::bytes_of(no_value, std::uint64_t{1} << 62) == no_size);
    CHECK(interference_graph::would_fit(9, 5, 80));
    CHECK_FALSE(interference_graph::would_fit(9, 5, 79));
    std::uint64_t const most = (std::uint64_t{1} << 31) - 1; // twice that is 2^32 - 2
    CHECK(interference_graph::would_fit(9, most, no_size));
    CHECK_FALSE(interference_graph::would_fit(9, most + 1, no_size));
}

TEST_CASE("a matrix of more values than there are ids is rejected, even if its size wraps round")
{
    std::size_t const values = std::size_t{1} << 40;
    CHECK_THROWS_AS(interference_matrix(values, no_limit), precondition_error);
    CHECK(!interference_matrix(no_value - 1, 1 << 20));
}

TEST_CASE(
    "random walks: each pair is found once, however often it is reported, and counted beyond the budget")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const max_active = 1 + pick.below(seed % 2 == 0 ? 4 : 40); // sparse, or dense
        meetings const walk = draw_walk(pick, pick.below(seed % 4 == 0 ? 900 : 90), max_active, seed % 3);
        std::size_t values = 0;
        for (meeting const& m : walk.all)
            for (value_id v : m.starting) values = std::max<std::size_t>(values, v + 1);
        pairs const expected = walk.met();
        byte_count const bytes = interference_graph::bytes_of(values, expected.size());

        CHECK(listed(detail::matrix_from_conflicts(values, 1 << 20, walk)) == expected);
        interference_graph const graph = detail::graph_from_conflicts(values, 1 << 20, walk);
        CHECK(graph.edges() == expected.size());
        CHECK(graph.bytes() == bytes);
        CHECK(listed(graph) == expected);
        CHECK(detail::graph_from_conflicts(values, bytes, walk) == graph);
        for (byte_count budget : {byte_count{0}, bytes / 2, bytes - 1}) {
            interference_graph const refused = detail::graph_from_conflicts(values, budget, walk);
            CHECK(!refused);
            CHECK(refused.edges() == expected.size());
        }
    }
}

} // namespace this_test
