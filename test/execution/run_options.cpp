// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("left to itself a run proves its plan, takes what it needs, and watches no further")
{
    executor_options const how;
    CHECK(how.check == executor_options::checks::plan);
    CHECK(how.prove);
    CHECK(how.limit == no_limit);
    CHECK(executor_options::checks::off < executor_options::checks::plan);
    CHECK(executor_options::checks::paint < executor_options::checks::digest);
    CHECK(run_report{}.workers == 1);
}

} // namespace this_test
