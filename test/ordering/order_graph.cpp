// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/ordering/detail/order_graph.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <sublet/ordering/detail/peak_walk.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the example: successors of each node, and the buffers that each step holds")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 32};
    snapshot const p =
        sequence(4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes, .order = {0, 2, 1, 3}});
    CHECK(g);
    CHECK(g.after == csr_rows<node_id, node_id>({0, 2, 3, 4, 4}, {1, 2, 3, 3}));
    CHECK(g.before == csr_rows<node_id, node_id>({0, 0, 1, 2, 4}, {0, 0, 1, 2}));
    CHECK(g.held == csr_rows<step_id, buffer_id>({0, 1, 3, 5, 7}, {0, 0, 1, 0, 2, 1, 2}));
    CHECK(g.size == bytes);
    CHECK(g.touch_count == std::vector<std::uint32_t>{3, 2, 2});
    CHECK(g.listed == std::vector<node_id>{0, 2, 1, 3});
    CHECK(order_graph_of(p, {.bytes = 8}).listed == std::vector<node_id>{0, 1, 2, 3});
}

TEST_CASE("a program without nodes has one order, the empty one")
{
    order_graph const g =
        order_graph_of(sequence(0, 2, [](auto, effect_sink&) {}), {.bytes = 8, .role = value_role::input});
    CHECK(g);
    CHECK(g.nodes() == 0);
    CHECK(g.buffers() == 2);
}

TEST_CASE("an undefined value or a cycle of nodes leaves no order")
{
    snapshot const undefined = sequence(1, 1, [](auto, effect_sink& s) { s.use(0); });
    order_graph const a = order_graph_of(undefined, {.bytes = 8});
    REQUIRE(!a);
    CHECK(a.error().what == fault::used_undefined);
    CHECK(a.error().value() == 0);
    CHECK(a.error().other() == no_value);

    std::vector<std::vector<node_id>> const next{{1}, {0}};
    snapshot const circle =
        tasks(2, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {});
    order_graph const b = order_graph_of(circle, {.bytes = 8});
    REQUIRE(!b);
    CHECK(b.error().what == fault::cycle);
    CHECK(b.error().schedule.size() == 2);
}

TEST_CASE("readers of a redefined value stay on their sides of the write")
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

TEST_CASE("writes of a name of no bytes keep their order")
{
    snapshot const p = sequence(2, 1, [](auto, effect_sink& s) { s.def(0); });
    order_graph const g = order_graph_of(p, {.bytes = 0});
    CHECK(is_order(g, {0, 1}));
    CHECK_FALSE(is_order(g, {1, 0}));
}

TEST_CASE("edges of the program order its nodes, whatever their data")
{
    std::vector<std::vector<node_id>> const next{{}, {0}, {}};
    snapshot const p = tasks(3, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {});
    order_graph const g = order_graph_of(p, {.bytes = 8, .order = {1, 0, 2}});
    CHECK(is_order(g, {1, 0, 2}));
    CHECK(is_order(g, {2, 1, 0}));
    CHECK_FALSE(is_order(g, {0, 1, 2}));
}

TEST_CASE("an in-place pair is listed only if some order allows it")
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
    // The converse is tested for programs that write each storage once.
    unsigned graphs = 0, all_orders = 0;
    for (unsigned seed = 1; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 5);
        order_graph const g = drawn.graph();
        if (!g) continue;
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
            plan_options in_order = drawn.options;
            in_order.order = order;
            auto const runs = bool(lifetimes(drawn.program, lifetimes_of(in_order)));
            if (is_order(g, order)) CHECK(runs);
            else if (is_written_once) CHECK_FALSE(runs);
            ++all_orders;
        } while (std::next_permutation(order.begin(), order.end()));
    }
    CHECK(graphs > rounds(700));
    CHECK(all_orders > rounds(5000));
}

TEST_CASE("the graph has an error only if the program has no order")
{
    for (unsigned seed = 1; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 6);
        order_graph const g = drawn.graph();
        auto const runs = bool(lifetimes(drawn.program, lifetimes_of(drawn.options)));
        if (runs) CHECK(g);
        if (runs) CHECK(is_order(g, g.listed));
    }
}

// --- order bound -------------------------------------------------------------------------------------------

namespace {

using rows = std::vector<std::vector<value_id>>;

byte_count bound_of(rows const& uses, rows const& defs, plan_options const& options)
{
    std::size_t values = 0;
    for (auto const& row : defs) values += row.size();
    return order_lower_bound(order_graph_of(
        sequence(
            defs.size(), values, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
        options));
}

} // namespace

TEST_CASE("a buffer touched before a node and after it is live while the node runs")
{
    // 1 and 2 read what 0 writes, and 3 reads all: a is live while 2 writes 100 bytes, b perhaps not.
    CHECK(bound_of({{}, {0}, {0}, {0, 1, 2}}, {{0}, {1}, {2}, {3}},
                   {.bytes = std::vector<byte_count>{64, 32, 100, 0}}) == 196);
    CHECK(bound_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}},
                   {.bytes = std::vector<byte_count>{64, 32, 100, 1}}) == 164);
}

TEST_CASE("the lower bound of an empty program is zero")
{
    CHECK(bound_of({}, {}, {.bytes = 8}) == 0);
    CHECK(bound_of({{}}, {{0}}, {.bytes = 8}) == 8);
}

TEST_CASE("inputs are live at the start, outputs at the end")
{
    CHECK(bound_of({{0, 1}, {}}, {{}, {0, 1}}, {.bytes = 8, .role = value_role::input}) == 16);
    CHECK(bound_of({{}, {}, {}}, {{0}, {1}, {2}}, {.bytes = 8, .role = value_role::output}) == 24);
}

TEST_CASE("a result that may be computed in place may share the bytes of its operand")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use(0), sink.may_overwrite(0, 1);
        sink.def(+s);
    });
    CHECK(order_lower_bound(order_graph_of(p, {.bytes = 8})) == 8);
    CHECK(order_lower_bound(order_graph_of(p, {.bytes = 8, .in_place = false})) == 16);
}

TEST_CASE("sizes with a sum of more than 64 bits are refused")
{
    CHECK_THROWS_AS((void)bound_of({{}, {}}, {{0}, {1}}, {.bytes = byte_count{1} << 63}), precondition_error);
}

TEST_CASE("no order of a random program has a peak below the bound")
{
    std::size_t equal = 0, all = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 10, 8)).graph();
        if (!g) continue;
        byte_count const least = min_peak_exhaustive(g), bound = order_lower_bound(g);
        REQUIRE(bound <= least);
        equal += bound == least;
        ++all;
    }
    CHECK(2 * equal > all);
}

TEST_CASE("the bound counts each of very many buffers that is live while a node runs, whatever the order")
{
    std::size_t saved = 0, blocked = 0;
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::size_t const steps = 2 + pick.below(20), each = 1 + pick.below(12), values = steps * each;
        std::vector<byte_count> bytes;
        std::vector<value_role> role;
        for (std::size_t v = 0; v != values; ++v) {
            bytes.push_back(1 + pick.below(100));
            role.push_back(pick.below(20) == 0 ? value_role::output : value_role::intermediate);
        }
        snapshot const p = sequence(steps, values, [&](step_id s, effect_sink& sink) {
            value_id operand = no_value;
            for (std::uint32_t i = pick.below(s == 0 ? 1 : 8); i-- != 0;) {
                operand = pick.below(static_cast<std::uint32_t>(s * each));
                pick.below(4) == 0 ? sink.use_early(operand) : sink.use(operand);
            }
            for (std::size_t k = 0; k != each; ++k) sink.def(s * each + k);
            if (pick.below(2) == 0)
                sink.may_overwrite(operand, s * each + pick.below(static_cast<std::uint32_t>(each)));
        });
        order_graph const g = order_graph_of(p, {.bytes = bytes, .role = role});
        REQUIRE(g);
        std::vector<std::vector<bool>> leads(steps, std::vector<bool>(steps));
        for (node_id n = 0; n != steps; ++n)
            for (node_id before : g.before[n])
                for (node_id a = 0; a != steps; ++a)
                    if (a == before || leads[a][before]) leads[a][n] = true;
        auto touches = [&](std::uint32_t n, buffer_id b) {
            auto has = [b](auto const& row) { return std::find(row.begin(), row.end(), b) != row.end(); };
            return has(g.held[n]) ? 2 : has(g.early[n]) ? 1 : 0;
        };
        byte_count most = 0;
        for (node_id n = 0; n != steps; ++n) {
            byte_count live = 0;
            std::vector<bool> is_begun, is_needed;
            for (buffer_id b = 0; b != g.buffers(); ++b) {
                bool begun = g.is_given[b] != 0, needed = g.is_kept[b] != 0;
                for (node_id a = 0; a != steps; ++a) {
                    begun = begun || (leads[a][n] && touches(a, b) != 0);
                    needed = needed || (leads[n][a] && touches(a, b) != 0);
                }
                if ((begun && needed) || touches(n, b) == 2 || (touches(n, b) == 1 && needed))
                    live += g.size[b];
                is_begun.push_back(begun);
                is_needed.push_back(needed);
            }
            REQUIRE(g.pairs_of(+n).size() <= 1);
            for (overwrite_pair const& pair : g.pairs_of(+n)) {
                bool const can_be = !is_needed[pair.in] && touches(n, pair.in) == 2 && !is_begun[pair.out];
                (can_be ? saved : blocked) += 1;
                if (can_be) live -= pair.saved;
            }
            most = std::max(most, live);
        }
        byte_count kept = 0;
        for (buffer_id b = 0; b != g.buffers(); ++b)
            if (g.is_kept[b] != 0) kept += g.size[b];
        REQUIRE(order_lower_bound(g) == std::max(most, kept));
    }
    CHECK(saved > rounds(100));
    CHECK(blocked > rounds(100));
}

// --- order incumbent ---------------------------------------------------------------------------------------

TEST_CASE("the order with the least peak stays, the first among equal ones")
{
    std::vector<std::vector<value_id>> const uses{{}, {}, {0}, {1}}, defs{{0}, {1}, {}, {}};
    std::vector<byte_count> const bytes{64, 32};
    snapshot const p =
        sequence(4, 2, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    order_incumbent incumbent(g, 64);
    CHECK(incumbent.best().peak == 96);
    CHECK(incumbent.best().order == g.listed);
    CHECK_FALSE(incumbent.is_settled());
    CHECK_FALSE(incumbent.offer({1, 0, 2, 3}, node_order::method::longest_path));
    CHECK(incumbent.best().found_by == node_order::method::listed);
    CHECK(incumbent.offer_reversed({3, 1, 2, 0}, node_order::method::reversed));
    CHECK(incumbent.best().order == std::vector<node_id>{0, 2, 1, 3});
    CHECK(incumbent.best().peak == 64);
    CHECK(incumbent.best().given_peak == 96);
    CHECK(incumbent.best().is_optimal());
    CHECK(incumbent.is_settled());
}

TEST_CASE("a floor below the peak is no proof, and a graph without orders has no best order")
{
    order_graph const nothing;
    CHECK(order_incumbent(nothing).is_settled());
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{.step = 0}, {0}});
    order_incumbent none(g);
    CHECK(none.is_settled());
    CHECK(none.best().error() == g.error());
    CHECK_FALSE(none.best().is_optimal());
}

// --- peak walk ---------------------------------------------------------------------------------------------

TEST_CASE("the example: a buffer is live from its first touch to its last")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1, 2}}, defs{{0}, {1}, {2}, {}};
    std::vector<byte_count> const bytes{64, 32, 32};
    snapshot const p =
        sequence(4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    peak_walk walk(g);
    CHECK(walk.run(0) == 64);
    CHECK(walk.live() == 64);
    CHECK(walk.run(1) == 96);
    CHECK(walk.live() == 96);
    CHECK(walk.peak_of(2) == 128);
    CHECK(walk.ran() == 2);
    CHECK(walk.run(2) == 128);
    CHECK(walk.live() == 64);
    CHECK(walk.remaining(0) == 0);
    CHECK(walk.run(3) == 64);
    CHECK(walk.live() == 0);
    CHECK(walk.peak() == 128);
    CHECK(peak_of(g, {0, 2, 1, 3}) == 128);
}

TEST_CASE("a result computed in place adds no bytes if no later step reads the operand")
{
    snapshot const p = sequence(3, 3, [](auto n, effect_sink& s) {
        if (n == 0) s.def(0);
        if (n == 1) s.use(0), s.def(1), s.may_overwrite(0, 1);
        if (n == 2) s.use(0), s.def(2);
    });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    CHECK(peak_of(g, {0, 1, 2}) == 16);
    peak_walk walk(g);
    walk.run(0);
    CHECK(walk.peak_of(1) == 16);
    walk.run(2);
    CHECK(walk.peak_of(1) == 8);
    CHECK(peak_of(order_graph_of(p, {.bytes = 8, .in_place = false}), {0, 2, 1}) == 16);
}

TEST_CASE("the peak of an empty program is zero")
{
    CHECK(peak_of(order_graph{}, {}) == 0);
    order_graph const g = order_graph_of(sequence(1, 0, [](auto, effect_sink&) {}), {.bytes = 1});
    CHECK(peak_of(g, {0}) == 0);
    CHECK_THROWS_AS((void)peak_of(g, {}), precondition_error);
}

TEST_CASE("more bytes than 64 bits can count are refused")
{
    order_graph g;
    g.size = {no_size - 1, 1};
    g.touch_count = {0, 0};
    g.is_given = g.is_kept = {0, 0};
    CHECK_THROWS_AS((void)peak_walk(g), precondition_error);
}

TEST_CASE("a pair that a step declares repeatedly is listed once, where it was first declared")
{
    std::vector<std::pair<value_id, value_id>> declared{{2, 5}, {0, 3}, {2, 5}, {1, 4},
                                                        {0, 3}, {0, 5}, {2, 5}};
    auto const p = sequence(3, 6, [&](step_id s, effect_sink& sink) {
        for (value_id v = 0; v != 3; ++v) {
            if (s == 0) sink.def(v);
            if (s == 1) sink.use(v), sink.def(v + 3);
            if (s == 2) sink.use(v + 3);
        }
        if (s == 1)
            for (auto [in, out] : declared) sink.may_overwrite(in, out);
    });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    std::vector<std::pair<buffer_id, buffer_id>> listed;
    for (overwrite_pair const& pair : g.pairs_of(1)) listed.push_back({pair.in, pair.out});
    CHECK(listed == std::vector<std::pair<buffer_id, buffer_id>>{{2, 5}, {0, 3}, {1, 4}, {0, 5}});
}

TEST_CASE("in any order the peak agrees with lifetimes, buffers and the selected in-place pairs")
{
    unsigned compared = 0;
    for (unsigned seed = 1; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = draw_unordered(pick, 7, seed % 3 != 0);
        order_graph const g = drawn.graph();
        if (!g) continue;
        auto const order = random_order(g, pick);
        auto const planned = planned_peak(drawn, order);
        REQUIRE(planned.has_value());
        CHECK(peak_of(g, order) == *planned);
        ++compared;
    }
    CHECK(compared > rounds(1500));
}

TEST_CASE("steps back undo any number of runs")
{
    for (unsigned seed = 1; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_unordered(pick, 8).graph();
        if (!g) continue;
        auto const order = random_order(g, pick), other = random_order(g, pick);
        peak_walk walk(g);
        for (node_id n : other) walk.run(n);
        for (std::uint32_t i = pick.below(static_cast<std::uint32_t>(other.size()) + 1); i != 0; --i)
            walk.step_back();
        peak_walk afresh(g);
        for (std::size_t i = 0; i != walk.ran(); ++i) afresh.run(other[i]);
        CHECK(walk.live() == afresh.live());
        CHECK(walk.peak() == afresh.peak());
        while (walk.ran() != 0) walk.step_back();
        CHECK(walk.peak() == 0);
        for (node_id n : order) {
            byte_count const said = walk.peak_of(n);
            CHECK(walk.run(n) == said);
        }
        CHECK(walk.peak() == peak_of(g, order));
    }
}

// --- topological -------------------------------------------------------------------------------------------

TEST_CASE("the example: of the ready nodes the first listed runs next")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1}}, defs{{0}, {1}, {2}, {3}};
    snapshot const p =
        sequence(4, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph g = order_graph_of(p, {.bytes = 8});
    g.listed = {3, 0, 1, 2};
    CHECK(topological(g) == std::vector<node_id>{0, 1, 3, 2});
    CHECK(order_by_rank(g, {0, 9, 5, 1}) == std::vector<node_id>{0, 2, 1, 3});
    CHECK(order_by_rank(g, {0, 5, 5, 5}) == std::vector<node_id>{0, 1, 3, 2});
    CHECK_THROWS_AS((void)order_by_rank(g, {}), precondition_error);
}

TEST_CASE("an empty graph has an order, and a cycle has none")
{
    CHECK(topological(order_graph{}).empty());
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK_THROWS_AS((void)order_by_rank(g, {}), precondition_error);
}

TEST_CASE("a feasible listed order is kept, and every rank gives a feasible order")
{
    for (unsigned seed = 1; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph g = draw_unordered(pick, 8).graph();
        if (!g) continue;
        CHECK(topological(g) == g.listed);
        auto const order = random_order(g, pick);
        std::vector<std::uint64_t> rank(g.nodes());
        for (std::size_t at = 0; at != order.size(); ++at) rank[order[at]] = at;
        CHECK(order_by_rank(g, rank) == order);
        for (auto& r : rank) r = pick.below(4);
        CHECK(is_order(g, order_by_rank(g, rank)));
        std::shuffle(g.listed.begin(), g.listed.end(), pick.random);
        CHECK(is_order(g, topological(g)));
    }
}

} // namespace this_test
