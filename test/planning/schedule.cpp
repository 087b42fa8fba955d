// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/planning/detail/schedule.hpp>

#include "../concurrent_lives.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"
#include "../transitive.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<live_range> row(buffer_range_lists const& of, buffer_id b)
{
    return {of[b].begin(), of[b].end()};
}

} // namespace

TEST_CASE("in a schedule a buffer no longer conflicts after its end, and nothing else changes")
{
    buffer_range_lists const exact(live_range_lists::source::from_liveness, 6, {0, 3, 4, 5, 6, 7, 8},
                                   {{0, 2}, {3, 4}, {5, 6}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
    auto first_row = [&](live_range in_schedule) {
        return row(conflicts_in_schedule(exact, {in_schedule, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}}), 0);
    };
    CHECK(first_row({0, 6}) == row(exact, 0));
    CHECK(first_row({0, 5}) == std::vector<live_range>{{0, 2}, {3, 4}});
    CHECK(first_row({0, 2}) == std::vector<live_range>{{0, 2}});
    CHECK(first_row({0, 1}) == std::vector<live_range>{{0, 1}});
    CHECK_THROWS_AS((void)conflicts_in_schedule(exact, {}), precondition_error);
}

TEST_CASE("the remaining conflicts are those of the definition")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(14), .early = 30, .views = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const takes = draw_durations(pick, tasks, 5);
        auto const [timed, schedule] =
            in_schedule_order(g, parallel_schedule(g, takes, {.workers = pick.below(4)}));
        auto const lives = lives_of_classes(p, timed, tasks);
        auto const exact = find_conflict_ranges(timed, lives).of;
        auto const in_schedule = schedule_live_ranges(lives, schedule);
        auto const found = conflicts_in_schedule(exact, in_schedule);
        REQUIRE(found.positions() == exact.positions());
        for (buffer_id b = 0; b != tasks.values(); ++b) {
            position_id last = 0;
            for (live_range r : found[b]) {
                REQUIRE(!is_empty(r));
                if (last != 0) REQUIRE(r.first > last); // neither overlap nor touch
                last = r.last;
            }
            std::uint64_t end = 0; // of the last step that touches it
            for (position_id at : lives.ends[b])
                end = at == lives.positions ? no_limit : larger(end, schedule.end[at]);
            for (position_id at = 0; at != timed.positions(); ++at) {
                bool was = false, is = false;
                for (live_range r : exact[b]) was = was || contains(r, at);
                for (live_range r : found[b]) is = is || contains(r, at);
                bool const ends_before = end <= schedule.start[at] && !lives.ends[b].empty();
                REQUIRE(is == (was && !ends_before));
            }
        }
    }
}

// --- schedule live ranges ----------------------------------------------------------------------------------

TEST_CASE("a buffer lives from the begin of its first step to the end of its last reader")
{
    // 0 defines a, 1 reads it and defines b, 2 reads a and defines c, 3 reads b.
    std::vector<std::vector<value_id>> const uses{{}, {0}, {0}, {1}}, defs{{0}, {1}, {2}, {}};
    snapshot const p = sequence(
        4, 3, [&](step_id s) -> auto& { return uses[s]; }, [&](step_id s) -> auto& { return defs[s]; });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    // In billions of ticks: 0 runs [0, 1), 1 [1, 3), 2 [1, 6), 3 [3, 4).
    std::uint64_t const unit = 1'000'000'000;
    schedule_times const schedule = parallel_schedule(g, {unit, 2 * unit, 5 * unit, unit});
    CHECK(schedule_live_ranges(lives, schedule) == std::vector<live_range>{{0, 4}, {1, 4}, {1, 4}});
    // One worker runs 2 before 1, which has the shorter path ahead: a ends with 1.
    schedule_times const alone = parallel_schedule(g, {unit, 2 * unit, 5 * unit, unit}, {.workers = 1});
    CHECK(schedule_live_ranges(lives, alone) == std::vector<live_range>{{0, 3}, {2, 4}, {1, 2}});
}

TEST_CASE("live ranges of another graph are refused")
{
    CHECK(schedule_live_ranges({}, schedule_times{}).empty());
    CHECK_THROWS_AS((void)schedule_live_ranges({}, schedule_times{{0}, {1}, 1, 1}), precondition_error);
}

TEST_CASE("live ranges overlap exactly where the steps that touch them do")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(12), .early = 30, .views = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const takes = draw_durations(pick, tasks, 9);
        schedule_times const schedule = parallel_schedule(g, takes, {.workers = pick.below(4)});
        auto const lives = lives_of_classes(p, g, tasks);
        auto const ranges = schedule_live_ranges(lives, schedule);
        REQUIRE(ranges.size() == tasks.values());

        auto has_ended = [&](value_id u, value_id v) { // when v begins
            if (rule.is_kept[u] || rule.is_given[v] || rule.defs[v].empty()) return false;
            for (std::size_t d : rule.defs[v])
                for (auto const* touches : {&rule.late[u], &rule.early[u]})
                    for (std::size_t t : *touches)
                        if (schedule.end[g.position_of[t]] > schedule.start[g.position_of[d]]) return false;
            return true;
        };
        for (value_id u = 0; u != tasks.values(); ++u) {
            if (rule.root[u] != u) continue;
            REQUIRE(!is_empty(ranges[+u]));
            bool const is_touched = !rule.late[u].empty() || !rule.early[u].empty();
            for (value_id v = 0; v != u; ++v)
                if (rule.root[v] == v && is_touched && (!rule.late[v].empty() || !rule.early[v].empty()))
                    REQUIRE(overlaps(ranges[+u], ranges[+v]) == !(has_ended(u, v) || has_ended(v, u)));
        }
    }
}

// --- schedule order ----------------------------------------------------------------------------------------

TEST_CASE("positions are numbered by their starts, and edges likewise")
{
    // 0 -> 1 -> 2, and an isolated 3: of 2 and 3, with equal paths ahead, one worker takes the lower
    // position.
    std::vector<std::vector<node_id>> const next{{1}, {2}, {}, {}};
    dependence_graph const g =
        dependences(tasks(4, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
    scheduled_graph const timed =
        in_schedule_order(g, parallel_schedule(g, std::uint64_t{5}, {.workers = 1}));
    CHECK(timed.graph.step_at == std::vector<step_id>{0, 1, 3, 2});
    CHECK(timed.graph.position_of == std::vector<position_id>{0, 1, 3, 2});
    CHECK(timed.graph.after == csr_rows<position_id, position_id>({0, 1, 2, 2, 2}, {1, 3}));
    CHECK(timed.schedule.start == std::vector<std::uint64_t>{0, 5, 10, 15});
    CHECK(timed.schedule.end == std::vector<std::uint64_t>{5, 10, 15, 20});
    CHECK(timed.schedule.makespan == 20);
    CHECK(timed.schedule.critical_path == 15);
}

TEST_CASE("the schedule of another graph is refused")
{
    CHECK(in_schedule_order(dependences(snapshot{}), schedule_times{}).graph.positions() == 0);
    CHECK_THROWS_AS((void)in_schedule_order(dependences(snapshot{}), schedule_times{{0}, {1}, 1, 1}),
                    precondition_error);
}

TEST_CASE("another numbering is the same order of steps, and a topological one")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks =
            draw_tasks(pick, {.tasks = 1 + pick.below(14), .early = 30, .shuffled = seed % 2 == 1});
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        auto const takes = draw_durations(pick, tasks, 5);
        schedule_side const side = seed % 3 == 0 ? schedule_side::latest : schedule_side::earliest;
        schedule_times const schedule = parallel_schedule(g, takes, {.workers = pick.below(4), .side = side});
        auto const [graph, times] = in_schedule_order(g, schedule);
        REQUIRE(graph.positions() == g.positions());
        REQUIRE(graph.edges() == g.edges());
        REQUIRE(graph.before == graph.after.transposed(g.positions()));
        auto is_early = [](dependence_graph const& in, position_id at) {
            return in.position_of[in.step_at[at]] != at;
        };
        auto number_of = [&, &its = graph](position_id at) { // the position of the same part of the same step
            position_id to = 0;
            while (its.step_at[to] != g.step_at[at] || is_early(its, to) != is_early(g, at)) ++to;
            return to;
        };
        for (position_id at = 0; at != g.positions(); ++at) {
            REQUIRE(graph.step_at[number_of(at)] == g.step_at[at]);
            REQUIRE(times.start[number_of(at)] == schedule.start[at]);
            REQUIRE(times.end[number_of(at)] == schedule.end[at]);
            if (at != 0) REQUIRE(times.start[at - 1] <= times.start[at]);
            for (position_id next : g.after[at]) {
                REQUIRE(is_listed(graph.after[number_of(at)], number_of(next)));
                REQUIRE(number_of(at) < number_of(next));
            }
        }
    }
}

// --- parallel schedule -------------------------------------------------------------------------------------

namespace {

dependence_graph diamond() // 0 -> 1 -> 3, 0 -> 2 -> 3
{
    std::vector<std::vector<node_id>> const next{{1, 2}, {3}, {3}, {}};
    return dependences(
        tasks(4, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
}

std::vector<std::uint64_t> by_step(dependence_graph const& g, std::vector<std::uint64_t> const& times)
{
    std::vector<std::uint64_t> result;
    for (position_id at : g.position_of) result.push_back(times[at]);
    return result;
}

} // namespace

TEST_CASE("two branches run in parallel on two workers, and in sequence on one")
{
    dependence_graph const g = diamond();
    schedule_times const two = parallel_schedule(g, std::uint64_t{10}, {.workers = 2});
    CHECK(by_step(g, two.start) == std::vector<std::uint64_t>{0, 10, 10, 20});
    CHECK(by_step(g, two.end) == std::vector<std::uint64_t>{10, 20, 20, 30});
    CHECK(two.makespan == 30);
    schedule_times const one = parallel_schedule(g, std::uint64_t{10}, {.workers = 1});
    CHECK(by_step(g, one.start) == std::vector<std::uint64_t>{0, 10, 20, 30});
    CHECK(one.makespan == 40);
    CHECK(one.critical_path == 30);
}

TEST_CASE("a short branch parallel to a long one starts with it or ends with it")
{
    dependence_graph const g = diamond();
    std::vector<std::uint64_t> const takes{1, 5, 2, 1};
    CHECK(by_step(g, parallel_schedule(g, takes).start) == std::vector<std::uint64_t>{0, 1, 1, 6});
    CHECK(by_step(g, parallel_schedule(g, takes, {.side = schedule_side::latest}).start) ==
          std::vector<std::uint64_t>{0, 1, 4, 6});
}

TEST_CASE("a free worker takes the step with the longest path ahead, not the first")
{
    // 0 and 1 are isolated, 2 -> 3 -> 4.
    std::vector<std::vector<node_id>> const next{{}, {}, {3}, {4}, {}};
    dependence_graph const g =
        dependences(tasks(5, 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
    schedule_times const schedule = parallel_schedule(g, std::uint64_t{1}, {.workers = 2});
    CHECK(by_step(g, schedule.start) == std::vector<std::uint64_t>{0, 1, 0, 1, 2});
    schedule_times const late =
        parallel_schedule(g, std::uint64_t{1}, {.workers = 2, .side = schedule_side::latest});
    CHECK(by_step(g, late.start) == std::vector<std::uint64_t>{1, 2, 0, 1, 2});
}

TEST_CASE("a step of duration 0 is refused")
{
    dependence_graph const g = diamond();
    CHECK_THROWS_WITH_AS((void)parallel_schedule(g, {1, 1, 0, 1}),
                         "sublet: the duration of step 2 is 0 (a schedule needs at least 1)",
                         precondition_error);
    CHECK_THROWS_AS((void)parallel_schedule(g, {1, 1, 1}), precondition_error);
    CHECK_THROWS_AS((void)parallel_schedule(g, no_size / 2), precondition_error);
    snapshot const unwritten = sequence(1, 1, [](step_id, effect_sink& sink) { sink.use(0); });
    CHECK_THROWS_AS((void)parallel_schedule(dependences(unwritten)), precondition_error);
}

TEST_CASE("the empty program has makespan 0")
{
    for (std::size_t workers : {0u, 1u, 2u})
        CHECK(parallel_schedule(dependences(snapshot{}), std::uint64_t{1}, {.workers = workers}).makespan ==
              0);
}

TEST_CASE("a schedule keeps the order and the number of workers, and no worker is idle needlessly")
{
    for (std::uint32_t seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks =
            draw_tasks(pick, {.tasks = 1 + pick.below(14), .early = 30, .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        std::size_t const n = tasks.tasks.size();
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        auto const takes = draw_durations(pick, tasks, 1 + seed % 7);
        std::uint64_t longest = 0, work = 0;
        std::vector<std::uint64_t> path(n, 0); // to the end of each; relaxed until nothing changes
        for (std::size_t round = 0; round != n; ++round)
            for (std::size_t b = 0; b != n; ++b) {
                std::uint64_t begin = 0;
                for (std::size_t a = 0; a != n; ++a)
                    if (rule.before[a][b]) begin = std::max(begin, path[a]);
                path[b] = begin + takes[b];
                longest = std::max(longest, path[b]);
            }
        for (std::uint64_t t : takes) work += t;

        std::size_t const workers = pick.below(5);
        CAPTURE(workers);
        for (schedule_side side : {schedule_side::earliest, schedule_side::latest}) {
            schedule_times const schedule = parallel_schedule(g, takes, {.workers = workers, .side = side});
            REQUIRE(schedule.critical_path == longest);
            for (position_id at = 0; at != g.positions(); ++at)
                REQUIRE(schedule.end[at] == schedule.end[g.position_of[g.step_at[at]]]);
            auto start = by_step(g, schedule.start), end = by_step(g, schedule.end);
            REQUIRE(*std::min_element(start.begin(), start.end()) == 0);
            REQUIRE(*std::max_element(end.begin(), end.end()) == schedule.makespan);
            for (std::size_t a = 0; a != n; ++a) {
                REQUIRE(end[a] == start[a] + takes[a]);
                for (std::size_t b = 0; b != n; ++b)
                    if (rule.before[a][b]) REQUIRE(end[a] <= start[b]);
            }
            bool const is_late = side == schedule_side::latest;
            auto precedes = [&](std::size_t a, std::size_t b) {
                return is_late ? rule.before[b][a] : rule.before[a][b];
            };
            if (is_late) { // reverse the time
                std::swap(start, end);
                for (std::uint64_t& t : start) t = schedule.makespan - t;
                for (std::uint64_t& t : end) t = schedule.makespan - t;
            }
            if (workers == 0) REQUIRE(schedule.makespan == longest);
            else REQUIRE(schedule.makespan * workers <= work + (workers - 1) * longest); // Graham
            for (std::uint64_t now = 0; now != schedule.makespan; ++now) {
                std::size_t busy = 0, waits = 0;
                for (std::size_t a = 0; a != n; ++a) {
                    busy += start[a] <= now && now < end[a];
                    bool ready = start[a] > now;
                    for (std::size_t b = 0; b != n; ++b) ready = ready && (!precedes(b, a) || end[b] <= now);
                    waits += ready;
                }
                if (workers != 0) REQUIRE(busy <= workers);
                if (waits != 0) REQUIRE(busy == workers);
            }
        }
    }
}

TEST_CASE("a use at the end of a node orders its reader after the write")
{
    // Node 1 uses 0 at the end of node 0 (a phi), which waits for the step that writes it.
    snapshot const p = tasks(
        3, 2, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 1) s.use_at_end_of(node_id{0}, 0);
            if (n == 0) s.use_early(1);
            if (n == 2) s.def(0);
        });
    dependence_graph const g = dependences(p, {.role = {value_role::intermediate, value_role::input}});
    REQUIRE(g);
    for (std::size_t workers : {0u, 1u, 2u})
        for (schedule_side side : {schedule_side::earliest, schedule_side::latest})
            CHECK(by_step(g, parallel_schedule(g, std::uint64_t{2}, {workers, side}).start) ==
                  std::vector<std::uint64_t>{2, 4, 0});
}

TEST_CASE("a chain of a million steps needs no recursion")
{
    dependence_graph const g = dependences(draw_family("chain", 1'000'000).program());
    CHECK(parallel_schedule(g).makespan == 1'000'000);
    CHECK(parallel_schedule(g, std::uint64_t{1}, {.workers = 2}).makespan == 1'000'000);
}

// --- handoffs ----------------------------------------------------------------------------------------------

namespace {

/// A task for each row of next; live ranges are given separately.
dependence_graph graph_of(std::vector<std::vector<node_id>> const& next)
{
    return dependences(
        tasks(next.size(), 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
}

/// Live ranges, given by buffer as steps, in positions.
concurrent_live_ranges
live_ranges_of(dependence_graph const& g,
               std::vector<std::pair<std::vector<step_id>, std::vector<step_id>>> const& rows)
{
    concurrent_live_ranges lives;
    lives.positions = static_cast<std::uint32_t>(g.positions());
    auto append = [&](csr_rows<buffer_id, position_id>& to, std::vector<step_id> const& row) {
        std::vector<position_id> positions;
        for (step_id s : row)
            positions.push_back(s == no_step ? position_id{lives.positions} : g.position_of[s]);
        std::sort(positions.begin(), positions.end());
        for (position_id at : positions) to.append(at);
        to.close_row();
    };
    for (auto const& [begins, ends] : rows) {
        append(lives.begins, begins);
        append(lives.ends, ends);
    }
    return lives;
}

memory_plan::placed_buffer at(byte_count offset, byte_count size, live_range life, pool_id pool = 0)
{
    return {.life = life, .size = size, .pool = pool, .offset = offset};
}

/// All hand-offs by the definition, for each pair that overlaps in bytes, and of them those that no path
/// implies.
struct needed {
    std::vector<handoff> waits, handoffs;
    bool has_cycle = false;

    needed(random_tasks const& tasks, std::vector<memory_plan::placed_buffer> const& placed,
           memory_plan const& plan)
    {
        sharing_rule const rule(tasks);
        std::size_t const n = tasks.tasks.size();
        std::vector<std::vector<bool>> edge(n, std::vector<bool>(n));
        for (std::size_t u = 0; u != placed.size(); ++u)
            for (std::size_t v = 0; v != placed.size(); ++v) {
                memory_plan::placed_buffer const &a = placed[u], &b = placed[v];
                if (u == v || a.pool != b.pool || a.offset >= b.offset + b.size ||
                    b.offset >= a.offset + a.size || a.life.first > b.life.first)
                    continue;
                value_id const from = plan.buffers[u].root, to = plan.buffers[v].root;
                for (std::size_t d : rule.defs[to])
                    for (auto const* touches : {&rule.late[from], &rule.early[from]})
                        for (std::size_t t : *touches)
                            if (t != d) edge[t][d] = true;
            }
        std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n));
        for (std::size_t a = 0; a != n; ++a)
            for (std::size_t b = 0; b != n; ++b) reaches[a][b] = edge[a][b] || rule.before[a][b];
        make_transitive(reaches);
        for (step_id a = 0; a != n; ++a) {
            if (reaches[a][a]) has_cycle = true;
            for (step_id b = 0; b != n; ++b) {
                if (!edge[a][b]) continue;
                bool is_unordered = !rule.before[a][b];
                for (std::size_t k = 0; k != n; ++k)
                    is_unordered = is_unordered && !(reaches[a][k] && reaches[k][b]);
                if (is_unordered) handoffs.push_back({a, b});
            }
        }
    }
};

} // namespace

TEST_CASE("a buffer waits for the last users of the bytes that it reuses, unless it does so already")
{
    // 0 -> 1, 2 -> 3: 0 defines a and 2 defines b, used by 1 and 3; then 4 defines c at the offset of a, and
    // 5, after 4, defines d over the end of c and all of b.
    dependence_graph const g = graph_of({{1}, {}, {3}, {}, {5}, {}});
    auto const lives = live_ranges_of(g, {{{0}, {1}}, {{2}, {3}}, {{4}, {4}}, {{5}, {5}}});
    std::vector<memory_plan::placed_buffer> const placed{at(0, 32, {0, 2}), at(32, 32, {2, 4}),
                                                         at(0, 40, {4, 5}), at(36, 28, {5, 6})};
    handoff_set const found = find_handoffs(g, lives, placed);
    REQUIRE(found);
    // d reuses b as well, but 5 comes after 4, which has waited for 3.
    CHECK(found.handoffs == std::vector<handoff>{{1, 4}, {3, 4}});
    CHECK(found.bytes == std::vector<byte_count>{32, 8});
    CHECK(found.takeovers == 4);
    CHECK(found.waits == 3);
}

TEST_CASE("buffers of different pools, of no bytes or without offset need no hand-offs")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const lives = live_ranges_of(g, {{{0}, {0}}, {{1}, {1}}});
    CHECK(find_handoffs(g, lives, {at(0, 8, {0, 1}), at(0, 8, {1, 2}, 1)}).handoffs.empty());
    CHECK(find_handoffs(g, lives, {at(0, 8, {0, 1}), at(0, 0, {1, 2})}).handoffs.empty());
    CHECK(find_handoffs(g, lives, {at(0, 8, {0, 1}), at(no_offset, 8, {1, 2})}).handoffs.empty());
    CHECK(find_handoffs(g, lives, {at(0, 8, {0, 1}), at(8, 8, {1, 2})}).handoffs.empty());
    CHECK(find_handoffs(g, lives, {at(0, 8, {0, 1}), at(0, 8, {1, 2})}).handoffs ==
          std::vector<handoff>{{0, 1}});
    CHECK(find_handoffs(g, lives, {at(0, 8, {1, 2}), at(0, 8, {0, 1})}).handoffs ==
          std::vector<handoff>{{1, 0}});
    CHECK(find_handoffs(dependences(snapshot{}), {}, {}).handoffs.empty());
}

TEST_CASE("violated preconditions are refused")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const lives = live_ranges_of(g, {{{0}, {0}}});
    CHECK_THROWS_AS((void)find_handoffs(g, lives, {}), precondition_error);
    CHECK_THROWS_AS((void)find_handoffs(graph_of({{}}), lives, {at(0, 8, {0, 1})}), precondition_error);
    CHECK_THROWS_AS((void)find_handoffs(g, lives, {at(no_offset - 8, 8, {0, 1})}), precondition_error);
}

TEST_CASE("no hand-off reuses a buffer live to the end, nor serves one live from the start")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const kept = live_ranges_of(g, {{{0}, {no_step}}, {{1}, {1}}});
    auto const given = live_ranges_of(g, {{{0}, {0}}, {{}, {1}}});
    std::vector<memory_plan::placed_buffer> const placed{at(0, 8, {0, 1}), at(0, 8, {1, 2})};
    counterexample const both{fault::clash, counterexample::buffers{.buffer = 0, .other = 1, .end = 8}};
    CHECK(find_handoffs(g, kept, placed).error() == both);
    CHECK(find_handoffs(g, given, placed).error() == both);
}

TEST_CASE("steps of duration 0 at one time would deadlock")
{
    // x and y each read a buffer that the other's result reuses. In a schedule where both have duration 0,
    // each has ended when the other begins: all four live ranges fit into two offsets, and neither step could
    // run.
    dependence_graph const g = graph_of({{2}, {3}, {}, {}});
    auto const lives = live_ranges_of(g, {{{0}, {2}}, {{1}, {3}}, {{2}, {2}}, {{3}, {3}}});
    std::vector<memory_plan::placed_buffer> placed{at(0, 8, {0, 1}), at(8, 8, {0, 1}), at(8, 8, {1, 2}),
                                                   at(0, 8, {1, 2})};
    handoff_set const found = find_handoffs(g, lives, placed);
    REQUIRE(!found);
    CHECK(found.handoffs.empty());
    CHECK(found.error().what == fault::cycle);
    auto cycle = found.error().schedule;
    std::sort(cycle.begin(), cycle.end());
    CHECK(cycle == std::vector<step_id>{2, 3});
    // With positive durations there is no such plan: the live ranges overlap those that they would reuse.
    auto const ranges = schedule_live_ranges(lives, parallel_schedule(g));
    CHECK(overlaps(ranges[0], ranges[3]));
    CHECK(overlaps(ranges[1], ranges[2]));
}

TEST_CASE("a sequential plan becomes safe by exactly the waits that no path implies")
{
    std::size_t with_handoffs = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(12),
                                                     .edges = 10,
                                                     .early = seed % 2 == 0 ? 0u : 30u,
                                                     .views = seed % 3 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .alignments = 1 + pick.below(8)});
        snapshot const p = tasks.program();
        memory_plan const plan = plan_memory(p, tasks.options()).plan;
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const lives = concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, tasks.role);
        handoff_set const found = find_handoffs(g, lives, plan.buffers);
        REQUIRE(found);
        needed const expected(tasks, plan.buffers, plan);
        REQUIRE(!expected.has_cycle);
        REQUIRE(found.handoffs == expected.handoffs);
        REQUIRE(found.bytes.size() == found.handoffs.size());
        REQUIRE(is_safe(tasks, plan, found.handoffs));
        for (std::size_t i = 0; i != found.handoffs.size(); ++i) {
            auto fewer = found.handoffs;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            REQUIRE(!is_safe(tasks, plan, fewer));
            REQUIRE(found.bytes[i] != 0);
        }
        with_handoffs += !found.handoffs.empty();
        REQUIRE(dependences(p, {.role = tasks.role, .handoffs = found.handoffs}));
    }
    CHECK(with_handoffs > rounds(500));
}

TEST_CASE("sharing under a schedule never makes the critical path longer than its makespan")
{
    std::size_t with_handoffs = 0, longer = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(16),
                                                     .edges = 10,
                                                     .early = seed % 2 == 0 ? 0u : 30u,
                                                     .views = seed % 3 == 0 ? 20u : 0u,
                                                     .pools = 1 + pick.below(2),
                                                     .shuffled = seed % 5 == 0});
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const takes = draw_durations(pick, tasks, 1 + seed % 11);
        schedule_side const side = seed % 4 == 0 ? schedule_side::latest : schedule_side::earliest;
        schedule_times const schedule = parallel_schedule(g, takes, {.workers = pick.below(4), .side = side});

        memory_plan plan;
        sharing_rule const rule(tasks);
        plan.buffer_of.assign(tasks.values(), no_buffer);
        for (value_id v = 0; v != tasks.values(); ++v) { // every class of values with bytes is a buffer
            value_id const root = value_id::of(rule.root[v]);
            if (tasks.bytes[root] == 0) continue;
            if (root == v) {
                plan.buffer_of[v] = buffer_id::of(plan.buffers.size());
                plan.buffers.push_back({.root = v, .size = tasks.bytes[v], .pool = tasks.pool[v]});
            }
            plan.buffer_of[v] = plan.buffer_of[root];
        }
        auto const lives = concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, tasks.role);
        auto const ranges = schedule_live_ranges(lives, schedule);
        placement_problem problem;
        for (std::size_t b = 0; b != plan.buffers.size(); ++b) {
            plan.buffers[b].life = ranges[b];
            problem.buffers.push_back(
                {.life = ranges[b], .size = plan.buffers[b].size, .pool = plan.buffers[b].pool});
        }
        placement const where = place(problem);
        for (std::size_t b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].offset = where.offset[b];

        handoff_set const found = find_handoffs(g, lives, plan.buffers);
        REQUIRE(found);
        REQUIRE(found.handoffs == needed(tasks, plan.buffers, plan).handoffs);
        REQUIRE(is_safe(tasks, plan, found.handoffs));
        dependence_graph const more = dependences(p, {.role = tasks.role, .handoffs = found.handoffs});
        REQUIRE(more);
        std::uint64_t const path = parallel_schedule(more, takes).makespan;
        REQUIRE(path <= schedule.makespan);
        with_handoffs += !found.handoffs.empty();
        longer += path > schedule.critical_path;
    }
    CHECK(with_handoffs > rounds(500));
    CHECK(longer > rounds(100));
}

TEST_CASE("in a chain of a million steps no hand-off is needed")
{
    task_family const drawn = draw_family("chain", 1'000'000);
    snapshot const p = drawn.program();
    dependence_graph const g = dependences(p);
    table<value_id, buffer_id> own;
    std::vector<memory_plan::placed_buffer> placed;
    for (buffer_id b = 0; b != drawn.tasks(); ++b) { // alternating between two halves of the arena
        own.push_back(b);
        placed.push_back(at(b % 2 * 65536, drawn.bytes[b], {+b, b + 2}));
    }
    auto const lives = concurrent_lifetimes(p, g, own.size(), own, std::vector<value_role>(own.size()));
    handoff_set const found = find_handoffs(g, lives, placed);
    CHECK(found);
    CHECK(found.handoffs.empty());
    CHECK(found.takeovers > 1'000'000);
}

} // namespace this_test
