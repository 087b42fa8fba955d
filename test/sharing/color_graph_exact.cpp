// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_graph.hpp>

#include "../rows_of.hpp"
#include <sublet/sharing/detail/chains.hpp>

#include <sublet/analysis/interference.hpp>
#include <sublet/sharing/color_graph.hpp>

#include "archetype.hpp"
#include "interference_graphs.hpp"
#include "random_source.hpp"
#include "sized_interferences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using bytes = std::vector<byte_count>;
using slots = std::vector<slot_id>;
using pools = std::vector<pool_id>;

namespace {

interferences path(std::size_t values)
{
    interferences all(values);
    for (std::size_t v = 1; v != values; ++v) all.add(v - 1, v);
    return all;
}

/// Checks that a plan is valid and that its claims hold.
void check(exact_assignment const& found, interferences const& all, bytes const& sizes, pools const& pool,
           slots const& fixed)
{
    REQUIRE(found);
    REQUIRE(found.slot_of.size() == all.size());
    bytes largest(found.slots, 0);
    for (value_id v = 0; v != all.size(); ++v) {
        slot_id const s = found.slot_of[v];
        CHECK((s == no_slot) == (sizes[v] == 0));
        if (s == no_slot) continue;
        REQUIRE(s < found.slots);
        if (fixed[v] != no_slot) CHECK(s == fixed[v]);
        CHECK(found.slot_pool[s] == pool[v]);
        largest[s] = std::max(largest[s], sizes[v]);
    }
    CHECK(all.allows(found.slot_of));
    CHECK(found.slot_bytes == largest);
    byte_count total = 0;
    for (byte_count slot : largest) total += slot;
    CHECK(found.total_bytes == total);
    CHECK(found.lower_bound <= total);

    // The proof, slot by slot: the i-th largest members of the cliques.
    bytes at_least;
    for (std::uint32_t i = 0; i != found.cliques.rows(); ++i) {
        auto const clique = found.cliques[i];
        if (i != 0) CHECK(clique.size() < found.cliques[i - 1].size());
        at_least.resize(std::max(at_least.size(), clique.size()));
        for (std::size_t k = 0; k != clique.size(); ++k) {
            value_id const v = clique[k];
            if (k != 0) CHECK(sizes[clique[k - 1]] >= sizes[v]);
            at_least[k] = std::max(at_least[k], sizes[v]);
            for (value_id w : clique)
                if (v < w)
                    CHECK((all(v, w) || pool[v] != pool[w] || fixed[v] != no_slot || fixed[w] != no_slot));
        }
    }
    byte_count shown = 0;
    for (byte_count slot : at_least) shown += slot;
    CHECK(found.clique_bytes == shown);
    CHECK(found.clique_bytes <= found.lower_bound);
}
void check(exact_assignment const& found, interferences const& all, bytes const& sizes)
{
    check(found, all, sizes, pools(all.size(), 0), slots(all.size(), no_slot));
}

} // namespace

TEST_CASE("two large values share a slot although a path of four needs only two slots")
{
    auto const found = assign_exact(path(4).graph(), {.bytes = {40, 8, 8, 40}});
    CHECK(found.slot_of == slots{0, 1, 2, 0});
    CHECK(found.slot_bytes == bytes{40, 8, 8});
    CHECK(found.slot_pool == pools{0, 0, 0});
    CHECK(found.total_bytes == 56);
    CHECK(found.lower_bound == 56);
    CHECK(found.clique_bytes == 48);
    CHECK(found.is_optimal());
}

TEST_CASE("opening a slot early can save one")
{
    // First fit by size puts 2 with 0 and 3 with 1; then 4 interferes with 0 and 1 and opens a third slot.
    interferences all(5, {{0, 1}, {1, 2}, {0, 3}, {2, 4}, {3, 4}});
    bytes const sizes{9, 9, 8, 8, 8};
    optimal_slots const best(all, sizes);
    auto const found = assign_exact(all.graph(), {.bytes = sizes});
    CHECK(found.total_bytes == best.bytes);
    CHECK(found.is_optimal());
}

TEST_CASE("an empty graph and values of 0 bytes need no slots")
{
    auto const nothing = assign_exact(csr_graph{});
    CHECK(nothing.slots == 0);
    CHECK(nothing.is_optimal());
    CHECK(nothing.cliques.rows() == 0);
    auto const zero = assign_exact(all_together(3).graph(), {.bytes = {0, 8, 0}, .fixed = {0, -1, 0}});
    CHECK(zero.slot_of == slots{no_slot, 0, no_slot});
    CHECK(zero.total_bytes == 8);
    CHECK(zero.is_optimal());
}

TEST_CASE("graphs of eight values get the fewest bytes, as by exhaustive search")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(9), pick.below(101));
        bytes sizes(all.size());
        auto const kinds = 1 + pick.below(8);
        for (auto& s : sizes) s = pick.below(10) == 0 ? 0 : 1 + pick.below(kinds);
        optimal_slots const best(all, sizes);
        auto const found = assign_exact(all.graph(), {.bytes = sizes});
        check(found, all, sizes);
        CHECK(found.total_bytes == best.bytes);
        CHECK(found.is_optimal());
    }
}

TEST_CASE("with pools and fixed slots the bytes are the fewest, as by exhaustive search")
{
    unsigned clashes = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(8), pick.below(101));
        bytes sizes(all.size());
        pools pool(all.size());
        slots fixed(all.size());
        auto const some_pools = 1 + pick.below(2), some_fixed = pick.below(3);
        for (value_id v = 0; v != all.size(); ++v) {
            sizes[v] = pick.below(6);
            pool[v] = pick.below(some_pools);
            fixed[v] = pick.below(3) < some_fixed ? slot_id{pick.below(4)} : no_slot;
        }
        auto const found = assign_exact(all.graph(), {.bytes = sizes, .pool = pool, .fixed = fixed});

        counterexample::slots clash;
        for (value_id v = 0; v != all.size() && clash.value == no_value; ++v)
            for (value_id w = v + 1; w != all.size() && clash.value == no_value; ++w)
                if (fixed[v] != no_slot && fixed[v] == fixed[w] && sizes[v] != 0 && sizes[w] != 0 &&
                    (all(v, w) || pool[v] != pool[w]))
                    clash = {.value = v, .other = w, .slot = fixed[v]};
        CHECK(bool(found) == (clash.value == no_value));
        if (!found) {
            ++clashes;
            CHECK(found.error() == counterexample{fault::fixed_together, clash});
            CHECK(found.slot_of == slots(all.size(), no_slot));
            CHECK(found.slots == 0);
            CHECK_FALSE(found.is_optimal());
            continue;
        }
        check(found, all, sizes, pool, fixed);

        // The oracle knows neither pools nor fixed slots: values that may not share interfere, and values
        // fixed to one slot are represented by the first.
        interferences apart(all.size());
        bytes merged = sizes;
        ids leader(all.size());
        for (value_id v = 0; v != all.size(); ++v) {
            leader[v] = v;
            for (value_id u = v; u-- != 0;)
                if (fixed[v] != no_slot && fixed[u] == fixed[v] && sizes[u] != 0) leader[v] = leader[u];
        }
        for (value_id v = 0; v != all.size(); ++v)
            for (value_id w = 0; w != v; ++w)
                if (sizes[v] != 0 && sizes[w] != 0 && leader[v] != leader[w] &&
                    (all(v, w) || pool[v] != pool[w] ||
                     (fixed[v] != fixed[w] && fixed[v] != no_slot && fixed[w] != no_slot)))
                    apart.add(leader[v], leader[w]);
        for (value_id v = 0; v != all.size(); ++v)
            if (leader[v] != v) {
                merged[leader[v]] = std::max(merged[leader[v]], sizes[v]);
                merged[v] = 0;
            }
        CHECK(found.total_bytes == optimal_slots(apart, merged).bytes);
        CHECK(found.is_optimal());
    }
    CHECK(clashes > rounds(100));
}

TEST_CASE("fixed slots keep their ids, and the others get the free ids by falling size")
{
    auto const found =
        assign_exact(all_together(4).graph(), {.bytes = {8, 64, 16, 32}, .fixed = {1, -1, -1, 5}});
    CHECK(found.slot_of == slots{1, 0, 2, 5});
    CHECK(found.slot_bytes == bytes{64, 8, 16, 0, 0, 32});
    CHECK(found.total_bytes == 120);
    CHECK(found.is_optimal());
}

TEST_CASE("the cliques of all pools form one proof")
{
    auto const found =
        assign_exact(interferences(4).graph(), {.bytes = {8, 64, 16, 32}, .pool = {0, 1, 1, 0}});
    CHECK(found.slot_of == slots{1, 0, 0, 1});
    CHECK(found.slot_pool == pools{1, 0});
    CHECK(found.clique_bytes == 96);
    REQUIRE(found.cliques.rows() == 1);
    CHECK(ids(found.cliques[0].begin(), found.cliques[0].end()) == ids{1, 3});
}

TEST_CASE(
    "a callable is called once per pair; a callable, a graph and a minimal graph type give equal results")
{
    random_source pick{std::mt19937{3}};
    auto const all = any_interferences(pick, 20, 40);
    bytes sizes;
    for (int v = 0; v != 20; ++v) sizes.push_back(1 + pick.below(50));
    auto const of_graph = assign_exact(all.graph(), {.bytes = sizes});
    std::vector<std::vector<int>> asked(20, std::vector<int>(20));
    auto const of_callable =
        assign_exact(20,
                     [&](int u, int v) {
                         ++asked[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)];
                         return all(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
                     },
                     {.bytes = sizes});
    for (std::size_t u = 0; u != 20; ++u)
        for (std::size_t v = 0; v != 20; ++v) CHECK(asked[u][v] == (u < v));
    CHECK(of_callable.slot_of == of_graph.slot_of);
    CHECK(of_callable.nodes == of_graph.nodes);
    graph_coloring const colored =
        color(all.graph(), {.by = coloring_options::heuristic::exact, .bytes = sizes});
    CHECK(colored.plan.slot_of == of_graph.slot_of);
    CHECK(colored.slot_bytes == of_graph.slot_bytes);
    CHECK(colored.least_bytes == of_graph.lower_bound);
    CHECK(colored.has_least_bytes());
    archetype::graph const minimal({{1}, {0, 2}, {1}});
    CHECK(color(minimal, {.by = coloring_options::heuristic::exact}).plan.slot_of == slots{1, 0, 1});
}

TEST_CASE("invalid interference graphs, unknown sizes and sums over 64 bits are rejected")
{
    CHECK_THROWS_WITH_AS((void)assign_exact(graph_of({{1}, {}})),
                         "sublet: an interference graph has each edge in the rows of both its ends",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)assign_exact(graph_of({{0}})), "sublet: value 0 interferes with itself",
                         precondition_error);
    csr_graph const pair = all_together(2).graph();
    CHECK_THROWS_WITH_AS((void)assign_exact(pair, {.bytes = bytes{1, no_size}}),
                         "sublet: value 1, of unknown size, cannot share a slot", precondition_error);
    CHECK_THROWS_AS((void)assign_exact(pair, {.pool = -1}), precondition_error);
    CHECK_THROWS_AS((void)assign_exact(pair, {.bytes = {1, 2, 3}}), precondition_error);
    CHECK_THROWS_AS((void)assign_exact(pair, {.bytes = no_size - 1}), precondition_error);
    CHECK(assign_exact(pair, {.bytes = bytes{no_size - 2, 1}}).total_bytes == no_size - 1);
    CHECK_THROWS_AS((void)color(interference_graph(2, 1, 0), {.by = coloring_options::heuristic::exact}),
                    precondition_error);
}

TEST_CASE("of fifty graphs of 55 values, from ranges and orders, most are solved within a thousand nodes")
{
    std::vector<std::uint64_t> nodes;
    for (unsigned seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        auto const drawn = draw_interferences(seed, 55);
        auto const found = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes});
        check(found, drawn.all, drawn.bytes);
        CHECK(found.is_optimal());
        CHECK(found.total_bytes <= color(drawn.all.graph(), {.bytes = drawn.bytes}).total_bytes);
        CHECK(found.lower_bound >= color(drawn.all.graph(), {.bytes = drawn.bytes}).least_bytes);
        nodes.push_back(found.nodes);
    }
    std::sort(nodes.begin(), nodes.end());
    CHECK(nodes[25] < 1000);
    CHECK(nodes.back() < 500'000);
}

TEST_CASE("when the node budget runs out, the best plan and a valid bound are returned")
{
    for (unsigned seed = 0; seed != 16; ++seed) {
        CAPTURE(seed);
        auto const drawn = draw_interferences(seed, 30);
        byte_count const best = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes}).total_bytes;
        byte_count before = no_size, bound = 0;
        for (std::uint64_t nodes : {0u, 1u, 10u, 100u, 1000u, 10'000u}) {
            auto const found = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes, .nodes = nodes});
            check(found, drawn.all, drawn.bytes);
            CHECK(found.nodes <= nodes);
            CHECK(found.lower_bound <= best);
            CHECK(found.total_bytes >= best);
            CHECK(found.total_bytes <= before);
            CHECK(found.lower_bound >= bound);
            before = found.total_bytes;
            bound = found.lower_bound;
        }
    }
}

TEST_CASE("a bound proved with fewer nodes is not lost with a larger budget")
{
    struct graph_case {
        unsigned number;
        std::size_t values;
    };
    for (graph_case const as : {graph_case{40, 40}, graph_case{20, 60}, graph_case{7, 80}}) {
        CAPTURE(as.number);
        auto const drawn = draw_interferences(as.number, as.values);
        byte_count bound = 0;
        for (std::uint64_t nodes = 16'384; nodes < 60'000; nodes += nodes / 4) {
            auto const found = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes, .nodes = nodes});
            CHECK(found.lower_bound >= bound);
            bound = found.lower_bound;
        }
    }
}

TEST_CASE("for hundreds of values the result is valid, no worse than first fit, and its proof holds")
{
    unsigned better = 0;
    for (unsigned seed = 0; seed != 16; ++seed) {
        CAPTURE(seed);
        auto const drawn = draw_interferences(seed, 200);
        auto const first = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes, .nodes = 0});
        auto const found = assign_exact(drawn.all.graph(), {.bytes = drawn.bytes, .nodes = 100'000});
        check(first, drawn.all, drawn.bytes);
        check(found, drawn.all, drawn.bytes);
        CHECK(found.nodes <= 100'000);
        if (seed % 2 == 0) CHECK(found.is_optimal()); // interval graphs
        better += found.total_bytes < first.total_bytes;
    }
    CHECK(better > 8);
    auto const many = draw_interferences(0, 1000);
    auto const found = assign_exact(many.all.graph(), {.bytes = many.bytes, .nodes = 100'000});
    check(found, many.all, many.bytes);
    CHECK(found.is_optimal());
}

} // namespace this_test
