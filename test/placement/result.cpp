// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/problem.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("a pool is judged by its height, what is proved, and its capacity")
{
    using detail::status_of;
    CHECK(status_of(8, 8, no_limit) == placement_status::optimal);
    CHECK(status_of(8, 8, 8) == placement_status::optimal);
    CHECK(status_of(8, 7, 8) == placement_status::feasible);
    CHECK(status_of(8, 7, 7) == placement_status::limit);
    CHECK(status_of(8, 7, 6) == placement_status::infeasible);
    CHECK(status_of(0, no_limit, no_limit) == placement_status::infeasible);
    CHECK(status_of(0, 0, 0) == placement_status::optimal);
}

TEST_CASE("the whole is as bad as its worst pool, the first of them is named")
{
    placement all;
    detail::sum_up(all);
    CHECK(all.status == placement_status::optimal);
    all.pools.resize(4);
    all.pools[1].status = placement_status::limit;
    all.pools[2].status = all.pools[3].status = placement_status::infeasible;
    detail::sum_up(all);
    CHECK(all.status == placement_status::infeasible); // whatever might be found for pool 1
    CHECK(all.pool == 2);
    all.pools[2].status = all.pools[3].status = placement_status::feasible;
    detail::sum_up(all);
    CHECK(all.status == placement_status::limit);
    CHECK(all.pool == 1);
}

} // namespace this_test
