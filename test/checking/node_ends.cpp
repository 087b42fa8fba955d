// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>

#include "dice.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

node_ends ends_of(random_flow const& f, plan_options const& options = {.bytes = 8})
{
    snapshot const p = f.program();
    return ends_of_nodes(p, demands(p, options));
}

} // namespace

TEST_CASE("nodes from which no path leads out are endless")
{
    random_flow f; // 0 -> 1 -> 2, 0 -> 3 <-> 4
    f.nodes.resize(5);
    f.nodes[0].successors = {1, 3};
    f.nodes[1].successors = {2};
    f.nodes[3].successors = {4};
    f.nodes[4].successors = {3};
    CHECK(ends_of(f).is_endless == std::vector<unsigned char>{0, 0, 0, 1, 1});
    f.nodes[4].successors = {3, 1};
    CHECK(ends_of(f).is_endless == std::vector<unsigned char>(5, 0));
}

TEST_CASE("operands of edges are read where the edge begins, outputs are listed")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 3;
    f.nodes[0].successors = {1};
    f.nodes[1].operands = {{0, 2}, {0, 1}};
    std::vector const role{value_role::output, value_role::input, value_role::input | value_role::output};
    node_ends const ends = ends_of(f, {.bytes = 8, .role = role});
    REQUIRE(ends.read_by_edges.rows() == 2);
    CHECK(ends.read_by_edges[0].size() == 2);
    CHECK(ends.read_by_edges[1].empty());
    CHECK(ends.outputs == std::vector<value_id>{0, 2});
}

TEST_CASE("a program of nothing has no ends")
{
    node_ends const ends = ends_of({});
    CHECK(ends.is_endless.empty());
    CHECK(ends.outputs.empty());
}

TEST_CASE("endless is what a search from each node finds")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_flow const f = draw_flow(pick);
        node_ends const ends = ends_of(f);
        for (node_id n = 0; n != f.nodes.size(); ++n) {
            std::vector<bool> is_found(f.nodes.size());
            mark_found(f, n, is_found);
            bool leads_out = false;
            for (node_id m = 0; m != f.nodes.size(); ++m)
                leads_out = leads_out || (is_found[m] && f.nodes[m].successors.empty());
            REQUIRE((ends.is_endless[n] == 0) == leads_out);
        }
    }
}

} // namespace this_test
