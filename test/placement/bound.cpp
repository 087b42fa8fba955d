// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/shapes.hpp>

#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static placement_bound bound_of(placement_problem const& problem)
{
    std::vector<buffer_id> members(problem.buffers.size());
    std::iota(members.begin(), members.end(), 0u);
    return lower_bound(shapes_of(problem, members));
}

TEST_CASE("the bound is the most bytes alive at once, and where")
{
    auto const bound = bound_of({{{{0, 20}, 64}, {{10, 30}, 32}, {{20, 40}, 48}}});
    CHECK(bound.bytes == 96);
    CHECK(bound.kind == placement::proof::reason::live_bytes);
    CHECK(bound.peak_position == 1); // the second of the positions 0, 10, 20, 30, 40
    CHECK(bound.live_bytes == std::vector<byte_count>{64, 96, 80, 48, 0});
}

TEST_CASE("nothing is bounded by nothing")
{
    CHECK(bound_of({}).bytes == 0);
    CHECK(bound_of({{{{2, 2}, 64}, {{2, 3}, 0}}}).bytes == 0);
    CHECK(bound_of({}).kind == placement::proof::reason::nothing);
}

TEST_CASE("of two peaks the first counts")
{
    CHECK(bound_of({{{{0, 1}, 8}, {{1, 2}, 9}, {{2, 3}, 9}}}).peak_position == 1);
}

TEST_CASE("what no window and no gap leaves out is alive")
{
    placement_problem const problem{{{{0, 4}, 10}, {{0, 4}, 5}}, {}, {{0, {1, 2}, 2, 8}, {0, {2, 3}, 0, 0}}};
    CHECK(bound_of(problem).live_bytes == std::vector<byte_count>{15, 11, 5, 15, 0});
}

TEST_CASE("who is pinned, or larger than what is alive of it, bounds the arena too")
{
    auto const pinned = bound_of({{{{0, 1}, 8, 1, 0, 100}, {{0, 1}, 20}, {{0, 1}, 8, 1, 0, 100}}});
    CHECK(pinned.bytes == 108);
    CHECK(pinned.kind == placement::proof::reason::top_of_pin);
    CHECK(pinned.shape == 0);
    placement_problem const window{{{{0, 2}, 10}}, {}, {{0, {0, 1}, 0, 4}, {0, {1, 2}, 4, 8}}};
    CHECK(bound_of(window).bytes == 10);
    CHECK(bound_of(window).kind == placement::proof::reason::top_of_pin);
    placement_problem const phase{
        {{{0, 1}, 4}, {{1, 2}, 4, 16}}, {}, {}, {{1, 0, 5}}}; // 1 lies at 16 at least
    CHECK(bound_of(phase).bytes == 20);
}

TEST_CASE("a bound beyond 64 bits is refused")
{
    byte_count const half = byte_count{1} << 61;
    std::vector<placement_problem::buffer> eight(8, {{0, 2}, half});
    CHECK_THROWS_AS((void)bound_of({eight}), precondition_error);
    for (step_id i = 0; i != 8; ++i) eight[i].life = {i, 20};
    CHECK_THROWS_AS((void)bound_of({eight}), precondition_error);
    for (step_id i = 0; i != 8; ++i) eight[i].life = {i, i + 2};
    CHECK(bound_of({eight}).bytes == 2 * half);
}

} // namespace this_test
