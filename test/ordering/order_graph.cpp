// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_graph.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: who waits for whom, and which buffers each step holds")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 32};
    snapshot const p = sequence(
        4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes, .order = {0, 2, 1, 3}});
    CHECK(!g.violation);
    CHECK(g.after == csr_rows({0, 2, 3, 4, 4}, {1, 2, 3, 3}));
    CHECK(g.before == csr_rows({0, 0, 1, 2, 4}, {0, 0, 1, 2}));
    CHECK(g.held == csr_rows({0, 1, 3, 5, 7}, {0, 0, 1, 0, 2, 1, 2}));
    CHECK(g.size == bytes);
    CHECK(g.touching == std::vector<std::uint32_t>{3, 2, 2});
    CHECK(g.listed == std::vector<node_id>{0, 2, 1, 3});
    CHECK(order_graph_of(p, {.bytes = 8}).listed == std::vector<node_id>{0, 1, 2, 3});
}

TEST_CASE("without nodes there is one order, the empty one")
{
    order_graph const g =
        order_graph_of(sequence(0, 2, [](auto, effect_sink&) {}), {.bytes = 8, .role = value_role::input});
    CHECK(!g.violation);
    CHECK(g.nodes() == 0);
    CHECK(g.buffers() == 2);
}

TEST_CASE("a value that nothing defines, and nodes that wait in a circle, leave no order")
{
    snapshot const undefined = sequence(1, 1, [](auto, effect_sink& s) { s.use(0); });
    order_graph const a = order_graph_of(undefined, {.bytes = 8});
    REQUIRE(a.violation.has_value());
    CHECK(a.violation->what == dependence_violation::kind::never_defined);
    CHECK(a.violation->value == 0);

    std::vector<std::vector<node_id>> const next{{1}, {0}};
    snapshot const circle = flow(
        2, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {});
    order_graph const b = order_graph_of(circle, {.bytes = 8});
    REQUIRE(b.violation.has_value());
    CHECK(b.violation->what == dependence_violation::kind::cycle);
    CHECK(b.violation->steps.size() == 2);
}

TEST_CASE("a name written again keeps its readers on their sides of the write")
{
    // 0: def a   1: use a   2: use a, def a   3: use a   4: use a
    snapshot const p = sequence(5, 1, [](auto n, effect_sink& s) {
        if (n != 0) s.use(0);
        if (n == 0 || n == 2) s.def(0);
    });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    CHECK(is_order(g, {0, 1, 2, 3, 4}));
    CHECK(is_order(g, {0, 1, 2, 4, 3}));
    CHECK_FALSE(is_order(g, {0, 2, 1, 3, 4}));
    CHECK_FALSE(is_order(g, {0, 1, 3, 2, 4}));
}

TEST_CASE("edges of the program order its nodes, whatever their data")
{
    std::vector<std::vector<node_id>> const next{{}, {0}, {}};
    snapshot const p = flow(
        3, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {});
    order_graph const g = order_graph_of(p, {.bytes = 8, .order = {1, 0, 2}});
    CHECK(is_order(g, {1, 0, 2}));
    CHECK(is_order(g, {2, 1, 0}));
    CHECK_FALSE(is_order(g, {0, 1, 2}));
}

TEST_CASE("a pair is listed only if it could be taken in some order")
{
    // Operands: 0, of 16 bytes; 1, kept; 2, an input of 8; 3, of a step itself. The result has 16 bytes.
    std::vector<byte_count> const bytes{16, 16, 8, 16, 16};
    std::vector<value_role> role(5, value_role::intermediate);
    role[1] = value_role::output;
    role[2] = value_role::input;
    snapshot const p = sequence(2, 5, [](auto n, effect_sink& s) {
        if (n == 0) return s.def(0), s.def(1);
        for (value_id v : {0u, 1u, 2u}) s.use(v);
        s.def(4);
        for (value_id v : {0u, 0u, 1u, 2u}) s.may_overwrite(v, 4);
    });
    order_graph const g = order_graph_of(p, {.bytes = bytes, .role = role});
    REQUIRE(g.pairs_of(1).size() == 1);
    CHECK(g.size[g.pairs_of(1)[0].in] == 16);
    CHECK(g.pairs_of(1)[0].saved == 16);
    CHECK(g.pairs_of(0).empty());
    CHECK(order_graph_of(p, {.bytes = bytes, .role = role, .in_place = false}).pairs.empty());
}

TEST_CASE("lifetimes accept every order of the graph, and the graph has all orders that they accept")
{
    // The second half is said of programs whose storage is written once: what is rewritten has views.
    unsigned graphs = 0, all_orders = 0;
    for (unsigned seed = 1; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 5);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        ++graphs;
        std::vector<unsigned> written(drawn.listed.values());
        for (auto const& node : drawn.listed.nodes)
            for (auto const& step : node.steps)
                for (auto const* defs : {&step.defs, &step.scratch})
                    for (value_id v : *defs) ++written[drawn.listed.root(v)];
        for (value_id v = 0; v != drawn.listed.values(); ++v)
            if (drawn.listed.role[v] != value_role::intermediate &&
                drawn.listed.role[v] != value_role::output)
                ++written[drawn.listed.root(v)];
        bool const is_written_once =
            std::all_of(written.begin(), written.end(), [](unsigned n) { return n <= 1; });
        std::vector<node_id> order;
        for (node_id n = 0; n != g.nodes(); ++n) order.push_back(n);
        do {
            bool const runs =
                !lifetimes(drawn.program, {.role = drawn.options.role, .order = order}).violation;
            if (is_order(g, order)) CHECK(runs);
            else if (is_written_once) CHECK_FALSE(runs);
            ++all_orders;
        } while (std::next_permutation(order.begin(), order.end()));
    }
    CHECK(graphs > rounds(700));
    CHECK(all_orders > rounds(5000));
}

TEST_CASE("only programs without any order have none in the graph")
{
    for (unsigned seed = 1; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 6);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        bool const runs =
            !lifetimes(drawn.program, {.role = drawn.options.role, .order = drawn.options.order}).violation;
        if (runs) CHECK(!g.violation);
        if (runs) CHECK(is_order(g, g.listed));
    }
}

} // namespace this_test
