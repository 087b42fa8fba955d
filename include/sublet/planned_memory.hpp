// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNED_MEMORY_HPP
#define SUBLET_PLANNED_MEMORY_HPP

/// The result of a planner: the plan, a report of its sizes and bounds, and a witness if it is invalid.
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
    byte_count lower_bound_bytes = 0; ///< of every plan for the same reading and order
    byte_count arena_bytes = 0;
    step_id peak_position = 0; ///< at which the lower bound is live, if there is an order
};

/// Sizes and bounds of a plan: sums over pools (the position is pool 0's), and each pool by itself.
struct plan_report : pool_report {
    program_reading reading = program_reading::sequential;
    bool is_scheduled = false; ///< the bound is of plans under the schedule that the hand-offs keep
    std::size_t steps = 0;
    std::size_t values = 0;
    std::size_t buffers = 0;        ///< planned ones of more than 0 bytes, after in-place decisions
    std::vector<pool_report> pools; ///< by pool
    std::vector<value_id> largest;  ///< the roots of the five largest buffers, largest first
    double seconds = 0;             ///< processor time from the program to the checked plan
    /// For every schedule: a work budget ended the search for the bound or for offsets, at a cost of at most
    /// gap(). With hand-offs: more steps wait than may be needed.
    bool is_cut_short = false;
    bool is_checked = false; ///< check_plan has run: a sound plan is proved

    /// By how much the arenas exceed the bound: 0.02 is two percent.
    [[nodiscard]] double gap() const
    {
        if (arena_bytes <= lower_bound_bytes) return 0; // lower: a pool with invalid pins was not placed
        return static_cast<double>(arena_bytes) / static_cast<double>(lower_bound_bytes) - 1;
    }
};

struct planned_memory {
    memory_plan plan;
    plan_report report;
    std::vector<memory_plan::in_place_gain> in_place = {}; ///< the pairs that the plan uses, by step
    std::optional<witness> refuted; ///< why there is no valid plan; if set, do not use the plan

    /// The plan is valid as far as it was checked.
    [[nodiscard]] bool is_sound() const { return !refuted; }

    /// The values with an offset, ascending: those to write back into an IR.
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

/// A sum that exceeds 64 bits saturates.
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

/// Writes one line to any text stream, with rounded sizes; the members of the report are exact.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, plan_report const& r)
{
    detail::plain_text<Stream> text{out};
    detail::write_bytes(text, r.arena_bytes);
    text << " instead of ";
    detail::write_bytes(text, r.naive_bytes);
    text << "; no plan ";
    if (r.is_scheduled) text << "in this schedule";
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
