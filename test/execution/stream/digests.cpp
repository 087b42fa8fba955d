// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/stream_desk.hpp>

#include "../../op_list.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Takes all digests of a run in which `value_of(buffer, position)` is what each is when it is taken.
template <class ValueOf>
std::optional<clobbered_value::finding> change(run_tape const& tape, ValueOf value_of,
                                               memory_plan const* plan = nullptr)
{
    detail::stream_digests digests(tape);
    auto at_position = [&](step_id at) {
        return [&, at](buffer_id b, std::uint64_t* digest) { *digest = value_of(b, at); };
    };
    digests.at_start(at_position(0));
    for (step_id at = 0; at != tape.positions(); ++at) {
        digests.before(at, at_position(2 * at));
        digests.after(at, at_position(2 * at + 1));
    }
    digests.at_end(at_position(2 * tape.positions()));
    return digests.first_change(plan);
}

//     x ─► a ─► y     x is given, y is wanted; step 0 writes a, step 1 reads it
snapshot const chain = op_list(3, {{0}, {1}}, {{1}, {2}});
run_tape const tape = tape_of(
    chain,
    {.bytes = 8,
     .role = std::vector<value_role>{value_role::input, value_role::intermediate, value_role::output}},
    false);

} // namespace

TEST_CASE("values that stay what they were are found so")
{
    CHECK_FALSE(change(tape, [](buffer_id b, step_id) { return 10u + b; }));
}

TEST_CASE("a value that changes is named with who made it and who found out")
{
    auto const given = change(tape, [](buffer_id, step_id at) { return at == 0 ? 1u : 2u; });
    CHECK_FALSE(given); // taken at once: step 0 is the first to look
    auto const between = change(tape, [](buffer_id b, step_id at) { return b == 1 && at == 2 ? 1u : 0u; });
    REQUIRE(between);
    CHECK(*between == clobbered_value::finding{.value = 1, .producer = 0, .reader = 1});
    auto const in_the_end = change(tape, [](buffer_id b, step_id at) { return b == 2 && at == 4 ? 1u : 0u; });
    REQUIRE(in_the_end);
    CHECK(*in_the_end == clobbered_value::finding{.value = 2, .producer = 1, .reader = no_step});
}

TEST_CASE("what is the caller's is looked at when the run ends, too")
{
    run_tape const weighted = tape_of(
        chain,
        {.bytes = 8,
         .role = std::vector<value_role>{value_role::external, value_role::intermediate, value_role::output}},
        false);
    auto const spoilt = change(weighted, [](buffer_id b, step_id at) { return b == 0 && at > 1 ? 1u : 0u; });
    REQUIRE(spoilt); // step 0 alone reads it, and finds it as it was given
    CHECK(*spoilt == clobbered_value::finding{.value = 0});
    CHECK_FALSE(change(tape, [](buffer_id b, step_id at) { return b == 0 && at > 1 ? 1u : 0u; }));
}

TEST_CASE("where a plan is given, so is who lies over it")
{
    memory_plan const plan{.buffers = {{.root = 0, .size = 8, .offset = 8},
                                       {.root = 1, .size = 8, .offset = 0},
                                       {.root = 2, .size = 8, .offset = 4}},
                           .buffer_of = {0, 1, 2},
                           .arena_bytes = {16}};
    auto const found = change(
        tape, [](buffer_id b, step_id at) { return b == 1 && at == 2 ? 1u : 0u; }, &plan);
    REQUIRE(found);
    CHECK(found->culprit == 2);
    CHECK(found->culprit_step == 1);
}

} // namespace this_test
