// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_HTML_HPP
#define SUBLET_REPORTING_HTML_HPP

/// Writes one plan, or two to be compared, as one page for a browser, without any other file.
///
///     std::ofstream page("plan.html");
///     write_html(page, plan_memory(program, options), {.names = [&](auto v) { return ir.tensors[v].name; },
///                                                      .program = &program, .options = &options});
///
///     ┌──────────────────────────────┐
///     │ 12 buffers in 9.19 MiB ...   │   a summary in words
///     │ search ____   [x]Conv [x]Add │   by name; by kind of operation
///     │ ┌────────────┐┌────────────┐ │
///     │ │  before    ││  after     │ │   offsets upwards, time to the right; zoom, drag, arrow keys
///     │ └────────────┘└────────────┘ │
///     │ ▂▆▄▄▆██▄▂▂▂▂▄  ▂▆▄▄▆▄▄▂▂▂▂▂▄ │   live bytes, with the lower bound
///     │ conv1: why it lies there     │   the buffer below the pointer, or with the focus
///     │ peak | in place | hand-offs  │   tables
///     └──────────────────────────────┘
///
/// The page holds the plan as data and draws it itself. It loads nothing from elsewhere, and no name can
/// end its script.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/names.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet {

/// What a page shows besides its plans, and its names and labels.
struct html_options {
    names_of<value_id> names = {}; ///< of values; default: their numbers
    names_of<value_id> kinds =
        {};                       ///< of the operation that makes a root: colours and a filter; default: none
    names_of<step_id> steps = {}; ///< of the steps of `program`; default: their numbers
    std::string_view title = "Memory plan"; ///< of the page
    std::string_view before = "before";     ///< the label of the first of two plans
    std::string_view after = "after";       ///< the label of the second
    /// Of the plans: adds the steps that define and last use each buffer.
    snapshot const* program = nullptr;
    /// Of the plans: adds pins and, with a program, the critical path and an order that keeps the hand-offs.
    plan_options const* options = nullptr;
    per_value<std::uint64_t, step_id> duration = std::uint64_t{1}; ///< as in handoff_options
    /// Of plans that are no planner's result; default: the most bytes live at once.
    table<pool_id, byte_count> lower_bounds = {};
};

namespace detail {

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
    bool is_plan = true;                 ///< otherwise it is what was planned before the failure
    html_texts report = {};              ///< the sentence of the planner, if any
    table<pool_id, byte_count> bounds = {}; ///< lower bounds, if known
    std::vector<memory_plan::in_place_gain> in_place = {};
    std::vector<byte_count> handoff_bytes = {};
    byte_count bytes_without = 0; ///< of the arena, without hand-offs
    std::uint64_t critical_path = 0, critical_path_with = 0, makespan = 0;
    bool is_timed = false;           ///< these are known
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

/// The page in memory.
class html_page {
public:
    using row = memory_plan::placed_buffer const*;

    /// Asks for all names.
    html_page(std::vector<html_plan> plans, html_options const& options);

    /// The document; the last character is '\0'.
    [[nodiscard]] std::vector<char> text() const;

private:
    void write_plan(plain_text<html_texts>& out, std::size_t which) const;
    void write_steps(plain_text<html_texts>& out, html_plan const& shown, std::size_t first,
                     std::size_t last) const;
    void keep_handoffs(html_plan& shown) const;
    [[nodiscard]] std::size_t index_of(value_id v) const;

    html_options const& options_;
    std::vector<html_plan> plans_;
    std::vector<html_page::row> rows_; // that are drawn, by plan, then by pool
    std::vector<std::size_t> ends_;    // of the rows, by plan
    std::vector<value_id> values_;     // that have storage, ascending
    html_texts names_, step_names_;    // of these values; by step, or empty
    buffer_kinds kinds_;               // of the rows, or empty
};

} // namespace detail

/// Writes a page about a plan: `planned` is the result of a planner, or a plan by itself. Of a result without
/// a plan, the page says why there is none.
///
/// Requires:   the plan is of `options.program` and `options.options`, if given.
/// Ensures:    one HTML document, which loads nothing. It draws a rectangle for each range of each buffer
///             that has bytes and an offset. Sizes and offsets are exact. In names, kinds and title, control
///             characters are dropped and bytes that are not UTF-8 become '?'. An invalid plan is drawn as it
///             is. Equal input gives equal bytes.
/// Complexity: O(n log n + output), n = buffers + values, and with hand-offs dependences(); a name is asked
///             for once per value with storage, a kind once per buffer, the name of a step once per step.
/// Throws:     precondition_error if the plan is of another program; whatever the stream and the names throw;
///             std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_html(Stream& out, Planned const& planned, html_options const& options = {})
{
    out << detail::html_page({detail::as_html_plan(planned, {})}, options).text().data();
    return out;
}

/// A page about two plans of one program, side by side, with one time axis.
template <detail::text_stream Stream, detail::planned_or_plan Before, detail::planned_or_plan After>
Stream& write_html(Stream& out, Before const& before, After const& after, html_options const& options = {})
{
    out << detail::html_page(
               {detail::as_html_plan(before, options.before), detail::as_html_plan(after, options.after)},
               options)
               .text()
               .data();
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/html.ipp>
#endif

#endif
