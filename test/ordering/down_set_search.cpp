// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/down_set_search.hpp>

#include "../dice.hpp"
#include "drawn_orders.hpp"
#include "window_oracle.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

auto const never = [](byte_count, byte_count, std::uint64_t) { return false; };

order_window drawn_window(drawn_program const& drawn, order_graph& g, dice& pick)
{
    g = order_graph_of(drawn.program, drawn.options);
    if (g.violation) return {};
    return window_of(g, peak_walk(g), std::span<node_id const>(random_order(g, pick)));
}

/// `width` nodes that each write something of their own, which one node reads at last.
order_window wide(std::uint32_t width)
{
    std::vector<byte_count> sizes;
    for (value_id v = 0; v != 2 * width; ++v) sizes.push_back(v % 2 == 0 ? 100 + v * v % 17 : 20 + v % 13);
    snapshot const p = sequence(2 * std::size_t{width} + 1, sizes.size(), [&](step_id s, effect_sink& sink) {
        if (s == 2 * width)
            for (value_id v = 0; v != width; ++v) sink.use(2 * v + 1);
        else if (s % 2 == 1) sink.use(s - 1), sink.def(s);
        else sink.def(s);
    });
    order_graph const g = order_graph_of(p, {.bytes = sizes});
    return window_of(g, peak_walk(g), std::span<node_id const>(g.listed));
}

} // namespace

TEST_CASE("nothing to run takes no set but the empty one")
{
    down_set_result const r = search_down_sets(order_window{}, 0, 1, {}, never);
    CHECK(r.is_exhausted);
    CHECK(r.order.empty());
}

TEST_CASE("the least peak of random windows is found from whatever bound below it")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        order_graph g;
        order_window const w = drawn_window(
            seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 10, 8), g, pick);
        if (w.nodes.empty() || w.nodes.size() > 10) continue;
        byte_count const least = least_from(w)[0];
        byte_count const bound = pick.below(2) == 0 ? 0 : least - std::min<byte_count>(least, pick.below(9));

        down_set_result const r = search_down_sets(w, bound, least + 1 + pick.below(50), {}, never);
        REQUIRE(r.is_exhausted);
        REQUIRE(r.order.size() == w.nodes.size());
        REQUIRE(is_order(w.graph, r.order));
        REQUIRE(r.lower_bound == least);
        down_set_walk walk(w);
        byte_count peak = 0;
        for (node_id n : r.order) peak = std::max(peak, walk.run(n).most);
        REQUIRE(peak == least);

        down_set_result const none = search_down_sets(w, bound, least, {}, never);
        REQUIRE(none.is_exhausted);
        REQUIRE(none.order.empty());
        REQUIRE(none.lower_bound == least);

        byte_count const floor = least + pick.below(20); // not above what is asked: as good as any
        down_set_result const some = search_down_sets(w, bound, no_limit, {.floor = floor}, never);
        REQUIRE(some.order.size() == w.nodes.size());
        REQUIRE(some.lower_bound <= least);
        down_set_walk other(w);
        for (node_id n : some.order) REQUIRE(other.run(n).most <= floor);
    }
}

TEST_CASE("a limit ends a search, and what it says is still true")
{
    order_window const w = wide(9);
    down_set_result const all = search_down_sets(w, 0, no_limit, {}, never);
    REQUIRE(all.is_exhausted);
    for (std::uint64_t states : {1u, 2u, 5u, 20u, 100u}) {
        down_set_result const r = search_down_sets(w, 0, no_limit, {.states = states}, never);
        CHECK(r.lower_bound <= all.lower_bound);
        CHECK((r.is_exhausted || r.order.empty()));
    }
    down_set_result const r = search_down_sets(w, 0, no_limit, {.bytes = 100}, never);
    CHECK(!r.is_exhausted);
    bool asked = false;
    down_set_result const stopped = search_down_sets(
        w, 0, no_limit, {}, [&](byte_count, byte_count, std::uint64_t) { return asked = true; });
    CHECK(asked);
    CHECK(!stopped.is_exhausted);
    CHECK(stopped.order.empty());
}

TEST_CASE("two searches go the same way")
{
    order_window const w = wide(7);
    down_set_result const a = search_down_sets(w, 0, no_limit, {}, never),
                          b = search_down_sets(w, 0, no_limit, {}, never);
    CHECK(a.order == b.order);
    CHECK(a.states == b.states);
}

} // namespace this_test
