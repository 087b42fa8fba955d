// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/problem.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("pools are counted by the highest that is named, and there are few")
{
    CHECK(pool_count(placement_problem{}) == 0);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 2}}, {}}) == 3);
    CHECK(pool_count(placement_problem{{}, {{}, {}}}) == 2);
    CHECK(pool_count(placement_problem{{{{0, 1}, 8, 1, 65535}}, {}}) == 65536);
    for (pool_id far : {65536u, 4'000'000'000u})
        CHECK_THROWS_AS((void)pool_count(placement_problem{{{{0, 1}, 8, 1, far}}, {}}), precondition_error);
}

} // namespace this_test
