// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/place.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

// The short way for pools of a few buffers is taken if nothing hears of the search: with a listener every
// pool takes the long way, and the results are the same.

namespace this_test {

using namespace sublet;

namespace {

placement_problem draw_problem(random_source& pick)
{
    placement_problem problem;
    unsigned const pools = 1 + pick.below(3), positions = 2 + pick.below(pick.below(2) == 0 ? 12 : 200);
    byte_count const unit = pick.below(3) == 0 ? 64 : 1;
    bool const has_alignments = pick.below(2) == 0, has_rarities = pick.below(4) == 0;
    for (unsigned p = pick.below(4) == 0 ? 0 : pools; p-- != 0;) {
        pool_limits limits;
        if (pick.below(4) == 0) limits.alignment = 1 + pick.below(24);
        if (pick.below(4) == 0) limits.capacity = 100 + pick.below(4000);
        if (has_rarities && pick.below(4) == 0) limits.largest_block = 2000 + pick.below(4000);
        problem.pools.push_back(limits);
    }
    for (unsigned n = pick.below(pick.below(4) == 0 ? 300 : 40); n-- != 0;) {
        placement_problem::buffer b;
        unsigned const first = pick.below(positions);
        b.life = {first, first + pick.below(pick.below(4) == 0 ? positions : 6)};
        b.size = unit * pick.below(pick.below(8) == 0 ? 1000 : 60);
        if (has_alignments) b.alignment = 1 + pick.below(20);
        b.pool = pick.below(pools);
        if (has_rarities && pick.below(40) == 0) b.size = byte_count{1} << (38 + pick.below(4));
        if (has_rarities && pick.below(30) == 0) b.pinned = b.alignment * pick.below(30);
        if (has_rarities && pick.below(30) == 0) b.preferred = b.alignment * pick.below(30);
        if (has_rarities && pick.below(100) == 0) b.alignment = 0;
        problem.buffers.push_back(b);
    }
    auto const n = static_cast<unsigned>(problem.buffers.size());
    if (has_rarities && n > 2 && pick.below(2) == 0) {
        buffer_id const b = pick.below(n), anchor = pick.below(n);
        problem.buffers[b].pool = problem.buffers[anchor].pool;
        if (b != anchor) problem.colocated.push_back({b, anchor, 4 * pick.below(3)});
    }
    if (has_rarities && n != 0 && pick.below(3) == 0)
        problem.gaps.push_back({buffer_id{pick.below(n)}, {3, 5}, 0, 0});
    return problem;
}

bool are_equal(placement const& a, placement const& b)
{
    bool same = a.offset == b.offset && a.pools.size() == b.pools.size() && a.status == b.status;
    for (pool_id p = 0; same && p != a.pools.size(); ++p) {
        placement::pool_result const &x = a.pools[p], &y = b.pools[p];
        same = x.height == y.height && x.lower_bound == y.lower_bound && x.peak_position == y.peak_position &&
               x.packings == y.packings && x.nodes == y.nodes && x.status == y.status &&
               x.blocks == y.blocks && x.proof.kind == y.proof.kind && x.proof.bytes == y.proof.bytes &&
               x.proof.position == y.proof.position && x.proof.buffers == y.proof.buffers;
    }
    return same;
}

/// None if it is refused.
std::optional<placement> placed(placement_problem const& problem, place_options const& options)
{
    try {
        return place(problem, options);
    } catch (precondition_error const&) {
        return std::nullopt;
    }
}

} // namespace

TEST_CASE("pools of a few buffers are placed as they are on the long way")
{
    unsigned at_bound = 0, above = 0, refused = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(4000); seed != end; ++seed) {
        random_source pick{std::mt19937(seed)};
        placement_problem const problem = draw_problem(pick);
        place_options options{.effort = pick.below(2) == 0 ? effort(effort::fast) : effort(2000)};
        if (pick.below(3) == 0) options.objective = placement::objective::fit;
        auto const found = placed(problem, options);
        options.progress = [](byte_count, byte_count, std::uint64_t) {};
        auto const expected = placed(problem, options);
        INFO("seed ", seed);
        REQUIRE(found.has_value() == expected.has_value());
        if (!found) {
            ++refused;
            continue;
        }
        CHECK(are_equal(*found, *expected));
        for (placement::pool_result const& pool : found->pools)
            ++(pool.height == pool.lower_bound && pool.packings == 1 ? at_bound : above);
    }
    CHECK(at_bound > above);
    CHECK(above > 0);
    CHECK(refused > 0);
}

} // namespace this_test
