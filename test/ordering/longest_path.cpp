// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/orders.hpp>

#include "../dice.hpp"
#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A branch of one node that makes much of little is listed first; beside it is a long branch of large
/// values.
drawn_program two_branches()
{
    random_program r;
    std::vector<byte_count> const bytes{1, 64, 40, 40, 40, 1, 1};
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {2}, {3}, {4}, {1, 5}};
    r.bytes = bytes;
    r.alignment.assign(7, 1);
    r.role.assign(7, value_role::intermediate);
    r.alias_of.assign(7, no_value);
    r.pool.assign(7, 0);
    r.eligible.assign(7, true);
    r.nodes.resize(7);
    for (value_id v = 0; v != 7; ++v) r.nodes[v].steps = {{uses[v], {}, {v}, {}, {}}};
    return {r, without_edges(r), r.options()};
}

} // namespace

TEST_CASE("the picture: paths are counted in nodes, and the longest runs first")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}, {}, {3}, {2, 4}};
    snapshot const p = sequence(
        6, 6, [&](auto s) -> auto& { return uses[s]; }, [](auto s) { return std::vector<value_id>{s}; });
    order_graph const g = order_graph_of(p, {.bytes = 8});
    CHECK(path_lengths(g) == std::vector<std::uint32_t>{4, 3, 2, 3, 2, 1});
    CHECK(longest_path(g) == std::vector<node_id>{0, 1, 3, 2, 4, 5});
    CHECK(longest_path(order_graph{}).empty());
}

// a54000dc6a in the history of Caffe2: the same network took 21.7 MB in one order and 14 MB in another.
TEST_CASE("the order changes what a program needs, and the longest path first is such an order")
{
    drawn_program const drawn = two_branches();
    order_graph const g = order_graph_of(drawn.program, drawn.options);
    auto const order = longest_path(g);
    CHECK(order == std::vector<node_id>{0, 2, 3, 4, 1, 5, 6});
    CHECK(planned_peak(drawn, g.listed) == 144);
    CHECK(planned_peak(drawn, order) == 105);
}

TEST_CASE("a chain of as many nodes as there may be has one order")
{
    std::size_t const n = 200'000;
    snapshot const p = sequence(
        n, n, [](auto s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{s - 1}; },
        [](auto s) { return std::vector<value_id>{s}; });
    order_graph const g = order_graph_of(p, {.bytes = 1});
    CHECK(longest_path(g) == g.listed);
    CHECK(path_lengths(g).front() == n);
}

TEST_CASE("no node runs while another that is ready has a longer path")
{
    for (unsigned seed = 1; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn = draw_operations(pick, 12, 5);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        auto const order = longest_path(g);
        REQUIRE(is_order(g, order));
        auto const length = path_lengths(g);
        for (std::size_t i = 0; i + 1 != order.size(); ++i) {
            bool waits = false; // the next one for this one
            for (node_id b : g.before[order[i + 1]]) waits = waits || b == order[i];
            CHECK((waits || length[order[i]] >= length[order[i + 1]]));
            if (waits) CHECK(length[order[i]] > length[order[i + 1]]);
        }
    }
}

} // namespace this_test
