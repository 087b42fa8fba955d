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
#include <sublet/reporting/detail/html_plan.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet {

/// What a page shows besides its plans, and its names and labels.
struct html_options {
    names_of<value_id> names = {}; ///< of values; default: their numbers
    names_of<value_id> kinds =
        {};                       ///< of the operation that makes a root: colours and a filter; default: none
    names_of<step_id> steps = {}; ///< of the steps of `program`; default: their numbers
    std::string_view title = "Memory plan"; ///< of the page
    char const* unit = nullptr;             ///< behind sizes that are no bytes: "qubits"; default: bytes
    std::string_view before = "before";     ///< the label of the first of two plans
    std::string_view after = "after";       ///< the label of the second
    /// Of the plans: adds the steps that define and last use each buffer.
    snapshot const* program = nullptr;
    /// Of the plans: adds pins, what is carried into the next round and, with a program, the critical path and
    /// an order that keeps the hand-offs.
    plan_options const* options = nullptr;
    per_value<std::uint64_t, step_id> duration = std::uint64_t{1}; ///< as in handoff_options
    /// Bytes of the arena and number of hand-offs of plans within other limits: drawn as a curve.
    std::vector<std::pair<byte_count, std::size_t>> waits_within = {};
    /// The same of bytes and `cost`, as advise_limits() gives them.
    std::vector<std::pair<byte_count, byte_count>> cost_within = {};
    /// Of plans that are no planner's result; default: the most bytes live at once.
    table<pool_id, byte_count> lower_bounds = {};
};

namespace detail {

/// The document; the last character is '\0'. Asks for all names.
[[nodiscard]] std::vector<char> html_document(std::vector<html_plan> plans, html_options const& options);

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
    out << detail::html_document({detail::as_html_plan(planned, {})}, options).data();
    return out;
}

/// A page about two plans of one program, side by side, with one time axis.
template <detail::text_stream Stream, detail::planned_or_plan Before, detail::planned_or_plan After>
Stream& write_html(Stream& out, Before const& before, After const& after, html_options const& options = {})
{
    out << detail::html_document(
               {detail::as_html_plan(before, options.before), detail::as_html_plan(after, options.after)},
               options)
               .data();
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/html.ipp>
#endif

#endif
