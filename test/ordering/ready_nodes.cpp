// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/list_schedule.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the picture: of those that fit that which leaves least, else of those that need least")
{
    std::vector<keyed> const needs{{64, 0, 0}, {16, 0, 1}, {8, 0, 2}, {40, 0, 3}, {16, 0, 4}};
    std::uint64_t const zero = 1000;
    std::uint64_t const left[] = {zero + 8, zero - 16, zero + 8, zero - 40, zero};
    ready_nodes ready(5, needs);
    CHECK(ready.empty());
    for (keyed const& n : needs) ready.put(n.who, n.key, left[n.who], n.who);
    CHECK(ready.best(20) == 1);
    CHECK(ready.best(8) == 2);
    CHECK(ready.best(40) == 3);
    ready.take(2);
    CHECK(ready.best(8) == 1); // nobody fits: 1 and 4 need least
    CHECK_FALSE(ready.holds(2));
    for (node_id n : {1u, 4u, 3u, 0u}) ready.take(n);
    CHECK(ready.empty());
}

TEST_CASE("no nodes at all") { CHECK(ready_nodes(0, std::vector<keyed>{}).empty()); }

TEST_CASE("equal claims go by rank, and a node put anew stands where it now belongs")
{
    ready_nodes ready(2, std::vector<keyed>{{8, 0, 0}, {8, 0, 1}, {2, 0, 1}});
    ready.put(0, 8, 5, 0);
    ready.put(1, 8, 5, 1);
    CHECK(ready.best(8) == 0);
    ready.put(1, 2, 5, 1);
    CHECK(ready.best(7) == 1);
    CHECK(ready.best(8) == 0);
    ready.put(1, 3, 4, 1); // between what it announced it stands at the higher
    CHECK(ready.best(7) == 1);
    CHECK(ready.best(8) == 1);
    ready.put(0, 8, 3, 0);
    CHECK(ready.best(8) == 0);
}

TEST_CASE("whatever is put and taken, the best is that of a look at all")
{
    for (unsigned seed = 1; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        std::uint32_t const nodes = 1 + pick.below(20);
        std::vector<keyed> announced;
        std::vector<std::vector<byte_count>> of(nodes);
        for (node_id n = 0; n != nodes; ++n)
            for (std::uint32_t i = 1 + pick.below(3); i != 0; --i) {
                of[n].push_back(pick.below(12));
                announced.push_back({of[n].back(), 0, n});
            }
        ready_nodes ready(nodes, announced);
        std::map<node_id, std::tuple<byte_count, std::uint64_t>> there;
        for (unsigned turn = 0; turn != 60; ++turn) {
            node_id const n = pick.below(nodes);
            if (there.count(n) != 0 && pick.below(2) == 0) {
                ready.take(n);
                there.erase(n);
            } else {
                byte_count const need = of[n][pick.below(static_cast<std::uint32_t>(of[n].size()))];
                std::uint64_t const left = pick.below(5);
                ready.put(n, need, left, n);
                there[n] = {need, left};
            }
            CHECK(ready.empty() == there.empty());
            if (there.empty()) continue;
            byte_count room = pick.below(12), least = no_size;
            for (auto const& [node, its] : there) least = smaller(least, std::get<0>(its));
            room = larger(room, least);
            node_id best = no_node;
            for (auto const& [node, its] : there)
                if (std::get<0>(its) <= room &&
                    (best == no_node || std::get<1>(its) < std::get<1>(there[best])))
                    best = node;
            CHECK(ready.best(room) == best);
        }
    }
}

} // namespace this_test
