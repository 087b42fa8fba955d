// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>

#include <sublet/graph/program.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a call shows the operands of its step in the order of the program, and its stream")
{
    // 0: -> a;   1: a -> b (a view of a), c; works in w
    auto const program = sequence(2, 4, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.use(0), s.def(1), s.def(2), s.def(3);
    });
    plan_options const options{.bytes = {8, 4, 2, 6}, .alias_of = {-1, 0, -1, -1}};
    run_tape const tape = tape_of(program, options, std::vector<bool>{false, false, false, true});
    std::vector<std::byte> bytes(32);
    detail::operand_places const places(tape);
    REQUIRE(places.count() == 5);
    std::vector<std::span<std::byte>> operands(places.count());
    for (step_id at = 0; at != 2; ++at)
        places.write(operands, tape, at, [&](value_id v) { return std::span(bytes).subspan(v, v + 1); });
    stream_call<int> const call(tape, 1, 7, operands.data() + places[1]);
    stream_call<int> const copy = call; // a device keeps one
    CHECK(copy.stream() == 7);
    CHECK(copy.step == 1);
    CHECK(copy.in(0).data() == bytes.data());
    CHECK(copy.out(0).data() == bytes.data() + 1);
    CHECK(copy.out(1).size() == 3);
    CHECK(copy.is_view(0));
    CHECK_FALSE(copy.is_view(1));
    REQUIRE(copy.scratch_count() == 1);
    CHECK(copy.scratch().data() == bytes.data() + 3);
    CHECK_THROWS_AS((void)copy.in(1), precondition_error);
    CHECK_THROWS_AS((void)copy.out(2), precondition_error);
    CHECK_THROWS_AS((void)copy.scratch(1), precondition_error);
    CHECK_THROWS_AS((void)copy.is_view(2), precondition_error);
}

} // namespace this_test
