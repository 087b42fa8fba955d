// SPDX-License-Identifier: BSL-1.0
/// List scheduling by the longest path ahead, from either end; live ranges are numbered by the times of the
/// schedule. Hand-offs are the reuses of bytes that the dependences do not order, less those that others
/// imply.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/topological_points.hpp>

#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/schedule.hpp>
#include <sublet/structures/internal/transitive_reduction.hpp>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <set>
#include <utility>

namespace sublet::detail {

// --- parallel schedule -----------------------------------------------------------------------------------

/// The longest path from each position along `edges`, itself included. `upwards`: positions ascend, so that
/// the targets of edges come first.
SUBLET_DECL table<position_id, std::uint64_t> longest_paths(csr_rows<position_id, position_id> const& edges,
                                                            table<position_id, std::uint64_t> const& length,
                                                            bool upwards)
{
    std::size_t const n = edges.rows();
    table<position_id, std::uint64_t> path(n);
    for (std::size_t i = 0; i != n; ++i) {
        auto const at = position_id::of(upwards ? i : n - 1 - i);
        std::uint64_t longest = 0;
        for (position_id next : edges[at]) longest = larger(longest, path[next]);
        path[at] = longest + length[at];
    }
    return path;
}

SUBLET_DECL table<position_id, std::uint64_t>
list_schedule(csr_rows<position_id, position_id> const& after,
              csr_rows<position_id, position_id> const& before, std::size_t workers,
              table<position_id, std::uint64_t> const& length,
              table<position_id, std::uint64_t> const& path_ahead, bool upwards)
{
    std::size_t const n = after.rows();
    table<position_id, std::uint64_t> end(n);
    table<position_id, std::uint32_t> waits;
    std::vector<position_id> free; // of length 0, without unfinished predecessors
    waits.reserve(n);
    std::priority_queue<sort_key> ready, running; // greatest on top
    auto found = [&](position_id at) {
        if (length[at] == 0) free.push_back(at);
        else ready.push({path_ahead[at], upwards ? descending(at) : +at, at});
    };
    auto finish = [&](position_id at) {
        for (position_id next : after[at])
            if (--waits[next] == 0) found(next);
    };
    for (position_id at = 0; at != n; ++at) waits.push_back(static_cast<std::uint32_t>(before[at].size()));
    for (position_id at = 0; at != n; ++at)
        if (before[at].empty()) found(at);
    for (std::uint64_t now = 0;; now = descending(running.top().key)) {
        while (!running.empty() && descending(running.top().key) == now) {
            position_id const at = running.top().id;
            running.pop();
            finish(at);
        }
        while (!free.empty()) {
            position_id const at = free.back();
            free.pop_back();
            finish(at);
        }
        while (!ready.empty() && running.size() != workers) {
            position_id const at = ready.top().id;
            ready.pop();
            end[at] = now + length[at];
            running.push({descending(end[at]), 0, at});
        }
        if (running.empty()) return end;
    }
}

SUBLET_DECL schedule_times parallel_schedule(dependence_graph const& g,
                                             per_value<std::uint64_t, step_id> const& duration,
                                             parallel_schedule_options const& options)
{
    SUBLET_EXPECTS(g, "sublet: a program without a concurrent reading has no schedule");
    auto const durations = duration.tabulate(g.position_of.size(), "duration");
    std::uint64_t all = 0;
    for (step_id s = 0; s != durations.size(); ++s) {
        SUBLET_EXPECTS(durations[s] != 0, "sublet: the duration of step % is 0 (a schedule needs at least 1)",
                       s);
        all = checked_add(all, durations[s]);
    }
    std::size_t const n = g.positions();
    table<position_id, std::uint64_t> length(n, 0); // 0 at the position of early reads
    for (step_id s = 0; s != durations.size(); ++s) length[g.position_of[s]] = durations[s];

    schedule_times schedule;
    bool const earliest = options.side == schedule_side::earliest;
    csr_rows<position_id, position_id> const &onwards = earliest ? g.after : g.before,
                                             &back = earliest ? g.before : g.after;
    bool const is_limited = options.workers != 0 && options.workers < durations.size();
    table<position_id, std::uint64_t> end = detail::longest_paths(back, length, earliest);
    for (std::uint64_t t : end) schedule.critical_path = detail::larger(schedule.critical_path, t);
    schedule.makespan = schedule.critical_path;
    if (is_limited) {
        end = detail::list_schedule(onwards, back, options.workers, length,
                                    detail::longest_paths(onwards, length, !earliest), earliest);
        for (std::uint64_t t : end) schedule.makespan = detail::larger(schedule.makespan, t);
    }
    schedule.start.reserve(n);
    schedule.end.reserve(n);
    for (position_id at = 0; at != n; ++at) {
        std::uint64_t const ends = end[g.position_of[g.step_at[at]]], takes = durations[g.step_at[at]];
        schedule.start.push_back(earliest ? ends - takes : schedule.makespan - ends);
        schedule.end.push_back(schedule.start.back() + takes);
    }
    return schedule;
}

// --- schedule live ranges --------------------------------------------------------------------------------

SUBLET_DECL table<buffer_id, live_range> schedule_live_ranges(concurrent_live_ranges const& lives,
                                                         schedule_times const& schedule)
{
    SUBLET_EXPECTS(schedule.start.size() == lives.positions, "sublet: the schedule is of another graph");
    table<position_id, std::uint64_t> starts = schedule.start;
    std::sort(starts.begin(), starts.end());
    auto number_of = [&starts](std::uint64_t t) {
        return position_id::of(
            partition_point(starts.size(), [&](std::size_t i) { return starts[i] >= t; }));
    };
    table<buffer_id, live_range> result;
    result.reserve(lives.buffers());
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        std::uint64_t begin = lives.begins[b].empty() ? 0 : no_limit, end = 0;
        for (position_id at : lives.begins[b]) begin = smaller(begin, schedule.start[at]);
        for (position_id at : lives.ends[b])
            end = at == lives.positions ? no_limit : larger(end, schedule.end[at]);
        position_id const first = number_of(begin);
        result.push_back({first, larger(number_of(end), position_id{first + 1})});
    }
    return result;
}

// --- schedule order --------------------------------------------------------------------------------------

SUBLET_DECL scheduled_graph in_schedule_order(dependence_graph const& g, schedule_times const& schedule)
{
    std::size_t const n = g.positions();
    SUBLET_EXPECTS(schedule.start.size() == n, "sublet: the schedule is of another graph");
    std::vector<sort_key> order;
    order.reserve(n);
    for (position_id at = 0; at != n; ++at) order.push_back({schedule.start[at], 0, at});
    sort_by_key(order);
    table<position_id, position_id> place(n);
    for (position_id i = 0; i != n; ++i) place[position_id{order[i].id}] = i;

    scheduled_graph result;
    result.graph.before = csr_rows<position_id, position_id>::gathered(n, [&](auto add) {
        for (position_id i = 0; i != n; ++i)
            for (position_id next : g.after[position_id{order[i].id}]) add(place[next], i);
    });
    result.graph.after = result.graph.before.transposed(n);
    result.schedule.makespan = schedule.makespan;
    result.schedule.critical_path = schedule.critical_path;
    for (sort_key const& o : order) {
        position_id const at = o.id;
        result.graph.step_at.push_back(g.step_at[at]);
        result.schedule.start.push_back(schedule.start[at]);
        result.schedule.end.push_back(schedule.end[at]);
    }
    for (position_id at : g.position_of) result.graph.position_of.push_back(place[at]);
    return result;
}

// --- schedule conflicts ----------------------------------------------------------------------------------

SUBLET_DECL buffer_range_lists conflicts_in_schedule(buffer_range_lists const& exact,
                                                     table<buffer_id, live_range> const& in_schedule)
{
    SUBLET_EXPECTS(exact.values() == in_schedule.size(),
                   "sublet: a table needs one entry for each buffer");
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (buffer_id b = 0; b != in_schedule.size(); ++b) {
        for (live_range r : exact[b])
            if (r.first < in_schedule[b].last)
                ranges.push_back({r.first, smaller(r.last, in_schedule[b].last)});
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {exact.method(), exact.positions(), std::move(first), std::move(ranges)};
}

// --- handoffs --------------------------------------------------------------------------------------------

/// Calls `takes(b, a, bytes)` for the buffers b in order of their live ranges, and for each range of bytes of
/// which a was the last occupant.  O(n log n), n = buffers
template <class Buffer, class Takes>
void follow_occupants(concurrent_live_ranges const& lives, table<buffer_id, Buffer> const& placed,
                      Takes takes)
{
    std::vector<sort_key> arrivals; // given buffers precede those that begin at the same position
    for (buffer_id b = 0; b != placed.size(); ++b) {
        if (placed[b].size == 0 || placed[b].offset == no_offset) continue;
        SUBLET_EXPECTS(sum_fits(placed[b].offset, placed[b].size), "sublet: buffer % ends beyond 64 bits", b);
        arrivals.push_back({std::uint64_t{placed[b].pool} << 32 | placed[b].life.first,
                            lives.begins[b].empty() ? 0 : std::uint64_t{lives.first(b)} + 1, b});
    }
    sort_by_key(arrivals);
    std::set<sort_key> occupants; // ranges of one pool: {end, begin, buffer}
    pool_id pool = 0;
    for (sort_key const& arrival : arrivals) {
        buffer_id const b = arrival.id;
        if (placed[b].pool != pool) occupants.clear();
        pool = placed[b].pool;
        byte_count const begin = placed[b].offset, end = begin + placed[b].size;
        auto at = occupants.upper_bound({begin, no_size, no_buffer});
        while (at != occupants.end() && at->tie < end) {
            sort_key const old = *at;
            takes(b, old.id, smaller(end, old.key) - larger(begin, old.tie));
            at = occupants.erase(at);
            if (old.tie < begin) occupants.insert(at, sort_key{begin, old.tie, old.id});
            if (old.key > end) at = occupants.insert(at, sort_key{old.key, end, old.id});
            if (old.key > end) break;
        }
        occupants.insert(at, sort_key{end, begin, b});
    }
}

SUBLET_DECL handoff_set find_handoffs(dependence_graph const& g, concurrent_live_ranges const& lives,
                                      table<buffer_id, memory_plan::placed_buffer> const& placed)
{
    SUBLET_EXPECTS(g && g.positions() == lives.positions && lives.buffers() == placed.size(),
                   "sublet: these are lives of another graph, or other buffers");
    handoff_set result;
    auto is_edge = [&g](position_id from, position_id to) {
        if (is_listed(g.before[to], from)) return true;
        for (position_id early : g.before[to])
            if (g.step_at[early] == g.step_at[to] && is_listed(g.before[early], from)) return true;
        return false;
    };
    std::vector<sort_key> waits; // {from and to, bytes}: last positions of steps
    follow_occupants(lives, placed, [&](buffer_id b, buffer_id a, byte_count taken) {
        ++result.takeovers;
        if (result && (lives.is_kept(a) || lives.begins[b].empty()))
            result.refute(counterexample{
                fault::clash, counterexample::buffers{.buffer = a,
                                                      .other = b,
                                                      .pool = placed[a].pool,
                                                      .begin = larger(placed[a].offset, placed[b].offset),
                                                      .end = smaller(placed[a].offset + placed[a].size,
                                                                     placed[b].offset + placed[b].size)}});
        if (!result) return;
        for (position_id end : lives.ends[a])
            for (position_id begin : lives.begins[b]) {
                position_id const from = g.position_of[g.step_at[end]], to = g.position_of[g.step_at[begin]];
                if (from != to && !is_edge(from, to))
                    waits.push_back({std::uint64_t{from} << 32 | to, taken, 0});
            }
    });
    if (!result) return result;
    sort_by_key(waits);
    for (sort_key const wait : waits) // merges equal waits and adds their bytes
        if (result.waits != 0 && waits[result.waits - 1].key == wait.key)
            waits[result.waits - 1].tie += wait.tie;
        else waits[result.waits++] = wait;
    waits.resize(result.waits);
    struct position_pair {
        position_id from, to;
    };
    auto wait_of = [&waits](std::size_t i) {
        return position_pair{position_id::of(waits[i].key >> 32), position_id::of(waits[i].key)};
    };

    auto const positions = static_cast<std::uint32_t>(g.positions());
    auto step_position = [&g](position_id at) { return g.position_of[g.step_at[at]]; }; // one node per step
    auto const after = csr_rows<position_id, position_id>::gathered(positions, [&](auto add) {
        for (position_id at = 0; at != positions; ++at)
            for (position_id next : g.after[at])
                if (step_position(at) != step_position(next)) add(at, step_position(next));
        for (std::size_t i = 0; i != waits.size(); ++i) add(wait_of(i).from, wait_of(i).to);
    });
    table<position_id, std::uint32_t> waiting(positions, 0);
    for (position_id at = 0; at != positions; ++at)
        for (position_id next : after[at]) ++waiting[next];
    std::vector<position_id> const order =
        topological_points(after, waiting, dependence_options::position_order::as_listed);
    if (order.size() != positions) {
        std::vector<step_id> cycle;
        for (position_id at : residual_cycle(after, waiting)) cycle.push_back(g.step_at[at]);
        result.refute(cycle_of(std::move(cycle)));
        return result;
    }
    table<position_id, node_id> place(positions); // the index in an order that keeps all waits
    for (node_id i = 0; i != positions; ++i) place[order[i]] = i;
    auto const before = csr_rows<node_id, node_id>::gathered(positions, [&](auto add) {
        for (position_id at = 0; at != positions; ++at)
            for (position_id next : after[at]) add(place[next], place[at]);
    });
    auto const is_implied = has_indirect_path(before, waits.size(), [&](std::uint32_t i) {
        return csr_graph::edge{place[wait_of(i).from], place[wait_of(i).to]};
    });

    std::vector<sort_key> found; // {from, to, index of the wait}: steps
    for (std::uint32_t i = 0; i != waits.size(); ++i)
        if (!is_implied[i]) found.push_back({g.step_at[wait_of(i).from], g.step_at[wait_of(i).to], i});
    sort_by_key(found);
    for (sort_key const& f : found) {
        result.handoffs.push_back({step_id::of(f.key), step_id::of(f.tie)});
        result.bytes.push_back(waits[f.id].tie);
    }
    return result;
}

} // namespace sublet::detail
