// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ORDERING_RULES_HPP
#define SUBLET_BENCH_ORDERING_RULES_HPP

/// Orders of a task graph by rules that fit on a page, without any code of the library:
///
///     listed    the listed order; where a task is listed before one that it waits for, the ready task that
///               is listed first
///     lifo      the ready task that became ready last
///     greedy    the ready task after which the fewest bytes are live
///     cones     finish the file for which the fewest bytes are added: run all tasks that touch it, with what
///               these wait for
///
/// Turned round, with each edge, the graph has the same peaks in the reversed orders: files that are kept are
/// then there from the start.

#include "ordering_tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {

/// What tasks wait for, and which touch a file.
struct touch_graph {
    std::vector<std::vector<std::uint32_t>> before, after; ///< by task: tasks, ascending, each once
    std::vector<std::vector<std::uint32_t>> touches;       ///< by task: files
    std::vector<std::vector<std::uint32_t>> touched_by;    ///< by file: tasks
    std::vector<std::uint64_t> bytes;                      ///< by file
    std::vector<unsigned char> is_given, is_kept;          ///< by file: live from the start; to the end

    std::size_t tasks() const { return touches.size(); }
    std::size_t files() const { return bytes.size(); }

    explicit touch_graph(task_graph const& g)
        : before(g.tasks()), after(g.tasks()), touches(g.tasks()), touched_by(g.files()), bytes(g.bytes),
          is_given(g.files(), 0), is_kept(g.is_kept)
    {
        for (std::uint32_t t = 0; t != g.tasks(); ++t) {
            for (std::uint32_t f : g.makes[t]) touches[t].push_back(f);
            for (std::uint32_t f : g.reads[t]) {
                touches[t].push_back(f);
                before[t].push_back(g.maker[f]);
            }
            std::sort(before[t].begin(), before[t].end());
            before[t].erase(std::unique(before[t].begin(), before[t].end()), before[t].end());
            for (std::uint32_t f : touches[t]) touched_by[f].push_back(t);
            for (std::uint32_t earlier : before[t]) after[earlier].push_back(t);
        }
    }

    void turn_round()
    {
        std::swap(before, after);
        std::swap(is_given, is_kept);
    }
};

/// An order that grows by one ready task at a time, with the bytes that are live after it.
class growing_order {
public:
    explicit growing_order(touch_graph const& g)
        : g_(&g), untouched_(g.files()), waits_(g.tasks()), has_run_(g.tasks(), 0)
    {
        for (std::size_t f = 0; f != g.files(); ++f)
            untouched_[f] = static_cast<std::uint32_t>(g.touched_by[f].size());
        for (std::size_t t = 0; t != g.tasks(); ++t)
            waits_[t] = static_cast<std::uint32_t>(g.before[t].size());
        order_.reserve(g.tasks());
    }

    task_order const& order() const { return order_; }
    bool has_run(std::uint32_t t) const { return has_run_[t] != 0; }
    bool is_ready(std::uint32_t t) const { return !has_run(t) && waits_[t] == 0; }
    bool is_begun(std::uint32_t f) const
    {
        return g_->is_given[f] != 0 || untouched_[f] != g_->touched_by[f].size();
    }
    /// Of the tasks that touch it, how many have not run.
    std::uint32_t untouched(std::uint32_t f) const { return untouched_[f]; }

    /// By how many bytes more are live when `touches` more tasks that touch f have run.
    std::int64_t change(std::uint32_t f, std::uint32_t touches) const
    {
        std::int64_t const begun = is_begun(f) ? 0 : static_cast<std::int64_t>(g_->bytes[f]);
        bool const ends = g_->is_kept[f] == 0 && untouched_[f] == touches;
        return begun - (ends ? static_cast<std::int64_t>(g_->bytes[f]) : 0);
    }
    /// The same when ready task t has run.
    std::int64_t change(std::uint32_t t) const
    {
        std::int64_t sum = 0;
        for (std::uint32_t f : g_->touches[t]) sum += change(f, 1);
        return sum;
    }
    /// Runs a ready task; passes each task that becomes ready to `is_now_ready`.
    template <class IsNowReady>
    void run(std::uint32_t t, IsNowReady&& is_now_ready)
    {
        order_.push_back(t);
        has_run_[t] = 1;
        for (std::uint32_t f : g_->touches[t]) --untouched_[f];
        for (std::uint32_t next : g_->after[t])
            if (--waits_[next] == 0) is_now_ready(next);
    }

private:
    touch_graph const* g_;
    std::vector<std::uint32_t> untouched_; // by file
    std::vector<std::uint32_t> waits_;     // by task
    std::vector<unsigned char> has_run_;   // by task
    task_order order_;
};

/// Throws: std::runtime_error if tasks wait for each other in a cycle.
inline task_order complete(growing_order const& made, touch_graph const& g)
{
    if (made.order().size() != g.tasks())
        throw std::runtime_error("tasks of the graph wait for each other in a cycle");
    return made.order();
}

inline task_order listed_order(touch_graph const& g)
{
    growing_order made(g);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t t = 0; t != g.tasks(); ++t)
        if (made.is_ready(t)) ready.push(t);
    while (!ready.empty()) {
        std::uint32_t const t = ready.top();
        ready.pop();
        made.run(t, [&](std::uint32_t next) { ready.push(next); });
    }
    return complete(made, g);
}

/// Of tasks that become ready together, the one listed first comes first, or last.
inline task_order last_in_first_out(touch_graph const& g, bool is_first_listed_first)
{
    growing_order made(g);
    std::vector<std::uint32_t> ready, newly;
    for (std::uint32_t t = 0; t != g.tasks(); ++t)
        if (made.is_ready(t)) newly.push_back(t);
    for (;;) {
        if (is_first_listed_first) std::reverse(newly.begin(), newly.end());
        ready.insert(ready.end(), newly.begin(), newly.end());
        newly.clear();
        if (ready.empty()) return complete(made, g);
        std::uint32_t const t = ready.back();
        ready.pop_back();
        made.run(t, [&](std::uint32_t next) { newly.push_back(next); });
    }
}

/// Runs `members`, which wait for none but each other, one after the other: the ready one after which the
/// fewest bytes are live, of equals the one listed first. Returns how many files were looked at.
inline std::uint64_t run_greedily(growing_order& made, touch_graph const& g,
                                  std::vector<std::uint32_t> const& members)
{
    std::vector<std::uint32_t> ready;
    for (std::uint32_t t : members)
        if (made.is_ready(t)) ready.push_back(t);
    std::uint64_t work = 0;
    while (!ready.empty()) {
        std::size_t best = 0;
        std::int64_t least = 0;
        for (std::size_t i = 0; i != ready.size(); ++i) {
            std::int64_t const change = made.change(ready[i]);
            work += g.touches[ready[i]].size();
            if (i == 0 || change < least || (change == least && ready[i] < ready[best])) {
                best = i;
                least = change;
            }
        }
        std::uint32_t const t = ready[best];
        ready[best] = ready.back();
        ready.pop_back();
        made.run(t, [&](std::uint32_t next) {
            if (members.size() == g.tasks() || std::binary_search(members.begin(), members.end(), next))
                ready.push_back(next);
        });
    }
    return work;
}

inline task_order greedy_order(touch_graph const& g)
{
    growing_order made(g);
    std::vector<std::uint32_t> all(g.tasks());
    for (std::uint32_t t = 0; t != g.tasks(); ++t) all[t] = t;
    run_greedily(made, g, all);
    return complete(made, g);
}

/// Finishes one file after the other.
class cone_order {
public:
    explicit cone_order(touch_graph const& g) : g_(&g), seen_(g.tasks(), 0), touches_(g.files(), 0) {}

    /// How many tasks and files were looked at.
    std::uint64_t work() const { return work_; }

    /// Begins with file `first`, or with the one that adds the least. Of files that add equally much, the one
    /// with the fewest tasks is next, then the one listed first.
    task_order from(std::optional<std::uint32_t> first)
    {
        growing_order made(*g_);
        std::vector<std::uint32_t> begun, looked_at(g_->files(), 0);
        std::vector<unsigned char> is_listed(g_->files(), 0); // in `begun`, now or earlier
        std::uint32_t round = 0;
        auto begin = [&](std::uint32_t f) {
            if (std::exchange(is_listed[f], 1) == 0) begun.push_back(f);
        };
        for (std::uint32_t f = 0; f != g_->files(); ++f)
            if (g_->is_given[f] != 0) begin(f);
        for (std::optional<std::uint32_t> next = first;; next.reset()) {
            std::vector<std::uint32_t> members;
            if (next) members = cone_of(made, *next);
            // Those that are begun, and those that are touched together with them.
            ++round;
            std::int64_t least = 0;
            auto consider = [&](std::uint32_t f) {
                if (made.untouched(f) == 0 || std::exchange(looked_at[f], round) == round) return;
                std::vector<std::uint32_t> cone = cone_of(made, f);
                std::int64_t const added = added_by(made, cone);
                bool const is_better = !next || added < least ||
                                       (added == least && (cone.size() < members.size() ||
                                                           (cone.size() == members.size() && f < *next)));
                if (!is_better) return;
                least = added;
                next = f;
                members.swap(cone);
            };
            if (!next) {
                for (std::uint32_t f : begun) consider(f);
                for (std::uint32_t f : begun)
                    for (std::uint32_t t : g_->touched_by[f])
                        if (!made.has_run(t))
                            for (std::uint32_t other : g_->touches[t]) consider(other);
                for (std::uint32_t f = 0; begun.empty() && f != g_->files(); ++f) consider(f);
            }
            if (!next) break;
            for (std::uint32_t t : members)
                for (std::uint32_t f : g_->touches[t]) begin(f);
            work_ += run_greedily(made, *g_, members);
            begun.erase(std::remove_if(begun.begin(), begun.end(),
                                       [&](std::uint32_t f) { return made.untouched(f) == 0; }),
                        begun.end());
        }
        std::vector<std::uint32_t> rest; // that touch no file
        for (std::uint32_t t = 0; t != g_->tasks(); ++t)
            if (!made.has_run(t)) rest.push_back(t);
        run_greedily(made, *g_, rest);
        return complete(made, *g_);
    }

private:
    /// The tasks that have to run before no more touch f, ascending.
    std::vector<std::uint32_t> cone_of(growing_order const& made, std::uint32_t f)
    {
        std::vector<std::uint32_t> members;
        ++now_;
        auto add = [&](std::uint32_t t) {
            if (!made.has_run(t) && std::exchange(seen_[t], now_) != now_) members.push_back(t);
        };
        for (std::uint32_t t : g_->touched_by[f]) add(t);
        for (std::size_t i = 0; i != members.size(); ++i) {
            work_ += g_->before[members[i]].size() + 1;
            for (std::uint32_t earlier : g_->before[members[i]]) add(earlier);
        }
        std::sort(members.begin(), members.end());
        return members;
    }
    /// By how many bytes more are live when `members` have run.
    std::int64_t added_by(growing_order const& made, std::vector<std::uint32_t> const& members)
    {
        std::vector<std::uint32_t> files;
        for (std::uint32_t t : members)
            for (std::uint32_t f : g_->touches[t])
                if (touches_[f]++ == 0) files.push_back(f);
        std::int64_t sum = 0;
        for (std::uint32_t f : files) sum += made.change(f, std::exchange(touches_[f], 0));
        work_ += files.size();
        return sum;
    }

    touch_graph const* g_;
    std::vector<std::uint64_t> seen_;    // by task: the last cone that has it
    std::vector<std::uint32_t> touches_; // by file, in one cone
    std::uint64_t now_ = 0;
    std::uint64_t work_ = 0;
};

/// The lowest peak by cones, forwards and turned round, from the best file and from each file first; from
/// some of them, evenly spaced, if that takes more than `most_work`.
inline std::uint64_t peak_by_cones(task_graph const& tasks, std::uint64_t most_work = 40'000'000)
{
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    touch_graph g(tasks);
    for (bool const is_turned : {false, true}) {
        if (is_turned) g.turn_round();
        cone_order cones(g);
        auto try_from = [&](std::optional<std::uint32_t> first) {
            task_order order = cones.from(first);
            if (is_turned) std::reverse(order.begin(), order.end());
            best = std::min(best, painted_peak(tasks, order));
        };
        try_from({});
        std::uint64_t const affordable = std::max<std::uint64_t>(1, most_work / 2 / (cones.work() + 1));
        std::size_t const stride = 1 + g.files() / affordable;
        for (std::size_t first = 0; first < g.files() && cones.work() < most_work / 2; first += stride)
            try_from(static_cast<std::uint32_t>(first));
    }
    return best;
}

} // namespace bench

#endif
