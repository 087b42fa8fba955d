// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/unreached_positions.hpp>

#include "../concurrent_lives.hpp"
#include "../position_closure.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_handoffs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using rows = std::vector<std::vector<value_id>>;

static snapshot listed(rows const& uses, rows const& defs, std::size_t values)
{
    return sequence(
        uses.size(),
        values, [&](step_id s) -> auto& { return uses[s]; }, [&](step_id s) -> auto& { return defs[s]; });
}

static std::vector<position_id> row(csr_rows<position_id, position_id> const& of, position_id at)
{
    return {of[at].begin(), of[at].end()};
}

TEST_CASE("a reader waits for the writer, and for no other step")
{
    dependence_graph const g = dependences(listed({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}}, 4));
    REQUIRE(g);
    CHECK(row(g.after, 0) == std::vector<position_id>{1, 2});
    CHECK(row(g.before, 3) == std::vector<position_id>{1, 2});
    CHECK(g.edges() == 4);
}

TEST_CASE("steps of a node are in sequence, and the edges of the program are kept")
{
    snapshot const p = tasks(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id, effect_sink& s) { s.next_step(); });
    dependence_graph const g = dependences(p);
    REQUIRE(g.positions() == 4);
    for (step_id s = 0; s != 3; ++s)
        CHECK(row(g.after, g.position_of[s]) == std::vector{g.position_of[s + 1]});
}

TEST_CASE("a step that reads early has a position to read and one to write")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use_early(0);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    CHECK(g.step_at == std::vector<step_id>{0, 1, 1});
    CHECK(g.position_of == std::vector<position_id>{0, 2});
    CHECK(g.start_of(1) == 1);
    CHECK(g.start_of(0) == 0);
}

TEST_CASE("the beginning of a step is found, with other positions before its write")
{
    snapshot const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.use_early(0);
        sink.def(s + 1);
    });
    dependence_graph const g =
        dependences(p, {.role = std::vector{value_role::input, value_role{}, value_role{}}});
    CHECK(g.step_at == std::vector<step_id>{0, 1, 0}); // steps without predecessors come first
    CHECK(g.start_of(0) == 0);
    CHECK(g.start_of(1) == 1);
}

TEST_CASE("a program without an order of execution gets an error")
{
    auto fault_of = [](snapshot const& p, value_role role = value_role::intermediate) {
        auto const g = dependences(p, {.role = role});
        REQUIRE(!g);
        return g.error();
    };
    auto defined_again = [](value_id v, step_id s, bool is_given = false) {
        return counterexample{fault::several_defs,
                              counterexample::access{.value = v, .step = s, .is_given = is_given}};
    };
    auto never_defined = [](value_id v, step_id s) {
        return counterexample{fault::used_undefined, counterexample::access{.value = v, .step = s}};
    };
    CHECK(fault_of(listed({{}, {}}, {{0}, {0}}, 1)) == defined_again(0, 1));
    CHECK(fault_of(listed({{}, {}}, {{}, {0}}, 1), value_role::input) == defined_again(0, 1, true));
    CHECK(fault_of(listed({{0}}, {{}}, 1)) == never_defined(0, 0));
    CHECK(fault_of(listed({{0}}, {{0}}, 1)) == never_defined(0, 0));
    CHECK(fault_of(listed({{}}, {{}}, 1), value_role::output) == never_defined(0, no_step));
    CHECK(fault_of(listed({{2}, {0}, {1}, {2}}, {{0}, {1}, {2}, {}}, 3)) ==
          counterexample{fault::cycle, counterexample::waiting{.step = 2}, {0, 1, 2}});
    snapshot const early = sequence(2, 2, [](step_id s, effect_sink& sink) {
        sink.use_early(1 - s);
        sink.def(+s);
    });
    CHECK(fault_of(early).what == fault::cycle);
    CHECK(fault_of(early).schedule.size() == 2);
}

TEST_CASE("the dependences of a listing follow from its roles, views, sizes and order")
{
    listing<char> list;
    list.facts('c', {.bytes = 64, .role = value_role::state});
    list.step("left").view('l', 'c', 0, {.bytes = 32}).write('l');
    list.step("right").view('r', 'c', 32, {.bytes = 32}).write('r');
    list.step("all").read('c').make('y', {.bytes = 8});
    list.step("over").write('l');
    auto pairs = [](dependence_graph const& g) {
        std::vector<handoff> found;
        for (position_id at = 0; at != g.positions(); ++at)
            for (position_id to : g.after[at]) found.push_back({g.step_at[at], g.step_at[to]});
        std::sort(found.begin(), found.end(),
                  [](handoff a, handoff b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
        return found;
    };
    dependence_graph const g = dependences(list);
    REQUIRE(g);
    CHECK(pairs(g) == std::vector<handoff>{{0, 2}, {0, 3}, {1, 2}, {2, 3}});
    CHECK(pairs(g) == pairs(dependences(list.program(), dependences_of(list.options(), {}))));
    CHECK(pairs(dependences(list, {{1, 0}})).front() == handoff{0, 2});
    CHECK(pairs(dependences(list, {{1, 0}})).size() == 5);
    list.order = {1, 0, 3, 2}; // the write comes before the read
    CHECK(pairs(dependences(list)) == std::vector<handoff>{{0, 3}, {1, 2}, {3, 2}});
}

TEST_CASE("a step that makes a view of no bytes and writes through it waits for the step that makes its root")
{
    for (byte_count bytes : {byte_count{0}, byte_count{1}})
        for (bool writes : {false, true}) {
            CAPTURE(bytes);
            CAPTURE(writes);
            listing<char> l;
            l.step().make('1', {.bytes = 1});
            l.step().read('1').make('2', {.bytes = 1}).make('3', {.bytes = 1});
            auto last = l.step().view('7', '2', 0, {.bytes = bytes}).make('6', {.bytes = 1});
            if (writes) last.write('7');
            dependence_graph const g = dependences(l);
            REQUIRE(g);
            CHECK(g.edges() == 2);
            CHECK(row(g.after, g.position_of[1]) == std::vector{g.position_of[2]});
            auto const planned = plan_with_handoffs(l, {.workers = 2});
            REQUIRE(planned);
            for (handoff h : planned.plan.handoffs) CHECK(h.from < h.to);
            memory_plan against = planned.plan;
            against.handoffs = {{2, 1}};
            REQUIRE(!check_concurrent_plan(l, against));
            CHECK(check_concurrent_plan(l, against).error().what == fault::cycle);
        }
    listing<char> first; // to write the storage, of whatever size the view is
    first.facts('r', {.bytes = 8});
    first.step().view('v', 'r', 0, {.bytes = 0}).write('v');
    first.step().make('r');
    CHECK(dependences(first));
}

TEST_CASE("a hand-off is an edge like any other, and may close a cycle")
{
    snapshot const p = listed({{}, {0}}, {{0}, {1}}, 2);
    CHECK(dependences(listed({{}, {}}, {{0}, {1}}, 2), {.handoffs = {{1, 0}}}).step_at ==
          std::vector<step_id>{1, 0});
    CHECK(dependences(p, {.handoffs = {{1, 0}}}).error().what == fault::cycle);
    CHECK_THROWS_AS((void)dependences(p, {.handoffs = {{1, 2}}}), precondition_error);
}

TEST_CASE("the empty program has no positions")
{
    CHECK(dependences(snapshot{}).positions() == 0);
    CHECK(dependences(snapshot{}));
}

/// The same tasks, but half of those with an edge to another read their operands at their end. None of these
/// reads early: it would begin without waiting for what it reads at its end.
static snapshot with_reads_at_ends(random_tasks const& tasks)
{
    std::size_t const n = tasks.tasks.size();
    auto reads_at_end = [&](node_id t) {
        return t % 2 == 0 && !tasks.tasks[t].next.empty() && tasks.tasks[t].early.empty();
    };
    return sublet::tasks(
        n, tasks.values(), [&](node_id t) -> auto const& { return tasks.tasks[t].next; },
        [&](node_id t, effect_sink& s) {
            random_tasks::task const& task = tasks.tasks[t];
            if (!reads_at_end(t))
                for (value_id v : task.uses) s.use(v);
            for (value_id v : task.early) s.use_early(v);
            add_results(s, task.defs, tasks.alias_of);
            for (node_id pred = 0; pred != n; ++pred)
                if (reads_at_end(pred) && tasks.tasks[pred].next.front() == t)
                    for (value_id v : tasks.tasks[pred].uses) s.use_at_end_of(pred, v);
        });
}

TEST_CASE("every numbering is topological, and paths agree with the definition")
{
    std::size_t at_ends = 0; // reads at the end of a node
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(14), .shuffled = seed % 2 == 1});
        sharing_rule const rule(tasks);
        snapshot const p = seed % 3 == 0 ? with_reads_at_ends(tasks) : tasks.program();
        at_ends += p.edge_uses().size();
        for (auto order : {dependence_options::position_order::depth_first,
                           dependence_options::position_order::breadth_first,
                           dependence_options::position_order::as_listed}) {
            dependence_graph const g = dependences(p, {.role = tasks.role, .order = order});
            REQUIRE(g);
            std::vector<std::vector<bool>> reaches(g.positions(), std::vector<bool>(g.positions()));
            for (position_id at = static_cast<position_id>(g.positions()); at-- != 0;) {
                position_id last = at;
                for (position_id next : g.after[at]) {
                    REQUIRE(next > last);
                    last = next;
                    reaches[at][next] = true;
                    for (std::size_t x = 0; x != g.positions(); ++x)
                        if (reaches[next][x]) reaches[at][x] = true;
                }
            }
            REQUIRE(g.before == g.after.transposed(g.positions()));
            for (step_id a = 0; a != tasks.tasks.size(); ++a)
                for (step_id b = 0; b != tasks.tasks.size(); ++b)
                    if (a != b) REQUIRE(reaches[g.position_of[a]][g.start_of(b)] == rule.before[a][b]);
        }
    }
    CHECK(at_ends > rounds(30));
}

TEST_CASE("a chain of a million steps does not overflow the stack")
{
    dependence_graph const g = dependences(draw_family("chain", 1'000'000).program());
    CHECK(g.edges() == 999'999);
}

// --- concurrent lifetimes ----------------------------------------------------------------------------------

namespace {

/// Whether a path leads from one position to another, by search.
struct walk {
    dependence_graph const& g;
    bool before(position_id a, position_id b) const
    {
        std::vector<position_id> reached{a};
        std::vector<bool> seen(g.positions());
        while (!reached.empty()) {
            position_id const at = reached.back();
            reached.pop_back();
            for (position_id next : g.after[at]) {
                if (next == b) return true;
                if (!seen[next]) reached.push_back(next);
                seen[next] = true;
            }
        }
        return false;
    }
};

} // namespace

TEST_CASE("a value read by two unordered steps has two ends")
{
    random_tasks tasks;
    tasks.tasks = {{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {}, {}}, {{0}, {}, {2}, {}, {}}};
    snapshot const p = sequence(3, 3, [&](step_id s, effect_sink& sink) {
        for (auto v : tasks.tasks[s].uses) sink.use(v);
        sink.def(+s);
    });
    auto const lives = lives_of_each(p, dependences(p));
    CHECK(lives.begins[0].size() == 1);
    CHECK(lives.ends[0].size() == 2);
    CHECK(lives.first(0) == 0);
    CHECK(lives.last(0) == 3);
}

TEST_CASE("an input has no begin, and an output never ends")
{
    snapshot const p = sequence(1, 2, [](step_id, effect_sink& sink) {
        sink.use(0);
        sink.def(1);
    });
    std::vector<value_role> const role{value_role::input, value_role::output};
    auto const lives = lives_of_each(p, dependences(p, {.role = role}), role);
    CHECK(lives.begins[0].empty());
    CHECK(lives.is_kept(1));
    CHECK(!lives.is_kept(0));
    CHECK(lives.last(1) == 1);
}

TEST_CASE("reuse agrees with its definition, with views, early reads and reads at the end of a node")
{
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(12), .early = 30, .views = 30, .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = seed % 2 == 0 ? with_reads_at_ends(tasks) : tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        REQUIRE(g);
        auto const lives = lives_of_classes(p, g, tasks);
        walk oracle{g};
        for (value_id u = 0; u != tasks.values(); ++u)
            for (value_id v = 0; v != tasks.values(); ++v)
                if (rule.root[u] == u && rule.root[v] == v && u != v)
                    REQUIRE(reusable_by(lives, +u, +v, oracle) == rule.reusable_by(u, v));
    }
}

// --- conflict ranges ---------------------------------------------------------------------------------------

using ranges = std::vector<live_range>;

static ranges ranges_of(conflict_ranges const& conflicts, buffer_id b)
{
    return {conflicts.of[b].begin(), conflicts.of[b].end()};
}

TEST_CASE("a buffer that begins in a parallel branch conflicts, one that begins after the end does not")
{
    std::vector<std::vector<value_id>> const uses{{}, {0}, {1}, {}, {0}, {4}, {5}};
    snapshot const p = sequence(7, 7, [&](step_id s, effect_sink& sink) {
        for (value_id v : uses[s]) sink.use(v);
        if (s == 3) sink.use_early(2);
        if (s == 6) sink.use(3);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = lives_of_each(p, g);
    auto const conflicts = find_conflict_ranges(g, lives);
    REQUIRE(g.position_of[3] == 4); // and it reads at 3, where nothing begins
    CHECK(ranges_of(conflicts, 1) == ranges{{1, 4}, {5, 7}});
    CHECK(ranges_of(conflicts, 2) == ranges{{2, 4}, {5, 7}});
    CHECK(ranges_of(conflicts, 4) == ranges{{5, 7}});
    CHECK(conflicts.of.positions() == 8);
    CHECK(conflicts.undecided == 0);
}

TEST_CASE("an output conflicts with all later begins, an unread input with none")
{
    snapshot const p = sequence(3, 4, [](step_id s, effect_sink& sink) { sink.def(+s); });
    using enum value_role;
    std::vector<value_role> const role{output, intermediate, intermediate, input};
    dependence_graph const g = dependences(p, {.role = role});
    auto const lives = lives_of_each(p, g, role);
    auto const conflicts = find_conflict_ranges(g, lives);
    CHECK(ranges_of(conflicts, 0) == ranges{{0, 3}});
    CHECK(ranges_of(conflicts, 3) == ranges{{0, 1}});
    CHECK(reusable_by(conflicts, lives, 3, 0));
    CHECK(!reusable_by(conflicts, lives, 0, 3));
}

TEST_CASE("without buffers there are no conflicts")
{
    CHECK(find_conflict_ranges(dependence_graph(), concurrent_live_ranges()).of.values() == 0);
    dependence_graph const g = dependences(sequence(3, 0, [](step_id, effect_sink&) {}));
    CHECK_THROWS_AS((void)find_conflict_ranges(g, concurrent_live_ranges()), precondition_error);
}

TEST_CASE("conflict ranges agree with reuse by definition, with views, early reads, inputs and outputs")
{
    std::uint64_t several_begins = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(14), .early = 30, .views = seed % 40, .shuffled = seed % 3 == 0});
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        auto const order = static_cast<dependence_options::position_order>(seed / 3 % 3);
        dependence_graph const g = dependences(p, {.role = tasks.role, .order = order});
        REQUIRE(g);
        auto const lives = lives_of_classes(p, g, tasks);
        auto const conflicts = find_conflict_ranges(g, lives);
        CHECK(conflicts.undecided == 0);
        for (buffer_id u = 0; u != tasks.values(); ++u) {
            if (rule.root[u] != u) continue;
            several_begins += lives.begins[u].size() > 1;
            REQUIRE(conflicts.of[u].front().first == lives.first(u));
            for (buffer_id v = 0; v != tasks.values(); ++v)
                if (rule.root[v] == v && u != v)
                    REQUIRE(reusable_by(conflicts, lives, u, v) == rule.reusable_by(+u, +v));
        }
    }
    CHECK(several_begins > rounds(100));
}

TEST_CASE("with little memory reuse is forbidden, never allowed, and the undecided pairs are counted")
{
    std::uint64_t forbidden = 0;
    for (std::string_view family : family_names)
        for (std::uint64_t room : {0u, 1u, 300u, 1000u, 3000u, 10'000u}) {
            CAPTURE(family);
            CAPTURE(room);
            task_family const tasks = draw_family(family, 400);
            std::size_t const n = tasks.tasks();
            dependence_graph const g = dependences(tasks.program());
            auto const lives = lives_of_each(tasks.program(), g);
            position_closure closure(g);
            auto const conflicts = find_conflict_ranges(g, lives, room);
            std::uint64_t lost = 0;
            for (buffer_id u = 0; u != n; ++u)
                for (buffer_id v = 0; v != n; ++v) {
                    bool const may = reusable_by(lives, u, v, closure),
                               does = reusable_by(conflicts, lives, u, v);
                    REQUIRE((may || !does));
                    lost += may && !does;
                }
            CHECK(lost <= conflicts.undecided);
            if (room == 0 || (room == 10'000 && family != "ladder64")) CHECK(conflicts.undecided == 0);
            if (family == "chain") CHECK(conflicts.undecided == 0);
            forbidden += lost;
        }
    CHECK(forbidden > 1000);
}

TEST_CASE("each forbidden pair that could reuse is counted as undecided")
{
    int close = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 30, .operands = 2, .back = 3 + seed % 30});
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const lives = lives_of_each(p, g, tasks.role);
        auto const exact = find_conflict_ranges(g, lives);
        auto const coarse = find_conflict_ranges(g, lives, 60 + pick.below(120));
        std::uint64_t lost = 0;
        for (buffer_id u = 0; u != p.values(); ++u)
            for (buffer_id v = 0; v != p.values(); ++v) {
                bool const may = reusable_by(exact, lives, u, v), does = reusable_by(coarse, lives, u, v);
                REQUIRE((may || !does));
                lost += may && !does;
            }
        REQUIRE(lost <= coarse.undecided);
        close += coarse.undecided != 0 && coarse.undecided < 2 * lost;
    }
    CHECK(close > rounds(50));
}

TEST_CASE("a chain of a million steps has one range per buffer")
{
    snapshot const p = draw_family("chain", 1'000'000).program();
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    CHECK(find_conflict_ranges(g, lives).of.ranges() == 1'000'000);
}

// --- unreached positions -----------------------------------------------------------------------------------

using ranges = std::vector<live_range>;

TEST_CASE("an intersection removes ranges from a position on, and adjacent ranges are merged")
{
    ranges now{{0, 4}, {6, 9}, {11, 12}}, scratch;
    ranges const others{{3, 7}, {8, 12}};
    detail::intersect_from(now, 2, others, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}, {11, 12}});
    detail::intersect_from(now, 8, ranges{{8, 9}}, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}});
    detail::intersect_from(now, 9, {}, scratch);
    CHECK(now == ranges{{0, 2}, {3, 4}, {6, 7}, {8, 9}});
    detail::intersect_from(now, 0, {}, scratch);
    CHECK(now.empty());
}

TEST_CASE("the unreached positions of a position are those that no path leads to")
{
    int forgotten = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(40), .back = seed % 9});
        dependence_graph const g = dependences(tasks.program(), {.role = tasks.role});
        auto const n = static_cast<std::uint32_t>(g.positions());
        position_closure const closure(g);
        std::vector<position_id> next; // some of them are of interest
        for (position_id p = n + 1; p-- != 0;) next.push_back(p == n || pick.below(3) == 0 ? p : next.back());
        for (std::size_t i = 0; i != next.size() / 2; ++i) std::swap(next[i], next[n - i]);
        bool const keep_all = seed % 2 == 1;
        bool const is_tight = seed % 4 >= 2;
        detail::range_sets sets(n, is_tight ? 20 + pick.below(60) : 1'000'000);
        position_id expected = n, stop = seed % 5 == 0 ? pick.below(n) : 0;
        detail::find_unreached(g, next, sets, keep_all, [&](position_id t, ranges const& now, auto known) {
            REQUIRE(t == --expected);
            CHECK((known == no_position || is_tight));
            forgotten += known != no_position;
            for (live_range r : now) REQUIRE((next[r.first] == r.first && next[r.last] == r.last));
            for (std::size_t i = 1; i < now.size(); ++i) REQUIRE(now[i - 1].last < now[i].first);
            for (position_id p = t + 1; p != n; ++p) {
                bool is_in = false;
                for (live_range r : now) is_in = is_in || contains(r, p);
                if (next[p] == p && p < known) REQUIRE(is_in == !closure.before(t, p));
                if (next[p] == p) REQUIRE((is_in || closure.before(t, p)));
            }
            return t != stop;
        });
        CHECK(expected == stop);
        if (keep_all && stop == 0 && n > 1) CHECK(sets[n - 1].size() == 0);
    }
    CHECK(forgotten > rounds(100));
}

} // namespace this_test
