// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/threshold_search.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using outcome = threshold_result::outcome;

// --- refuted sets ------------------------------------------------------------------------------------------

TEST_CASE("sets with equal hashes are distinguished by their bits")
{
    refuted_sets sets(1);
    for (std::uint64_t set = 0; set != 200; set += 2) sets.insert(&set, 5);
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(sets.contains(&set, 5) == (set % 2 == 0));
    sets.clear();
    for (std::uint64_t set = 0; set != 200; ++set) CHECK(!sets.contains(&set, 5));
}

TEST_CASE("thousands of sets are kept, as in a sorted set")
{
    random_source pick{std::mt19937(1)};
    refuted_sets sets(2);
    std::set<std::vector<std::uint64_t>> known;
    std::size_t const empty = sets.bytes();
    for (int i = 0; i != 20000; ++i) {
        std::vector<std::uint64_t> const set{pick.below(200), pick.below(200)};
        std::uint64_t const hash = set[0] * 31 + set[1] % 7;
        REQUIRE(sets.contains(set.data(), hash) == (known.count(set) != 0));
        if (known.insert(set).second) sets.insert(set.data(), hash);
    }
    CHECK(sets.size() == known.size());
    CHECK(sets.bytes() > empty);
}

// --- threshold search --------------------------------------------------------------------------------------

namespace {

byte_count peak_in(order_window const& w, std::vector<node_id> const& order)
{
    peak_walk walk = walk_of(w);
    for (node_id n : order) walk.run(n);
    return walk.peak();
}

/// `width` branches of two nodes each, and one node that reads their results at the end.
order_graph wide(std::uint32_t width)
{
    std::vector<byte_count> sizes;
    for (value_id v = 0; v != 2 * width; ++v) sizes.push_back(v % 2 == 0 ? 100 + v * v % 17 : 20 + v % 13);
    return order_graph_of(sequence(2 * std::size_t{width} + 1, sizes.size(),
                                   [&](step_id s, effect_sink& sink) {
                                       if (s == 2 * width)
                                           for (value_id v = 0; v != width; ++v) sink.use(2 * v + 1);
                                       else if (s % 2 == 1) sink.use(s - 1), sink.def(+s);
                                       else sink.def(+s);
                                   }),
                          {.bytes = sizes});
}

} // namespace

TEST_CASE("an empty window has an order of peak 0")
{
    order_window const w;
    order_moves const moves = moves_of(w, search_side::start);
    threshold_result const r = threshold_search(moves).search(0, 1, 1);
    CHECK(r.how == outcome::found);
    CHECK(r.order.empty());
}

TEST_CASE("windows of random programs have an order at a threshold exactly if enumeration finds one")
{
    std::size_t found = 0, refuted = 0, above = 0;
    for (unsigned seed = 0; seed != rounds(6000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = (seed % 3 == 0 ? draw_unordered(pick, 9, seed % 2 == 0)
                                             : draw_operations(pick, 9, 3 + pick.below(7)))
                                  .graph();
        if (!g || g.nodes() == 0 || g.nodes() > 10) continue;
        std::vector<node_id> const listed = random_order(g, pick);
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::size_t const first = pick.below(3) == 0 ? pick.below(nodes) : 0;
        peak_walk before(g);
        for (std::size_t i = 0; i != first; ++i) before.run(listed[i]);
        order_window const w = window_of(g, before, std::span<node_id const>(listed).subspan(first));
        byte_count const least = min_peak_of(w);
        for (search_side side : {search_side::start, search_side::end}) {
            order_moves const moves = moves_of(w, side);
            threshold_search search(moves); // asked several times
            for (int ask = 0; ask != 4; ++ask) {
                byte_count const threshold =
                    ask == 0   ? least
                    : ask == 1 ? least - std::min<byte_count>(least, 1)
                               : least + pick.below(20) - std::min<byte_count>(least, pick.below(30));
                threshold_result const r = search.search(threshold, no_limit, std::size_t{1} << 30);
                REQUIRE(r.how != outcome::stopped);
                if (r.how == outcome::found) {
                    ++found;
                    REQUIRE(is_order(w.graph, r.order));
                    if (side == search_side::start) REQUIRE(peak_in(w, r.order) <= threshold);
                    else above += peak_in(w, r.order) > threshold;
                    if (threshold < least) REQUIRE(side == search_side::end);
                } else {
                    ++refuted;
                    REQUIRE(threshold < least);
                    REQUIRE(r.least_refused > threshold);
                    REQUIRE(r.least_refused <= least);
                }
            }
        }
    }
    CHECK(found > rounds(5000));
    CHECK(refuted > rounds(3000));
    CHECK(above < found / 20);
}

namespace {

/// Searches a program at thresholds around its least peak, from either end.
void check_thresholds(order_graph const& g)
{
    order_window const w = whole_window(g);
    byte_count const least = min_peak_of(w);
    for (search_side side : {search_side::start, search_side::end}) {
        order_moves const moves = moves_of(w, side);
        threshold_search search(moves);
        for (byte_count t = least - std::min<byte_count>(least, 10); t != least + 6; ++t) {
            CAPTURE(t);
            threshold_result const r = search.search(t, no_limit, std::size_t{1} << 30);
            REQUIRE(r.how != outcome::stopped);
            if (r.how == outcome::refuted) {
                REQUIRE(t < least);
                REQUIRE(r.least_refused > t);
                REQUIRE(r.least_refused <= least);
            } else if (side == search_side::start) {
                REQUIRE(peak_in(w, r.order) <= t);
            }
        }
    }
}

} // namespace

TEST_CASE("a set that a commit drops may be entered again")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}, {0}, {2}, {3, 4}, {5, 0}, {5}};
    std::vector<byte_count> const bytes{11, 4, 18, 7, 1, 16, 16, 14};
    std::vector<value_role> role(8, value_role::intermediate);
    role[7] = value_role::output;
    check_thresholds(order_graph_of(sequence(
                                        8, 8, [&](step_id s) -> auto& { return uses[s]; },
                                        [](step_id s) { return std::vector<value_id>{+s}; }),
                                    {.bytes = bytes, .role = role}));
}

TEST_CASE("inputs are live while the first step runs, whichever that is")
{
    for (unsigned seed = 1; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const inputs = 1 + pick.below(5), steps = 4 + pick.below(4);
        std::vector<byte_count> bytes;
        std::vector<value_role> role;
        for (std::uint32_t v = 0; v != inputs + steps; ++v) {
            bytes.push_back(1 + pick.below(16));
            role.push_back(v < inputs ? value_role::input : value_role::intermediate);
        }
        std::vector<std::vector<value_id>> uses(steps), early(steps);
        for (std::uint32_t s = 0; s != steps; ++s)
            for (std::uint32_t k = pick.below(3); k != 0; --k) {
                value_id const v = pick.below(inputs + s);
                (v < inputs && pick.below(3) == 0 ? early : uses)[s].push_back(v);
            }
        check_thresholds(order_graph_of(sequence(steps, bytes.size(),
                                                 [&](step_id s, effect_sink& sink) {
                                                     for (value_id v : uses[s]) sink.use(v);
                                                     for (value_id v : early[s]) sink.use_early(v);
                                                     sink.def(inputs + s);
                                                 }),
                                        {.bytes = bytes, .role = role}));
    }
}

TEST_CASE("work and memory end a search, and the same work gives the same result")
{
    order_graph const g = wide(9);
    order_window const w = whole_window(g);
    order_moves const moves = moves_of(w, search_side::end);
    threshold_search search(moves);
    byte_count low = 0;
    for (threshold_result r = search.search(0, no_limit, std::size_t{1} << 30); r.how == outcome::refuted;
         r = search.search(low, no_limit, std::size_t{1} << 30))
        low = r.least_refused;
    CHECK(search.search(low, no_limit, std::size_t{1} << 30).how == outcome::found);
    for (std::uint64_t work : {0u, 10u, 100u, 1000u}) {
        threshold_result const r = search.search(low - 1, work, std::size_t{1} << 30);
        threshold_result const again = threshold_search(moves).search(low - 1, work, std::size_t{1} << 30);
        CHECK(r.how != outcome::found);
        CHECK(r.how == again.how);
        CHECK(r.sets == again.sets);
        CHECK(r.work == again.work);
    }
}

TEST_CASE("a search of a large graph stops when its work or its memory is spent")
{
    std::size_t stopped = 0, full = 0;
    for (unsigned seed = 0; seed != 20; ++seed) {
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 60, 60).graph();
        order_window const w = whole_window(g);
        order_moves const moves = moves_of(w, search_side::start);
        threshold_search search(moves);
        byte_count const threshold = order_lower_bound(g) + 10;
        threshold_result const r = search.search(threshold, 3000, std::size_t{1} << 30);
        stopped += r.how == outcome::stopped;
        if (r.how == outcome::stopped) CHECK(r.work < 3000 + 20 * 3000); // what one set takes at most
        full += search.search(threshold, no_limit, 4000).how == outcome::stopped;
    }
    CHECK(stopped > 5);
    CHECK(full > 2);
}

} // namespace this_test
