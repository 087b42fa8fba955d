// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_EDGES_HPP
#define SUBLET_EXECUTION_EDGES_HPP

/// The edges that a task engine of your own has to keep so that a plan stays right: the direct waits between
/// steps, none implied by others, each with its reason.
///
///     for (auto [from, to, why] : sublet::edges(list, planned).list)
///         std::cout << to << " waits for " << from << '\n';
///
///     0: load -> a        0 ──data─────► 1         1 reads what 0 made
///     1: blur: a -> b     1 ──data─────► 2
///     2: edge: b -> c     1 ──hand-off─► 3         d takes the bytes of a: all readers of a must be done
///     3: load -> d
///
/// Every kind of plan has them in which each step runs once. In a plan for one order each reuse of bytes is a
/// hand-off: less memory, more edges. A plan for every schedule has the hand-offs that it names, if any. Of a
/// plan for every shape, pass the arena of a shape.
///
/// A hand-off out of a branch that is not taken would never come, so a program with branches, made by flow(),
/// is refused: there is no set of edges for it. Runs of the same arenas follow each other: the last steps of
/// one have ended before the first of the next begin.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/internal/name_texts.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// The edges between the steps of a program with a plan.
struct step_edges {
    /// Why a step waits for another; the first that applies.
    enum class reason : std::uint8_t {
        data,      ///< it reads what the other wrote, or makes a view of it
        overwrite, ///< it writes what the other reads or writes: an anti or an output dependence
        control,   ///< an edge of the program, or steps of one node
        given,     ///< a hand-off that the caller gave
        handoff    ///< it reuses bytes that the other touches, or begins a section of a group after another
    };

    /// `to` begins after `from` has ended.
    struct edge {
        step_id from = no_step;                            ///< the step that ends first
        step_id to = no_step;                              ///< the step that waits
        step_edges::reason why = step_edges::reason::data; ///< the reason
        friend bool operator==(step_edges::edge, step_edges::edge) = default;
    };

    std::vector<step_edges::edge> list; ///< sorted by `to`, `from`; unique, and none implied by others
    std::size_t steps = 0;              ///< of the program
    /// The caller's names of steps 0, 1, 2 ..., each ends with '\0': a listing gives those of its steps.
    /// Empty: steps are printed by their numbers.
    std::vector<char> names = {};

    /// How many edges have that reason.
    [[nodiscard]] std::size_t count(step_edges::reason why) const;
};

/// The edges of a plan, as a plan by itself, a planner's result, or the arena of a shape.
///
/// Requires:   as of thread_executor: `options` are those of the plan; hand-offs name steps. The edges of the
///             program, if any, are an order.
/// Ensures:    every run of the steps that keeps the edges, one by one or at the same time, leaves what the
///             steps leave one after another in the order of the plan, or for a plan for every schedule in
///             the listed order. No edge follows from others. The plan and the edges are proved unless
///             `options.check` is off. A pair that the plan hands on and the caller gives, too, is `given`.
/// Complexity: that of run_order_of(), and of the check of the plan.
/// Throws:     unsound_plan if there is no plan, it is not valid for these steps, or a hand-off contradicts
///             the order; precondition_error where a requirement is broken, such as by control flow.
[[nodiscard]] step_edges edges(snapshot const& p, arena const& planned, plan_options const& options,
                               std::vector<handoff> const& handoffs = {});
/// The same for a listing: steps have their names, also in errors.
template <detail::listed L>
[[nodiscard]] step_edges edges(L const& list, arena const& planned, std::vector<handoff> const& handoffs = {})
{
    try {
        return list.named(edges(list.program(), planned, list.options(), handoffs));
    } catch (unsound_plan const& found) {
        throw unsound_plan(list.named(verdict(found.why())).error());
    }
}

namespace detail {

/// The word for a reason, and its colour.
[[nodiscard]] char const* text_of(step_edges::reason why);
[[nodiscard]] char const* color_of(step_edges::reason why);

/// A list of edges in JSON, one a line.
template <text_stream Stream>
void write_json_edges(plain_text<Stream>& text, std::vector<step_edges::edge> const& list)
{
    char const* before = "[\n  ";
    for (step_edges::edge e : list) {
        text << before << "{\"from\": " << e.from << ", \"to\": " << e.to << ", \"why\": \"" << text_of(e.why)
             << "\"}";
        before = ",\n  ";
    }
    text << (list.empty() ? "[]" : "\n ]");
}

} // namespace detail

/// Writes one line to any text stream: how many edges there are, by reason, and each edge. Control characters
/// in names are dropped, and bytes that are not UTF-8 become '?'.
///
/// Complexity: O(output + steps).
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, step_edges const& found)
{
    detail::plain_text<Stream> text{out};
    detail::name_texts<step_id> steps(found.names);
    text << found.list.size() << (found.list.size() == 1 ? " edge" : " edges");
    char const* before = ": ";
    for (auto const why :
         {step_edges::reason::data, step_edges::reason::overwrite, step_edges::reason::control,
          step_edges::reason::given, step_edges::reason::handoff}) {
        if (found.count(why) == 0) continue;
        text << before << found.count(why) << ' ' << detail::text_of(why);
        before = ", ";
    }
    before = "; ";
    for (step_edges::edge e : found.list) {
        text << before;
        steps.write(text, e.from);
        text << " -> ";
        steps.write(text, e.to);
        text << " (" << detail::text_of(e.why) << ')';
        before = ", ";
    }
    return out;
}

/// Draws the edges: a complete file for `dot`. `steps`: names, if not those of the edges.
///
/// Ensures:    one box per step, by its name; one line per edge, labelled and coloured by its reason. Control
///             characters in names are dropped. Equal edges and names give equal bytes.
/// Complexity: O(output); a name is asked for once.
/// Throws:     whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_dot(Stream& out, step_edges const& found, names_of<step_id> const& steps = {})
{
    detail::plain_text<Stream> text{out};
    detail::name_texts<step_id> names(found.names, steps);
    text << "digraph edges {\nnode [shape=box, color=gray40, fontname=Helvetica, fontsize=11, height=0.3, "
            "margin=\"0.12,0.05\"]\n"
            "edge [penwidth=1.6, arrowsize=0.7, fontname=Helvetica, fontsize=9]\n";
    for (step_id s = 0; s != found.steps; ++s) {
        std::vector<char>& name = names.name_of(s);
        detail::escape_dot(name);
        text << 's' << s << " [label=\"";
        for (char c : name) text << c;
        text << "\"]\n";
    }
    for (step_edges::edge e : found.list)
        text << 's' << e.from << " -> s" << e.to << " [label=\" " << detail::text_of(e.why) << "\", color=\""
             << detail::color_of(e.why) << "\"]\n";
    text << "}\n";
    return out;
}

/// Writes the edges as one JSON document. `steps`: names, if not those of the edges.
///
///     {
///      "sublet_edges": 1,
///      "steps": ["load", "blur"],
///      "edges": [
///       {"from": 0, "to": 1, "why": "data"}
///      ]
///     }
///
/// Version 1 of the schema: `steps` are the names by id, `from` and `to` are ids, `why` is "data",
/// "overwrite", "control", "given" or "hand-off".
///
/// Ensures:    it is UTF-8, as what write_json() writes of a plan. Equal edges and names give equal bytes.
/// Complexity: O(output); a name is asked for once.
/// Throws:     whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_json(Stream& out, step_edges const& found, names_of<step_id> const& steps = {})
{
    detail::plain_text<Stream> text{out};
    detail::name_texts<step_id> names(found.names, steps);
    text << "{\n \"sublet_edges\": 1,\n \"steps\": ";
    names.write_json_list(text, found.steps);
    text << ",\n \"edges\": ";
    detail::write_json_edges(text, found.list);
    text << "\n}\n";
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/edges.ipp>
#endif

#endif
