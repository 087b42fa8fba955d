// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the pool count is one more than the highest id, and large ids are refused")
{
    CHECK(pool_count(placement_problem{}) == 0);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 2}}, {}}) == 3);
    CHECK(pool_count(placement_problem{{}, {{}, {}}}) == 2);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 65535}}, {}}) == 65536);
    for (pool_id far : {65536u, 4'000'000'000u})
        CHECK_THROWS_AS((void)pool_count(placement_problem{{{{0, 1}, 8, 1, far}}, {}}), precondition_error);
}

// --- result ------------------------------------------------------------------------------------------------

TEST_CASE("the status of a pool depends on height, bound and capacity")
{
    using detail::status_of;
    CHECK(status_of(8, 8, no_limit) == placement::outcome::optimal);
    CHECK(status_of(8, 8, 8) == placement::outcome::optimal);
    CHECK(status_of(8, 7, 8) == placement::outcome::feasible);
    CHECK(status_of(8, 7, 7) == placement::outcome::limit);
    CHECK(status_of(8, 7, 6) == placement::outcome::infeasible);
    CHECK(status_of(0, no_limit, no_limit) == placement::outcome::infeasible);
    CHECK(status_of(0, 0, 0) == placement::outcome::optimal);
}

TEST_CASE("the overall status is that of the worst pool, the first of equal ones")
{
    placement all;
    detail::set_overall_status(all);
    CHECK(all.status == placement::outcome::optimal);
    all.pools.resize(4);
    all.pools[1].status = placement::outcome::limit;
    all.pools[2].status = all.pools[3].status = placement::outcome::infeasible;
    detail::set_overall_status(all);
    CHECK(all.status == placement::outcome::infeasible); // whatever may be found for pool 1
    CHECK(all.pool == 2);
    all.pools[2].status = all.pools[3].status = placement::outcome::feasible;
    detail::set_overall_status(all);
    CHECK(all.status == placement::outcome::limit);
    CHECK(all.pool == 1);
}

} // namespace this_test
