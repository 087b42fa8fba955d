// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_moves.hpp>

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

namespace {

using rows = std::vector<std::vector<value_id>>;

order_window whole(order_graph const& g, std::vector<node_id> const& order)
{
    return window_of(g, peak_walk(g), std::span<node_id const>(order));
}

order_graph graph_of(rows const& uses, rows const& defs, plan_options const& options)
{
    std::size_t values = 0;
    for (auto const& row : defs) values += row.size();
    return order_graph_of(
        sequence(
            defs.size(), values, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
        options);
}

std::vector<node_id> nodes_of(order_moves const& moves, std::uint32_t m)
{
    auto const row = moves.nodes[move_id::of(m)];
    return {row.begin(), row.end()};
}

/// Whether peaks seen from the end are those seen from the start.
bool is_alike_from_the_end(order_window const& w)
{
    for (step_id s = 0; s != w.graph.early.rows(); ++s)
        for (buffer_id b : w.graph.early[s])
            if (w.graph.is_given[b]) return false;
    return w.untouched_input_bytes == 0;
}

/// The moves in the order of their own nodes in `order`, which are numbers of the window.
std::vector<move_id> sequence_of(order_moves const& moves, std::vector<node_id> order)
{
    if (moves.side == search_side::end) std::reverse(order.begin(), order.end());
    std::vector<move_id> result;
    for (node_id n : order)
        for (move_id m = 0; m != moves.size(); ++m)
            if (moves.nodes[m].back() == n) result.push_back(m);
    return result;
}

} // namespace

TEST_CASE("a constant is deferred to its first reader")
{
    order_graph const g = graph_of({{}, {}, {1}, {0, 2}}, {{0}, {1}, {2}, {3}}, {.bytes = 8});
    order_window const w = whole(g, {0, 1, 2, 3});
    order_moves const moves = moves_of(w, search_side::start);
    REQUIRE(moves.size() == 2);
    CHECK(nodes_of(moves, 0) == std::vector<node_id>{1, 2});
    CHECK(nodes_of(moves, 1) == std::vector<node_id>{0, 3});
    CHECK(moves.before[move_id::of(0)].empty());
    CHECK(moves.before[move_id::of(1)].size() == 1);
}

TEST_CASE("a node that frees bytes is not deferred, nor is a sink")
{
    order_graph const g = graph_of({{}, {0}, {1}}, {{0}, {1}, {2}}, {.bytes = 8});
    order_window const w = whole(g, {0, 1, 2});
    order_moves const moves = moves_of(w, search_side::start);
    REQUIRE(moves.size() == 2);
    CHECK(nodes_of(moves, 0) == std::vector<node_id>{0, 1}); // 1 frees the result of 0
}

TEST_CASE("from the end, a node that only frees is deferred to the node that made its operands")
{
    order_graph const g = graph_of({{}, {0}, {0}}, {{0}, {}, {1}},
                                   {.bytes = 8, .role = std::vector<value_role>(2, value_role::output)});
    order_window const w = whole(g, {0, 1, 2});
    order_moves const moves = moves_of(w, search_side::end);
    REQUIRE(moves.size() == 2); // 1 only reads, so from the end it begins what 0 ends
    CHECK(nodes_of(moves, 0) == std::vector<node_id>{1, 0});
}

TEST_CASE("deferred nodes include those needed by deferred nodes, and edges pass through them")
{
    // Each node reads all results before it. All are outputs, so every node only adds bytes; 3 is the sink.
    order_graph const g = graph_of({{}, {0}, {0, 1}, {0, 1, 2}}, {{0}, {1}, {2}, {3}},
                                   {.bytes = 8, .role = std::vector<value_role>(4, value_role::output)});
    order_window const w = whole(g, {0, 1, 2, 3});
    order_moves const moves = moves_of(w, search_side::start);
    REQUIRE(moves.size() == 1);
    CHECK(nodes_of(moves, 0) == std::vector<node_id>{0, 1, 2, 3});
}

TEST_CASE("a node that many wait for with many buffers is a move of its own")
{
    for (std::uint32_t readers : {16u, 17u}) { // of 16 buffers: 256, and more
        rows uses(readers + 1), defs(readers + 1);
        for (value_id v = 0; v != 16; ++v) defs[0].push_back(v);
        for (std::uint32_t i = 0; i != readers; ++i) {
            uses[i + 1] = {i % 16};
            defs[i + 1] = {16 + i};
        }
        order_graph const g = graph_of(
            uses, defs, {.bytes = 8, .role = std::vector<value_role>(16 + readers, value_role::output)});
        order_window const w = whole(g, g.listed);
        CHECK(moves_of(w, search_side::start).size() == (readers == 16 ? 16 : 18));
    }
}

TEST_CASE("moves in the order of any order of a random program have no higher peak, from either end")
{
    std::size_t late[2] = {0, 0};
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = seed % 2 == 0 ? draw_unordered(pick, 12) : draw_operations(pick, 14, 9);
        order_graph const g = drawn.graph();
        if (!g || g.nodes() == 0) continue;
        order_window const w = whole(g, g.listed.empty() ? g.listed : topological(g));
        std::vector<node_id> const order = random_order(w.graph, pick);
        byte_count const peak = peak_of(w.graph, order);
        for (search_side side : {search_side::start, search_side::end}) {
            if (side == search_side::end && !is_alike_from_the_end(w)) continue;
            order_moves const moves = moves_of(w, side);
            std::vector<node_id> const other = order_of(moves, sequence_of(moves, order));
            REQUIRE(is_order(w.graph, other));
            REQUIRE(peak_of(w.graph, other) <= peak);
            late[static_cast<int>(side)] += g.nodes() - moves.size();
        }
    }
    CHECK(late[0] > rounds(1000));
    CHECK(late[1] > rounds(1000));
}

TEST_CASE("a walk counts as peak_walk does, from either end, also after moves were taken back")
{
    std::size_t compared = 0, special = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g =
            (seed % 2 == 0 ? draw_unordered(pick, 8) : draw_operations(pick, 12, 6)).graph();
        if (!g || g.nodes() == 0) continue;
        std::vector<node_id> const listed = random_order(g, pick);
        auto const nodes = static_cast<std::uint32_t>(g.nodes());
        std::size_t const first = pick.below(nodes);
        std::size_t const last = first + 1 + pick.below(nodes - static_cast<std::uint32_t>(first));
        peak_walk before(g);
        for (std::size_t i = 0; i != first; ++i) before.run(listed[i]);
        order_window const w =
            window_of(g, before, std::span<node_id const>(listed.data() + first, listed.data() + last));
        for (search_side side : {search_side::start, search_side::end}) {
            if (side == search_side::end && !is_alike_from_the_end(w)) {
                ++special;
                continue;
            }
            CAPTURE(static_cast<int>(side));
            order_moves const moves = moves_of(w, side);
            std::vector<move_id> const sequence = sequence_of(moves, random_order(w.graph, pick));
            std::vector<node_id> const order = order_of(moves, sequence);
            peak_walk whole_walk = walk_of(w);
            std::vector<byte_count> most, live{whole_walk.live() - w.untouched_input_bytes};
            for (node_id n : order) {
                most.push_back(whole_walk.run(n));
                live.push_back(whole_walk.live());
            }
            move_walk walk(moves);
            std::vector<byte_count> live_before;
            std::size_t at = 0; // nodes that have run, in the direction of the search
            for (move_id m : sequence) {
                CAPTURE(at);
                // Runs some other moves, and takes them back.
                std::vector<move_id> others;
                byte_count const here = walk.live();
                for (move_id other : sequence)
                    if (!walk.has_run(other) && pick.below(2) == 0 &&
                        std::all_of(moves.before[other].begin(), moves.before[other].end(),
                                    [&](move_id x) { return walk.has_run(x); })) {
                        walk.run(other);
                        others.push_back(other);
                    }
                for (std::size_t i = others.size(); i-- != 0;) walk.step_back(others[i], here);

                std::size_t const begin = at;
                byte_count expected = 0;
                auto place = [&](std::size_t i) {
                    return side == search_side::start ? i : order.size() - 1 - i;
                };
                REQUIRE(walk.live() == live[side == search_side::start ? at : order.size() - at]);
                move_effect const effect = walk.effect_of(m);
                walk.run(m);
                while (at != order.size()) {
                    node_id const n = order[place(at)];
                    expected = std::max(expected, most[place(at)]);
                    ++at;
                    if (n == moves.nodes[m].back()) break;
                }
                REQUIRE(at != begin);
                REQUIRE(effect.most == expected);
                REQUIRE(effect.live_after == walk.live());
                ++compared;
            }
            REQUIRE(at == order.size());
        }
    }
    CHECK(compared > rounds(5000));
    CHECK(special > 0);
}

} // namespace this_test
