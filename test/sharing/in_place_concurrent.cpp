// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/sharing/in_place.hpp>

#include "../random_names.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../versions_run.hpp"

#include <sublet/analysis/versions.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using task = random_tasks::task;

random_tasks tasks_of(std::vector<task> const& tasks, std::size_t values)
{
    random_tasks all;
    all.tasks = tasks;
    all.bytes.assign(values, 8);
    all.alignment.assign(values, 1);
    all.role.assign(values, value_role::intermediate);
    all.alias_of.assign(values, no_value);
    all.pool.assign(values, 0);
    return all;
}

/// A buffer is alive from its first touch to its last in step order.
buffer_table buffers_of(snapshot const& p, plan_options const& options)
{
    live_ranges lives;
    lives.of = std::vector<live_range>(p.values());
    auto touched = [&](value_id v, std::uint32_t s) { lives.of[v] = hull(lives.of[v], {s, s + 1}); };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched(t.value, s);
    for (edge_use u : p.edge_uses()) touched(u.value, p.steps_of(u.pred).last - 1);
    return gather_buffers(lives, options);
}

buffer_table joined(random_tasks const& tasks, dependence_options::position_order order = {})
{
    snapshot const p = tasks.program();
    auto const g =
        dependences_of_any_list(p, {.role = tasks.role, .order = order, .alias_of = tasks.alias_of});
    REQUIRE(g);
    return take_in_place(p, g, buffers_of(p, tasks.options()));
}

bool joins(random_tasks const& tasks, value_id a, value_id b, dependence_options::position_order order = {})
{
    auto const table = joined(tasks, order);
    return table.buffer_of[a] == table.buffer_of[b];
}

/// A precedence oracle from a table of all pairs.
struct all_pairs {
    std::vector<std::vector<bool>> is_before;
    explicit all_pairs(dependence_graph const& g) : is_before(g.positions(), std::vector<bool>(g.positions()))
    {
        for (position_id at = g.positions(); at-- != 0;)
            for (position_id next : g.after[at]) {
                is_before[at][next] = true;
                for (position_id x = 0; x != g.positions(); ++x)
                    if (is_before[next][x]) is_before[at][x] = true;
            }
    }
    bool before(position_id a, position_id b)
    {
        REQUIRE(a < b); // a precondition of oracles
        return is_before[a][b];
    }
};

/// The rule for sharing, between arbitrary classes of joined values.
struct class_rule {
    random_tasks const& tasks;
    sharing_rule const& values; // for precedence
    std::vector<std::vector<value_id>> members;

    bool reusable_by(std::size_t from, std::size_t to) const
    {
        for (value_id v : members[to])
            if (is_given(tasks.role[v])) return false;
        for (value_id v : members[from])
            if (has_role(tasks.role[v], value_role::output)) return false;
        for (std::size_t d = 0; d != tasks.tasks.size(); ++d) {
            if (!touches(tasks.tasks[d].defs, to)) continue;
            for (std::size_t t = 0; t != tasks.tasks.size(); ++t) {
                task const& at = tasks.tasks[t];
                bool const late = touches(at.uses, from) || touches(at.defs, from);
                if (late && !values.before[t][d]) return false;
                if (touches(at.early, from) && t != d && !values.before[t][d]) return false;
            }
        }
        return true;
    }
    bool touches(random_tasks::ids const& row, std::size_t c) const
    {
        return std::any_of(row.begin(), row.end(), [&](value_id v) {
            return std::find(members[c].begin(), members[c].end(), v) != members[c].end();
        });
    }
    /// The heaviest antichain of classes, by exhaustive search.
    byte_count bound(std::vector<std::size_t> const& classes) const
    {
        byte_count most = 0;
        for (std::uint32_t set = 0; set != std::uint32_t{1} << classes.size(); ++set) {
            byte_count sum = 0;
            bool is_antichain = true;
            for (std::size_t i = 0; i != classes.size() && is_antichain; ++i) {
                if ((set >> i & 1) == 0) continue;
                sum += tasks.bytes[members[classes[i]].front()];
                for (std::size_t k = 0; k != i; ++k)
                    if ((set >> k & 1) != 0 && may_share[classes[i]][classes[k]]) is_antichain = false;
            }
            if (is_antichain) most = std::max(most, sum);
        }
        return most;
    }
    std::vector<std::vector<bool>> may_share = {};
    void compare()
    {
        may_share.assign(members.size(), std::vector<bool>(members.size()));
        for (std::size_t a = 0; a != members.size(); ++a)
            for (std::size_t b = 0; b != members.size(); ++b)
                if (a != b) may_share[a][b] = reusable_by(a, b) || reusable_by(b, a);
    }
};

} // namespace

TEST_CASE("a result is written over an operand if all other readers come before")
{
    // 1 reads 0, 2 reads 0 and the result of 1
    CHECK(joins(tasks_of({{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {}, {}}, {{0, 1}, {}, {2}, {{0, 2}}, {}}}, 3),
                0, 2));
}

TEST_CASE("an operand that may be read later is kept")
{
    CHECK(!joins(tasks_of({{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {}, {}}, {{0}, {}, {2}, {{0, 2}}, {}}}, 3),
                 0, 2));
}

TEST_CASE("an edge without data can make the operand free")
{
    auto tasks = tasks_of({{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {}, {2}}, {{0}, {}, {2}, {{0, 2}}, {}}}, 3);
    CHECK(joins(tasks, 0, 2));
    tasks.tasks[1].next.clear();
    CHECK(!joins(tasks, 0, 2));
}

TEST_CASE("an early reader elsewhere has to come before too")
{
    CHECK(!joins(tasks_of({{{}, {}, {0}, {}, {}}, {{}, {0}, {1}, {}, {}}, {{0}, {}, {2}, {{0, 2}}, {}}}, 3),
                 0, 2));
    // Here it does; but an operand read early is dead when the step writes, so a join saves nothing.
    CHECK(!joins(tasks_of({{{}, {}, {0}, {}, {}}, {{}, {0}, {1}, {{0, 1}}, {}}}, 2), 0, 1));
    CHECK(joins(tasks_of({{{}, {}, {0}, {}, {}}, {{0}, {0}, {1}, {{0, 1}}, {}}}, 2), 0, 1));
}

TEST_CASE("an input is overwritten, an output is not")
{
    auto tasks = tasks_of({{{0}, {}, {1}, {{0, 1}}, {}}}, 2);
    tasks.role[0] = value_role::input;
    CHECK(joins(tasks, 0, 1));
    tasks.role[0] = value_role::input | value_role::output;
    CHECK(!joins(tasks, 0, 1));
}

TEST_CASE("a result is not written in place if a part of it is written before")
{
    // 2 is a view of the result 1; the step that makes it writes through it, and may run at the beginning
    std::vector<task> const parts{{{}, {}, {0}, {}, {}}, {{0}, {}, {1}, {{0, 1}}, {}}, {{}, {}, {2}, {}, {}}};
    for (auto order :
         {dependence_options::position_order::depth_first, dependence_options::position_order::breadth_first,
          dependence_options::position_order::as_listed})
        for (bool is_listed_first : {false, true}) {
            auto tasks =
                tasks_of(is_listed_first ? std::vector<task>{parts[2], parts[0], parts[1]} : parts, 3);
            std::vector<value_id> const alias_of{no_value, no_value, 1};
            snapshot const p = with_views(tasks.program(), alias_of, true);
            tasks.alias_of = alias_of;
            auto const g = dependences(p, {.order = order, .alias_of = alias_of});
            REQUIRE(g);
            auto const table = take_in_place(p, g, buffers_of(p, tasks.options()));
            CHECK((table.buffer_of[0] == table.buffer_of[1]) == !is_listed_first);
        }
}

TEST_CASE("an operand that is read at the end of the step's own node is kept")
{
    auto program = [](bool keeps) {
        return tasks(
            2, 2, [](node_id n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
            [keeps](node_id n, effect_sink& s) {
                if (n == 0) s.def(0), s.next_step(), s.use(0), s.def(1), s.may_overwrite(0, 1);
                else if (keeps) s.use_at_end_of(0, 0);
            });
    };
    for (bool keeps : {false, true}) {
        auto const p = program(keeps);
        auto const t = take_in_place(p, dependences(p), buffers_of(p, {.bytes = 8}));
        CHECK((t.buffer_of[0] == t.buffer_of[1]) == !keeps);
    }
}

TEST_CASE("a chain of in-place steps is one buffer in any order of listing")
{
    std::vector<task> chain(1000);
    for (value_id v = 0; v != 1000; ++v) {
        task& t = chain[v * 7 % 1000]; // 7 and 1000 have no divisor in common
        t.defs = {v};
        if (v != 0) t.uses = {v - 1}, t.pairs = {{v - 1, v}};
    }
    CHECK(joined(tasks_of(chain, 1000)).buffers.size() == 1);
}

TEST_CASE("if a whole chain may overwrite an operand, only the last step's pair queries the oracle")
{
    // Every step reads the first value and the one before, and may write its result over either.
    std::size_t const n = 1000;
    std::vector<task> chain(n);
    for (value_id v = 0; v != n; ++v) {
        chain[v].defs = {v};
        if (v > 0) chain[v].uses = {0}, chain[v].pairs = {{0, v}};
        if (v > 1) chain[v].uses.push_back(v - 1), chain[v].pairs.push_back({v - 1, v});
    }
    auto const tasks = tasks_of(chain, n);
    snapshot const p = tasks.program();
    auto const g = dependences(p);
    struct counter {
        std::size_t calls = 0;
        bool before(position_id a, position_id b)
        {
            ++calls;
            return a < b; // a total order
        }
    } count;
    auto const t = take_in_place(p, g, buffers_of(p, tasks.options()), count);
    CHECK(t.in_place.size() == n - 2); // the step that reads only the first value cannot overwrite it
    CHECK(count.calls <= 4 * n);
}

TEST_CASE("pairs are taken by the rule and never raise the heaviest antichain")
{
    std::size_t taken = 0, refused = 0, bounds = 0;
    for (std::uint32_t seed = 0; seed != rounds(6000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(pick, {.tasks = 1 + pick.below(9),
                                               .edges = 40,
                                               .early = 20,
                                               .views = seed % 2 == 0 ? 0u : 25u,
                                               .pools = seed % 5 == 0 ? 2u : 1u,
                                               .sizes = 2,
                                               .shuffled = seed % 3 == 0});
        for (auto& t : tasks.tasks)
            for (auto const* operands : {&t.uses, &t.early})
                for (value_id in : *operands)
                    for (value_id out : t.defs)
                        if (pick.below(2) == 0) t.pairs.push_back({in, out});
        snapshot const p = tasks.program();
        dependence_options::position_order const orders[] = {
            dependence_options::position_order::depth_first,
            dependence_options::position_order::breadth_first, dependence_options::position_order::as_listed};
        auto const g =
            dependences(p, {.role = tasks.role, .order = orders[seed % 3], .alias_of = tasks.alias_of});
        auto const before = buffers_of(p, tasks.options());
        auto const after = take_in_place(p, g, before);
        all_pairs oracle(g);
        auto const asked = take_in_place(p, g, before, oracle);
        REQUIRE(asked.buffer_of == after.buffer_of);

        // By definition: the legal pairs, and the most that any choice among them saves.
        sharing_rule const rule(tasks);
        std::vector<std::size_t> part = rule.root; // with the pairs taken
        auto in_class = [&](random_tasks::ids const& row, std::size_t c) {
            return std::any_of(row.begin(), row.end(), [&](value_id v) { return rule.root[v] == c; });
        };
        std::size_t next = 0; // of the pairs taken, which are listed by step
        for (step_id s = 0; s != tasks.tasks.size(); ++s) {
            task const& now = tasks.tasks[s];
            std::vector<std::pair<value_id, value_id>> legal;
            for (auto [in, out] : now.pairs) {
                std::size_t const from = rule.root[in], to = rule.root[out];
                bool allowed = from != to && !in_class(now.defs, from) && in_class(now.uses, from);
                for (auto const* row : {&now.uses, &now.early})
                    for (value_id v : *row) allowed &= rule.root[v] != from || v == in;
                for (std::size_t t = 0; t != tasks.tasks.size(); ++t) {
                    task const& other = tasks.tasks[t];
                    if (t == s) continue;
                    bool const touches = in_class(other.uses, from) || in_class(other.early, from) ||
                                         in_class(other.defs, from);
                    allowed &= !touches || rule.before[t][s];
                    allowed &= !in_class(other.defs, to) || rule.before[s][t];
                }
                for (value_id v = 0; v != tasks.values(); ++v) {
                    if (rule.root[v] == from && has_role(tasks.role[v], value_role::output)) allowed = false;
                    if (rule.root[v] == to && is_given(tasks.role[v])) allowed = false;
                    if (rule.root[v] == from && has_role(tasks.role[v], value_role::external))
                        allowed = false;
                }
                allowed &= tasks.bytes[from] == tasks.bytes[to] && tasks.bytes[from] != 0;
                allowed &= tasks.pool[from] == tasks.pool[to];
                ++(allowed ? taken : refused);
                if (allowed) legal.push_back({in, out});
            }
            byte_count most = 0, saved = 0;
            REQUIRE(legal.size() < 16);
            for (std::uint32_t set = 0; set != 1u << legal.size(); ++set) {
                std::vector<std::size_t> used;
                byte_count bytes = 0;
                for (std::size_t i = 0; i != legal.size(); ++i) {
                    if ((set >> i & 1) == 0) continue;
                    used.push_back(rule.root[legal[i].first]);
                    used.push_back(rule.root[legal[i].second]);
                    bytes += tasks.bytes[rule.root[legal[i].second]];
                }
                std::sort(used.begin(), used.end());
                if (std::adjacent_find(used.begin(), used.end()) == used.end()) most = std::max(most, bytes);
            }
            for (; next != after.in_place.size() && after.in_place[next].step == s; ++next) {
                auto const [step, in, out, bytes] = after.in_place[next];
                REQUIRE(std::count(legal.begin(), legal.end(), std::pair{in, out}) != 0);
                saved += bytes;
                std::size_t const from = part[out], to = part[in];
                REQUIRE(from != to);
                std::replace(part.begin(), part.end(), from, to);
            }
            REQUIRE(saved == most);
        }
        REQUIRE(next == after.in_place.size());
        for (value_id v = 0; v != tasks.values(); ++v)
            for (value_id u = 0; u != v; ++u)
                REQUIRE((after.buffer_of[u] == after.buffer_of[v]) == (part[u] == part[v]));

        auto bound_of = [&](buffer_table const& table) {
            class_rule classes{tasks, rule, {}};
            classes.members.resize(table.buffers.size());
            for (value_id v = 0; v != tasks.values(); ++v) classes.members[table.buffer_of[v]].push_back(v);
            std::vector<std::size_t> planned;
            for (std::size_t b = 0; b != table.buffers.size(); ++b) {
                auto& its = classes.members[b]; // the root first: it has the size
                std::swap(its.front(), *std::find(its.begin(), its.end(), table.buffers[b].root));
                if (table.buffers[b].is_planned()) planned.push_back(b);
            }
            classes.compare();
            return planned.size() > 12 ? 0 : classes.bound(planned);
        };
        byte_count const was = bound_of(before);
        if (was != 0) {
            REQUIRE(bound_of(after) <= was);
            ++bounds;
        }
    }
    CHECK(taken > rounds(1000));
    CHECK(refused > rounds(10000));
    CHECK(bounds > rounds(3000));
}

TEST_CASE("joined buffers hold the values that are read, in every order")
{
    std::size_t taken = 0;
    for (std::uint32_t seed = 0; seed != rounds(5000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_names const names = draw_names(pick, {.nodes = 10, .same = 10, .early = 20});
        names_run const expected(names);
        if (expected.is_ambiguous) continue;
        auto const made = versions_of(names.program(), version_options_of(names));
        auto const g =
            dependences(made.program, {.role = made.role, .alias_of = made.alias_of, .listed = names.order});
        REQUIRE(g);
        plan_options const options{.bytes = 8, .role = made.role, .alias_of = made.alias_of};
        auto const before = buffers_of(made.program, options);
        auto const table = take_in_place(made.program, g, before);
        taken += before.buffers.size() - table.buffers.size();
        for (int i = 0; i != 3; ++i) run_in_any_order(names, expected, made, g, table.buffer_of, pick);
    }
    CHECK(taken > 1000);
}

} // namespace this_test
