// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_TASKS_HPP
#define SUBLET_TEST_RANDOM_TASKS_HPP

/// Random programs for the concurrent reading, stored as lists, and their happens-before and reuse relations
/// by brute force, independent of the library.

#include "operations.hpp"
#include "random_source.hpp"
#include "transitive.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

/// A task is a node of one step. Every value is written once, or is given.
struct random_tasks {
    using ids = std::vector<sublet::value_id>;
    struct task {
        ids uses, early, defs;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs; // in, out
        std::vector<sublet::node_id> next;                                // edges without data
    };
    std::vector<task> tasks;
    std::vector<sublet::byte_count> bytes, alignment;
    std::vector<sublet::value_role> role;
    ids alias_of;
    std::vector<sublet::pool_id> pool;
    sublet::value_id whole = sublet::no_value; // made by no task: its views are written, one behind the other

    std::size_t values() const { return bytes.size(); }

    sublet::snapshot program() const
    {
        return sublet::tasks(
            tasks.size(), values(), [this](sublet::node_id n) -> auto const& { return tasks[n].next; },
            [this](sublet::node_id n, sublet::effect_sink& s) {
                for (auto v : tasks[n].uses) s.use(v);
                for (auto v : tasks[n].early) s.use_early(v);
                add_results(s, tasks[n].defs, alias_of);
                for (auto v : tasks[n].defs)
                    if (is_part(v)) s.write(v);
                for (auto [in, out] : tasks[n].pairs) s.may_overwrite(in, out);
            });
    }
    bool is_part(sublet::value_id v) const { return alias_of[v] != sublet::no_value && alias_of[v] == whole; }
    std::vector<sublet::byte_count> view_offset() const
    {
        std::vector<sublet::byte_count> offset(values(), 0);
        sublet::byte_count next = 0;
        for (sublet::value_id v = 0; v != values(); ++v)
            if (is_part(v)) offset[v] = std::exchange(next, next + bytes[v]);
        return offset;
    }
    sublet::plan_options options() const
    {
        return {.bytes = within_roots(bytes, alias_of),
                .alignment = alignment,
                .role = role,
                .alias_of = alias_of,
                .view_offset = view_offset(),
                .pool = of_roots(pool, alias_of)};
    }
};

struct random_tasks_shape {
    unsigned tasks = 10;
    unsigned outputs = 2;  ///< per task, at most
    unsigned operands = 3; ///< per task, at most
    unsigned back = 0;     ///< operands are results of at most so many tasks before; 0: of any
    unsigned edges = 20;   ///< percent of tasks with an edge that carries no data
    unsigned early = 10;   ///< percent of operands that are read early
    unsigned given = 2;    ///< inputs and externals, at most
    unsigned views = 0;    ///< percent of tasks that make a view of an operand
    unsigned pools = 1;
    unsigned sizes = 8;      ///< different ones; about one in ten values has 0 bytes
    unsigned alignments = 1; ///< the largest
    unsigned in_place = 0;   ///< percent of tasks with a declared pair
    bool shuffled = false;   ///< listed in an order in which they cannot run
};

/// Includes unread values, and tasks without operands or results.
template <class RandomSource>
random_tasks draw_tasks(RandomSource& random_source, random_tasks_shape const& shape)
{
    using sublet::value_id;
    using sublet::value_role;
    random_tasks drawn;
    auto chance = [&random_source](unsigned percent) { return random_source.below(100) < percent; };
    std::vector<std::size_t> writer; // by value
    auto add_value = [&](std::size_t by, value_role role) {
        value_id const v = drawn.values();
        drawn.bytes.push_back(chance(10) ? 0 : 8 * (1 + random_source.below(shape.sizes)));
        drawn.alignment.push_back(1 + random_source.below(shape.alignments));
        drawn.role.push_back(role);
        drawn.alias_of.push_back(sublet::no_value);
        drawn.pool.push_back(random_source.below(shape.pools));
        writer.push_back(by);
        return v;
    };
    std::size_t const no_task = shape.tasks;
    for (unsigned i = random_source.below(shape.given + 1); i != 0; --i)
        add_value(no_task, chance(50) ? value_role::input : value_role::external);
    for (std::size_t t = 0; t != shape.tasks; ++t) {
        random_tasks::task now;
        random_tasks::ids all;
        for (value_id v = 0; v != drawn.values(); ++v)
            if (writer[v] == no_task || shape.back == 0 || writer[v] + shape.back >= t) all.push_back(v);
        if (!all.empty())
            for (auto i = random_source.below(shape.operands + 1); i != 0; --i) {
                auto const v = all[random_source.below(static_cast<unsigned>(all.size()))];
                (chance(shape.early) ? now.early : now.uses).push_back(v);
            }
        for (auto i = random_source.below(shape.outputs + 1); i != 0; --i)
            now.defs.push_back(add_value(t, chance(10) ? value_role::output : value_role::intermediate));
        if (!now.defs.empty() && !now.uses.empty()) {
            value_id const in = now.uses.front(), out = now.defs.front();
            if (chance(shape.views)) drawn.alias_of[out] = in;
            if (chance(shape.in_place)) {
                now.pairs.push_back({in, out});
                drawn.bytes[out] = drawn.bytes[in];
                drawn.pool[out] = drawn.pool[in];
            }
        }
        drawn.tasks.push_back(now);
        if (t != 0 && chance(shape.edges))
            drawn.tasks[random_source.below(static_cast<unsigned>(t))].next.push_back(t);
    }
    if (shape.shuffled) { // with an edge: without any the tasks are a list
        bool has_edge = drawn.tasks.size() < 2;
        for (random_tasks::task const& t : drawn.tasks) has_edge = has_edge || !t.next.empty();
        if (!has_edge) drawn.tasks.front().next.push_back(drawn.tasks.size() - 1);
        std::vector<sublet::node_id> to(drawn.tasks.size());
        for (std::size_t i = 0; i != to.size(); ++i) to[i] = i;
        for (std::size_t i = to.size(); i > 1; --i)
            std::swap(to[i - 1], to[random_source.below(static_cast<unsigned>(i))]);
        std::vector<random_tasks::task> tasks(to.size());
        for (std::size_t i = 0; i != to.size(); ++i) {
            for (auto& n : drawn.tasks[i].next) n = to[n];
            tasks[to[i]] = std::move(drawn.tasks[i]);
        }
        drawn.tasks = std::move(tasks);
    }
    return drawn;
}

/// Puts some values into one class although no task computes one from the other: such a class begins, and
/// ends, at several tasks.
template <class RandomSource>
void mix_views(RandomSource& random_source, random_tasks& tasks)
{
    for (sublet::value_id v = 1; v < tasks.values(); ++v)
        if (tasks.alias_of[v] == sublet::no_value && random_source.below(4) == 0) {
            sublet::value_id const of = random_source.below(v);
            sublet::value_id const root = root_of(tasks.alias_of, of);
            bool const is_external = has_role(tasks.role[v], sublet::value_role::external);
            if (is_external && !has_role(tasks.role[root], sublet::value_role::external)) continue;
            tasks.alias_of[v] = of;
            tasks.pool[v] = tasks.pool[of];
        }
}

/// Adds a value and makes parts of it from some that have no views: it begins at several tasks.
template <class RandomSource>
void join_parts(RandomSource& random_source, random_tasks& tasks)
{
    using sublet::value_id;
    value_id const values = tasks.values();
    std::vector<bool> may_be_part(values);
    for (value_id v = 0; v != values; ++v)
        may_be_part[v] = tasks.alias_of[v] == sublet::no_value && !sublet::detail::is_given(tasks.role[v]);
    for (value_id of : tasks.alias_of)
        if (of != sublet::no_value) may_be_part[of] = false;
    sublet::byte_count size = 8; // not 0: accesses of storage of no bytes are ordered
    for (value_id v = 0; v != values; ++v) {
        if (!may_be_part[v] || random_source.below(3) != 0) continue;
        tasks.alias_of[v] = values;
        tasks.pool[v] = 0;
        tasks.alignment[v] = 1; // it may begin at any byte
        size += tasks.bytes[v];
    }
    tasks.whole = values;
    tasks.bytes.push_back(size);
    tasks.alignment.push_back(1);
    tasks.role.push_back(sublet::value_role::intermediate);
    tasks.alias_of.push_back(sublet::no_value);
    tasks.pool.push_back(0);
}

/// The rule for sharing under any schedule, by its definition, cubic in the number of tasks.
struct sharing_rule {
    std::vector<std::vector<bool>> before; ///< task a has ended before task b begins, in every execution
    std::vector<std::size_t> root;         ///< by value, through its views
    std::vector<std::vector<std::size_t>> defs, late, early; ///< by root: tasks
    std::vector<bool> is_given, is_kept;                     ///< by root

    explicit sharing_rule(random_tasks const& tasks, std::vector<sublet::handoff> const& more = {})
        : before(tasks.tasks.size(), std::vector<bool>(tasks.tasks.size()))
    {
        std::size_t const n = tasks.tasks.size();
        for (std::size_t a = 0; a != n; ++a) {
            for (auto b : tasks.tasks[a].next) before[a][b] = true;
            for (auto v : tasks.tasks[a].defs)
                for (std::size_t b = 0; b != n; ++b)
                    for (auto const* row : {&tasks.tasks[b].uses, &tasks.tasks[b].early})
                        if (std::find(row->begin(), row->end(), v) != row->end()) before[a][b] = true;
        }
        for (sublet::value_id v = 0; v != tasks.values(); ++v) root.push_back(root_of(tasks.alias_of, v));
        for (std::size_t a = 0; a != n; ++a) // a view is made after its root
            for (auto r : tasks.tasks[a].defs)
                for (std::size_t b = 0; b != n; ++b)
                    for (auto v : tasks.tasks[b].defs)
                        if (a != b && v != r && root[v] == r) before[a][b] = true;
        for (sublet::handoff h : more) before[h.from][h.to] = true;
        make_transitive(before);
        defs = late = early = std::vector<std::vector<std::size_t>>(tasks.values());
        is_given = is_kept = std::vector<bool>(tasks.values());
        for (std::size_t t = 0; t != n; ++t) {
            for (auto v : tasks.tasks[t].uses) late[root[v]].push_back(t);
            for (auto v : tasks.tasks[t].early) early[root[v]].push_back(t);
            for (auto v : tasks.tasks[t].defs) late[root[v]].push_back(t), defs[root[v]].push_back(t);
        }
        for (std::size_t v = 0; v != tasks.values(); ++v) {
            if (sublet::detail::is_given(tasks.role[v])) is_given[root[v]] = true;
            if (has_role(tasks.role[v], sublet::value_role::output)) is_kept[root[v]] = true;
        }
    }

    /// In every execution the bytes of u's class are free when any of v's class is written.
    bool reusable_by(sublet::value_id u, sublet::value_id v) const
    {
        std::size_t const from = root[u], to = root[v];
        if (from == to || is_kept[from] || is_given[to] || defs[to].empty()) return false;
        for (std::size_t d : defs[to]) {
            for (std::size_t t : late[from])
                if (!before[t][d]) return false;
            for (std::size_t t : early[from])
                if (t != d && !before[t][d]) return false;
        }
        return true;
    }
    bool may_share(sublet::value_id u, sublet::value_id v) const
    {
        return reusable_by(u, v) || reusable_by(v, u);
    }
};

/// Of each task, from 1 to `most`.
inline std::vector<std::uint64_t> draw_durations(random_source& pick, random_tasks const& tasks,
                                                 std::uint32_t most)
{
    std::vector<std::uint64_t> takes;
    for (std::size_t t = 0; t != tasks.tasks.size(); ++t) takes.push_back(1 + pick.below(most));
    return takes;
}

/// No task waits for itself, and of two buffers that overlap in bytes one ends before the other begins.
inline bool is_safe(random_tasks const& tasks, sublet::memory_plan const& plan,
                    std::vector<sublet::handoff> const& handoffs)
{
    sharing_rule const rule(tasks, handoffs);
    for (std::size_t t = 0; t != tasks.tasks.size(); ++t)
        if (rule.before[t][t]) return false;
    for (std::size_t u = 0; u != plan.buffers.size(); ++u)
        for (std::size_t v = 0; v != u; ++v) {
            auto const &a = plan.buffers[u], &b = plan.buffers[v];
            if (a.pool == b.pool && a.offset < b.offset + b.size && b.offset < a.offset + a.size &&
                !rule.may_share(a.root, b.root))
                return false;
        }
    return true;
}

#endif
