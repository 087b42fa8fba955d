// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DOT_HPP
#define SUBLET_REPORTING_DOT_HPP

/// Writes a program as a graph for Graphviz, with the slots of its values as colours.
///
///      (image)                an input: an ellipse
///         │
///     ┌───▼──┐                a step: a box in the colours of its results' slots
///     │ conv │▒▒▒
///     └───┬──┘
///         ┃                   a value and its use, in the colour of its slot,
///     ┌───▼──┐                bold where the user may compute its result in place
///     │ relu │▒▒▒
///     └──────┘                the same colour again: the slot is reused
///
/// You pass the slot of each value: `{.slots = colored.plan.slot_of}` after color() of a program; after
/// color() over the buffers of a plan it is slots.slot_of[plan.buffer_of[v]], if the value has a buffer. The
/// colour depends on the number of the slot only, in integers: hues a golden section apart, so that
/// neighbouring slots differ clearly.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/detail/dot_writer.hpp>
#include <sublet/reporting/names.hpp>

#include <string_view>
#include <vector>

namespace sublet {

/// What is drawn, with which names, and in which direction.
struct dot_options {
    per_value<slot_id> slots = no_slot; ///< of each value; `no_slot`: it has none
    names_of<value_id> names = {};      ///< of values; default: "value 7"
    names_of<step_id> steps = {};       ///< of steps; default: "step 7"
    std::string_view title = "";        ///< above the graph
    bool value_names = false;           ///< at the edges; otherwise as tooltips
    bool sideways = false;              ///< time from left to right instead of downwards
    bool given_without_slot = true;     ///< draw inputs without a slot: often many, such as weights
};

/// Draws the program: a complete file for `dot`.
///
/// Ensures:    one box per step, and a frame around the steps of a node that has several. Dashed grey edges
///             give the order of steps within nodes and from node to node. An edge leads from the last def
///             of a value before a use, in the order of the steps, once to each step that uses it; dotted,
///             to the first step of the node that uses it at the end of a predecessor. Without an earlier
///             def, it leads from the last def of all if some edge of the graph leads back, otherwise from
///             an input. Bold: the step declares that it may overwrite the value. Control characters in
///             names are dropped. Equal programs, slots and names give equal bytes.
/// Complexity: O(output + values), plus sorting the slots and the uses at ends of predecessors; a slot is
/// asked
///             for once per value, the name of a step once per step, that of a value at most twice per edge,
///             def and input.
/// Throws:     precondition_error if a table of slots has not one entry per value; whatever the stream, the
///             slots and the names throw; std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_dot(Stream& out, snapshot const& p, dot_options const& options = {})
{
    table<value_id, slot_id> const slots = options.slots.tabulate(p.values(), "slots");
    detail::dot_writer<Stream> writer(out, slots, options.names, options.steps);
    detail::plain_text<Stream> text{out};
    std::vector<char> title;
    for (char c : options.title) title.push_back(c);
    text << "digraph program {\nlabel=\"";
    writer.write_text(title);
    text << "\"; labelloc=t; rankdir=" << (options.sideways ? "LR" : "TB")
         << "; ranksep=0.3; nodesep=0.2; color=gray60; fontname=Helvetica; fontsize=11\n"
            "node [shape=box, style=filled, fillcolor=white, color=gray40, fontname=Helvetica, fontsize=11, "
            "height=0.3, margin=\"0.12,0.05\"]\n"
            "edge [penwidth=1.6, arrowsize=0.7, fontname=Helvetica, fontsize=9]\n";

    bool has_backward_edge = false;
    table<value_id, step_id> last_def(p.values(), no_step);
    std::vector<value_id> defs;
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const range = p.steps_of(n);
        bool const is_cluster = range.last - range.first > 1;
        if (is_cluster) text << "subgraph cluster_" << n << " {\nlabel=\"node " << n << "\"\n";
        for (step_id s = range.first; s != range.last; ++s) {
            defs.clear();
            for (touch t : p.touches(s)) {
                if (!t.defines() || last_def[t.value] == s) continue;
                last_def[t.value] = s;
                defs.push_back(t.value);
            }
            writer.write_step(s, defs);
        }
        for (step_id s = range.first + 1; s != range.last; ++s) writer.write_order_edge(s - 1, s);
        if (is_cluster) text << "}\n";
        for (node_id next : p.successors(n)) has_backward_edge = has_backward_edge || next <= n;
    }
    writer.write_legend();

    std::vector<detail::sort_key> at_ends; // {predecessor, node, value}
    for (edge_use u : p.edge_uses()) at_ends.push_back({u.pred, u.node, u.value});
    detail::sort_unique(at_ends);
    auto end_use = at_ends.begin();

    table<value_id, step_id> latest_def(p.values(), no_step), used_in(p.values(), no_step);
    table<value_id, step_id> defined_in(p.values(), no_step), overwritten_in(p.values(), no_step);
    table<value_id, value_id> drawn(p.values(), no_value); // itself, once drawn as an input
    auto draw_use = [&](value_id v, step_id to, char const* style) {
        step_id from = latest_def[v];
        if (from == no_step && has_backward_edge) from = last_def[v];
        if (from == no_step && slots[v] == no_slot && !options.given_without_slot) return;
        if (from == no_step && drawn[v] == no_value) {
            drawn[v] = v;
            writer.write_given(v);
        }
        writer.write_edge(v, from, to, options.value_names, style);
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            for (touch t : p.touches(s))
                if (t.defines()) defined_in[t.value] = s;
            for (overwrite o : p.overwrites(s))
                if (defined_in[o.out] == s) overwritten_in[o.in] = s;
            for (touch t : p.touches(s)) { // a step reads, then writes
                if (t.defines() || used_in[t.value] == s) continue;
                used_in[t.value] = s;
                draw_use(t.value, s, overwritten_in[t.value] == s ? ", penwidth=3" : "");
            }
            for (touch t : p.touches(s))
                if (t.defines()) latest_def[t.value] = s;
        }
        for (; end_use != at_ends.end() && end_use->key == n; ++end_use)
            draw_use(end_use->id, p.steps_of(node_id::of(end_use->tie)).first, ", style=dotted");
        for (node_id next : p.successors(n))
            writer.write_order_edge(p.steps_of(n).last - 1, p.steps_of(next).first);
    }
    text << "}\n";
    return out;
}

} // namespace sublet

#endif
