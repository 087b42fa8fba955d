// SPDX-License-Identifier: BSL-1.0

/// aliases: buffers claim their bytes in the order in which they begin, and what had them is listed. A second
/// round finds what the first one left. The steps between which bytes change hands are the touches that no
/// other touch of the buffer follows, or precedes.

#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/graph/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The steps of a plan with which its buffers begin and end.
///
///     a is touched by 0, 1, 2, 3       0 ─► 1 ─► 3        begins: 0, it precedes the others
///                                      └──► 2             ends: 2 and 3, no other touch follows them
class buffer_borders {
public:
    buffer_borders(snapshot const& p, memory_plan const& plan, plan_options const& options)
        : is_concurrent_(plan.valid_for == program_reading::concurrent), is_input_(plan.buffers.size(), 0),
          is_output_(plan.buffers.size(), 0)
    {
        if (is_concurrent_) {
            graph_ = dependences(p, dependences_of(options, plan.handoffs));
            SUBLET_EXPECTS(
                graph_, "sublet: the steps of the program have no order: plan it, or check the plan, first");
            step_at_ = graph_.step_at;
            position_of_ = graph_.position_of;
        } else {
            step_at_ = steps_in_order(p, plan.order);
            position_of_.resize(step_at_.size());
            for (position_id at = 0; at != step_at_.size(); ++at) position_of_[step_at_[at]] = at;
        }
        auto const roles = carried_roles(options, p.values());
        for (value_id v = 0; v != p.values(); ++v) {
            buffer_id const b = plan.buffer_of[v];
            if (b == no_buffer) continue;
            if (is_given(roles[v]) && v == plan.buffers[b].root) is_input_[b] = 1;
            if (has_role(roles[v], value_role::output)) is_output_[b] = 1;
        }
        touches_ = csr_rows<buffer_id, position_id>::gathered(plan.buffers.size(), [&](auto add) {
            auto add_touch = [&](value_id v, step_id s) {
                if (plan.buffer_of[v] != no_buffer) add(plan.buffer_of[v], position_of_[s]);
            };
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s)) add_touch(t.value, s);
            for (edge_use u : p.edge_uses()) add_touch(u.value, p.steps_of(u.pred).last - 1);
        });
    }

    bool is_input(buffer_id b) const { return is_input_[b] != 0; }
    bool is_output(buffer_id b) const { return is_output_[b] != 0; }
    /// Ascending in an order of the steps that the plan is valid for: inputs, then the first touches.
    std::uint64_t begin_of(buffer_id b) const
    {
        if (is_input(b)) return 0;
        position_id first = no_position;
        for (position_id at : touches_[b]) first = smaller(first, at);
        return std::uint64_t{first} + 1;
    }

    /// The touches that no other one follows. O(positions + edges from the first to the last)
    std::vector<step_id> last_steps(buffer_id b) { return outer_steps(b, true); }
    /// The touches that no other one precedes. O(positions + edges from the first to the last)
    std::vector<step_id> first_steps(buffer_id b) { return outer_steps(b, false); }

    /// The steps of a path; none in a plan for one order.  O(positions + edges from one to the other)
    std::vector<step_id> path(step_id from, step_id to)
    {
        if (!is_concurrent_) return {};
        position_id const first = position_of_[from], last = position_of_[to];
        std::vector<position_id> queue{last};
        next_.resize(graph_.positions(), no_position);
        for (std::size_t i = 0; i != queue.size() && next_[first] == no_position; ++i)
            for (position_id earlier : graph_.before[queue[i]])
                if (earlier >= first && next_[earlier] == no_position) {
                    next_[earlier] = queue[i];
                    queue.push_back(earlier);
                }
        std::vector<step_id> steps;
        if (first == last || next_[first] != no_position) {
            steps.push_back(from);
            for (position_id at = first; at != last;) {
                at = next_[at];
                if (step_at_[at] != steps.back()) steps.push_back(step_at_[at]);
            }
        }
        for (position_id at : queue) next_[at] = no_position;
        return steps;
    }

private:
    std::vector<step_id> outer_steps(buffer_id b, bool are_last)
    {
        std::vector<position_id> touched(touches_[b].begin(), touches_[b].end());
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        if (touched.empty()) return {};
        if (!is_concurrent_) return {step_at_[are_last ? touched.back() : touched.front()]};
        // Of a step with early reads the write ends it, and the reads begin it.
        if (!are_last)
            for (position_id& at : touched) at = graph_.start_of(step_at_[at]);
        std::sort(touched.begin(), touched.end());
        std::vector<step_id> outer;
        auto const& next = are_last ? graph_.before : graph_.after;
        is_reached_.resize(graph_.positions(), 0);
        std::vector<unsigned char> is_touch(touched.back() - touched.front() + 1, 0);
        for (position_id at : touched) is_touch[at - touched.front()] = 1;
        auto visit = [&](position_id at) {
            bool const is_inside = std::exchange(is_reached_[at], 0) != 0,
                       is_here = is_touch[at - touched.front()] != 0;
            if (is_here && !is_inside) outer.push_back(step_at_[at]);
            if (!is_here && !is_inside) return;
            for (position_id other : next[at])
                if (other >= touched.front() && other <= touched.back()) is_reached_[other] = 1;
        };
        if (are_last)
            for (position_id at = touched.back() + 1; at-- != touched.front();) visit(at);
        else
            for (position_id at = touched.front(); at != touched.back() + 1; ++at) visit(at);
        std::sort(outer.begin(), outer.end());
        return outer;
    }

    bool is_concurrent_;
    dependence_graph graph_;
    table<position_id, step_id> step_at_;
    table<step_id, position_id> position_of_;
    csr_rows<buffer_id, position_id> touches_;
    table<buffer_id, unsigned char> is_input_, is_output_;
    table<position_id, unsigned char> is_reached_;
    table<position_id, position_id> next_; // on a path; none, between two questions
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<alias> aliases(snapshot const& p, memory_plan const& plan,
                                       plan_options const& options, alias_options const& asked)
{
    std::size_t const buffers = plan.buffers.size();
    SUBLET_EXPECTS(plan.buffer_of.size() == p.values(),
                   "sublet: the plan is of another program: it has % values, the program %",
                   plan.buffer_of.size(), p.values());
    for (buffer_id b : plan.buffer_of)
        SUBLET_EXPECTS(b == no_buffer || b < buffers,
                       "sublet: the plan names buffer %, but it has only % buffers", b, buffers);
    SUBLET_EXPECTS(
        plan.valid_for != program_reading::control_flow,
        "sublet: which buffer takes over the bytes of which is a question of the path that is taken: "
        "aliases() takes no plan for control flow");
    table<pool_id, std::vector<detail::sort_key>> borders(plan.arena_bytes.size());
    detail::buffer_borders steps(p, plan, options);
    std::vector<detail::sort_key> begins; // what is there first
    for (buffer_id b = 0; b != buffers; ++b) {
        memory_plan::placed_buffer const& its = plan.buffers[b];
        SUBLET_EXPECTS(its.pool < borders.size() && its.offset <= plan.arena_bytes[its.pool] &&
                           its.size <= plan.arena_bytes[its.pool] - its.offset,
                       "sublet: buffer % of the plan is not in the arena of pool %", b, its.pool);
        borders[its.pool].push_back({its.offset, 0, b});
        borders[its.pool].push_back({its.offset + its.size, 0, b});
        begins.push_back({steps.begin_of(b), 0, b});
    }
    detail::sort_by_key(begins);
    table<pool_id, detail::byte_owners> arenas;
    for (pool_id pool = 0; pool != borders.size(); ++pool)
        arenas.emplace_back(std::move(borders[pool]), plan.arena_bytes[pool]);

    table<buffer_id, buffer_id> leaves_to(buffers, no_buffer); // contents, to the next round
    for (plan_options::carry const& c : options.carried) {
        SUBLET_EXPECTS(c.from < p.values() && c.to < p.values(),
                       "sublet: value % is carried into value %, but there are only % values", c.from, c.to,
                       p.values());
        if (buffer_id const b = plan.buffer_of[c.from]; b != no_buffer) leaves_to[b] = plan.buffer_of[c.to];
    }
    std::vector<alias> found;
    table<buffer_id, unsigned char> has_begun(buffers, 0); // in this round
    auto run_round = [&](bool is_next) {
        for (detail::sort_key const& key : begins) {
            buffer_id const b{key.id};
            memory_plan::placed_buffer const& its = plan.buffers[b];
            std::size_t const first_of_it = found.size();
            arenas[its.pool].each(
                its.offset, its.offset + its.size, [&](byte_count first, byte_count last, buffer_id before) {
                    if (before == no_buffer || before == b || (is_next && has_begun[before])) return;
                    if (is_next && leaves_to[before] == b) return;
                    if (found.size() != first_of_it && found.back().before == before &&
                        found.back().last == first)
                        found.back().last = last;
                    else
                        found.push_back({.before = before,
                                         .after = b,
                                         .before_root = plan.buffers[before].root,
                                         .after_root = its.root,
                                         .pool = its.pool,
                                         .first = first,
                                         .last = last,
                                         .next_round = is_next});
                });
            arenas[its.pool].claim(its.offset, its.offset + its.size, b);
            has_begun[b] = 1;
        }
    };
    run_round(false);
    if (asked.repeats) {
        has_begun.assign(buffers, 0);
        run_round(true);
    }

    // Each buffer is asked once.
    table<buffer_id, std::vector<step_id>> first_steps(buffers), last_steps(buffers);
    table<buffer_id, unsigned char> has_first(buffers, 0), has_last(buffers, 0);
    for (alias& a : found) {
        if (!std::exchange(has_last[a.before], 1)) last_steps[a.before] = steps.last_steps(a.before);
        if (!std::exchange(has_first[a.after], 1)) first_steps[a.after] = steps.first_steps(a.after);
        if (!steps.is_output(a.before)) a.ends = last_steps[a.before];
        if (!steps.is_input(a.after)) a.begins = first_steps[a.after];
        if (!asked.paths || a.next_round) continue;
        for (step_id to : a.begins)
            for (step_id from : a.ends)
                if (auto its = steps.path(from, to); !its.empty()) a.paths.push_back(std::move(its));
    }
    return found;
}

} // namespace sublet
