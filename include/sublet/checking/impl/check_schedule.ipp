// SPDX-License-Identifier: BSL-1.0

/// The ends of what each step waits for pass through the joins of the order; steps of a worker, sections of a
/// group and lives of classes are sorted by time.

#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class schedule_checker {
public:
    schedule_checker(snapshot const& p, plan_requirements const& required, plan_options const& options,
                     handoff_options const& wanted, step_schedule const& schedule)
        : p_(p), required_(required), options_(options), wanted_(wanted), times_(schedule.steps)
    {
        auto const duration = wanted.duration.tabulate(p.steps(), "duration");
        for (step_id s = 0; s != p.steps(); ++s) {
            SUBLET_EXPECTS(duration[s] != 0, "sublet: step % has duration 0", s);
            SUBLET_EXPECTS(sum_fits(times_[s].start, duration[s]), "sublet: step % ends beyond 64 bits", s);
            end_.push_back(times_[s].start + duration[s]);
        }
    }

    std::optional<counterexample> why_not(step_order const& order, step_schedule const& claimed) const
    {
        std::optional<counterexample> fact = too_early(order);
        if (!fact) fact = busy_worker();
        for (std::uint32_t i = 0; i != wanted_.groups.size() && !fact; ++i) fact = over_group(i);
        std::uint64_t makespan = 0;
        for (std::uint64_t end : end_) makespan = larger(makespan, end);
        if (!fact && makespan != claimed.makespan)
            fact = counterexample{fault::over_time,
                                  counterexample::place{.end = makespan, .needed = claimed.makespan}};
        if (byte_count const live = live_bytes(); !fact && live > claimed.live_bytes)
            fact = counterexample{fault::over_budget,
                                  counterexample::place{.end = live, .needed = claimed.live_bytes}};
        return fact;
    }

private:
    std::optional<counterexample> too_early(step_order const& order) const
    {
        struct last_end {
            std::uint64_t time = 0;
            step_id step = no_step;
        };
        table<step_order::point, last_end> last(order.position.size()); // of what a step or join waits for
        std::optional<counterexample> first;
        for (step_order::point at : order.step_at) {
            last_end ends = last[at];
            if (at < p_.steps()) {
                step_id const s{at};
                if (times_[s].start < ends.time && (!first || s < first->step()))
                    first = counterexample{fault::too_early, counterexample::timing{.step = s,
                                                                                    .other = ends.step,
                                                                                    .start = times_[s].start,
                                                                                    .end = ends.time}};
                ends = {end_[s], s};
            }
            for (step_order::point next : order.after[at])
                if (last[next].time < ends.time) last[next] = ends;
        }
        return first;
    }

    std::optional<counterexample> busy_worker() const
    {
        std::vector<sort_key> runs; // {worker, start, step}
        for (step_id s = 0; s != p_.steps(); ++s) {
            if (wanted_.workers != 0 && times_[s].worker >= wanted_.workers)
                return counterexample{fault::busy_worker, counterexample::timing{.step = s,
                                                                                 .start = times_[s].start,
                                                                                 .end = wanted_.workers,
                                                                                 .of = times_[s].worker}};
            runs.push_back({times_[s].worker, times_[s].start, s});
        }
        sort_by_key(runs);
        for (std::size_t i = 1; i < runs.size(); ++i) {
            step_id const before{runs[i - 1].id}, s{runs[i].id};
            if (runs[i - 1].key == runs[i].key && end_[before] > runs[i].tie)
                return counterexample{fault::busy_worker, counterexample::timing{.step = s,
                                                                                 .other = before,
                                                                                 .start = times_[s].start,
                                                                                 .end = end_[before],
                                                                                 .of = times_[s].worker}};
        }
        return std::nullopt;
    }

    std::optional<counterexample> over_group(std::uint32_t number) const
    {
        step_group const& group = wanted_.groups[number];
        std::vector<sort_key> events; // {time, 1 for a begin, its step}
        for (std::vector<step_id> const& section : group.sections) {
            if (section.empty()) continue;
            step_id first = section.front();
            std::uint64_t end = 0;
            for (step_id s : section) {
                SUBLET_EXPECTS(s < p_.steps(), "sublet: a section of group % has step %, but there are %",
                               number, s, p_.steps());
                if (times_[s].start < times_[first].start) first = s;
                end = larger(end, end_[s]);
            }
            events.push_back({times_[first].start, 1, first});
            events.push_back({end, 0, first});
        }
        sort_by_key(events);
        std::size_t open = 0;
        for (sort_key const& e : events) {
            if (e.tie == 1 && open >= group.at_once)
                return counterexample{fault::over_group, counterexample::timing{.step = step_id{e.id},
                                                                                .start = e.key,
                                                                                .end = open,
                                                                                .most = group.at_once,
                                                                                .of = number}};
            open = e.tie == 1 ? open + 1 : open - 1;
        }
        return std::nullopt;
    }

    bool may_overwrite(value_id in, value_id out) const
    {
        return required_.is_planned(in) && required_.is_planned(out) &&
               !has_role(required_.class_role[in], value_role::output) &&
               required_.bytes[in] >= required_.bytes[out] && required_.pinned[in] == no_offset &&
               (required_.pool[in] == required_.pool[out] || !options_.pool_choices.empty());
    }

    /// Saturated.
    byte_count live_bytes() const
    {
        table<value_id, std::uint64_t> begin(p_.values(), no_limit), end(p_.values(), 0); // by root
        auto touched = [&](value_id v, step_id s) {
            value_id const r = required_.root[v];
            begin[r] = smaller(begin[r], times_[s].start);
            end[r] = larger(end[r], end_[s]);
        };
        for (step_id s = 0; s != p_.steps(); ++s)
            for (touch t : p_.touches(s)) touched(t.value, s);
        for (edge_use u : p_.edge_uses()) touched(u.value, p_.steps_of(u.pred).last - 1);
        if (options_.in_place)
            for (overwrite o : p_.overwrites()) {
                value_id const in = required_.root[o.in], out = required_.root[o.out];
                if (in != out && end[in] == end_[o.step] && begin[out] == times_[o.step].start &&
                    may_overwrite(in, out))
                    begin[out] = end_[o.step];
            }
        std::vector<sort_key> events; // {time, 1 for a begin, root}
        byte_count most = 0;          // before the first step: what is given
        for (value_id r = 0; r != p_.values(); ++r) {
            if (required_.root[r] != r || !required_.is_planned(r)) continue;
            bool const is_given = has_role(required_.class_role[r], value_role::input);
            bool const is_kept = has_role(required_.class_role[r], value_role::output);
            std::uint64_t const from = is_given ? 0 : begin[r];
            if (is_given && !sum_fits(most, required_.bytes[r])) return no_limit;
            if (is_given) most += required_.bytes[r];
            if (from >= end[r] && !is_kept) continue; // nothing touches it, or it only overwrites, in place
            events.push_back({from, 1, r});
            if (!is_kept) events.push_back({end[r], 0, r});
        }
        sort_by_key(events);
        byte_count live = 0;
        for (sort_key const& e : events) {
            byte_count const bytes = required_.bytes[value_id{e.id}];
            if (e.tie == 1 && !sum_fits(live, bytes)) return no_limit;
            live = e.tie == 1 ? live + bytes : live - bytes;
            most = larger(most, live);
        }
        return most;
    }

    snapshot const& p_;
    plan_requirements const& required_;
    plan_options const& options_;
    handoff_options const& wanted_;
    table<step_id, step_time> const& times_;
    table<step_id, std::uint64_t> end_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_schedule(snapshot const& p, step_schedule const& schedule,
                                   plan_options const& given, handoff_options const& wanted)
{
    detail::expect_no_carried(given, "check_schedule");
    detail::expect_no_apart(given, "check_schedule");
    auto const asked = detail::with_said_views(p, detail::asked_options(given, p.values()));
    plan_options const& options = *asked;
    detail::expect_steps_run_once(p);
    detail::plan_requirements const required = detail::derive_requirements(p, options);
    SUBLET_EXPECTS(schedule.steps.size() == p.steps(),
                   "sublet: the schedule has times for % steps, but the program has %", schedule.steps.size(),
                   p.steps());
    if (auto const unclear = detail::misnamed_view(p, required)) return unclear;
    detail::step_order const order = detail::order_of_steps(p, required, wanted.handoffs);
    std::optional<counterexample> fact = order.fault;
    if (fact) fact->schedule = order.cycle;
    else fact = detail::schedule_checker(p, required, options, wanted, schedule).why_not(order, schedule);
    return fact;
}

} // namespace sublet
