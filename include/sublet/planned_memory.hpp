// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNED_MEMORY_HPP
#define SUBLET_PLANNED_MEMORY_HPP

/// What a planner returns: the plan, what it costs, and what speaks against it.
///
///     9.19 MiB instead of 143.28 MiB; no plan in this order goes below 9.19 MiB

#include <sublet/checking/witness.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/detail/text.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

struct pool_report {
    byte_count naive_bytes = 0;       ///< if every buffer had storage of its own
    byte_count lower_bound_bytes = 0; ///< what no plan for the same reading and order goes below
    byte_count arena_bytes = 0;
    step_id peak_position = 0; ///< where the lower bound is alive, if there is an order
};

/// What a plan costs and what it saves. Sums over pools (the position is pool 0's), and each pool by itself.
struct plan_report : pool_report {
    program_reading reading = program_reading::sequential;
    bool is_scheduled = false; ///< the bound is that of plans in the clock that the hand-offs keep
    std::size_t steps = 0;
    std::size_t values = 0;
    std::size_t buffers = 0;        ///< planned ones: of more than 0 bytes, after in-place decisions
    std::vector<pool_report> pools; ///< by pool
    std::vector<value_id> largest;  ///< the roots of the five largest buffers, largest first
    double seconds = 0;             ///< processor time from the program to the checked plan
    /// For every schedule: a budget of work ended the search for the bound, or for offsets, before its end.
    /// What that cost is no more than gap(). With hand-offs: more steps wait than may be needed.
    bool is_cut_short = false;
    bool is_checked = false; ///< check_plan has looked at it: proved, if it is sound

    /// How far the arenas lie above the bound: 0.02 is two percent.
    [[nodiscard]] double gap() const
    {
        if (arena_bytes <= lower_bound_bytes) return 0; // below: a pool was not placed, its pins are wrong
        return static_cast<double>(arena_bytes) / static_cast<double>(lower_bound_bytes) - 1;
    }
};

struct planned_memory {
    memory_plan plan;
    plan_report report;
    std::vector<memory_plan::in_place_gain> in_place = {}; ///< the pairs that the plan makes use of, by step
    std::optional<witness> refuted; ///< why there is no sound plan; the plan then must not be used

    /// There is a plan, and nothing speaks against it.
    [[nodiscard]] bool is_sound() const { return !refuted; }

    /// The values that the plan gives an offset, ascending: what is to be written back into an IR.
    [[nodiscard]] std::vector<value_id> values() const
    {
        std::vector<value_id> placed;
        for (std::size_t v = 0; v != plan.buffer_of.size(); ++v)
            if (plan.offset_of(static_cast<value_id>(v)) != no_offset)
                placed.push_back(static_cast<value_id>(v));
        return placed;
    }
};

namespace detail {

/// Sizes by pool and in all. Sums that leave 64 bits stay at their largest: "or more".
template <class Placement>
void fill_report(plan_report& report, Placement const& placed, memory_plan const& plan)
{
    auto add = [](byte_count& sum, byte_count more) { sum = sum_fits(sum, more) ? sum + more : no_size - 1; };
    std::vector<sort_key> by_size;
    report.buffers = plan.buffers.size();
    report.pools = std::vector<pool_report>(placed.pools.size());
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        add(report.pools[b.pool].naive_bytes, b.size);
        by_size.push_back({descending(b.size), 0, b.root});
    }
    sort_by_key(by_size);
    for (std::size_t i = 0; i != by_size.size() && i != 5; ++i) report.largest.push_back(by_size[i].id);
    for (std::size_t i = 0; i != placed.pools.size(); ++i) {
        pool_report& pool = report.pools[i];
        pool.lower_bound_bytes = placed.pools[i].lower_bound;
        pool.arena_bytes = placed.pools[i].height;
        pool.peak_position = placed.pools[i].peak_position;
        add(report.naive_bytes, pool.naive_bytes);
        add(report.lower_bound_bytes, pool.lower_bound_bytes);
        add(report.arena_bytes, pool.arena_bytes);
    }
    if (!report.pools.empty()) report.peak_position = report.pools.front().peak_position;
}

} // namespace detail

/// One line to any stream of text, rounded, for people; the members of the report are exact.
///
///     9.19 MiB instead of 143.28 MiB; no plan in this order goes below 9.19 MiB
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, plan_report const& r)
{
    detail::plain_text<Stream> text{out};
    detail::write_bytes(text, r.arena_bytes);
    text << " instead of ";
    detail::write_bytes(text, r.naive_bytes);
    text << "; no plan ";
    if (r.is_scheduled) text << "in this clock";
    else if (r.reading == program_reading::concurrent) text << "for every schedule";
    else if (r.reading == program_reading::control_flow) text << "for every path";
    else text << "in this order";
    text << " goes below ";
    detail::write_bytes(text, r.lower_bound_bytes);
    if (r.is_cut_short) text << "; the budget of work was spent before the search was over";
    return out;
}

} // namespace sublet

#endif
