// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/colocation.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

placement_problem alive_together(std::size_t n)
{
    placement_problem problem;
    problem.buffers.assign(n, {{0, 1}, 8});
    return problem;
}

std::vector<byte_count> distances(colocated_groups const& groups, std::size_t n)
{
    std::vector<byte_count> result(n, no_offset);
    for (shape_part const& p : groups.parts) result[p.buffer] = p.distance;
    return result;
}

} // namespace

TEST_CASE("without colocations each buffer is its own group, in the order of the members")
{
    auto const groups = group_colocated(alive_together(4), {2, 0, 3});
    CHECK(groups.first == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(groups.parts[0].buffer == 2);
    CHECK(groups.parts[1].buffer == 0);
    CHECK(groups.parts[2].shape == 2);
}

TEST_CASE("distances add up along colocations, in either direction")
{
    auto problem = alive_together(4);
    problem.colocated = {{1, 0, 8}, {1, 2, 16}};
    auto const groups = group_colocated(problem, {0, 1, 2, 3});
    CHECK(groups.first == std::vector<std::uint32_t>{0, 3, 4});
    CHECK(distances(groups, 4) == std::vector<byte_count>{8, 16, 0, 0});
    CHECK(groups.inconsistent.empty());
}

TEST_CASE("a buffer of 0 bytes is no part, but passes distances on")
{
    auto problem = alive_together(3);
    problem.colocated = {{1, 0, 100}, {2, 0, 104}};
    problem.buffers[0].size = 0;
    auto groups = group_colocated(problem, {0, 1, 2});
    CHECK(groups.parts.size() == 2);
    CHECK(distances(groups, 3) == std::vector<byte_count>{no_offset, 0, 4});
    CHECK(distances(group_colocated(problem, {2, 1}), 3) == std::vector<byte_count>{no_offset, 0, 4});
    problem.buffers[1].life.last = 0;
    problem.buffers[2].size = 0;
    CHECK(group_colocated(problem, {0, 1, 2}).parts.empty());
}

TEST_CASE("contradictory colocations are reported")
{
    auto problem = alive_together(4);
    problem.colocated = {{1, 0, 8}, {2, 1, 8}, {2, 0, 16}};
    CHECK(group_colocated(problem, {0, 1, 2, 3}).inconsistent.empty());
    problem.colocated[2].distance = 17;
    auto const groups = group_colocated(problem, {3, 0, 1, 2});
    REQUIRE(!groups.inconsistent.empty());
    CHECK(groups.inconsistent[0].key == 1);
    CHECK(groups.inconsistent[0].tie != groups.inconsistent[0].id);
    for (auto const size : {byte_count{8}, byte_count{0}}) {
        problem.buffers[0].size = problem.buffers[1].size = problem.buffers[2].size = size;
        CHECK(group_colocated(problem, {0, 1, 2, 3}).inconsistent.empty() == (size == 0));
    }
    problem = alive_together(1);
    problem.colocated = {{0, 0, 0}};
    CHECK(group_colocated(problem, {0}).inconsistent.empty());
    problem.colocated = {{0, 0, 1}};
    CHECK(!group_colocated(problem, {0}).inconsistent.empty());
}

TEST_CASE("long chains of colocations are followed")
{
    auto problem = alive_together(100'000);
    std::vector<buffer_id> members{0};
    for (buffer_id b = 1; b != problem.buffers.size(); ++b) {
        problem.colocated.push_back({b - 1, b, 1});
        members.push_back(b);
    }
    auto const groups = group_colocated(problem, members);
    CHECK(groups.first.size() == 2);
    CHECK(groups.parts.front().distance == 99'999);
    CHECK(groups.parts.back().distance == 0);
}

TEST_CASE("colocations with missing buffers, across pools, or too far are refused")
{
    auto problem = alive_together(3);
    auto refuses = [&problem](std::vector<buffer_id> const& members) {
        CHECK_THROWS_AS((void)group_colocated(problem, members), precondition_error);
    };
    problem.colocated = {{3, 0, 8}};
    refuses({0, 1, 2});
    problem.colocated = {{0, 3, 8}};
    refuses({0, 1, 2});
    problem.colocated = {{1, 0, 8}};
    refuses({0, 2});
    refuses({1, 2});
    byte_count const far = byte_count{1} << 61;
    problem.colocated = {{1, 0, 2 * far}};
    refuses({0, 1, 2});
    problem.colocated = {{1, 0, far}, {2, 1, far}};
    refuses({0, 1, 2});
    refuses({2, 1, 0});
    problem.colocated[1].distance = far - 1;
    CHECK(distances(group_colocated(problem, {0, 1, 2}), 3).back() == 2 * far - 1);
}

} // namespace this_test
