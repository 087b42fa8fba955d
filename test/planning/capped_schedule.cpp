// SPDX-License-Identifier: BSL-1.0
#include <sublet/planning/detail/capped_schedule.hpp>
#include <sublet/planning/detail/schedule_search.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Steps with predecessors and buffers that several of them touch, as lists.
struct drawn_steps {
    std::vector<std::vector<std::uint32_t>> before;
    std::vector<std::vector<std::uint32_t>> touched_by; // by buffer: at least one step
    std::vector<byte_count> size;
    std::vector<unsigned char> is_given, is_kept;
    std::vector<pool_id> pool;
    std::vector<std::uint64_t> duration;

    std::size_t steps() const { return before.size(); }

    schedule_problem problem() const
    {
        schedule_problem result;
        result.before = csr_rows<step_id, step_id>::gathered(steps(), [&](auto add) {
            for (std::uint32_t s = 0; s != steps(); ++s)
                for (std::uint32_t b : before[s]) add(step_id{s}, step_id{b});
        });
        result.after = result.before.transposed(steps());
        auto rows = [&](auto const& is_left_out) {
            return csr_rows<step_id, buffer_id>::gathered(steps(), [&](auto add) {
                for (std::uint32_t b = 0; b != size.size(); ++b)
                    if (!is_left_out[b])
                        for (std::uint32_t s : touched_by[b]) add(step_id{s}, buffer_id{b});
            });
        };
        std::vector<unsigned char> const none(size.size(), 0);
        result.begins = rows(is_given);
        result.ends = rows(none);
        result.ended_by = result.ends.transposed(size.size());
        for (std::size_t b = 0; b != size.size(); ++b) {
            result.size.push_back(size[b]);
            result.pool.push_back(pool[b]);
            result.is_given.push_back(is_given[b]);
            result.is_kept.push_back(is_kept[b]);
        }
        for (std::uint64_t d : duration) result.duration.push_back(d);
        result.path_ahead.assign(steps(), 0);
        for (std::size_t s = steps(); s-- != 0;) {
            std::uint64_t longest = 0;
            for (step_id next : result.after[step_id::of(s)])
                longest = std::max(longest, result.path_ahead[next]);
            result.path_ahead[step_id::of(s)] = longest + duration[s];
        }
        return result;
    }

    /// Bytes live between the first start and the last end of the steps that touch each buffer, at a time.
    byte_count live_at(std::uint64_t now, table<step_id, std::uint64_t> const& start, pool_id of,
                       bool of_all) const
    {
        byte_count sum = 0;
        for (std::size_t b = 0; b != size.size(); ++b) {
            std::uint64_t begin = no_limit, end = 0;
            for (std::uint32_t s : touched_by[b]) {
                begin = std::min(begin, start[step_id{s}]);
                end = std::max(end, start[step_id{s}] + duration[s]);
            }
            bool const is_live = (is_given[b] || begin <= now) && (is_kept[b] || now < end);
            if (is_live && (of_all || pool[b] == of)) sum += size[b];
        }
        return sum;
    }
};

drawn_steps draw_steps(random_source& pick, std::uint32_t steps, std::uint32_t pools)
{
    drawn_steps result;
    result.before.resize(steps);
    for (std::uint32_t s = 0; s != steps; ++s) {
        result.duration.push_back(1 + pick.below(3));
        for (std::uint32_t b = 0; b != s; ++b)
            if (pick.below(steps) < 2) result.before[s].push_back(b);
    }
    for (std::uint32_t b = steps + pick.below(steps + 1); b != 0; --b) {
        std::vector<std::uint32_t> by{pick.below(steps)};
        for (std::uint32_t more = pick.below(3); more != 0; --more) {
            std::uint32_t const s = pick.below(steps);
            if (std::find(by.begin(), by.end(), s) == by.end()) by.push_back(s);
        }
        result.touched_by.push_back(by);
        result.size.push_back(pick.below(8) == 0 ? 0 : 1 + pick.below(20));
        result.is_given.push_back(pick.below(8) == 0);
        result.is_kept.push_back(pick.below(8) == 0);
        result.pool.push_back(pool_id{pick.below(pools)});
    }
    return result;
}

/// By simulation.
void check_schedule(drawn_steps const& drawn, schedule_problem const& problem, capped_schedule const& found,
                    std::size_t workers, schedule_caps const& caps)
{
    table<step_id, std::uint32_t> const worker = workers_of(problem, found.start);
    REQUIRE(found.start.size() == drawn.steps());
    std::uint64_t makespan = 0;
    byte_count most = 0;
    table<pool_id, byte_count> most_of(found.of_pool.size(), 0);
    std::vector<std::uint64_t> times{0};
    for (std::uint32_t s = 0; s != drawn.steps(); ++s) {
        step_id const id{s};
        CHECK(worker[id] < workers);
        makespan = std::max(makespan, found.start[id] + drawn.duration[s]);
        times.push_back(found.start[id]);
        for (std::uint32_t b : drawn.before[s])
            CHECK(found.start[step_id{b}] + drawn.duration[b] <= found.start[id]);
        for (std::uint32_t other = 0; other != s; ++other)
            if (worker[step_id{other}] == worker[id])
                CHECK((found.start[step_id{other}] + drawn.duration[other] <= found.start[id] ||
                       found.start[id] + drawn.duration[s] <= found.start[step_id{other}]));
    }
    for (std::uint64_t now : times) {
        most = std::max(most, drawn.live_at(now, found.start, 0, true));
        for (pool_id pool = 0; pool != most_of.size(); ++pool)
            most_of[pool] = std::max(most_of[pool], drawn.live_at(now, found.start, pool, false));
    }
    CHECK(found.makespan == makespan);
    CHECK(found.bytes == most);
    CHECK(found.bytes <= caps.all);
    for (pool_id pool = 0; pool != most_of.size(); ++pool) {
        CHECK(found.of_pool[pool] == most_of[pool]);
        if (pool < caps.of.size()) CHECK(found.of_pool[pool] <= caps.of[pool]);
    }
}

/// The fewest bytes of each makespan, over all schedules in which a step starts at 0 or when another ends.
class every_schedule {
public:
    every_schedule(drawn_steps const& drawn, std::size_t workers) : drawn_(drawn), workers_(workers)
    {
        start_.assign(drawn.steps(), no_limit);
        go(0, 0);
    }
    std::map<std::uint64_t, byte_count> least; // by makespan

private:
    void go(std::uint64_t now, std::uint32_t next) // steps from `next` on may start now
    {
        std::size_t running = 0, left = 0;
        std::uint64_t first_end = no_limit;
        for (std::uint32_t s = 0; s != drawn_.steps(); ++s) {
            std::uint64_t const start = start_[step_id{s}];
            if (start == no_limit) {
                ++left;
            } else if (start + drawn_.duration[s] > now) {
                ++running;
                first_end = std::min(first_end, start + drawn_.duration[s]);
            }
        }
        if (left == 0) {
            std::uint64_t makespan = 0;
            byte_count most = drawn_.live_at(0, start_, 0, true);
            for (std::uint32_t s = 0; s != drawn_.steps(); ++s) {
                makespan = std::max(makespan, start_[step_id{s}] + drawn_.duration[s]);
                most = std::max(most, drawn_.live_at(start_[step_id{s}], start_, 0, true));
            }
            auto const [at, is_new] = least.emplace(makespan, most);
            if (!is_new) at->second = std::min(at->second, most);
            return;
        }
        for (std::uint32_t s = next; running != workers_ && s != drawn_.steps(); ++s) {
            if (start_[step_id{s}] != no_limit) continue;
            bool const is_ready =
                std::all_of(drawn_.before[s].begin(), drawn_.before[s].end(), [&](std::uint32_t b) {
                    return start_[step_id{b}] != no_limit && start_[step_id{b}] + drawn_.duration[b] <= now;
                });
            if (!is_ready) continue;
            start_[step_id{s}] = now;
            go(now, s + 1);
            start_[step_id{s}] = no_limit;
        }
        if (running != 0) go(first_end, 0);
    }

    drawn_steps const& drawn_;
    std::size_t workers_;
    table<step_id, std::uint64_t> start_;
};

std::vector<step_id> as_numbered(std::size_t steps)
{
    std::vector<step_id> result;
    for (std::size_t s = 0; s != steps; ++s) result.push_back(step_id::of(s));
    return result;
}

} // namespace

TEST_CASE("a step starts only if the rest can run after it within the cap")
{
    // 0 makes 60, 1 frees it; 2 makes 40, 3 adds 20 and frees all: beside 0, 2 would leave no room for 3
    drawn_steps const drawn{{{}, {0}, {}, {2}}, {{0, 1}, {2, 3}, {3}, {1}},
                            {60, 40, 20, 40},   {0, 0, 0, 0},
                            {0, 0, 0, 0},       {0, 0, 0, 0},
                            {3, 1, 1, 1}};
    schedule_problem const problem = drawn.problem();
    table<step_id, std::uint64_t> const equal(4, 0);
    schedule_caps caps;
    caps.all = 100;
    capped_schedule const within = schedule_within(problem, as_numbered(4), 2, equal, caps);
    REQUIRE(within.is_found);
    check_schedule(drawn, problem, within, 2, caps);
    CHECK(within.start == table<step_id, std::uint64_t>(std::vector<std::uint64_t>{0, 3, 4, 5}));
    capped_schedule const free = schedule_within(problem, as_numbered(4), 2, equal);
    CHECK(free.makespan == 4);
    CHECK(free.bytes == 120);
    caps.all = 99;
    CHECK_FALSE(schedule_within(problem, as_numbered(4), 2, equal, caps).is_found);
}

TEST_CASE("schedules keep the order, the workers and every cap, and are found where the reference fits")
{
    unsigned refused = 0, shorter = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const pools = 1 + pick.below(2);
        drawn_steps const drawn = draw_steps(pick, 1 + pick.below(12), pools);
        schedule_problem const problem = drawn.problem();
        table<step_id, std::uint64_t> rank;
        for (std::size_t s = 0; s != drawn.steps(); ++s) rank.push_back(pick.below(4));
        std::vector<step_id> const reference = sequence_by(problem, rank);
        capped_schedule const alone =
            schedule_within(problem, reference, 1, table<step_id, std::uint64_t>(drawn.steps(), 0));
        REQUIRE(alone.is_found);
        check_schedule(drawn, problem, alone, 1, {});
        std::uint64_t before = 0;
        for (step_id s : reference) {
            CHECK(alone.start[s] == before);
            before += drawn.duration[s];
        }
        schedule_caps caps;
        byte_count const slack = pick.below(20), lack = pick.below(2);
        caps.all = alone.bytes + slack - std::min(lack, alone.bytes);
        if (pools == 2 && pick.below(2) == 0)
            for (byte_count of : alone.of_pool) caps.of.push_back(of + pick.below(8));
        if (!caps.of.empty() && pick.below(2) == 0) caps.of.push_back(0); // of a pool in which nothing lies
        std::size_t const workers = 1 + pick.below(4);
        capped_schedule const found = schedule_within(problem, reference, workers, rank, caps);
        CHECK(found.is_found == (alone.bytes <= caps.all));
        refused += !found.is_found;
        if (!found.is_found) continue;
        check_schedule(drawn, problem, found, workers, caps);
        shorter += found.makespan < alone.makespan;
        capped_schedule const again = measured(problem, found.start);
        CHECK(again.makespan == found.makespan);
        CHECK(again.bytes == found.bytes);
        CHECK(again.of_pool == found.of_pool);
        check_schedule(drawn, problem, again, workers, caps);
    }
    if (rounds(4000) < 4000) return;
    CHECK(refused > 100);
    CHECK(shorter > 1000);
}

TEST_CASE("a chain stays on one worker, and a step beside it takes one that nothing waits for")
{
    // 0 ─► 1 ─► 3        1 goes on where 0 ran, since the path ahead of it is longer; 2 needs a second
    //   └► 2      4      worker. 4 could take either at 3, and nothing waits for 2.
    drawn_steps drawn;
    drawn.before = {{}, {0}, {0}, {1}, {}};
    drawn.duration = {1, 3, 1, 1, 1};
    schedule_problem const problem = drawn.problem();
    CHECK(workers_of(problem, {0, 1, 1, 4, 2}) == table<step_id, std::uint32_t>{0, 0, 1, 0, 1});
    CHECK(workers_of(problem, {0, 1, 1, 9, 4}) == table<step_id, std::uint32_t>{0, 0, 1, 0, 1});
    CHECK(workers_of(problem, {0, 1, 4, 9, 10}) == table<step_id, std::uint32_t>{0, 0, 0, 0, 0});
}

TEST_CASE("a curve is no better than all schedules of a small problem, and mostly as good at its ends")
{
    unsigned graphs = 0, shortest = 0, fewest_then = 0, fewest = 0;
    for (std::uint32_t seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_steps const drawn = draw_steps(pick, 1 + pick.below(6), 1);
        schedule_problem const problem = drawn.problem();
        every_schedule const all(drawn, 2);
        capped_curve curve;
        schedule_wish wish;
        wish.wanted = schedule_wish::goal::curve;
        wish.workers = 2;
        search_schedules(problem, {as_numbered(drawn.steps())}, wish, curve);
        REQUIRE(!curve.points().empty());
        byte_count least = no_limit;
        for (auto const& [makespan, bytes] : all.least) {
            least = std::min(least, bytes);
            capped_schedule const* const within = curve.within_time(makespan);
            if (within != nullptr) CHECK(within->bytes >= least);
        }
        for (capped_schedule const& point : curve.points()) check_schedule(drawn, problem, point, 2, {});
        ++graphs;
        CHECK(curve.points().front().makespan >= all.least.begin()->first);
        shortest += curve.points().front().makespan == all.least.begin()->first;
        fewest_then += curve.points().front().makespan == all.least.begin()->first &&
                       curve.points().front().bytes == all.least.begin()->second;
        fewest += curve.points().back().bytes == least;
    }
    if (graphs < 60) return; // of a few, chance decides
    CHECK(10 * shortest >= 9 * graphs);
    CHECK(10 * fewest_then >= 8 * graphs);
    CHECK(10 * fewest >= 7 * graphs); // the steps in the order of their numbers are the only reference
}

TEST_CASE("of schedules on a curve none beats another in both")
{
    capped_curve curve;
    auto offer = [&](std::uint64_t makespan, byte_count bytes) {
        capped_schedule schedule;
        schedule.makespan = makespan;
        schedule.bytes = bytes;
        schedule.is_found = true;
        curve.offer(schedule);
    };
    for (auto [makespan, bytes] :
         {std::pair{5, 50}, {3, 90}, {5, 60}, {4, 90}, {4, 40}, {9, 10}, {7, 20}, {7, 15}})
        offer(static_cast<std::uint64_t>(makespan), static_cast<byte_count>(bytes));
    std::vector<std::uint64_t> makespans;
    for (capped_schedule const& point : curve.points()) makespans.push_back(point.makespan);
    CHECK(makespans == std::vector<std::uint64_t>{3, 4, 7, 9});
    CHECK(curve.within_time(8)->bytes == 15);
    CHECK(curve.within_time(2) == nullptr);
    CHECK(curve.within_bytes(39)->makespan == 7);
    CHECK(curve.within_bytes(9) == nullptr);
}

} // namespace this_test
