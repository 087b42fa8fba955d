// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("commands are data: equal if they ask for the same")
{
    stream_commands::act const a{stream_commands::act_kind::wait, 1, 2};
    CHECK(a == stream_commands::act{stream_commands::act_kind::wait, 1, 2});
    CHECK(!(a == stream_commands::act{stream_commands::act_kind::wait, 2, 2}));
    CHECK(!(stream_commands::block{8} == stream_commands::block{8, true}));
    CHECK(stream_commands{}.acts.empty());
}

} // namespace this_test
