// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/node_order.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("an order is optimal if its peak is the lower bound, and never if it has an error")
{
    CHECK(node_order{}.is_optimal());
    node_order found;
    found.order = {0};
    found.peak = found.given_peak = 8;
    found.lower_bound = 7;
    CHECK_FALSE(found.is_optimal());
    found.given_peak = 9;
    found.lower_bound = 8;
    CHECK(found.is_optimal());
    node_order none;
    none.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK_FALSE(none.is_optimal());
}

} // namespace this_test
