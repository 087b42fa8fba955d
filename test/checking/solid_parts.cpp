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

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a buffer is solid for its life, but for its gaps and around their windows")
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

TEST_CASE("two that are colocated are solid from the lower to the higher, and what is between them is too")
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

TEST_CASE("who is tied in two ways that differ contradicts itself")
{
    placement_problem problem{
        {{{0, 4}, 8}, {{0, 4}, 8}, {{0, 4}, 8}}, {}, {}, {{1, 0, 4}, {2, 1, 4}, {2, 0, 8}}};
    CHECK(!solid_parts_of(problem).contradicts[0]);
    problem.colocated[2].distance = 7;
    CHECK(solid_parts_of(problem).contradicts[0]);
    problem.colocated = {{2, 1, 4}, {2, 1, 5}, {1, 0, 8}}; // before it is tied to 0
    CHECK(solid_parts_of(problem).contradicts[0]);
}

TEST_CASE("a chain of ties of any length is followed")
{
    placement_problem problem;
    for (buffer_id b = 0; b != 100'000; ++b) {
        problem.buffers.push_back({{b, b + 2}, 8});
        if (b != 0) problem.colocated.push_back({b - 1, b, 1}); // each lies below the one before it
    }
    auto const solid = solid_parts_of(problem);
    CHECK(solid.above.front() == 99'999);
    CHECK(solid.above.back() == 0);
    CHECK(solid.parts.size() == 100'001);
}

TEST_CASE("gaps and ties of buffers that do not exist are refused")
{
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {{1, {0, 1}}}}),
                    precondition_error);
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {}, {{0, 1, 8}}}),
                    precondition_error);
    CHECK_THROWS_AS((void)solid_parts_of(placement_problem{{{{0, 1}, 8}}, {}, {}, {{1, 0, 8}}}),
                    precondition_error);
}

TEST_CASE("on random problems what is solid is what the definitions say")
{
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        dice roll{std::mt19937{seed}};
        auto shape = draw_placement_shape(roll);
        shape.colocated += 20;
        placement_problem const problem = draw_placement(roll, shape);
        std::ostringstream out;
        out << problem;
        std::string const literal = out.str();
        CAPTURE(seed);
        CAPTURE(literal);
        placement_oracle const oracle(problem);
        solid_parts const solid = solid_parts_of(problem);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
            std::size_t const g = oracle.group_of[b];
            REQUIRE((solid.needs_place[b] != 0) == (g != oracle.none));
            if (g == oracle.none) continue;
            CHECK((solid.contradicts[solid.root[b]] != 0) == oracle.groups[g].clashes);
            for (buffer_id other = 0; other != b; ++other)
                if (oracle.group_of[other] != oracle.none)
                    CHECK((solid.root[b] == solid.root[other]) == (g == oracle.group_of[other]));
        }
        std::vector<std::vector<placement_oracle::extent>> found(oracle.groups.size());
        for (auto& row : found) row.resize(20);
        for (std::size_t i = 0; i != solid.parts.size(); ++i) {
            solid_part const& p = solid.parts[i];
            auto& row = found[oracle.group_of[p.buffer]];
            for (step_id at = p.when.first; at != p.when.last; ++at) {
                CHECK(!row[at].is_solid());
                row[at] = {static_cast<std::int64_t>(p.begin), static_cast<std::int64_t>(p.end)};
            }
            CHECK(p.begin >= solid.above[p.buffer]);
            if (i != 0) CHECK(solid.root[solid.parts[i - 1].buffer] <= solid.root[p.buffer]);
        }
        for (std::size_t g = 0; g != oracle.groups.size(); ++g) {
            if (oracle.groups[g].clashes) continue; // how far above is anyone's guess
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
