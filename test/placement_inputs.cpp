// SPDX-License-Identifier: BSL-1.0
#include "../bench/placement_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace this_test {

using namespace bench;

namespace {

std::vector<byte_count> live_bytes(placement_problem const& problem)
{
    std::vector<byte_count> load;
    for (placement_problem::buffer const& b : problem.buffers) {
        if (load.size() < b.life.last) load.resize(b.life.last);
        for (position_id at = b.life.first; at < b.life.last; ++at) load[at] += b.size;
    }
    return load;
}

std::vector<std::tuple<position_id, position_id, byte_count>> sorted(placement_problem const& problem)
{
    std::vector<std::tuple<position_id, position_id, byte_count>> rows;
    for (placement_problem::buffer const& b : problem.buffers)
        rows.push_back({b.life.first, b.life.last, b.size});
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace

TEST_CASE("a dissection has the requested number of buffers, and fills every byte at every position")
{
    for (std::size_t n : {1u, 2u, 3u, 10u, 100u, 400u})
        for (std::uint32_t seed = 1; seed != 20; ++seed) {
            CAPTURE(n);
            CAPTURE(seed);
            placement_problem const drawn = draw_dissection(n, seed);
            CHECK(drawn.buffers.size() == n);
            CHECK(live_bytes(drawn) == std::vector<byte_count>(100, 1024));
            for (placement_problem::buffer const& b : drawn.buffers)
                CHECK((b.size != 0 && !is_empty(b.life)));
        }
    CHECK(sorted(draw_dissection(50, 1)) != sorted(draw_dissection(50, 2)));
    CHECK(sorted(draw_dissection(50, 1)) == sorted(draw_dissection(50, 1)));
}

TEST_CASE("a dissection too small for its buffers is refused") { CHECK_THROWS(draw_dissection(7, 1, 1, 2)); }

TEST_CASE("pieces of cuts fill the rectangle, and do not overlap where they were cut")
{
    for (named_manner const& each : cut_manners)
        for (std::uint32_t seed = 1; seed != 6; ++seed)
            for (std::size_t n : {1u, 2u, 4u, 5u, 40u, 101u}) {
                CAPTURE(each.name);
                CAPTURE(seed);
                CAPTURE(n);
                constexpr std::uint32_t positions = 60;
                constexpr byte_count bytes = 4000;
                cut_dissection const drawn = draw_cuts(each.manner, n, seed, positions, bytes, 20);
                auto const& pieces = drawn.problem.buffers;
                REQUIRE(pieces.size() == n);
                REQUIRE(drawn.offset.size() == n);
                CHECK(live_bytes(drawn.problem) == std::vector<byte_count>(positions, bytes));
                for (std::size_t i = 0; i != n; ++i) {
                    CHECK((pieces[i].size >= 20 && drawn.offset[i] + pieces[i].size <= bytes));
                    for (std::size_t j = 0; j != i; ++j)
                        CHECK((pieces[i].life.last <= pieces[j].life.first ||
                               pieces[j].life.last <= pieces[i].life.first ||
                               drawn.offset[i] + pieces[i].size <= drawn.offset[j] ||
                               drawn.offset[j] + pieces[j].size <= drawn.offset[i]));
                }
            }
    CHECK(sorted(draw_cuts(cut_manner::rows, 50, 1).problem) !=
          sorted(draw_cuts(cut_manner::rows, 50, 2).problem));
    CHECK(sorted(draw_cuts(cut_manner::rows, 50, 1).problem) ==
          sorted(draw_cuts(cut_manner::shuffled, 50, 1).problem));
    CHECK_THROWS(draw_cuts(cut_manner::rows, 7, 1, 2, 60, 20));
}

TEST_CASE("in rows a piece comes after those that lie below it")
{
    cut_dissection const drawn = draw_cuts(cut_manner::rows, 200, 1);
    auto const& pieces = drawn.problem.buffers;
    for (std::size_t i = 0; i != pieces.size(); ++i)
        for (std::size_t j = 0; j != i; ++j)
            if (pieces[i].life.first < pieces[j].life.last && pieces[j].life.first < pieces[i].life.last)
                CHECK(drawn.offset[j] < drawn.offset[i]);
}

TEST_CASE("a variant is the same problem in another order, an odd variant also reversed in time")
{
    placement_problem const original = draw_dissection(30, 1);
    CHECK(sorted(variant(original, 2)) == sorted(original));
    CHECK(variant(original, 2).buffers[0].life.first != original.buffers[0].life.first);
    CHECK(sorted(variant(original, 3)) != sorted(original));
    CHECK(sorted(variant(variant(original, 3), 5)) == sorted(original));
}

TEST_CASE("in a perturbed copy buffers of equal size stay equal, close to the old size")
{
    placement_problem original = draw_placement("random", 2000);
    placement_problem const copy = perturbed(original, 1);
    CHECK(copy.buffers.size() > 1800);
    CHECK(copy.buffers.size() < 1950);
    std::map<position_id, std::vector<byte_count>> born;
    for (placement_problem::buffer const& b : original.buffers) born[b.life.first].push_back(b.size);
    for (placement_problem::buffer const& b : copy.buffers)
        CHECK(std::any_of(born[b.life.first].begin(), born[b.life.first].end(), [&](byte_count size) {
            return 7 * size / 10 <= b.size && b.size <= 13 * size / 10;
        }));
    for (placement_problem::buffer& b : original.buffers) b.size = 1000;
    for (placement_problem::buffer const& b : perturbed(original, 2).buffers)
        CHECK(b.size == perturbed(original, 2).buffers[0].size);
    for (std::uint32_t seed = 0; seed != 10; ++seed)
        CHECK(perturbed({{{{0, 1}, 1}, {{0, 1}, 1}, {{0, 1}, 1}}}, seed).buffers.back().size == 1);
}

TEST_CASE("repeated blocks follow one another, and some buffers live on into the next")
{
    placement_problem const block{{{{10, 30}, 1}, {{20, 1'000'000}, 2}}}; // four positions
    placement_problem const many = repeated(block, 1001);
    REQUIRE(many.buffers.size() == 1001);
    CHECK(many.buffers[1000].life.first == 2000);
    std::size_t long_ones = 0;
    for (std::size_t i = 0; i != many.buffers.size(); ++i) {
        position_id const start = i / 2 * 4 + i % 2;
        std::uint32_t const length = 2;
        CHECK(many.buffers[i].life.first == start);
        CHECK(many.buffers[i].size == 1 + i % 2);
        bool const lives_on = many.buffers[i].life.last != start + length;
        if (lives_on) CHECK(many.buffers[i].life.last == start + length + 2);
        long_ones += lives_on;
    }
    CHECK(long_ones > 20);
    CHECK(long_ones < 100);
}

TEST_CASE("families have their shapes")
{
    for (auto family : placement_families) {
        CAPTURE(family);
        CHECK(draw_placement(family, 1000).buffers.size() == 1000);
    }
    CHECK_THROWS(draw_placement("other", 10));
    for (placement_problem::buffer const& b : draw_placement("together", 1000).buffers)
        CHECK((b.life.first < 1000 && 1000 < b.life.last));
    for (placement_problem::buffer const& b : draw_placement("nested", 1000).buffers)
        CHECK((b.life.last - b.life.first <= 5 || b.life.first + b.life.last == 1000));
}

} // namespace this_test
