// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_pipeline.hpp>
#include <sublet/ordering/detail/series_parallel.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<value_id>>;

struct drawn_tasks {
    rows uses, defs;
    std::vector<byte_count> bytes;
    std::vector<value_role> role;

    order_graph graph(std::vector<node_id> order = {}) const
    {
        plan_options options{.bytes = bytes, .role = role};
        options.order = std::move(order);
        return order_graph_of(sequence(
                                  defs.size(), bytes.size(), [&](step_id s) { return uses[s]; },
                                  [&](step_id s) { return defs[s]; }),
                              options);
    }
};

/// Each edge is a value. Edges are replaced by two in series, or by two in parallel and one in series, until
/// there are enough tasks; then tasks on a branch read what an earlier task of the same branch made, or get
/// scratch, given and kept values.
drawn_tasks draw_series_parallel(random_source& pick, std::uint32_t tasks)
{
    struct edge {
        std::uint32_t from, to;
    };
    std::vector<edge> edges{{0, 1}};
    std::uint32_t count = 2;
    while (count < tasks) {
        std::uint32_t const i = pick.below(static_cast<std::uint32_t>(edges.size()));
        edge const whole = edges[i];
        edges[i] = {whole.from, count};
        edges.push_back({count, whole.to});
        ++count;
        if (pick.below(5) < 2) edges.push_back(whole); // parallel to both
    }
    // A topological order of the tasks: numbers may descend along an edge.
    std::vector<std::uint32_t> waits(count, 0), place(count, 0), ready;
    for (edge e : edges) ++waits[e.to];
    for (std::uint32_t t = 0; t != count; ++t)
        if (waits[t] == 0) ready.push_back(t);
    std::uint32_t placed = 0;
    while (!ready.empty()) {
        std::swap(pick.one_of(ready), ready.back());
        std::uint32_t const t = ready.back();
        ready.pop_back();
        place[t] = placed++;
        for (edge e : edges)
            if (e.from == t && --waits[e.to] == 0) ready.push_back(e.to);
    }
    drawn_tasks result{rows(count), rows(count), {}, {}};
    std::uint32_t const most = pick.below(3) == 0 ? 1 : 40;
    auto add_value = [&](value_role role) {
        result.bytes.push_back(pick.below(12) == 0 ? 0 : 1 + pick.below(most));
        result.role.push_back(role);
        return value_id::of(result.bytes.size() - 1);
    };
    for (edge e : edges) {
        value_id const v = add_value(value_role::intermediate);
        result.defs[place[e.from]].push_back(v);
        result.uses[place[e.to]].push_back(v);
    }
    for (std::uint32_t t = 0; t != count; ++t) {
        if (pick.below(4) == 0) result.defs[t].push_back(add_value(value_role::intermediate)); // scratch
        if (pick.below(8) == 0) result.defs[t].push_back(add_value(value_role::output));
        if (pick.below(8) == 0) result.uses[t].push_back(add_value(value_role::input));
    }
    return result;
}

/// Each task makes one value, read by one other of the next `reach`; or kept, `kept` times of 10.
drawn_tasks draw_trees(random_source& pick, std::uint32_t tasks, std::uint32_t reach, std::uint32_t kept)
{
    drawn_tasks result{rows(tasks), rows(tasks), {}, {}};
    for (std::uint32_t t = 0; t != tasks; ++t) {
        bool const is_kept = pick.below(10) < kept;
        result.bytes.push_back(1 + pick.below(100));
        result.role.push_back(is_kept ? value_role::output : value_role::intermediate);
        result.defs[t].push_back(t);
        if (!is_kept && t + 1 != tasks)
            result.uses[t + 1 + pick.below(std::min(reach, tasks - t - 1))].push_back(t);
    }
    return result;
}

/// The other way around: what was made is read, and what was read is made, and what was kept is given.
drawn_tasks turned(drawn_tasks const& g)
{
    auto lists = [](rows const& all, value_id v) {
        return std::any_of(all.begin(), all.end(), [&](auto const& row) {
            return std::find(row.begin(), row.end(), v) != row.end();
        });
    };
    std::size_t const tasks = g.uses.size();
    drawn_tasks result{rows(tasks), rows(tasks), g.bytes, g.role};
    for (std::size_t t = 0; t != tasks; ++t) {
        for (value_id v : g.uses[t]) result.defs[tasks - 1 - t].push_back(v);
        for (value_id v : g.defs[t]) {
            bool const is_scratch = !lists(g.uses, v) && g.role[v] == value_role::intermediate;
            (is_scratch ? result.defs : result.uses)[tasks - 1 - t].push_back(v);
        }
    }
    for (value_role& role : result.role)
        if (role != value_role::intermediate)
            role = role == value_role::input ? value_role::output : value_role::input;
    return result;
}

/// An order of runs is one of nodes, with the same peak.
void check_contracted(order_graph const& g, contracted_graph const& c)
{
    std::vector<node_id> const some = topological(c.graph);
    REQUIRE(is_order(c.graph, some));
    REQUIRE(is_order(g, c.expanded(some)));
    CHECK(peak_of(g, c.expanded(some)) == peak_of(c.graph, some));
}

} // namespace

TEST_CASE("branches are merged by what they free: the largest fall from a peak first")
{
    //  0 ──► 1 ──► 2 ──► 5       1 rises by 50 and 2 leaves 5, 3 rises by 20 and 4 leaves 10
    //  └───► 3 ──► 4 ────┘
    drawn_tasks const tasks{{{}, {0}, {2}, {1}, {4}, {3, 5}},
                            {{0, 1}, {2}, {3}, {4}, {5}, {}},
                            {1, 1, 50, 5, 20, 10},
                            std::vector<value_role>(6, value_role::intermediate)};
    order_graph const g = tasks.graph();
    contracted_graph const c = contracted(g);
    CHECK(c.is_path);
    CHECK(c.expanded(any_order(c.graph)) == std::vector<node_id>{0, 1, 2, 3, 4, 5});
    order_graph const other = tasks.graph({0, 3, 4, 1, 2, 5});
    CHECK(contracted(other).expanded(any_order(contracted(other).graph)) ==
          std::vector<node_id>{0, 1, 2, 3, 4, 5});
    node_order const found = order(other, {.work = 0});
    CHECK(found.is_optimal());
    CHECK(found.peak == 56);
    CHECK(order(other, node_order::method::series_parallel).is_optimal());
}

TEST_CASE("a buffer that two branches touch keeps them apart, unless it is live throughout")
{
    //  0 ──► 1 ──► 3     both branches read what 0 makes
    //  └───► 2 ────┘
    drawn_tasks tasks{{{}, {0}, {0}, {1, 2}},
                      {{0}, {1}, {2}, {}},
                      {8, 8, 8},
                      std::vector<value_role>(3, value_role::intermediate)};
    CHECK_FALSE(contracted(tasks.graph()).is_path);
    CHECK(contracted(tasks.graph()).graph.nodes() == 4);
    tasks.uses[3] = {0, 1, 2};
    CHECK(contracted(tasks.graph()).is_path);
}

TEST_CASE("where the first node needs more than elsewhere, it is left to the search")
{
    // 0 rises by 50 and leaves 10, 1 by 20 and leaves 10; nothing reads 4, which is given and live while the
    // first of them runs
    drawn_tasks tasks{{{}, {}, {0, 2}},
                      {{0, 1}, {2, 3}, {}},
                      {10, 40, 10, 10, 100},
                      std::vector<value_role>(5, value_role::intermediate)};
    CHECK(contracted(tasks.graph()).is_path);
    CHECK(order(tasks.graph()).peak == 50);
    tasks.role[4] = value_role::input;
    CHECK(contracted(tasks.graph()).graph.nodes() == 3);
    CHECK(order(tasks.graph()).peak == 120);
}

TEST_CASE("an order of runs reaches the least peak of a small graph, whatever its steps touch")
{
    std::size_t before = 0, after = 0;
    unsigned const graphs = for_small_graphs(3000, [&](order_graph const& g, random_source& pick) {
        contracted_graph const c = pick.below(16) == 0 ? contracted(g, pick.below(3)) : contracted(g);
        check_contracted(g, c);
        CHECK(min_peak_of(whole_window(c.graph)) == min_peak_of(whole_window(g)));
        before += g.nodes();
        after += c.graph.nodes();
    });
    if (graphs < 1000) return;
    CHECK(after < before);
}

TEST_CASE("a small series-parallel graph, or trees, become a path of least peak")
{
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_tasks const tasks = seed % 2 == 0 ? draw_series_parallel(pick, 2 + pick.below(8))
                                                : draw_trees(pick, 2 + pick.below(8), 5, 3);
        order_graph const g = (seed % 4 == 3 ? turned(tasks) : tasks).graph();
        contracted_graph const c = contracted(g);
        REQUIRE(c.is_path);
        check_contracted(g, c);
        node_order const found = order(g, {.work = 0});
        CHECK(found.is_optimal());
        CHECK(found.peak == min_peak_of(whole_window(g)));
    }
}

TEST_CASE("large trees and series-parallel graphs are proved without a search, from either end alike")
{
    for (std::uint32_t seed = 0; seed != rounds(8); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_tasks const tasks = seed % 2 == 0
                                      ? draw_trees(pick, 3000, seed % 4 == 0 ? 9 : 3000, seed % 8 == 0)
                                      : draw_series_parallel(pick, 1000);
        node_order const found = order(tasks.graph(), {.work = 0});
        CHECK(found.is_optimal());
        node_order const back = order(turned(tasks).graph(), {.work = 0});
        CHECK(back.is_optimal());
        CHECK(back.peak == found.peak);
    }
}

TEST_CASE("runs are right with any limit on merges, and without sizes that fit into 63 bits")
{
    random_source pick{std::mt19937(1)};
    drawn_tasks tasks = draw_series_parallel(pick, 200);
    order_graph const g = tasks.graph();
    byte_count const least = order(g, {.work = 0}).peak;
    std::size_t runs = g.nodes();
    for (std::uint64_t most : {0u, 1u, 2u, 4u, 64u}) {
        contracted_graph const c = contracted(g, most);
        check_contracted(g, c);
        CHECK(c.graph.nodes() <= runs);
        runs = c.graph.nodes();
        CHECK(order(c.graph).peak >= least);
    }
    CHECK(contracted(g, 0).graph.nodes() == g.nodes());
    CHECK(runs < g.nodes() / 4);
    tasks.bytes[0] = byte_count{1} << 63;
    CHECK(contracted(tasks.graph()).graph.nodes() == g.nodes());
    CHECK(contracted(order_graph{}).graph.nodes() == 0);
}

} // namespace this_test
