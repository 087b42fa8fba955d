// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>

#include "../../op_list.hpp"

#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

template <class Mode>
std::optional<stream_fault> fault_of(snapshot const& p, plan_options const& options, Mode const& mode,
                                     memory_plan const* plan, stream_schedule const& schedule)
{
    return check_schedule(p, options, plan, run_order_of(p, options, mode).tape, schedule);
}

} // namespace

TEST_CASE("of a diamond on two streams every command but the releases' order is needed, and each is missed")
{
    //  0: -> a     1: a -> b     2: a -> c     3: b, c -> d
    auto const p = op_list(4, {{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}});
    plan_options const options{.bytes = 64,
                               .role =
                                   std::vector<value_role>{value_role::intermediate, value_role::intermediate,
                                                           value_role::intermediate, value_role::output}};
    run_order const order = run_order_of(p, options, recycle{});
    stream_schedule const sound = schedule_streams(order, recycle{}, {.streams = 2});
    REQUIRE(sound.streams == 2);
    CHECK(!fault_of(p, options, recycle{}, nullptr, sound));
    for (std::size_t i = 0; i != sound.commands.size(); ++i) {
        CAPTURE(i);
        stream_schedule less = sound;
        less.commands.erase(less.commands.begin() + static_cast<std::ptrdiff_t>(i));
        if (sound.commands[i].what == stream_schedule::action::launch)
            CHECK_THROWS_AS((void)fault_of(p, options, recycle{}, nullptr, less), precondition_error);
        else CHECK(fault_of(p, options, recycle{}, nullptr, less));
    }
}

} // namespace this_test
