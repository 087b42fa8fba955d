// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;

static live_ranges alive(std::vector<live_range> ranges, step_id positions)
{
    return {std::move(ranges), positions, {}};
}

TEST_CASE("a buffer lives while any of its views does, is as large as its root and as aligned as all of them")
{
    auto t = gather_buffers(alive({{0, 3}, {2, 5}, {1, 2}}, 5), plan_options{.bytes = {64, 7, 9},
                                                                             .alignment = {4, 6, 1},
                                                                             .alias_of = {-1, 0, -1},
                                                                             .pool = {1, 2, 3}});
    REQUIRE(t.buffers.size() == 2);
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 0, 1});
    CHECK(t.buffers[0].root == 0);
    CHECK(t.buffers[0].life == live_range{0, 5});
    CHECK(t.buffers[0].size == 64);
    CHECK(t.buffers[0].alignment == 12);
    CHECK(t.buffers[0].pool == 1);
    CHECK(t.buffers[1].life == live_range{1, 2});
}

TEST_CASE(
    "a buffer has the roles of all its values, and one external or ineligible value takes it out of the plan")
{
    std::vector<value_role> role{value_role::intermediate, value_role::output, value_role::intermediate,
                                 value_role::state};
    auto t = gather_buffers(alive({{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .role = role, .alias_of = {-1, 0, -1, 2}});
    CHECK(t.buffers[0].role == value_role::output);
    CHECK(t.buffers[0].is_planned());
    CHECK(!t.buffers[1].is_planned());
    auto e = gather_buffers(
        alive({{0, 1}, {0, 1}}, 1),
        plan_options{.bytes = 8, .alias_of = {-1, 0}, .eligible = std::vector<bool>{true, false}});
    CHECK(!e.buffers[0].is_planned());
}

TEST_CASE("no storage is planned for 0 bytes, an unknown size or an empty life")
{
    auto t = gather_buffers(alive({{0, 1}, {0, 1}, {1, 1}, {0, 1}}, 1),
                            plan_options{.bytes = std::vector<byte_count>{0, no_size, 8, 8}});
    CHECK(!t.buffers[0].is_planned());
    CHECK(!t.buffers[1].is_planned());
    CHECK(!t.buffers[2].is_planned());
    CHECK(t.buffers[3].is_planned());
}

TEST_CASE("a pin on a view pins the buffer, and two that differ are noticed")
{
    auto t = gather_buffers(
        alive({{0, 1}, {0, 1}}, 1),
        plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = std::vector<byte_count>{no_offset, 16}});
    CHECK(t.buffers[0].pinned == 16);
    CHECK(t.buffers[0].pinned_too == no_offset);
    auto d = gather_buffers(alive({{0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = {8, 16}});
    CHECK(d.buffers[0].pinned == 8);
    CHECK(d.buffers[0].pinned_too == 16);
}

TEST_CASE("two equal pins do not differ")
{
    auto t = gather_buffers(alive({{0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = {16, 16}});
    CHECK(t.buffers[0].pinned == 16);
    CHECK(t.buffers[0].pinned_too == no_offset);
}

TEST_CASE("a view may be there before its root, and the buffer is as old as the oldest of its values")
{
    auto t =
        gather_buffers(alive({{2, 5}, {0, 3}, {3, 4}}, 5), plan_options{.bytes = 8, .alias_of = {-1, 0, 0}});
    CHECK(t.buffers[0].life == live_range{0, 5});
}

TEST_CASE("unsized is only who would be planned if its size were known")
{
    std::vector<value_role> role{value_role::intermediate, value_role::external, value_role::intermediate,
                                 value_role::intermediate};
    auto t = gather_buffers(
        alive({{0, 1}, {0, 1}, {1, 1}, {0, 1}}, 1),
        plan_options{.bytes = no_size, .role = role, .eligible = std::vector<bool>{true, true, true, false}});
    CHECK(t.buffers[0].is_unsized());
    for (std::size_t b : {1u, 2u, 3u}) CHECK(!t.buffers[b].is_unsized());
}

TEST_CASE("properties that make no sense are refused")
{
    auto lives = alive({{0, 1}}, 1);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = {1, 2}}), precondition_error);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = 1, .alignment = 0}),
                    precondition_error);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = -1}), precondition_error);
}

} // namespace this_test
