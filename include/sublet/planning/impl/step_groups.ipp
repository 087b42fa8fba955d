// SPDX-License-Identifier: BSL-1.0

/// Sections that share a step are one cluster; clusters are ordered along the contracted graph. For hand-offs
/// a section takes the place of its group that is free first, and find_handoffs() treats places as offsets.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/step_groups.hpp>

#include <queue>
#include <set>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void expect_groups(std::vector<step_group> const& groups, std::size_t steps)
{
    for (std::size_t g = 0; g != groups.size(); ++g) {
        SUBLET_EXPECTS(groups[g].at_once != 0, "sublet: of group % no section may run: at_once is 0", g);
        table<step_id, unsigned char> is_there(steps, 0);
        for (std::size_t i = 0; i != groups[g].sections.size(); ++i) {
            SUBLET_EXPECTS(!groups[g].sections[i].empty(), "sublet: section % of group % has no steps", i, g);
            for (step_id s : groups[g].sections[i]) {
                SUBLET_EXPECTS(s < steps, "sublet: section % of group % has step %, but there are only %", i,
                               g, s, steps);
                SUBLET_EXPECTS(!is_there[s], "sublet: step % is twice in group %", s, g);
                is_there[s] = 1;
            }
        }
    }
}

SUBLET_DECL void add_groups(std::vector<step_group> const& groups, schedule_problem& problem)
{
    problem.first_group = 0;
    for (pool_id pool : problem.pool) problem.first_group = larger(problem.first_group, pool_id{pool + 1});
    std::size_t const before = problem.size.size();
    for (std::size_t g = 0; g != groups.size(); ++g)
        for (std::size_t i = 0; i != groups[g].sections.size(); ++i) {
            problem.size.push_back(1);
            problem.pool.push_back(static_cast<pool_id>(problem.first_group + g));
            problem.is_given.push_back(0);
            problem.is_kept.push_back(0);
        }
    auto with_sections = [&](csr_rows<step_id, buffer_id> const& rows) {
        return csr_rows<step_id, buffer_id>::gathered(problem.steps(), [&](auto add) {
            for (step_id s = 0; s != problem.steps(); ++s)
                for (buffer_id b : rows[s]) add(s, b);
            std::size_t number = before;
            for (step_group const& group : groups)
                for (std::vector<step_id> const& section : group.sections) {
                    for (step_id s : section) add(s, buffer_id::of(number));
                    ++number;
                }
        });
    };
    problem.begins = with_sections(problem.begins);
    problem.ends = with_sections(problem.ends);
    problem.ended_by = problem.ends.transposed(problem.size.size());
}

SUBLET_DECL table<step_id, std::uint64_t> ranks_in_sections(schedule_problem const& problem,
                                                            std::vector<step_group> const& groups,
                                                            table<step_id, std::uint64_t> const& rank)
{
    std::size_t const steps = problem.steps();
    table<step_id, step_id> cluster; // the lowest step that is known to be in it; of itself, if it is that
    for (step_id s = 0; s != steps; ++s) cluster.push_back(s);
    auto cluster_of = [&](step_id s) {
        while (cluster[s] != s) s = cluster[s] = cluster[cluster[s]];
        return s;
    };
    for (step_group const& group : groups)
        for (std::vector<step_id> const& section : group.sections)
            for (step_id s : section) {
                step_id const a = cluster_of(s), b = cluster_of(section.front());
                cluster[larger(a, b)] = smaller(a, b);
            }
    table<step_id, std::uint64_t> lowest(steps, no_limit), result(steps, 0);
    table<step_id, std::uint32_t> waits(steps, 0);
    auto const inside = csr_rows<step_id, step_id>::gathered(steps, [&](auto add) {
        for (step_id s = 0; s != steps; ++s) add(cluster_of(s), s);
    });
    for (step_id s = 0; s != steps; ++s) {
        std::uint64_t& its = lowest[cluster_of(s)];
        its = smaller(its, rank[s]);
        for (step_id other : problem.before[s]) waits[cluster_of(s)] += cluster_of(other) != cluster_of(s);
    }
    std::set<sort_key>
        left; // {waits, lowest rank, cluster}: where sections wait for each other, some are left
    for (step_id s = 0; s != steps; ++s)
        if (cluster_of(s) == s) left.insert({waits[s], lowest[s], s});
    for (std::uint64_t place = 0; !left.empty(); ++place) {
        step_id const next{left.begin()->id};
        left.erase(left.begin());
        for (step_id s : inside[next]) {
            result[s] = place;
            for (step_id other : problem.after[s]) {
                step_id const to = cluster_of(other);
                if (to == next || left.erase({waits[to], lowest[to], to}) == 0) continue;
                left.insert({--waits[to], lowest[to], to});
            }
        }
    }
    return result;
}

SUBLET_DECL std::optional<counterexample> over_group(schedule_problem const& problem,
                                                     std::vector<step_group> const& groups,
                                                     std::vector<step_id> const& sequence)
{
    table<buffer_id, std::size_t> left(problem.size.size(), 0);
    for (buffer_id b = 0; b != left.size(); ++b) left[b] = problem.ended_by[b].size();
    std::vector<std::size_t> open(groups.size(), 0);
    for (std::size_t i = 0; i != sequence.size(); ++i) {
        for (buffer_id b : problem.begins[sequence[i]]) {
            if (problem.pool[b] < problem.first_group || left[b] != problem.ended_by[b].size()) continue;
            std::uint32_t const group = problem.pool[b] - problem.first_group;
            if (open[group]++ != groups[group].at_once) continue;
            step_id unfinished = no_step; // the next one of a section that has begun
            for (std::size_t later = i + 1; later != sequence.size() && unfinished == no_step; ++later)
                for (buffer_id other : problem.begins[sequence[later]])
                    if (other != b && problem.pool[other] == problem.pool[b] &&
                        left[other] != problem.ended_by[other].size())
                        unfinished = sequence[later];
            return counterexample{fault::over_group, counterexample::timing{.step = sequence[i],
                                                                            .other = unfinished,
                                                                            .start = i,
                                                                            .end = groups[group].at_once,
                                                                            .most = groups[group].at_once,
                                                                            .of = group}};
        }
        for (buffer_id b : problem.ends[sequence[i]])
            if (--left[b] == 0 && problem.pool[b] >= problem.first_group)
                --open[problem.pool[b] - problem.first_group];
    }
    return std::nullopt;
}

SUBLET_DECL handoff_set handoffs_of_groups(dependence_graph const& g,
                                           table<step_id, std::uint64_t> const& duration,
                                           std::vector<step_group> const& groups,
                                           table<step_id, std::uint64_t> const& start)
{
    struct section {
        std::vector<position_id> begins, ends; // of steps before which, or after which, there is none of it
    };
    std::vector<section> sections;
    table<buffer_id, memory_plan::placed_buffer> places;
    for (std::size_t number = 0; number != groups.size(); ++number) {
        std::vector<sort_key> by_start; // {start, end, index}
        std::uint32_t index = 0;
        table<step_id, std::uint32_t> section_of(duration.size(), 0); // from 1
        for (std::vector<step_id> const& steps : groups[number].sections) {
            std::uint64_t begin = no_limit, end = 0;
            for (step_id s : steps) {
                section_of[s] = index + 1;
                begin = smaller(begin, start[s]);
                end = larger(end, start[s] + duration[s]);
            }
            by_start.push_back({begin, end, index++});
        }
        sort_by_key(by_start);
        std::priority_queue<sort_key> taken; // {end, place}, the first end on top
        std::uint32_t used = 0;
        auto const first = static_cast<std::uint32_t>(sections.size());
        sections.resize(first + index);
        places.resize(first + index);
        for (sort_key const& next : by_start) {
            std::uint32_t place = used;
            if (!taken.empty() && descending(taken.top().key) <= next.key) {
                place = taken.top().id;
                taken.pop();
            } else ++used;
            taken.push({descending(next.tie), descending(place), place});
            memory_plan::placed_buffer& its = places[buffer_id{first + next.id}];
            its.size = 1;
            its.pool = static_cast<pool_id>(number);
            its.offset = place;
            for (step_id s : groups[number].sections[next.id]) {
                auto is_inside = [&](position_id other) {
                    return g.step_at[other] != s && section_of[g.step_at[other]] == next.id + 1;
                };
                bool is_first = true, is_last = true;
                for (position_id at : {g.start_of(s), g.position_of[s]}) {
                    for (position_id other : g.before[at]) is_first = is_first && !is_inside(other);
                    for (position_id other : g.after[at]) is_last = is_last && !is_inside(other);
                }
                if (is_first) sections[first + next.id].begins.push_back(g.position_of[s]);
                if (is_last) sections[first + next.id].ends.push_back(g.position_of[s]);
            }
        }
    }
    concurrent_live_ranges lives;
    auto rows = [&](std::vector<position_id> section::* which) {
        return csr_rows<buffer_id, position_id>::gathered(sections.size(), [&](auto add) {
            for (std::size_t i = 0; i != sections.size(); ++i) {
                auto& its = sections[i].*which;
                sort_ascending(its);
                for (position_id at : its) add(buffer_id::of(i), at);
            }
        });
    };
    lives.begins = rows(&section::begins);
    lives.ends = rows(&section::ends);
    lives.positions = static_cast<std::uint32_t>(g.positions());
    schedule_times times;
    for (position_id at = 0; at != g.positions(); ++at) {
        times.start.push_back(start[g.step_at[at]]);
        times.end.push_back(start[g.step_at[at]] + duration[g.step_at[at]]);
    }
    table<buffer_id, live_range> const life = schedule_live_ranges(lives, times);
    for (buffer_id b = 0; b != places.size(); ++b) places[b].life = life[b];
    return find_handoffs(g, lives, places);
}

} // namespace sublet::detail
