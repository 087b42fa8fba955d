// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/stackings.hpp>

#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

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
    stacking_enumerator stackings(problem, solid, limits);
    auto const groups = groups_of(stackings, solid);
    CHECK(stackings.find_below(no_limit, groups) != rigid_group::nowhere);
    CHECK(stackings.find_below(17, groups) == 16); // the aligned one below the others
    CHECK(stackings.find_below(16, groups) == rigid_group::nowhere);
    CHECK(stackings.find_below(0, {}) == rigid_group::nowhere);
    CHECK(stackings.find_below(1, {}) == 0);
}

TEST_CASE("alignments that never agree are distinguished from those that agree too rarely to search for")
{
    byte_count const a = 1 << 20, b = 1'594'323; // 3^13
    placement_problem problem{{{{0, 1}, 8, a}, {{0, 1}, 8, b}}, {}, {}, {{1, 0, 7}}};
    pool_limits const limits;
    solid_parts const solid = solid_parts_of(problem);
    stacking_enumerator stackings(problem, solid, limits);
    CHECK(stackings.least_origin(stackings.group_of(0), 0) == rigid_group::nowhere);
    CHECK(stackings.hit_limit());

    problem.buffers[1].alignment = 2;
    stacking_enumerator others(problem, solid, limits);
    CHECK(others.least_origin(others.group_of(0), 0) == rigid_group::nowhere);
    CHECK(!others.hit_limit());
}

TEST_CASE("on random problems origins and stackings are the lowest possible")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        random_source pick{std::mt19937{seed}};
        auto shape = draw_placement_shape(pick);
        shape.buffers = smaller(shape.buffers, 6u);
        placement_problem const problem = draw_placement(pick, shape);
        CAPTURE(seed);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        stacking_enumerator stackings(problem, solid, problem.pools[0]);
        auto const groups = groups_of(stackings, solid);
        REQUIRE(groups.size() == oracle.groups.size());
        for (rigid_group const& g : groups)
            for (std::int64_t least = 0; least != 12; ++least) {
                auto const should = oracle.least_origin(oracle.group_of[g.members.front()], least);
                CHECK(stackings.least_origin(g, least) ==
                      (should == oracle.unplaceable ? rigid_group::nowhere : should));
            }
        auto const lowest = oracle.lowest_stacking();
        if (lowest == oracle.unplaceable) {
            CHECK(stackings.find_below(no_limit, groups) == rigid_group::nowhere);
        } else {
            CHECK(stackings.find_below(static_cast<byte_count>(lowest) + 1, groups) == lowest);
            CHECK(stackings.find_below(static_cast<byte_count>(lowest), groups) == rigid_group::nowhere);
        }
        CHECK(!stackings.hit_limit());
    }
}

TEST_CASE("groups that can interleave are distinguished from groups that can only be stacked")
{
    unsigned counts[2] = {};
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        random_source pick{std::mt19937{seed}};
        placement_problem const problem =
            pick.below(2) == 0 ? draw_circle(pick) : draw_interlocking(pick, 2 + pick.below(2));
        CAPTURE(seed);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        pool_limits const limits;
        stacking_enumerator stackings(problem, solid, limits);
        bool const expected = oracle.has_other_than_stackings(9);
        CHECK(stackings.can_interleave(groups_of(stackings, solid)) == expected);
        ++counts[expected];
    }
    CHECK(counts[0] > 100);
    CHECK(counts[1] > rounds(100));
}

// --- allowed pools -----------------------------------------------------------------------------------------

TEST_CASE("a buffer without a choice is in its own pool at no cost")
{
    placement_problem const problem{{{{0, 1}, 8}, {{0, 1}, 8, 1, 3}}};
    auto const allowed = allowed_pools_of(problem, {0, 1});
    CHECK(allowed.cost(0, 0) == 0);
    CHECK(allowed.cost(0, 3) == no_limit);
    CHECK(allowed.cost(1, 3) == 0);
    CHECK(allowed.cost(1, 0) == no_limit);
    CHECK(allowed.count(1) == 1);
}

TEST_CASE("a buffer with a choice is in no other pool, and has the lower of two costs")
{
    placement_problem const problem{{{{0, 1}, 8}}, {}, {}, {}, {{0, 2, 7}, {0, 1, 4}, {0, 2, 3}}};
    auto const allowed = allowed_pools_of(problem, {0});
    CHECK(allowed.cost(0, 0) == no_limit);
    CHECK(allowed.cost(0, 1) == 4);
    CHECK(allowed.cost(0, 2) == 3);
    CHECK(allowed.least_cost(0) == 3);
    CHECK(allowed.count(0) == 2);
}

TEST_CASE("a colocation group may be in the pools that all its anchors allow")
{
    placement_problem problem{{{{0, 1}, 8}, {{0, 1}, 8}, {{0, 1}, 8}}, {}, {}, {{2, 0, 0}, {2, 1, 0}}};
    problem.choices = {{0, 0, 3}, {0, 1, 5}, {1, 1, 2}, {1, 2, 0}, {2, 0, 99}}; // 2 is anchored
    auto allowed = allowed_pools_of(problem, {0, 0, 0});
    CHECK(allowed.cost(0, 1) == 7);
    CHECK(allowed.cost(0, 0) == no_limit);
    CHECK(allowed.cost(0, 2) == no_limit);
    CHECK(allowed.count(0) == 1);
    problem.choices.resize(2);
    CHECK(allowed_pools_of(problem, {0, 0, 0}).least_cost(0) == 3);
    problem.choices = {{0, 4, 3}};
    CHECK(allowed_pools_of(problem, {0, 0, 0}).least_cost(0) == no_limit);
    problem.colocated = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}}; // all are anchored, so all choose
    problem.choices = {{0, 1, 3}, {1, 1, 4}, {2, 1, 5}};
    CHECK(allowed_pools_of(problem, {0, 0, 0}).cost(0, 1) == 12);
}

TEST_CASE("a choice of a buffer that does not exist is refused")
{
    placement_problem const problem{{{{0, 1}, 8}}, {}, {}, {}, {{1, 0, 0}}};
    CHECK_THROWS_AS((void)allowed_pools_of(problem, {0}), precondition_error);
}

TEST_CASE("random choices agree with a search through all lists")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        random_source pick{std::mt19937{seed}};
        CAPTURE(seed);
        unsigned const n = 1 + pick.below(6);
        placement_problem problem;
        std::vector<buffer_id> root;
        for (buffer_id b = 0; b != n; ++b) {
            problem.buffers.push_back({{0, 1}, 8, 1, pick.below(3)});
            root.push_back(b);
        }
        for (buffer_id b = 1; b < n; ++b) {
            if (pick.below(2) == 0) continue;
            buffer_id const other = pick.below(b);
            if (pick.below(2) == 0) problem.colocated.push_back({b, other, 0});
            else problem.colocated.push_back({other, b, 0});
            buffer_id const from = std::max(root[b], root[other]), to = std::min(root[b], root[other]);
            std::replace(root.begin(), root.end(), from, to);
        }
        for (unsigned i = pick.below(12); i != 0; --i) {
            buffer_id const b = pick.below(n);
            pool_id const pool = pick.below(3);
            problem.choices.push_back({b, pool, pick.below(5)});
        }
        auto const allowed = allowed_pools_of(problem, root);
        for (buffer_id r = 0; r != n; ++r) {
            if (root[r] != r) continue;
            byte_count least = no_limit;
            for (pool_id pool = 0; pool != 3; ++pool) {
                byte_count sum = 0;
                for (buffer_id b = 0; b != n; ++b) {
                    if (root[b] != r) continue;
                    bool is_anchored = false, has_choice = false;
                    for (placement_problem::colocation const& c : problem.colocated)
                        is_anchored = is_anchored || c.buffer == b;
                    if (is_anchored) continue;
                    byte_count cost = no_limit;
                    for (placement_problem::choice const& c : problem.choices) {
                        if (c.buffer != b) continue;
                        has_choice = true;
                        if (c.pool == pool) cost = std::min(cost, c.cost);
                    }
                    if (!has_choice && problem.buffers[b].pool == pool) cost = 0;
                    sum = sum == no_limit || cost == no_limit ? no_limit : sum + cost;
                }
                CHECK(allowed.cost(r, pool) == sum);
                least = std::min(least, sum);
            }
            CHECK(allowed.least_cost(r) == least);
        }
    }
}

// --- solid parts -------------------------------------------------------------------------------------------

TEST_CASE("a buffer is solid for its live range, except for its gaps outside of their windows")
{
    auto const solid = solid_parts_of(placement_problem{{{{2, 9}, 8}}, {}, {{0, {4, 6}}, {0, {7, 8}, 2, 5}}});
    REQUIRE(solid.parts.size() == 4);
    CHECK(solid.parts[0].when == live_range{2, 4});
    CHECK(solid.parts[1].when == live_range{6, 7});
    CHECK(solid.parts[2].when == live_range{7, 8});
    CHECK(solid.parts[2].begin == 2);
    CHECK(solid.parts[2].end == 5);
    CHECK(solid.parts[3].when == live_range{8, 9});
}

TEST_CASE("two colocated buffers are solid from the lower to the higher, with the bytes between them")
{
    auto const solid = solid_parts_of(
        placement_problem{{{{0, 4}, 8}, {{2, 6}, 8}}, {}, {}, {{.buffer = 0, .anchor = 1, .distance = 24}}});
    CHECK(solid.root == std::vector<buffer_id>{0, 0});
    CHECK(solid.above == std::vector<byte_count>{24, 0});
    REQUIRE(solid.parts.size() == 3);
    CHECK(solid.parts[1].when == live_range{2, 4});
    CHECK(solid.parts[1].begin == 0);
    CHECK(solid.parts[1].end == 32);
    CHECK(solid.parts[1].buffer == 1);
}

TEST_CASE("two different distances between two buffers are inconsistent")
{
    placement_problem problem{
        {{{0, 4}, 8}, {{0, 4}, 8}, {{0, 4}, 8}}, {}, {}, {{1, 0, 4}, {2, 1, 4}, {2, 0, 8}}};
    CHECK(!solid_parts_of(problem).is_inconsistent[0]);
    problem.colocated[2].distance = 7;
    CHECK(solid_parts_of(problem).is_inconsistent[0]);
    problem.colocated = {{2, 1, 4}, {2, 1, 5}, {1, 0, 8}}; // before the colocation with 0
    CHECK(solid_parts_of(problem).is_inconsistent[0]);
}

TEST_CASE("a colocation chain of any length is followed")
{
    placement_problem problem;
    for (buffer_id b = 0; b != 100'000; ++b) {
        problem.buffers.push_back({{+b, b + 2}, 8});
        if (b != 0) problem.colocated.push_back({b - 1, b, 1}); // each lies below the one before it
    }
    auto const solid = solid_parts_of(problem);
    CHECK(solid.above.front() == 99'999);
    CHECK(solid.above.back() == 0);
    CHECK(solid.parts.size() == 100'001);
}

TEST_CASE("gaps and colocations of buffers that do not exist are refused")
{
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {{1, {0, 1}}}}),
                    precondition_error);
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {}, {{0, 1, 8}}}),
                    precondition_error);
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {}, {{1, 0, 8}}}),
                    precondition_error);
}

TEST_CASE("on random problems the solid parts agree with the definition")
{
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        random_source pick{std::mt19937{seed}};
        auto shape = draw_placement_shape(pick);
        shape.colocated += 20;
        placement_problem const problem = draw_placement(pick, shape);
        CAPTURE(seed);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
            std::size_t const g = oracle.group_of[b];
            REQUIRE((solid.needs_place[b] != 0) == (g != oracle.none));
            if (g == oracle.none) continue;
            CHECK((solid.is_inconsistent[solid.root[b]] != 0) == oracle.groups[g].clashes);
            for (buffer_id other = 0; other != b; ++other)
                if (oracle.group_of[other] != oracle.none)
                    CHECK((solid.root[b] == solid.root[other]) == (g == oracle.group_of[other]));
        }
        std::vector<std::vector<placement_oracle::extent>> found(oracle.groups.size());
        for (auto& row : found) row.resize(20);
        for (std::size_t i = 0; i != solid.parts.size(); ++i) {
            solid_part const& p = solid.parts[i];
            auto& row = found[oracle.group_of[p.buffer]];
            for (position_id at = p.when.first; at != p.when.last; ++at) {
                CHECK(!row[at].is_solid());
                row[at] = {static_cast<std::int64_t>(p.begin), static_cast<std::int64_t>(p.end)};
            }
            CHECK(p.begin >= solid.above[p.buffer]);
            if (i != 0) CHECK(solid.root[solid.parts[i - 1].buffer] <= solid.root[p.buffer]);
        }
        for (std::size_t g = 0; g != oracle.groups.size(); ++g) {
            if (oracle.groups[g].clashes) continue; // the distance is undefined
            for (auto const& p : oracle.groups[g].parts)
                CHECK(static_cast<std::int64_t>(solid.above[p.buffer]) == p.distance);
            for (std::size_t at = 0; at != found[g].size(); ++at) {
                auto const should = at < oracle.groups[g].solid.size() ? oracle.groups[g].solid[at]
                                                                       : placement_oracle::extent{};
                CHECK(found[g][at].begin == should.begin);
                CHECK(found[g][at].end == should.end);
            }
        }
    }
}

} // namespace this_test
