// SPDX-License-Identifier: BSL-1.0

/// Events are ends of steps. For each cap a segment tree over the reference order holds the bytes that would
/// be live if what is left ran in that order; a start moves the live ranges of what the step touches, and is
/// taken back if the maximum exceeds the cap.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/capped_schedule.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL schedule_problem schedule_problem_of(dependence_graph const& g,
                                                 concurrent_live_ranges const& lives,
                                                 table<buffer_id, byte_count> size,
                                                 table<buffer_id, pool_id> pool,
                                                 table<step_id, std::uint64_t> duration)
{
    schedule_problem result;
    std::size_t const steps = duration.size(), buffers = size.size();
    result.before = csr_rows<step_id, step_id>::gathered(steps, [&](auto add) {
        for (position_id at = 0; at != g.positions(); ++at)
            for (position_id next : g.after[at])
                if (g.step_at[at] != g.step_at[next]) add(g.step_at[next], g.step_at[at]);
    });
    result.after = result.before.transposed(steps);
    auto by_step = [&](csr_rows<buffer_id, position_id> const& rows) {
        return csr_rows<step_id, buffer_id>::gathered(steps, [&](auto add) {
            for (buffer_id b = 0; b != buffers; ++b)
                for (position_id at : rows[b])
                    if (at < g.positions()) add(g.step_at[at], b);
        });
    };
    result.begins = by_step(lives.begins);
    result.ends = by_step(lives.ends);
    result.ended_by = result.ends.transposed(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        result.is_given.push_back(lives.begins[b].empty());
        result.is_kept.push_back(lives.is_kept(b));
    }
    result.size = std::move(size);
    result.pool = std::move(pool);
    result.duration = std::move(duration);
    result.path_ahead.assign(steps, 0);
    for (position_id i = 0; i != g.positions(); ++i) { // positions are topological
        step_id const s = g.step_at[position_id::of(g.positions() - 1 - i)];
        std::uint64_t longest = 0;
        for (step_id next : result.after[s]) longest = larger(longest, result.path_ahead[next]);
        result.path_ahead[s] = longest + result.duration[s];
    }
    return result;
}

/// The loads of a reference order under one cap.
struct capped_load {
    segment_tree load;
    byte_count cap;
    pool_id pool;
    bool is_of_all;
};

class schedule_run {
public:
    schedule_run(schedule_problem const& problem, std::vector<step_id> const& reference,
                 schedule_caps const& caps);
    [[nodiscard]] capped_schedule run(std::size_t workers, table<step_id, std::uint64_t> const& rank);

private:
    struct change {
        std::size_t load;
        live_range at;
        byte_count bytes;
        bool is_added;
    };
    void add_cap(byte_count cap, pool_id pool, bool is_of_all);
    [[nodiscard]] bool is_in(capped_load const& load, buffer_id b) const
    {
        return load.is_of_all ? problem_.pool[b] < problem_.first_group : load.pool == problem_.pool[b];
    }
    void change_load(buffer_id b, live_range at, bool is_added);
    bool could_start(step_id s);
    void start(step_id s);
    void finish(step_id s);
    void free_if_ended(buffer_id b);
    [[nodiscard]] std::uint32_t last_of(buffer_id b) const;

    schedule_problem const& problem_;
    std::vector<step_id> const& reference_;
    table<step_id, std::uint32_t> place_; // in the reference order
    std::vector<capped_load> loads_;
    std::vector<change> changes_; // of the step that is judged
    table<step_id, unsigned char> has_begun_;
    table<buffer_id, unsigned char> is_begun_;
    table<buffer_id, std::uint32_t> left_;         // steps that may end it and have not ended
    table<buffer_id, std::uint32_t> first_, last_; // in the reference order, as far as it is left
    table<pool_id, byte_count> live_;
    byte_count all_live_ = 0;
    capped_schedule result_;
};

SUBLET_DECL schedule_run::schedule_run(schedule_problem const& problem, std::vector<step_id> const& reference,
                                       schedule_caps const& caps)
    : problem_(problem), reference_(reference)
{
    std::size_t const steps = problem.steps(), buffers = problem.size.size();
    place_.assign(steps, 0);
    for (std::uint32_t i = 0; i != steps; ++i) place_[reference[i]] = i;
    has_begun_.assign(steps, 0);
    is_begun_ = problem.is_given;
    first_.assign(buffers, ~std::uint32_t{0});
    last_.assign(buffers, 0);
    left_.assign(buffers, 0);
    pool_id pools = 1;
    for (pool_id pool : problem.pool) pools = larger(pools, pool_id{pool + 1});
    live_.assign(pools, 0);
    for (step_id s = 0; s != steps; ++s) {
        for (buffer_id b : problem.begins[s]) first_[b] = smaller(first_[b], place_[s]);
        for (buffer_id b : problem.ends[s]) {
            last_[b] = larger(last_[b], place_[s] + 1);
            ++left_[b];
        }
    }
    for (buffer_id b = 0; b != buffers; ++b) {
        if (problem.is_given[b]) first_[b] = 0;
        if (problem.is_kept[b]) last_[b] = static_cast<std::uint32_t>(steps);
        if (problem.is_given[b]) {
            live_[problem.pool[b]] += problem.size[b];
            all_live_ += problem.bytes_of(b);
        }
    }
    if (caps.all != no_limit) add_cap(caps.all, 0, true);
    for (pool_id pool = 0; pool != caps.of.size() && pool != pools; ++pool) // in others there is nothing
        if (caps.of[pool] != no_limit) add_cap(caps.of[pool], pool, false);
    for (buffer_id b = 0; b != buffers; ++b)
        if (first_[b] < last_[b]) change_load(b, {position_id{first_[b]}, position_id{last_[b]}}, true);
    changes_.clear();
}

SUBLET_DECL void schedule_run::add_cap(byte_count cap, pool_id pool, bool is_of_all)
{
    loads_.push_back({segment_tree(problem_.steps()), cap, pool, is_of_all});
}

SUBLET_DECL void schedule_run::change_load(buffer_id b, live_range at, bool is_added)
{
    if (is_empty(at) || problem_.size[b] == 0) return;
    for (std::size_t i = 0; i != loads_.size(); ++i) {
        if (!is_in(loads_[i], b)) continue;
        if (is_added) loads_[i].load.add(at, problem_.size[b]);
        else loads_[i].load.remove(at, problem_.size[b]);
        changes_.push_back({i, at, problem_.size[b], is_added});
    }
}

/// The end of a buffer in what is left of the reference order.
SUBLET_DECL std::uint32_t schedule_run::last_of(buffer_id b) const
{
    if (problem_.is_kept[b]) return static_cast<std::uint32_t>(problem_.steps());
    std::uint32_t last = 0;
    for (step_id s : problem_.ended_by[b])
        if (!has_begun_[s]) last = larger(last, place_[s] + 1);
    return last;
}

/// Whether a step may start now; if so, the loads are those after it.
SUBLET_DECL bool schedule_run::could_start(step_id s)
{
    for (capped_load const& c : loads_) {
        byte_count more = 0;
        for (buffer_id b : problem_.begins[s])
            if (!is_begun_[b] && is_in(c, b)) more += problem_.size[b];
        byte_count const now = c.is_of_all ? all_live_ : live_[c.pool];
        if (more > c.cap || now > c.cap - more) return false;
    }
    if (loads_.empty()) return true;
    changes_.clear();
    has_begun_[s] = 1;
    for (buffer_id b : problem_.begins[s])
        if (!is_begun_[b]) change_load(b, {0, position_id{first_[b]}}, true);
    for (buffer_id b : problem_.ends[s]) {
        if (last_[b] != place_[s] + 1) continue;
        std::uint32_t const last = last_of(b);
        change_load(b, {position_id{last}, position_id{last_[b]}}, false);
    }
    bool fits = true;
    for (capped_load const& c : loads_) fits = fits && c.load.most() <= c.cap;
    has_begun_[s] = 0;
    if (fits) return true;
    for (std::size_t i = changes_.size(); i-- != 0;) {
        change const& c = changes_[i];
        if (c.is_added) loads_[c.load].load.remove(c.at, c.bytes);
        else loads_[c.load].load.add(c.at, c.bytes);
    }
    return false;
}

SUBLET_DECL void schedule_run::start(step_id s)
{
    has_begun_[s] = 1;
    for (buffer_id b : problem_.begins[s]) {
        if (is_begun_[b]) continue;
        is_begun_[b] = 1;
        first_[b] = 0;
        all_live_ += problem_.bytes_of(b);
        live_[problem_.pool[b]] += problem_.size[b];
    }
    if (!loads_.empty())
        for (buffer_id b : problem_.ends[s])
            if (last_[b] == place_[s] + 1) last_[b] = last_of(b);
    result_.bytes = larger(result_.bytes, all_live_);
    for (pool_id pool = 0; pool != live_.size(); ++pool)
        result_.of_pool[pool] = larger(result_.of_pool[pool], live_[pool]);
}

SUBLET_DECL void schedule_run::finish(step_id s)
{
    for (buffer_id b : problem_.ends[s]) {
        --left_[b];
        free_if_ended(b);
    }
}

SUBLET_DECL void schedule_run::free_if_ended(buffer_id b)
{
    if (left_[b] != 0 || problem_.is_kept[b]) return;
    all_live_ -= problem_.bytes_of(b);
    live_[problem_.pool[b]] -= problem_.size[b];
}

SUBLET_DECL capped_schedule schedule_run::run(std::size_t workers, table<step_id, std::uint64_t> const& rank)
{
    std::size_t const steps = problem_.steps(), most_refused = 32;
    result_.of_pool = live_;
    result_.bytes = all_live_;
    for (capped_load const& c : loads_)
        if ((c.is_of_all ? all_live_ : live_[c.pool]) > c.cap) return std::move(result_);
    for (buffer_id b = 0; b != left_.size(); ++b)
        if (problem_.is_given[b]) free_if_ended(b);
    result_.start.assign(steps, 0);
    for (capped_load const& c : loads_)
        if (steps != 0 && c.load.most() > c.cap) return std::move(result_);
    table<step_id, std::uint32_t> waits(steps, 0);
    std::set<sort_key> ready; // the first has priority
    auto found = [&](step_id s) { ready.insert({rank[s], place_[s], s}); };
    for (step_id s = 0; s != steps; ++s) {
        waits[s] = static_cast<std::uint32_t>(problem_.before[s].size());
        if (waits[s] == 0) found(s);
    }
    std::priority_queue<sort_key> running; // the one that ends first on top
    std::uint32_t next = 0;                // in the reference order: all before have begun
    auto begin = [&](step_id s, std::uint64_t now) {
        start(s);
        result_.start[s] = now;
        running.push({descending(now + problem_.duration[s]), 0, s});
        result_.makespan = larger(result_.makespan, now + problem_.duration[s]);
    };
    for (std::uint64_t now = 0;; now = descending(running.top().key)) {
        while (!running.empty() && descending(running.top().key) == now) {
            step_id const s{running.top().id};
            running.pop();
            finish(s);
            for (step_id other : problem_.after[s])
                if (--waits[other] == 0) found(other);
        }
        std::size_t refused = 0;
        for (auto at = ready.begin();
             at != ready.end() && running.size() != workers && refused != most_refused;) {
            step_id const s{at->id};
            if (could_start(s)) {
                begin(s, now);
                at = ready.erase(at);
            } else {
                ++refused;
                ++at;
            }
        }
        while (next != steps && has_begun_[reference_[next]]) ++next;
        if (running.empty() && next != steps) { // what was not looked at
            step_id const s = reference_[next];
            if (!could_start(s)) break; // the reference order is no order
            ready.erase({rank[s], place_[s], s});
            begin(s, now);
        }
        if (running.empty()) break;
    }
    result_.is_found = next == steps;
    return std::move(result_);
}

SUBLET_DECL capped_schedule schedule_within(schedule_problem const& problem,
                                            std::vector<step_id> const& reference, std::size_t workers,
                                            table<step_id, std::uint64_t> const& rank,
                                            schedule_caps const& caps)
{
    return schedule_run(problem, reference, caps).run(workers, rank);
}

SUBLET_DECL capped_schedule measured(schedule_problem const& problem,
                                     table<step_id, std::uint64_t> const& start)
{
    std::vector<sort_key> events; // {time, a start after the ends at that time, step}
    for (step_id s = 0; s != problem.steps(); ++s) {
        events.push_back({start[s], 1, s});
        events.push_back({start[s] + problem.duration[s], 0, s});
    }
    sort_by_key(events);
    capped_schedule result;
    result.start = start;
    result.is_found = true;
    pool_id pools = 1;
    for (pool_id pool : problem.pool) pools = larger(pools, pool_id{pool + 1});
    table<pool_id, byte_count> live(pools, 0);
    byte_count all = 0;
    table<buffer_id, unsigned char> is_begun = problem.is_given;
    table<buffer_id, std::uint32_t> left(problem.size.size(), 0);
    auto change = [&](buffer_id b, bool is_begin) {
        byte_count& of_pool = live[problem.pool[b]];
        of_pool = is_begin ? of_pool + problem.size[b] : of_pool - problem.size[b];
        all = is_begin ? all + problem.bytes_of(b) : all - problem.bytes_of(b);
    };
    auto note = [&] {
        result.bytes = larger(result.bytes, all);
        for (pool_id pool = 0; pool != pools; ++pool)
            result.of_pool[pool] = larger(result.of_pool[pool], live[pool]);
    };
    for (buffer_id b = 0; b != left.size(); ++b) {
        left[b] = static_cast<std::uint32_t>(problem.ended_by[b].size());
        if (problem.is_given[b]) change(b, true);
    }
    result.of_pool = live;
    note();
    for (buffer_id b = 0; b != left.size(); ++b) // given, and nothing touches it
        if (problem.is_given[b] && left[b] == 0 && !problem.is_kept[b]) change(b, false);
    for (sort_key const& e : events) {
        step_id const s{e.id};
        if (e.tie == 0) {
            for (buffer_id b : problem.ends[s])
                if (--left[b] == 0 && !problem.is_kept[b]) change(b, false);
            result.makespan = larger(result.makespan, e.key);
            continue;
        }
        for (buffer_id b : problem.begins[s])
            if (!is_begun[b]) {
                is_begun[b] = 1;
                change(b, true);
            }
        note();
    }
    return result;
}

inline constexpr std::uint32_t no_worker = ~std::uint32_t{0};

SUBLET_DECL table<step_id, std::uint32_t> workers_of(schedule_problem const& problem,
                                                     table<step_id, std::uint64_t> const& start)
{
    std::vector<sort_key> order; // {start, longest path first, step}
    for (step_id s = 0; s != problem.steps(); ++s)
        order.push_back({start[s], descending(problem.path_ahead[s]), s});
    sort_by_key(order);
    table<step_id, std::uint32_t> worker(problem.steps(), no_worker), left(problem.steps(), 0);
    for (step_id s = 0; s != problem.steps(); ++s)
        left[s] = static_cast<std::uint32_t>(problem.after[s].size());
    std::vector<step_id> last;                     // of each worker
    std::priority_queue<sort_key> running;         // {end, , step}, the first on top
    std::set<std::uint32_t> idle, idle_for_others; // the latter: no step waits for their last ones
    auto end_of = [&](step_id s) { return start[s] + problem.duration[s]; };
    auto run = [&](step_id s, std::uint32_t on) {
        idle.erase(on);
        idle_for_others.erase(on);
        worker[s] = on;
        last[on] = s;
        running.push({descending(end_of(s)), 0, s});
        for (step_id p : problem.before[s])
            if (--left[p] == 0 && last[worker[p]] == p) idle_for_others.insert(worker[p]);
    };
    for (std::size_t begin = 0, end = 0; begin != order.size(); begin = end) {
        std::uint64_t const now = order[begin].key;
        while (end != order.size() && order[end].key == now) ++end;
        for (; !running.empty() && descending(running.top().key) <= now; running.pop()) {
            step_id const s = running.top().id;
            idle.insert(worker[s]);
            if (left[s] == 0) idle_for_others.insert(worker[s]);
        }
        for (std::size_t i = begin; i != end; ++i) { // after the one that it waits for longest
            step_id const s = order[i].id;
            step_id from = no_step;
            for (step_id p : problem.before[s])
                if (last[worker[p]] == p && (from == no_step || end_of(p) > end_of(from) ||
                                             (end_of(p) == end_of(from) && p < from)))
                    from = p;
            if (from != no_step) run(s, worker[from]);
        }
        for (std::size_t i = begin; i != end; ++i) {
            step_id const s = order[i].id;
            if (worker[s] != no_worker) continue;
            if (idle.empty()) {
                last.push_back(s);
                idle.insert(static_cast<std::uint32_t>(last.size() - 1));
            }
            run(s, *(idle_for_others.empty() ? idle : idle_for_others).begin());
        }
    }
    return worker;
}

SUBLET_DECL std::vector<step_id> sequence_by(schedule_problem const& problem,
                                             table<step_id, std::uint64_t> const& rank)
{
    table<step_id, std::uint32_t> waits(problem.steps(), 0);
    std::priority_queue<sort_key> ready; // the lowest on top
    std::vector<step_id> order;
    auto found = [&](step_id s) { ready.push({descending(rank[s]), descending(s), s}); };
    for (step_id s = 0; s != problem.steps(); ++s) {
        waits[s] = static_cast<std::uint32_t>(problem.before[s].size());
        if (waits[s] == 0) found(s);
    }
    while (!ready.empty()) {
        order.push_back(step_id{ready.top().id});
        ready.pop();
        for (step_id next : problem.after[order.back()])
            if (--waits[next] == 0) found(next);
    }
    return order;
}

SUBLET_DECL schedule_times times_of(dependence_graph const& g, schedule_problem const& problem,
                                    capped_schedule const& schedule)
{
    schedule_times result;
    for (position_id at = 0; at != g.positions(); ++at) {
        step_id const s = g.step_at[at];
        result.start.push_back(schedule.start[s]);
        result.end.push_back(schedule.start[s] + problem.duration[s]);
    }
    result.makespan = schedule.makespan;
    for (std::uint64_t path : problem.path_ahead) result.critical_path = larger(result.critical_path, path);
    return result;
}

} // namespace sublet::detail
