// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_HTML_PLAN_HPP
#define SUBLET_REPORTING_DETAIL_HTML_PLAN_HPP

/// What a page shows of one plan: the plan, with a row for each range of a buffer, and of the planner's
/// result whatever it has besides, found by its members: figures, in-place pairs, hand-offs, times. So the
/// page is compiled once, for all results.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/internal/printable_text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

/// Printable texts, one after the other.
struct html_texts {
    std::vector<char> text;
    std::vector<std::size_t> ends;

    void operator<<(char one) { text.push_back(one); }
    void operator<<(char const* ascii)
    {
        for (; *ascii != '\0'; ++ascii) text.push_back(*ascii);
    }
    void add(std::vector<char>& name)
    {
        keep_printable(name);
        text.insert(text.end(), name.begin(), name.end());
        ends.push_back(text.size());
    }
    [[nodiscard]] std::string_view operator[](std::size_t i) const
    {
        std::size_t const first = i == 0 ? 0 : ends[i - 1];
        return {text.data() + first, ends[i] - first};
    }
};

/// One plan of a page, with what only its planner has.
struct html_plan {
    memory_plan plan = {}; ///< one row for each range
    std::string_view label = {};
    bool is_plan = true;                    ///< otherwise it is what was planned before the failure
    html_texts report = {};                 ///< the sentence of the planner, if any
    table<pool_id, byte_count> bounds = {}; ///< lower bounds, if known
    std::vector<memory_plan::in_place_gain> in_place = {};
    std::vector<byte_count> handoff_bytes = {};
    byte_count bytes_without = 0; ///< of the arena, without hand-offs
    std::uint64_t critical_path = 0, critical_path_with = 0, makespan = 0;
    bool is_timed = false;                  ///< these are known
    table<position_id, step_id> order = {}; ///< empty: the plan's
    std::vector<step_id> path = {};         ///< the critical path, if hand-offs are kept
};

/// Without a plan the sentence says so.
template <planned_or_plan Planned>
html_plan as_html_plan(Planned const& planned, std::string_view label)
{
    html_plan shown{.label = label};
    if constexpr (std::same_as<Planned, memory_plan>) shown.plan = planned;
    else if constexpr (requires { planned.by_range(); }) shown.plan = planned.by_range();
    else shown.plan = planned.plan;
    if constexpr (!std::same_as<Planned, memory_plan>) shown.is_plan = static_cast<bool>(planned);
    if constexpr (requires { planned.figures.pools; }) {
        shown.report << planned.figures;
        for (auto const& pool : planned.figures.pools) shown.bounds.push_back(pool.lower_bound_bytes);
    } else if constexpr (!std::same_as<Planned, memory_plan>) {
        if (!shown.is_plan) plain_text<html_texts>{shown.report} << "no plan: " << planned.error();
    }
    if constexpr (requires { planned.in_place; }) shown.in_place = planned.in_place;
    if constexpr (requires { planned.critical_path_with; }) {
        shown.handoff_bytes = planned.handoff_bytes;
        shown.bytes_without = planned.bytes_without;
        shown.critical_path = planned.critical_path;
        shown.critical_path_with = planned.critical_path_with;
        shown.makespan = planned.makespan;
        shown.is_timed = true;
    }
    return shown;
}

} // namespace sublet::detail

#endif
