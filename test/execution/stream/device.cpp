// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("what has no streams is no such device")
{
    struct nothing {};
    CHECK_FALSE(stream_device<nothing>);
    CHECK_FALSE(takes_digests<nothing>);
}

} // namespace this_test
