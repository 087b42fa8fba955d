// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/place_concurrently.hpp>

#include "../random_tasks.hpp"

#include <sublet/analysis/later_conflicts.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace sublet;

namespace {

/// The buffers of a random program, as a planner hands them over, and by buffer one of its values.
struct drawn_problem {
    std::vector<value_id> root; // by buffer
    placement_problem problem;
    concurrent_lives lives;
    conflict_ranges conflicts;

    explicit drawn_problem(random_tasks const& tasks)
    {
        snapshot const p = tasks.program();
        std::vector<buffer_id> buffer_of(tasks.values(), no_buffer);
        for (value_id v = 0; v != tasks.values(); ++v) {
            value_id r = v;
            while (tasks.alias_of[r] != no_value) r = tasks.alias_of[r];
            if (r == v && tasks.role[v] != value_role::external) {
                buffer_of[v] = static_cast<buffer_id>(root.size());
                root.push_back(v);
                problem.buffers.push_back({{}, tasks.bytes[v], tasks.alignment[v], tasks.pool[v]});
            }
            buffer_of[v] = buffer_of[r];
        }
        dependence_graph const g = dependences(p, {.role = tasks.role});
        lives = concurrent_lifetimes(p, g, root.size(), buffer_of, tasks.role);
        conflicts = later_conflicts(g, lives);
    }
};

bool overlap(byte_count a, byte_count a_size, byte_count b, byte_count b_size)
{
    return a < b + b_size && b < a + a_size;
}

} // namespace

TEST_CASE("what overlaps in bytes may share by definition, and nothing is lost that may")
{
    for (std::uint32_t seed = 0; seed != 3000; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const tasks = draw_tasks(roll, {.tasks = 2 + roll.below(20),
                                             .views = 10 * roll.below(3),
                                             .pools = 1 + roll.below(2),
                                             .alignments = 1 + roll.below(9)});
        drawn_problem const drawn(tasks);
        auto const p = place_concurrently(drawn.problem, drawn.lives, drawn.conflicts.of);
        REQUIRE(p.status == placement_status::placed);
        sharing_rule const rule(tasks);
        auto const& b = drawn.problem.buffers;
        for (std::size_t i = 0; i != b.size(); ++i) {
            REQUIRE((p.offset[i] == no_offset) == (b[i].size == 0));
            if (b[i].size == 0) continue;
            REQUIRE(p.offset[i] % b[i].alignment == 0);
            REQUIRE(p.offset[i] + b[i].size <= p.pools[b[i].pool].height);
            for (std::size_t j = 0; j != i; ++j)
                if (b[j].size != 0 && b[i].pool == b[j].pool &&
                    overlap(p.offset[i], b[i].size, p.offset[j], b[j].size))
                    REQUIRE(rule.may_share(drawn.root[i], drawn.root[j]));
        }
        std::vector<buffer_id> all;
        for (buffer_id i = 0; i != b.size(); ++i) all.push_back(i);
        auto const among = conflicts_among(all, drawn.lives, drawn.conflicts.of);
        for (buffer_id i = 0; i != b.size(); ++i)
            for (buffer_id j = 0; j != i; ++j)
                REQUIRE(among.conflict(i, j) != rule.may_share(drawn.root[i], drawn.root[j]));
    }
}
