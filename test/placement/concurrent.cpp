// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/placement/detail/concurrent.hpp>

#include "../random_conflicts.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<buffer_id>;

namespace {

/// a begins at 0 and is live up to 4, but not where b begins; c and d begin at 2.
placement_conflicts four()
{
    placement_conflicts c;
    c.first_begin = {0, 1, 2, 3, 4};
    c.begin = {0, 1, 2, 2};
    c.ranges = {live_range_lists::source::from_liveness,
                4,
                {0, 2, 3, 4, 5},
                {{0, 1}, {2, 4}, {1, 2}, {2, 3}, {2, 4}}};
    return c;
}

order_keys keys_of_sizes(std::vector<byte_count> const& sizes, std::vector<unsigned char> antichain)
{
    table<buffer_id, placement_problem::buffer> buffers;
    for (byte_count s : sizes) buffers.push_back({{}, s});
    return keys_of(buffers, four(), std::move(antichain));
}

} // namespace

TEST_CASE("each order is sorted by its key")
{
    auto const keys = keys_of_sizes({10, 17, 20, 20}, {1, 0, 0, 1});
    CHECK(keys.conflicting == std::vector<byte_count>{50, 17, 50, 50});
    CHECK(order_by(concurrent_order::size_class, keys) == ids{1, 2, 3, 0});
    CHECK(order_by(concurrent_order::size, keys) == ids{2, 3, 1, 0});
    CHECK(order_by(concurrent_order::area, keys) == ids{2, 3, 0, 1});
    CHECK(order_by(concurrent_order::peak, keys) == ids{3, 0, 2, 1});
    CHECK(order_by(concurrent_order::last, keys) == ids{3, 0, 2, 1});
    CHECK(order_by(concurrent_order::begin, keys) == ids{0, 1, 2, 3});
    CHECK(order_by_levels({1, 0, 0, 1}, keys) == ids{2, 1, 3, 0});
}

TEST_CASE("ties of the size order go to more conflicting bytes")
{
    CHECK(order_by(concurrent_order::size, keys_of_sizes({8, 8, 8, 9}, {0, 0, 0, 0})) == ids{3, 0, 2, 1});
}

TEST_CASE("products of sizes beyond 64 bits are still ordered")
{
    byte_count const large = byte_count{1} << 40;
    CHECK(order_by(concurrent_order::area, keys_of_sizes({large, 4 * large, large, large + (large >> 1)},
                                                         {0, 0, 0, 0})) == ids{1, 3, 0, 2});
}

TEST_CASE("conflicting bytes equal a sum over pairs if each buffer has one begin")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const n = 1 + pick.below(20);
        auto const c = draw_conflicts(pick, n, 1 + pick.below(20), 0);
        std::vector<byte_count> size;
        for (std::size_t i = 0; i != n; ++i) size.push_back(1 + pick.below(100));
        auto const found = conflicting_bytes(c, size);
        for (buffer_id b = 0; b != n; ++b) {
            byte_count sum = 0;
            for (buffer_id other = 0; other != n; ++other)
                if (c.conflict(b, other)) sum += size[other];
            REQUIRE(found[b] == sum);
        }
    }
}

// --- conflicts ---------------------------------------------------------------------------------------------

namespace {

concurrent_live_ranges live_ranges_of(std::vector<std::vector<position_id>> const& begins,
                                      std::uint32_t positions)
{
    concurrent_live_ranges lives;
    lives.positions = positions;
    for (auto const& row : begins) {
        for (position_id at : row) lives.begins.append(at);
        lives.begins.close_row();
        lives.ends.append(positions);
        lives.ends.close_row();
    }
    return lives;
}

using members = std::vector<buffer_id>;

} // namespace

TEST_CASE("buffers conflict if one begins in a range of the other; positions without begins are dropped")
{
    // a begins at 0 and forbids [0, 1) and [3, 4), b begins at 1 and forbids [1, 4), c begins at 3
    auto const lives = live_ranges_of({{0}, {1}, {3}}, 6);
    buffer_range_lists const lists{
        live_range_lists::source::from_liveness, 6, {0, 2, 3, 4}, {{0, 1}, {3, 4}, {1, 4}, {3, 5}}};
    auto const all = conflicts_among(members{0, 1, 2}, lives, lists);
    CHECK(all.positions() == 3);
    CHECK(!all.conflict(0, 1));
    CHECK(all.conflict(0, 2));
    CHECK(all.conflict(2, 0));
    CHECK(all.conflict(1, 2));
    auto const without_b = conflicts_among(members{0, 2}, lives, lists);
    CHECK(without_b.ranges[0].size() == 1); // the hole closes without the buffer that begins in it
    CHECK(without_b.conflict(0, 1));
}

TEST_CASE("an input begins before all others and conflicts with all other inputs")
{
    auto const lives = live_ranges_of({{}, {}, {0}, {2}}, 3);
    buffer_range_lists const lists{
        live_range_lists::source::from_liveness, 3, {0, 1, 2, 3, 4}, {{0, 1}, {0, 3}, {0, 3}, {2, 3}}};
    auto const all = conflicts_among(members{0, 1, 2, 3}, lives, lists);
    CHECK(all.conflict(0, 1));
    CHECK(all.conflict(0, 2));
    CHECK(!all.conflict(0, 3));
    CHECK(all.conflict(1, 3));
    CHECK(all.ranges[1].size() == 1);
}

TEST_CASE("random programs: conflicts follow the sharing rule, also for subsets and several begins")
{
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, {.tasks = 2 + pick.below(20), .views = 20 * pick.below(3)});
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        sharing_rule const rule(tasks);
        table<value_id, buffer_id> buffer_of(tasks.values());
        table<buffer_id, value_id> root;
        for (value_id v = 0; v != tasks.values(); ++v)
            if (rule.root[v] == v) root.push_back(v);
        for (value_id v = 0; v != tasks.values(); ++v)
            for (buffer_id b = 0; b != root.size(); ++b)
                if (root[b] == rule.root[v]) buffer_of[v] = b;
        auto const lives = concurrent_lifetimes(p, g, root.size(), buffer_of, tasks.role);
        members some;
        for (buffer_id b = 0; b != root.size(); ++b)
            if (pick.below(4) != 0) some.push_back(b);
        auto const among = conflicts_among(some, lives, find_conflict_ranges(g, lives).of);
        REQUIRE(among.buffers() == some.size());
        REQUIRE(among.positions() <= some.size() + g.positions());
        for (buffer_id i = 0; i != some.size(); ++i)
            for (buffer_id j = 0; j != i; ++j)
                REQUIRE(among.conflict(i, j) != rule.may_share(root[some[i]], root[some[j]]));
    }
}

// --- fit concurrently --------------------------------------------------------------------------------------

using buffers = table<buffer_id, placement_problem::buffer>;

namespace {

/// First fit by definition: tests pairs, and tries offsets one by one.
packing fit_by_trial(buffers const& all, ids const& order, placement_conflicts const& c, byte_count ceiling)
{
    packing p;
    p.origin.assign(all.size(), no_offset);
    auto is_free = [&](std::uint32_t i, byte_count at) {
        for (std::uint32_t j = 0; j != all.size(); ++j)
            if (p.origin[j] != no_offset && c.conflict(i, j) && p.origin[j] < at + all[i].size &&
                at < p.origin[j] + all[j].size)
                return false;
        return true;
    };
    for (bool pinned : {true, false})
        for (std::uint32_t i : order) {
            if ((all[i].pinned != no_offset) != pinned) continue;
            byte_count at = pinned ? all[i].pinned : 0;
            while (!pinned && !is_free(i, at)) at += all[i].alignment;
            if (!pinned && at + all[i].size > ceiling) {
                p.height = no_limit;
                return p;
            }
            p.origin[i] = at;
            p.height = std::max(p.height, at + all[i].size);
        }
    return p;
}

bool is_valid(buffers const& all, packing const& p, placement_conflicts const& c)
{
    for (std::uint32_t i = 0; i != all.size(); ++i) {
        if (p.origin[i] % all[i].alignment != 0 || p.origin[i] + all[i].size > p.height) return false;
        for (std::uint32_t j = 0; j != i; ++j)
            if (c.conflict(i, j) && p.origin[i] < p.origin[j] + all[j].size &&
                p.origin[j] < p.origin[i] + all[i].size)
                return false;
    }
    return true;
}

struct drawn_fit {
    placement_conflicts conflicts;
    buffers all;
    ids order;

    explicit drawn_fit(random_source& pick, unsigned n, unsigned alignments = 4)
        : conflicts(draw_conflicts(pick, n, 1 + pick.below(20)))
    {
        for (std::uint32_t i = 0; i != n; ++i) {
            byte_count const size = 1 + pick.below(12), alignment = 1 + pick.below(alignments);
            all.push_back({{}, size, alignment});
            order.insert(order.begin() + pick.below(i + 1), i);
        }
    }
};

/// A chain of four, each in conflict with the next: 2, 3, 2, 4 bytes.
placement_conflicts chain_of_four()
{
    placement_conflicts c;
    c.first_begin = {0, 1, 2, 3, 4};
    c.begin = {0, 1, 2, 3};
    c.ranges = {
        live_range_lists::source::from_liveness, 4, {0, 1, 2, 3, 4}, {{0, 2}, {1, 3}, {2, 4}, {3, 4}}};
    return c;
}

} // namespace

TEST_CASE("the height depends on the order")
{
    auto const c = chain_of_four();
    placed_by_range placed(c);
    buffers const all{{{}, 2}, {{}, 3}, {{}, 2}, {{}, 4}};
    CHECK(fit_concurrently(all, {0, 2, 1, 3}, placed, 100).height == 6);
    CHECK(fit_concurrently(all, {0, 2, 1, 3}, placed, 100).origin == std::vector<byte_count>{0, 2, 0, 2});
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 100).height == 9);
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 8).height == no_limit);
    CHECK(fit_concurrently(all, {1, 0, 2, 3}, placed, 9).height == 9);
}

TEST_CASE("random orders: first fit equals trial of every offset, with pins, up to a ceiling")
{
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_fit drawn(pick, 1 + pick.below(20));
        if (pick.below(2) == 0) drawn.all[0].pinned = drawn.all[0].alignment * pick.below(10);
        byte_count const ceiling = pick.below(2) == 0 ? 10 + pick.below(40) : 1000;
        placed_by_range placed(drawn.conflicts);
        auto const found = fit_concurrently(drawn.all, drawn.order, placed, ceiling);
        auto const right = fit_by_trial(drawn.all, drawn.order, drawn.conflicts, ceiling);
        REQUIRE(found.height == right.height);
        REQUIRE(found.origin == right.origin);
        auto const again = fit_concurrently(drawn.all, drawn.order, placed, ceiling);
        REQUIRE(again.origin == found.origin);
        REQUIRE(again.visits == found.visits);
    }
}

TEST_CASE("a fit with no visits left is still valid")
{
    std::size_t higher = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_fit const drawn(pick, 100);
        placed_by_range placed(drawn.conflicts);
        auto const unbudgeted = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1);
        auto const budgeted = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1, 0);
        REQUIRE(is_valid(drawn.all, budgeted, drawn.conflicts));
        higher += budgeted.height > unbudgeted.height;
    }
    CHECK(higher != 300);
}

TEST_CASE("buffers that reach too high are moved forward in the order until the bound is met")
{
    auto const c = chain_of_four();
    placed_by_range placed(c);
    buffers const all{{{}, 2}, {{}, 3}, {{}, 2}, {{}, 4}};
    ids const order{1, 0, 2, 3};
    packing p = fit_concurrently(all, order, placed, 100);
    lower_by_reordering(all, c, placed, 6, 0, order, p);
    CHECK(p.height == 9);
    lower_by_reordering(all, c, placed, 6, 100000, order, p);
    CHECK(p.height == 6);
}

TEST_CASE("reordering keeps a placement valid and no higher, keeps pins, and ends for any bound")
{
    std::size_t lower = 0;
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_fit drawn(pick, 1 + pick.below(20));
        if (pick.below(2) == 0) drawn.all[0].pinned = drawn.all[0].alignment * pick.below(10);
        placed_by_range placed(drawn.conflicts);
        packing const before = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1);
        packing after = before;
        lower_by_reordering(drawn.all, drawn.conflicts, placed, 0, 1000000, drawn.order, after);
        REQUIRE(is_valid(drawn.all, after, drawn.conflicts));
        REQUIRE(after.height <= before.height);
        if (drawn.all[0].pinned != no_offset) REQUIRE(after.origin[0] == drawn.all[0].pinned);
        lower += after.height < before.height;
    }
    CHECK(lower > rounds(100));
}

TEST_CASE("with a control reordering goes on until that stops, to valid placements that are no higher")
{
    struct stops_after : deterministic_control {
        unsigned left = 0;
        bool stop(byte_count, byte_count, std::uint64_t) override { return left == 0 || --left == 0; }
    };
    std::size_t lower = 0;
    for (std::uint32_t seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_fit drawn(pick, 20 + pick.below(20));
        if (pick.below(2) == 0) drawn.all[0].pinned = drawn.all[0].alignment * pick.below(10);
        placed_by_range placed(drawn.conflicts);
        packing const before = fit_concurrently(drawn.all, drawn.order, placed, no_limit - 1);
        auto lowered = [&](unsigned questions, std::uint64_t visits, std::uint64_t of) {
            stops_after control;
            control.left = questions;
            packing after = before;
            lower_by_reordering(drawn.all, drawn.conflicts, placed, 0, visits, drawn.order, after, &control,
                                of);
            CHECK(control.left <= questions);
            REQUIRE(is_valid(drawn.all, after, drawn.conflicts));
            REQUIRE(after.height <= before.height);
            if (drawn.all[0].pinned != no_offset) REQUIRE(after.origin[0] == drawn.all[0].pinned);
            return after;
        };
        CHECK(lowered(1, no_limit, 0).origin == before.origin);
        packing const one = lowered(500, no_limit, seed);
        CHECK(lowered(500, no_limit, seed).origin == one.origin);
        CHECK(lowered(1'000'000'000, 0, seed).origin == before.origin);
        lower += one.height < before.height;
    }
    CHECK(lower > rounds(20));
}

// --- placed by range ---------------------------------------------------------------------------------------

namespace {

struct placed_interval {
    buffer_id id;
    byte_count begin, end;
};

byte_count lowest_by_trial(placement_conflicts const& c, std::vector<placed_interval> const& placed,
                           buffer_id b, byte_count size, byte_count alignment, byte_count ceiling)
{
    for (byte_count at = 0; at + size <= ceiling; at += alignment)
        if (std::none_of(placed.begin(), placed.end(), [&](placed_interval s) {
                return c.conflict(b, s.id) && s.begin < at + size && at < s.end;
            }))
            return at;
    return no_offset;
}

} // namespace

TEST_CASE("the lowest gap that is large enough is found, below the ceiling")
{
    placement_conflicts c;
    c.begin = {0, 0, 0};
    c.first_begin = {0, 1, 2, 3};
    c.ranges = {live_range_lists::source::from_liveness, 1, {0, 1, 2, 3}, {{0, 1}, {0, 1}, {0, 1}}};
    placed_by_range placed(c);
    CHECK(placed.lowest_gap(2, 8, 1, 8) == 0);
    placed.insert(0, 4, 8);
    placed.insert(1, 16, 20);
    CHECK(placed.lowest_gap(2, 4, 1, 100) == 0);
    CHECK(placed.lowest_gap(2, 5, 1, 100) == 8);
    CHECK(placed.lowest_gap(2, 5, 3, 100) == 9);
    CHECK(placed.lowest_gap(2, 9, 1, 100) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 29) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 28) == no_offset);
    CHECK(placed.lowest_gap(2, 9, 1, 8) == no_offset);
    CHECK(placed.visits() != 0);
}

TEST_CASE("random placements: gaps equal those of a trial of every offset")
{
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const n = 1 + pick.below(25);
        auto const c = draw_conflicts(pick, n, 1 + pick.below(20));
        placed_by_range placed(c);
        std::vector<placed_interval> intervals;
        for (buffer_id b = 0; b != n; ++b) {
            byte_count const size = 1 + pick.below(9), alignment = 1 + pick.below(4);
            byte_count const ceiling = pick.below(3) == 0 ? 1 + pick.below(40) : 1000;
            byte_count at = placed.lowest_gap(b, size, alignment, ceiling);
            REQUIRE(at == lowest_by_trial(c, intervals, b, size, alignment, ceiling));
            byte_count const begin = pick.below(60), end = begin + 1 + pick.below(9);
            REQUIRE(placed.is_free(b, begin, end) ==
                    std::none_of(intervals.begin(), intervals.end(), [&](placed_interval s) {
                        return c.conflict(b, s.id) && s.begin < end && begin < s.end;
                    }));
            if (at == no_offset) continue;
            if (pick.below(5) == 0) at += pick.below(20); // may overlap others: unions allow that
            placed.insert(b, at, at + size);
            intervals.push_back({b, at, at + size});
        }
    }
}

TEST_CASE("a limited query finds a low gap, and otherwise goes above all conflicting buffers")
{
    placement_conflicts c;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (std::uint32_t b = 0; b != 1001; ++b) {
        c.begin.push_back(0);
        c.first_begin.push_back(b + 1);
        ranges.push_back({0, 1});
        first.push_back(b + 1);
    }
    c.ranges = {live_range_lists::source::from_liveness, 1, first, ranges};
    placed_by_range placed(c);
    for (buffer_id b = 0; b != 1000; ++b) placed.insert(b, 10 * byte_count{b}, 10 * byte_count{b} + 8);
    auto lowest = [&](byte_count size, bool is_limited) {
        return placed.lowest_gap(1000, size, 4, 100000, is_limited);
    };
    CHECK(lowest(1, true) == 8);
    CHECK(lowest(3, false) == 10000);
    placed.clear();
    for (buffer_id b = 0; b != 1000; ++b) placed.insert(b, 10 * b + (b > 500), 10 * b + 8);
    CHECK(lowest(3, false) == 5008); // from 5008 to 5011
    CHECK(lowest(3, true) == 10000);
    CHECK(placed.lowest_gap(1000, byte_count{3}, byte_count{4}, byte_count{10002}, true) == no_offset);
    auto const before = placed.visits();
    (void)lowest(3, true);
    CHECK(placed.visits() - before < 500);
}

TEST_CASE("adjacent buffers are visited as one interval")
{
    placement_conflicts c;
    c.begin = {0, 0, 0, 0};
    c.first_begin = {0, 1, 2, 3, 4};
    c.ranges = {
        live_range_lists::source::from_liveness, 1, {0, 1, 2, 3, 4}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}};
    placed_by_range placed(c);
    auto visits = [&placed] {
        auto const before = placed.visits();
        (void)placed.lowest_gap(3, 8, 1, 100);
        return placed.visits() - before;
    };
    placed.insert(0, 0, 8);
    auto const of_one = visits();
    placed.insert(1, 8, 16);
    CHECK(visits() == of_one);
    placed.insert(2, 20, 24);
    CHECK(visits() > of_one);
    placed.insert(2, 15, 20);
    CHECK(visits() == of_one);
}

TEST_CASE("clear() restores the initial state")
{
    random_source pick{std::mt19937(7)};
    auto const c = draw_conflicts(pick, 30, 10);
    placed_by_range placed(c);
    for (buffer_id b = 0; b != 29; ++b) placed.insert(b, b, b + 5);
    placed.clear();
    CHECK(placed.visits() == 0);
    CHECK(placed.lowest_gap(29, byte_count{9}, byte_count{1}, byte_count{9}) == 0);
}

} // namespace this_test
