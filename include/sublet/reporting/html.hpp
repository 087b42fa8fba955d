// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_HTML_HPP
#define SUBLET_REPORTING_HTML_HPP

/// Writes one plan, or two to be compared, as one page for a browser, without any other file.
///
///     std::ofstream page("plan.html");
///     write_html(page, plan_memory(program, options), {.program = &program, .options = &options});
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

#include <sublet/detail/text.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// What a page shows besides its plans, and its labels.
struct html_options {
    std::string_view title = "Memory plan"; ///< of the page
    std::string_view before = "before";     ///< the label of the first of two plans
    std::string_view after = "after";       ///< the label of the second
    /// Of the plans: adds the steps that define and last use each buffer.
    snapshot const* program = nullptr;
    /// Of the plans: adds pins and, with a program, the critical path and an order that keeps the hand-offs.
    plan_options const* options = nullptr;
    per_value<tick_count, step_id> duration = tick_count{1}; ///< as in handoff_options
    /// Of plans that are no planner's result; default: the most bytes live at once.
    table<pool_id, byte_count> lower_bounds = {};
};

namespace detail {

/// A plan, or the result of a planner that assigns offsets.
template <class P>
concept plan_to_show =
    std::same_as<P, memory_plan> || std::same_as<std::remove_cvref_t<decltype(P::plan)>, memory_plan>;

struct no_kinds {};

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
    html_texts report = {};              ///< the sentence of the planner, if any
    table<pool_id, byte_count> bounds = {}; ///< lower bounds, if known
    std::vector<memory_plan::in_place_gain> in_place = {};
    std::vector<byte_count> handoff_bytes = {};
    byte_count bytes_without = 0; ///< of the arena, without hand-offs
    tick_count critical_path = 0, critical_path_with = 0, makespan = 0;
    bool is_timed = false;           ///< these are known
    table<position_id, step_id> order = {}; ///< empty: the plan's
    std::vector<step_id> path = {};         ///< the critical path, if hand-offs are kept
};

template <plan_to_show Planned>
html_plan as_html_plan(Planned const& planned, std::string_view label)
{
    html_plan shown{.label = label};
    if constexpr (std::same_as<Planned, memory_plan>) shown.plan = planned;
    else if constexpr (requires { planned.by_range(); }) shown.plan = planned.by_range();
    else shown.plan = planned.plan;
    if constexpr (requires { planned.figures.pools; }) {
        shown.report << planned.figures;
        for (auto const& pool : planned.figures.pools) shown.bounds.push_back(pool.lower_bound_bytes);
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

/// The page in memory: made from plans, then given the names that it asks for.
class html_page {
public:
    using row = memory_plan::placed_buffer const*;

    html_page(std::vector<html_plan> plans, html_options const& options);

    /// The values that have storage, ascending, and the drawn rows of all plans: of these the page needs the
    /// names and the kinds.
    [[nodiscard]] std::vector<value_id> const& values() const { return values_; }
    [[nodiscard]] std::vector<html_page::row> const& rows() const { return rows_; }
    html_texts names, step_names; ///< by index in `values()`; by step, or empty
    buffer_kinds kinds;           ///< of `rows()`, or empty

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
    std::vector<html_page::row> rows_; // by plan, then by pool
    std::vector<std::size_t> ends_;    // of the rows, by plan
    std::vector<value_id> values_;
};

template <text_stream Stream, class Names, class Kinds, class Steps>
Stream& write_page(Stream& out, std::vector<html_plan> plans, Names& name_of, Kinds& kind_of,
                   Steps& step_name, html_options const& options)
{
    html_page page(std::move(plans), options);
    std::vector<char> name;
    for (value_id v : page.values()) {
        read_name(name, name_of, v);
        page.names.add(name);
    }
    if constexpr (!std::same_as<Kinds, no_kinds>) page.kinds = kinds_of(page.rows(), kind_of);
    if constexpr (!std::same_as<Steps, own_id>)
        for (step_id s = 0; options.program != nullptr && s != options.program->steps(); ++s) {
            read_name(name, step_name, s);
            page.step_names.add(name);
        }
    out << page.text().data();
    return out;
}

} // namespace detail

/// Writes a page about a plan: `planned` is the result of a planner, or a plan by itself. `name_of` names
/// values, `kind_of` the kind of operation that makes a root, `step_name` the steps of `options.program`.
///
/// Requires:   the plan is of `options.program` and `options.options`, if given.
/// Ensures:    one HTML document, which loads nothing. It draws a rectangle for each range of each buffer
///             that has bytes and an offset. Sizes and offsets are exact. In names, kinds and title, control
///             characters are dropped and bytes that are not UTF-8 become '?'. An invalid plan is drawn as it
///             is. Equal input gives equal bytes.
/// Complexity: O(n log n + output), n = buffers + values, and with hand-offs dependences(); `name_of` is
///             called once per value with storage, `kind_of` once per buffer, `step_name` once per step.
/// Throws:     precondition_error if the plan is of another program; whatever the stream and the callables
///             throw; std::bad_alloc.
template <detail::text_stream Stream, detail::plan_to_show Planned, detail::name_function Names,
          detail::name_function Kinds, detail::name_function<step_id> Steps>
Stream& write_html(Stream& out, Planned const& planned, Names name_of, Kinds kind_of, Steps step_name,
                   html_options const& options = {})
{
    return detail::write_page(out, {detail::as_html_plan(planned, {})}, name_of, kind_of, step_name, options);
}

/// The same with the numbers of steps as their names.
template <detail::text_stream Stream, detail::plan_to_show Planned, detail::name_function Names,
          detail::name_function Kinds>
Stream& write_html(Stream& out, Planned const& planned, Names name_of, Kinds kind_of,
                   html_options const& options = {})
{
    return write_html(out, planned, name_of, kind_of, detail::own_id{}, options);
}

/// The same without kinds.
template <detail::text_stream Stream, detail::plan_to_show Planned,
          detail::name_function Names = detail::own_id>
Stream& write_html(Stream& out, Planned const& planned, Names name_of = {}, html_options const& options = {})
{
    detail::no_kinds kinds;
    detail::own_id steps;
    return detail::write_page(out, {detail::as_html_plan(planned, {})}, name_of, kinds, steps, options);
}

/// The same with numbers as names.
template <detail::text_stream Stream, detail::plan_to_show Planned>
Stream& write_html(Stream& out, Planned const& planned, html_options const& options)
{
    return write_html(out, planned, detail::own_id{}, options);
}

/// A page about two plans of one program, side by side, with one time axis.
template <detail::text_stream Stream, detail::plan_to_show Before, detail::plan_to_show After,
          detail::name_function Names, detail::name_function Kinds, detail::name_function<step_id> Steps>
Stream& write_html(Stream& out, Before const& before, After const& after, Names name_of, Kinds kind_of,
                   Steps step_name, html_options const& options = {})
{
    return detail::write_page(
        out, {detail::as_html_plan(before, options.before), detail::as_html_plan(after, options.after)},
        name_of, kind_of, step_name, options);
}

/// The same with the numbers of steps as their names.
template <detail::text_stream Stream, detail::plan_to_show Before, detail::plan_to_show After,
          detail::name_function Names, detail::name_function Kinds>
Stream& write_html(Stream& out, Before const& before, After const& after, Names name_of, Kinds kind_of,
                   html_options const& options = {})
{
    return write_html(out, before, after, name_of, kind_of, detail::own_id{}, options);
}

/// The same without kinds.
template <detail::text_stream Stream, detail::plan_to_show Before, detail::plan_to_show After,
          detail::name_function Names = detail::own_id>
Stream& write_html(Stream& out, Before const& before, After const& after, Names name_of = {},
                   html_options const& options = {})
{
    detail::no_kinds kinds;
    detail::own_id steps;
    return detail::write_page(
        out, {detail::as_html_plan(before, options.before), detail::as_html_plan(after, options.after)},
        name_of, kinds, steps, options);
}

/// The same with numbers as names.
template <detail::text_stream Stream, detail::plan_to_show Before, detail::plan_to_show After>
Stream& write_html(Stream& out, Before const& before, After const& after, html_options const& options)
{
    return write_html(out, before, after, detail::own_id{}, options);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/html.ipp>
#endif

#endif
