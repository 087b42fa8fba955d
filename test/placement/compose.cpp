// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/compose.hpp>

#include "../../bench/placement_inputs.hpp"
#include "../all_shapes.hpp"
#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/detail/proofs.hpp>
#include <sublet/placement/internal/pack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr std::uint64_t many_visits = 100'000'000;

composed_shapes composed(placement_shapes const& all, std::uint64_t visits = many_visits)
{
    deterministic_control control;
    return compose(all, visits, control);
}

/// The placement of a problem with one pool, with no claim beyond its height.
placement placed_at(placement_problem const& problem, placement_shapes const& all,
                    std::vector<byte_count> const& origins)
{
    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    result.pools.resize(1);
    byte_count& height = result.pools[0].height;
    for (shape_part const& p : all.parts) result.offset[p.buffer] = origins[p.shape] + p.distance;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        height = std::max(height, origins[s] + all.shapes[s].size);
    result.status = height == 0 ? placement::outcome::optimal : placement::outcome::feasible;
    result.pools[0].status = result.status;
    return result;
}

/// Packs what is left after composition. The height of the result; 0 if the checker refuses it.
byte_count height_of_composed(placement_problem const& problem, std::uint64_t visits = many_visits)
{
    placement_shapes const all = shapes_of_all(problem);
    composed_shapes const few = composed(all, visits);
    packing const packed = first_packing(few.shapes, lower_bound(few.shapes));
    std::vector<byte_count> origins = few.origins(packed.origin);
    origins.resize(all.size());
    placement const result = placed_at(problem, all, origins);
    CHECK(result.pools[0].height == packed.height);
    return check_placement(problem, result) ? packed.height : 0;
}

} // namespace

TEST_CASE("three pieces around a cut become the rectangle that they were cut from")
{
    placement_problem const problem{{{{0, 4}, 2}, {{4, 9}, 2}, {{0, 9}, 3}}};
    composed_shapes const one = composed(shapes_of_all(problem));
    REQUIRE(one.shapes.size() == 1);
    CHECK(one.shapes.shapes[0].size == 5);
    CHECK((one.shapes.shapes[0].life.first == 0 && one.shapes.pieces[0].when.last == 2));
    CHECK(height_of_composed(problem) == 5);
}

TEST_CASE("five pieces become a pinwheel, with blades of any thickness")
{
    for (byte_count top : {1u, 2u, 7u}) {
        placement_problem const problem{
            {{{0, 6}, 3}, {{6, 9}, 8}, {{2, 6}, 5}, {{0, 2}, 5 + top}, {{2, 9}, top}}};
        CHECK(composed(shapes_of_all(problem)).shapes.size() == 1);
        CHECK(height_of_composed(problem) == 8 + top);
    }
}

TEST_CASE("of several pieces of one size none is chosen to come after another")
{
    placement_problem const problem{{{{0, 4}, 2}, {{1, 4}, 2}, {{4, 9}, 2}}};
    CHECK(composed(shapes_of_all(problem)).shapes.size() == 3);
}

TEST_CASE("alignments hold in a composed shape, and what they forbid is not composed")
{
    placement_problem problem{{{{0, 9}, 3}, {{0, 9}, 8, 4}}};
    CHECK(composed(shapes_of_all(problem)).shapes.size() == 1); // 3 above 8
    CHECK(height_of_composed(problem) == 11);
    problem.buffers[1].size = 7; // 3 above 7 would be aligned, too
    problem.buffers[0].alignment = 2;
    CHECK(composed(shapes_of_all(problem)).shapes.size() == 2);
    CHECK(height_of_composed(problem) == 11);
}

TEST_CASE("pinned shapes, and those with a preferred origin or a gap, stay as they are")
{
    placement_problem const stacked{{{{0, 9}, 3}, {{0, 9}, 3}}};
    placement_problem pinned = stacked, preferred = stacked, with_gap = stacked;
    pinned.buffers[0].pinned = 5;
    preferred.buffers[1].preferred = 5;
    with_gap.gaps = {{0, {2, 3}, 0, 0}};
    for (auto const& problem : {pinned, preferred, with_gap}) {
        CHECK(composed(shapes_of_all(problem)).shapes.size() == 2);
        CHECK(height_of_composed(problem) != 0);
    }
}

TEST_CASE("without visits, or if stopped, nothing or a part is composed")
{
    auto const drawn = bench::draw_cuts(bench::cut_manner::shuffled, 300, 1);
    placement_shapes const all = shapes_of_all(drawn.problem);
    CHECK(composed(all, 0).shapes.size() == 300);
    struct stops final : deterministic_control {
        bool stop(byte_count, byte_count, std::uint64_t) override { return true; }
    } stopped;
    CHECK(compose(all, many_visits, stopped).shapes.size() <= 300);
    for (std::uint64_t visits : {100u, 1000u, 3000u}) {
        CHECK(composed(all, visits).shapes.size() > 1);
        CHECK(height_of_composed(drawn.problem, visits) != 0);
    }
}

TEST_CASE("dissections by cuts become one rectangle again")
{
    for (bench::named_manner const& each : bench::cut_manners)
        for (std::uint32_t seed = 1; seed <= rounds(10); ++seed)
            for (std::size_t n : {1u, 2u, 5u, 9u, 50u, 301u}) {
                CAPTURE(each.name);
                CAPTURE(seed);
                CAPTURE(n);
                auto const drawn = bench::draw_cuts(each.manner, n, seed);
                if (each.manner != bench::cut_manner::pinwheels)
                    CHECK(composed(shapes_of_all(drawn.problem)).shapes.size() == 1);
                CHECK(height_of_composed(drawn.problem) >= 1u << 20);
            }
}

TEST_CASE("small dissections are placed at the optimum that brute force finds")
{
    for (bench::named_manner const& each : bench::cut_manners)
        for (std::uint32_t seed = 1; seed <= rounds(20); ++seed) {
            CAPTURE(each.name);
            CAPTURE(seed);
            auto const drawn = bench::draw_cuts(each.manner, 3 + seed % 4, seed, 8, 12, 1);
            CHECK(placement_oracle(drawn.problem).lowest_stacking() == 12);
            placement const placed = pack(drawn.problem);
            CHECK(check_placement(drawn.problem, placed));
            CHECK(placed.pools[0].height == 12);
        }
}

TEST_CASE("dissections of more pieces than the exact search takes are placed at the bound")
{
    for (bench::named_manner const& each : bench::cut_manners) {
        CAPTURE(each.name);
        auto drawn = bench::draw_cuts(each.manner, max_searched_shapes + 500, 3);
        for (unsigned variants = 0; variants != 2; ++variants) {
            placement const placed = pack(drawn.problem);
            CHECK(check_placement(drawn.problem, placed));
            CHECK(placed.status == placement::outcome::optimal);
            drawn.problem = bench::variant(drawn.problem, 1);
        }
    }
}

TEST_CASE("composed shapes have valid placements that are no lower than the optimum")
{
    unsigned fewer = 0;
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(400); ++seed) {
        random_source pick{std::mt19937(seed)};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.pools = 1;
        shape.gaps = shape.colocated = 0;
        placement_problem problem = draw_placement(pick, shape);
        problem.pools.clear();
        placement_shapes const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none || contradiction(problem, all).bytes == no_limit) continue;
        CAPTURE(seed);
        fewer += composed(all).shapes.size() < all.size();
        byte_count const height = height_of_composed(problem);
        if (all.size() == 0) continue;
        REQUIRE(height != 0);
        CHECK(static_cast<placement_oracle::bytes>(height) >= placement_oracle(problem).lowest_stacking());
    }
    CHECK(fewer > rounds(400) / 20);
}

} // namespace this_test
