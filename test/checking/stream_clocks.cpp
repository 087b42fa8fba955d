// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include "../dice.hpp"
#include "../drawn_commands.hpp"

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("an event orders two streams from where it is recorded to where it is waited for")
{
    using act = stream_commands::act_kind;
    stream_commands list{.streams = 3};
    list.acts = {{act::work, 0, 0}, {act::record, 0, 7}, {act::work, 0, 1},   {act::work, 1, 2},
                 {act::wait, 1, 7}, {act::work, 1, 3},   {act::record, 1, 7}, {act::wait, 2, 7},
                 {act::work, 2, 4}, {act::wait, 0, 3}};
    stream_clocks const clocks(list);
    CHECK(clocks.is_before(0, 2));
    CHECK(!clocks.is_before(0, 3));
    CHECK(clocks.is_before(0, 5));
    CHECK(!clocks.is_before(2, 5));
    CHECK(clocks.is_before(0, 8)); // by way of stream 1
    CHECK(clocks.is_before(3, 8)); // the event again, of another stream
    CHECK(!clocks.is_before(2, 8));
    CHECK(clocks.is_recorded(4));
    CHECK(!clocks.is_recorded(9));
    list.acts.push_back({act::work, 3, 0});
    CHECK_THROWS_AS((void)stream_clocks(list), precondition_error);
}

TEST_CASE("clocks say of every pair what a walk over all pairs says")
{
    std::size_t before = 0, free = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        stream_commands const list = draw_commands(pick, 4 + pick.below(40));
        auto const expected = order_by_pairs(list);
        stream_clocks const clocks(list);
        auto is_command = [&](std::uint32_t i) {
            return list.acts[i].what != stream_commands::act_kind::join &&
                   list.acts[i].what != stream_commands::act_kind::join_all;
        };
        for (std::uint32_t b = 0; b != list.acts.size(); ++b)
            for (std::uint32_t a = 0; a != b; ++a) {
                if (!is_command(a) || !is_command(b)) continue;
                CHECK(clocks.is_before(a, b) == expected[a][b]);
                ++(expected[a][b] ? before : free);
            }
    }
    CHECK(before > rounds(10000));
    CHECK(free > rounds(10000));
}

} // namespace this_test
