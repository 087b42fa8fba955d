// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/least_live.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a minimum cut costs what the cheapest of all cuts costs, and has the fewest on the sink's side")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        struct edge {
            std::uint32_t from, to;
            byte_count capacity;
        };
        cut_network network;
        std::uint32_t const vertices = 2 + pick.below(6);
        for (std::uint32_t v = 2; v != vertices; ++v) CHECK(network.add_vertex() == v);
        std::vector<edge> edges;
        for (std::uint32_t k = pick.below(14); k != 0; --k) {
            edge e{pick.below(vertices), pick.below(vertices), 0};
            bool const is_direct = e.from == cut_network::source() && e.to == cut_network::sink();
            e.capacity = pick.below(4) == 0 && !is_direct ? cut_network::unlimited / 64 : pick.below(20);
            if (e.from == e.to) continue;
            edges.push_back(e);
            network.add_edge(e.from, e.to, e.capacity);
        }
        byte_count least = no_limit;
        std::uint32_t fewest = 0;
        for (std::uint32_t side = 0; side != 1u << vertices; ++side) { // a bit: with the sink
            if ((side & 3) != 2) continue;
            byte_count cost = 0;
            for (edge const& e : edges)
                if ((side >> e.from & 1) == 0 && (side >> e.to & 1) == 1) cost += e.capacity;
            bool const is_within = cost == least && (side & fewest) == side;
            if (cost < least || is_within) least = cost, fewest = side;
        }
        REQUIRE(network.minimum_cut() == least);
        std::vector<unsigned char> const side = network.sink_side();
        for (std::uint32_t v = 0; v != vertices; ++v) REQUIRE(side[v] == (fewest >> v & 1));
    }
}

TEST_CASE("between two sets the largest with the fewest live bytes is found, from either end")
{
    std::size_t inner = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = (seed % 2 == 0 ? draw_unordered(pick, 9) : draw_operations(pick, 9, 6)).graph();
        if (!g || g.nodes() == 0) continue;
        order_window const w = whole_window(g);
        order_moves const moves = moves_of(w, seed % 4 < 2 ? search_side::start : search_side::end);
        std::vector<move_id> sequence;
        std::vector<bool> has_run(moves.size());
        auto is_ready = [&](move_id m) {
            return !has_run[m] && std::all_of(moves.before[m].begin(), moves.before[m].end(),
                                              [&](move_id b) { return has_run[b]; });
        };
        while (sequence.size() != moves.size()) {
            move_id const m = pick.below(static_cast<std::uint32_t>(moves.size()));
            if (!is_ready(m)) continue;
            has_run[m] = true;
            sequence.push_back(m);
        }
        std::size_t const first = pick.below(static_cast<std::uint32_t>(moves.size()));
        std::size_t const last = first + 1 + pick.below(static_cast<std::uint32_t>(moves.size() - first));
        least_live_sets sets(moves);
        for (std::size_t i = 0; i != last; ++i)
            sets.put(sequence[i], i < first ? least_live_sets::place::ran : least_live_sets::place::free);
        std::span<move_id const> const free(sequence.data() + first, sequence.data() + last);

        byte_count least = no_limit;
        std::uint32_t largest = 0;
        for (std::uint32_t set = 0; set != 1u << free.size(); ++set) {
            move_walk walk(moves);
            for (std::size_t i = 0; i != first; ++i) walk.run(sequence[i]);
            bool is_closed = true;
            for (std::size_t i = 0; i != free.size(); ++i) {
                if ((set >> i & 1) == 0) continue;
                for (move_id b : moves.before[free[i]]) is_closed = is_closed && walk.has_run(b);
                if (is_closed) walk.run(free[i]);
            }
            if (!is_closed) continue;
            bool const is_larger = walk.live() == least && (set & largest) == largest;
            if (walk.live() < least || is_larger) least = walk.live(), largest = set;
        }
        for (bool bytes_too : {false, true}) {
            auto const& found = bytes_too ? sets.least_bytes(free) : sets.least(free);
            REQUIRE(found.size() == free.size());
            for (std::size_t i = 0; i != free.size(); ++i) REQUIRE(found[i] == (largest >> i & 1));
            if (bytes_too) REQUIRE(sets.bytes() == least);
        }
        inner += largest != 0 && largest != (1u << free.size()) - 1;
    }
    CHECK(inner > rounds(300));
}

TEST_CASE("while a move runs, those before it have run and those after it have not")
{
    // 0 writes 64 and 8 bytes, and one that nothing reads; 1 makes 100 of the 8; 2 reads these and the 64,
    // which are live while 1 runs.
    std::vector<std::vector<value_id>> const uses{{}, {1}, {0, 2}}, defs{{0, 1, 3}, {2}, {}};
    order_graph const g =
        order_graph_of(sequence(
                           3, 4, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
                       {.bytes = std::vector<byte_count>{64, 8, 100, 1}});
    order_window const w = whole_window(g);
    order_moves const moves = moves_of(w, search_side::start);
    table<move_id, byte_count> const most_of(moves.size(), no_limit);
    CHECK(find_cut_bound(moves, most_of, 0, no_limit).bytes == 172);
}

TEST_CASE("the cut bound is below the least peak of a random program, and often above the simple bound")
{
    std::size_t higher = 0, exact = 0;
    unsigned const graphs = for_small_graphs(1500, [&](order_graph const& g, random_source& pick) {
        if (g.nodes() == 0) return;
        order_window const w = whole_window(g);
        order_moves const moves = moves_of(w, search_side::start);
        byte_count const least = min_peak_exhaustive(g), simple = order_lower_bound(g);
        table<move_id, byte_count> most_of(moves.size(), no_limit);
        byte_count const bound = find_cut_bound(moves, most_of, 0, no_limit).bytes;
        REQUIRE(bound <= least);
        CHECK(find_cut_bound(moves, most_of, least, no_limit).bytes == least); // never below what is known
        higher += bound > simple;
        exact += bound == least;

        // No move is skipped that would raise the bound.
        peak_walk walk(g);
        table<node_id, byte_count> most(g.nodes());
        for (node_id n : random_order(g, pick)) most[n] = walk.run(n);
        for (move_id m = 0; m != moves.size(); ++m) most_of[m] = most[w.nodes[moves.nodes[m].back()]];
        CHECK(find_cut_bound(moves, most_of, 0, no_limit).bytes == bound);
        CHECK(find_cut_bound(moves, most_of, 0, pick.below(100)).bytes <= bound);
    });
    MESSAGE("of " << graphs << " graphs: above the simple bound " << higher << ", the least peak " << exact);
    CHECK(higher > rounds(30));
    CHECK(2 * exact > graphs);
}

} // namespace this_test
