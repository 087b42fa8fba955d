// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include "../drawn_orders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the order with the least peak stays, of equal ones the first")
{
    std::vector<std::vector<value_id>> const uses{{}, {}, {0}, {1}}, defs{{0}, {1}, {}, {}};
    std::vector<byte_count> const bytes{64, 32};
    snapshot const p = sequence(
        4, 2, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    order_graph const g = order_graph_of(p, {.bytes = bytes});
    order_contest contest(g, 64);
    CHECK(contest.best().peak == 96);
    CHECK(contest.best().order == g.listed);
    CHECK_FALSE(contest.is_over());
    CHECK_FALSE(contest.enter({1, 0, 2, 3}, node_order::method::longest_path));
    CHECK(contest.best().found_by == node_order::method::listed);
    CHECK(contest.enter_reversed({3, 1, 2, 0}, node_order::method::reversed));
    CHECK(contest.best().order == std::vector<node_id>{0, 2, 1, 3});
    CHECK(contest.best().peak == 64);
    CHECK(contest.best().given_peak == 96);
    CHECK(contest.best().is_optimal());
    CHECK(contest.is_over());
}

TEST_CASE("a floor that is not reached is no proof, and a graph without orders has no contest")
{
    order_graph const nothing;
    CHECK(order_contest(nothing).is_over());
    order_graph g;
    g.violation = dependence_violation{dependence_violation::kind::cycle, no_value, {0}};
    order_contest none(g);
    CHECK(none.is_over());
    CHECK(none.best().violation == g.violation);
    CHECK_FALSE(none.best().is_optimal());
}

} // namespace this_test
