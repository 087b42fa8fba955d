// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"

#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

node_order improved(order_graph const& g, std::vector<node_id> order, improve_limits const& limits = {})
{
    order_incumbent incumbent(g, limits.schedules.floor);
    if (!incumbent.best()) return incumbent.best();
    incumbent.offer(std::move(order), node_order::method::improved);
    improve_order(g, incumbent, limits);
    return incumbent.best();
}

} // namespace

TEST_CASE("improve_order finds a local change in a long order")
{
    // A chain of a thousand nodes; in its middle one branch makes 64 bytes of 1 and another 1 byte of 64.
    std::uint32_t const n = 1000, middle = 500;
    snapshot const p = sequence(n, n, [&](std::uint32_t at, effect_sink& s) {
        if (at == middle) s.use(middle - 1);          // 64 bytes, made early
        else if (at == middle + 1) s.use(middle - 1); // 64 bytes
        else if (at == middle + 2) s.use(middle + 1); // 1 byte made of them
        else if (at == middle + 3) s.use(middle), s.use(middle + 2);
        else if (at != 0) s.use(at - 1);
        s.def(at);
    });
    order_graph const g =
        order_graph_of(p, {.bytes = [&](auto v) { return v == middle || v == middle + 1 ? 64 : 1; }});
    CHECK(peak_of(g, g.listed) == 129);
    node_order const found = improved(g, g.listed, {.schedules = {.schedules = 0}});
    CHECK(found.peak == 67 - 1);
    CHECK(found.found_by == node_order::method::improved);
    CHECK(is_order(g, found.order));
}

TEST_CASE("an empty order stays empty, and a graph without orders gives its error")
{
    CHECK(improved(order_graph{}, {}).order.empty());
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK(!improved(g, {}));
}

TEST_CASE("improving any order never makes it worse, mostly reaches the least peak, and is deterministic")
{
    unsigned best = 0, before = 0;
    unsigned const graphs = for_small_graphs(150, [&](order_graph const& g, random_source& pick) {
        auto const start = random_order(g, pick);
        node_order const found = improved(g, start);
        REQUIRE(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.peak <= peak_of(g, start));
        CHECK(found.peak <= found.given_peak);
        byte_count const least = min_peak_exhaustive(g);
        CHECK(found.peak >= least);
        best += found.peak == least;
        before += peak_of(g, start) == least;
        CHECK(improved(g, start).order == found.order);
    });
    MESSAGE("of " << graphs << " graphs: drawn order best in " << before << ", improved order in " << best);
    CHECK(best * 100 > graphs * 95);
}

TEST_CASE("improving orders of large graphs never makes them worse when the budget ends")
{
    for (unsigned seed = 1; seed != 6; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 300, 20 * seed).graph();
        auto const start = random_order(g, pick);
        node_order const found = improved(g, start, {.work = 300'000 * seed, .window_work = 50'000});
        CHECK(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.peak <= peak_of(g, start));
    }
}

// --- least peak --------------------------------------------------------------------------------------------

TEST_CASE("the example: a list that begins every branch before it finishes one is improved")
{
    // Four branches: each makes 64 bytes, then 1 byte of them; all four bytes are read at the end.
    std::size_t const branches = 4;
    snapshot const p = sequence(2 * branches + 1, 2 * branches + 1, [&](std::uint32_t n, effect_sink& s) {
        if (n >= branches && n != 2 * branches) s.use(n - branches);
        if (n == 2 * branches)
            for (value_id v = branches; v != 2 * branches; ++v) s.use(v);
        s.def(n);
    });
    order_graph const g = order_graph_of(p, {.bytes = [&](auto v) { return v < branches ? 64 : 1; }});
    node_order const found = least_peak(g);
    CHECK(found.given_peak == 257);
    CHECK(found.peak == 68);
    CHECK(peak_of(g, found.order) == 68);
    CHECK(found.found_by == node_order::method::on_demand);
    CHECK(least_peak(g, {.floor = 68}).is_optimal());
}

TEST_CASE("least_peak of an empty graph is empty, and of a graph without orders gives its error")
{
    CHECK(least_peak(order_graph{}).order.empty());
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK(!least_peak(g));
}

TEST_CASE("a least_peak order is never worse than the listed one, often optimal, and deterministic")
{
    unsigned best = 0, kept = 0;
    unsigned const graphs = for_small_graphs(250, [&](order_graph const& g, random_source&) {
        node_order const found = least_peak(g);
        REQUIRE(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.given_peak == peak_of(g, topological(g)));
        CHECK(found.peak <= found.given_peak);
        byte_count const least = min_peak_exhaustive(g);
        CHECK(found.peak >= least);
        CHECK(found.given_peak >= least);
        best += found.peak == least;
        kept += found.given_peak == least;
        node_order const again = least_peak(g);
        CHECK(again.order == found.order);
        CHECK(least_peak(g, {.schedules = 0}).peak <= found.given_peak);
    });
    MESSAGE("of " << graphs << " graphs: listed order best in " << kept << ", order found best in " << best);
    CHECK(best * 10 > graphs * 8);
}

TEST_CASE("the planner accepts every order found, and its bound is the peak")
{
    for (unsigned seed = 1; seed != rounds(250); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 10);
        order_graph const g = drawn.graph();
        if (!g) continue;
        node_order const found = least_peak(g);
        plan_options options = drawn.options;
        options.order = found.order;
        planned_memory const planned = plan_memory(drawn.program, options);
        CHECK(planned);
        CHECK(planned_peak(drawn, found.order) == found.peak);
    }
}

// --- longest path ------------------------------------------------------------------------------------------

namespace {

/// A branch of one node that makes a large value of a small one is listed first; beside it is a long branch
/// of large values.
drawn_program two_branches()
{
    random_program r;
    std::vector<byte_count> const bytes{1, 64, 40, 40, 40, 1, 1};
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {2}, {3}, {4}, {1, 5}};
    r.bytes = bytes;
    r.alignment.assign(7, 1);
    r.role.assign(7, value_role::intermediate);
    r.alias_of.assign(7, no_value);
    r.pool.assign(7, 0);
    r.eligible.assign(7, true);
    r.nodes.resize(7);
    for (value_id v = 0; v != 7; ++v) r.nodes[v].steps = {{uses[v], {}, {v}, {}, {}}};
    return {r, r.without_edges(), r.options()};
}

} // namespace

TEST_CASE("the example: paths are counted in nodes, and the longest runs first")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}, {}, {3}, {2, 4}};
    snapshot const p = sequence(
        6, 6, [&](auto s) -> auto& { return uses[s]; }, [](auto s) { return std::vector<value_id>{+s}; });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    CHECK(path_lengths(g) == std::vector<std::uint32_t>{4, 3, 2, 3, 2, 1});
    CHECK(longest_path(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5});
    CHECK(longest_path(order_graph{}).empty());
}

// a54000dc6a in the history of Caffe2: the same network took 21.7 MB in one order and 14 MB in another.
TEST_CASE("the peak depends on the order, and longest path first can lower it")
{
    drawn_program const drawn = two_branches();
    order_graph const g = drawn.graph();
    auto const order = longest_path(g);
    CHECK(order == std::vector<node_id>{0, 2, 3, 4, 1, 5, 6});
    CHECK(planned_peak(drawn, g.listed) == 144);
    CHECK(planned_peak(drawn, order) == 105);
}

TEST_CASE("a very long chain has one order")
{
    std::size_t const n = 200'000;
    snapshot const p = sequence(
        n, n, [](auto s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{s - 1}; },
        [](auto s) { return std::vector<value_id>{+s}; });
    order_graph const g = order_graph_of(p, {.bytes = 1});
    CHECK(longest_path(g) == g.listed);
    CHECK(path_lengths(g).front() == n);
}

TEST_CASE("no node runs while another that is ready has a longer path")
{
    for (unsigned seed = 1; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 12, 5).graph();
        auto const order = longest_path(g);
        REQUIRE(is_order(g, order));
        auto const length = path_lengths(g);
        for (std::size_t i = 0; i + 1 != order.size(); ++i) {
            bool waits = false; // `next` is a successor
            for (node_id b : g.before[order[i + 1]]) waits = waits || b == order[i];
            CHECK((waits || length[order[i]] >= length[order[i + 1]]));
            if (waits) CHECK(length[order[i]] > length[order[i + 1]]);
        }
    }
}

// --- graph orders ------------------------------------------------------------------------------------------

namespace {

order_graph graph_of(std::vector<std::vector<value_id>> const& uses)
{
    return order_graph_of(sequence(
                              uses.size(), uses.size(), [&](auto s) -> auto& { return uses[s]; },
                              [](auto s) { return std::vector<value_id>{+s}; }),
                          {.bytes = 8});
}

} // namespace

TEST_CASE("the example: breadth first, depth first and on demand")
{
    order_graph const g = graph_of({{}, {}, {0}, {1}, {2}});
    CHECK(breadth_first(g) == std::vector<node_id>{0, 1, 2, 3, 4});
    CHECK(depth_first_order(g) == std::vector<node_id>{0, 2, 4, 1, 3});
    CHECK(on_demand(g) == std::vector<node_id>{1, 3, 0, 2, 4});
}

TEST_CASE("each graph order runs a join after all its branches")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1}, {2}, {}, {3, 4, 5}});
    CHECK(breadth_first(g) == std::vector<node_id>{0, 5, 1, 2, 3, 4, 6});
    CHECK(depth_first_order(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5, 6});
    CHECK(on_demand(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5, 6});
}

TEST_CASE("an empty graph has an order, and a long chain causes no deep recursion")
{
    for (auto const& order :
         {breadth_first(order_graph{}), depth_first_order(order_graph{}), on_demand(order_graph{})})
        CHECK(order.empty());
    std::vector<std::vector<value_id>> uses(100'000);
    for (value_id v = 1; v != uses.size(); ++v) uses[v] = {v - 1};
    order_graph const g = graph_of(uses);
    CHECK(breadth_first(g) == g.listed);
    CHECK(depth_first_order(g) == g.listed);
    CHECK(on_demand(g) == g.listed);
}

TEST_CASE("each graph order is feasible")
{
    for (unsigned seed = 1; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 20, 6)).graph();
        if (!g) continue;
        CHECK(is_order(g, breadth_first(g)));
        CHECK(is_order(g, depth_first_order(g)));
        CHECK(is_order(g, on_demand(g)));
    }
}

} // namespace this_test
