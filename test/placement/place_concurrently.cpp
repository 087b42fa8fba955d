// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../view_sizes.hpp"

#include <sublet/analysis/dependences.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <iterator>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The buffers of a random program, as a planner passes them, and by buffer one of its values.
struct drawn_problem {
    table<buffer_id, value_id> root;
    placement_problem problem;
    concurrent_live_ranges lives;
    conflict_ranges conflicts;

    explicit drawn_problem(random_tasks const& tasks)
    {
        snapshot const p = tasks.program();
        table<value_id, buffer_id> buffer_of(tasks.values(), no_buffer);
        for (value_id v = 0; v != tasks.values(); ++v) {
            value_id const r = root_of(tasks.alias_of, v);
            if (r == v && tasks.role[v] != value_role::external) {
                buffer_of[v] = buffer_id::of(root.size());
                root.push_back(v);
                problem.buffers.push_back({{}, tasks.bytes[v], tasks.alignment[v], tasks.pool[v]});
            }
            buffer_of[v] = buffer_of[r];
        }
        dependence_graph const g = dependences(p, {.role = tasks.role});
        lives = concurrent_lifetimes(p, g, root.size(), buffer_of, tasks.role);
        conflicts = find_conflict_ranges(g, lives);
    }
};

bool overlap(byte_count a, byte_count a_size, byte_count b, byte_count b_size)
{
    return a < b + b_size && b < a + a_size;
}

random_tasks_shape draw_shape(random_source& pick)
{
    return {.tasks = 2 + pick.below(20),
            .views = 10 * pick.below(3),
            .pools = 1 + pick.below(2),
            .alignments = 1 + pick.below(9)};
}

/// Buffers that overlap in bytes may share by definition; offsets are aligned, tops below the height.
bool is_valid(drawn_problem const& drawn, sharing_rule const& rule, placement const& p)
{
    auto const& b = drawn.problem.buffers;
    for (std::size_t i = 0; i != b.size(); ++i) {
        if ((p.offset[i] == no_offset) != (b[i].size == 0)) return false;
        if (b[i].size == 0) continue;
        if (p.offset[i] % b[i].alignment != 0) return false;
        if (p.offset[i] + b[i].size > p.pools[b[i].pool].height) return false;
        for (std::size_t j = 0; j != i; ++j)
            if (b[j].size != 0 && b[i].pool == b[j].pool &&
                overlap(p.offset[i], b[i].size, p.offset[j], b[j].size) &&
                !rule.may_share(drawn.root[i], drawn.root[j]))
                return false;
    }
    return true;
}

/// Buffers that begin at one position each and end there, or that are all outputs. If `with_branch`, the
/// first also begins behind all others, so that conflicts are no live ranges in one order.
struct chain_problem {
    concurrent_live_ranges lives;
    buffer_range_lists conflicts;
    chain_problem(std::uint32_t n, bool all_conflict, bool with_branch = false)
    {
        lives.positions = n + with_branch;
        std::vector<std::uint32_t> first{0};
        std::vector<live_range> ranges;
        for (std::uint32_t b = 0; b != n; ++b) {
            lives.begins.append(b);
            if (with_branch && b == 0) lives.begins.append(n);
            lives.begins.close_row();
            lives.ends.append(all_conflict ? n : b);
            lives.ends.close_row();
            ranges.push_back({b, all_conflict ? n : b + 1});
            first.push_back(b + 1);
        }
        conflicts = {live_range_lists::source::from_liveness, lives.positions, first, ranges};
    }
};

placement place_all(std::vector<placement_problem::buffer> buffers, bool all_conflict = true,
                    std::vector<pool_limits> pools = {})
{
    chain_problem const row(static_cast<std::uint32_t>(buffers.size()), all_conflict);
    return place_concurrently(placement_problem{std::move(buffers), std::move(pools)}, row.lives,
                              row.conflicts);
}

} // namespace

TEST_CASE("with most_visits a pool may have no placement, and that is reported")
{
    std::vector<placement_problem::buffer> const buffers(1000, placement_problem::buffer{{}, 8});
    chain_problem const row(1000, false, true);
    placement_problem const problem{buffers, {}};
    auto place_within = [&](std::uint64_t visits, std::uint64_t most_visits) {
        return place_concurrently(problem, row.lives, row.conflicts,
                                  {.visits = visits, .most_visits = most_visits});
    };
    placement const failed = place_within(1, 2);
    CHECK(failed.is_cut_short);
    CHECK(failed.status == placement::outcome::limit);
    CHECK(failed.pools[0].height == no_limit);
    CHECK(failed.offset == std::vector<byte_count>(1000, no_offset));

    placement const budgeted = place_within(1, no_limit); // puts the remaining buffers on top
    CHECK(budgeted.pools[0].height != no_limit);
    CHECK(place_within(100'000'000, 200'000'000).pools[0].height == 8);
}

namespace {

/// The optimal height: first fit reaches it in some order.
byte_count lowest_height(drawn_problem const& drawn, sharing_rule const& rule)
{
    auto const& all = drawn.problem.buffers;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i != all.size(); ++i)
        if (all[i].size != 0) order.push_back(i);
    byte_count best = no_limit;
    do {
        byte_count height = 0;
        std::vector<byte_count> offset(all.size(), no_offset);
        for (std::size_t i : order) {
            byte_count at = 0;
            auto is_free = [&] {
                return std::none_of(order.begin(), order.end(), [&](std::size_t j) {
                    return offset[j] != no_offset && overlap(at, all[i].size, offset[j], all[j].size) &&
                           !rule.may_share(drawn.root[i], drawn.root[j]);
                });
            };
            while (!is_free()) at += all[i].alignment;
            offset[i] = at;
            height = std::max(height, at + all[i].size);
        }
        best = std::min(best, height);
    } while (std::next_permutation(order.begin(), order.end()));
    return order.empty() ? 0 : best;
}

} // namespace

TEST_CASE("buffers that may reuse each other's bytes share an offset, conflicting ones do not overlap")
{
    CHECK(place_all({{{}, 8}, {{}, 4}, {{}, 6}}, false).pools[0].height == 8);
    auto const apart = place_all({{{}, 8}, {{}, 4}, {{}, 6}});
    CHECK(apart.status <= placement::outcome::feasible);
    CHECK(apart.pools[0].height == 18);
}

TEST_CASE("a problem without buffers has no pools, and buffers of 0 bytes need no bytes of a pool")
{
    CHECK(place_all({}).pools.empty());
    auto const p = place_all({{{}, 0}, {{}, 0, 4, 0, 6}});
    CHECK(p.offset == std::vector<byte_count>{no_offset, no_offset});
    CHECK(p.pools[0].height == 0);
    CHECK(p.status <= placement::outcome::feasible);
}

TEST_CASE("each pool is a separate arena with its own alignment and capacity")
{
    auto const p = place_all({{{}, 10}, {{}, 10}, {{}, 10, 6, 1}, {{}, 10, 1, 1}}, true, {{20, 1}, {21, 4}});
    CHECK(p.pools[0].height == 20);
    CHECK(p.pools[1].height == 22);
    CHECK(p.offset[2] % 12 == 0);
    CHECK(p.offset[3] % 4 == 0);
    CHECK(p.status == placement::outcome::limit);
    CHECK(p.pool == 1);
}

TEST_CASE("pins are kept, and other buffers are placed around them")
{
    auto const p = place_all({{{}, 10, 1, 0, 5}, {{}, 10}, {{}, 5}});
    CHECK(p.status <= placement::outcome::feasible);
    CHECK(p.offset == std::vector<byte_count>{5, 15, 0});
    CHECK(p.pools[0].height == 25);
    auto const high = place_all({{{}, 10, 1, 0, 100}});
    CHECK(high.pools[0].lower_bound == 110);
    CHECK(high.pools[0].packings == 1);
}

TEST_CASE("conflicting and misaligned pins are reported, those of the first pool first")
{
    auto const clash = place_all({{{}, 10, 1, 0, 40}, {{}, 10, 1, 0, 5}, {{}, 10, 1, 0, 14}, {{}, 9}});
    CHECK(clash.status == placement::outcome::infeasible);
    CHECK(clash.pools[0].proof.kind == placement::proof::reason::pins_clash);
    CHECK(clash.pools[0].proof.buffers == std::vector<buffer_id>{1, 2});
    CHECK(clash.offset == std::vector<byte_count>(4, no_offset));
    CHECK(place_all({{{}, 10, 1, 0, 5}, {{}, 10, 1, 0, 14}}, false).status <= placement::outcome::feasible);
    auto const misaligned = place_all({{{}, 8, 1, 1}, {{}, 10, 4, 1, 6}, {{}, 8, 3, 0, 3}}, true, {{1, 1}});
    CHECK(misaligned.status == placement::outcome::infeasible);
    CHECK(misaligned.pool == 0);
    CHECK(misaligned.pools[0].proof.kind == placement::proof::reason::top_of_pin);
    CHECK(misaligned.pools[0].proof.buffers == std::vector<buffer_id>{2});
    CHECK(misaligned.offset[0] == no_offset);
    auto const only = place_all({{{}, 8, 1, 1}, {{}, 10, 4, 1, 6}, {{}, 8, 3, 0, 3}});
    CHECK(only.status == placement::outcome::infeasible);
    CHECK(only.pool == 1);
    CHECK(only.pools[1].proof.kind == placement::proof::reason::pin_misaligned);
    CHECK(only.pools[1].proof.buffers == std::vector<buffer_id>{1});
    CHECK(only.offset[2] == 3);
}

TEST_CASE("violated preconditions are refused")
{
    CHECK_THROWS_AS((void)place_all({{{}, 8, 0}}), precondition_error);
    CHECK_THROWS_AS((void)place_all({{{}, no_size}}), precondition_error);
    CHECK_THROWS_AS((void)place_all({{{}, no_size - 1}, {{}, 8}}), precondition_error);
    CHECK_THROWS_AS((void)place_all({{{}, 8, 1, 0, no_offset - 4}}), precondition_error);
    chain_problem const row(2, true);
    CHECK_THROWS_AS((void)place_concurrently(placement_problem{{{{}, 8}}}, row.lives, row.conflicts),
                    precondition_error);
}

TEST_CASE("only buffers that may share overlap in bytes, for any budget")
{
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, draw_shape(pick));
        drawn_problem drawn(tasks);
        if (pick.below(3) == 0 && !drawn.problem.buffers.empty()) {
            auto& b = pick.one_of(drawn.problem.buffers);
            b.pinned = b.alignment * pick.below(20);
        }
        sharing_rule const rule(tasks);
        std::uint64_t const visits = pick.below(2) == 0 ? pick.below(3000) : 100000;
        place_concurrently_options const how{.visits = visits, .searches = seed % 2 != 0};
        auto const p = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of, how);
        REQUIRE(p.status <= placement::outcome::feasible);
        REQUIRE(is_valid(drawn, rule, p));
        for (std::size_t b = 0; b != p.offset.size(); ++b)
            if (drawn.problem.buffers[b].pinned != no_offset && drawn.problem.buffers[b].size != 0)
                REQUIRE(p.offset[b] == drawn.problem.buffers[b].pinned);
        auto const again = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of, how);
        REQUIRE(again.offset == p.offset);
    }
}

TEST_CASE("buffers share a position if and only if they conflict, and those of an antichain share one")
{
    std::size_t with_gaps = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, draw_shape(pick));
        drawn_problem const drawn(tasks);
        std::vector<buffer_id> members;
        table<buffer_id, placement_problem::buffer> buffers;
        for (buffer_id b = 0; b != drawn.problem.buffers.size(); ++b) {
            if (drawn.problem.buffers[b].size == 0) continue;
            members.push_back(b);
            buffers.push_back(drawn.problem.buffers[b]);
        }
        placement_conflicts const conflicts = conflicts_among(members, drawn.lives, drawn.conflicts.of);
        table<buffer_id, unsigned char> is_in_antichain(buffers.size()); // greedy, from a random one on
        auto is_apart = [&](buffer_id b) {
            for (buffer_id a = 0; a != buffers.size(); ++a)
                if (is_in_antichain[a] != 0 && !conflicts.conflict(a, b)) return false;
            return true;
        };
        for (buffer_id b : pick.permutation<buffer_id>(buffers.size()))
            is_in_antichain[b] = static_cast<unsigned char>(is_apart(b));
        auto const found = positions_of_conflicts(buffers, conflicts, is_in_antichain);
        REQUIRE(found);
        with_gaps += !found->gaps.empty();
        auto at = [&](buffer_id b) {
            std::vector<position_id> positions;
            for (position_id i = found->buffers[b].life.first; i != found->buffers[b].life.last; ++i)
                if (std::none_of(found->gaps.begin(), found->gaps.end(),
                                 [&](placement_problem::gap const& g) {
                                     return g.buffer == b && contains(g.when, i);
                                 }))
                    positions.push_back(i);
            return positions;
        };
        auto common = [](std::vector<position_id> const& x, std::vector<position_id> const& y) {
            std::vector<position_id> both;
            std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
            return both;
        };
        std::vector<position_id> of_all;
        bool is_first = true;
        for (buffer_id b = 0; b != buffers.size(); ++b) {
            for (buffer_id a = 0; a != b; ++a)
                REQUIRE(common(at(a), at(b)).empty() != conflicts.conflict(a, b));
            if (is_in_antichain[b] == 0) continue;
            of_all = is_first ? at(b) : common(of_all, at(b));
            is_first = false;
        }
        REQUIRE(of_all.empty() == is_first);
    }
    CHECK(with_gaps > rounds(50));
}

TEST_CASE("buffers of steps in one order are placed as pack() places them")
{
    std::size_t searched = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const n = 2 + pick.below(40);
        concurrent_live_ranges lives;
        lives.positions = n;
        std::vector<std::uint32_t> first{0};
        table<buffer_id, live_range> ranges;
        placement_problem problem;
        for (std::uint32_t b = 0; b != n; ++b) { // each begins at a position of its own
            live_range const its{b, smaller(n, b + 1 + pick.below(8))};
            problem.buffers.push_back({its, 1 + byte_count{pick.below(30)}, 1 + byte_count{pick.below(3)}});
            if (pick.below(40) == 0 && b == 0) problem.buffers.back().pinned = 6 * byte_count{pick.below(5)};
            lives.begins.append(b);
            lives.begins.close_row();
            lives.ends.append(its.last);
            lives.ends.close_row();
            ranges.push_back(its);
            first.push_back(b + 1);
        }
        buffer_range_lists const conflicts{live_range_lists::source::from_liveness, n, first, ranges};
        placement const line = pack(problem), all = place_concurrently(problem, lives, conflicts);
        REQUIRE(all.pools[0].height == line.pools[0].height);
        REQUIRE(all.offset == line.offset);
        REQUIRE_FALSE(all.is_cut_short);
        searched += line.pools[0].height > line.pools[0].lower_bound;
        // Without work for a search it is valid, too.
        placement const quick = place_concurrently(problem, lives, conflicts, {.visits = 0});
        for (buffer_id a = 0; a != n; ++a)
            for (buffer_id b = 0; b != a; ++b)
                if (ranges[b].last > +a) // b begins first
                    REQUIRE_FALSE(overlap(quick.offset[a], problem.buffers[a].size, quick.offset[b],
                                          problem.buffers[b].size));
    }
    CHECK(searched > 0);
}

TEST_CASE("the order of offsets that are nearly valid is tried first, and none ends above its offset there")
{
    std::size_t lower = 0;
    for (std::uint32_t seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const n = 20 + pick.below(40);
        concurrent_live_ranges lives;
        lives.positions = n;
        std::vector<std::uint32_t> first{0};
        std::vector<live_range> ranges;
        placement_problem problem;
        for (std::uint32_t b = 0; b != n; ++b) { // each begins at a position of its own; most have a hole
            std::uint32_t const end = smaller(n, b + 1 + pick.below(8)), again = end + 1 + pick.below(6);
            problem.buffers.push_back({{}, 1 + byte_count{pick.below(30)}});
            ranges.push_back({b, end});
            if (again < n) ranges.push_back({again, smaller(n, again + 1 + pick.below(4))});
            first.push_back(static_cast<std::uint32_t>(ranges.size()));
            lives.begins.append(b);
            lives.begins.close_row();
            lives.ends.append(end);
            lives.ends.close_row();
        }
        buffer_range_lists const conflicts{live_range_lists::source::from_liveness, n, first, ranges};
        placement const best = place_concurrently(problem, lives, conflicts);
        auto height_of = [&](place_concurrently_options const& options) {
            return place_concurrently(problem, lives, conflicts, options).pools[0].height;
        };
        byte_count const with = height_of({.nearly = best.offset, .visits = 1});
        REQUIRE(with <= best.pools[0].height);
        lower += with < height_of({.visits = 1});
    }
    CHECK(lower > rounds(30));
}

TEST_CASE("sizes that pack() refuses are placed where all steps have one order")
{
    byte_count const large = byte_count{1} << 62;
    CHECK(place_all({{{}, large}, {{}, large - 1}}).pools[0].height == 2 * large - 1);
}

TEST_CASE("up to six buffers: no lower than the best order, and as low without alignment")
{
    std::size_t higher = 0, all = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(
            pick,
            {.tasks = 2 + pick.below(6), .outputs = 1, .views = 10, .alignments = seed % 2 == 0 ? 1u : 12u});
        drawn_problem const drawn(tasks);
        if (drawn.root.empty() || drawn.root.size() > 6) continue;
        auto const p = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of);
        byte_count const lowest = lowest_height(drawn, sharing_rule(tasks));
        REQUIRE(p.pools[0].height >= lowest);
        if (seed % 2 == 0) REQUIRE(p.pools[0].height == lowest);
        ++all;
        higher += p.pools[0].height != lowest;
    }
    CHECK(all > rounds(1000));
    CHECK(20 * higher < all);
}

TEST_CASE("no placement is higher than the fallback, even with no visits")
{
    std::size_t lower = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, draw_shape(pick));
        drawn_problem const drawn(tasks);
        sharing_rule const rule(tasks);
        std::vector<byte_count> fallback, top(2, 0); // separate bytes for each, with gaps between them
        for (placement_problem::buffer const& b : drawn.problem.buffers) {
            fallback.push_back(b.size == 0 ? no_offset : align_up(top[b.pool] + pick.below(3), b.alignment));
            if (b.size != 0) top[b.pool] = fallback.back() + b.size;
        }
        for (std::uint64_t visits : {0u, 1000000u}) {
            auto const p = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of,
                                              {.fallback = fallback, .visits = visits});
            REQUIRE(is_valid(drawn, rule, p));
            for (std::size_t i = 0; i != p.pools.size(); ++i) {
                REQUIRE(p.pools[i].height <= top[i]);
                if (visits == 0) lower += p.pools[i].height < top[i];
            }
        }
        // A fallback at the bound is returned unchanged.
        auto const same = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of,
                                             {.bounds = top, .fallback = fallback});
        REQUIRE(same.offset == fallback);
    }
    CHECK(lower > rounds(400));
}

TEST_CASE("a met bound ends the search, and is in the result")
{
    chain_problem const row(3, true, true);
    placement_problem const problem{{{{}, 8}, {{}, 4}, {{}, 6}}};
    auto const p = place_concurrently(problem, row.lives, row.conflicts, {.bounds = {18}});
    CHECK(p.pools[0].packings == 1);
    CHECK(p.pools[0].lower_bound == 18);
    CHECK(place_concurrently(problem, row.lives, row.conflicts).pools[0].packings > 1);
    CHECK(place_concurrently(problem, row.lives, row.conflicts, {.bounds = {7}}).pools[0].lower_bound == 8);
}

} // namespace this_test
