// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/stackings.hpp>

#include "../dice.hpp"
#include "../placement_oracle.hpp"
#include "../random_placements.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// The groups of pool 0 that need a place, by root.
template <class Stackings>
std::vector<rigid_group> groups_of(Stackings& stackings, solid_parts const& solid)
{
    std::vector<rigid_group> groups;
    for (buffer_id b = 0; b != solid.root.size(); ++b) {
        if (solid.root[b] != b) continue;
        rigid_group group = stackings.group_of(b);
        if (!group.members.empty()) groups.push_back(group);
    }
    return groups;
}

} // namespace

TEST_CASE("a lower stacking is found, and none below the lowest")
{
    placement_problem const problem{{{{0, 2}, 8}, {{1, 3}, 8, 3}, {{2, 4}, 8}}};
    pool_limits const limits;
    solid_parts const solid = solid_parts_of(problem);
    all_stackings stackings(problem, solid, limits);
    auto const groups = groups_of(stackings, solid);
    CHECK(stackings.lower_than(no_limit, groups) != rigid_group::nowhere);
    CHECK(stackings.lower_than(17, groups) == 16); // the aligned one below the others
    CHECK(stackings.lower_than(16, groups) == rigid_group::nowhere);
    CHECK(stackings.lower_than(0, {}) == rigid_group::nowhere);
    CHECK(stackings.lower_than(1, {}) == 0);
}

TEST_CASE("alignments that never agree are told from those that do so too rarely to look for it")
{
    byte_count const a = 1 << 20, b = 1'594'323; // 3^13
    placement_problem problem{{{{0, 1}, 8, a}, {{0, 1}, 8, b}}, {}, {}, {{1, 0, 7}}};
    pool_limits const limits;
    solid_parts const solid = solid_parts_of(problem);
    all_stackings stackings(problem, solid, limits);
    CHECK(stackings.least_origin(stackings.group_of(0), 0) == rigid_group::nowhere);
    CHECK(stackings.is_too_long());

    problem.buffers[1].alignment = 2;
    all_stackings others(problem, solid, limits);
    CHECK(others.least_origin(others.group_of(0), 0) == rigid_group::nowhere);
    CHECK(!others.is_too_long());
}

TEST_CASE("on random problems origins and stackings are the lowest there are")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        dice roll{std::mt19937{seed}};
        auto shape = draw_placement_shape(roll);
        shape.buffers = smaller(shape.buffers, 6u);
        placement_problem const problem = draw_placement(roll, shape);
        std::ostringstream out;
        out << problem;
        std::string const literal = out.str();
        CAPTURE(seed);
        CAPTURE(literal);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        all_stackings stackings(problem, solid, problem.pools[0]);
        auto const groups = groups_of(stackings, solid);
        REQUIRE(groups.size() == oracle.groups.size());
        for (rigid_group const& g : groups)
            for (std::int64_t least = 0; least != 12; ++least) {
                auto const should = oracle.least_origin(oracle.group_of[g.members.front()], least);
                CHECK(stackings.least_origin(g, least) ==
                      (should == oracle.never ? rigid_group::nowhere : should));
            }
        auto const lowest = oracle.lowest_stacking();
        if (lowest == oracle.never) {
            CHECK(stackings.lower_than(no_limit, groups) == rigid_group::nowhere);
        } else {
            CHECK(stackings.lower_than(static_cast<byte_count>(lowest) + 1, groups) == lowest);
            CHECK(stackings.lower_than(static_cast<byte_count>(lowest), groups) == rigid_group::nowhere);
        }
        CHECK(!stackings.is_too_long());
    }
}

TEST_CASE("what can be threaded is told from what can only be stacked")
{
    unsigned counts[2] = {};
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        dice roll{std::mt19937{seed}};
        placement_problem const problem =
            roll.below(2) == 0 ? draw_circle(roll) : draw_interlocking(roll, 2 + roll.below(2));
        std::ostringstream out;
        out << problem;
        std::string const literal = out.str();
        CAPTURE(seed);
        CAPTURE(literal);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        pool_limits const limits;
        all_stackings stackings(problem, solid, limits);
        bool const expected = oracle.has_other_than_stackings(9);
        CHECK(stackings.can_be_threaded(groups_of(stackings, solid)) == expected);
        ++counts[expected];
    }
    CHECK(counts[0] > 100);
    CHECK(counts[1] > rounds(100));
}

} // namespace this_test
