// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("roles are a set")
{
    value_role const both = value_role::input | value_role::output;
    CHECK(has_role(both, value_role::input));
    CHECK(has_role(both, value_role::output));
    CHECK(has_role(both, both));
    CHECK_FALSE(has_role(both, value_role::external));
    CHECK_FALSE(has_role(value_role::input, both));
    CHECK((value_role::intermediate | value_role::output) == value_role::output);
}

TEST_CASE("state is external storage, and external storage need not be state")
{
    CHECK(has_role(value_role::state, value_role::external));
    CHECK_FALSE(has_role(value_role::external, value_role::state));
}

TEST_CASE("inputs, external values and state are there before the first step")
{
    CHECK(is_given(value_role::input));
    CHECK(is_given(value_role::external));
    CHECK(is_given(value_role::state));
    CHECK(is_given(value_role::input | value_role::output));
    CHECK_FALSE(is_given(value_role::intermediate));
    CHECK_FALSE(is_given(value_role::output));
}

TEST_CASE("every set has the empty one")
{
    CHECK(has_role(value_role::external, value_role::intermediate));
    CHECK(has_role(value_role::intermediate, value_role::intermediate));
}

} // namespace this_test
