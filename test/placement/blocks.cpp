// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/place.hpp>

#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/internal/pack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a pool with a largest block is split where no buffer crosses, at the lowest end")
{
    placement_problem problem{{{{0, 4}, 48}, {{0, 4}, 40}, {{0, 2}, 16}, {{2, 4}, 12}},
                              {{.largest_block = 64}}};
    auto const p = pack(problem);
    using blocks = std::vector<memory_plan::block>;
    CHECK(p.pools[0].height == 104);
    CHECK(p.pools[0].lower_bound == 104);
    REQUIRE(p.pools[0].blocks.size() == 2);
    CHECK(p.pools[0].blocks[0].size + p.pools[0].blocks[1].size == 104);
    CHECK(check_placement(problem, p));
    problem.pools[0].largest_block = 200; // one block suffices: the placement is that without borders
    CHECK(pack(problem).pools[0].blocks == blocks{{0, 0, 104}});
    auto unlimited = problem;
    unlimited.pools.clear();
    CHECK(pack(problem).offset == pack(unlimited).offset);
    CHECK(pack(unlimited).pools[0].blocks.empty());

    problem.pools[0].largest_block = 47;
    auto const refused = pack(problem);
    CHECK(refused.status == placement::outcome::infeasible);
    CHECK(refused.pools[0].proof.kind == placement::proof::reason::over_block);
    CHECK(refused.pools[0].proof.buffers == std::vector<buffer_id>{0});
    CHECK(check_proof(problem, refused, 0));
    problem.pools[0].largest_block = 48;
    problem.buffers[2].pinned = 40;
    CHECK(pack(problem).pools[0].proof.buffers == std::vector<buffer_id>{2});
    problem.buffers[2].pinned = 32;
    auto const pinned = pack(problem);
    CHECK(pinned.offset[2] == 32);
    CHECK(check_placement(problem, pinned));
}

TEST_CASE("blocks hold whole buffers, and end no higher than first fit by size in blocks")
{
    unsigned split = 0, lowest = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_placement_shape shape = draw_placement_shape(pick);
        shape.buffers += pick.below(20);
        placement_problem problem = draw_placement(pick, shape);
        if (pick.below(4) == 0) draw_clocks(pick, problem, 1 + pick.below(3));
        byte_count const largest = shape.scale * (1 + pick.below(3 * shape.sizes));
        problem.pools[0].largest_block = largest;
        auto const p = place(problem, place_options{}, pack_options{.nodes = 2000});
        if (verdict const valid = check_placement(problem, p); !valid) FAIL_CHECK(valid.error());
        verdict const proof = check_proof(problem, p, 0);
        if (!proof && proof.error().what == fault::wrong_proof) FAIL_CHECK(proof.error());
        if (p.status == placement::outcome::infeasible) continue;
        bool is_whole = true;
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
            if (p.offset[b] == no_offset) continue;
            unsigned inside = 0;
            for (memory_plan::block const& block : p.pools[0].blocks)
                inside += block.begin <= p.offset[b] &&
                          p.offset[b] + problem.buffers[b].size <= block.begin + block.size;
            is_whole = is_whole && inside == 1;
        }
        CHECK(is_whole);
        for (memory_plan::block const& block : p.pools[0].blocks) CHECK(block.size <= largest);
        bool const is_split = p.pools[0].blocks.size() > 1;
        split += is_split;
        lowest += is_split && p.pools[0].height == p.pools[0].lower_bound;
        if (!is_split) continue;

        placement moved = p; // a border moved into a buffer is found
        moved.pools[0].blocks[0].size -= 1;
        CHECK(!check_placement(problem, moved));
        moved = p;
        moved.pools[0].blocks[1].begin = p.pools[0].blocks[0].size - 1;
        CHECK(!check_placement(problem, moved));
        moved = p;
        moved.pools[0].blocks = {{0, 0, p.pools[0].height}};
        bool const is_too_large = p.pools[0].height > largest;
        CHECK(bool(check_placement(problem, moved)) != is_too_large);
    }
    CHECK(split > rounds(200));
    CHECK(lowest > split / 4);
}

} // namespace this_test
