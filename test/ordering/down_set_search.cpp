// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/down_set_search.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

auto const never = [](byte_count, byte_count, std::uint64_t) { return false; };

order_window draw_window(drawn_program const& drawn, order_graph& g, random_source& pick)
{
    g = drawn.graph();
    if (!g) return {};
    return window_of(g, peak_walk(g), std::span<node_id const>(random_order(g, pick)));
}

/// `width` nodes that each write a buffer, and one node that reads them all at the end.
order_window wide(std::uint32_t width)
{
    std::vector<byte_count> sizes;
    for (value_id v = 0; v != 2 * width; ++v) sizes.push_back(v % 2 == 0 ? 100 + v * v % 17 : 20 + v % 13);
    snapshot const p = sequence(2 * std::size_t{width} + 1, sizes.size(), [&](step_id s, effect_sink& sink) {
        if (s == 2 * width)
            for (value_id v = 0; v != width; ++v) sink.use(2 * v + 1);
        else if (s % 2 == 1) sink.use(s - 1), sink.def(+s);
        else sink.def(+s);
    });
    order_graph const g = order_graph_of(p, {.bytes = sizes});
    return window_of(g, peak_walk(g), std::span<node_id const>(g.listed));
}

} // namespace

TEST_CASE("an empty window visits the empty set only")
{
    down_set_result const r = search_down_sets(order_window{}, 0, 1, {}, never);
    CHECK(r.is_exhausted);
    CHECK(r.order.empty());
}

TEST_CASE("the least peak of random windows is found from any lower bound")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph g;
        order_window const w = draw_window(
            seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 10, 8), g, pick);
        if (w.nodes.empty() || w.nodes.size() > 10) continue;
        byte_count const least = min_peak_from(w)[0];
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

        byte_count const floor = least + pick.below(20); // at most `ceiling`
        down_set_result const some = search_down_sets(w, bound, no_limit, {.floor = floor}, never);
        REQUIRE(some.order.size() == w.nodes.size());
        REQUIRE(some.lower_bound <= least);
        down_set_walk other(w);
        for (node_id n : some.order) REQUIRE(other.run(n).most <= floor);
    }
}

TEST_CASE("a limit ends a search, and its lower bound still holds")
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

TEST_CASE("a search is deterministic")
{
    order_window const w = wide(7);
    down_set_result const a = search_down_sets(w, 0, no_limit, {}, never),
                          b = search_down_sets(w, 0, no_limit, {}, never);
    CHECK(a.order == b.order);
    CHECK(a.states == b.states);
}

// --- down set table ----------------------------------------------------------------------------------------

TEST_CASE("a set gets one number when it is found first")
{
    down_set_table sets(3);
    std::uint64_t const none = 0, first = 1, both = 3;
    std::uint64_t const a = down_set_table::hash_of(0), b = down_set_table::hash_of(1);
    CHECK(sets.find_or_insert(&none, 0).is_new);
    CHECK(sets.find_or_insert(&first, a).number == 1);
    CHECK(sets.find_or_insert(&both, a ^ b).number == 2);
    CHECK(!sets.find_or_insert(&first, a).is_new);
    CHECK(sets.find_or_insert(&first, a).number == 1);
    CHECK(sets.size() == 3);
    CHECK(*sets[2] == both);
    CHECK(sets.hash(1) == a);
}

TEST_CASE("sets with equal hashes are distinguished by their bits")
{
    down_set_table sets(64);
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(sets.find_or_insert(&set, 5).number == set);
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(sets.find_or_insert(&set, 5).number == set);
}

TEST_CASE("the empty set has a number")
{
    down_set_table sets(0);
    CHECK(sets.find_or_insert(nullptr, 0).is_new);
    CHECK(!sets.find_or_insert(nullptr, 0).is_new);
}

TEST_CASE("thousands of sets keep their numbers, as in a sorted map")
{
    random_source pick{std::mt19937(1)};
    down_set_table sets(100);
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;
    std::size_t const empty = sets.bytes();
    for (int i = 0; i != 20000; ++i) {
        std::vector<std::uint64_t> set(2, 0);
        std::uint64_t hash = 0;
        for (std::uint32_t n = 0, members = pick.below(4); n != members; ++n) {
            std::uint32_t const m = pick.below(100);
            if ((set[m / 64] >> m % 64 & 1) != 0) continue;
            set[m / 64] |= std::uint64_t{1} << m % 64;
            hash ^= down_set_table::hash_of(m);
        }
        auto const place = sets.find_or_insert(set.data(), hash);
        auto const [at, is_new] = known.insert({set, static_cast<std::uint32_t>(known.size())});
        REQUIRE(place.is_new == is_new);
        REQUIRE(place.number == at->second);
    }
    CHECK(sets.size() == known.size());
    CHECK(sets.bytes() > empty);
}

// --- safe moves --------------------------------------------------------------------------------------------

namespace {

using rows = std::vector<std::vector<value_id>>;

order_graph graph_of(rows const& uses, rows const& defs, std::vector<byte_count> const& sizes)
{
    return order_graph_of(sequence(
                              defs.size(), sizes.size(), [&](step_id s) { return uses[s]; },
                              [&](step_id s) { return defs[s]; }),
                          {.bytes = sizes});
}

order_window whole(order_graph const& g)
{
    return window_of(g, peak_walk(g), std::span<node_id const>(g.listed));
}

} // namespace

TEST_CASE("a node that leaves no more bytes live runs at once, and one that adds bytes waits")
{
    // 0 writes 64 bytes, 1 replaces them by 32, 2 would add 16.
    order_graph const g = graph_of({{}, {0}, {1}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    deferral_graph const d = deferred_nodes(w);
    safe_moves moves(w, d);
    moves.run_safe(200);
    // At the end no byte is live, as at the start: the whole order is one chain.
    CHECK(moves.trail() == std::vector<node_id>{0, 1, 2, 3});
    moves.return_to(0);
    moves.run_safe(95); // 0 and 1 together need 96
    CHECK(moves.trail().empty());
    CHECK(moves.walk().live() == 0);
}

TEST_CASE("undoing runs restores the state of the walk")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    deferral_graph const d = deferred_nodes(w);
    safe_moves moves(w, d);
    auto const nothing = moves.walk().done();
    std::vector<node_id> ready;
    moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
    CHECK(!ready.empty());
    for (node_id n : ready) {
        moves.run(n);
        moves.return_to(0);
        CHECK(moves.walk().done() == nothing);
        CHECK(moves.walk().live() == 0);
    }
}

TEST_CASE("each try of a node adds its touches and edges to the work")
{
    order_graph const g = graph_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, {64, 32, 16, 8});
    order_window const w = whole(g);
    deferral_graph const d = deferred_nodes(w);
    safe_moves moves(w, d);
    CHECK(moves.work() == 0);
    moves.run(0); // one touch, itself; no node waits for a deferred one
    CHECK(moves.work() == 2);
    moves.run(1); // two touches, one edge, itself
    CHECK(moves.work() == 6);
    moves.return_to(1);
    moves.run(1);
    CHECK(moves.work() == 10);
}

TEST_CASE("dominant moves keep an optimal order possible, in random windows from any down-set")
{
    std::size_t ran = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 9, 7)).graph();
        if (!g || g.nodes() == 0 || g.nodes() > 10) continue;
        std::vector<node_id> const order = random_order(g, pick);
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::size_t const first = pick.below(3) == 0 ? pick.below(nodes) : 0;
        std::size_t const last =
            pick.below(3) == 0 ? nodes - pick.below(nodes - static_cast<std::uint32_t>(first)) : nodes;
        peak_walk before(g);
        for (std::size_t i = 0; i != first; ++i) before.run(order[i]);
        order_window const w =
            window_of(g, before, std::span<node_id const>(order.data() + first, order.data() + last));
        std::vector<byte_count> const least = min_peak_from(w);

        // A random down-set, and an allowed peak near to what it needs.
        deferral_graph const d = deferred_nodes(w);
        safe_moves moves(w, d);
        for (std::uint32_t k = pick.below(static_cast<std::uint32_t>(w.nodes.size()) + 1); k != 0; --k) {
            std::vector<node_id> ready;
            moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
            if (ready.empty()) break;
            moves.run(pick.one_of(ready));
        }
        if (moves.walk().ran() == w.nodes.size()) continue;
        std::size_t const here = moves.walk().done()[0], length = moves.trail().size();
        byte_count const allowed =
            least[here] + pick.below(40) - std::min<byte_count>(least[here], pick.below(40));
        moves.run_safe(allowed);
        ran += moves.trail().size() - length;
        REQUIRE(std::max(allowed, least[moves.walk().done()[0]]) <= std::max(allowed, least[here]));

        // None of the moves needed more than allowed.
        std::vector<node_id> const trail = moves.trail();
        down_set_walk walk(w);
        for (std::size_t i = 0; i != trail.size(); ++i) {
            byte_count const most = walk.run(trail[i]).most;
            if (i >= length) REQUIRE(most <= allowed);
        }
        REQUIRE(walk.live() == moves.walk().live());
    }
    CHECK(ran > rounds(500));
}

} // namespace this_test
