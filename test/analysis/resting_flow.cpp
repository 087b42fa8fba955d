// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/giving_network.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using flow_along = detail::resting_flow;

csr_rows rows(std::vector<std::vector<node_id>> const& lists)
{
    csr_rows result;
    for (auto const& list : lists) {
        for (node_id item : list) result.append(item);
        result.close_row();
    }
    return result;
}

} // namespace

TEST_CASE("the last who follows takes along all, those before what they need")
{
    csr_rows const heads = rows({{1, 2}, {}, {}});
    flow_along flow(heads);
    flow.rest[0] = 10;
    flow.collect(1, 3);
    CHECK(flow.rest[1] == 3);
    flow.collect(2, 0);
    CHECK(flow.rest[2] == 7);
    CHECK(flow.rest[0] == 0);
}

TEST_CASE("what went elsewhere is taken back, and half of it comes along")
{
    csr_rows const heads = rows({{1, 2}, {3}, {}, {}});
    flow_along flow(heads);
    flow.rest[0] = 100;
    flow.collect(1, 0);
    flow.collect(2, 100);
    CHECK(flow.rest[2] == 100);
    flow.fetch(3, 10, 1000);
    CHECK(flow.rest[3] == 50);
    CHECK(flow.rest[2] == 50);
}

TEST_CASE("who searched in vain is dead, with all that could have led there")
{
    csr_rows const heads = rows({{1, 2}, {3}, {3}, {}, {}});
    flow_along flow(heads);
    flow.rest[2] = 1;
    flow.fetch(1, 1, 1000);
    CHECK(flow.is_dead(1));
    CHECK(flow.is_dead(0));
    CHECK(!flow.is_dead(2));
    flow.fetch(3, 5, 1000);
    CHECK(flow.rest[3] == 1);
    CHECK(flow.is_dead(3));
    CHECK(flow.is_dead(2));
    CHECK(!flow.is_dead(4));
}

TEST_CASE("a search that visits too much gives up, and nobody is dead")
{
    std::vector<std::vector<node_id>> chain;
    for (node_id x = 1; x != 1000; ++x) chain.push_back({x});
    chain.push_back({});
    csr_rows const heads = rows(chain);
    flow_along flow(heads);
    flow.rest[0] = 8;
    flow.fetch(999, 1, 1600);
    CHECK(flow.rest[999] == 0);
    CHECK(!flow.is_dead(999));
    CHECK(flow.visits <= 101);
    flow.fetch(999, 1, 160000);
    CHECK(flow.rest[999] == 4);
}

TEST_CASE("nothing is lost and nothing appears, and dead nodes are closed")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        node_id const n = 2 + roll.below(30);
        std::vector<std::vector<node_id>> lists(n);
        for (node_id x = 0; x != n; ++x)
            for (node_id y = x + 1; y != n; ++y)
                if (roll.below(5) == 0) lists[x].push_back(y);
        csr_rows const heads = rows(lists);
        flow_along flow(heads);
        byte_count total = 0, taken = 0;
        for (node_id x = 0; x != n; ++x) {
            byte_count const need = roll.below(20);
            flow.collect(x, need);
            flow.fetch(x, need, 100000);
            REQUIRE((flow.rest[x] >= need || flow.is_dead(x)));
            byte_count const served = smaller(flow.rest[x], need);
            flow.rest[x] -= served;
            taken += served;
            byte_count const more = roll.below(20);
            if (!flow.is_dead(x)) flow.rest[x] += more, total += more;
        }
        byte_count left = 0;
        for (node_id x = 0; x != n; ++x) {
            left += flow.rest[x];
            if (!flow.is_dead(x)) continue;
            REQUIRE(flow.rest[x] == 0);
            for (node_id t = 0; t != x; ++t)
                for (node_id y : lists[t])
                    if (y == x) REQUIRE(flow.is_dead(t));
        }
        REQUIRE(left + taken == total);
    }
}

} // namespace this_test
