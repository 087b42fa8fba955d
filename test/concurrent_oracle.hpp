// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CONCURRENT_ORACLE_HPP
#define SUBLET_TEST_CONCURRENT_ORACLE_HPP

/// Decides by brute force whether a plan for concurrent steps is valid: runs them in all orders.
///
///     done {0, 1}   memory  a a b b      step 2 may run, and reads a: it finds a
///     done {0, 2}   memory  c c - -      step 1 may run, and reads a: it finds c, the plan is wrong
///
/// Memory is a row of cells, each with the class that was last written there. A state is the set of finished
/// tasks and the contents of all cells; every state that some order reaches is visited once.

#include "random_tasks.hpp"
#include "view_sizes.hpp"

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

/// A plan of tasks with all sizes and offsets multiples of a cell.
class concurrent_oracle {
public:
    static constexpr sublet::byte_count cell = 8;
    using ids = std::vector<sublet::value_id>;

    concurrent_oracle(random_tasks const& tasks, sublet::memory_plan const& plan, bool in_place = true)
        : tasks_(tasks), plan_(plan), in_place_(in_place), waits_for_(tasks.tasks.size())
    {
        for (sublet::value_id v = 0; v != tasks.values(); ++v) root_.push_back(root_of(tasks.alias_of, v));
        for (std::size_t t = 0; t != tasks.tasks.size(); ++t) {
            for (auto next : tasks.tasks[t].next) waits_for_[next].push_back(t);
            for (auto const* row : {&tasks.tasks[t].uses, &tasks.tasks[t].early})
                for (auto v : *row)
                    for (std::size_t d = 0; d != tasks.tasks.size(); ++d)
                        if (holds(tasks.tasks[d].defs, v)) waits_for_[t].push_back(d);
        }
        for (std::size_t t = 0; t != tasks.tasks.size(); ++t) // a view is made after its root
            for (auto v : tasks.tasks[t].defs)
                for (std::size_t d = 0; d != tasks.tasks.size(); ++d)
                    if (d != t && root_[v] != v && holds(tasks.tasks[d].defs, root_[v]))
                        waits_for_[t].push_back(d);
        for (sublet::handoff h : plan.handoffs) waits_for_[h.to].push_back(h.from);
        for (sublet::byte_count bytes : plan.arena_bytes) {
            pool_begin_.push_back(cells_);
            cells_ += (bytes + cell - 1) / cell;
        }
    }

    /// In some order of the tasks a task, or the reader of an output at the end, finds bytes that were not
    /// written for it.
    bool has_corruption() const
    {
        std::set<state> seen{begin()};
        std::vector<state> open(seen.begin(), seen.end());
        while (!open.empty()) {
            state const now = std::move(open.back());
            open.pop_back();
            bool is_last = true;
            for (std::size_t t = 0; t != tasks_.tasks.size(); ++t) {
                if (!may_run(now, t)) continue;
                is_last = false;
                state then = now;
                if (!run(then, t)) return true;
                if (seen.insert(then).second) open.push_back(then);
            }
            if (is_last && !outputs_are_there(now)) return true;
        }
        return false;
    }

    /// A clash is of two given values that share these bytes. The schedule of one that is written over names
    /// every task once, in a possible order, and there a task finds bytes that were not written for it; or
    /// two tasks that may run concurrently write the same bytes, which are never read.
    bool confirms(sublet::counterexample const& why) const
    {
        auto const* w = why.as<sublet::counterexample::overlap>();
        if (w == nullptr || !share(*w)) return false;
        if (why.what == sublet::fault::clash)
            return is_given(w->value) && is_given(w->other) && w->step == sublet::no_step &&
                   why.schedule.empty();
        if (why.what != sublet::fault::overwritten) return false;
        if (w->position >= why.schedule.size() || why.schedule[w->position] != w->step) return false;
        if (!writes(w->step, w->other)) return false;
        if (w->needed_at == sublet::no_step ? !is_kept(w->value) : !touches(w->needed_at, w->value))
            return false;
        state now = begin();
        bool finds_all = true, was_there = false, is_needed_after = w->needed_at == sublet::no_step;
        for (std::size_t i = 0; i != why.schedule.size(); ++i) {
            std::size_t const t = why.schedule[i];
            if (t >= tasks_.tasks.size() || !may_run(now, t)) return false;
            if (i <= w->position && writes(t, w->value)) was_there = true;
            if (i >= w->position && t == w->needed_at) is_needed_after = true;
            finds_all = run(now, t) && finds_all;
        }
        if (why.schedule.size() != tasks_.tasks.size()) return false;
        finds_all = outputs_are_there(now) && finds_all;
        if (is_only_written(w->value) && is_only_written(w->other))
            return w->needed_at == w->step ||
                   (w->position != 0 && why.schedule[w->position - 1] == w->needed_at &&
                    !waits(w->step, w->needed_at) && writes(w->needed_at, w->value));
        return !finds_all && is_needed_after && (was_there || is_given(w->value));
    }

    /// The class is never read, and is no output.
    bool is_only_written(sublet::value_id r) const
    {
        for (auto const& task : tasks_.tasks)
            for (auto const* row : {&task.uses, &task.early})
                for (auto v : *row)
                    if (root_[v] == r) return false;
        return !is_kept(r) && !is_given(r);
    }
    bool share_bytes(sublet::value_id u, sublet::value_id v) const
    {
        auto const [b, e] = place(u);
        auto const [c, f] = place(v);
        return b < f && c < e;
    }
    sublet::value_id root(sublet::value_id v) const { return root_[v]; }
    bool is_placed(sublet::value_id v) const { return plan_.buffer_of[v] != sublet::no_buffer; }

private:
    static constexpr sublet::value_id clobbered = sublet::no_value - 1;

    struct state {
        std::vector<bool> done;
        ids memory; // by cell: its class
        friend bool operator<(state const& a, state const& b)
        {
            return a.done != b.done ? a.done < b.done : a.memory < b.memory;
        }
    };

    static bool holds(ids const& row, sublet::value_id v)
    {
        return std::find(row.begin(), row.end(), v) != row.end();
    }
    bool is_role(sublet::value_id r, sublet::value_role role) const
    {
        for (sublet::value_id v = 0; v != tasks_.values(); ++v)
            if (root_[v] == r && has_role(tasks_.role[v], role)) return true;
        return false;
    }
    bool is_given(sublet::value_id r) const { return is_role(r, sublet::value_role::input); }
    bool is_kept(sublet::value_id r) const { return is_role(r, sublet::value_role::output); }

    /// The cells of v's class; none if it has no offset.
    std::pair<std::size_t, std::size_t> place(sublet::value_id v) const
    {
        if (!is_placed(v)) return {0, 0};
        sublet::memory_plan::placed_buffer const& b = plan_.buffers[plan_.buffer_of[v]];
        std::size_t const first = pool_begin_[b.pool] + b.offset / cell;
        return {first, first + tasks_.bytes[root_[v]] / cell};
    }
    bool is_there(state const& now, sublet::value_id v) const
    {
        auto const [first, last] = place(v);
        for (std::size_t c = first; c != last; ++c)
            if (now.memory[c] != root_[v]) return false;
        return true;
    }
    bool outputs_are_there(state const& now) const
    {
        for (sublet::value_id v = 0; v != tasks_.values(); ++v)
            if (has_role(tasks_.role[v], sublet::value_role::output) && !is_there(now, v)) return false;
        return true;
    }
    state begin() const
    {
        state now{std::vector<bool>(tasks_.tasks.size()), ids(cells_, sublet::no_value)};
        for (sublet::value_id v = 0; v != tasks_.values(); ++v) {
            if (!has_role(tasks_.role[v], sublet::value_role::input)) continue;
            auto const [first, last] = place(v);
            for (std::size_t c = first; c != last; ++c)
                now.memory[c] =
                    now.memory[c] == sublet::no_value || now.memory[c] == root_[v] ? root_[v] : clobbered;
        }
        return now;
    }
    bool may_run(state const& now, std::size_t t) const
    {
        if (now.done[t]) return false;
        for (std::size_t d : waits_for_[t])
            if (!now.done[d]) return false;
        return true;
    }
    /// Whether t waits for d, directly or indirectly.
    bool waits(std::size_t t, std::size_t d) const
    {
        for (std::size_t before : waits_for_[t])
            if (before == d || waits(before, d)) return true;
        return false;
    }

    /// Run a task; whether it finds all its operands.
    bool run(state& now, std::size_t t) const
    {
        auto const& task = tasks_.tasks[t];
        bool finds_all = true;
        for (auto const* row : {&task.early, &task.uses})
            for (auto v : *row) finds_all = finds_all && is_there(now, v);
        std::vector<bool> is_written(cells_);
        for (auto out : task.defs) {
            auto const [first, last] = place(out);
            for (std::size_t c = first; c != last; ++c) {
                // The order in which a task writes two results is unknown.
                now.memory[c] = is_written[c] && now.memory[c] != root_[out] ? clobbered : root_[out];
                is_written[c] = true;
            }
        }
        // Operands not read early are read while the results are written.
        for (auto in : task.uses) {
            auto const [first, last] = place(in);
            for (std::size_t c = first; c != last; ++c)
                if (now.memory[c] != root_[in] && !may_be_over(task, in, now.memory[c])) finds_all = false;
        }
        now.done[t] = true;
        return finds_all;
    }
    /// Whether the task may write class `over` where it reads `in`.
    bool may_be_over(random_tasks::task const& task, sublet::value_id in, sublet::value_id over) const
    {
        if (!in_place_ || over == clobbered) return false;
        for (auto const* row : {&task.early, &task.uses}) // with two operands, neither is overwritten
            for (auto v : *row)
                if (root_[v] == root_[in] && v != in) return false;
        for (auto [from, to] : task.pairs)
            if (from == in && root_[to] == over && place(in).first == place(to).first &&
                place(to).second <= place(in).second)
                return true;
        return false;
    }

    bool writes(std::size_t t, sublet::value_id r) const
    {
        for (auto v : tasks_.tasks[t].defs)
            if (root_[v] == r) return true;
        return false;
    }
    bool touches(std::size_t t, sublet::value_id r) const
    {
        for (auto const* row : {&tasks_.tasks[t].uses, &tasks_.tasks[t].early})
            for (auto v : *row)
                if (root_[v] == r) return true;
        return writes(t, r);
    }
    /// Both values lie in the bytes, of which there are some.
    bool share(sublet::counterexample::overlap const& w) const
    {
        return w.begin < w.end && lies_in(w.value, w) && lies_in(w.other, w);
    }
    bool lies_in(sublet::value_id r, sublet::counterexample::overlap const& w) const
    {
        auto const [first, last] = place(r);
        return w.pool < pool_begin_.size() && pool_begin_[w.pool] + w.begin / cell >= first &&
               pool_begin_[w.pool] + w.end / cell <= last;
    }

    random_tasks const& tasks_;
    sublet::memory_plan const& plan_;
    bool in_place_;
    ids root_;
    std::vector<std::vector<std::size_t>> waits_for_; // by task
    std::vector<std::size_t> pool_begin_;             // the first cell of each pool
    std::size_t cells_ = 0;
};

#endif
