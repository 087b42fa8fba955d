// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_SHARING_HPP
#define SUBLET_TEST_RANDOM_SHARING_HPP

/// A random program with the inputs of slot planners, and the sharing rule by definition.

#include "concurrent_lives.hpp"
#include "random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <utility>
#include <vector>

struct drawn_sharing {
    random_tasks tasks;
    sharing_rule rule;
    sublet::snapshot program;
    sublet::dependence_graph graph;
    sublet::detail::concurrent_live_ranges
        lives; ///< a buffer per value; of a class of views only the root is touched
    sublet::detail::conflict_ranges conflicts;
    sublet::table<sublet::buffer_id, sublet::byte_count> bytes; ///< 0 if not a root, external, or untouched
    std::vector<unsigned char> eligible;
    std::vector<sublet::buffer_id> wanted; ///< those of more than 0 bytes

    explicit drawn_sharing(random_tasks drawn)
        : tasks(std::move(drawn)), rule(tasks), program(tasks.program()),
          graph(dependences(program, sublet::detail::dependences_of(tasks.options(), {})))
    {
        lives = lives_of_classes(program, graph, tasks);
        conflicts = find_conflict_ranges(graph, lives);
        bytes = tasks.bytes;
        eligible.assign(tasks.values(), 1);
        for (sublet::value_id v = 0; v != tasks.values(); ++v) {
            if (rule.root[v] != v) bytes[+v] = 0;
            if (!rule.is_given[v] && rule.late[v].empty() && rule.early[v].empty()) bytes[+v] = 0;
            if (has_role(tasks.role[v], sublet::value_role::external)) bytes[rule.root[v]] = 0;
        }
        for (sublet::value_id v = 0; v != tasks.values(); ++v)
            if (bytes[+v] != 0) wanted.push_back(+v);
    }

    bool reusable_by(sublet::buffer_id u, sublet::buffer_id v) const { return rule.reusable_by(+u, +v); }
    /// Whether both may have the same slot.
    bool may_share(sublet::buffer_id u, sublet::buffer_id v) const
    {
        return eligible[u] && eligible[v] && tasks.pool[u] == tasks.pool[v] && rule.may_share(+u, +v);
    }

    /// The first error of the slots, or null.
    char const* fault_of(std::vector<sublet::slot_id> const& slot_of, std::size_t slots) const
    {
        std::vector<bool> is_used(slots);
        for (sublet::buffer_id u = 0; u != tasks.values(); ++u) {
            if ((slot_of[u] == sublet::no_slot) != (bytes[u] == 0))
                return "a buffer has no slot if and only if it has 0 bytes";
            if (bytes[u] == 0) continue;
            if (slot_of[u] >= slots) return "a slot is out of range";
            is_used[slot_of[u]] = true;
            for (sublet::buffer_id v = 0; v != u; ++v)
                if (slot_of[u] == slot_of[v] && !may_share(u, v))
                    return "two conflicting buffers share a slot";
        }
        for (bool used : is_used)
            if (!used) return "a slot is unused";
        return nullptr;
    }
};

/// Several heads, dead values, edges without data, early reads, views, inputs and outputs, pools, and
/// sometimes two values in one class although neither is computed from the other, or one in parts.
inline drawn_sharing draw_sharing(std::uint32_t seed, unsigned tasks)
{
    random_source pick{std::mt19937(seed)};
    random_tasks_shape const shape{.tasks = 1 + pick.below(tasks),
                                   .outputs = 1 + pick.below(2),
                                   .operands = 1 + pick.below(3),
                                   .edges = pick.below(60),
                                   .views = pick.below(3) == 0 ? 30u : 0u,
                                   .pools = 1 + pick.below(4) / 2,
                                   .shuffled = pick.below(3) == 0};
    random_tasks drawn = draw_tasks(pick, shape);
    for (sublet::value_id v = 1; v < drawn.values(); ++v)
        if (seed % 4 == 0 && pick.below(8) == 0) drawn.alias_of[v] = pick.below(v);
    if (seed % 4 == 3 && !shape.shuffled) join_parts(pick, drawn);
    drawn_sharing problem(std::move(drawn));
    if (seed % 5 == 0)
        for (auto& e : problem.eligible) e = pick.below(6) != 0;
    return problem;
}

/// A chain of tasks with shortcuts: many buffers share few slots, so slots are reused often.
inline drawn_sharing draw_chain(std::uint32_t seed)
{
    random_source pick{std::mt19937(seed)};
    random_tasks drawn;
    for (sublet::value_id t = 0; t != 60; ++t) {
        random_tasks::task now;
        if (t != 0 && pick.below(20) != 0) now.uses.push_back(t - 1);
        if (t > 3 && pick.below(4) == 0) now.uses.push_back(t - 2 - pick.below(3));
        now.defs.push_back(t);
        drawn.tasks.push_back(now);
        drawn.bytes.push_back(8 * (1 + pick.below(40)));
        drawn.pool.push_back(pick.below(8) / 7);
    }
    drawn.role.assign(60, sublet::value_role::intermediate);
    drawn.alias_of.assign(60, sublet::no_value);
    return drawn_sharing(std::move(drawn));
}

#endif
