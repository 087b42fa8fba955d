// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/cone_order.hpp>

#include "../random_orders.hpp"
#include "../random_source.hpp"
#include "../window_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// `qubits` in a ring, with a gate between neighbours, listed with all first steps first and gates by halves.
order_graph ring(std::uint32_t qubits)
{
    return order_graph_of(sequence(2 * std::size_t{qubits}, qubits,
                                   [&](step_id s, effect_sink& sink) {
                                       if (s < qubits) {
                                           sink.def(+s);
                                           return;
                                       }
                                       std::uint32_t const gate = s - qubits;
                                       std::uint32_t const at =
                                           gate < qubits / 2 ? 2 * gate : 2 * (gate - qubits / 2) + 1;
                                       sink.use(at);
                                       sink.use((at + 1) % qubits);
                                   }),
                          {.bytes = 1});
}

} // namespace

TEST_CASE("the qubits of a ring of gates are used one after the other")
{
    order_graph const g = ring(20);
    order_window const w = whole_window(g);
    order_moves const moves = moves_of(w, search_side::start);
    CHECK(peak_of(g, g.listed) == 20);
    cone_schedule schedule(moves);
    REQUIRE(schedule.run({}, 7, no_limit, no_limit));
    std::vector<node_id> order = order_of(moves, schedule.trail());
    for (node_id& n : order) n = w.nodes[n];
    CHECK(is_order(g, order));
    CHECK(peak_of(g, order) == 3); // one at each end, and the next
    CHECK_FALSE(schedule.run({}, 7, 2, no_limit));
    CHECK_FALSE(schedule.run({}, 7, no_limit, 5));
    CHECK(schedule.run({}, no_buffer, no_limit, no_limit));
}

TEST_CASE("a cone schedule of a random program is an order, keeps its begin, and obeys its limit")
{
    std::size_t kept = 0, refused = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 14) : draw_operations(pick, 60, 20)).graph();
        if (!g || g.nodes() == 0) continue;
        order_window const w = whole_window(g);
        for (search_side side : {search_side::start, search_side::end}) {
            order_moves const moves = moves_of(w, side);
            cone_schedule schedule(moves);
            buffer_id const first =
                w.graph.buffers() == 0 || pick.below(3) == 0
                    ? no_buffer
                    : buffer_id::of(pick.below(static_cast<std::uint32_t>(w.graph.buffers())));
            REQUIRE(schedule.run({}, first, no_limit, no_limit));
            std::vector<move_id> const sequence = schedule.trail();
            std::vector<node_id> const order = order_of(moves, sequence);
            REQUIRE(is_order(w.graph, order));
            byte_count most = 0;
            move_walk walk(moves);
            for (move_id m : sequence) {
                most = std::max(most, walk.effect_of(m).most);
                walk.run(m);
            }
            std::span<move_id const> const begin(sequence.data(),
                                                 pick.below(static_cast<std::uint32_t>(sequence.size())));
            if (schedule.run(begin, first, most, no_limit)) {
                ++kept;
                for (std::size_t i = 0; i != begin.size(); ++i) REQUIRE(schedule.trail()[i] == begin[i]);
                REQUIRE(is_order(w.graph, order_of(moves, schedule.trail())));
            }
            if (most == 0) continue;
            REQUIRE_FALSE(schedule.run({}, first, most - 1, no_limit));
            ++refused;
        }
    }
    CHECK(kept > rounds(1000));
    CHECK(refused > rounds(1000));
}

TEST_CASE("a cone search offers orders that are no worse, often better, and the same again")
{
    std::size_t better = 0;
    for (unsigned seed = 1; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 60, 60).graph();
        order_window const w = whole_window(g);
        order_moves const from_start = moves_of(w, search_side::start),
                          from_end = moves_of(w, search_side::end);
        std::uint64_t const work = 1000 * pick.below(200);
        std::vector<node_id> found;
        for (int again = 0; again != 2; ++again) {
            order_incumbent incumbent(g);
            cone_search search(g, from_start, from_end);
            search.improve(incumbent, work / 2);
            byte_count const before = incumbent.best().peak;
            search.improve(incumbent, work);
            CHECK(incumbent.best().peak <= before);
            CHECK(is_order(g, incumbent.best().order));
            CHECK(incumbent.best().peak == peak_of(g, incumbent.best().order));
            if (again == 0) found = incumbent.best().order;
            else CHECK(incumbent.best().order == found);
            better += incumbent.best().peak < incumbent.best().given_peak;
        }
    }
    CHECK(better > rounds(30));
}

} // namespace this_test
