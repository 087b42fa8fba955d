// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("a command that says nothing launches the first step on the first stream")
{
    stream_schedule::command const c;
    CHECK(c == stream_schedule::command{stream_schedule::action::launch, 0, 0, 0});
    CHECK(c != stream_schedule::command{stream_schedule::action::launch, 1, 0, 0});
    CHECK(c != stream_schedule::command{stream_schedule::action::launch, 0, 1, 0});
    CHECK(stream_schedule::command{stream_schedule::action::hand_over, 0, 2, 1} !=
          stream_schedule::command{stream_schedule::action::hand_over, 0, 2, 3});
}

TEST_CASE("schedules are the same if all that they say is")
{
    stream_schedule const one{
        .streams = 2, .stream_of = {0, 1}, .commands = {{}, {stream_schedule::action::launch, 1, 1}}};
    stream_schedule other = one;
    CHECK(one == other);
    other.commands.pop_back();
    CHECK(one != other);
    CHECK(stream_schedule{} != one);
    CHECK(stream_options{}.streams == 4);
}

} // namespace this_test
