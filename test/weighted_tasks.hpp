// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_WEIGHTED_TASKS_HPP
#define SUBLET_TEST_WEIGHTED_TASKS_HPP

#include "concurrent_lives.hpp"
#include "random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>

#include <vector>

/// A random program, its graph, and the weights of its buffers, numbered by their root values.
struct weighted_tasks {
    sharing_rule rule;
    sublet::dependence_graph g;
    sublet::detail::concurrent_live_ranges lives;
    sublet::table<sublet::buffer_id, sublet::byte_count> weights;

    explicit weighted_tasks(random_tasks const& tasks) : rule(tasks)
    {
        sublet::snapshot const p = tasks.program();
        g = sublet::dependences(p, {.role = tasks.role, .alias_of = tasks.alias_of});
        lives = lives_of_classes(p, g, tasks);
        weights = tasks.bytes;
        for (sublet::value_id v = 0; v != tasks.values(); ++v) {
            bool const is_untouched = rule.late[v].empty() && rule.early[v].empty();
            if (rule.root[v] != v || (is_untouched && !rule.is_given[v])) weights[+v] = 0;
        }
    }
    bool reusable_by(sublet::buffer_id u, sublet::buffer_id v) const { return rule.reusable_by(+u, +v); }
    bool is_antichain(std::vector<sublet::buffer_id> const& members) const
    {
        for (sublet::buffer_id u : members)
            for (sublet::buffer_id v : members)
                if (u != v && reusable_by(u, v)) return false;
        return true;
    }
    sublet::byte_count weight(std::vector<sublet::buffer_id> const& members) const
    {
        sublet::byte_count sum = 0;
        for (sublet::buffer_id b : members) sum += weights[b];
        return sum;
    }
};

inline random_tasks draw_small_tasks(std::uint32_t seed, unsigned tasks)
{
    random_source pick{std::mt19937(seed)};
    random_tasks_shape shape;
    shape.tasks = 1 + pick.below(tasks);
    shape.outputs = 1 + pick.below(2);
    shape.operands = 1 + pick.below(4);
    shape.back = pick.below(3) == 0 ? 1 + pick.below(8) : 0;
    shape.early = 30 * pick.below(2);
    shape.views = 30 * pick.below(2);
    shape.edges = 40 * pick.below(2);
    shape.shuffled = pick.below(3) == 0;
    return draw_tasks(pick, shape);
}

#endif
