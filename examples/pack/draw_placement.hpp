// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_DRAW_PLACEMENT_HPP
#define SUBLET_EXAMPLES_PACK_DRAW_PLACEMENT_HPP

#include "read_lifetimes.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>

namespace pack {

/// The occupied rectangles of each buffer: one between two gaps, and one per window; `splits`: what lies behind
/// a period is drawn at its begin. As a plan, so that it can be drawn: its values are the buffers.
inline sublet::memory_plan occupied_parts(sublet::placement_problem const& problem,
                                          sublet::placement const& placed, bool splits = true)
{
    sublet::memory_plan plan;
    plan.arena_bytes = {placed.pools[0].height};
    auto gap = problem.gaps.begin(); // sorted by buffer, then by time, as read
    for (sublet::buffer_id b = 0; b != problem.buffers.size(); ++b) {
        sublet::live_range rest = problem.buffers[b].life;
        auto add = [&](sublet::live_range when, sublet::byte_count begin, sublet::byte_count end) {
            if (placed.offset[b] == sublet::no_offset || is_empty(when) || begin == end) return;
            std::uint32_t const period = problem.period == 0 || !splits ? +when.last : problem.period;
            for (sublet::live_range part : {sublet::live_range{when.first, std::min(+when.last, period)},
                                            sublet::live_range{std::max(+when.first, period) - period,
                                                               std::max(+when.last, period) - period}})
                if (!is_empty(part))
                    plan.buffers.push_back(
                        {.root = +b, .life = part, .size = end - begin, .offset = placed.offset[b] + begin});
        };
        for (; gap != problem.gaps.end() && gap->buffer == b; ++gap) {
            sublet::live_range const when{std::max(gap->when.first, rest.first),
                                          std::min(gap->when.last, rest.last)};
            if (is_empty(when)) continue;
            add({rest.first, when.first}, 0, problem.buffers[b].size);
            add(when, gap->begin, gap->end);
            rest.first = when.last;
        }
        add(rest, 0, problem.buffers[b].size);
    }
    return plan;
}

/// The placement that the table prescribes and prefers, if it does so for every buffer.
inline bool is_placed_by_hints(sublet::placement_problem const& problem, sublet::placement& hinted)
{
    hinted.offset.clear();
    hinted.pools = {{}};
    for (sublet::placement_problem::buffer const& b : problem.buffers) {
        sublet::byte_count const offset = b.pinned != sublet::no_offset ? b.pinned : b.preferred;
        bool const is_needed = b.size != 0 && !is_empty(b.life);
        if (is_needed && (offset == sublet::no_offset || offset >= sublet::no_offset - b.size)) return false;
        hinted.offset.push_back(is_needed ? offset : 0);
        if (is_needed) hinted.pools[0].height = std::max(hinted.pools[0].height, offset + b.size);
    }
    return true;
}

inline void write_page(std::ostream& out, lifetimes const& table, sublet::placement const& placed,
                       bool with_before, std::string const& title)
{
    auto id_of = [&](sublet::value_id v) { return table.id_of(+v); };
    sublet::memory_plan const plan = occupied_parts(table.problem, placed);
    sublet::plan_options const pins{.bytes = 0,
                                    .pinned = [&](auto v) { return table.problem.buffers[+v].pinned; }};
    sublet::html_options page{.names = id_of,
                              .title = title,
                              .before = "before the search",
                              .after = "placed",
                              .options = &pins,
                              .lower_bounds = {placed.pools[0].lower_bound}};
    if (!with_before) {
        sublet::write_html(out, plan, page);
        return;
    }
    sublet::placement before;
    if (is_placed_by_hints(table.problem, before)) page.before = "as the table says";
    else before = sublet::place(table.problem, {.effort = sublet::effort::fast});
    sublet::write_html(out, occupied_parts(table.problem, before), plan, page);
}

inline void draw_placement(std::ostream& out, lifetimes const& table, sublet::placement const& placed,
                           std::string const& title)
{
    sublet::write_svg(
        out, occupied_parts(table.problem, placed, false),
        {.names = [&](auto v) { return table.id_of(+v); }, .title = title, .period = table.problem.period});
}

inline void trace_placement(std::ostream& out, lifetimes const& table, sublet::placement const& placed)
{
    sublet::write_trace(out, occupied_parts(table.problem, placed),
                        {.names = [&](auto v) { return table.id_of(+v); }});
}

} // namespace pack

#endif
