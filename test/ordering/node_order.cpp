// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/node_order.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("an order is optimal if its peak is the lower bound, and never if it has a violation")
{
    CHECK(node_order{}.is_optimal());
    CHECK_FALSE(node_order{.order = {0}, .peak = 8, .given_peak = 8, .lower_bound = 7}.is_optimal());
    CHECK(node_order{.order = {0}, .peak = 8, .given_peak = 9, .lower_bound = 8}.is_optimal());
    node_order none;
    none.violation = dependence_violation{};
    CHECK_FALSE(none.is_optimal());
}

} // namespace this_test
