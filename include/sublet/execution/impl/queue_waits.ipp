// SPDX-License-Identifier: BSL-1.0

/// waits(): the edges of the plan, and a clock of each queue. A walk over the steps of a round, and over
/// those of the next one, takes for each step what it must follow, the latest first, and keeps what the clock
/// of its queue does not have yet. Across the border of two rounds a step must follow the last accesses, on
/// each queue, of what had the bytes last.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/vector_clocks.hpp>
#include <sublet/execution/queue_waits.hpp>
#include <sublet/impl/config.hpp>

#include <sublet/analysis/aliases.hpp>
#include <sublet/execution/detail/run_edges.hpp>
#include <sublet/graph/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Pairs of positions across the border of two rounds: {to and from, why}, sorted.
class round_border {
public:
    /// `role`: what is said of each value, without what is carried.
    round_border(snapshot const& p, memory_plan const& plan, run_order const& order,
                 sublet::table<value_id, value_role> const& role,
                 sublet::table<step_id, position_id> const& position_of,
                 sublet::table<step_id, std::uint32_t> const& queue_of)
        : buffers_(plan.buffers.size()), accesses_(buffers_ + order.lowered.table.buffers.size())
    {
        buffer_table const& table = order.lowered.table;
        for (value_id v = 0; v != role.size(); ++v)
            SUBLET_EXPECTS(!table.buffers[table.buffer_of[v]].is_planned() ||
                               (!is_given(role[v]) && !has_role(role[v], value_role::output)),
                           "sublet: value % is an input or an output of the arena: the caller writes or "
                           "reads it between two rounds, so they cannot overlap; make it external, or state",
                           v);
        for (std::vector<buffer_id> const& group : order.lowered.carried) {
            std::vector<buffer_id>& places = groups_.emplace_back();
            for (buffer_id b : group)
                if (buffer_id const its = plan.buffer_of[table.buffers[b].root]; its != no_buffer)
                    places.push_back(its);
        }
        auto add_access = [&](value_id v, step_id s, bool writes) {
            buffer_id const its = plan.buffer_of[v]; // an operand and a result that took its place share it
            std::size_t const storage = its == no_buffer ? buffers_ + +table.buffer_of[v] : +its;
            accesses_[storage].push_back({position_of[s], queue_of[s], writes});
        };
        for (step_id s : order.lowered.step_at)
            for (touch t : p.touches(s))
                if (t.kind != touch::access::view) add_access(t.value, s, t.writes());
        for (edge_use u : p.edge_uses()) add_access(u.value, p.steps_of(u.pred).last - 1, false);
        for (auto& its : accesses_)
            std::sort(its.begin(), its.end(), [](access const& x, access const& y) { return x.at < y.at; });
    }

    std::vector<sort_key> take(std::vector<alias> const& of_plan)
    {
        // What changes places has the bytes of the others of its group, and its own, in later rounds. Reads in
        // between order nothing, so that all of it is taken for one round later.
        for (std::size_t i = 0; i != groups_.size(); ++i)
            for (buffer_id before : groups_[i])
                for (buffer_id after : groups_[i])
                    if (before != after) add(+before, +after, true);
        for (std::size_t storage = 0; storage != accesses_.size(); ++storage) add(storage, storage, true);
        sublet::table<buffer_id, buffer_id> was(buffers_, no_buffer); // in the round before
        for (auto const& group : groups_)
            if (group.size() == 2) was[group[0]] = group[1];
        for (alias const& a : of_plan)
            if (a.next_round) add(+a.before, +a.after, false);
            else if (was[a.before] != no_buffer)
                add(+was[a.before], +a.after, false); // if no step touches it
        sort_by_key(found_);
        return std::move(found_);
    }

private:
    struct access {
        position_id at = 0;
        std::uint32_t queue = 0;
        bool writes = false;
    };

    /// The first accesses of `after`, in the next round, follow the last ones of `before`, where either
    /// writes. `keeps`: what is read there was written in the round before.
    void add(std::size_t before, std::size_t after, bool keeps)
    {
        auto const last = outer(accesses_[before].rbegin(), accesses_[before].rend());
        for (access const& to : outer(accesses_[after].begin(), accesses_[after].end()))
            for (access const& from : last) {
                if (!to.writes && !from.writes) continue;
                auto why = step_edges::reason::handoff;
                if (keeps) why = to.writes ? step_edges::reason::overwrite : step_edges::reason::data;
                found_.push_back(
                    {std::uint64_t{+to.at} << 32 | +from.at, static_cast<std::uint64_t>(why), 0});
            }
    }

    /// Of each queue the first access, and the first that writes.
    template <class Iterator>
    static std::vector<access> outer(Iterator at, Iterator const& end)
    {
        std::vector<access> result;
        for (; at != end; ++at) {
            bool is_new = true;
            for (access const& known : result)
                is_new = is_new && (known.queue != at->queue || (at->writes && !known.writes));
            if (is_new) result.push_back(*at);
        }
        return result;
    }

    std::size_t buffers_;
    std::vector<std::vector<access>> accesses_; // by buffer of the plan, then by that of external storage
    std::vector<std::vector<buffer_id>> groups_; // of what is carried, in the plan
    std::vector<sort_key> found_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL queue_waits waits(snapshot const& p, arena const& planned, plan_options const& options,
                              queue_options const& queues)
{
    auto const& queue_of = queues.queue_of;
    SUBLET_EXPECTS(queue_of.size() == p.steps(), "sublet: % of % steps have a queue", queue_of.size(),
                   p.steps());
    std::uint32_t highest = 0;
    for (step_id s = 0; s != queue_of.size(); ++s) {
        constexpr std::uint32_t most = 1024;
        SUBLET_EXPECTS(queue_of[s] < most, "sublet: step % runs on queue %, but there are at most %", s,
                       queue_of[s], most);
        highest = detail::larger(highest, queue_of[s]);
    }
    detail::run_order const order = detail::proved_run(p, planned, options, queues.handoffs);
    step_edges const kept = detail::edges_of(order, queues.handoffs);
    auto const& step_at = order.lowered.step_at;
    std::uint32_t const positions = order.lowered.positions();
    table<step_id, position_id> position_of(positions);
    for (position_id at = 0; at != positions; ++at) position_of[step_at[at]] = at;
    std::vector<detail::sort_key> within, across; // {positions to and from, why}
    for (step_edges::edge e : kept.list)
        within.push_back({std::uint64_t{+position_of[e.to]} << 32 | +position_of[e.from],
                          static_cast<std::uint64_t>(e.why), 0});
    detail::sort_by_key(within);
    if (queues.repeats)
        across = detail::round_border(p, planned.plan, order, options.role.tabulate(p.values(), "role"),
                                      position_of, queue_of)
                     .take(aliases(p, planned.plan, options, {.repeats = true}));

    queue_waits result;
    result.queues.resize(positions == 0 ? 0 : highest + std::size_t{1});
    detail::vector_clocks clocks(result.queues.size());
    // A step of the first round has the number of its position, and one of the second round `positions` more.
    table<step_id, unsigned char> is_recorded(positions, 0);
    table<position_id, std::size_t> depth(positions, 0);
    auto run_round = [&](bool is_next) {
        std::size_t next_within = 0, next_across = 0;
        for (position_id at = 0; at != positions; ++at) {
            std::uint32_t const queue = queue_of[step_at[at]];
            auto& its_queue = result.queues[queue];
            if (!is_next && !its_queue.empty()) depth[at] = depth[position_of[its_queue.back()]];
            auto follow = [&](std::vector<detail::sort_key> const& list, std::size_t& next, bool is_across) {
                std::size_t end = next;
                while (end != list.size() && list[end].key >> 32 == +at) ++end;
                for (std::size_t i = end; i-- != next;) { // the latest first
                    auto const from = position_id::of(list[i].key);
                    if (queue_of[step_at[from]] == queue) continue;
                    std::uint32_t const mark = +from + (is_next && !is_across ? positions : 0);
                    if (!is_next) depth[at] = detail::larger(depth[at], depth[from]);
                    if (clocks.is_after(queue, mark)) {
                        result.implied += !is_next;
                        continue;
                    }
                    clocks.join_mark(queue, mark);
                    if (is_next && !is_across) continue;
                    is_recorded[step_at[from]] = 1;
                    (is_across ? result.next_round : result.list)
                        .push_back(
                            {step_at[from], step_at[at], static_cast<step_edges::reason>(list[i].tie)});
                }
                next = end;
            };
            follow(within, next_within, false);
            if (is_next) follow(across, next_across, true);
            clocks.mark(queue);
            if (is_next) continue;
            its_queue.push_back(step_at[at]);
            result.depth = detail::larger(result.depth, ++depth[at]);
        }
    };
    run_round(false);
    if (queues.repeats) run_round(true);
    for (auto* list : {&result.list, &result.next_round})
        std::sort(list->begin(), list->end(), [](step_edges::edge x, step_edges::edge y) {
            return x.to != y.to ? x.to < y.to : x.from < y.from;
        });
    for (auto const& queue : result.queues)
        for (step_id s : queue)
            if (is_recorded[s]) result.events.push_back(s);
    return result;
}

} // namespace sublet
