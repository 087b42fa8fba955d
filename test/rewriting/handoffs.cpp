// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/schedule.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <sublet/detail/schedule.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A task for each row of next; what they touch is of no matter to edges, so lives are written down.
dependence_graph graph_of(std::vector<std::vector<node_id>> const& next)
{
    return dependences(flow(
        next.size(), 0, [&](node_id n) -> auto& { return next[n]; }, [](node_id, effect_sink&) {}));
}

/// Lives by buffer in steps, as positions.
concurrent_lives lives_of(dependence_graph const& g,
                          std::vector<std::pair<std::vector<step_id>, std::vector<step_id>>> const& rows)
{
    concurrent_lives lives;
    lives.positions = static_cast<step_id>(g.positions());
    auto append = [&](csr_rows& to, std::vector<step_id> row) {
        for (step_id& s : row) s = s == no_step ? lives.positions : g.position_of[s];
        std::sort(row.begin(), row.end());
        for (step_id at : row) to.append(at);
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

/// All hand-offs that the definition asks for, pair by pair over all that overlap in bytes, and of them those
/// that nothing else stands for.
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
        for (std::size_t k = 0; k != n; ++k)
            for (std::size_t a = 0; a != n; ++a)
                for (std::size_t b = 0; b != n; ++b)
                    if (reaches[a][k] && reaches[k][b]) reaches[a][b] = true;
        for (step_id a = 0; a != n; ++a) {
            if (reaches[a][a]) has_cycle = true;
            for (step_id b = 0; b != n; ++b) {
                if (!edge[a][b]) continue;
                bool stands = !rule.before[a][b];
                for (std::size_t k = 0; k != n; ++k) stands = stands && !(reaches[a][k] && reaches[k][b]);
                if (stands) handoffs.push_back({a, b});
            }
        }
    }
};

/// Of two buffers that overlap in bytes one gives to the other.
bool is_safe(random_tasks const& tasks, memory_plan const& plan, std::vector<handoff> const& handoffs)
{
    sharing_rule const rule(tasks, handoffs);
    for (std::size_t t = 0; t != tasks.tasks.size(); ++t)
        if (rule.before[t][t]) return false;
    for (std::size_t u = 0; u != plan.buffers.size(); ++u)
        for (std::size_t v = 0; v != u; ++v) {
            memory_plan::placed_buffer const &a = plan.buffers[u], &b = plan.buffers[v];
            if (a.pool == b.pool && a.offset < b.offset + b.size && b.offset < a.offset + a.size &&
                !rule.may_share(a.root, b.root))
                return false;
        }
    return true;
}

} // namespace

TEST_CASE("who moves in waits for the last users of who moves out, unless it does anyway")
{
    // 0 -> 1, 2 -> 3: a made by 0 and b made by 2, used by 1 and 3; then c by 4, where a was, and d by 5
    // after 4, over the end of c and all of b.
    dependence_graph const g = graph_of({{1}, {}, {3}, {}, {5}, {}});
    auto const lives = lives_of(g, {{{0}, {1}}, {{2}, {3}}, {{4}, {4}}, {{5}, {5}}});
    std::vector<memory_plan::placed_buffer> const placed{at(0, 32, {0, 2}), at(32, 32, {2, 4}),
                                                         at(0, 40, {4, 5}), at(36, 28, {5, 6})};
    handoff_set const found = find_handoffs(g, lives, placed);
    REQUIRE(!found.clash);
    // d takes from b as well, but 5 comes after 4, which has waited for 3.
    CHECK(found.handoffs == std::vector<handoff>{{1, 4}, {3, 4}});
    CHECK(found.bytes == std::vector<byte_count>{32, 8});
    CHECK(found.takeovers == 4);
    CHECK(found.waits == 3);
}

TEST_CASE("buffers of different pools, of no bytes or without offset take nothing from each other")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const lives = lives_of(g, {{{0}, {0}}, {{1}, {1}}});
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

TEST_CASE("broken promises are refused")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const lives = lives_of(g, {{{0}, {0}}});
    CHECK_THROWS_AS((void)find_handoffs(g, lives, {}), precondition_error);
    CHECK_THROWS_AS((void)find_handoffs(graph_of({{}}), lives, {at(0, 8, {0, 1})}), precondition_error);
    CHECK_THROWS_AS((void)find_handoffs(g, lives, {at(no_offset - 8, 8, {0, 1})}), precondition_error);
}

TEST_CASE("nothing waits for what is needed to the end, nor for what is there from the start")
{
    dependence_graph const g = graph_of({{}, {}});
    auto const kept = lives_of(g, {{{0}, {no_step}}, {{1}, {1}}});
    auto const given = lives_of(g, {{{0}, {0}}, {{}, {1}}});
    std::vector<memory_plan::placed_buffer> const placed{at(0, 8, {0, 1}), at(0, 8, {1, 2})};
    CHECK(find_handoffs(g, kept, placed).clash == handoff_clash{0, 1, {}});
    CHECK(find_handoffs(g, given, placed).clash == handoff_clash{0, 1, {}});
}

TEST_CASE("steps of no length at one moment would wait for each other for ever")
{
    // x and y each read a buffer that the other's takes over. In a clock where both take no time each has
    // ended when the other begins: all four lives fit into two places, and nothing could run.
    dependence_graph const g = graph_of({{2}, {3}, {}, {}});
    auto const lives = lives_of(g, {{{0}, {2}}, {{1}, {3}}, {{2}, {2}}, {{3}, {3}}});
    std::vector<memory_plan::placed_buffer> placed{at(0, 8, {0, 1}), at(8, 8, {0, 1}), at(8, 8, {1, 2}),
                                                   at(0, 8, {1, 2})};
    handoff_set const found = find_handoffs(g, lives, placed);
    REQUIRE(found.clash);
    CHECK(found.handoffs.empty());
    CHECK(found.clash->from == no_buffer);
    auto cycle = found.clash->cycle;
    std::sort(cycle.begin(), cycle.end());
    CHECK(cycle == std::vector<step_id>{2, 3});
    // With a clock that moves there is no such plan: their lives meet the lives that they would take over.
    auto const ranges = clock_lives(lives, parallel_clock(g));
    CHECK(overlaps(ranges[0], ranges[3]));
    CHECK(overlaps(ranges[1], ranges[2]));
}

TEST_CASE("a sequential plan becomes safe by exactly the waits that nothing else stands for")
{
    std::size_t with_handoffs = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(12),
                                                     .edges = 10,
                                                     .early = seed % 2 == 0 ? 0u : 30u,
                                                     .views = seed % 3 == 0 ? 20u : 0u,
                                                     .pools = 1 + roll.below(2),
                                                     .alignments = 1 + roll.below(8)});
        snapshot const p = tasks.program();
        memory_plan const plan = plan_memory(p, tasks.options()).plan;
        dependence_graph const g = dependences(p, {.role = tasks.role});
        auto const lives = concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, tasks.role);
        handoff_set const found = find_handoffs(g, lives, plan.buffers);
        REQUIRE(!found.clash);
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
        REQUIRE(!dependences(p, {.role = tasks.role, .handoffs = found.handoffs}).violation);
    }
    CHECK(with_handoffs > rounds(500));
}

TEST_CASE("what is shared in a clock never makes the critical path longer than the clock")
{
    std::size_t with_handoffs = 0, longer = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(16),
                                                     .edges = 10,
                                                     .early = seed % 2 == 0 ? 0u : 30u,
                                                     .views = seed % 3 == 0 ? 20u : 0u,
                                                     .pools = 1 + roll.below(2),
                                                     .shuffled = seed % 5 == 0});
        snapshot const p = tasks.program();
        dependence_graph const g = dependences(p, {.role = tasks.role});
        std::vector<tick_count> takes;
        for (std::size_t s = 0; s != tasks.tasks.size(); ++s) takes.push_back(1 + roll.below(1 + seed % 11));
        clock_side const side = seed % 4 == 0 ? clock_side::latest : clock_side::earliest;
        clock_times const clock = parallel_clock(g, takes, {.workers = roll.below(4), .side = side});

        memory_plan plan;
        sharing_rule const rule(tasks);
        plan.buffer_of.assign(tasks.values(), no_buffer);
        for (value_id v = 0; v != tasks.values(); ++v) { // every class of values that has bytes is a buffer
            value_id const root = static_cast<value_id>(rule.root[v]);
            if (tasks.bytes[root] == 0) continue;
            if (root == v) {
                plan.buffer_of[v] = static_cast<buffer_id>(plan.buffers.size());
                plan.buffers.push_back({.root = v, .size = tasks.bytes[v], .pool = tasks.pool[v]});
            }
            plan.buffer_of[v] = plan.buffer_of[root];
        }
        auto const lives = concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, tasks.role);
        auto const ranges = clock_lives(lives, clock);
        placement_problem problem;
        for (std::size_t b = 0; b != plan.buffers.size(); ++b) {
            plan.buffers[b].life = ranges[b];
            problem.buffers.push_back(
                {.life = ranges[b], .size = plan.buffers[b].size, .pool = plan.buffers[b].pool});
        }
        placement const where = place(problem);
        for (std::size_t b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].offset = where.offset[b];

        handoff_set const found = find_handoffs(g, lives, plan.buffers);
        REQUIRE(!found.clash);
        REQUIRE(found.handoffs == needed(tasks, plan.buffers, plan).handoffs);
        REQUIRE(is_safe(tasks, plan, found.handoffs));
        dependence_graph const more = dependences(p, {.role = tasks.role, .handoffs = found.handoffs});
        REQUIRE(!more.violation);
        tick_count const path = parallel_clock(more, takes).makespan;
        REQUIRE(path <= clock.makespan);
        with_handoffs += !found.handoffs.empty();
        longer += path > clock.critical_path;
    }
    CHECK(with_handoffs > rounds(500));
    CHECK(longer > rounds(100));
}

TEST_CASE("of a million steps in a chain none waits for memory")
{
    task_family const drawn = draw_family("chain", 1'000'000);
    snapshot const p = drawn.program();
    dependence_graph const g = dependences(p);
    std::vector<buffer_id> own;
    std::vector<memory_plan::placed_buffer> placed;
    for (buffer_id b = 0; b != drawn.tasks(); ++b) { // by turns in two halves of the arena
        own.push_back(b);
        placed.push_back(at(b % 2 * 65536, drawn.bytes[b], {b, b + 2}));
    }
    auto const lives = concurrent_lifetimes(p, g, own.size(), own, std::vector<value_role>(own.size()));
    handoff_set const found = find_handoffs(g, lives, placed);
    CHECK(!found.clash);
    CHECK(found.handoffs.empty());
    CHECK(found.takeovers > 1'000'000);
}

} // namespace this_test
