// SPDX-License-Identifier: BSL-1.0
#include <sublet/schedules.hpp>

#include <sublet/checking/check_schedule.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_handoffs.hpp>

#include "printed.hpp"
#include "random_source.hpp"
#include "random_tasks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// What a schedule of random tasks is like, by definition, from their lists.
struct painted_schedule {
    bool is_ordered = true; ///< each task starts after those that it waits for have ended
    bool is_apart = true;   ///< a worker runs one task at a time
    std::uint64_t makespan = 0;
    byte_count live = 0;
    std::vector<byte_count> live_in;

    painted_schedule(random_tasks const& tasks, std::vector<std::uint64_t> const& takes,
                     table<step_id, step_time> const& steps)
    {
        sharing_rule const rule(tasks);
        std::size_t const n = tasks.tasks.size();
        auto start = [&](std::size_t t) { return steps[step_id::of(t)].start; };
        std::vector<std::uint64_t> times;
        for (std::size_t a = 0; a != n; ++a) {
            makespan = std::max(makespan, start(a) + takes[a]);
            times.push_back(start(a));
            for (std::size_t b = 0; b != n; ++b) {
                if (a == b) continue;
                if (rule.before[a][b] && start(b) < start(a) + takes[a]) is_ordered = false;
                if (steps[step_id::of(a)].worker == steps[step_id::of(b)].worker && start(a) <= start(b) &&
                    start(b) < start(a) + takes[a])
                    is_apart = false;
            }
        }
        std::vector<byte_count> const bytes = within_roots(tasks.bytes, tasks.alias_of);
        std::vector<pool_id> const pool = of_roots(tasks.pool, tasks.alias_of);
        live_in.assign(2, 0);
        for (std::size_t v = 0; v != tasks.values(); ++v) // before the first step
            if (rule.root[v] == v && rule.is_given[v] && !is_external(tasks, rule, v)) {
                live += bytes[v];
                live_in[pool[v]] += bytes[v];
            }
        for (std::uint64_t now : times) {
            byte_count all = 0;
            std::vector<byte_count> in(live_in.size(), 0);
            for (std::size_t v = 0; v != tasks.values(); ++v) {
                if (rule.root[v] != v || is_external(tasks, rule, v)) continue;
                bool has_begun = rule.is_given[v], has_ended = !rule.is_kept[v];
                for (auto const* row : {&rule.late[v], &rule.early[v]})
                    for (std::size_t t : *row) {
                        has_begun = has_begun || start(t) <= now;
                        has_ended = has_ended && start(t) + takes[t] <= now;
                    }
                if (!has_begun || has_ended) continue;
                all += bytes[v];
                in[pool[v]] += bytes[v];
            }
            live = std::max(live, all);
            for (std::size_t i = 0; i != in.size(); ++i) live_in[i] = std::max(live_in[i], in[i]);
        }
    }

private:
    static bool is_external(random_tasks const& tasks, sharing_rule const& rule, std::size_t root)
    {
        for (std::size_t v = 0; v != tasks.values(); ++v)
            if (rule.root[v] == root && has_role(tasks.role[v], value_role::external)) return true;
        return false;
    }
};

random_tasks draw(random_source& pick, std::uint32_t seed, bool in_place)
{
    random_tasks tasks = draw_tasks(pick, {.tasks = 1 + pick.below(14),
                                           .back = seed % 2 == 0 ? 0u : 4u,
                                           .early = seed % 3 == 0 ? 30u : 0u,
                                           .views = seed % 5 == 0 ? 20u : 0u,
                                           .pools = 1 + pick.below(2),
                                           .in_place = in_place ? 50u : 0u,
                                           .shuffled = seed % 7 == 0});
    return tasks;
}

/// Groups of random sections of one task or a few.
std::vector<step_group> draw_groups(random_source& pick, std::size_t tasks)
{
    std::vector<step_group> groups(1 + pick.below(2));
    for (step_group& group : groups) {
        std::vector<step_id> left;
        for (std::size_t t = 0; t != tasks; ++t) left.push_back(step_id::of(t));
        group.at_once = 1 + pick.below(2);
        for (auto sections = pick.below(5); sections != 0 && !left.empty(); --sections) {
            group.sections.emplace_back();
            for (auto steps = 1 + pick.below(3); steps != 0 && !left.empty(); --steps) {
                auto const at = left.begin() + pick.below(static_cast<unsigned>(left.size()));
                group.sections.back().push_back(*at);
                left.erase(at);
            }
        }
    }
    return groups;
}

/// The most sections that run at once.
std::size_t most_open(step_group const& group, std::vector<std::uint64_t> const& takes,
                      table<step_id, step_time> const& steps)
{
    std::size_t most = 0;
    for (step_time now : steps) {
        std::size_t open = 0;
        for (auto const& section : group.sections) {
            std::uint64_t begin = no_limit, end = 0;
            for (step_id s : section) {
                begin = std::min(begin, steps[s].start);
                end = std::max(end, steps[s].start + takes[s]);
            }
            open += begin <= now.start && now.start < end;
        }
        most = std::max(most, open);
    }
    return most;
}

/// In every execution that keeps the order, of any `at_once` + 1 sections one has ended before another
/// begins.
bool is_kept_by(step_group const& group, sharing_rule const& rule)
{
    auto precedes = [&](std::vector<step_id> const& a, std::vector<step_id> const& b) {
        for (step_id s : a)
            for (step_id t : b)
                if (!rule.before[s][t]) return false;
        return true;
    };
    std::size_t const n = group.sections.size();
    for (std::uint32_t chosen = 0; chosen != 1u << n; ++chosen) {
        std::size_t members = 0;
        bool some_precedes = false;
        for (std::size_t a = 0; a != n; ++a) {
            if ((chosen >> a & 1) == 0) continue;
            ++members;
            for (std::size_t b = 0; b != n; ++b)
                some_precedes = some_precedes || (a != b && (chosen >> b & 1) != 0 &&
                                                  precedes(group.sections[a], group.sections[b]));
        }
        if (members == group.at_once + 1 && !some_precedes) return false;
    }
    return true;
}

/// The fewest live bytes of each makespan on so many workers, over all schedules. A task may start when
/// another ends, or at 0: to start it at once after the last end keeps all that is live when it starts, or
/// less.
class every_schedule {
public:
    every_schedule(random_tasks const& tasks, std::vector<std::uint64_t> const& takes, std::size_t workers)
        : rule_(tasks), takes_(takes), bytes_(within_roots(tasks.bytes, tasks.alias_of)), workers_(workers),
          start_(takes.size(), no_limit)
    {
        go(0, 0);
    }
    std::map<std::uint64_t, byte_count> least; ///< by makespan

private:
    void go(std::uint64_t now, std::size_t next) // tasks from `next` on may start now
    {
        std::size_t running = 0, left = 0;
        std::uint64_t first_end = no_limit, makespan = 0;
        for (std::size_t t = 0; t != takes_.size(); ++t) {
            if (start_[t] == no_limit) {
                ++left;
                continue;
            }
            makespan = std::max(makespan, start_[t] + takes_[t]);
            if (start_[t] + takes_[t] <= now) continue;
            ++running;
            first_end = std::min(first_end, start_[t] + takes_[t]);
        }
        if (left == 0) {
            byte_count most = 0;
            for (std::uint64_t at : start_) most = std::max(most, live_at(at));
            auto const [at, is_new] = least.emplace(makespan, most);
            if (!is_new) at->second = std::min(at->second, most);
            return;
        }
        for (std::size_t t = next; running != workers_ && t != takes_.size(); ++t) {
            bool is_ready = start_[t] == no_limit;
            for (std::size_t b = 0; is_ready && b != takes_.size(); ++b)
                is_ready = !rule_.before[b][t] || (start_[b] != no_limit && start_[b] + takes_[b] <= now);
            if (!is_ready) continue;
            start_[t] = now;
            go(now, t + 1);
            start_[t] = no_limit;
        }
        if (running != 0) go(first_end, 0);
    }
    byte_count live_at(std::uint64_t now) const
    {
        byte_count live = 0;
        for (std::size_t v = 0; v != bytes_.size(); ++v) {
            bool has_begun = false, has_ended = !rule_.is_kept[v];
            for (auto const* row : {&rule_.late[v], &rule_.early[v]})
                for (std::size_t t : *row) {
                    has_begun = has_begun || start_[t] <= now;
                    has_ended = has_ended && start_[t] + takes_[t] <= now;
                }
            if (has_begun && !has_ended) live += bytes_[v];
        }
        return live;
    }

    sharing_rule rule_;
    std::vector<std::uint64_t> takes_;
    std::vector<byte_count> bytes_;
    std::size_t workers_;
    std::vector<std::uint64_t> start_;
};

} // namespace

TEST_CASE("every schedule of a curve keeps order and workers, and needs the bytes that it says")
{
    unsigned several = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        bool const in_place = seed % 4 == 0;
        random_tasks const tasks = draw(pick, seed, in_place);
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        handoff_options wanted{.duration = takes, .workers = pick.below(4)};
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        REQUIRE(curve);
        REQUIRE(!curve.points.empty());
        several += curve.points.size() > 1;
        for (std::size_t i = 0; i != curve.points.size(); ++i) {
            step_schedule const& point = curve.points[i];
            painted_schedule const painted(tasks, takes, point.steps);
            CHECK(painted.is_ordered);
            CHECK(painted.is_apart);
            CHECK(painted.makespan == point.makespan);
            if (in_place) CHECK(painted.live >= point.live_bytes);
            else {
                CHECK(painted.live == point.live_bytes);
                for (pool_id of = 0; of != point.live_in.size(); ++of)
                    CHECK(point.live_in[of] == painted.live_in[of]);
            }
            if (wanted.workers != 0)
                for (step_time at : point.steps) CHECK(at.worker < wanted.workers);
            CHECK(curve.least_makespan <= point.makespan);
            CHECK(curve.least_bytes <= point.live_bytes);
            CHECK(curve.within_time(point.makespan) == &point);
            CHECK(curve.within_bytes(point.live_bytes) == &point);
            if (i == 0) continue;
            CHECK(curve.points[i - 1].makespan < point.makespan);
            CHECK(curve.points[i - 1].live_bytes > point.live_bytes);
        }
        CHECK(curve.within_time(curve.points.front().makespan - 1) == nullptr);
        if (byte_count const least = curve.points.back().live_bytes; least != 0)
            CHECK(curve.within_bytes(least - 1) == nullptr);
    }
    if (rounds(500) >= 500) CHECK(several > 100);
}

TEST_CASE("of small programs the ends of a curve are mostly those of all schedules, and never better")
{
    unsigned programs = 0, shortest = 0, fewest_then = 0, fewest = 0, whole = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(7),
                                                     .back = seed % 2 == 0 ? 0u : 3u,
                                                     .early = seed % 3 == 0 ? 30u : 0u,
                                                     .given = 0,
                                                     .views = seed % 5 == 0 ? 20u : 0u});
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        schedule_curve const curve =
            schedules(tasks.program(), tasks.options(), {.duration = takes, .workers = 2});
        every_schedule const all(tasks, takes, 2);
        auto const best_within = [&](std::uint64_t longest) {
            byte_count best = no_limit;
            for (auto const& [makespan, bytes] : all.least)
                if (makespan <= longest) best = std::min(best, bytes);
            return best;
        };
        bool is_whole = true;
        for (auto const& [makespan, bytes] : all.least) {
            step_schedule const* const within = curve.within_time(makespan);
            byte_count const found = within == nullptr ? no_limit : within->live_bytes;
            REQUIRE(found >= best_within(makespan));
            is_whole = is_whole && found == best_within(makespan);
        }
        std::uint64_t const first = all.least.begin()->first;
        REQUIRE(curve.least_makespan <= first);
        REQUIRE(curve.least_bytes <= best_within(no_limit));
        ++programs;
        whole += is_whole;
        shortest += curve.points.front().makespan == first;
        fewest_then += curve.points.front().makespan == first &&
                       curve.points.front().live_bytes == all.least.begin()->second;
        fewest += curve.points.back().live_bytes == best_within(no_limit);
    }
    if (std::getenv("SUBLET_PRINT") != nullptr)
        std::cout << programs << " programs: the shortest " << shortest << ", with the fewest bytes "
                  << fewest_then << ", the fewest bytes of all " << fewest << ", the whole curve " << whole
                  << '\n';
    if (programs < 500) return;
    CHECK(100 * shortest >= 95 * programs);
    CHECK(100 * fewest_then >= 90 * programs);
    CHECK(100 * fewest >= 95 * programs);
}

TEST_CASE("a plan takes a given schedule, of a curve or of the caller")
{
    for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw(pick, seed, seed % 4 == 0);
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        handoff_options wanted{.duration = takes, .workers = 1 + pick.below(3), .minimum_gain = 0};
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        for (step_schedule const& point : curve.points) {
            wanted.schedule = point.steps;
            auto const planned = plan_with_handoffs(tasks.program(), tasks.options(), wanted);
            REQUIRE(planned);
            CHECK(planned.report().is_checked);
            CHECK(planned.schedule == point.steps);
            CHECK(planned.makespan == point.makespan);
            CHECK(planned.critical_path_with <= point.makespan);
            for (handoff h : planned.plan.handoffs)
                CHECK(point.steps[h.from].start + takes[h.from] <= point.steps[h.to].start);
            if (seed % 4 != 0) CHECK(is_safe(tasks, planned.plan, planned.plan.handoffs));
        }
    }
}

TEST_CASE("a schedule that is changed is refused for what is wrong with it, or still one")
{
    std::map<fault, unsigned> seen;
    unsigned valid = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw(pick, seed, false);
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        handoff_options const wanted{.duration = takes, .workers = 1 + pick.below(3)};
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        step_schedule changed = curve.points[pick.below(static_cast<unsigned>(curve.points.size()))];
        step_id const s = step_id::of(pick.below(static_cast<unsigned>(tasks.tasks.size())));
        switch (pick.below(5)) {
        case 0: changed.steps[s].start = pick.below(static_cast<unsigned>(changed.makespan + 1)); break;
        case 1: changed.steps[s].worker = pick.below(4); break;
        case 2: changed.steps[s].start += 1; break;
        case 3: changed.live_bytes -= std::min<byte_count>(changed.live_bytes, pick.below(2)); break;
        case 4: changed.makespan += pick.below(2); break;
        }
        painted_schedule const painted(tasks, takes, changed.steps);
        bool is_valid = painted.is_ordered && painted.is_apart && painted.makespan == changed.makespan &&
                        painted.live <= changed.live_bytes;
        for (step_time at : changed.steps) is_valid = is_valid && at.worker < wanted.workers;
        verdict const found = check_schedule(tasks.program(), changed, tasks.options(), wanted);
        CHECK(bool{found} == is_valid);
        if (found) ++valid;
        else ++seen[found.error().what];
        if (!found && !painted.is_ordered) CHECK(found.error().what == fault::too_early);
    }
    if (rounds(1000) < 1000) return;
    CHECK(valid > 50);
    CHECK(seen.size() == 4);
    for (fault what : {fault::too_early, fault::busy_worker, fault::over_time, fault::over_budget})
        CHECK(seen[what] > 10);
}

TEST_CASE("groups are kept by every schedule, and by every execution of a plan with them")
{
    unsigned refused = 0, made = 0, waits = 0;
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw(pick, seed, seed % 4 == 0);
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        handoff_options wanted{.duration = takes, .workers = pick.below(4)};
        wanted.groups = draw_groups(pick, tasks.tasks.size());
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        auto const planned = plan_with_handoffs(tasks.program(), tasks.options(), wanted);
        if (!curve) {
            ++refused;
            CHECK(curve.error().what == fault::over_group);
            REQUIRE(!planned);
            CHECK(planned.error() == curve.error());
            continue;
        }
        for (step_schedule const& point : curve.points) {
            painted_schedule const painted(tasks, takes, point.steps);
            CHECK(painted.is_ordered);
            CHECK(painted.makespan == point.makespan);
            if (seed % 4 != 0) CHECK(painted.live == point.live_bytes);
            for (step_group const& group : wanted.groups)
                CHECK(most_open(group, takes, point.steps) <= group.at_once);
        }
        REQUIRE(planned);
        CHECK(planned.least_makespan == curve.least_makespan);
        CHECK(planned.least_makespan <= planned.makespan);
        CHECK(planned.critical_path <= planned.critical_path_with);
        ++made;
        waits += !planned.plan.handoffs.empty();
        sharing_rule const rule(tasks, planned.plan.handoffs);
        for (step_group const& group : wanted.groups) {
            CHECK(is_kept_by(group, rule));
            CHECK(most_open(group, takes, planned.schedule) <= group.at_once);
        }
    }
    if (rounds(500) < 500) return;
    CHECK(refused > 5);
    CHECK(made > 300);
    CHECK(waits > 150);
}

TEST_CASE("sections of which each can run through are always possible")
{
    // Chains, listed one step of each after the other.
    std::uint32_t const chains = 12, length = 5;
    auto const program = sequence(chains * length, chains * length, [](step_id s, effect_sink& sink) {
        if (s >= chains) sink.use(value_id{s - chains});
        sink.def(+s);
    });
    step_group two;
    two.at_once = 2;
    for (std::uint32_t c = 0; c != chains; ++c) {
        two.sections.emplace_back();
        for (std::uint32_t i = 0; i != length; ++i) two.sections.back().push_back(step_id{c + chains * i});
    }
    plan_options const options{.bytes = byte_count{16}};
    handoff_options wanted{.workers = 8};
    wanted.groups = {two};
    auto const planned = plan_with_handoffs(program, options, wanted);
    REQUIRE(planned);
    CHECK(planned.makespan == chains / 2 * length);
    CHECK(planned.report().arena_bytes == 2 * 2 * 16);
    CHECK(planned.plan.handoffs.size() == chains - 2);
    plan_options ordered = options; // also in an order that has begun all before it ends one
    for (node_id n = 0; n != program.nodes(); ++n) ordered.order.push_back(n);
    wanted.groups.front().at_once = 1;
    auto const one = plan_with_handoffs(program, ordered, wanted);
    REQUIRE(one);
    CHECK(one.makespan == chains * length);
    CHECK(one.report().arena_bytes == 2 * 16);
}

TEST_CASE("of 64 chains two at once take the bytes of two, and little more time than two workers need")
{
    std::uint32_t const chains = 64, length = 6;
    random_source pick{std::mt19937(1)};
    std::vector<std::uint64_t> takes;
    std::uint64_t work = 0;
    for (std::uint32_t s = 0; s != chains * length; ++s) {
        takes.push_back(50 + pick.below(100));
        work += takes.back();
    }
    auto const program = sequence(chains * length, chains * length, [](step_id s, effect_sink& sink) {
        if (s % length != 0) sink.use(value_id{s - 1});
        sink.def(+s);
    });
    step_group two;
    two.at_once = 2;
    for (std::uint32_t s = 0; s != chains * length; ++s) {
        if (s % length == 0) two.sections.emplace_back();
        two.sections.back().push_back(step_id{s});
    }
    for (std::size_t workers : {std::size_t{2}, std::size_t{8}}) {
        handoff_options wanted{.duration = takes, .workers = workers};
        auto const fast = plan_with_handoffs(program, {.bytes = byte_count{1024}}, wanted);
        wanted.groups = {two};
        auto const few = plan_with_handoffs(program, {.bytes = byte_count{1024}}, wanted);
        REQUIRE(few);
        CHECK(few.report().arena_bytes == 2 * 2 * 1024);
        CHECK(fast.report().arena_bytes > 10 * few.report().arena_bytes);
        CHECK(100 * few.makespan <= 102 * work / 2);
    }
}

TEST_CASE("a result takes bytes beside an operand that it may not be written over")
{
    auto const p = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use(0);
        sink.def(+s);
        if (s == 1) sink.may_overwrite(0, 1);
    });
    auto is_valid = [&](plan_options const& options, byte_count live) {
        step_schedule const claimed{
            table<step_id, step_time>(std::vector<step_time>{{0, 0}, {1, 0}}), 2, live, {}};
        verdict const found = check_schedule(p, claimed, options, {});
        if (!found) CHECK(found.error().what == fault::over_budget);
        return bool{found};
    };
    plan_options options{.bytes = byte_count{100}};
    CHECK(is_valid(options, 100));
    CHECK_FALSE(is_valid(options, 99));
    options.in_place = false;
    CHECK(is_valid(options, 200));
    CHECK_FALSE(is_valid(options, 199));
    options.in_place = true;
    auto needs_both = [&](plan_options const& changed) {
        CHECK(is_valid(changed, 200));
        CHECK_FALSE(is_valid(changed, 199));
    };
    plan_options kept = options, apart = options, pinned = options, grows = options;
    kept.role = std::vector{value_role::output, value_role::intermediate};
    needs_both(kept);
    apart.pool = std::vector<pool_id>{0, 1};
    needs_both(apart);
    pinned.pinned = std::vector<byte_count>{64, no_offset};
    needs_both(pinned);
    grows.bytes = std::vector<byte_count>{99, 101};
    needs_both(grows);
    plan_options unsized = options; // the operand needs no planned bytes, and has none to give
    unsized.bytes = std::vector<byte_count>{no_size, 100};
    CHECK(is_valid(unsized, 100));
    CHECK_FALSE(is_valid(unsized, 99));
}

TEST_CASE("of several limits the one is named that no schedule keeps")
{
    // Three chains of two steps, 8 bytes a value.
    auto const p = sequence(6, 6, [](step_id s, effect_sink& sink) {
        if (s % 2 == 1) sink.use(value_id{s - 1});
        sink.def(+s);
    });
    step_group const three{{{step_id{0}, step_id{1}}, {step_id{2}, step_id{3}}, {step_id{4}, step_id{5}}}, 3};
    plan_options options{.bytes = byte_count{8}};
    handoff_options wanted{.workers = 2, .longest = 1};
    for (bool has_groups : {false, true}) { // a pool without buffers exceeds no capacity
        wanted.groups.clear();
        if (has_groups) wanted.groups = {three};
        options.pools = {{}, {.capacity = 0}};
        CHECK(schedules(p, options, wanted).error() ==
              counterexample{fault::over_time, counterexample::place{.end = 3, .needed = 1}});
        options.pools = {{.capacity = 15}};
        CHECK(schedules(p, options, wanted).error() ==
              counterexample{fault::over_capacity, counterexample::place{.end = 16, .needed = 15}});
        options.pools.clear();
        wanted.most_bytes = 15;
        CHECK(schedules(p, options, wanted).error() ==
              counterexample{fault::over_budget, counterexample::place{.end = 16, .needed = 15}});
        CHECK(plan_with_handoffs(p, options, wanted).error().what == fault::over_budget);
        wanted.most_bytes = no_limit;
    }
}

TEST_CASE("what cannot be kept is said with the step that shows it")
{
    listing<char const*> list;
    list.step("load").make("a", {.bytes = 64});
    list.step("grow").read("a").make("b", {.bytes = 128});
    list.step("sum").read("b").make("c", {.bytes = 8, .role = value_role::output});
    step_group crossed{{{step_id{0}, step_id{2}}, {step_id{1}}}, 1};
    handoff_options wanted{.workers = 2};
    wanted.groups = {crossed};
    CHECK(printed(schedules(list, wanted)) ==
          "no schedule: no order was found that keeps group 0: step 'grow' begins a section before that of "
          "step 'sum' has ended, and at most 1 may run at once");
    wanted.groups.clear();
    wanted.most_bytes = 100;
    CHECK(printed(schedules(list, wanted)) ==
          "no schedule: the result takes 192 bytes, and its budget is 100");
    wanted.most_bytes = no_limit;
    wanted.longest = 2;
    CHECK(printed(schedules(list, wanted)) ==
          "no schedule: the schedule takes 3, and at most 2 are accepted");
    wanted.longest = 0;
    CHECK(printed(schedules(list, wanted)) == "makespan 3: 192 B live\n"
                                              "no schedule is shorter than 3 or has fewer than 192 B live\n");
    wanted.schedule = table<step_id, step_time>(std::vector<step_time>{{0, 0}, {0, 1}, {2, 1}});
    auto const early = plan_with_handoffs(list, wanted);
    CHECK(printed(early.error()) ==
          "step 'grow' starts at 0, before step 'load', for which it waits, ends at 1");
    wanted.schedule = table<step_id, step_time>(std::vector<step_time>{{0, 0}, {1, 2}, {2, 1}});
    CHECK(printed(plan_with_handoffs(list, wanted).error()) ==
          "step 'grow' runs on worker 2, and there are only 2");
    step_schedule const together{
        table<step_id, step_time>(std::vector<step_time>{{0, 0}, {1, 0}, {1, 0}}), 2, 200, {}};
    CHECK(check_schedule(list, together, wanted).error().what == fault::too_early);
    wanted.schedule = table<step_id, step_time>(std::vector<step_time>{{0, 0}});
    CHECK_THROWS_WITH_AS((void)plan_with_handoffs(list, wanted),
                         "sublet: the schedule has times for 1 steps, but the program has 3",
                         precondition_error);
    wanted.schedule = table<step_id, step_time>(std::vector<step_time>{{0, 0}, {1, 0}, {no_limit, 0}});
    CHECK_THROWS_WITH_AS((void)plan_with_handoffs(list, wanted), "sublet: step 2 ends beyond 64 bits",
                         precondition_error);
    wanted.schedule.clear();
    wanted.groups = {step_group{{{step_id{3}}}, 1}};
    CHECK_THROWS_WITH_AS((void)schedules(list, wanted),
                         "sublet: section 0 of group 0 has step 3, but there are only 3", precondition_error);
    wanted.groups = {step_group{{{step_id{1}}}, 0}};
    CHECK_THROWS_WITH_AS((void)plan_with_handoffs(list, wanted),
                         "sublet: of group 0 no section may run: at_once is 0", precondition_error);
    wanted.groups = {step_group{{{step_id{1}}, {step_id{1}}}, 1}};
    CHECK_THROWS_WITH_AS((void)schedules(list, wanted), "sublet: step 1 is twice in group 0",
                         precondition_error);
}

TEST_CASE("steps of several nodes may alternate, and the bound on bytes allows that")
{
    // Two nodes of two steps: 0 makes a, 1 makes b; 2 reads a, 3 reads b. One node after the other needs
    // both.
    std::vector<std::vector<node_id>> const next(2);
    auto const p = tasks(
        2, 2, [&](node_id n) -> auto const& { return next[n]; },
        [](node_id n, effect_sink& sink) {
            for (value_id v : {0, 1}) {
                if (n == 0) sink.def(v);
                else sink.use(v);
                if (v == 0) sink.next_step();
            }
        });
    plan_options const options{.bytes = byte_count{100}};
    handoff_options wanted{.duration = std::vector<std::uint64_t>{1, 1, 5, 1}, .workers = 1};
    wanted.handoffs = {{step_id{2}, step_id{1}}};
    schedule_curve const curve = schedules(p, options, wanted);
    REQUIRE(curve);
    CHECK(curve.points.back().live_bytes == 100);
    CHECK(curve.least_bytes == 100);
    CHECK(plan_with_handoffs(p, options, wanted).least_bytes == 100);
}

TEST_CASE("in groups within bytes a plan is refused only if no schedule that was found has one")
{
    unsigned refused = 0, made = 0;
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw(pick, seed, seed % 4 == 0);
        auto const takes = draw_durations(pick, tasks, 1 + seed % 4);
        handoff_options wanted{.duration = takes, .workers = 1 + pick.below(3)};
        wanted.groups = draw_groups(pick, tasks.tasks.size());
        schedule_curve const curve = schedules(tasks.program(), tasks.options(), wanted);
        if (!curve) continue;
        wanted.most_bytes = curve.points[pick.below(static_cast<unsigned>(curve.points.size()))].live_bytes;
        schedule_curve const within = schedules(tasks.program(), tasks.options(), wanted);
        auto const planned = plan_with_handoffs(tasks.program(), tasks.options(), wanted);
        CHECK(planned.handoff_bytes.size() == planned.plan.handoffs.size());
        if (planned) {
            ++made;
            CHECK(planned.report().arena_bytes <= wanted.most_bytes);
            continue;
        }
        ++refused;
        CHECK(planned.error().what == fault::over_budget);
        for (std::size_t i = 0; i != std::min<std::size_t>(within.points.size(), 4); ++i) {
            wanted.schedule = within.points[i].steps;
            CHECK(!plan_with_handoffs(tasks.program(), tasks.options(), wanted));
        }
    }
    if (rounds(400) < 400) return;
    CHECK(refused > 0);
    CHECK(made > 200);
}

TEST_CASE("the empty program has one schedule, of no steps")
{
    schedule_curve const curve = schedules(snapshot{}, {.bytes = byte_count{8}});
    REQUIRE(curve);
    REQUIRE(curve.points.size() == 1);
    CHECK(curve.points[0] == step_schedule{{}, 0, 0, curve.points[0].live_in});
}

} // namespace this_test
