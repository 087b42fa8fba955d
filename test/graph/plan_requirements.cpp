// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/internal/plan_requirements.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using ranges = std::vector<live_range>;
using positions = std::vector<position_id>;

/// Defines 0, 1 from 0, and 2 from 1, read early; no step touches 3.
snapshot small()
{
    return sequence(3, 4, [](step_id s, effect_sink& sink) {
        sink.def(+s);
        if (s == 1) sink.use(0);
        if (s == 2) sink.use_early(1);
    });
}

} // namespace

TEST_CASE(
    "a use keeps its value live to the end of its step, an early one to its writes, a def through its step")
{
    plan_requirements const d = derive_requirements(small(), {.bytes = 8});
    CHECK(d.life == ranges{{0, 2}, {1, 2}, {2, 3}, {}});
    CHECK(d.first_def == positions{0, 1, 2, plan_requirements::never});
    CHECK(d.root == ids{0, 1, 2, 3});
    CHECK(d.is_planned(0));
    CHECK(!d.is_planned(3));
}

TEST_CASE("the empty program has no requirements")
{
    plan_requirements const d = derive_requirements(snapshot(), {.bytes = 8});
    CHECK(d.life.empty());
    CHECK(d.position.empty());
}

TEST_CASE("an input lives from the first position and an output to the last, also without positions")
{
    value_role const in = value_role::input, out = value_role::output;
    auto const role = std::vector{out, in, in | out, in};
    CHECK(derive_requirements(small(), {.bytes = 8, .role = role}).life ==
          ranges{{0, 3}, {0, 2}, {0, 3}, {0, 1}});
    snapshot const still = sequence(0, 2, [](step_id, effect_sink&) {});
    CHECK(derive_requirements(still, {.bytes = 8, .role = in | out}).life == ranges{{0, 1}, {0, 1}});
}

TEST_CASE(
    "a class has the root's size and pool, all members' roles, the first pin, and is eligible if its root is")
{
    plan_requirements const d =
        derive_requirements(small(), {.bytes = {1, 2, 3, 4},
                                      .role = std::vector{value_role::input, value_role::intermediate,
                                                          value_role::output, value_role::intermediate},
                                      .alias_of = ids{no_value, 0, 1, no_value},
                                      .pool = std::vector<pool_id>{5, 6, 7, 8},
                                      .pinned = std::vector<byte_count>{no_offset, 16, 32, no_offset},
                                      .eligible = std::vector<bool>{false, true, true, true}});
    CHECK(d.root == ids{0, 0, 0, 3});
    CHECK(d.class_role[0] == (value_role::input | value_role::output));
    CHECK(d.role[0] == value_role::input);
    CHECK(d.bytes[0] == 1);
    CHECK(d.pool[0] == 5);
    CHECK(d.pinned[0] == 16);
    CHECK(!d.eligible[0]);
    CHECK(!d.is_planned(0));
    CHECK(d.life[0] == live_range{0, 3});
}

TEST_CASE("positions follow the order of nodes")
{
    plan_requirements const d = derive_requirements(small(), {.bytes = 8, .order = {2, 0, 1}});
    CHECK(d.position == positions{1, 2, 0});
    CHECK(d.first_def == positions{1, 2, 0, plan_requirements::never});
}

TEST_CASE("each touch is visited once, with its access kind; ends of nodes come last")
{
    snapshot const p = tasks(
        2, 2, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 1) sink.use_at_end_of(0, 0);
            if (n == 1) sink.use(1);
            if (n == 0) sink.def(0), sink.next_step(), sink.use_early(1);
        });
    struct seen {
        value_id value;
        position_id position;
        access_kind when;
        bool operator==(seen const&) const = default;
    };
    std::vector<seen> all;
    each_touch(p, {0, 1, 2},
               [&all](value_id v, position_id at, access_kind m) { all.push_back({v, at, m}); });
    CHECK((all == std::vector<seen>{{0, 0, access_kind::writes},
                                    {1, 1, access_kind::reads_early},
                                    {1, 2, access_kind::reads},
                                    {0, 1, access_kind::reads_at_end}}));
}

TEST_CASE("invalid options are refused")
{
    auto refuses = [](plan_options const& options) {
        CHECK_THROWS_AS((void)derive_requirements(small(), options), precondition_error);
    };
    refuses({.bytes = {1, 2, 3}});
    refuses({.bytes = 8, .alignment = 0});
    refuses({.bytes = 8, .alias_of = ids{1, 0, no_value, no_value}});
    refuses({.bytes = 8, .alias_of = ids{no_value, no_value, no_value, 3}});
    refuses({.bytes = 8, .alias_of = ids{no_value, no_value, no_value, 4}});
    refuses({.bytes = 8, .pools = {{.capacity = 1, .alignment = 0}}});
    refuses({.bytes = 8, .order = {0, 1, 1}});
    refuses({.bytes = 8, .order = {0, 1}});
    refuses({.bytes = 8, .order = {0, 1, 3}});
}

} // namespace this_test
