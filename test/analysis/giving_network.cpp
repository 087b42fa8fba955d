// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/giving_network.hpp>

#include "../dice.hpp"
#include "../weighed_tasks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using network = detail::giving_network;

/// By node: whether arcs lead there from this one.
std::vector<bool> reached_from(network const& net, node_id start)
{
    std::vector<bool> reached(net.arcs.rows());
    std::vector<node_id> open{start};
    while (!open.empty()) {
        node_id const at = open.back();
        open.pop_back();
        for (node_id next : net.arcs[at]) {
            if (!reached[next]) open.push_back(next);
            reached[next] = true;
        }
    }
    return reached;
}

} // namespace

TEST_CASE("arcs lead from one buffer to another if and only if it gives to it")
{
    std::size_t in_parts = 0, apart = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighed_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, later_conflicts(one.g, one.lives), one.weights, 1 << 20);
        REQUIRE(net.loose == 0);
        in_parts += net.takers.size();
        apart += net.first_taker - net.first_giver;
        byte_count begins = 0, rises = 0;
        for (node_id x = 0; x != net.arcs.rows(); ++x) begins += net.begins[x], rises += net.rises[x];
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            if (net.begin_of[u] != no_node) begins -= one.weights[u];
            if (net.end_of[u] == no_node) {
                for (buffer_id v = 0; v != one.weights.size(); ++v)
                    REQUIRE((one.weights[v] == 0 || !one.rule.gives(u, v)));
                continue;
            }
            rises -= one.weights[u];
            auto const reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v)
                if (v != u && one.weights[v] != 0)
                    REQUIRE((net.begin_of[v] != no_node && reached[net.begin_of[v]]) == one.rule.gives(u, v));
        }
        REQUIRE(begins == 0);
        REQUIRE(rises == 0);
    }
    CHECK(in_parts > rounds(100));
    CHECK(apart > rounds(500));
}

TEST_CASE("what is cut short may only allow more, and its weight is known")
{
    std::size_t loose = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        weighed_tasks const one(draw_small_tasks(seed, 40));
        network const net(one.g, one.lives, later_conflicts(one.g, one.lives), one.weights, 5);
        byte_count wrong = 0;
        for (buffer_id u = 0; u != one.weights.size(); ++u) {
            if (one.weights[u] == 0) continue;
            bool allows_more = false;
            std::vector<bool> reached(net.arcs.rows());
            if (net.end_of[u] != no_node) reached = reached_from(net, net.end_of[u]);
            for (buffer_id v = 0; v != one.weights.size(); ++v) {
                if (v == u || one.weights[v] == 0 || net.begin_of[v] == no_node) continue;
                bool const is_allowed = reached[net.begin_of[v]];
                REQUIRE((is_allowed || !one.rule.gives(u, v)));
                if (is_allowed && !one.rule.gives(u, v) && one.lives.begins[v].size() == 1)
                    allows_more = true;
            }
            if (allows_more) wrong += one.weights[u];
        }
        REQUIRE(wrong <= net.loose);
        if (net.loose != 0) ++loose;
    }
    CHECK(loose > 20);
}

} // namespace this_test
